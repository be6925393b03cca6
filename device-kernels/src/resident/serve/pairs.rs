//! Searches between two nodes by a block: two breadth-first searches that meet.
//!
//! The search with fewer nodes takes the next level, as on CPU threads. Each lane takes a node; the
//! lanes of a warp take longer rows together.

use super::board::BEHIND_BOARD;
use super::deadline::{Deadline, LATE};
use super::record::{COUNTERS, Serve, array_words};
use crate::machine::Grid;
use crate::machine::memory::{Csr, Proven};
use crate::operators::advance::rows::each_edge;
use seawall_core::protocol::Refusal;

/// Shared word with the nodes of the next level or round so far.
pub(super) const FOUND: u32 = BEHIND_BOARD;
/// Shared word that says that the time is over.
const OVER: u32 = BEHIND_BOARD + 1;

/// Counter; marks below its value belong to earlier searches.
const BASE: u32 = 0;
/// Counter for the length of the shortest path so far.
const BEST: u32 = 1;

/// Memory of a worker's searches, and the graph.
#[derive(Clone, Copy)]
pub(super) struct Pairs<G> {
    pub(super) grid: G,
    pub(super) serve: Serve,
    pub(super) scratch: Proven,
    pub(super) nodes: u32,
}

/// One of the two searches.
#[derive(Clone, Copy)]
struct Side {
    /// 0 for the search from the source, 1 for the one from the target.
    number: u32,
    /// Number of its queue that holds the current level.
    queue: u32,
    count: u32,
    level: u32,
}

impl<G: Grid> Pairs<G> {
    #[inline(always)]
    pub(super) fn new(grid: G, serve: Serve, worker: u32) -> Self {
        Self {
            grid,
            serve,
            scratch: serve.scratch(grid, worker),
            nodes: serve.nodes(grid),
        }
    }

    /// Marks of a search.
    #[inline(always)]
    pub(super) fn marks(&self, side: u32) -> Proven {
        self.array(side)
    }

    /// A queue of a search.
    #[inline(always)]
    pub(super) fn queue(&self, side: u32, queue: u32) -> Proven {
        self.array(2 + side * 2 + queue)
    }

    #[inline(always)]
    fn array(&self, number: u32) -> Proven {
        let words = array_words(self.nodes);
        let before = u64::from(number) * u64::from(words);
        self.scratch.part(u64::from(COUNTERS) + before, words)
    }

    /// A number above all marks of earlier searches, of which this one may use `most` beyond it.
    #[inline(always)]
    pub(super) fn begin(&self, most: u32) -> u32 {
        let grid = self.grid;
        let base = self.scratch.load(grid, BASE);
        if base.checked_add(most).is_some() {
            return base;
        }
        for side in [0, 1] {
            let marks = self.marks(side);
            let mut node = grid.lane();
            while node < self.nodes {
                marks.store(grid, node, 0);
                node += grid.lanes();
            }
        }
        0
    }

    /// Keeps the number above all marks of this search; a barrier follows.
    #[inline(always)]
    pub(super) fn end(&self, base: u32) {
        self.grid.block_barrier();
        if self.grid.lane() == 0 {
            self.scratch.store(self.grid, BASE, base);
        }
    }

    /// Edges of a shortest path, if there is one. All lanes of the block call this.
    #[inline(never)]
    pub(super) fn hops(
        &self,
        source: u32,
        target: u32,
        deadline: &Deadline<G>,
    ) -> Result<Option<u32>, Refusal> {
        if source == target {
            return Ok(Some(0));
        }
        let grid = self.grid;
        let base = self.begin(self.nodes.saturating_add(2));
        grid.block_barrier();
        let mut sides = [0, 1].map(|number| Side {
            number,
            queue: 0,
            count: 1,
            level: 0,
        });
        if grid.lane() == 0 {
            for (side, node) in [(0, source), (1, target)] {
                self.marks(side).store(grid, node, base + 1);
                self.queue(side, 0).store(grid, 0, node);
            }
            self.scratch.store(grid, BEST, u32::MAX);
        }
        let rows = [self.serve.outgoing(grid), self.serve.incoming(grid)];
        let found = loop {
            let [forward, backward] = sides;
            if forward.count == 0 || backward.count == 0 {
                break Ok(None);
            }
            let is_forward = forward.count <= backward.count;
            let (side, rows) = if is_forward {
                (forward, rows[0])
            } else {
                (backward, rows[1])
            };
            let Some((side, best)) = self.step(side, rows, base, deadline) else {
                break Err(LATE);
            };
            if best != u32::MAX {
                break Ok(Some(best));
            }
            sides = if is_forward {
                [side, backward]
            } else {
                [forward, side]
            };
        };
        self.end(base + 2 + sides[0].level.max(sides[1].level) + 1);
        found
    }

    /// Takes one level. Returns the shortest path that met the other search in it, or `None` if the
    /// time is over.
    #[inline(always)]
    fn step(
        &self,
        side: Side,
        rows: Csr,
        base: u32,
        deadline: &Deadline<G>,
    ) -> Option<(Side, u32)> {
        let grid = self.grid;
        self.reset(deadline.is_over());
        let level = side.level + 1;
        let marks = [side.number, 1 - side.number].map(|number| self.marks(number));
        let next = self.queue(side.number, 1 - side.queue);
        let visit = |edge: u32| {
            let node = rows.target(grid, edge);
            let seen = marks[0].load(grid, node);
            if seen > base || marks[0].swap_if(grid, node, seen, base + 1 + level) != seen {
                return;
            }
            // SAFETY: the word is the block's.
            let at = unsafe { grid.shared_add(FOUND, 1) };
            next.store(grid, at, node);
            let other = marks[1].load(grid, node);
            if other > base {
                self.scratch.min(grid, BEST, other - base - 1 + level);
            }
        };
        each_edge(
            grid,
            self.queue(side.number, side.queue),
            side.count,
            rows,
            |_, edge| visit(edge),
        );
        let (count, over) = self.counted();
        let best = self.scratch.load(grid, BEST);
        let side = Side {
            queue: 1 - side.queue,
            count,
            level,
            ..side
        };
        (!over).then_some((side, best))
    }

    /// Begins an empty queue.
    #[inline(always)]
    pub(super) fn reset(&self, is_over: bool) {
        let grid = self.grid;
        grid.block_barrier();
        if grid.lane() == 0 {
            // SAFETY: both words are the block's.
            unsafe {
                grid.shared_store(FOUND, 0);
                grid.shared_store(OVER, u32::from(is_over));
            }
        }
        grid.block_barrier();
    }

    /// The nodes of the queue, and whether the time is over.
    #[inline(always)]
    pub(super) fn counted(&self) -> (u32, bool) {
        let grid = self.grid;
        grid.block_barrier();
        // SAFETY: both words are the block's.
        unsafe { (grid.shared_load(FOUND), grid.shared_load(OVER) != 0) }
    }
}
