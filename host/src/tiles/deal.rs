//! Assignment of a graph's rows to tiles with about the same number of edges.

use super::TileShape;
use crate::graph::Csr;
use rayon::prelude::*;
use seawall_core::abi::tiles::SLOTS_MAX;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

/// Rows that are dealt together, so that sums are written line by line.
pub(super) const CHUNK: u32 = 64;

/// Least number of edges of a row that is cut into pieces.
pub(super) const PIECE: u32 = 4096;

const TILES_MAX: u64 = 1 << 20;

/// Most edges of an average tile, so that sorting it takes little memory.
const EDGES_MAX: u64 = 1 << 22;

/// Fewest edges of a graph for which tiles pay, however often they are used.
pub(crate) const EDGES_MIN: u32 = 1 << 20;

/// Largest number of nodes per edge of a tile. With fewer edges, hardly two edges of a tile would
/// read the same line.
const NODES_AN_EDGE: u64 = 16;

/// Edges of a row that a slot of a tile adds up: every `of`th from `first` on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    pub(super) row: u32,
    first: u32,
    of: u32,
}

impl Slot {
    /// The sources of its edges, ascending.
    pub(super) fn sources(self, rows: &Csr) -> impl Iterator<Item = u32> {
        let all = rows.neighbours(self.row).iter().copied();
        all.skip(self.first as usize).step_by(self.of as usize)
    }
}

#[derive(Clone, Copy, Debug)]
enum Item {
    /// The rows of a chunk that are not cut.
    Chunk(u32),
    /// A piece of a row that is cut.
    Piece(Slot),
}

/// Deals rows to tiles; returns `None` if that does not pay.
pub(super) fn deal(rows: &Csr, shape: TileShape) -> Option<Vec<Vec<Slot>>> {
    let nodes = rows.nodes();
    let most = most_slots(shape);
    let pieces_of = |row: u32| pieces_of(rows, row);
    let count = count(rows, shape)?;
    // Heaviest first; equal ones in order, so that the result is deterministic.
    let mut items: Vec<(Reverse<u32>, u32, Item)> = Vec::new();
    for chunk in 0..nodes.div_ceil(CHUNK) {
        let mut weight = 0;
        for row in rows_of(chunk, nodes) {
            let of = pieces_of(row);
            if of <= 1 {
                weight += rows.degree(row);
                continue;
            }
            let piece = Reverse(rows.degree(row) / of);
            for first in 0..of {
                let order = items.len() as u32;
                items.push((piece, order, Item::Piece(Slot { row, first, of })));
            }
        }
        if weight > 0 {
            items.push((Reverse(weight), items.len() as u32, Item::Chunk(chunk)));
        }
    }
    items.par_sort_unstable_by_key(|(weight, order, _)| (*weight, *order));
    let mut tiles: Vec<Vec<Slot>> = vec![Vec::new(); count as usize];
    let mut lightest: BinaryHeap<Reverse<(u64, usize)>> =
        (0..tiles.len()).map(|tile| Reverse((0, tile))).collect();
    for (Reverse(weight), _, item) in items {
        let Reverse((load, number)) = lightest.pop()?;
        let tile = &mut tiles[number];
        match item {
            Item::Chunk(chunk) => {
                let whole = rows_of(chunk, nodes).filter(|row| pieces_of(*row) == 1);
                tile.extend(whole.map(|row| Slot {
                    row,
                    first: 0,
                    of: 1,
                }));
            }
            Item::Piece(slot) => tile.push(slot),
        }
        // A full tile is removed: when all are removed, they hold all slots.
        if tile.len() < most as usize {
            lightest.push(Reverse((load + u64::from(weight), number)));
        }
    }
    Some(tiles)
}

fn most_slots(shape: TileShape) -> u32 {
    shape.slots.min(SLOTS_MAX).saturating_sub(CHUNK)
}

fn pieces_of(rows: &Csr, row: u32) -> u32 {
    rows.degree(row).div_ceil(PIECE)
}

/// Number of tiles; `None` if they do not pay. Takes one pass over the row offsets, on all threads.
pub(super) fn count(rows: &Csr, shape: TileShape) -> Option<u64> {
    let (nodes, edges) = (rows.nodes(), rows.edges());
    let most = most_slots(shape);
    let pieces = (0..nodes).into_par_iter();
    let slots: u64 = pieces.map(|row| u64::from(pieces_of(rows, row))).sum();
    let blocks = u64::from(shape.blocks.max(1));
    let tiles = slots.div_ceil(u64::from(most.max(1)));
    let tiles = tiles.max(u64::from(edges).div_ceil(EDGES_MAX));
    let count = tiles.max(1).next_multiple_of(blocks);
    let pays = edges >= EDGES_MIN && u64::from(edges) / count * NODES_AN_EDGE >= u64::from(nodes);
    let fits = most != 0 && count <= TILES_MAX && edges != 0;
    (fits && (pays || shape.always)).then_some(count)
}

fn rows_of(chunk: u32, nodes: u32) -> Range<u32> {
    let first = chunk * CHUNK;
    first..first.saturating_add(CHUNK).min(nodes)
}
