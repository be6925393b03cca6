//! A trace: the time that groups of a run took, the steps of its searches with their reasons, and
//! what each block did between barriers.
//!
//! Blocks write it if the launch record has its address. It is a [`TraceHead`], then a
//! [`GroupTrace`] for each group of the table, then as many [`StepTrace`]s as there is space for,
//! both by the leading block, then [`BARRIERS_KEPT`] [`BarrierTrace`]s of each block. Further steps
//! are counted and not kept. All of it except the space and the blocks is zero before a run.

use super::assert_words;
use crate::topology::Reason;
use bytemuck::{Pod, Zeroable};

/// The start of a trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct TraceHead {
    /// Steps of searches so far, including steps without a record.
    pub steps: u32,
    /// Records of steps that there is space for.
    pub space: u32,
    /// Blocks that there is space for.
    pub blocks: u32,
    /// Zero.
    pub reserved: u32,
}
assert_words!(TraceHead, 4);

/// Barriers of the whole grid that a trace keeps, from the start of the run.
pub const BARRIERS_KEPT: u32 = 64;

/// A barrier of the whole grid, as one block crossed it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct BarrierTrace {
    /// Number of the wave whose work it ends.
    pub wave: u32,
    /// Iteration of the innermost loop around it.
    pub iteration: u32,
    /// Clock right after the block announced its arrival, nanoseconds, low and high word. Others
    /// may go on before this is read.
    pub arrived_ns: [u32; 2],
    /// Clock when it went on, nanoseconds, low and high word; 0 if it did not.
    pub left_ns: [u32; 2],
}
assert_words!(BarrierTrace, 6);

/// The time of a group, barriers after it included, as the leading block saw it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct GroupTrace {
    /// Number of its runs.
    pub runs: u32,
    /// Groups that this record is for: itself, and those that one block ran after it
    /// without a grid barrier. 0 if it is in the record of an earlier one, or never ran.
    pub groups: u32,
    /// Clock at the start of the last run, nanoseconds, low and high word.
    pub begun_ns: [u32; 2],
    /// Time of all runs, nanoseconds, low and high word.
    pub spent_ns: [u32; 2],
    /// Clock at the start of the first run, nanoseconds, low and high word.
    pub first_ns: [u32; 2],
}
assert_words!(GroupTrace, 8);

/// A step of a search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct StepTrace {
    /// Word of the [`Step`](super::search::Step).
    pub step: u32,
    /// Word of the topology that was chosen.
    pub topology: u32,
    /// Word of the [`StepReason`].
    pub reason: u32,
    /// Iteration of the search.
    pub iteration: u32,
    /// Nodes of the frontier.
    pub nodes: u32,
    /// Edges of the frontier.
    pub edges: u32,
    /// Number of the loop's wave.
    pub wave: u32,
    /// Zero.
    pub reserved: u32,
    /// Clock at its start, nanoseconds, low and high word.
    pub begun_ns: [u32; 2],
    /// Clock at its end, nanoseconds, low and high word.
    pub ended_ns: [u32; 2],
}
assert_words!(StepTrace, 12);

/// Joins the words of a time.
#[must_use]
pub const fn nanoseconds([low, high]: [u32; 2]) -> u64 {
    low as u64 | (high as u64).wrapping_shl(32)
}

const _: () = assert!(nanoseconds([1, 2]) == 0x2_0000_0001);

/// The rule that decided a step of a search: a rule of searches, or one of the planner's.
///
/// ```
/// use seawall_core::abi::trace::StepReason;
/// use seawall_core::topology::Reason;
/// let reason = StepReason::Planned(Reason::HeldByHysteresis);
/// assert_eq!(StepReason::from_word(reason.word()), Some(reason));
/// assert_eq!(reason.code(), "held_by_hysteresis");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum StepReason {
    /// A rule of the topology policy.
    Planned(Reason),
    /// The caller wanted this topology.
    Requested,
    /// A few blocks, or one thread, hold the frontier without a grid barrier.
    NarrowFrontier,
    /// The frontier has too few edges for a sweep over the bitset to pay; its degree
    /// decides between the queues.
    TooFewEdgesForASweep,
}

/// Words of the reasons that are not rules of the policy.
const REQUESTED: u32 = 16;
const NARROW_FRONTIER: u32 = 17;
const TOO_FEW_EDGES: u32 = 18;

impl StepReason {
    /// The word of this reason.
    #[must_use]
    pub const fn word(self) -> u32 {
        match self {
            Self::Planned(reason) => reason as u32,
            Self::Requested => REQUESTED,
            Self::NarrowFrontier => NARROW_FRONTIER,
            Self::TooFewEdgesForASweep => TOO_FEW_EDGES,
        }
    }

    /// Returns the reason of a word; `None` if the word names none.
    #[must_use]
    pub const fn from_word(word: u32) -> Option<Self> {
        Some(match word {
            REQUESTED => Self::Requested,
            NARROW_FRONTIER => Self::NarrowFrontier,
            TOO_FEW_EDGES => Self::TooFewEdgesForASweep,
            planned => match Reason::from_word(planned) {
                Some(reason) => Self::Planned(reason),
                None => return None,
            },
        })
    }

    /// The code in snake case, as reports write it.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Planned(reason) => reason.code(),
            Self::Requested => "requested",
            Self::NarrowFrontier => "narrow_frontier",
            Self::TooFewEdgesForASweep => "too_few_edges_for_a_sweep",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_survives_its_word() {
        let found: heapless::Vec<_, 64> = (0..64).filter_map(StepReason::from_word).collect();
        assert_eq!(found.len(), Reason::ALL.len() + 3);
        for reason in found {
            assert_eq!(StepReason::from_word(reason.word()), Some(reason));
        }
        assert_eq!(StepReason::from_word(u32::MAX), None);
    }
}
