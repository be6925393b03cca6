//! Walks the edges of rows of any length: the lanes of a warp share their rows evenly, and all blocks
//! the longest ones, after a barrier.

use super::frontier::{Tally, each};
use super::meet::Part;
use super::record::Edges;
use crate::collectives::block::{block_scan, owner as block_owner};
use crate::machine::Grid;
use crate::machine::memory::word_of;
use crate::machine::shared::{LONG_ROW_NODES, LONG_ROW_STARTS};
use crate::operators::advance::row_spread::{RowSpread, owner};
use crate::tables::control::Stop;
use core::cell::Cell;
use seawall_core::abi::multi::StepCounters;

/// Edges from which all blocks share a row.
const LONG: u32 = 1024;

/// Edges of a long row that a block takes at a time.
const PIECE: u32 = 4096;

/// Edges that a lane takes together.
pub(super) const EACH: usize = 4;

/// Visits the edges to this device's nodes that leave the nodes found last, and ends with a barrier:
/// `fetch` reads what belongs to the edge at a place, and `take` gets the edge's first node with it.
/// Several edges are fetched before the first of them is taken. Adds `tally` to the step.
///
/// # Errors
/// As [`Part::barrier`].
#[inline(always)]
pub(super) fn forth<G: Grid, T: Copy>(
    part: &Part<G>,
    edges: Edges,
    tally: &Cell<Tally>,
    fetch: impl Fn(u32) -> T,
    take: impl Fn(u32, T),
) -> Result<(), Stop> {
    let mut examined = 0_u64;
    each(part, |node| {
        examined += u64::from(rows(part, edges, LONG, node, &fetch, each_there(&take)));
    });
    Tally {
        examined,
        ..tally.take()
    }
    .add(part);
    if long_rows(part, edges, &fetch, &take)? {
        tally.take().add(part);
        part.barrier()?;
    }
    Ok(())
}

/// Calls `take` with each edge of this device's nodes that are `wanted`, as [`forth`].
///
/// # Errors
/// As [`Part::barrier`].
#[inline(always)]
pub(super) fn back<G: Grid, T: Copy>(
    part: &Part<G>,
    edges: Edges,
    wanted: impl Fn(u32) -> bool,
    fetch: impl Fn(u32) -> T,
    take: impl Fn(u32, T),
) -> Result<(), Stop> {
    let (grid, count) = (part.grid(), part.multi.own_nodes(part.grid()));
    let (warp, warps) = part.team.warps();
    let (mut base, stride) = (u64::from(warp * G::WARP), u64::from(warps * G::WARP));
    while base < u64::from(count) {
        let at = base as u32 + grid.warp_lane();
        let node = (at < count).then_some(edges.first + at);
        let node = node.filter(|node| wanted(*node));
        rows(part, edges, LONG, node, &fetch, each_there(&take));
        base += stride;
    }
    long_rows(part, edges, &fetch, &take)?;
    Ok(())
}

/// Edges that a lane has fetched, with the first node of each.
pub(super) type Fetched<T> = [(u32, T); EACH];

/// Calls `take` for those edges that are there.
#[inline(always)]
fn each_there<T: Copy>(take: impl Fn(u32, T)) -> impl Fn(Fetched<T>, [bool; EACH]) {
    move |edges, there| {
        // Codegen rule `NO_INDEXED_ARRAYS`, here and below.
        let [a, b, c, d] = edges;
        let [has_a, has_b, has_c, has_d] = there;
        let one = |(node, read): (u32, T), is_there: bool| {
            if is_there {
                take(node, read);
            }
        };
        one(a, has_a);
        one(b, has_b);
        one(c, has_c);
        one(d, has_d);
    }
}

/// Walks the row of `node` in each lane of the warp; those of more edges than `longest` are left to
/// [`long_rows`]. `take` gets some edges, and which of them are there; it is a warp operation, as this
/// is. Returns the edges of the lane's own row.
#[inline(always)]
pub(super) fn rows<G: Grid, T: Copy>(
    part: &Part<G>,
    edges: Edges,
    longest: u32,
    node: Option<u32>,
    fetch: impl Fn(u32) -> T,
    take: impl Fn(Fetched<T>, [bool; EACH]),
) -> u32 {
    let grid = part.grid();
    let (own, start, mut end) = match node {
        Some(node) => {
            let (start, end) = edges.csr().row(grid, node - edges.first);
            (node, start, end)
        }
        None => (0, 0, 0),
    };
    let length = end - start;
    if length > longest {
        put_off(part, own);
        end = start;
    }
    let spread = RowSpread::of(grid, end - start);
    let shift = start.wrapping_sub(spread.start);
    let mut step = 0;
    while step < spread.total {
        // An entry that is not there is fetched as the last one: codegen rule `LOADS_TOGETHER`.
        let last = spread.total - 1;
        let entries = [0, 1, 2, 3].map(|k| (step + k * G::WARP).saturating_add(grid.warp_lane()));
        let fetched = entries.map(|entry| {
            let entry = entry.min(last);
            let lane = owner(grid, spread.start, entry);
            let node = grid.shuffle(own, lane);
            let edge = entry.wrapping_add(grid.shuffle(shift, lane));
            (node, fetch(edge))
        });
        take(fetched, entries.map(|entry| entry <= last));
        step = step.saturating_add(EACH as u32 * G::WARP);
    }
    length
}

/// Leaves a long row to [`long_rows`].
#[inline(always)]
fn put_off<G: Grid>(part: &Part<G>, node: u32) {
    let (grid, waiting) = (part.grid(), word_of!(StepCounters, long_rows));
    let place = part.counters().add(grid, waiting, 1);
    part.multi.long_rows(grid).store(grid, place, node);
}

/// Walks the long rows that [`rows`] left, by all blocks, each of which takes pieces of rows. Every
/// lane calls this after the step's rows; it begins with a barrier, and returns whether there were
/// some.
///
/// # Errors
/// As [`Part::barrier`].
#[inline(always)]
fn long_rows<G: Grid, T: Copy>(
    part: &Part<G>,
    edges: Edges,
    fetch: impl Fn(u32) -> T,
    take: impl Fn(u32, T),
) -> Result<bool, Stop> {
    let grid = part.grid();
    part.barrier()?;
    let count = part
        .counters()
        .load(grid, word_of!(StepCounters, long_rows));
    if count == 0 {
        return Ok(false);
    }
    let rows = part.multi.long_rows(grid);
    let (lane, lanes) = (grid.lane(), grid.lanes());
    let mut base = 0;
    while base < count {
        let here = lanes.min(count - base);
        let mut pieces = 0;
        if lane < here {
            let node = rows.load(grid, base + lane);
            let (start, end) = edges.csr().row(grid, node - edges.first);
            pieces = (end - start).div_ceil(PIECE);
            // SAFETY: there is a word for each lane.
            unsafe { LONG_ROW_NODES.store(grid, lane, node) };
        }
        let (before, total) = block_scan(grid, pieces);
        // SAFETY: there is a word for each lane.
        unsafe { LONG_ROW_STARTS.store(grid, lane, before) };
        grid.block_barrier();
        let mut piece = part.team.rank();
        while piece < total {
            let at = block_owner(grid, LONG_ROW_STARTS, here, piece);
            // SAFETY: the row is one of those here.
            let (node, before) = unsafe {
                (
                    LONG_ROW_NODES.load(grid, at),
                    LONG_ROW_STARTS.load(grid, at),
                )
            };
            let (start, end) = edges.csr().row(grid, node - edges.first);
            let first = start + (piece - before) * PIECE;
            let end = end.min(first.saturating_add(PIECE));
            let mut edge = first.saturating_add(lane);
            while edge < end {
                let edges = [0, 1, 2, 3].map(|k| edge.saturating_add(k * lanes));
                let read = edges.map(|edge| (node, fetch(edge.min(end - 1))));
                each_there(&take)(read, edges.map(|edge| edge < end));
                edge = edge.saturating_add(EACH as u32 * lanes);
            }
            grid.warp_barrier();
            piece += part.team.size();
        }
        grid.block_barrier();
        base += lanes;
    }
    Ok(true)
}
