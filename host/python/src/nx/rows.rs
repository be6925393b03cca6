//! Rows of edges in the order that NetworkX has them.

use seawall::graph::{CsrArrays, Graph, GraphError, WeightKind};
use std::ops::Range;

/// Nodes whose rows are read before the first of them is followed: they lie anywhere in memory, and so
/// the waits for them overlap.
pub(crate) const ROWS_AHEAD: usize = 16;

/// Asks for a line of memory; does nothing where the compiler has no stable call for that.
pub(crate) fn prefetch(address: *const u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every such processor has SSE, and a hint reads nothing, so any address will do.
    unsafe {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(address.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

/// Edges by the node that they leave, each row in the order of the caller.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rows {
    /// Offset of each row, and the number of edges.
    pub(crate) offsets: Vec<usize>,
    /// Ends of edges.
    pub(crate) targets: Vec<u32>,
}

impl Rows {
    pub(crate) fn nodes(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// Places of the edges that leave `node`.
    pub(crate) fn range(&self, node: u32) -> Range<usize> {
        let node = node as usize;
        self.offsets[node]..self.offsets[node + 1]
    }

    /// Ends of the edges that leave `node`.
    pub(crate) fn of(&self, node: u32) -> &[u32] {
        &self.targets[self.range(node)]
    }

    /// Reads the beginning of some rows.
    pub(crate) fn touch(&self, nodes: &[u32]) {
        let first = nodes.iter().filter_map(|node| self.of(*node).first());
        std::hint::black_box(first.fold(0, |all, next| all ^ next));
    }

    /// Asks for the place of a row, of `later`, and for the beginning of another, of `soon`.
    pub(crate) fn fetch(&self, later: Option<u32>, soon: Option<u32>) {
        if let Some(node) = later {
            prefetch(self.offsets.as_ptr().wrapping_add(node as usize).cast());
        }
        if let Some(node) = soon {
            let start = self.offsets[node as usize];
            prefetch(self.targets.as_ptr().wrapping_add(start).cast());
        }
    }

    /// Number of edges that leave `node`.
    pub(crate) fn degree(&self, node: u32) -> usize {
        self.range(node).len()
    }

    pub(crate) fn all(&self) -> Range<u32> {
        0..self.nodes() as u32
    }

    /// Returns a graph of the library with these edges, each row sorted.
    pub(crate) fn graph(&self, symmetric: bool) -> Result<Graph, GraphError> {
        let mut targets = self.targets.clone();
        for node in self.all() {
            targets[self.range(node)].sort_unstable();
        }
        // A number beyond 32 bits stays one that the check refuses.
        let word = |offset: &usize| u32::try_from(*offset).unwrap_or(u32::MAX);
        Graph::from_csr(CsrArrays {
            offsets: self.offsets.iter().map(word).collect(),
            targets,
            weights: None,
            kind: WeightKind::Integer,
            symmetric,
            by_weight: false,
        })
    }

    /// Returns the rows of the reversed edges, each by ascending node, and the place that each
    /// edge had. Linear in nodes and edges.
    pub(crate) fn transposed(&self) -> (Self, Vec<usize>) {
        let mut offsets = vec![0_usize; self.offsets.len()];
        for &target in &self.targets {
            offsets[target as usize + 1] += 1;
        }
        for node in 1..offsets.len() {
            offsets[node] += offsets[node - 1];
        }
        let mut next = offsets.clone();
        let mut targets = vec![0; self.targets.len()];
        let mut places = vec![0; self.targets.len()];
        for node in self.all() {
            for place in self.range(node) {
                let slot = &mut next[self.targets[place] as usize];
                targets[*slot] = node;
                places[*slot] = place;
                *slot += 1;
            }
        }
        (Self { offsets, targets }, places)
    }
}

/// Weights of edges: whole numbers stay whole, as in Python.
#[derive(Clone, Debug, Default)]
pub(crate) enum Weights {
    /// 1 on every edge.
    #[default]
    Unit,
    /// Whole numbers whose sum over all edges fits.
    Whole(Vec<i64>),
    /// Floats, none of them NaN.
    Real(Vec<f64>),
}

impl Weights {
    /// The weight at a place, of whole ones.
    pub(crate) fn whole(&self, place: usize) -> i64 {
        match self {
            Self::Whole(weights) => weights[place],
            _ => 1,
        }
    }

    /// The weight at a place.
    pub(crate) fn float(&self, place: usize) -> f64 {
        match self {
            Self::Real(weights) => weights[place],
            weights => weights.whole(place) as f64,
        }
    }
}
