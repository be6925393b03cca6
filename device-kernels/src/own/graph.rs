//! The graph as waves of other crates see it.

use crate::memory::{Csr, Proven};
use core::marker::PhantomData;

/// An array of the graph.
#[derive(Clone, Copy, Debug)]
struct Constant {
    // A number, so that closures over items may share it.
    address: u64,
    len: u32,
}

impl Constant {
    #[inline(always)]
    fn of(array: Proven) -> Self {
        Self {
            address: array.address(),
            len: array.len(),
        }
    }

    #[inline(always)]
    fn array(self) -> Proven {
        // SAFETY: `of` took an array of this address and length. Handles of the graph
        // live no longer than the wave, and users of this module compare indices with
        // its lengths.
        unsafe { Proven::trusted(self.address as *mut u32, self.len) }
    }
}

/// Rows of edges of the graph.
#[derive(Clone, Copy, Debug)]
pub struct Rows<'w> {
    offsets: Constant,
    targets: Constant,
    nodes: u32,
    wave: PhantomData<&'w ()>,
}

impl Rows<'_> {
    #[inline(always)]
    pub(super) fn new(csr: Csr, nodes: u32) -> Self {
        let [offsets, targets] = csr.arrays().map(Constant::of);
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
        self.targets.len
    }

    #[inline(always)]
    pub(super) fn csr(self) -> Csr {
        Csr::new(self.offsets.array(), self.targets.array())
    }
}

/// Weights of outgoing edges, by the number of the edge.
#[derive(Clone, Copy, Debug)]
pub struct Weights<'w> {
    words: Constant,
    wave: PhantomData<&'w ()>,
}

impl Weights<'_> {
    #[inline(always)]
    pub(super) fn new(words: Proven) -> Self {
        Self {
            words: Constant::of(words),
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
