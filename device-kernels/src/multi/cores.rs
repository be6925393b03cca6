//! Core numbers by peeling (Batagelj, Zaveršnik: "An O(m) algorithm for cores decomposition of
//! networks", 2003): nodes with the least degree go, round by round, and their edges with them.
//!
//! Each device counts the edges that its own nodes have left. Work O(m + n k) on all devices
//! together for k different core numbers; a barrier of all a round and a core number.

use super::advance::forth;
use super::frontier::{Tally, find, tell};
use super::meet::{Found, Part};
use super::narrow::{Narrow, Taken, narrow};
use super::record::Edges;
use crate::machine::Grid;
use crate::machine::memory::{Proven, word_of};
use crate::tables::control::Stop;
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
    let (mut rounds, mut core) = (0_u32, 0);
    loop {
        begin(part, core)?;
        let mut found = tell(part, |_| ())?;
        if found.nodes == 0 {
            // No node has so few edges left, so the core number is the least that one has.
            core = part.least();
            if core == UNREACHED {
                break;
            }
            continue;
        }
        let before = part.step();
        found = narrow_peel(part, found, core)?;
        while found.nodes != 0 {
            peel(part, core)?;
            found = tell(part, |_| ())?;
            found = narrow_peel(part, found, core)?;
        }
        rounds += part.step() - before;
        core += 1;
    }
    if part.team.is_leader() {
        let state = multi.state(grid);
        state.store(grid, word_of!(MultiState, rounds), rounds);
        state.store(grid, word_of!(MultiState, converged), 1);
    }
    Ok(())
}

/// Finds the nodes that have no more than `core` edges left, and the least number that another has.
#[inline(never)]
fn begin<G: Grid>(part: &Part<G>, core: u32) -> Result<(), Stop> {
    let (grid, multi) = (part.grid(), part.multi);
    let (values, left, first) = (multi.values(grid), multi.sums(grid), multi.first(grid));
    let tally = Cell::<Tally>::default();
    let mut least = UNREACHED;
    part.team.each(multi.own_nodes(grid), |at| {
        let node = first + at;
        if values.load_weak(grid, node) != UNREACHED {
            return;
        }
        let left = left.load_weak(grid, at);
        if left <= core {
            values.store_weak(grid, node, core);
            find(part, &tally, node);
        } else {
            least = least.min(left);
        }
    });
    part.add_least(least);
    tally.take().add(part);
    part.barrier()
}

/// The arrays of a round.
#[derive(Clone, Copy, Debug)]
struct Peel {
    edges: Edges,
    values: Proven,
    left: Proven,
    first: u32,
    core: u32,
}

impl Peel {
    #[inline(always)]
    fn of<G: Grid>(part: &Part<G>, core: u32) -> Self {
        let (grid, multi) = (part.grid(), part.multi);
        Self {
            edges: multi.outgoing(grid),
            values: multi.values(grid),
            left: multi.sums(grid),
            first: multi.first(grid),
            core,
        }
    }

    /// The end of an edge, and its core number.
    #[inline(always)]
    fn fetch<G: Grid>(self, grid: G, edge: u32) -> (u32, u32) {
        let to = self.edges.ends.constant(grid, edge);
        (to, self.values.load_weak(grid, to))
    }

    /// Takes an edge from the node at its end; returns whether that node goes.
    #[inline(always)]
    fn take<G: Grid>(self, grid: G, to: u32, value: u32) -> bool {
        // One of them sees the degree fall to the core, whatever the others do.
        let goes =
            value == UNREACHED && self.left.add(grid, to - self.first, u32::MAX) == self.core + 1;
        if goes {
            self.values.store_weak(grid, to, self.core);
        }
        goes
    }
}

/// Takes the edges of the nodes that went last from their neighbours.
#[inline(never)]
fn peel<G: Grid>(part: &Part<G>, core: u32) -> Result<(), Stop> {
    let (grid, peel) = (part.grid(), Peel::of(part, core));
    let tally = Cell::default();
    let fetch = |edge: u32| peel.fetch(grid, edge);
    forth(part, peel.edges, &tally, fetch, |_, (to, value)| {
        if peel.take(grid, to, value) {
            find(part, &tally, to);
        }
    })
}

/// Takes the edges of few nodes, round after round.
#[inline(never)]
fn narrow_peel<G: Grid>(part: &mut Part<G>, found: Found, core: u32) -> Result<Found, Stop> {
    let (grid, peel) = (part.grid(), Peel::of(part, core));
    let work = Narrow {
        edges: peel.edges,
        fetch: |edge: u32| peel.fetch(grid, edge),
        take: |_, _, to: u32, value: u32| {
            if peel.take(grid, to, value) {
                Taken::Found
            } else {
                Taken::Nothing
            }
        },
        settle: None::<fn(u32)>,
        limit: u32::MAX,
    };
    narrow(part, found, work)
}
