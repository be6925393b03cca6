//! The ring: slots that a host fills and a resident kernel empties.
//!
//! Records are whole words. [`crate::protocol`] defines which side writes each word, in which
//! order, and the transitions of each status.

mod fault;
mod kind;

pub use fault::FaultCode;
pub use kind::Kind;

use super::assert_words;
use bytemuck::{Pod, Zeroable};

/// Version of the records of this module.
pub const VERSION: u32 = 1;

/// First word of a control block: `SWR1` in little-endian ASCII.
pub const MAGIC: u32 = 0x3152_5753;

/// Words of a slot.
pub const SLOT_WORDS: u32 = 16;
/// Argument words of a slot.
pub const ARGUMENTS: usize = 12;
/// Result words of a completion.
pub const RESULTS: usize = 9;
/// Tenants of a service; number 0 is its owner.
pub const TENANTS: u32 = 16;
/// The tenant that may shut the service down.
pub const OWNER: u32 = 0;
/// Priorities, from the most urgent to the least.
pub const PRIORITIES: u32 = 5;
/// Batches that may be open at the same time.
pub const BATCHES: u32 = 32;
/// Words of text in a print record.
pub const PRINT_WORDS: usize = 8;

/// One piece of work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(C)]
pub struct SlotRecord {
    /// A [`Status`].
    pub status: u32,
    /// An opcode, see [`Kind`].
    pub opcode: u32,
    /// Number of the tenant that posted it.
    pub tenant: u32,
    /// Priority in the low byte; above it the number of the batch, from 1, or 0.
    pub priority: u32,
    /// Arguments of the opcode; the last one is the number of the task.
    pub arguments: [u32; ARGUMENTS],
}
assert_words!(SlotRecord, SLOT_WORDS as usize);

/// The state of a slot.
///
/// ```
/// use seawall_core::abi::ring::Status;
/// assert_eq!(Status::from_word(2), Some(Status::Claimed));
/// assert_eq!(Status::from_word(8), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(u32)]
pub enum Status {
    /// An empty slot.
    Empty = 0,
    /// Work that waits for a worker.
    Published = 1,
    /// A worker has it.
    Claimed = 2,
    /// The work is done, its completion is written.
    Done = 3,
    /// Its input or its payload has not arrived yet.
    WaitIo = 4,
    /// Its handler continues later.
    Yield = 5,
    /// Its handler found it could not start yet.
    Requeue = 6,
    /// The work failed, its completion says why.
    Fault = 7,
}

impl Status {
    /// The status of a word; `None` if there is no such status.
    #[must_use]
    pub const fn from_word(word: u32) -> Option<Self> {
        Some(match word {
            0 => Self::Empty,
            1 => Self::Published,
            2 => Self::Claimed,
            3 => Self::Done,
            4 => Self::WaitIo,
            5 => Self::Yield,
            6 => Self::Requeue,
            7 => Self::Fault,
            _ => return None,
        })
    }

    /// Whether a worker may claim it.
    #[must_use]
    pub const fn is_schedulable(self) -> bool {
        matches!(self, Self::Published | Self::Yield | Self::Requeue)
    }
}

/// Words of a slot's arguments for a task that continues later. The preceding words belong to its
/// opcode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(C)]
pub struct Continuation {
    /// Point at which the handler continues.
    pub program_counter: u32,
    /// State that it continues with.
    pub data: u32,
    /// Epoch before which it does not continue, with [`Continuation::AT_EPOCH`].
    pub resume_epoch: u32,
    /// The task that posted it, or 0; returned in the completion.
    pub parent: u32,
    /// Epochs and turns that it has waited for.
    pub age: u32,
    /// Times that it was requeued.
    pub requeues: u32,
    /// Times that it yielded.
    pub yields: u32,
    /// [`Continuation::AT_EPOCH`] or 0.
    pub flags: u32,
    /// Number of the task: the post that it came with.
    pub task: u32,
}
assert_words!(Continuation, ARGUMENTS - CONTINUATION);

impl Continuation {
    /// Flag of a task that waits for an epoch.
    pub const AT_EPOCH: u32 = 1;
}

/// First argument word of a continuation.
pub const CONTINUATION: usize = 3;
/// Argument word with the number of the task, in every slot.
pub const TASK: usize = ARGUMENTS - 1;

/// Answer to one slot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(C)]
pub struct CompletionRecord {
    /// Number of the task.
    pub task: u32,
    /// [`Status::Done`] or [`Status::Fault`].
    pub status: u32,
    /// A [`FaultCode`], 0 when done.
    pub fault: u32,
    /// The epoch in which it ended.
    pub epoch: u32,
    /// 0 when the entry for every opcode answered, otherwise 1 more than the index of the entry's
    /// only [`Kind`].
    pub entry: u32,
    /// Times that it was claimed.
    pub turns: u32,
    /// Parent of its continuation, or 0.
    pub parent: u32,
    /// Result words; of a fault the first is its detail. Those of [`FaultCode::ProgramFault`] are
    /// the words of a [`FaultRecord`](crate::abi::control::FaultRecord), then the number of the
    /// program.
    pub results: [u32; RESULTS],
}
assert_words!(CompletionRecord, 16);

/// Slots of one priority.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(C)]
pub struct LevelRecord {
    /// Number of its first slot.
    pub first: u32,
    /// Its slots.
    pub slots: u32,
    /// Slots that hosts published so far, wrapping.
    pub posted: u32,
    /// Slots that workers claimed and did not put back, wrapping.
    pub claimed: u32,
}
assert_words!(LevelRecord, 4);

/// Rights and counters of a tenant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(C)]
pub struct TenantRecord {
    /// A bit for each [`Kind`] that it may post; 0 if there is no such tenant.
    pub mask: u32,
    /// Most of its slots that may be claimed at the same time.
    pub quota: u32,
    /// Its slots that are claimed.
    pub running: u32,
    /// Times that a slot waited because of the quota, wrapping.
    pub passed_over: u32,
    /// Its slots that ended, wrapping.
    pub served: u32,
    /// Its slots that ended in a fault, wrapping.
    pub faults: u32,
    /// First word of its window, counted from the first word of all windows.
    pub window_first: u32,
    /// Words of its window.
    pub window_words: u32,
}
assert_words!(TenantRecord, 8);

/// Ends of one kind of work, wrapping.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(C)]
pub struct KindRecord {
    /// Slots done.
    pub done: u32,
    /// Slots that ended in a fault.
    pub faults: u32,
}
assert_words!(KindRecord, 2);

/// State that all workers and hosts share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(C)]
pub struct ControlBlock {
    /// [`MAGIC`].
    pub magic: u32,
    /// [`VERSION`].
    pub version: u32,
    /// A [`Shutdown`].
    pub shutdown: u32,
    /// Slots that ended, wrapping.
    pub done: u32,
    /// Batches that ended, wrapping.
    pub epoch: u32,
    /// Slots that ended in a fault, wrapping.
    pub faults: u32,
    /// Polls of the ring by all workers, wrapping.
    pub heartbeat: u32,
    /// Times that a handler put a slot back, wrapping.
    pub requeues: u32,
    /// Times that a handler yielded, wrapping.
    pub yields: u32,
    /// Largest age of a slot that was put back.
    pub oldest_age: u32,
    /// Print records written, wrapping.
    pub prints: u32,
    /// Print records dropped since a slower writer occupied their place, wrapping.
    pub prints_dropped: u32,
    /// Sum of the hashes of all tasks that ended, wrapping.
    pub checksum: u32,
    /// Claims above Low after which a scan starts from below.
    pub ageing_after: u32,
    /// Scans that started from below, wrapping.
    pub scans_from_below: u32,
    /// Slots answered by an entry for only one opcode, wrapping.
    pub answered_by_one: u32,
    /// 1 more than the index of the [`Kind`] whose entry further workers start from, or 0.
    pub favourite: u32,
    /// Workers that poll for work; others rest.
    pub workers: u32,
    /// Code of the last fault.
    pub last_fault: u32,
    /// Opcode of the last fault.
    pub last_fault_opcode: u32,
    /// Slots by priority.
    pub levels: [LevelRecord; PRIORITIES as usize],
    /// Tenants.
    pub tenants: [TenantRecord; TENANTS as usize],
    /// Ends by kind of work.
    pub kinds: [KindRecord; Kind::COUNT],
    /// Members of each open batch that ended.
    pub batches: [u32; BATCHES as usize],
}
assert_words!(ControlBlock, 20 + 5 * 4 + 16 * 8 + 16 * 2 + 32);

/// One line of the print log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(C)]
pub struct PrintRecord {
    /// 1 more than the number of the record, [`PrintRecord::BUSY`] while it is written,
    /// 0 before.
    pub sequence: u32,
    /// The tenant that printed.
    pub tenant: u32,
    /// Its task.
    pub task: u32,
    /// Words of text that follow.
    pub words: u32,
    /// The text.
    pub text: [u32; PRINT_WORDS],
}
assert_words!(PrintRecord, 12);

impl PrintRecord {
    /// Sequence of a record that is being written.
    pub const BUSY: u32 = u32::MAX;
}

/// Values of [`ControlBlock::shutdown`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(u32)]
pub enum Shutdown {
    /// The service runs.
    None = 0,
    /// Workers end when nothing waits.
    Drain = 1,
    /// Workers end after the slot that they have.
    Now = 2,
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::mem::offset_of;

    #[test]
    fn fields_lie_where_the_layout_puts_them() {
        assert_eq!(offset_of!(SlotRecord, arguments), 16);
        assert_eq!(offset_of!(CompletionRecord, results), 28);
        assert_eq!(offset_of!(ControlBlock, shutdown), 8);
        assert_eq!(offset_of!(ControlBlock, done), 12);
        assert_eq!(offset_of!(ControlBlock, epoch), 16);
        assert_eq!(offset_of!(ControlBlock, levels), 80);
        assert_eq!(offset_of!(ControlBlock, tenants), 160);
        assert_eq!(offset_of!(ControlBlock, kinds), 672);
        assert_eq!(offset_of!(ControlBlock, batches), 800);
        assert_eq!(offset_of!(PrintRecord, text), 16);
        assert_eq!(offset_of!(Continuation, task), 32);
    }

    #[test]
    fn words_and_names_agree() {
        for kind in Kind::ALL {
            assert_eq!(Kind::of(kind.opcode()), Some(kind));
            assert_eq!(Kind::ALL[kind as usize], kind);
        }
        for word in 0..8 {
            let status = Status::from_word(word).map(|status| status as u32);
            assert_eq!(status, Some(word));
        }
        for code in FaultCode::ALL {
            assert_eq!(FaultCode::from_word(code as u32), code);
        }
        assert_eq!(FaultCode::from_word(0), FaultCode::Unknown);
    }

    #[test]
    fn reserved_opcodes_have_no_kind() {
        for opcode in [
            0xFFF4,
            0xFFFD,
            0xFFFF,
            0x8000_0000,
            0x8000_0002,
            0xFFFF_FFFE,
        ] {
            assert_eq!(Kind::of(opcode), None, "{opcode:#x}");
        }
        for opcode in [8, 0xFFEF, 0x1_0000, 0x7FFF_FFFF] {
            assert_eq!(Kind::of(opcode), Some(Kind::User), "{opcode:#x}");
        }
    }
}
