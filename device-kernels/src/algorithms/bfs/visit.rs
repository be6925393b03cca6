//! Marks that a search leaves at the nodes that it discovers.

use crate::machine::Grid;
use crate::machine::memory::Proven;
use seawall_core::abi::search::Visitor;

/// A discovered node, how it was reached and in which iteration.
#[derive(Clone, Copy, Debug)]
pub struct Discovery {
    /// The node.
    pub node: u32,
    /// The node from which it was discovered.
    pub from: u32,
    /// Number of edges from the nearest source.
    pub level: u32,
}

/// Marks as given by the program's visitor word. The conditions are the same in all lanes of a
/// grid, so nothing diverges.
#[derive(Clone, Copy, Debug)]
pub struct Marker {
    marks: Proven,
    stores: bool,
    parents: bool,
    ahead: bool,
}

impl Marker {
    /// Marks `marks`, one word per node, unless `visitor` only sets bits.
    #[must_use]
    pub fn new(visitor: Visitor, marks: Proven) -> Self {
        Self {
            marks,
            stores: matches!(visitor, Visitor::MarkLevel | Visitor::MarkParent),
            parents: visitor == Visitor::MarkParent,
            ahead: visitor == Visitor::OrBitsAhead,
        }
    }

    /// The same from [`Marker::words`].
    #[inline(always)]
    pub(crate) fn again(marks: Proven, flags: u32) -> Self {
        Self {
            marks,
            stores: flags & 1 != 0,
            parents: flags & 2 != 0,
            ahead: flags & 4 != 0,
        }
    }

    /// The marks and the flags of marking.
    #[inline(always)]
    pub(crate) fn words(self) -> (Proven, u32) {
        let [stores, parents, ahead] = [self.stores, self.parents, self.ahead].map(u32::from);
        let flags = stores | parents << 1 | ahead << 2;
        (self.marks, flags)
    }

    /// Whether it stores the discoverer of a node.
    #[inline(always)]
    pub(crate) fn keeps_parents(self) -> bool {
        self.parents
    }

    /// Whether pulls continue from nodes that they found themselves.
    #[inline(always)]
    pub(crate) fn goes_ahead(self) -> bool {
        self.ahead
    }

    /// Fetches the word of `node` into a cache.
    #[inline(always)]
    pub(crate) fn prefetch<G: Grid>(self, grid: G, node: u32) {
        if self.stores {
            self.marks.prefetch(grid, node);
        }
    }

    /// Stores a discovery. In one iteration, several lanes may call this for one node,
    /// with different `from` but the same `level`; any of them may win.
    #[inline(always)]
    pub fn discovered<G: Grid>(self, grid: G, discovery: Discovery) {
        if self.stores {
            let value = if self.parents {
                discovery.from
            } else {
                discovery.level
            };
            self.marks.store_weak(grid, discovery.node, value);
        }
    }
}
