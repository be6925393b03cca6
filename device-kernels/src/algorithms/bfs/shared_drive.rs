//! The drive record in a block's shared memory.
//!
//! One lane per block decides and broadcasts its decision here. If every lane kept the record, it
//! would lie in local memory, and a thousand copies per block would cost more than the step that
//! they describe.

use crate::machine::Grid;
use crate::machine::shared::DRIVE;
use seawall_core::abi::search::DriveRecord;

/// Broadcasts the drive record to the block. One lane calls this; a block barrier follows before
/// any lane reads.
#[inline(always)]
pub fn publish<G: Grid>(grid: G, drive: &DriveRecord) {
    DRIVE.store_all(grid, bytemuck::cast(*drive));
}

/// The block's drive record.
#[inline(always)]
pub fn read<G: Grid>(grid: G) -> DriveRecord {
    DriveRecord {
        reserved: [0; 2],
        ..bytemuck::cast(DRIVE.load_all(grid))
    }
}
