//! Slice access that cannot panic.
//!
//! The planners check ids and capacities once, at their entrance, so a miss cannot
//! happen after it. These accessors return zero or do nothing on a miss, so that no
//! bounds check becomes a panic path of a firmware image. They do not replace that
//! check.

use core::ops::Range;

/// Ids from zero on; unlike a range without an end it has no overflow to check.
pub(crate) const IDS: Range<u32> = 0..u32::MAX;

/// The element at `index`, or zero.
#[inline(always)]
pub(crate) fn read<T: Copy + Default>(cells: &[T], index: u32) -> T {
    cells.get(index as usize).copied().unwrap_or_default()
}

/// Stores `value` at `index`.
#[inline(always)]
pub(crate) fn write<T>(cells: &mut [T], index: u32, value: T) {
    if let Some(cell) = cells.get_mut(index as usize) {
        *cell = value;
    }
}

/// Adds one to the element at `index` and returns the old value.
#[inline(always)]
pub(crate) fn bump(cells: &mut [u32], index: u32) -> u32 {
    let Some(cell) = cells.get_mut(index as usize) else {
        return 0;
    };
    let was = *cell;
    *cell = was.wrapping_add(1);
    was
}

/// Swaps two elements.
#[inline(always)]
pub(crate) fn swap(cells: &mut [u32], a: u32, b: u32) {
    let (x, y) = (read(cells, a), read(cells, b));
    write(cells, a, y);
    write(cells, b, x);
}

/// Copies as many elements as both hold.
#[inline]
pub(crate) fn copy<T: Copy>(to: &mut [T], from: &[T]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to = *from;
    }
}

/// Turns counts into the positions at which their runs begin.
pub(crate) fn counts_to_starts(counts: &mut [u32]) {
    let mut next = 0u32;
    for count in counts {
        let start = next;
        next = next.wrapping_add(*count);
        *count = start;
    }
}

/// Writes ids in ascending order to the cursor of their key.
#[inline(never)]
pub(crate) fn place(keys: &[u32], cursors: &mut [u32], order: &mut [u32]) {
    for (wave, key) in IDS.zip(keys) {
        let Some(cursor) = cursors.get_mut(*key as usize) else {
            return;
        };
        let Some(cell) = order.get_mut(*cursor as usize) else {
            return;
        };
        *cursor = cursor.wrapping_add(1);
        *cell = wave;
    }
}
