//! Breadth-first search, by levels: along the edges that leave the last level, or, where that has
//! more than a part of the rest, from unvisited nodes to the last level (Beamer, Asanović, Patterson:
//! "Direction-Optimizing Breadth-First Search", SC 2012).
//!
//! Work O(n + m) on all devices together, O(n / 32) a level of more than [`LIST`] nodes, and O(n) a
//! level that is pulled. The depth is that of the search, in barriers of all devices.
//!
//! [`LIST`]: seawall_core::abi::multi::LIST

use super::advance::{each_own, forth};
use super::frontier::{Tally, find, lists_to_bits, tell};
use super::meet::Part;
use crate::control::Stop;
use crate::grid::Grid;
use crate::memory::{Proven, word_of};
use core::cell::Cell;
use seawall_core::abi::UNREACHED;
use seawall_core::abi::multi::MultiState;

/// A level is pulled if its edges are more than this part of the edges of later levels.
const PULL_PART: u64 = 15;

/// Levels are pulled while they have more than this part of all nodes.
const PUSH_PART: u64 = 18;

/// Edges of unvisited nodes that a lane looks at before its warp helps.
const ALONE: u32 = 32;

/// Searches from the sources whose bits the host has set.
///
/// # Errors
/// As [`Part::meet`].
pub(super) fn run<G: Grid>(part: &mut Part<G>) -> Result<(), Stop> {
    let (grid, multi) = (part.grid(), part.multi);
    begin(part, UNREACHED, multi.first(grid), multi.own_nodes(grid))?;
    let limit = multi.limit(grid);
    let (mut nodes, mut edges) = (u64::from(multi.sources(grid)), multi.source_edges(grid));
    let mut later = multi.all_edges(grid);
    let (mut level, mut pulls, mut pulled) = (0, false, 0);
    while nodes != 0 && level < limit {
        later = later.saturating_sub(edges);
        pulls = multi.has_incoming(grid)
            && if pulls {
                nodes > u64::from(multi.nodes(grid)) / PUSH_PART
            } else {
                edges > later / PULL_PART && nodes > 1
            };
        if pulls {
            lists_to_bits(part)?;
            pull(part, level + 1);
            part.barrier()?;
            pulled += 1;
        } else {
            push(part, level + 1)?;
        }
        nodes = tell(part, |_| ())?;
        edges = part.state_wide(word_of!(MultiState, edges));
        level += 1;
    }
    if part.team.is_leader() {
        let state = multi.state(grid);
        state.store(grid, word_of!(MultiState, rounds), level);
        state.store(grid, word_of!(MultiState, converged), u32::from(nodes == 0));
        state.store(grid, word_of!(MultiState, pulls), pulled);
    }
    Ok(())
}

/// Gives `count` nodes from `first` on the value `unreached`, and the sources among them 0.
///
/// # Errors
/// As [`Part::barrier`].
pub(super) fn begin<G: Grid>(
    part: &Part<G>,
    unreached: u32,
    first: u32,
    count: u32,
) -> Result<(), Stop> {
    let (grid, multi) = (part.grid(), part.multi);
    let values = multi.values(grid);
    part.team
        .each(count, |at| values.store_weak(grid, first + at, unreached));
    part.barrier()?;
    let bits = multi.bits(grid, 0);
    part.team.each(count.div_ceil(32), |at| {
        let mut word = bits.load_weak(grid, first / 32 + at);
        while word != 0 {
            let node = (first / 32 + at) * 32 + word.trailing_zeros();
            values.store_weak(grid, node, 0);
            word &= word - 1;
        }
    });
    part.barrier()
}

/// Visits the edges to this device's nodes that leave the last level.
#[inline(never)]
fn push<G: Grid>(part: &Part<G>, level: u32) -> Result<(), Stop> {
    let (grid, multi) = (part.grid(), part.multi);
    let (edges, values, degrees) = (
        multi.outgoing(grid),
        multi.values(grid),
        multi.degrees(grid),
    );
    let first = multi.first(grid);
    let (nodes, leaving) = (Cell::new(0_u32), Cell::new(0_u64));
    let visit = |_: u32, at: u32| {
        let to = edges.ends.constant(grid, at);
        if values.load_weak(grid, to) != UNREACHED || !find(part, to) {
            return;
        }
        values.store_weak(grid, to, level);
        nodes.set(nodes.get() + 1);
        leaving.set(leaving.get() + u64::from(degrees.constant(grid, to - first)));
    };
    forth(part, edges, visit, || Tally {
        found: nodes.replace(0),
        edges: leaving.replace(0),
        ..Tally::default()
    })
}

/// Looks for a node of the last level among those from which edges lead to each unvisited node.
#[inline(never)]
fn pull<G: Grid>(part: &Part<G>, level: u32) {
    let (grid, multi) = (part.grid(), part.multi);
    let (edges, values, degrees) = (
        multi.incoming(grid),
        multi.values(grid),
        multi.degrees(grid),
    );
    let bits = multi.bits(grid, part.step());
    let first = multi.first(grid);
    let mut tally = Tally::default();
    each_own(part, |node| {
        let node = node.filter(|node| values.load_weak(grid, *node) == UNREACHED);
        let (start, end) = match node {
            Some(node) => (
                edges.offsets.constant(grid, node - first),
                edges.offsets.constant(grid, node - first + 1),
            ),
            None => (0, 0),
        };
        let alone = if G::WARP == 1 {
            end
        } else {
            end.min(start.saturating_add(ALONE))
        };
        let mut at = start;
        while at < alone && !is_set(grid, bits, edges.ends.constant(grid, at)) {
            at += 1;
        }
        tally.examined += u64::from(at - start);
        let mut is_found = at < alone;
        let mut rest = grid.ballot(!is_found && alone < end);
        while rest != 0 {
            let lane = rest.trailing_zeros();
            rest &= rest - 1;
            let [mut from, to] = [alone, end].map(|word| grid.shuffle(word, lane));
            let mut hit = false;
            while from < to && !hit {
                let at = from + grid.warp_lane();
                let own = at < to && is_set(grid, bits, edges.ends.constant(grid, at));
                hit = grid.ballot(own) != 0;
                from = from.saturating_add(G::WARP);
            }
            if grid.warp_lane() == lane {
                is_found = hit;
                tally.examined += u64::from(from - alone);
            }
        }
        if let Some(node) = node.filter(|_| is_found) {
            values.store_weak(grid, node, level);
            find(part, node);
            tally.found += 1;
            tally.edges += u64::from(degrees.constant(grid, node - first));
        }
    });
    tally.add(part);
}

/// Whether the bit of a node is set.
#[inline(always)]
fn is_set<G: Grid>(grid: G, bits: Proven, node: u32) -> bool {
    bits.load_weak(grid, node / 32) >> (node % 32) & 1 != 0
}
