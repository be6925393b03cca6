//! Push with the frontier's edges shared out evenly over the grid, whatever the degrees
//! are.
//!
//! The queue holds the number of edges before each entry, so a block finds its first row
//! by a search and needs no scan over the frontier.

use super::current::Search;
use super::frontier::append;
use super::shared_drive;
use super::sink::Sink;
use crate::collectives::block::owner;
use crate::collectives::context::ContextRef;
use crate::collectives::queue::{Finds, Queue};
use crate::collectives::team::Team;
use crate::cpu::search::bins::Bins;
use crate::machine::Grid;
use crate::machine::shared::{share_rows, share_tile};
use seawall_core::abi::search::DriveRecord;

/// Edges that one lane takes from a tile.
const EDGES_PER_LANE: u32 = 4;

/// Queued nodes by which a thread prefetches rows.
const ROWS_AHEAD: u32 = 4;

/// Targets in a cache line.
const LINE: u32 = 16;

/// Edges of a row by which a thread prefetches visited words and marks.
const AHEAD: u32 = 8;

/// A run of edges of the frontier, and the queue entries that they belong to.
struct Share {
    first_edge: u32,
    edges: u32,
    first_row: u32,
    rows: u32,
}

/// Push with even shares of edges.
#[inline(never)]
pub fn push_shares<G: Grid>(cx: ContextRef<G>, sink: Sink) {
    let (grid, team) = (cx.grid(), &cx.context().team);
    if G::WARP == 1 {
        Search::current(grid).walk_share(team, &shared_drive::read(grid), sink);
        return;
    }
    let tile = (grid.lanes() * EDGES_PER_LANE).min(share_rows::<G>());
    let mut first_edge = u64::from(team.rank() * tile);
    loop {
        // Codegen rule `LOOK_UP_AGAIN`.
        let drive = &shared_drive::read(grid);
        if first_edge >= u64::from(drive.edges) {
            return;
        }
        let queue = Search::current(grid).frontier.queue(drive.queue);
        let at = first_edge as u32;
        let edges = (drive.edges - at).min(tile);
        let share = load_share(grid, &queue, at, edges, drive.nodes);
        push_share(grid, &share, sink);
        first_edge += u64::from(team.size()) * u64::from(tile);
    }
}

/// Visits the edges of one share; its rows lie in shared memory.
#[inline(always)]
fn push_share<G: Grid>(grid: G, share: &Share, sink: Sink) {
    let [starts, shifts] = share_tile::<G>();
    let mut base = 0;
    while base < share.edges {
        let (search, drive) = (&Search::current(grid), &shared_drive::read(grid));
        let (push, target) = search.aims(drive);
        let edge = base + grid.lane();
        let mut finds = Finds {
            nodes: [0],
            mask: 0,
        };
        if edge < share.edges {
            let row = owner(grid, starts, share.rows, edge);
            // SAFETY: `row` is below `share.rows`.
            let shift = unsafe { shifts.load(grid, row) };
            let edge = (share.first_edge + edge).wrapping_add(shift);
            let node = search.outgoing.target(grid, edge);
            let queue = search.frontier.queue(drive.queue);
            let from = || queue.nodes.load_weak(grid, share.first_row + row);
            finds.nodes[0] = node;
            finds.mask = u32::from(search.take(grid, &push, node, sink, from));
        }
        if sink == Sink::Queue {
            append(grid, search.frontier, target, &finds);
        }
        base += grid.lanes();
    }
    grid.block_barrier();
}

impl Search {
    /// A one-lane block walks its even share of the edges row by row.
    #[inline(always)]
    fn walk_share<G: Grid>(&self, team: &Team<G>, drive: &DriveRecord, sink: Sink) {
        let grid = team.grid;
        let bound =
            |rank: u32| (u64::from(drive.edges) * u64::from(rank) / u64::from(team.size())) as u32;
        let (first, end) = (bound(team.rank()), bound(team.rank() + 1));
        if let Some(bins) = Bins::of(team, self, drive).filter(|_| sink == Sink::Bitset) {
            return if self.visit.keeps_parents() {
                self.fill_bins::<G, true>(team, drive, &bins, first, end)
            } else {
                self.fill_bins::<G, false>(team, drive, &bins, first, end)
            };
        }
        let (push, target) = self.aims(drive);
        let mut finds = Finds {
            nodes: [0; 32],
            mask: 0,
        };
        let mut held = 0_u32;
        self.each_row(grid, drive, first, end, |from, (start, end)| {
            for edge in start..end {
                if edge + AHEAD < end {
                    let later = self.outgoing.target(grid, edge + AHEAD);
                    push.visited.prefetch(grid, later >> 5);
                    self.visit.prefetch(grid, later);
                }
                let node = self.outgoing.target(grid, edge);
                if self.take(grid, &push, node, sink, || from) {
                    finds.nodes[held as usize & 31] = node;
                    finds.mask |= 1 << held;
                    held += 1;
                    if held == 32 {
                        append(grid, self.frontier, target, &finds);
                        (finds.mask, held) = (0, 0);
                    }
                }
            }
        });
        append(grid, self.frontier, target, &finds);
    }

    /// Calls `row` for each queued node that edges `first..end` of the frontier belong to, with
    /// the edges of its row that are among them. One-lane blocks call this.
    #[inline(always)]
    pub(crate) fn each_row<G: Grid>(
        &self,
        grid: G,
        drive: &DriveRecord,
        first: u32,
        end: u32,
        mut row: impl FnMut(u32, (u32, u32)),
    ) {
        if first == end {
            return;
        }
        let queue = self.frontier.queue(drive.queue);
        let mut index = first_row(grid, &queue, drive.nodes, first);
        let mut edge = first;
        while edge < end {
            let from = queue.nodes.load_weak(grid, index);
            let prefix = queue.prefix.load_weak(grid, index);
            let (start, stop) = queue.row(grid, index, drive.nodes, drive.edges);
            if index + ROWS_AHEAD < drive.nodes {
                let later = queue.starts.load_weak(grid, index + ROWS_AHEAD);
                self.outgoing.prefetch_target(grid, later);
                let next_line = later.saturating_add(LINE).min(self.outgoing.edges());
                self.outgoing.prefetch_target(grid, next_line);
            }
            let row_end = end.min(prefix + (stop - start));
            row(from, (start + (edge - prefix), start + (row_end - prefix)));
            edge = row_end;
            index += 1;
        }
    }
}

/// Number of the queue entry that `edge` belongs to, by one lane alone.
#[inline(always)]
fn first_row<G: Grid>(grid: G, queue: &Queue, rows: u32, edge: u32) -> u32 {
    let (mut low, mut span) = (0, rows);
    while span > 1 {
        let half = span / 2;
        if queue.prefix.load_weak(grid, low + half) <= edge {
            low += half;
            span -= half;
        } else {
            span = half;
        }
    }
    low
}

/// Finds the rows of a share and loads them into shared memory: the offset of each in the share,
/// and the difference between its edges' numbers in the frontier and in the graph.
#[inline(always)]
fn load_share<G: Grid>(grid: G, queue: &Queue, first_edge: u32, edges: u32, rows: u32) -> Share {
    let [starts, shifts] = share_tile::<G>();
    let first_row = find_row(grid, queue, rows, first_edge);
    let end = first_edge + edges;
    let mut loaded = 0;
    let mut base = 0;
    loop {
        let row = first_row + base + grid.lane();
        let mut inside = false;
        if row < rows && base + grid.lane() < share_rows::<G>() {
            let prefix = queue.prefix.load_weak(grid, row);
            inside = prefix < end;
            if inside {
                let start = queue.starts.load_weak(grid, row);
                // SAFETY: the row's number was checked against `share_rows`.
                unsafe {
                    let at = base + grid.lane();
                    starts.store(grid, at, prefix.saturating_sub(first_edge));
                    shifts.store(grid, at, start.wrapping_sub(prefix));
                }
            }
        }
        let count = grid.block_count(inside);
        loaded += count;
        base += grid.lanes();
        if count < grid.lanes() || base >= share_rows::<G>() {
            break;
        }
    }
    Share {
        first_edge,
        edges,
        first_row,
        rows: loaded,
    }
}

/// Number of the queue entry that `edge` belongs to, by a search with one probe per lane
/// and round. A block operation.
#[inline(always)]
fn find_row<G: Grid>(grid: G, queue: &Queue, rows: u32, edge: u32) -> u32 {
    let lanes = grid.lanes();
    let (mut low, mut span) = (0, rows);
    while span > 1 {
        let stride = span.div_ceil(lanes);
        // Lanes probe the starts of their strides. Those not above `edge` come first, and
        // the last of them has the entry.
        let probe = grid.lane() * stride;
        let below = probe < span && queue.prefix.load_weak(grid, low + probe) <= edge;
        let count = grid.block_count(below).max(1);
        let start = (count - 1) * stride;
        low += start;
        span = stride.min(span - start);
    }
    low
}
