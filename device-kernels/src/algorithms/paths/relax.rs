//! Relaxes edges: reads neighbours, lowers distances and picks the nodes to queue.

use super::lengths::Lengths;
use crate::machine::Grid;
use crate::machine::memory::{Csr, Proven};
use crate::operators::advance::{Balance, Edges, Visit};
use crate::operators::marks::claim_each;

/// Edges in a cache line.
const LINE: u32 = 16;

/// Relaxes edges, several at once (codegen rules `LOADS_TOGETHER` and `PREDICATED`).
pub(crate) struct Relax<'r, G, L> {
    pub(crate) grid: G,
    pub(crate) lengths: L,
    pub(crate) distances: Proven,
    pub(crate) weights: Proven,
    /// Limit below which nodes are queued.
    pub(crate) level: u32,
    pub(crate) rows: Csr,
    /// Marks of the nodes that this round leaves, and of those that it queues.
    pub(crate) old_marks: Proven,
    pub(crate) marks: Proven,
    /// Least distance of a node beyond the limit.
    pub(crate) least: &'r mut u32,
}

impl<G: Grid, L: Lengths> Relax<'_, G, L> {
    /// The lengths of the paths over edges; [`Lengths::NEVER`] where there is no edge.
    #[inline(always)]
    #[expect(
        clippy::needless_range_loop,
        reason = "several things go by one number"
    )]
    fn sums<const K: usize>(&self, edges: &Edges<K>) -> [L::Length; K] {
        let (grid, distances) = (self.grid, self.distances);
        let mut weights = [0; K];
        for k in 0..K {
            let (is_edge, edge) = (edges.has(k), edges.index[k]);
            weights[k] = self.weights.constant_if(grid, is_edge, edge, 0);
        }
        let mut sums = [L::NEVER; K];
        for k in 0..K {
            if edges.has(k) {
                let carried = edges.value[k];
                sums[k] = self.lengths.sum(grid, distances, carried, weights[k]);
            }
        }
        sums
    }

    /// [`Visit::visit`], and the lengths of the paths over the edges. Reads before it lowers, since
    /// most edges lower nothing.
    #[inline(always)]
    #[expect(
        clippy::needless_range_loop,
        reason = "several things go by one number"
    )]
    pub(crate) fn visit_sums<const K: usize>(&mut self, edges: &Edges<K>) -> (u32, [L::Length; K]) {
        let (grid, lengths, distances) = (self.grid, self.lengths, self.distances);
        let mut seen = [L::Length::default(); K];
        for k in 0..K {
            seen[k] = lengths.seen_if(grid, distances, edges.has(k), edges.to[k]);
        }
        let sums = self.sums(edges);
        let mut wanted = [false; K];
        for k in 0..K {
            wanted[k] = sums[k] < seen[k];
        }
        (self.lower(edges, sums, wanted), sums)
    }

    /// Lowers distances to the `sums` of `wanted` edges; returns a bit for each node to
    /// queue.
    #[inline(always)]
    fn lower<const K: usize>(
        &mut self,
        edges: &Edges<K>,
        sums: [L::Length; K],
        wanted: [bool; K],
    ) -> u32 {
        let (grid, lengths) = (self.grid, self.lengths);
        let mut before = [L::Length::default(); K];
        for k in 0..K {
            let (node, length) = (edges.to[k], sums[k]);
            before[k] = lengths.lower_if(grid, self.distances, wanted[k], node, length);
        }
        let mut mask = 0;
        for k in 0..K {
            let place = lengths.place(sums[k]);
            let has_fallen = sums[k] < before[k];
            let is_near = place < self.level;
            mask |= u32::from(has_fallen && is_near) << k;
            if has_fallen && !is_near {
                *self.least = (*self.least).min(place);
            }
        }
        mask
    }
}

impl<G: Grid, L: Lengths> Visit for Relax<'_, G, L> {
    const TOGETHER: bool = L::WORDS == 1;
    const BALANCE: Balance = Balance {
        rows: true,
        warps: L::WORDS == 1,
    };

    #[inline(always)]
    fn leave(&self, node: u32) -> u32 {
        // All nodes of this word's marks are in this queue, so no mark is lost.
        self.old_marks.store_weak(self.grid, node >> 5, 0);
        self.lengths.carried(self.grid, self.distances, node)
    }

    #[inline(always)]
    fn prefetch(&self, node: u32, edge: u32) {
        let (grid, weights) = (self.grid, self.weights);
        self.distances.prefetch(grid, node * L::WORDS);
        weights.prefetch(grid, edge);
        if G::TAKES {
            // A single thread is slower with it.
            let next = edge.saturating_add(LINE).min(self.rows.edges());
            self.rows.prefetch_target(grid, next);
            weights.prefetch(grid, next);
        }
    }

    #[inline(always)]
    fn visit<const K: usize>(&mut self, edges: &Edges<K>) -> u32 {
        self.visit_sums(edges).0
    }

    #[inline(always)]
    fn visit_row<const K: usize>(&mut self, edges: &Edges<K>) -> u32 {
        let sums = self.sums(edges);
        let mut wanted = [false; K];
        for k in 0..K {
            wanted[k] = sums[k] != L::NEVER;
        }
        self.lower(edges, sums, wanted)
    }

    /// Marks nodes; this lane owns the nodes that were not marked before.
    #[inline(always)]
    fn claim<const K: usize>(&self, nodes: &[u32; K], picked: u32) -> u32 {
        claim_each(self.grid, self.marks, nodes, picked)
    }
}
