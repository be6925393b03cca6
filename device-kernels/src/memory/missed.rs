//! Indices out of range: the first is remembered and ends its wave.

use crate::grid::Grid;
use crate::shared::{MISSED, MISSES};
use seawall_core::abi::control::FaultCode;

/// Remembers the first index of this block that was out of range.
#[cold]
#[inline(never)]
pub(super) fn miss<G: Grid>(grid: G, index: u32, len: u32) {
    note_missed(grid, index, len);
}

/// Notes an index that was out of range of what has `len` entries, without a call: a call in a loop
/// costs its registers.
#[inline(always)]
pub(crate) fn note_missed<G: Grid>(grid: G, index: u32, len: u32) {
    if MISSES.add(grid, 1) == 0 {
        MISSED.store_all(grid, [index, len]);
    }
}

/// Forgets what was missed; one lane calls this.
#[inline(always)]
pub(crate) fn forget_missed<G: Grid>(grid: G) {
    MISSES.store(grid, 0);
}

/// The first index of this block that was out of range, and the length of its array.
#[inline(always)]
pub(crate) fn missed<G: Grid>(grid: G) -> (u32, u32) {
    MISSED.load_all(grid).into()
}

/// Ends a wave that takes indices out of memory. A block operation; its lanes return the
/// same.
///
/// # Errors
/// [`FaultCode::BadIndex`] if a lane of the block used an index out of range.
#[inline(always)]
pub fn none_missed<G: Grid>(grid: G) -> Result<(), FaultCode> {
    // A lane sees its own note at once, so the vote misses none.
    let any = MISSES.load(grid) != 0;
    if grid.block_any(any) {
        Err(FaultCode::BadIndex)
    } else {
        Ok(())
    }
}
