//! Relaxes edges: reads neighbours, lowers distances and picks the nodes to queue.

use super::lengths::Lengths;
use crate::machine::Grid;
use crate::machine::memory::Proven;
use crate::operators::advance::shares::{Edges, Visit};
use crate::operators::rounds::Round;

/// The arrays and counters of a relaxing round.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Paths {
    pub(crate) distances: Proven,
    pub(crate) weights: Proven,
    pub(crate) round: Round,
}

/// Relaxes edges, several at once (codegen rules `LOADS_TOGETHER` and `PREDICATED`).
pub(crate) struct Relax<'r, G, L> {
    pub(crate) grid: G,
    pub(crate) lengths: L,
    pub(crate) paths: &'r Paths,
    pub(crate) marks: Proven,
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
        let (grid, paths) = (self.grid, self.paths);
        let mut weights = [0; K];
        for k in 0..K {
            let (is_edge, edge) = (edges.has(k), edges.index[k]);
            weights[k] = paths.weights.constant_if(grid, is_edge, edge, 0);
        }
        let mut sums = [L::NEVER; K];
        for k in 0..K {
            if edges.has(k) {
                let carried = edges.value[k];
                sums[k] = self.lengths.sum(grid, paths.distances, carried, weights[k]);
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
        let (grid, lengths, distances) = (self.grid, self.lengths, self.paths.distances);
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
            before[k] = lengths.lower_if(grid, self.paths.distances, wanted[k], node, length);
        }
        let mut mask = 0;
        for k in 0..K {
            let place = lengths.place(sums[k]);
            let has_fallen = sums[k] < before[k];
            let is_near = place < self.paths.round.level;
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
        let (grid, marks) = (self.grid, self.marks);
        if G::WARP == 1 {
            let mut claimed = 0;
            for (k, node) in nodes.iter().enumerate() {
                let is_picked = picked >> k & 1 != 0;
                claimed |= u32::from(is_picked && claim(grid, marks, *node)) << k;
            }
            return claimed;
        }
        let mut before = [0; K];
        for k in 0..K {
            let (is_picked, node) = (picked >> k & 1 != 0, nodes[k]);
            before[k] = marks.or_if(grid, is_picked, node >> 5, [1 << (node & 31), u32::MAX]);
        }
        let mut claimed = 0;
        for k in 0..K {
            claimed |= u32::from(before[k] >> (nodes[k] & 31) & 1 == 0) << k;
        }
        claimed
    }
}

/// Marks `node` and returns whether this lane is the first to do so.
#[inline(always)]
pub(crate) fn claim<G: Grid>(grid: G, marks: Proven, node: u32) -> bool {
    let bit = 1_u32 << (node & 31);
    if G::WARP == 1 && marks.load_weak(grid, node >> 5) & bit != 0 {
        // A load first saves a CPU thread the locked instruction.
        return false;
    }
    marks.or(grid, node >> 5, bit) & bit == 0
}
