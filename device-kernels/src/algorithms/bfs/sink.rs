//! The places of a push's discoveries.

use super::current::Search;
use super::frontier::{Frontier, NEXT};
use super::push::Push;
use super::visit::Discovery;
use crate::machine::Grid;

/// The place where a push leaves discovered nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sink {
    /// In the next queue, each node once.
    Queue,
    /// In the third bitset, for a compaction.
    Bitset,
}

impl Search {
    /// Claims `node` for the queue, or marks it for the compaction.
    #[inline(always)]
    pub(crate) fn take<G: Grid>(
        &self,
        grid: G,
        push: &Push,
        node: u32,
        sink: Sink,
        from: impl Fn() -> u32,
    ) -> bool {
        let bit = 1_u32 << (node & 31);
        if push.visited.load_weak(grid, node >> 5) & bit != 0 {
            return false;
        }
        if sink == Sink::Queue {
            return self.claim(grid, push, node, from());
        }
        mark(grid, self.frontier, node, bit);
        let level = push.level;
        let from = from();
        self.visit.discovered(grid, Discovery { node, from, level });
        false
    }
}

/// Sets the bit of `node` in the third bitset, without an atomic operation if the bit is already
/// set.
#[inline(always)]
fn mark<G: Grid>(grid: G, frontier: Frontier, node: u32, bit: u32) {
    let next = frontier.bitset(NEXT);
    if next.load_weak(grid, node >> 5) & bit == 0 {
        next.or(grid, node >> 5, bit);
    }
}
