//! Walks the edges of rows of any length: short rows by lanes, longer ones by warps, and the
//! longest by all blocks, after a barrier.

use super::frontier::{Tally, each};
use super::meet::Part;
use super::record::Edges;
use crate::block::warp_sum_wide;
use crate::control::Stop;
use crate::grid::Grid;
use crate::memory::word_of;
use seawall_core::abi::multi::StepCounters;

/// Edges from which a warp shares a row.
const WIDE: u32 = 32;

/// Edges from which all blocks share a row.
const LONG: u32 = 8192;

/// Long rows up to which each is shared by all blocks; more are dealt out to blocks.
const SHARED_BY_ALL: u32 = 64;

/// Walks the row of `node` in each lane of the warp, and calls `take` with the node and the place of
/// each edge. Long rows are left to [`long_rows`]. A warp operation; returns the edges of the lane's own
/// row.
#[inline(always)]
pub(super) fn rows<G: Grid>(
    part: &Part<G>,
    edges: Edges,
    node: Option<u32>,
    mut take: impl FnMut(u32, u32),
) -> u32 {
    let grid = part.grid();
    let (own, start, mut end) = match node {
        Some(node) => {
            let at = node - edges.first;
            let [start, end] = [at, at + 1].map(|at| edges.offsets.constant(grid, at));
            (node, start, end)
        }
        None => (0, 0, 0),
    };
    let length = end - start;
    if length > LONG {
        put_off(part, own);
        end = start;
    }
    if G::WARP > 1 {
        let mut wide = grid.ballot(end - start >= WIDE);
        while wide != 0 {
            let lane = wide.trailing_zeros();
            wide &= wide - 1;
            let [node, from, to] = [own, start, end].map(|word| grid.shuffle(word, lane));
            let mut at = from + grid.warp_lane();
            while at < to {
                take(node, at);
                at += G::WARP;
            }
        }
        if end - start >= WIDE {
            return length;
        }
    }
    for at in start..end {
        take(own, at);
    }
    length
}

/// Visits the edges to this device's nodes that leave the nodes found last, by `visit`, and ends with
/// a barrier; `counted` returns what it has counted since the last call.
///
/// # Errors
/// As [`Part::barrier`].
#[inline(always)]
pub(super) fn forth<G: Grid>(
    part: &Part<G>,
    edges: Edges,
    visit: impl Fn(u32, u32),
    counted: impl Fn() -> Tally,
) -> Result<(), Stop> {
    let mut examined = 0_u64;
    each(part, |node| {
        examined += u64::from(rows(part, edges, node, &visit));
    });
    Tally {
        examined,
        ..counted()
    }
    .add(part);
    if !long_rows(part, edges, &visit, |_| (), |_| ())? {
        return Ok(());
    }
    counted().add(part);
    part.barrier()
}

/// Leaves a long row to [`long_rows`].
#[inline(always)]
fn put_off<G: Grid>(part: &Part<G>, node: u32) {
    let (grid, waiting) = (part.grid(), word_of!(StepCounters, long_rows));
    let place = part.counters().add(grid, waiting, 1);
    part.multi.long_rows(grid).store(grid, place, node);
}

/// Walks the rows of this device's own nodes, as [`rows`]; those of nodes that are not `wanted` are
/// left out.
#[inline(always)]
pub(super) fn own_rows<G: Grid>(
    part: &Part<G>,
    edges: Edges,
    wanted: impl Fn(u32) -> bool,
    mut take: impl FnMut(u32, u32),
) {
    each_own(part, |node| {
        rows(part, edges, node.filter(|node| wanted(*node)), &mut take);
    });
}

/// Calls `take` with this device's nodes, one or none in each lane. A warp operation in each of
/// `take`'s calls.
#[inline(always)]
pub(super) fn each_own<G: Grid>(part: &Part<G>, mut take: impl FnMut(Option<u32>)) {
    let (grid, multi) = (part.grid(), part.multi);
    let (first, count) = (multi.first(grid), multi.own_nodes(grid));
    let (warp, warps) = part.team.warps();
    let (mut base, stride) = (u64::from(warp * G::WARP), u64::from(warps * G::WARP));
    while base < u64::from(count) {
        let at = base as u32 + grid.warp_lane();
        take((at < count).then_some(first + at));
        base += stride;
    }
}

/// The sum over the edges of a row, in the lane of its `node`; `None` for a long row, which is left
/// to [`long_rows`], and for none. A warp operation.
#[inline(always)]
pub(super) fn sum<G: Grid>(
    part: &Part<G>,
    edges: Edges,
    node: Option<u32>,
    value: impl Fn(u32) -> u64,
) -> Option<u64> {
    let grid = part.grid();
    let (mut start, mut end) = (0, 0);
    if let Some(node) = node {
        let at = node - edges.first;
        start = edges.offsets.constant(grid, at);
        end = edges.offsets.constant(grid, at + 1);
    }
    let is_long = end - start > LONG;
    if let Some(node) = node.filter(|_| is_long) {
        put_off(part, node);
        end = start;
    }
    let mut sum = 0_u64;
    if G::WARP > 1 {
        let is_wide = end - start >= WIDE;
        let mut wide = grid.ballot(is_wide);
        while wide != 0 {
            let lane = wide.trailing_zeros();
            wide &= wide - 1;
            let [from, to] = [start, end].map(|word| grid.shuffle(word, lane));
            let (mut own, mut at) = (0_u64, from + grid.warp_lane());
            while at < to {
                own = own.wrapping_add(value(at));
                at += G::WARP;
            }
            let all = warp_sum_wide(grid, own);
            if grid.warp_lane() == lane {
                sum = all;
            }
        }
        if is_wide {
            start = end;
        }
    }
    for edge in start..end {
        sum = sum.wrapping_add(value(edge));
    }
    node.filter(|_| !is_long).map(|_| sum)
}

/// Walks the long rows that [`rows`] left, by all blocks: `take` gets each edge, `leave` each row when
/// a warp has walked its edges, and `finish` each row once, after another barrier. Every lane calls
/// this after the step's rows; it begins with a barrier, and returns whether there were some.
/// `leave` is a warp operation.
///
/// # Errors
/// As [`Part::barrier`].
#[inline(always)]
pub(super) fn long_rows<G: Grid>(
    part: &Part<G>,
    edges: Edges,
    mut take: impl FnMut(u32, u32),
    mut leave: impl FnMut(u32),
    mut finish: impl FnMut(u32),
) -> Result<bool, Stop> {
    let grid = part.grid();
    part.barrier()?;
    let waiting = word_of!(StepCounters, long_rows);
    let count = part.counters().load(grid, waiting);
    if count == 0 {
        return Ok(false);
    }
    let rows = part.multi.long_rows(grid);
    let (blocks, lanes) = (part.team.size(), grid.lanes());
    let by_all = count <= SHARED_BY_ALL;
    let [mut number, step] = if by_all {
        [0, 1]
    } else {
        [part.team.rank(), blocks]
    };
    let [lane, stride] = if by_all {
        [part.team.rank() * lanes + grid.lane(), blocks * lanes]
    } else {
        [grid.lane(), lanes]
    };
    while number < count {
        let node = rows.load(grid, number);
        let at = node - edges.first;
        let [start, end] = [at, at + 1].map(|at| edges.offsets.constant(grid, at));
        let mut edge = start + lane;
        while edge < end {
            take(node, edge);
            let Some(next) = edge.checked_add(stride) else {
                break;
            };
            edge = next;
        }
        grid.warp_barrier();
        leave(node);
        number += step;
    }
    part.barrier()?;
    part.team
        .each(count, |number| finish(rows.load(grid, number)));
    Ok(true)
}
