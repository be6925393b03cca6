//! Indices out of range: the first is remembered and ends its wave.

use crate::machine::Grid;
use crate::machine::shared::{MISSED, MISSES};
use seawall_core::abi::UNREACHED;
use seawall_core::abi::control::FaultCode;

/// Records the first index of this block that was out of range.
#[cold]
#[inline(never)]
pub(super) fn miss<G: Grid>(grid: G, index: u32, len: u32) {
    note_missed(grid, index, len);
}

/// Records an index that was out of range of an array with `len` entries, without a call: a call in
/// a loop costs its registers.
#[inline(always)]
pub(crate) fn note_missed<G: Grid>(grid: G, index: u32, len: u32) {
    if MISSES.add(grid, 1) == 0 {
        MISSED.store_all(grid, [index, len]);
    }
}

/// Clears the record; one lane calls this.
#[inline(always)]
pub(crate) fn forget_missed<G: Grid>(grid: G) {
    MISSES.store(grid, 0);
}

/// The first index of this block that was out of range, and the length of its array.
#[inline(always)]
pub(crate) fn missed<G: Grid>(grid: G) -> (u32, u32) {
    MISSED.load_all(grid).into()
}

/// Ends a wave that takes indices from memory. A block operation; its lanes return the same.
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

/// Whether an entry of a list of sources is one of the `nodes` nodes of the graph. [`UNREACHED`]
/// stands for none; any other number that is no node is recorded.
#[inline(always)]
pub(crate) fn is_node<G: Grid>(grid: G, source: u32, nodes: u32) -> bool {
    let is_node = source < nodes;
    if !is_node && source != UNREACHED {
        note_missed(grid, source, nodes);
    }
    is_node
}

/// Ends a wave that took a list of sources. A block operation; its lanes return the same.
///
/// # Errors
/// [`FaultCode::NotANode`] if a lane of the block found a source that [`is_node`] noted.
#[inline(always)]
pub(crate) fn all_nodes<G: Grid>(grid: G) -> Result<(), FaultCode> {
    none_missed(grid).map_err(|_| FaultCode::NotANode)
}
