//! The drive record in a block's shared memory.
//!
//! One lane a block decides and tells the others here. If every lane held the
//! record itself, it would lie in local memory, and a thousand copies a block
//! would cost more than the step that they describe.

use crate::block::shared::DRIVE;
use crate::grid::Grid;
use crate::memory::word_of;
use seawall_core::abi::search::DriveRecord;

/// Tells the block its drive record; one lane calls this, and a block barrier
/// follows before anyone reads.
#[inline(always)]
pub fn publish<G: Grid>(grid: G, drive: &DriveRecord) {
    let words: [u32; size_of::<DriveRecord>() / 4] = bytemuck::cast(*drive);
    for (at, word) in (DRIVE..).zip(words) {
        // SAFETY: the record's words in shared memory are fixed.
        unsafe { grid.shared_store(at, word) };
    }
}

/// The block's drive record.
#[inline(always)]
pub fn read<G: Grid>(grid: G) -> DriveRecord {
    // SAFETY: the record's words in shared memory are fixed.
    let at = |offset: u32| unsafe { grid.shared_load(DRIVE + offset) };
    DriveRecord {
        iteration: at(word_of!(DriveRecord, iteration)),
        step: at(word_of!(DriveRecord, step)),
        next: at(word_of!(DriveRecord, next)),
        topology: at(word_of!(DriveRecord, topology)),
        nodes: at(word_of!(DriveRecord, nodes)),
        edges: at(word_of!(DriveRecord, edges)),
        unexplored_edges: at(word_of!(DriveRecord, unexplored_edges)),
        bitset_only: at(word_of!(DriveRecord, bitset_only)),
        visited: at(word_of!(DriveRecord, visited)),
        queue: at(word_of!(DriveRecord, queue)),
        converged: at(word_of!(DriveRecord, converged)),
        frontier_max: at(word_of!(DriveRecord, frontier_max)),
        reserved: [0; 4],
    }
}
