//! Lists that code appends to.
//!
//! All warps add to the length of a list at one address, one after the other. So a warp buffers the
//! values that it appends until the buffer is full, and then reserves space for all of them in the
//! list at once; at the wave's end a block does so for all of its warps. A warp buffers values of
//! one list at a time.

use super::slots::{Words4, each, has};
use super::steps::register_of;
use super::temps::TemporaryMemory;
use crate::collectives::block::warp_scan;
use crate::collectives::context::ContextRef;
use crate::machine::memory::{Words, note_missed};
use crate::machine::shared::{EACH_HOLDS, EACH_SLOTS};
use crate::machine::{Grid, PLACE};

/// First of the values that a warp buffers, after [`Held`].
const VALUES: u32 = 4 * PLACE;

/// The number of values that a warp buffers, the registers of the list and of its length, and the
/// place of the first value in the list, once space is reserved.
type Held = [u32; 4];

/// Place of the buffer of this lane's warp.
#[inline(always)]
fn own<G: Grid>(grid: G) -> u32 {
    TemporaryMemory::of(grid).holds(grid.lane() / G::WARP)
}

/// Empties the buffer. A warp operation.
#[inline(always)]
pub(super) fn begin<G: Grid>(cx: ContextRef<G>) {
    let grid = cx.grid();
    if G::WARP > 1 && grid.lane() < TemporaryMemory::of(grid).lanes {
        // SAFETY: the warp's memory.
        unsafe { grid.place_store(own(grid), 0) };
        grid.warp_barrier();
    }
}

/// Appends the remaining values. A block operation.
#[inline(never)]
pub(super) fn end<G: Grid>(cx: ContextRef<G>) {
    if G::WARP == 1 {
        return;
    }
    let grid = cx.grid();
    // All warps have appended.
    grid.block_barrier();
    if grid.lane() < G::WARP {
        space_for_all(cx);
    }
    grid.block_barrier();
    if grid.lane() < TemporaryMemory::of(grid).lanes {
        let place = own(grid);
        // SAFETY: the warp's memory, a multiple of four words.
        let [held, list, count, start]: Held = unsafe { grid.place_load4(place) };
        if held != 0 {
            Target::of(cx, list, count).fill(grid, place, (held, start));
        }
    }
}

/// Reserves space for the values that the block's warps buffer, for one list after the other. A
/// warp operation.
#[inline(always)]
fn space_for_all<G: Grid>(cx: ContextRef<G>) {
    let grid = cx.grid();
    let space = TemporaryMemory::of(grid);
    let place = space.holds(grid.warp_lane());
    let [mut left, list, count, _]: Held = if grid.warp_lane() < space.lanes / G::WARP {
        // SAFETY: the memory of that warp, a multiple of four words.
        unsafe { grid.place_load4(place) }
    } else {
        [0; 4]
    };
    loop {
        let lanes = grid.ballot(left != 0);
        if lanes == 0 {
            return;
        }
        let first = lanes.trailing_zeros();
        let (list_now, count_now) = (grid.shuffle(list, first), grid.shuffle(count, first));
        let is_now = left != 0 && (list, count) == (list_now, count_now);
        let (before, all) = warp_scan(grid, if is_now { left } else { 0 });
        let mut start = 0;
        if grid.warp_lane() == 0 {
            start = Target::of(cx, list_now, count_now).make_space(grid, all);
        }
        let start = grid.shuffle(start, 0).saturating_add(before);
        if is_now {
            // SAFETY: as above.
            unsafe { grid.place_store4(place, [left, list, count, start]) };
            left = 0;
        }
    }
}

/// Puts the `value`s of the slots in `put` at the end of a list in the registers `list` and
/// `count`. A value without space is recorded as an index out of range. A warp operation.
#[inline(always)]
pub(super) fn append<G: Grid>(
    cx: ContextRef<G>,
    (list, count): (u32, u32),
    value: Words4,
    put: u32,
) {
    let grid = cx.grid();
    if G::WARP == 1 {
        if put != 0 {
            let to = Target::of(cx, list, count);
            let start = to.make_space(grid, put.count_ones());
            for slot in 0..EACH_SLOTS {
                if has(put, slot as usize) {
                    let before = (put & ((1 << slot) - 1)).count_ones();
                    to.store(grid, start.saturating_add(before), value[slot as usize]);
                }
            }
        }
        return;
    }
    let votes = each(|slot| grid.ballot(has(put, slot)));
    let [first, second, third, fourth] = votes.map(u32::count_ones);
    let more = first + second + third + fourth;
    if more == 0 {
        return;
    }
    let place = own(grid);
    // SAFETY: the warp's memory, a multiple of four words.
    let [mut held, held_list, held_count, _]: Held = unsafe { grid.place_load4(place) };
    if held + more > EACH_HOLDS || held != 0 && (held_list, held_count) != (list, count) {
        flush(cx, place, held, held_list, held_count);
        held = 0;
    }
    let before = [0, first, first + second, first + second + third];
    each(|slot| {
        if has(put, slot) {
            let below = (votes[slot] & grid.lanes_below()).count_ones();
            let at = held + before[slot] + below;
            // SAFETY: a step has no more values than a warp has space for.
            unsafe { grid.place_store(place + VALUES + at * PLACE, value[slot]) };
        }
    });
    grid.warp_barrier();
    if grid.warp_lane() == 0 {
        // SAFETY: as above.
        unsafe { grid.place_store4(place, [held + more, list, count, 0]) };
    }
    grid.warp_barrier();
}

/// Moves the `held` values that the warp buffers to a list. A warp operation.
#[inline(always)]
fn flush<G: Grid>(cx: ContextRef<G>, place: u32, held: u32, list: u32, count: u32) {
    let grid = cx.grid();
    let to = Target::of(cx, list, count);
    let mut start = 0;
    if grid.warp_lane() == 0 {
        start = to.make_space(grid, held);
    }
    to.fill(grid, place, (held, grid.shuffle(start, 0)));
    grid.warp_barrier();
}

/// A list and its length.
#[derive(Clone, Copy, Debug)]
struct Target {
    list: Words,
    count: Words,
}

impl Target {
    #[inline(always)]
    fn of<G: Grid>(cx: ContextRef<G>, list: u32, count: u32) -> Self {
        let (grid, tables) = (cx.grid(), cx.context().tables);
        Self {
            list: register_of(grid, tables, list),
            count: register_of(grid, tables, count),
        }
    }

    /// Adds to the length; returns the previous length.
    #[inline(always)]
    fn make_space<G: Grid>(self, grid: G, more: u32) -> u32 {
        if self.count.is_empty() {
            note_missed(grid, 0, 0);
            return u32::MAX;
        }
        // SAFETY: it has a word.
        unsafe { self.count.proven() }.add(grid, 0, more)
    }

    /// Stores the `held` values that the warp buffers from `place` on at `start`. A warp operation.
    #[inline(always)]
    fn fill<G: Grid>(self, grid: G, place: u32, (held, start): (u32, u32)) {
        let mut at = grid.warp_lane();
        while at < held {
            // SAFETY: the warp holds that many.
            let value = unsafe { grid.place_load(place + VALUES + at * PLACE) };
            self.store(grid, start.saturating_add(at), value);
            at += G::WARP;
        }
    }

    #[inline(always)]
    fn store<G: Grid>(self, grid: G, at: u32, value: u32) {
        if at >= self.list.len() {
            note_missed(grid, at, self.list.len());
            return;
        }
        // SAFETY: the word is there.
        unsafe { self.list.proven() }.store_weak(grid, at, value);
    }
}
