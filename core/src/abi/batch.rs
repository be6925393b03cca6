//! Many independent graphs in one launch, each run by one block.
//!
//! Every graph has its own launch record and control block. Blocks take the next graph from a
//! ticket, so that a block that finishes early takes more. Arenas belong to blocks if that takes
//! less memory: a graph leaves its result beside its inputs, so its arena is not needed afterwards.

use super::assert_words;
use bytemuck::{Pod, Zeroable};

/// A batch; addresses are those of the machine that runs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct BatchRecord {
    /// [`MAGIC`](super::MAGIC).
    pub magic: u32,
    /// [`VERSION`](super::VERSION).
    pub version: u32,
    /// Graphs, and so launch records.
    pub graphs: u32,
    /// Zero.
    pub reserved: u32,
    /// [`BatchState`].
    pub state: u64,
    /// [`LaunchRecord`](super::program::LaunchRecord)s, one per graph, in the order in which blocks
    /// take them.
    pub launches: u64,
    /// Bytes between the arenas of two blocks; 0 when every graph has its own arena. Launch records
    /// hold the arena of block 0.
    pub arena_stride: u64,
    /// Time of the whole batch after which it stops itself, nanoseconds.
    pub time_budget_ns: u64,
}
assert_words!(BatchRecord, 12);

/// State that the blocks of a batch share; zeroed before each run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct BatchState {
    /// Graphs taken so far, and one more for every block that found none left.
    pub ticket: u32,
    /// Padding: the ticket has its own cache line.
    pub ticket_line: [u32; 31],
    /// 1 more than the number of the launch record that faulted first, or
    /// [`BatchState::BAD_RECORD`]; claimed by compare-and-swap from zero.
    pub fault: u32,
    /// Padding: the next record has its own cache line.
    pub fault_line: [u32; 31],
}
assert_words!(BatchState, 64);

impl BatchState {
    /// The fault of a batch record of another version.
    pub const BAD_RECORD: u32 = u32::MAX;
}

/// Most graphs of one batch: their numbers and the tickets of all blocks that
/// find none left stay far from wrapping.
pub const GRAPHS_MAX: u32 = 1 << 20;
const _: () = assert!(GRAPHS_MAX < BatchState::BAD_RECORD);

#[cfg(test)]
mod tests {
    use super::*;
    use core::mem::offset_of;

    #[test]
    fn words_that_all_blocks_change_have_cache_lines_of_their_own() {
        assert_eq!(offset_of!(BatchState, ticket), 0);
        assert_eq!(offset_of!(BatchState, fault), 128);
        assert_eq!(size_of::<BatchState>(), 256);
    }
}
