//! The drive record in a block's shared memory.
//!
//! One lane a block decides and tells the others here. If every lane held the
//! record itself, it would lie in local memory, and a thousand copies a block
//! would cost more than the step that they describe.

use crate::grid::Grid;
use crate::shared::DRIVE;
use seawall_core::abi::search::DriveRecord;

/// Tells the block its drive record; one lane calls this, and a block barrier
/// follows before anyone reads.
#[inline(always)]
pub fn publish<G: Grid>(grid: G, drive: &DriveRecord) {
    DRIVE.store_all(grid, bytemuck::cast(*drive));
}

/// The block's drive record.
#[inline(always)]
pub fn read<G: Grid>(grid: G) -> DriveRecord {
    DriveRecord {
        reserved: [0; 4],
        ..bytemuck::cast(DRIVE.load_all(grid))
    }
}
