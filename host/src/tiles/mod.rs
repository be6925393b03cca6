//! Incoming edges by tiles of rows, for gathering on a GPU ([`seawall_core::abi::tiles`] describes
//! the format and its source).
//!
//! Every tile gets about the same number of edges, so that no block waits for another: rows are
//! dealt in chunks, heaviest first, each to the lightest tile. A row of very many edges is cut
//! into pieces that are dealt in the same way. Then threads take tile after tile, sort its edges
//! by source and write them.

mod deal;

use crate::graph::{Csr, Graph};
use bytemuck::allocation::try_zeroed_vec;
pub(crate) use deal::EDGES_MIN as TILES_EDGES_MIN;
use deal::{Slot, count, deal};
use rayon::prelude::*;
pub use seawall_core::abi::tiles::TileRecord;
use seawall_core::abi::tiles::{
    DISTANCE_MAX, NO_EDGE, SLOT_SHIFT, STEP_EDGES, TileTable, place_of,
};
use std::mem::swap;

/// Bits of a digit when edges are sorted: its counters fit the first-level cache.
const DIGIT_BITS: u32 = 11;

/// Words of a step.
type Step = [u32; STEP_EDGES as usize];

/// Shape of the tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TileShape {
    /// Blocks that take tiles in turn.
    pub blocks: u32,
    /// Slots that a tile may have, one word of shared memory each.
    pub slots: u32,
    /// Whether to make tiles even if they are not expected to pay.
    pub always: bool,
}

impl TileShape {
    const LARGE: Self = Self {
        blocks: 132,
        slots: TILE_SLOTS,
        always: false,
    };
}

/// Most slots of a tile: 128 KiB of shared memory, which leaves the rest of a multiprocessor's
/// memory to the cache that reads go through.
pub(crate) const TILE_SLOTS: u32 = 1 << 15;

/// The incoming edges of a graph by tiles.
#[derive(Clone, Debug)]
pub struct Tiles {
    records: Vec<TileRecord>,
    steps: Vec<Step>,
    bases: Vec<u32>,
    rows: Vec<u32>,
}

impl Tiles {
    /// Returns the tiles of `graph`; `None` if plain rows are expected to be as fast, or if no
    /// tiles of this shape can hold them.
    ///
    /// Takes time linear in edges, on all threads, and memory of four bytes per edge, sixteen per
    /// node and, for each thread, sixteen per edge of a tile. The result is the same for any
    /// number of threads.
    pub fn of(graph: &Graph, shape: TileShape) -> Option<Self> {
        let rows = graph.incoming();
        Self::fill(rows, &deal(rows, shape)?)
    }

    /// Whether a large GPU gathers by tiles of `graph`. Takes one pass over the row offsets.
    pub(crate) fn pay(graph: &Graph) -> bool {
        let rows = graph.try_incoming();
        rows.is_ok_and(|rows| count(rows, TileShape::LARGE).is_some())
    }

    /// The tiles.
    pub fn records(&self) -> &[TileRecord] {
        &self.records
    }

    /// Their edges, step after step.
    pub fn edges(&self) -> &[u32] {
        bytemuck::cast_slice(&self.steps)
    }

    /// The base of each step.
    pub fn bases(&self) -> &[u32] {
        &self.bases
    }

    /// The row of each slot, tile after tile.
    pub fn rows(&self) -> &[u32] {
        &self.rows
    }

    /// Slots of the largest tile.
    pub fn slots(&self) -> u32 {
        let slots = self.records.iter().map(|record| record.slots);
        slots.max().unwrap_or(0)
    }

    pub(crate) fn bytes(&self) -> u64 {
        let words = self.edges().len() + self.bases().len() + self.rows().len();
        (size_of_val(self.records()) + words * size_of::<u32>()) as u64
    }

    /// Numbers of tiles, steps and slots, without their addresses.
    pub(crate) fn table(&self) -> TileTable {
        TileTable {
            tiles: self.records.len() as u32,
            steps: self.steps.len() as u32,
            slots: self.rows.len() as u32,
            ..TileTable::default()
        }
    }

    fn fill(rows: &Csr, tiles: &[Vec<Slot>]) -> Option<Self> {
        let counts: Vec<u64> = tiles.par_iter().map(|tile| steps_of(rows, tile)).collect();
        let mut records = Vec::with_capacity(tiles.len());
        let (mut first_step, mut first_slot) = (0_u32, 0_u32);
        for (slots, steps) in tiles.iter().zip(&counts) {
            let record = TileRecord {
                first_step,
                steps: u32::try_from(*steps).ok()?,
                first_slot,
                slots: slots.len() as u32,
            };
            first_step = first_step.checked_add(record.steps)?;
            first_slot += record.slots;
            records.push(record);
        }
        // Kernels number the words of all steps with 32 bits.
        first_step.checked_mul(STEP_EDGES)?;
        let mut steps: Vec<Step> = try_zeroed_vec(first_step as usize).ok()?;
        let mut bases: Vec<u32> = try_zeroed_vec(first_step as usize).ok()?;
        let (mut steps_left, mut bases_left) = (&mut steps[..], &mut bases[..]);
        let mut sinks = Vec::with_capacity(tiles.len());
        for record in &records {
            let steps = ..record.steps as usize;
            sinks.push((
                steps_left.split_off_mut(steps).unwrap_or_default(),
                bases_left.split_off_mut(steps).unwrap_or_default(),
            ));
        }
        let work = tiles.par_iter().zip(sinks);
        work.for_each_init(Sorter::default, |sorter, (tile, (steps, bases))| {
            write(sorter.sorted(rows, tile), steps, bases);
        });
        let rows = tiles.iter().flatten().map(|slot| slot.row).collect();
        Some(Self {
            records,
            steps,
            bases,
            rows,
        })
    }
}

/// Returns the base of the step for an edge from `source`.
const fn base_of(source: u32) -> u32 {
    source & !DISTANCE_MAX
}

/// Returns the number of steps of the edges of `tile`: edges of one base share steps.
fn steps_of(rows: &Csr, tile: &[Slot]) -> u64 {
    let mut edges = vec![0_u32; (rows.nodes() >> SLOT_SHIFT) as usize + 1];
    for slot in tile {
        for source in slot.sources(rows) {
            edges[(source >> SLOT_SHIFT) as usize] += 1;
        }
    }
    let steps = edges.iter().map(|edges| edges.div_ceil(STEP_EDGES));
    steps.map(u64::from).sum()
}

/// Sorts the edges of tiles by source, in reused memory.
#[derive(Debug, Default)]
struct Sorter {
    /// Source above, slot below [`SLOT_SHIFT`].
    edges: Vec<u64>,
    spare: Vec<u64>,
}

impl Sorter {
    /// Returns the edges of `tile`, sorted digit by digit from the lowest on.
    fn sorted(&mut self, rows: &Csr, tile: &[Slot]) -> &[u64] {
        self.edges.clear();
        for (number, slot) in (0_u64..).zip(tile) {
            let sources = slot.sources(rows).map(u64::from);
            self.edges
                .extend(sources.map(|source| source << SLOT_SHIFT | number));
        }
        self.spare.resize(self.edges.len(), 0);
        let bits = u32::BITS - rows.nodes().saturating_sub(1).leading_zeros();
        for shift in (SLOT_SHIFT..SLOT_SHIFT + bits).step_by(DIGIT_BITS as usize) {
            let digit = |edge: u64| (edge >> shift) as usize & ((1 << DIGIT_BITS) - 1);
            let mut next = [0_usize; 1 << DIGIT_BITS];
            for edge in &self.edges {
                next[digit(*edge)] += 1;
            }
            let mut start = 0;
            for count in &mut next {
                start += std::mem::replace(count, start);
            }
            for edge in &self.edges {
                let at = &mut next[digit(*edge)];
                self.spare[*at] = *edge;
                *at += 1;
            }
            swap(&mut self.edges, &mut self.spare);
        }
        &self.edges
    }
}

/// Writes sorted edges into [`steps_of`] steps.
fn write(edges: &[u64], steps: &mut [Step], bases: &mut [u32]) {
    let base_bits = 2 * SLOT_SHIFT;
    let of_a_base = edges.chunk_by(|a, b| a >> base_bits == b >> base_bits);
    let chunks = of_a_base.flat_map(|edges| edges.chunks(STEP_EDGES as usize));
    for ((edges, step), base) in chunks.zip(steps).zip(bases) {
        *step = [NO_EDGE; STEP_EDGES as usize];
        for (index, edge) in (0..).zip(edges) {
            let (source, slot) = ((edge >> SLOT_SHIFT) as u32, *edge as u32 & DISTANCE_MAX);
            *base = base_of(source);
            step[place_of(index) as usize] = slot << SLOT_SHIFT | (source & DISTANCE_MAX);
        }
    }
}

#[cfg(test)]
mod tests;
