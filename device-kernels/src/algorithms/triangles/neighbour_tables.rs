//! Rows in shared memory: a hash table of entries, and a counter for each if wanted.
//!
//! A table has open addressing and is at most half full. It lies in the memory that the
//! launch asked for, if that is more than the block's own.
//!
//! An entry that another one collided with has a mark, so a search ends at the first slot without a
//! mark. In a table of many slots few entries have one, so a lookup reads one slot.

use super::sieve::{SIEVE_WORDS, Sieve};
use crate::machine::memory::Proven;
use crate::machine::shared::HELD_ROWS;
use crate::machine::{Grid, LANES_MAX, PLACE};
use crate::operators::deal::NONE;

/// Mark of an entry that another one collided with.
pub(super) const CHAINED: u32 = 1 << 31;
/// Slots of a warp's and of a block's table for each entry, where there is space.
const SLOTS_EACH: (u32, u32) = (8, 64);
/// Slots for each entry of the longest piece of a row, with counters and without: tables without
/// counters have space for more slots.
const FILL: (u32, u32) = (2, 4);
/// Fewest slots of a table.
const SLOTS_LEAST: u32 = 32;
const _: () = assert!(HELD_ROWS.words() / (LANES_MAX / 32) >= 2 * SLOTS_LEAST);
const _: () = assert!(HELD_ROWS.words() / (LANES_MAX / 32) >= SIEVE_WORDS);

/// Lanes that count at one node, a warp or all of a block, and their shared memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct LaneGroup {
    /// Number of this lane, and lanes.
    lane: (u32, u32),
    /// Number of this lane's warp, and warps.
    pub(super) warp: (u32, u32),
    /// Place of the memory's first word.
    place: u32,
    /// Slots that there is space for, a power of two.
    space: u32,
    /// Words of a slot: its entry, and its counter if there is one.
    words: u32,
    /// Entries that the hash table takes at a time.
    pub(super) held: u32,
}

/// The larger of the block's two memories: whether it is the extra one, its first word and its
/// words.
#[inline(always)]
pub(super) fn space_of<G: Grid>(grid: G) -> (bool, u32, u32) {
    let extra = grid.extra_words();
    if extra > HELD_ROWS.words() {
        (true, 0, extra)
    } else {
        (false, HELD_ROWS.first(), HELD_ROWS.words())
    }
}

impl LaneGroup {
    /// This lane's warp. It has at most `held` entries, with counters if `COUNTS`.
    #[inline(always)]
    pub(super) fn warp<G: Grid, const COUNTS: bool>(grid: G, held: u32) -> Self {
        let warps = (grid.lanes() / G::WARP).clamp(1, LANES_MAX / 32);
        let number = grid.lane() / G::WARP % warps;
        let lane = (grid.warp_lane(), G::WARP);
        Self::of::<G, COUNTS>(grid, lane, (0, 1), number, warps, held)
    }

    /// All lanes of the block. They have at most `held` entries, with counters if `COUNTS`.
    #[inline(always)]
    pub(super) fn block<G: Grid, const COUNTS: bool>(grid: G, held: u32) -> Self {
        let lane = (grid.lane(), grid.lanes());
        let warp = (grid.lane() / G::WARP, grid.lanes() / G::WARP);
        Self::of::<G, COUNTS>(grid, lane, warp, 0, 1, held)
    }

    /// The lanes that get part `number` of `parts` of the memory.
    #[inline(always)]
    fn of<G: Grid, const COUNTS: bool>(
        grid: G,
        lane: (u32, u32),
        warp: (u32, u32),
        number: u32,
        parts: u32,
        held: u32,
    ) -> Self {
        let (is_extra, first, words) = space_of(grid);
        let (each, fill) = if COUNTS { (2, FILL.0) } else { (1, FILL.1) };
        let space = 1 << (words / parts / each).ilog2();
        Self {
            lane,
            warp,
            place: grid.place(is_extra, first + number * each * space),
            space,
            words: each,
            held: held.clamp(1, space / fill),
        }
    }

    /// Empties the memory of every table and waits for all lanes of the thread group.
    #[inline(always)]
    pub(super) fn clear<G: Grid>(&self, grid: G) {
        let all = self.with_slots(self.space);
        self.each(self.space, |slot| all.clear(grid, slot));
        self.meet(grid);
    }

    /// The table for `len` entries, at most [`LaneGroup::held`]: empty, after [`LaneGroup::clear`],
    /// if each one before was emptied slot by slot. Entries are below [`CHAINED`] if `is_chained`;
    /// if not, a search only ends at a free slot.
    #[inline(always)]
    pub(super) fn table(&self, len: u32, is_chained: bool) -> Table {
        let is_warp = self.warp.1 == 1;
        let each = if is_warp { SLOTS_EACH.0 } else { SLOTS_EACH.1 };
        let slots = (len * each)
            .next_power_of_two()
            .clamp(SLOTS_LEAST, self.space);
        Table {
            mark: if is_chained { CHAINED } else { 0 },
            ..self.with_slots(slots)
        }
    }

    #[inline(always)]
    fn with_slots(&self, slots: u32) -> Table {
        Table {
            place: self.place,
            counters: self.place + self.space * PLACE,
            counts: self.words == 2,
            slots,
            shift: slots.leading_zeros() + 1,
            mark: 0,
        }
    }

    /// A set of nodes in the memory of tables: empty after [`LaneGroup::clear`], if each table
    /// before was emptied slot by slot.
    #[inline(always)]
    pub(super) fn sieve(&self) -> Sieve {
        Sieve { place: self.place }
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

    /// Waits for all lanes of the thread group.
    #[inline(always)]
    pub(super) fn meet<G: Grid>(&self, grid: G) {
        if self.lane.1 == G::WARP {
            grid.warp_barrier();
        } else {
            grid.block_barrier();
        }
    }
}

/// A hash table in a thread group's memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Table {
    /// Place of its first slot.
    place: u32,
    /// Place of its first counter, the same for tables of any size.
    counters: u32,
    /// Whether there are counters.
    counts: bool,
    /// Number of slots, a power of two.
    slots: u32,
    /// [`CHAINED`], or 0 if nodes may have this bit.
    mark: u32,
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
        // SAFETY: the thread group's memory has a word for each slot, and another one where there
        // are counters.
        unsafe {
            grid.place_store(self.entry(slot), NONE);
            if self.counts {
                grid.place_store(self.counter(slot), 0);
            }
        }
    }

    /// Puts `node` into a free slot, unless it is there.
    #[inline(always)]
    pub(super) fn put<G: Grid>(&self, grid: G, node: u32) {
        let mut slot = self.first(node);
        loop {
            // SAFETY: as in `clear`.
            let before = unsafe { grid.place_swap_if(self.entry(slot), NONE, node) };
            if before == NONE || before & !self.mark == node {
                return;
            }
            if before & self.mark != self.mark {
                // SAFETY: as in `clear`. If this fails, another lane has set the mark.
                unsafe { grid.place_swap_if(self.entry(slot), before, before | self.mark) };
            }
            slot = self.next(slot);
        }
    }

    /// The entry in `slot`, and its count, 0 if there is none.
    #[inline(always)]
    pub(super) fn counted<G: Grid>(&self, grid: G, slot: u32) -> (u32, u32) {
        // SAFETY: as in `clear`.
        unsafe {
            (
                grid.place_load(self.entry(slot)) & !self.mark,
                grid.place_load(self.counter(slot)),
            )
        }
    }

    /// Whether entries that others collided with have a mark.
    #[inline(always)]
    pub(super) fn is_chained(&self) -> bool {
        self.mark == CHAINED
    }

    /// Counts which of the `len` nodes from `first` on are entries of a table with marks, in a
    /// one-lane block: nearly all are told by a single slot. A function of its own has all registers
    /// for its loop.
    #[inline(never)]
    pub(super) fn count<G: Grid>(&self, grid: G, nodes: Proven, (first, len): (u32, u32)) -> u32 {
        let table = *self;
        let mut found = 0;
        for at in first..first + len {
            let node = nodes.load_weak(grid, at);
            // SAFETY: as in `clear`.
            let word = unsafe { grid.place_load(table.entry(table.first(node))) };
            // Words with a mark, without the one that is a free slot.
            let goes_on = word ^ CHAINED < NONE ^ CHAINED;
            found += u32::from(word == node);
            if goes_on {
                let [hit] = table.find::<G, 1, false>(grid, [node]);
                found += u32::from(hit);
            }
        }
        found
    }

    /// Finds which of `nodes` are entries; [`NONE`] is not. Counts them at their slots, if
    /// `COUNTS`. A warp operation: lanes continue together until all have finished.
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
        let mut words: [u32; K] = core::array::from_fn(|k| load(slots[k]));
        let found = loop {
            let found: [bool; K] =
                core::array::from_fn(|k| words[k] & !self.mark == nodes[k] && nodes[k] != NONE);
            let open: [bool; K] = core::array::from_fn(|k| {
                let is_chained = words[k] != NONE && words[k] & self.mark == self.mark;
                is_chained && !found[k] && nodes[k] != NONE
            });
            let any = open.iter().fold(false, |any, open| any | open);
            if grid.ballot(any) == 0 {
                break found;
            }
            for k in 0..K {
                if open[k] {
                    slots[k] = self.next(slots[k]);
                    words[k] = load(slots[k]);
                }
            }
        };
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::SHARED_WORDS;
    use crate::machine::cpu::{HostGrid, Services};
    use crate::machine::dealer::Dealer;

    const SERVICES: Services = Services {
        now_ns: || 0,
        yield_now: || (),
    };

    /// Holds rows of `len` nodes from `base` on, each `step` after the one before, and looks up
    /// their entries and the nodes in between.
    fn holds<const COUNTS: bool>(base: u32, step: u32, is_chained: bool) {
        let (mut shared, dealer) = (vec![0; SHARED_WORDS], Dealer::default());
        // SAFETY: the words and the dealer are this thread's own.
        let grid = unsafe { HostGrid::new(0, 1, shared.as_mut_ptr(), &dealer, SERVICES) };
        let group = LaneGroup::warp::<_, COUNTS>(grid, u32::MAX);
        group.clear(grid);
        for len in [1, 7, 300, group.held] {
            let table = group.table(len, is_chained);
            let node = |at: u32| base + at * step;
            (0..len).for_each(|at| table.put(grid, node(at)));
            table.put(grid, node(0));
            let find = |node| table.find::<_, 1, COUNTS>(grid, [node]);
            for at in 0..len {
                assert_eq!(find(node(at)), [true], "entry {at} of {len}");
                assert_eq!(find(node(at) + 1), [false], "after entry {at} of {len}");
            }
            assert_eq!(find(NONE), [false]);
            if is_chained && !COUNTS {
                let mut nodes: Vec<u32> = (0..2 * len)
                    .map(|at| base + at / 2 * step + at % 2)
                    .collect();
                // SAFETY: the words are this thread's own.
                let words = unsafe { Proven::trusted(nodes.as_mut_ptr(), 2 * len) };
                assert!(table.is_chained());
                assert_eq!(table.count(grid, words, (0, 2 * len)), len);
                assert_eq!(table.count(grid, words, (1, 1)), 0);
            }
            let mut counted = 0;
            for slot in 0..table.slots() {
                if COUNTS {
                    let (entry, count) = table.counted(grid, slot);
                    assert!(count == 0 || count == 1 && (entry - base).is_multiple_of(step));
                    counted += count;
                }
                table.clear(grid, slot);
            }
            assert_eq!(counted, if COUNTS { len } else { 0 });
        }
    }

    #[test]
    fn tables_find_their_entries_and_no_other_nodes() {
        for step in [2, 3, 1 << 12, 0x1_0001] {
            holds::<true>(5, step, true);
            holds::<false>(5, step, true);
        }
    }

    #[test]
    fn tables_without_marks_hold_nodes_of_any_number() {
        for base in [5, CHAINED - 300, CHAINED] {
            holds::<true>(base, 3, false);
            holds::<false>(base, 3, false);
        }
    }
}
