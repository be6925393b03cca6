//! A graph's rows.

use super::words::Proven;
use crate::machine::Grid;

/// A graph's adjacency in compressed sparse rows.
#[derive(Clone, Copy, Debug)]
pub struct Csr {
    offsets: Proven,
    targets: Proven,
}

impl Csr {
    /// Rows that start at `offsets[v]` and end at `offsets[v + 1]`.
    #[must_use]
    pub fn new(offsets: Proven, targets: Proven) -> Self {
        Self { offsets, targets }
    }

    /// Edges of all rows.
    #[inline(always)]
    #[must_use]
    pub fn edges(self) -> u32 {
        self.targets.len()
    }

    /// Offsets and targets.
    #[inline(always)]
    pub(crate) fn arrays(self) -> [Proven; 2] {
        [self.offsets, self.targets]
    }

    /// First edge of `node`, and the edge after its last one.
    #[inline(always)]
    pub fn row<G: Grid>(self, grid: G, node: u32) -> (u32, u32) {
        (
            self.offsets.constant(grid, node),
            self.offsets.constant(grid, node + 1),
        )
    }

    /// [`Csr::row`] if `wanted`, else a row without edges.
    #[inline(always)]
    pub fn row_if<G: Grid>(self, grid: G, wanted: bool, node: u32) -> (u32, u32) {
        (
            self.offsets.constant_if(grid, wanted, node, 0),
            self.offsets
                .constant_if(grid, wanted, node.wrapping_add(1), 0),
        )
    }

    /// [`Csr::target`] if `wanted`, else node 0.
    #[inline(always)]
    pub fn target_if<G: Grid>(self, grid: G, wanted: bool, edge: u32) -> u32 {
        self.targets.constant_if(grid, wanted, edge, 0)
    }

    /// Targets of four edges from `edge` on, which is a multiple of four.
    #[inline(always)]
    pub fn targets4<G: Grid>(self, grid: G, edge: u32) -> [u32; 4] {
        self.targets.constant4(grid, edge)
    }

    /// Fetches the row of `node` into a cache, if there is one.
    #[inline(always)]
    pub fn prefetch_row<G: Grid>(self, grid: G, node: u32) {
        self.offsets.prefetch(grid, node.min(self.offsets.len()));
    }

    /// Fetches the target of `edge` into a cache.
    #[inline(always)]
    pub fn prefetch_target<G: Grid>(self, grid: G, edge: u32) {
        self.targets.prefetch(grid, edge);
    }

    /// Target of `edge`.
    #[inline(always)]
    pub fn target<G: Grid>(self, grid: G, edge: u32) -> u32 {
        self.targets.constant(grid, edge)
    }
}
