//! Reachability under a context-free grammar.
//!
//! Edges of a graph have labels, and a symbol of the grammar holds for a pair of nodes if the
//! labels of some path from one to the other form a word that the symbol derives. Taint, points-to
//! and the matching of calls with returns are questions of this kind (T. Reps, *Program analysis
//! via graph reachability*, 1998). [`Grammar`] and [`Edges`] read the text formats of
//! `docs/program-analysis.md`, and [`reach`] finds the pairs of every symbol, on CPU threads.

mod text;
mod edges;
mod closure;

pub use closure::{Pair, Reach, ReachStats, Select, reach};
pub use edges::{Edge, Edges};
pub use text::{Grammar, Production, Right, SYMBOLS_MAX, utf8};

/// A symbol of a grammar, or its inverse: the same pairs the other way round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Symbol(u8);

impl Symbol {
    /// The inverse; that of an inverse is the symbol itself.
    #[must_use]
    pub const fn inverse(self) -> Self {
        Self(self.0 ^ 1)
    }

    /// Whether it is the inverse of a name.
    #[must_use]
    pub const fn is_inverse(self) -> bool {
        self.0 & 1 == 1
    }

    /// Number of its relation: an even one for a name, the next one for the inverse.
    const fn index(self) -> usize {
        self.0 as usize
    }
}

/// Size of a graph that is written as text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GraphSize {
    /// Nodes that edges have.
    pub nodes: u64,
    /// Edges.
    pub edges: u64,
}
