//! Shares out edges warp by warp, for queues with many edges.
//!
//! A warp takes one even share of the edges and walks it in steps of four edges per lane.
//! Warps never meet, so while one waits for memory the others of its block are at other
//! places of their steps and keep all units busy. [`blocks`](super::blocks) shares
//! out edges block by block instead, which suits rounds with few of them.
//!
//! Finds wait in shared memory until there is one for each lane. Their rows are then
//! looked up together, and one atomic addition makes space for all of them.

use super::{Edges, Source, Visit};
use crate::collectives::block::last_by_warp;
use crate::collectives::queue::{Fill, Finds, append};
use crate::collectives::team::Team;
use crate::machine::Grid;
use crate::machine::shared::{WARP_FINDS, WARP_FINDS_EACH};

/// Edges that a lane has in flight at a time.
const EACH: usize = 4;

/// Fewest edges of a row, on average, for which 32 rows fill some steps.
const ROW_LEAST: u32 = 8;

/// Whether every warp gets at least one step, from rows that fill it.
#[inline(always)]
pub(crate) fn are_many<G: Grid>(team: &Team<G>, source: &Source) -> bool {
    const { assert!(WARP_FINDS_EACH >= 32 * (EACH as u32 + 1)) };
    let (_, warps) = team.warps();
    source.edges / (G::WARP * EACH as u32) >= warps && source.edges / ROW_LEAST >= source.nodes
}

/// The traversal by warps.
#[inline(always)]
pub(super) fn expand<G: Grid>(
    team: &Team<G>,
    source: &Source,
    to: &impl Fill,
    mut visitor: impl Visit,
) {
    let grid = team.grid;
    let (warp, warps) = team.warps();
    let share = u64::from(source.edges.div_ceil(warps));
    let first = u64::from(warp) * share;
    // Other users of the shared memory are done in all warps of the block.
    grid.block_barrier();
    let mut pending = Pending::of(grid);
    if first < u64::from(source.edges) {
        let end = (first + share).min(u64::from(source.edges)) as u32;
        let mut at = first as u32;
        let prefix = source.queue.prefix;
        let mut entry = last_by_warp(grid, source.nodes, |row| prefix.load_weak(grid, row) <= at);
        while at < end {
            let rows = Rows::load(grid, source, entry, |node| visitor.leave(node));
            let stop = end.min(rows.end);
            while at < stop {
                let taken = rows.edges::<G, EACH>(grid, source, at, stop - at);
                let mut found = visitor.visit(&taken);
                if grid.ballot(found != 0) != 0 {
                    found = visitor.claim(&taken.to, found);
                }
                pending.add(grid, &taken.to, found);
                pending.append(grid, to, G::WARP);
                at += (stop - at).min(EACH as u32 * G::WARP);
            }
            entry += G::WARP;
        }
    }
    pending.append(grid, to, 1);
}

/// Rows of adjacent queue entries, one per lane.
#[derive(Clone, Copy, Debug)]
struct Rows {
    /// Edges of the queue before this lane's row; `u32::MAX` if it has none.
    prefix: u32,
    /// The difference between an edge of the queue and the same edge of the graph.
    shift: u32,
    /// The word that the row's visitor returned.
    value: u32,
    /// Edges of the queue up to the last row's end.
    end: u32,
}

impl Rows {
    /// Loads the rows from `first` on.
    #[inline(always)]
    fn load<G: Grid>(grid: G, source: &Source, first: u32, leave: impl Fn(u32) -> u32) -> Self {
        let queue = &source.queue;
        let (entry, after) = (first + grid.warp_lane(), first.saturating_add(G::WARP));
        let mut rows = Self {
            prefix: u32::MAX,
            shift: 0,
            value: 0,
            end: source.edges,
        };
        if entry < source.nodes {
            rows.prefix = queue.prefix.load_weak(grid, entry);
            rows.shift = queue.starts.load_weak(grid, entry);
            rows.value = leave(queue.nodes.load_weak(grid, entry));
        }
        if after < source.nodes {
            rows.end = queue.prefix.load_weak(grid, after);
        }
        rows.shift = rows.shift.wrapping_sub(rows.prefix);
        rows
    }

    /// This lane's edges of the step from edge `at` of the queue on, of which `left` are
    /// left.
    #[inline(always)]
    fn edges<G: Grid, const K: usize>(
        &self,
        grid: G,
        source: &Source,
        at: u32,
        left: u32,
    ) -> Edges<K> {
        let mut edges = Edges::NONE;
        for k in 0..K {
            let window = at.wrapping_add(k as u32 * G::WARP);
            let owner = self.owner(grid, window);
            let shift = grid.shuffle(self.shift, owner);
            edges.index[k] = (window + grid.warp_lane()).wrapping_add(shift);
            edges.value[k] = grid.shuffle(self.value, owner);
        }
        // Codegen rule `LOADS_TOGETHER`.
        for k in 0..K {
            let is_edge = k as u32 * G::WARP + grid.warp_lane() < left;
            edges.to[k] = source.rows.target_if(grid, is_edge, edges.index[k]);
            edges.mask |= u32::from(is_edge) << k;
        }
        edges
    }

    /// The lane whose row this lane's edge of the window from edge `window` on is in. Rows have
    /// edges, so each has a distinct offset, and a bit in the window.
    #[inline(always)]
    fn owner<G: Grid>(&self, grid: G, window: u32) -> u32 {
        let place = self.prefix.wrapping_sub(window);
        let bit = if place < G::WARP { 1 << place } else { 0 };
        let starts = grid.warp_sum(bit);
        let before = grid.ballot(self.prefix < window).count_ones();
        let upto = grid.lanes_below() << 1 | 1;
        (before + (starts & upto).count_ones()).wrapping_sub(1)
    }
}

/// Nodes that wait until a warp has enough of them, such as its finds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pending {
    /// Place of the first in shared memory.
    first: u32,
    count: u32,
}

impl Pending {
    /// An empty list in this warp's part of the memory.
    #[inline(always)]
    pub(crate) fn of<G: Grid>(grid: G) -> Self {
        Self {
            first: grid.lane() / G::WARP * WARP_FINDS_EACH,
            count: 0,
        }
    }

    /// Adds the targets whose bits `mask` has. A warp operation.
    #[inline(always)]
    pub(crate) fn add<G: Grid, const K: usize>(&mut self, grid: G, to: &[u32; K], mask: u32) {
        if grid.ballot(mask != 0) == 0 {
            return;
        }
        for (k, node) in to.iter().enumerate() {
            let is_found = mask >> k & 1 != 0;
            let lanes = grid.ballot(is_found);
            if is_found {
                let at = self.count + (lanes & grid.lanes_below()).count_ones();
                // SAFETY: fewer than a warp's nodes were left, and a step adds at most
                // `K` per lane.
                unsafe { WARP_FINDS.store(grid, self.first + at, *node) };
            }
            self.count += lanes.count_ones();
        }
    }

    /// Appends one find per lane at a time while there are `least` or more. A warp
    /// operation.
    #[inline(always)]
    fn append<G: Grid>(&mut self, grid: G, to: &impl Fill, least: u32) {
        while self.has(least) {
            let finds = self.take(grid);
            append(grid, to, &finds);
        }
    }

    /// Whether there are `least` or more.
    #[inline(always)]
    pub(crate) fn has(&self, least: u32) -> bool {
        self.count >= least
    }

    /// Takes up to a warp's nodes, one per lane. A warp operation.
    #[inline(always)]
    pub(crate) fn take<G: Grid>(&mut self, grid: G) -> Finds<1> {
        let taken = self.count.min(G::WARP);
        self.count -= taken;
        grid.warp_barrier();
        let mut finds = Finds::<1>::NONE;
        if grid.warp_lane() < taken {
            let at = self.first + self.count + grid.warp_lane();
            // SAFETY: the warp's nodes lie there.
            finds.nodes[0] = unsafe { WARP_FINDS.load(grid, at) };
            finds.mask = 1;
        }
        grid.warp_barrier();
        finds
    }
}
