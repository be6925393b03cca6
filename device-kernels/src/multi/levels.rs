//! Breadth-first search, by levels: along the edges that leave the last level, or, where that has
//! more than a part of the rest, from unvisited nodes to the last level (Beamer, Asanović, Patterson:
//! "Direction-Optimizing Breadth-First Search", SC 2012).
//!
//! Work O(n + m) on all devices together, O(n / 32) a level of more than [`LIST`] nodes, and O(n) a
//! level that is pulled. The depth is that of the search, in barriers of all devices; the first block
//! of each takes narrow levels alone.
//!
//! [`LIST`]: seawall_core::abi::multi::LIST

use super::advance::forth;
use super::frontier::{Tally, find, find_word, lists_to_bits, tell};
use super::meet::{Found, Part};
use super::narrow::{Narrow, Taken, narrow};
use super::record::Edges;
use crate::machine::Grid;
use crate::machine::memory::{Proven, word_of};
use crate::tables::control::Stop;
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
    let mut found = Found {
        nodes: multi.sources(grid).into(),
        edges: multi.source_edges(grid),
    };
    let (mut pulls, mut pulled) = (false, 0);
    while found.nodes != 0 && part.step() < limit {
        // The number of a level is that of the step which finds it.
        let level = part.step() + 1;
        let explored = part.state_wide(word_of!(MultiState, explored));
        let later = multi
            .all_edges(grid)
            .saturating_sub(multi.source_edges(grid).saturating_add(explored));
        pulls = multi.has_incoming(grid)
            && if pulls {
                found.nodes > u64::from(multi.nodes(grid)) / PUSH_PART
            } else {
                found.edges > later / PULL_PART && found.nodes > 1
            };
        if pulls {
            lists_to_bits(part)?;
            pull(part, level);
            part.barrier()?;
            pulled += 1;
        } else {
            push(part, level)?;
        }
        found = tell(part, |_| ())?;
        found = narrow_levels(part, found)?;
    }
    if part.team.is_leader() {
        let state = multi.state(grid);
        state.store(grid, word_of!(MultiState, rounds), part.step());
        state.store(
            grid,
            word_of!(MultiState, converged),
            u32::from(found.nodes == 0),
        );
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
    let (edges, values) = (multi.outgoing(grid), multi.values(grid));
    let tally = Cell::default();
    let fetch = |edge: u32| {
        let to = edges.ends.constant(grid, edge);
        (to, values.load_weak(grid, to))
    };
    forth(part, edges, &tally, fetch, |_, (to, value)| {
        if value == UNREACHED && find(part, &tally, to) {
            values.store_weak(grid, to, level);
        }
    })
}

/// Takes narrow levels, of which the last one found this.
#[inline(never)]
fn narrow_levels<G: Grid>(part: &mut Part<G>, found: Found) -> Result<Found, Stop> {
    let (grid, multi) = (part.grid(), part.multi);
    let (edges, values) = (multi.outgoing(grid), multi.values(grid));
    let work = Narrow {
        edges,
        fetch: |edge: u32| {
            let to = edges.ends.constant(grid, edge);
            (to, values.load_weak(grid, to))
        },
        take: |level: u32, _, to: u32, value: u32| {
            let is_new =
                value == UNREACHED && values.swap_if(grid, to, UNREACHED, level) == UNREACHED;
            if is_new { Taken::Found } else { Taken::Nothing }
        },
        settle: None::<fn(u32)>,
        limit: multi.limit(grid),
    };
    narrow(part, found, work)
}

/// A node of a lane, and the ends of its row; a row without edges for one that is visited.
#[derive(Clone, Copy, Debug)]
struct Open {
    start: u32,
    end: u32,
}

/// Looks for a node of the last level among those from which edges lead to each unvisited node. A
/// warp takes the nodes of a word.
#[inline(never)]
fn pull<G: Grid>(part: &Part<G>, level: u32) {
    let (grid, multi) = (part.grid(), part.multi);
    let (edges, values) = (multi.incoming(grid), multi.values(grid));
    let bits = multi.bits(grid, part.step());
    let (first, own) = (multi.first(grid), multi.own_nodes(grid));
    let words = multi.own_words(grid);
    let tally = Cell::default();
    let mut examined = 0_u64;
    let open = |at: u32| {
        let place = at.min(own - 1);
        let (start, end) = edges.csr().row(grid, place);
        let is_open = at < own && values.load_weak(grid, first + place) == UNREACHED;
        let end = if is_open { end } else { start };
        Open { start, end }
    };
    let (mut word, warps) = part.team.warps();
    if word >= words {
        return Tally::default().add(part);
    }
    let mut row = open(word * 32 + grid.warp_lane());
    loop {
        let mut found = 0;
        let mut bit = grid.warp_lane();
        let goes_on = words - word > warps;
        let next = if goes_on { word + warps } else { word };
        while bit < 32 {
            // The next row is in flight while the lane works on this one.
            let is_last = bit + G::WARP >= 32;
            let at = if is_last {
                next * 32 + grid.warp_lane()
            } else {
                word * 32 + bit + G::WARP
            };
            let coming = open(at);
            let (is_found, looked_at) = look(grid, edges, bits, row);
            examined += u64::from(looked_at);
            if is_found {
                values.store_weak(grid, first + word * 32 + bit, level);
            }
            found |= grid.ballot(is_found) << (bit - grid.warp_lane());
            row = coming;
            bit += G::WARP;
        }
        find_word(part, &tally, word, found);
        if !goes_on {
            break;
        }
        word = next;
    }
    Tally {
        examined,
        ..tally.take()
    }
    .add(part);
}

/// Whether a source of the lane's row has its bit, and how many edges were looked at: first by the
/// lane alone, then by its warp. A warp operation.
#[inline(always)]
fn look<G: Grid>(grid: G, edges: Edges, bits: Proven, row: Open) -> (bool, u32) {
    let Open { start, end } = row;
    let is_set = |edge: u32| {
        let node = edges.ends.constant(grid, edge);
        bits.load_weak(grid, node / 32) >> (node % 32) & 1 != 0
    };
    let alone = if G::WARP == 1 {
        end
    } else {
        end.min(start.saturating_add(ALONE))
    };
    let (mut at, mut is_found) = (start, false);
    while at < alone && !is_found {
        // An edge that does not exist is looked at as the last one: codegen rule `LOADS_TOGETHER`.
        let [a, b, c, d] = [0, 1, 2, 3].map(|k| is_set(at.saturating_add(k).min(alone - 1)));
        is_found = a || b || c || d;
        at = alone.min(at.saturating_add(4));
    }
    let mut looked_at = at - start;
    let mut rest = grid.ballot(!is_found && alone < end);
    while rest != 0 {
        let lane = rest.trailing_zeros();
        rest &= rest - 1;
        let [mut from, to] = [alone, end].map(|word| grid.shuffle(word, lane));
        let mut hit = false;
        while from < to && !hit {
            let at = from + grid.warp_lane();
            hit = grid.ballot(at < to && is_set(at)) != 0;
            from = from.saturating_add(G::WARP);
        }
        if grid.warp_lane() == lane {
            is_found = hit;
            looked_at += from - alone;
        }
    }
    (is_found, looked_at)
}
