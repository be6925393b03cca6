//! Core numbers by peeling (Batagelj, Zaveršnik: "An O(m) algorithm for cores decomposition of
//! networks", 2003): nodes with the least degree go, round by round, and their edges with them.
//!
//! Each device counts the edges that its own nodes have left. Work O(m + n k) on all devices
//! together for k different core numbers; a barrier of all a round, and two a core number.

use super::advance::forth;
use super::frontier::{Tally, find, tell};
use super::meet::Part;
use crate::control::Stop;
use crate::grid::Grid;
use crate::memory::word_of;
use core::cell::Cell;
use seawall_core::abi::UNREACHED;
use seawall_core::abi::multi::MultiState;

/// Finds the core number of each node of a graph whose edges have mirror images.
///
/// # Errors
/// As [`Part::meet`].
pub(super) fn run<G: Grid>(part: &mut Part<G>) -> Result<(), Stop> {
    let (grid, multi) = (part.grid(), part.multi);
    let (values, first) = (multi.values(grid), multi.first(grid));
    let (left, degrees) = (multi.sums(grid), multi.degrees(grid));
    part.team.each(multi.own_nodes(grid), |at| {
        values.store_weak(grid, first + at, UNREACHED);
        left.store_weak(grid, at, degrees.constant(grid, at));
    });
    part.barrier()?;
    let mut rounds = 0_u32;
    loop {
        let core = least_left(part)?;
        if core == UNREACHED {
            break;
        }
        begin(part, core)?;
        let mut found = tell(part, |_| ())?;
        while found != 0 {
            peel(part, core)?;
            found = tell(part, |_| ())?;
            rounds += 1;
        }
    }
    if part.team.is_leader() {
        let state = multi.state(grid);
        state.store(grid, word_of!(MultiState, rounds), rounds);
        state.store(grid, word_of!(MultiState, converged), 1);
    }
    Ok(())
}

/// The least degree that a node has left, on any device; [`UNREACHED`] if there is none.
#[inline(never)]
fn least_left<G: Grid>(part: &mut Part<G>) -> Result<u32, Stop> {
    let (grid, multi) = (part.grid(), part.multi);
    let (values, left, first) = (multi.values(grid), multi.sums(grid), multi.first(grid));
    let mut least = u32::MAX;
    part.team.each(multi.own_nodes(grid), |at| {
        if values.load_weak(grid, first + at) == UNREACHED {
            least = least.min(left.load_weak(grid, at));
        }
    });
    part.least(least)
}

/// Finds the nodes that have no more than `core` edges left.
#[inline(never)]
fn begin<G: Grid>(part: &Part<G>, core: u32) -> Result<(), Stop> {
    let (grid, multi) = (part.grid(), part.multi);
    let (values, left, first) = (multi.values(grid), multi.sums(grid), multi.first(grid));
    let mut tally = Tally::default();
    part.team.each(multi.own_nodes(grid), |at| {
        let node = first + at;
        if values.load_weak(grid, node) == UNREACHED && left.load_weak(grid, at) <= core {
            values.store_weak(grid, node, core);
            find(part, node);
            tally.found += 1;
        }
    });
    tally.add(part);
    part.barrier()
}

/// Takes the edges of the nodes that went last from their neighbours.
#[inline(never)]
fn peel<G: Grid>(part: &Part<G>, core: u32) -> Result<(), Stop> {
    let (grid, multi) = (part.grid(), part.multi);
    let (edges, values) = (multi.outgoing(grid), multi.values(grid));
    let (left, first) = (multi.sums(grid), multi.first(grid));
    let nodes = Cell::new(0_u32);
    let visit = |_: u32, at: u32| {
        let to = edges.ends.constant(grid, at);
        if values.load_weak(grid, to) != UNREACHED {
            return;
        }
        // One of them sees the degree fall to the core, whatever the others do.
        if left.add(grid, to - first, u32::MAX) == core + 1 {
            values.store_weak(grid, to, core);
            nodes.set(nodes.get() + u32::from(find(part, to)));
        }
    };
    forth(part, edges, visit, || Tally {
        found: nodes.replace(0),
        ..Tally::default()
    })
}
