//! The control block: what a running kernel tells its host.

use super::assert_words;
use super::code::DEPTH_MAX;
use super::search::Step;
use bytemuck::{Pod, Zeroable};

/// Why a kernel stopped itself.
///
/// ```
/// use seawall_core::abi::control::FaultCode;
/// assert_eq!(FaultCode::from_word(3), FaultCode::Watchdog);
/// assert_eq!(FaultCode::from_word(77), FaultCode::Unknown);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(u32)]
pub enum FaultCode {
    /// No fault.
    None = 0,
    /// A wave's opcode word names no opcode of this kernel.
    UnknownOpcode = 1,
    /// A wave names a register that the table does not hold, or one of the
    /// wrong size.
    BadRegister = 2,
    /// The time budget ended while blocks were missing at a barrier.
    Watchdog = 3,
    /// The launch record is of another version than the kernel.
    BadLaunch = 4,
    /// A fixpoint was nested in another one's body.
    NestedFixpoint = 5,
    /// The time budget ended inside a loop that one block runs alone.
    TimeBudget = 6,
    /// A wave took an index out of memory that its register does not hold. The record
    /// has the index in `arrived` and the length of the register in `expected`.
    BadIndex = 7,
    /// The launch of a loop names a wave that is none.
    NoLoop = 8,
    /// The body of a search does not expand its frontier.
    NoExpansion = 9,
    /// The record of a batch is of another version than the kernel.
    BadBatch = 10,
    /// A parameter of the wave has no meaning, such as a reduction that there is not.
    BadParameter = 11,
    /// The host gave the run up.
    GivenUp = 12,
    /// A group or a wave lies outside its table.
    BadTable = 13,
    /// The launch record holds no weights or no incoming edges, which a wave reads.
    NoArray = 14,
    /// The launch has less shared memory than a tile of edges takes.
    NoRoom = 15,
    /// A wave of a crate of its own used an operand or an array that its facts leave out.
    Undeclared = 16,
    /// A code that this version does not know; no kernel writes it.
    Unknown = u32::MAX,
}

impl FaultCode {
    /// The code of a word.
    #[must_use]
    pub const fn from_word(word: u32) -> Self {
        match word {
            0 => Self::None,
            1 => Self::UnknownOpcode,
            2 => Self::BadRegister,
            3 => Self::Watchdog,
            4 => Self::BadLaunch,
            5 => Self::NestedFixpoint,
            6 => Self::TimeBudget,
            7 => Self::BadIndex,
            8 => Self::NoLoop,
            9 => Self::NoExpansion,
            10 => Self::BadBatch,
            11 => Self::BadParameter,
            12 => Self::GivenUp,
            13 => Self::BadTable,
            14 => Self::NoArray,
            15 => Self::NoRoom,
            16 => Self::Undeclared,
            _ => Self::Unknown,
        }
    }
}

/// The first fault of a run; later ones are dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct FaultRecord {
    /// Word of a [`FaultCode`]; claimed by compare-and-swap from zero.
    pub code: u32,
    /// Wave that ran or was about to run.
    pub wave: u32,
    /// Opcode word of that wave.
    pub opcode: u32,
    /// Block that reports.
    pub block: u32,
    /// Grid barriers that were complete.
    pub epoch: u32,
    /// Blocks that had arrived at the open barrier; the index of a
    /// [`FaultCode::BadIndex`].
    pub arrived: u32,
    /// Blocks that were expected; the length that a [`FaultCode::BadIndex`] was not
    /// below.
    pub expected: u32,
    /// Fixpoint iteration.
    pub iteration: u32,
}
assert_words!(FaultRecord, 8);

/// Whether a fixpoint goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(u32)]
pub enum LoopState {
    /// Another iteration follows.
    Running = 0,
    /// The last iteration changed nothing.
    Converged = 1,
    /// The iteration limit was reached first.
    Exhausted = 2,
}

/// How a fixpoint ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct LoopRecord {
    /// Iterations that ran.
    pub iterations: u32,
    /// 1 when the last iteration changed nothing.
    pub converged: u32,
    /// Grid barriers inside the loop.
    pub grid_barriers: u32,
    /// Iterations that one block ran alone.
    pub block_iterations: u32,
    /// Steps per topology, in the order of its words.
    pub steps: [u32; 6],
    /// Steps that only rebuilt a queue. With `steps`, one counter for each
    /// [`Step`], in the order of its words.
    pub compactions: u32,
    /// Largest frontier, nodes.
    pub frontier_max: u32,
}
assert_words!(LoopRecord, 12);
const _: () = {
    let steps = core::mem::offset_of!(LoopRecord, steps);
    let compactions = core::mem::offset_of!(LoopRecord, compactions);
    let counters = size_of::<[u32; Step::Compact as usize]>();
    assert!(compactions.wrapping_sub(steps) == counters);
    assert!(Step::Compact as u32 == Step::COUNT.wrapping_sub(1));
};

/// Loops of one program whose end is reported.
pub const LOOPS_MAX: usize = 8;

/// Shared by all blocks of a run, zeroed before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct ControlRecord {
    /// Monotonic ticket counter of the grid barrier.
    pub ticket: u32,
    /// Keeps the ticket's cache line free of other words.
    pub ticket_line: [u32; 31],
    /// Epoch-tagged convergence flag: holds the number of the last iteration
    /// that changed something.
    pub changed: u32,
    /// Keeps the flag's cache line free of other words.
    pub changed_line: [u32; 31],
    /// The first fault.
    pub fault: FaultRecord,
    /// Waves that block 0 finished.
    pub waves_done: u32,
    /// Fixpoints that block 0 finished.
    pub loops_done: u32,
    /// Wave that block 0 runs now.
    pub wave: u32,
    /// Iteration that block 0 runs now.
    pub iteration: u32,
    /// Clock at the start of the run, nanoseconds, low and high word.
    pub started_ns: [u32; 2],
    /// Clock at the end of the run, nanoseconds, low and high word.
    pub ended_ns: [u32; 2],
    /// Blocks that finished the open launch of a loop body; the last one
    /// decides what comes next. Only executors that launch each group use it.
    pub arrivals: u32,
    /// Word of a [`LoopState`] for the fixpoint that runs now.
    pub loop_state: u32,
    /// Iterations of the open loops on a register, by depth; the word after the deepest
    /// holds how many loops had ended before the first. Only executors that launch each
    /// group use it.
    pub rounds: [u32; DEPTH_MAX as usize + 1],
    /// Keeps the records below aligned to a cache line.
    pub reserved: [u32; 10],
    /// How each fixpoint ended.
    pub loops: [LoopRecord; LOOPS_MAX],
}
assert_words!(ControlRecord, 192);

#[cfg(test)]
mod tests {
    use super::*;
    use core::mem::offset_of;

    #[test]
    fn hot_words_have_cache_lines_of_their_own() {
        assert_eq!(offset_of!(ControlRecord, ticket), 0);
        assert_eq!(offset_of!(ControlRecord, changed), 128);
        assert_eq!(offset_of!(ControlRecord, fault), 256);
        assert_eq!(offset_of!(ControlRecord, loops), 384);
    }

    #[test]
    fn fault_codes_survive_their_words() {
        for word in 0..=FaultCode::Undeclared as u32 {
            assert_eq!(FaultCode::from_word(word) as u32, word);
        }
    }
}
