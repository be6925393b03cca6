//! Incoming edges by tiles of rows, as kernels read them (see
//! [`seawall_core::abi::tiles`]).

use crate::machine::Grid;
use crate::machine::memory::Proven;
use seawall_core::abi::tiles::{DISTANCE_MAX, NO_EDGE, SLOT_SHIFT, TileRecord};

/// The tiles of a graph.
#[derive(Clone, Copy, Debug)]
pub struct Tiles {
    /// Number of tiles.
    pub(crate) count: u32,
    pub(crate) records: Proven,
    pub(crate) edges: Proven,
    pub(crate) bases: Proven,
    pub(crate) rows: Proven,
}

/// Four edges of a step: those of one lane.
#[derive(Clone, Copy, Debug)]
pub struct Quad {
    base: u32,
    words: [u32; 4],
}

/// Edges that [`Tiles::quad`] reads at once.
pub const EACH: usize = 4;

/// Words of a tile's record.
pub const TILE_WORDS: u32 = (size_of::<TileRecord>() / 4) as u32;

/// Quads of a step.
pub const QUADS: u32 = 32;

impl Tiles {
    /// Tile `index`.
    #[inline(always)]
    pub fn record<G: Grid>(self, grid: G, index: u32) -> TileRecord {
        let at = |word: u32| self.records.constant(grid, index * TILE_WORDS + word);
        TileRecord {
            first_step: at(0),
            steps: at(1),
            first_slot: at(2),
            slots: at(3),
        }
    }

    /// Quad `index` of all steps, without edges from quad `end` on.
    #[inline(always)]
    pub fn quad<G: Grid>(self, grid: G, index: u32, end: u32) -> Quad {
        if index >= end {
            return Quad {
                base: 0,
                words: [NO_EDGE; EACH],
            };
        }
        Quad {
            base: self.bases.constant(grid, index / QUADS),
            words: self.edges.constant4(grid, index * EACH as u32),
        }
    }

    /// The row of each slot of the tile `record`.
    #[inline(always)]
    pub fn rows_of(self, record: &TileRecord) -> Proven {
        self.rows.part(u64::from(record.first_slot), record.slots)
    }
}

impl Quad {
    /// Sources of the four edges; for a missing edge, some node.
    #[inline(always)]
    pub fn sources(&self) -> [u32; EACH] {
        let [first, second, third, fourth] = self.words;
        let source = |word: u32| self.base + (word & DISTANCE_MAX);
        [source(first), source(second), source(third), source(fourth)]
    }

    /// Slots of the four edges; for a missing edge, a slot that no tile has.
    #[inline(always)]
    pub fn slots(&self) -> [u32; EACH] {
        let [first, second, third, fourth] = self.words;
        let slot = |word: u32| word >> SLOT_SHIFT;
        [slot(first), slot(second), slot(third), slot(fourth)]
    }
}
