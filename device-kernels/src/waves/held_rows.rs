//! Rows in shared memory: entries, a counter for each, and a hash table that finds them.

use crate::grid::{Grid, LANES_MAX};
use crate::shared::{Area, HELD_ROWS};

/// Entries of a row that a warp holds at a time; a power of two.
const WARP_HELD: u32 = 64;
/// Entries of a row that a block holds at a time; a power of two.
const BLOCK_HELD: u32 = 2048;
/// Words of shared memory per held entry: the entry, its counter, and two slots of the
/// table that finds it.
const WORDS: u32 = 4;
/// The unit in which a slot counts its entries; below it is the sum of their numbers,
/// counted from 1.
pub(super) const ENTRY: u32 = 1 << 20;
const _: () = assert!(WORDS * BLOCK_HELD <= HELD_ROWS.words());
const _: () = assert!(WORDS * WARP_HELD * (LANES_MAX / 32) <= HELD_ROWS.words());
const _: () = assert!(WARP_HELD.is_power_of_two() && BLOCK_HELD.is_power_of_two());
// Full slots must not wrap around.
const _: () = assert!(BLOCK_HELD <= u32::MAX / (ENTRY + BLOCK_HELD));

/// Lanes that count at one node: a warp, or all of a block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Crew {
    /// Number of this lane, and lanes.
    pub(super) lane: (u32, u32),
    /// Number of this lane's warp, and warps.
    pub(super) warp: (u32, u32),
    /// Shared memory of the row: entries, then counters, then the table.
    pub(super) list: Area,
    /// Entries that there is room for.
    pub(super) room: u32,
    /// Entries that are held at a time.
    pub(super) held: u32,
}

impl Crew {
    /// This lane's warp.
    #[inline(always)]
    pub(super) fn warp<G: Grid>(grid: G, held: u32) -> Self {
        let number = grid.lane() / G::WARP % (LANES_MAX / 32);
        Self {
            lane: (grid.warp_lane(), G::WARP),
            warp: (0, 1),
            list: HELD_ROWS.part(number * WORDS * WARP_HELD, WORDS * WARP_HELD),
            room: WARP_HELD,
            held: held.min(WARP_HELD),
        }
    }

    /// All lanes of the block.
    #[inline(always)]
    pub(super) fn block<G: Grid>(grid: G, held: u32) -> Self {
        Self {
            lane: (grid.lane(), grid.lanes()),
            warp: (grid.lane() / G::WARP, grid.lanes() / G::WARP),
            list: HELD_ROWS.part(0, WORDS * BLOCK_HELD),
            room: BLOCK_HELD,
            held: held.min(BLOCK_HELD),
        }
    }

    /// Index in `list` of the counter of entry `at`.
    #[inline(always)]
    pub(super) fn counter(&self, at: u32) -> u32 {
        self.room + at
    }

    /// Index in `list` of the slot of `node`, by Fibonacci hashing.
    #[inline(always)]
    pub(super) fn slot(&self, node: u32) -> u32 {
        let hash = node.wrapping_mul(0x9E37_79B9) >> self.room.leading_zeros();
        2 * self.room + hash
    }

    /// Empties the table, then waits for all lanes of the crew.
    #[inline(always)]
    pub(super) fn clear<G: Grid>(&self, grid: G) {
        let mut at = self.lane.0;
        while at < 2 * self.room {
            // SAFETY: a crew's memory has two slots for each entry.
            unsafe { self.list.store(grid, 2 * self.room + at, 0) };
            at += self.lane.1;
        }
        self.meet(grid);
    }

    /// Waits for all lanes of the crew.
    #[inline(always)]
    pub(super) fn meet<G: Grid>(&self, grid: G) {
        if self.lane.1 == G::WARP {
            grid.warp_barrier();
        } else {
            grid.block_barrier();
        }
    }
}
