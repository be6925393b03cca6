//! Rounds of peeling that recount the neighbours of the remaining nodes.
//!
//! Removing most of a graph in a round visits most of its edges, and finds few nodes there that
//! remain. Each of these counts the neighbours that remain instead, and is removed if they are too
//! few (a sweep from the other side, as in searches: Beamer, Asanović, Patterson:
//! "Direction-Optimizing Breadth-First Search", SC 2012). A count is right once a round removes no
//! node, so rounds continue until then; a neighbour that is removed meanwhile may count or not.

use crate::collectives::context::ContextRef;
use crate::machine::Grid;
use crate::machine::memory::{Csr, Proven};
use crate::operators::advance::row_spread::{RowSpread, Spot, lanes_before};
use crate::operators::advance::warps::Pending;
use crate::operators::deal::{each_chunk, each_left};
use crate::operators::rounds::{Past, Round, Work};
use seawall_core::abi::control::FaultCode;

/// Longest row that a warp counts beside others.
const WARP_ROW: u32 = 512;
/// Edges that a lane visits together.
const EACH: u32 = 4;
/// [`EACH`] as a length.
const LANE: usize = EACH as usize;

/// A lowest value that stands for a recount in which nodes were removed.
const AGAIN: u32 = 0;

/// Whether a recount pays in a round over more edges than there are nodes, where `left` edges leave
/// the nodes that remain. It reads a word of each node, too.
#[inline(always)]
pub(super) fn pays(round: &Round, left: u32) -> bool {
    round.edges / 2 > left
}

/// Whether the round before recounted and removed nodes.
#[inline(always)]
pub(super) fn is_recounting<G: Grid>(grid: G) -> bool {
    Past::broadcast(grid).nearest == AGAIN
}

/// Remaining nodes, and the results of a recount.
#[derive(Clone, Copy, Debug)]
struct Recount {
    rows: Csr,
    cores: Proven,
    level: u32,
    /// Least count of a node that remains.
    least: u32,
    /// [`AGAIN`] once a node was removed.
    again: u32,
}

/// Recounts the neighbours of the nodes that remain.
#[inline(never)]
pub(super) fn recount<G: Grid>(
    cx: ContextRef<G>,
    cores: Proven,
    work: Proven,
) -> Result<(), FaultCode> {
    let context = &cx.context();
    let (team, grid) = (&context.team, context.team.grid);
    let (tag, nodes) = (context.tag.now(grid), context.tables.nodes(grid));
    let (work, round) = (Work::new(work, nodes)?, Round::broadcast(grid));
    let level = round.level;
    if team.is_leader() {
        work.open_next(grid, tag, level);
        // Nodes that it removes are not subtracted, so fewer remain than the count says.
        let past = Past::broadcast(grid).and(round.edges);
        work.pass_relaxed(grid, tag, past.relaxed);
    }
    let mut counts = Recount {
        rows: context.tables.outgoing(grid),
        cores,
        level,
        least: u32::MAX,
        again: u32::MAX,
    };
    let mut longest = 0;
    // Other users of the shared memory are done in all warps of the block.
    grid.block_barrier();
    let mut pending = Pending::of(grid);
    each_chunk(team, nodes, |node| {
        let (start, end) = counts.row_left(grid, node < nodes, node);
        if !G::SIMT {
            counts.alone(grid, node, start, end);
            return;
        }
        longest = longest.max(end - start);
        let is_short = start < end && end - start <= WARP_ROW;
        pending.add(grid, &[node], u32::from(is_short));
        if pending.has(G::WARP) {
            let taken = pending.take(grid);
            counts.together(grid, taken.nodes[0], taken.mask != 0);
        }
    });
    if pending.has(1) {
        let taken = pending.take(grid);
        counts.together(grid, taken.nodes[0], taken.mask != 0);
    }
    // A thread has met none.
    if grid.block_any(longest > WARP_ROW) {
        let long = counts;
        let is_long = |node| {
            let (start, end) = long.row_left(grid, true, node);
            end - start > WARP_ROW
        };
        each_left(team, nodes, is_long, |node| counts.with_all(grid, node));
    }
    work.wait_warp(grid, context.tag, counts.least);
    work.pass_nearest(grid, tag, counts.again);
    Ok(())
}

impl Recount {
    /// The row of `node` if it is one that remains, otherwise an empty one.
    #[inline(always)]
    fn row_left<G: Grid>(&self, grid: G, exists: bool, node: u32) -> (u32, u32) {
        let degree = self.cores.load_weak_if(grid, exists, node, 0);
        self.rows.row_if(grid, degree > self.level, node)
    }

    /// Whether the end of `edge` remains.
    #[inline(always)]
    fn remains<G: Grid>(&self, grid: G, exists: bool, edge: u32) -> bool {
        let to = self.rows.target_if(grid, exists, edge);
        self.cores.load_weak_if(grid, exists, to, 0) > self.level
    }

    /// Counts along the row `start..end` of `node`, unless it is empty, with a one-lane block.
    #[inline(always)]
    fn alone<G: Grid>(&mut self, grid: G, node: u32, start: u32, end: u32) {
        if start < end {
            let count = (start..end).map(|edge| u32::from(self.remains(grid, true, edge)));
            let count = count.sum();
            self.settle(grid, node, count);
        }
    }

    /// Counts along the rows of a node per lane, where it `exists`. A warp operation.
    #[inline(always)]
    fn together<G: Grid>(&mut self, grid: G, node: u32, exists: bool) {
        let (start, end) = self.rows.row_if(grid, exists, node);
        let row_spread = RowSpread::of(grid, end - start);
        let stop = row_spread.start + (end - start);
        let (mut count, mut step) = (0, 0);
        while step < row_spread.total {
            // Codegen rule `LOADS_TOGETHER`.
            let spots: [Spot; LANE] =
                core::array::from_fn(|k| row_spread.spot(grid, step, k as u32));
            let edges = spots.map(|spot| grid.shuffle(start, spot.lane).wrapping_add(spot.at));
            let ends: [u32; LANE] =
                core::array::from_fn(|k| self.rows.target_if(grid, spots[k].exists, edges[k]));
            let degrees: [u32; LANE] = core::array::from_fn(|k| {
                self.cores.load_weak_if(grid, spots[k].exists, ends[k], 0)
            });
            for (k, degree) in degrees.iter().enumerate() {
                let base = step + k as u32 * G::WARP;
                let own =
                    lanes_before::<G>(stop, base) & !lanes_before::<G>(row_spread.start, base);
                count += (grid.ballot(*degree > self.level) & own).count_ones();
            }
            step += EACH * G::WARP;
        }
        if exists {
            self.settle(grid, node, count);
        }
    }

    /// Counts along the row of `node`, with all lanes of the block.
    #[inline(always)]
    fn with_all<G: Grid>(&mut self, grid: G, node: u32) {
        let (mut base, end) = self.rows.row(grid, node);
        let mut count = 0;
        while base < end {
            let edge = base.saturating_add(grid.lane());
            count += grid.block_count(self.remains(grid, edge < end, edge));
            base = base.saturating_add(grid.lanes());
        }
        if grid.lane() == 0 {
            self.settle(grid, node, count);
        }
    }

    /// Removes `node` if at most as many neighbours remain as the level says.
    #[inline(always)]
    fn settle<G: Grid>(&mut self, grid: G, node: u32, count: u32) {
        if count <= self.level {
            self.cores.store_weak(grid, node, self.level);
            self.again = AGAIN;
        } else {
            self.cores.store_weak(grid, node, count);
            self.least = self.least.min(count);
        }
    }
}
