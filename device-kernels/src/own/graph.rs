//! The graph as waves of other crates see it.

use crate::machine::memory::{Csr, Kept, Proof, Proven};
use core::marker::PhantomData;

/// Rows of edges of the graph.
#[derive(Clone, Copy, Debug)]
pub struct Rows<'w> {
    offsets: Kept<Proof>,
    targets: Kept<Proof>,
    nodes: u32,
    wave: PhantomData<&'w ()>,
}

impl Rows<'_> {
    #[inline(always)]
    pub(super) fn new(csr: Csr, nodes: u32) -> Self {
        let [offsets, targets] = csr.arrays().map(Kept::of);
        Self {
            offsets,
            targets,
            nodes,
            wave: PhantomData,
        }
    }

    /// Number of rows, one for each node.
    #[inline(always)]
    #[must_use]
    pub fn nodes(self) -> u32 {
        self.nodes
    }

    /// Edges of all rows.
    #[inline(always)]
    #[must_use]
    pub fn edges(self) -> u32 {
        self.targets.len()
    }

    #[inline(always)]
    pub(super) fn csr(self) -> Csr {
        Csr::new(self.offsets.array(), self.targets.array())
    }
}

/// Weights of edges of one direction, by the number of the edge: outgoing and incoming edges are
/// numbered apart.
#[derive(Clone, Copy, Debug)]
pub struct Weights<'w> {
    words: Kept<Proof>,
    wave: PhantomData<&'w ()>,
}

impl Weights<'_> {
    #[inline(always)]
    pub(super) fn new(words: Proven) -> Self {
        Self {
            words: Kept::of(words),
            wave: PhantomData,
        }
    }

    #[inline(always)]
    pub(super) fn words(self) -> Proven {
        self.words.array()
    }
}

/// An edge that a wave visits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The node of its row.
    pub node: u32,
    /// The node at its other end.
    pub neighbour: u32,
}
