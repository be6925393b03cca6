//! Rows in shared memory: a hash table of entries, and a counter for each.
//!
//! A table has open addressing and is at most half full. It lies in the memory that the
//! launch asked for, if that is more than the block's own.

use crate::grid::{Grid, LANES_MAX, PLACE};
use crate::shared::HELD_ROWS;

/// No entry: a free slot. No node has this number.
pub(super) const NONE: u32 = u32::MAX;
/// Slots of a table for each entry, where there is room.
const SLOTS_EACH: u32 = 8;
/// Slots for each entry of the longest piece of a row.
const FILL: u32 = 2;
/// Fewest slots of a table.
const SLOTS_LEAST: u32 = 32;
const _: () = assert!(HELD_ROWS.words() / (LANES_MAX / 32) >= 2 * SLOTS_LEAST);

/// Lanes that count at one node, a warp or all of a block, and their shared memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Crew {
    /// Number of this lane, and lanes.
    lane: (u32, u32),
    /// Number of this lane's warp, and warps.
    pub(super) warp: (u32, u32),
    /// Place of the memory's first word.
    place: u32,
    /// Slots that there is room for, a power of two.
    room: u32,
    /// Entries that are held at a time.
    pub(super) held: u32,
}

impl Crew {
    /// This lane's warp. It holds at most `held` entries.
    #[inline(always)]
    pub(super) fn warp<G: Grid>(grid: G, held: u32) -> Self {
        let warps = (grid.lanes() / G::WARP).clamp(1, LANES_MAX / 32);
        let number = grid.lane() / G::WARP % warps;
        let lane = (grid.warp_lane(), G::WARP);
        Self::of(grid, (lane, (0, 1)), (number, warps), held)
    }

    /// All lanes of the block. They hold at most `held` entries.
    #[inline(always)]
    pub(super) fn block<G: Grid>(grid: G, held: u32) -> Self {
        let lane = (grid.lane(), grid.lanes());
        let warp = (grid.lane() / G::WARP, grid.lanes() / G::WARP);
        Self::of(grid, (lane, warp), (0, 1), held)
    }

    /// The lanes that get part `number` of `parts` of the memory.
    #[inline(always)]
    fn of<G: Grid>(
        grid: G,
        (lane, warp): ((u32, u32), (u32, u32)),
        (number, parts): (u32, u32),
        held: u32,
    ) -> Self {
        let extra = grid.extra_words();
        let is_extra = extra > HELD_ROWS.words();
        let (first, words) = if is_extra {
            (0, extra)
        } else {
            (HELD_ROWS.first(), HELD_ROWS.words())
        };
        // A slot has two words: its entry and its counter.
        let slots = words / parts / 2;
        let room = 1 << slots.ilog2();
        Self {
            lane,
            warp,
            place: grid.place(is_extra, first + number * 2 * room),
            room,
            held: held.clamp(1, room / FILL),
        }
    }

    /// Empties the memory of every table and waits for all lanes of the crew.
    #[inline(always)]
    pub(super) fn clear<G: Grid>(&self, grid: G) {
        let all = Table {
            place: self.place,
            counters: self.place + self.room * PLACE,
            slots: self.room,
            shift: 0,
        };
        self.each(self.room, |slot| all.clear(grid, slot));
        self.meet(grid);
    }

    /// The table for `len` entries, at most [`Crew::held`]: empty, after [`Crew::clear`],
    /// if each one before was emptied slot by slot.
    #[inline(always)]
    pub(super) fn table(&self, len: u32) -> Table {
        let slots = (len * SLOTS_EACH)
            .next_power_of_two()
            .clamp(SLOTS_LEAST, self.room);
        Table {
            place: self.place,
            counters: self.place + self.room * PLACE,
            slots,
            shift: slots.leading_zeros() + 1,
        }
    }

    /// Calls `visit` with the numbers of this lane's share of `count` entries or slots.
    #[inline(always)]
    pub(super) fn each(&self, count: u32, mut visit: impl FnMut(u32)) {
        let mut at = self.lane.0;
        while at < count {
            visit(at);
            at += self.lane.1;
        }
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

/// A hash table in a crew's memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Table {
    /// Place of its first slot.
    place: u32,
    /// Place of its first counter, the same for tables of any size.
    counters: u32,
    /// Number of slots, a power of two.
    slots: u32,
    /// Bits of a hash below those that number a slot.
    shift: u32,
}

impl Table {
    /// Number of slots.
    #[inline(always)]
    pub(super) fn slots(&self) -> u32 {
        self.slots
    }

    /// The place where a search for `node` begins, by Fibonacci hashing.
    #[inline(always)]
    fn first(&self, node: u32) -> u32 {
        node.wrapping_mul(0x9E37_79B9) >> self.shift
    }

    #[inline(always)]
    fn next(&self, slot: u32) -> u32 {
        (slot + 1) & (self.slots - 1)
    }

    #[inline(always)]
    fn entry(&self, slot: u32) -> u32 {
        debug_assert!(slot < self.slots, "slot {slot} of {}", self.slots);
        self.place + slot * PLACE
    }

    #[inline(always)]
    fn counter(&self, slot: u32) -> u32 {
        self.counters + slot * PLACE
    }

    /// Empties `slot` and clears its counter.
    #[inline(always)]
    pub(super) fn clear<G: Grid>(&self, grid: G, slot: u32) {
        // SAFETY: the crew's memory has two words for each slot.
        unsafe {
            grid.place_store(self.entry(slot), NONE);
            grid.place_store(self.counter(slot), 0);
        }
    }

    /// Puts `node` into a free slot, unless it is there.
    #[inline(always)]
    pub(super) fn put<G: Grid>(&self, grid: G, node: u32) {
        let mut slot = self.first(node);
        loop {
            // SAFETY: as in `clear`.
            let before = unsafe { grid.place_swap_if(self.entry(slot), NONE, node) };
            if before == NONE || before == node {
                return;
            }
            slot = self.next(slot);
        }
    }

    /// The entry in `slot`, and its count.
    #[inline(always)]
    pub(super) fn counted<G: Grid>(&self, grid: G, slot: u32) -> (u32, u32) {
        // SAFETY: as in `clear`.
        unsafe {
            (
                grid.place_load(self.entry(slot)),
                grid.place_load(self.counter(slot)),
            )
        }
    }

    /// Which of `nodes` are entries; [`NONE`] is not. Counts them at their slots, if
    /// `COUNTS`. A warp operation: lanes go on together until all have found theirs, so
    /// that none runs ahead.
    #[inline(always)]
    pub(super) fn find<G: Grid, const K: usize, const COUNTS: bool>(
        &self,
        grid: G,
        nodes: [u32; K],
    ) -> [bool; K] {
        // SAFETY: as in `clear`.
        let load = |slot: u32| unsafe { grid.place_load(self.entry(slot)) };
        let mut slots: [u32; K] = core::array::from_fn(|k| self.first(nodes[k]));
        // Codegen rule `LOADS_TOGETHER`: a missing node reads a slot, too.
        let mut entries: [u32; K] = core::array::from_fn(|k| {
            let entry = load(slots[k]);
            if nodes[k] == NONE { NONE } else { entry }
        });
        loop {
            let open: [bool; K] =
                core::array::from_fn(|k| entries[k] != nodes[k] && entries[k] != NONE);
            let any = open.iter().fold(false, |any, open| any | open);
            if grid.ballot(any) == 0 {
                break;
            }
            for k in 0..K {
                if open[k] {
                    slots[k] = self.next(slots[k]);
                    entries[k] = load(slots[k]);
                }
            }
        }
        let found = core::array::from_fn(|k| entries[k] != NONE);
        if COUNTS {
            for k in 0..K {
                if found[k] {
                    // SAFETY: as in `clear`.
                    unsafe { grid.place_add(self.counter(slots[k]), 1) };
                }
            }
        }
        found
    }
}
