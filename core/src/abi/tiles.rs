//! Incoming edges by tiles of rows, in the order of their sources.
//!
//! A row sum reads the contributions of its predecessors, one scattered word per edge. A tile holds
//! as many rows as the shared memory of a block has words for; its edges, sorted by source, read
//! those words in order, so that a line of memory is fetched once a tile and not once an edge
//! (propagation blocking: Beamer, Asanović and Patterson, "Reducing Pagerank Communication via
//! Propagation Blocking", 2017; here the sums stay in shared memory and nothing is written in
//! between).
//!
//! Edges come in steps of [`STEP_EDGES`], one word an edge: its row's slot in the
//! tile above [`SLOT_SHIFT`], below it the distance of its source from the base of
//! the step, a multiple of 2^16. Edge `i` of a step is word [`place_of`] of it, so
//! that each lane of a warp reads four words at once and every fourth of the step is
//! in order over the lanes.

use super::assert_words;
use bytemuck::{Pod, Zeroable};

/// Edges of a step, including unused places.
pub const STEP_EDGES: u32 = 128;

/// First bit of the slot of an edge's row in its word.
pub const SLOT_SHIFT: u32 = 16;

/// Largest distance of a source from the base of its step.
pub const DISTANCE_MAX: u32 = (1 << SLOT_SHIFT) - 1;

/// Most slots of a tile, one word of shared memory each.
pub const SLOTS_MAX: u32 = DISTANCE_MAX;

/// The word of a place that holds no edge: a slot that no tile has, and the base as its source, so
/// that reading its contribution does no harm.
pub const NO_EDGE: u32 = u32::MAX << SLOT_SHIFT;

/// Place of edge `index` of a step in it.
///
/// ```
/// use seawall_core::abi::tiles::place_of;
/// assert_eq!([place_of(0), place_of(1), place_of(31), place_of(32)], [0, 4, 124, 1]);
/// ```
#[must_use]
pub const fn place_of(index: u32) -> u32 {
    (index % 32).wrapping_mul(4).wrapping_add(index / 32)
}

/// One tile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct TileRecord {
    /// Its first step.
    pub first_step: u32,
    /// Its steps.
    pub steps: u32,
    /// Its first entry in the list of rows, one a slot.
    pub first_slot: u32,
    /// Its slots. A row of very many edges has several, here or elsewhere.
    pub slots: u32,
}
assert_words!(TileRecord, 4);

/// Addresses of the tiles of a graph; all zero if it has none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct TileTable {
    /// Address of the [`TileRecord`]s.
    pub records: u64,
    /// Address of the edges, [`STEP_EDGES`] words a step.
    pub edges: u64,
    /// Address of the bases of the steps, a node each.
    pub bases: u64,
    /// Address of the rows of all slots.
    pub rows: u64,
    /// Tiles.
    pub tiles: u32,
    /// Steps of all tiles.
    pub steps: u32,
    /// Slots of all tiles.
    pub slots: u32,
    /// 0.
    pub reserved: u32,
}
assert_words!(TileTable, 12);
