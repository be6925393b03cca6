//! Lightest paths between two nodes by a block.
//!
//! Lengths below a limit are propagated in rounds, each from the nodes that became nearer in the
//! one before. Then the limit rises beyond the nearest node that is left. The search ends when no
//! node below the limit can shorten the path to the target.

use super::deadline::{Deadline, LATE};
use super::pairs::{FOUND, Pairs};
use super::record::{Serve, array_words};
use crate::machine::Grid;
use crate::machine::memory::Proven;
use crate::operators::advance::rows::each_edge;
use seawall_core::protocol::Refusal;

/// Counters, an aligned pair: the nearest node that is left.
const NEAREST: u32 = 2;

/// Number of nodes in a bucket's first round above which the next delta becomes smaller, and below
/// which it becomes larger.
const WIDTH: u32 = 1024;

/// Memory of a worker's searches, and the graph.
#[derive(Clone, Copy)]
pub(super) struct Lengths<G> {
    pairs: Pairs<G>,
}

/// Lengths from the source.
#[derive(Clone, Copy)]
struct PathLengths {
    /// A pair of words for each node.
    lengths: Proven,
    weights: Proven,
    target: u32,
}

impl<G: Grid> Lengths<G> {
    #[inline(always)]
    pub(super) fn new(grid: G, serve: Serve, worker: u32) -> Self {
        Self {
            pairs: Pairs::new(grid, serve, worker),
        }
    }

    /// The sum of weights of a lightest path, if there is one. All lanes of the block call this.
    #[inline(never)]
    pub(super) fn length(
        &self,
        source: u32,
        target: u32,
        deadline: &Deadline<G>,
    ) -> Result<Option<u64>, Refusal> {
        let pairs = self.pairs;
        let grid = pairs.grid;
        let Some(weights) = pairs.serve.weights(grid) else {
            return Ok(None);
        };
        let words = array_words(pairs.nodes);
        // Both queues of the other side, which begin at an even word.
        let first = pairs.queue(1, 0).address() as *mut u32;
        // SAFETY: the second queue follows the first, and nothing else uses them now.
        let lengths = unsafe { Proven::trusted(first, words * 2) };
        let found = PathLengths {
            lengths,
            weights,
            target,
        };
        let mut node = grid.lane();
        while node < pairs.nodes {
            found.clear(grid, node);
            node += grid.lanes();
        }
        grid.block_barrier();
        if grid.lane() == 0 {
            lengths.min_wide(grid, source * 2, 0);
            pairs.queue(0, 0).store(grid, 0, source);
        }
        let mut tag = pairs.begin(1 << 30);
        let mut step = 1 << 12;
        let (mut bound, mut count) = (step, 1);
        let ended = loop {
            let Some(rounds) = self.spread(&found, bound, count, &mut tag, deadline) else {
                break Err(LATE);
            };
            let nearest = self.nearest(&found, bound);
            if nearest >= lengths.load_wide(grid, target * 2) {
                break Ok(());
            }
            // After few rounds, a larger delta loses little work; after many, a smaller one saves
            // some.
            step = match rounds {
                0..24 => step * 2,
                64.. => (step / 2).max(1),
                _ => step,
            };
            let from = bound;
            bound = nearest.saturating_add(step);
            count = self.collect(&found, from, bound);
            if count > WIDTH * 16 {
                step = (step / 2).max(1);
            }
        };
        pairs.end(tag + 1);
        let length = lengths.load_wide(grid, target * 2);
        ended.map(|()| (length != u64::MAX).then_some(length))
    }

    /// Propagates lengths below `bound` from the queued nodes until none changes. Returns the
    /// number of rounds, or `None` if the time is over.
    #[inline(always)]
    fn spread(
        &self,
        found: &PathLengths,
        bound: u64,
        mut count: u32,
        tag: &mut u32,
        deadline: &Deadline<G>,
    ) -> Option<u32> {
        let pairs = self.pairs;
        let grid = pairs.grid;
        let rows = pairs.serve.outgoing(grid);
        let marks = pairs.marks(0);
        let (mut queue, mut rounds) = (0, 0);
        while count > 0 {
            *tag += 1;
            let tag = *tag;
            pairs.reset(deadline.is_over());
            let next = pairs.queue(0, 1 - queue);
            each_edge(grid, pairs.queue(0, queue), count, rows, |from, edge| {
                let before = found.lengths.load_wide(grid, from * 2);
                let through = before + u64::from(found.weights.constant(grid, edge));
                let node = rows.target(grid, edge);
                if through >= found.lengths.load_wide(grid, node * 2)
                    || through >= found.lengths.load_wide(grid, found.target * 2)
                    || found.lengths.min_wide(grid, node * 2, through) <= through
                    || through >= bound
                    || marks.max(grid, node, tag) >= tag
                {
                    return;
                }
                // SAFETY: the word is the block's.
                let at = unsafe { grid.shared_add(FOUND, 1) };
                next.store(grid, at, node);
            });
            let over;
            (count, over) = pairs.counted();
            if over {
                return None;
            }
            queue = 1 - queue;
            rounds += 1;
        }
        // The next bucket's nodes are collected in the first queue.
        Some(rounds)
    }

    /// The least length from `bound` on.
    #[inline(always)]
    fn nearest(&self, found: &PathLengths, bound: u64) -> u64 {
        let pairs = self.pairs;
        let grid = pairs.grid;
        grid.block_barrier();
        if grid.lane() == 0 {
            self.pairs.scratch.store(grid, NEAREST, u32::MAX);
            self.pairs.scratch.store(grid, NEAREST + 1, u32::MAX);
        }
        grid.block_barrier();
        let mut least = u64::MAX;
        let mut node = grid.lane();
        while node < pairs.nodes {
            let length = found.lengths.load_wide(grid, node * 2);
            if length >= bound && length < least {
                least = length;
            }
            node += grid.lanes();
        }
        if least != u64::MAX {
            pairs.scratch.min_wide(grid, NEAREST, least);
        }
        grid.block_barrier();
        pairs.scratch.load_wide(grid, NEAREST)
    }

    /// Queues the nodes with lengths from `from` on and below `bound`; returns their number.
    #[inline(always)]
    fn collect(&self, found: &PathLengths, from: u64, bound: u64) -> u32 {
        let pairs = self.pairs;
        let grid = pairs.grid;
        pairs.reset(false);
        let queue = pairs.queue(0, 0);
        let mut node = grid.lane();
        while node < pairs.nodes {
            let length = found.lengths.load_wide(grid, node * 2);
            if length >= from && length < bound {
                // SAFETY: the word is the block's.
                let at = unsafe { grid.shared_add(FOUND, 1) };
                queue.store(grid, at, node);
            }
            node += grid.lanes();
        }
        pairs.counted().0
    }
}

impl PathLengths {
    #[inline(always)]
    fn clear<G: Grid>(&self, grid: G, node: u32) {
        for half in [0, 1] {
            self.lengths.store(grid, node * 2 + half, u32::MAX);
        }
    }
}
