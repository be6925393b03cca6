//! The control block: what a running kernel reports to its host.

use super::assert_words;
use super::code::DEPTH_MAX;
use super::search::Step;
use bytemuck::{Pod, Zeroable};

/// Reason why a kernel stopped itself.
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
    /// A wave read an index from memory that is out of its register's range. The record has the
    /// index in `arrived` and the length of the register in `expected`.
    BadIndex = 7,
    /// The launch of a loop names a wave that is none.
    NoLoop = 8,
    /// The body of a search does not expand its frontier.
    NoExpansion = 9,
    /// The record of a batch is of another version than the kernel.
    BadBatch = 10,
    /// A parameter of the wave has no meaning, such as a reduction that there is not.
    BadParameter = 11,
    /// The host aborted the run.
    GivenUp = 12,
    /// A group or a wave lies outside its table.
    BadTable = 13,
    /// The launch record holds no weights or no incoming edges, which a wave reads.
    NoArray = 14,
    /// The launch has less shared memory than a tile of edges takes.
    NoSpace = 15,
    /// A wave of another crate used an operand or an array that its facts leave out.
    Undeclared = 16,
    /// The tables were planned for another graph or machine than the resident ones.
    StalePlan = 17,
    /// A list of sources names a number that is no node of the graph. The record has the number
    /// in `arrived` and the nodes of the graph in `expected`.
    NotANode = 18,
    /// The time budget ended while another device was missing at a barrier of all. The record has
    /// the number of the first missing one in `block`, how many came in `arrived`, and all in
    /// `expected`.
    DeviceMissing = 19,
    /// Another device has ended the run, whose number the record has in `block`.
    DeviceEnded = 20,
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
            15 => Self::NoSpace,
            16 => Self::Undeclared,
            17 => Self::StalePlan,
            18 => Self::NotANode,
            19 => Self::DeviceMissing,
            20 => Self::DeviceEnded,
            _ => Self::Unknown,
        }
    }
}

/// The first fault of a run; later ones are dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
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

/// Whether a fixpoint continues.
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

/// The end of a fixpoint.
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

/// Words of a set of blocks.
const NAMED_WORDS: usize = 31;

/// Blocks that a watchdog can name: those with smaller numbers.
pub const BLOCKS_NAMED: u32 = 32 * NAMED_WORDS as u32;

/// Shared by all blocks of a run, zeroed before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct ControlRecord {
    /// Monotonic ticket counter of the grid barrier.
    pub ticket: u32,
    /// Blocks that gave up waiting at a barrier after an even number of barriers, one bit each.
    /// A sound run leaves them 0, so the ticket's cache line is free of other words.
    pub waited_even: [u32; NAMED_WORDS],
    /// Epoch-tagged convergence flag: holds the number of the last iteration
    /// that changed something.
    pub changed: u32,
    /// The same after an odd number of barriers, in the flag's cache line.
    pub waited_odd: [u32; NAMED_WORDS],
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
    /// Blocks that finished the open launch of a loop body; the last one decides whether the loop
    /// continues. Only executors that launch each group use it.
    pub arrivals: u32,
    /// Word of a [`LoopState`] for the fixpoint that runs now.
    pub loop_state: u32,
    /// Iterations of the open loops on a register, by depth; the word after the deepest
    /// holds how many loops had ended before the first. Only executors that launch each
    /// group use it.
    pub rounds: [u32; DEPTH_MAX as usize + 1],
    /// Edges that sequential algorithms visited, low and high word.
    pub examined: [u32; 2],
    /// Keeps the records below aligned to a cache line.
    pub reserved: [u32; 8],
    /// The end of each fixpoint.
    pub loops: [LoopRecord; LOOPS_MAX],
}
assert_words!(ControlRecord, 192);

impl ControlRecord {
    /// The blocks that were missing at the barrier of a watchdog's fault.
    ///
    /// Blocks that wait there name themselves when they give up. A block that comes late may let
    /// others go before they do, so no block is returned if more blocks are unnamed than were
    /// missing. Blocks from [`BLOCKS_NAMED`] on are never returned.
    ///
    /// ```
    /// use seawall_core::abi::control::{ControlRecord, FaultCode};
    /// let mut control: ControlRecord = bytemuck::Zeroable::zeroed();
    /// control.fault.code = FaultCode::Watchdog as u32;
    /// (control.fault.arrived, control.fault.expected, control.fault.epoch) = (2, 3, 5);
    /// control.waited_odd[0] = 0b101;
    /// assert!(control.missing_blocks().eq([1]));
    /// ```
    pub fn missing_blocks(&self) -> impl Iterator<Item = u32> + '_ {
        let fault = &self.fault;
        let blocks = match FaultCode::from_word(fault.code) {
            FaultCode::Watchdog => fault.expected,
            _ => 0,
        };
        let missing = fault.expected.saturating_sub(fault.arrived);
        let unnamed = blocks.saturating_sub(self.waiting());
        let named = if unnamed <= missing { blocks } else { 0 };
        (0..named.min(BLOCKS_NAMED)).filter(|block| !self.waited(*block))
    }

    /// The set of blocks that waited at the fault's barrier.
    const fn set(&self) -> &[u32; NAMED_WORDS] {
        if self.fault.epoch & 1 == 0 {
            &self.waited_even
        } else {
            &self.waited_odd
        }
    }

    fn waited(&self, block: u32) -> bool {
        let word = self.set().get((block >> 5) as usize);
        word.is_some_and(|word| word.wrapping_shr(block) & 1 != 0)
    }

    /// Blocks that waited, including unnamed ones.
    fn waiting(&self) -> u32 {
        let named = self.set().iter().map(|word| word.count_ones()).sum::<u32>();
        named.saturating_add(self.fault.expected.saturating_sub(BLOCKS_NAMED))
    }
}

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

    fn watchdog(epoch: u32, arrived: u32, expected: u32) -> ControlRecord {
        let mut control: ControlRecord = Zeroable::zeroed();
        control.fault.code = FaultCode::Watchdog as u32;
        control.fault.epoch = epoch;
        control.fault.arrived = arrived;
        control.fault.expected = expected;
        control
    }

    #[test]
    fn missing_blocks_are_those_that_did_not_wait() {
        let mut control = watchdog(4, 62, 64);
        control.waited_even[..2].copy_from_slice(&[!(1 << 7), !(1 << 31)]);
        assert!(control.missing_blocks().eq([7, 63]));
        // One of them came before the end and waited too.
        control.waited_even[0] = u32::MAX;
        assert!(control.missing_blocks().eq([63]));
        control.fault.code = FaultCode::TimeBudget as u32;
        assert_eq!(control.missing_blocks().count(), 0);
    }

    #[test]
    fn nobody_is_named_when_blocks_left_without_a_word() {
        let mut control = watchdog(3, 2, 3);
        assert_eq!(control.missing_blocks().count(), 0);
        // Late blocks wait at the next barrier, which is of the other kind.
        control.waited_even[0] = 0b111;
        assert_eq!(control.missing_blocks().count(), 0);
    }

    #[test]
    fn blocks_beyond_the_sets_are_never_named() {
        let mut control = watchdog(0, BLOCKS_NAMED + 9, BLOCKS_NAMED + 10);
        control.waited_even = [u32::MAX; NAMED_WORDS];
        assert_eq!(control.missing_blocks().count(), 0);
        control.waited_even[30] = u32::MAX >> 1;
        assert!(control.missing_blocks().eq([BLOCKS_NAMED - 1]));
    }

    #[test]
    fn fault_codes_survive_their_words() {
        for word in 0..=FaultCode::DeviceEnded as u32 {
            assert_eq!(FaultCode::from_word(word) as u32, word);
        }
    }
}
