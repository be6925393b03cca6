//! What happens to an index out of range: it is remembered, and ends the wave.

use crate::block::shared::MISSED;
use crate::grid::Grid;
use seawall_core::abi::control::FaultCode;

/// Remembers the first index of this block that was out of range.
#[cold]
#[inline(never)]
pub(super) fn miss<G: Grid>(grid: G, index: u32, len: u32) {
    // SAFETY: three fixed words of shared memory.
    unsafe {
        if grid.shared_add(MISSED, 1) == 0 {
            grid.shared_store(MISSED + 1, index);
            grid.shared_store(MISSED + 2, len);
        }
    }
}

/// Forgets what was missed; one lane calls this.
#[inline(always)]
pub(crate) fn forget_missed<G: Grid>(grid: G) {
    // SAFETY: a fixed word of shared memory.
    unsafe { grid.shared_store(MISSED, 0) };
}

/// The first index of this block that was out of range, and the length of its array.
#[inline(always)]
pub(crate) fn missed<G: Grid>(grid: G) -> (u32, u32) {
    // SAFETY: fixed words of shared memory.
    unsafe { (grid.shared_load(MISSED + 1), grid.shared_load(MISSED + 2)) }
}

/// Ends a wave that takes indices out of memory. A block operation: its lanes agree.
///
/// # Errors
/// [`FaultCode::BadIndex`] when a lane of the block used an index out of range.
#[inline(always)]
pub fn none_missed<G: Grid>(grid: G) -> Result<(), FaultCode> {
    // A lane sees its own note at once, so the vote misses none.
    // SAFETY: a fixed word of shared memory.
    let any = unsafe { grid.shared_load(MISSED) } != 0;
    if grid.block_any(any) {
        Err(FaultCode::BadIndex)
    } else {
        Ok(())
    }
}
