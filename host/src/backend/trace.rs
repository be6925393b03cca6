//! The trace of a run: a kernel's records of its groups, steps and barriers, in times since its
//! start.

use super::BackendError;
use crate::graph::memory;
use bytemuck::AnyBitPattern;
use seawall_core::abi::control::ControlRecord;
use seawall_core::abi::search::Step;
use seawall_core::abi::trace::{
    BARRIERS_KEPT, BarrierTrace, GroupTrace, StepReason, StepTrace, TraceHead, nanoseconds,
};
use seawall_core::topology::Topology;

/// Steps that a trace keeps; further ones are counted.
pub const STEPS_KEPT: u32 = 4096;

/// Times and steps of a run, as its leading block saw them, and the barriers of all blocks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Trace {
    /// Groups that ran, by number.
    pub groups: Vec<GroupTime>,
    /// Steps of searches in their order, the first [`STEPS_KEPT`] of them.
    pub steps: Vec<StepTaken>,
    /// Number of all steps.
    pub steps_total: u32,
    /// Barriers of the whole grid in their order, the first [`BARRIERS_KEPT`] of them. One block
    /// alone has none.
    pub barriers: Vec<BarrierCrossed>,
}

/// A barrier of the whole grid, as all blocks crossed it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BarrierCrossed {
    /// Number of the wave whose work it ends.
    pub wave: u32,
    /// Iteration of the innermost loop around it.
    pub iteration: u32,
    /// When each block arrived, since the start of the program, nanoseconds.
    pub arrived_ns: Vec<u64>,
    /// When each block went on.
    pub left_ns: Vec<u64>,
}

/// The time of a group in all its runs, barriers after it included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupTime {
    /// Its number in the table of groups.
    pub group: u32,
    /// Groups measured together, this one first: one block ran them without a grid barrier.
    pub groups: u32,
    /// Number of its runs.
    pub runs: u32,
    /// Start of its first run since the start of the program, nanoseconds.
    pub start_ns: u64,
    /// Time of all its runs, nanoseconds.
    pub spent_ns: u64,
}

/// A step of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepTaken {
    /// Number of the loop's wave.
    pub wave: u32,
    /// Iteration of the search.
    pub iteration: u32,
    /// The step that ran.
    pub step: Step,
    /// The topology that was chosen; a step differs from it where the graph or the width of the
    /// frontier does not allow it.
    pub topology: Topology,
    /// The rule that chose it.
    pub reason: StepReason,
    /// Nodes of the frontier.
    pub nodes: u32,
    /// Edges of the frontier.
    pub edges: u32,
    /// Start since the start of the program, nanoseconds.
    pub start_ns: u64,
    /// Duration, nanoseconds.
    pub duration_ns: u64,
}

/// Memory that a kernel writes a trace to.
#[derive(Debug)]
pub(super) struct TraceMemory {
    words: Vec<u64>,
    groups: usize,
    blocks: u32,
}

const HEAD: usize = size_of::<TraceHead>();
const GROUP: usize = size_of::<GroupTrace>();
const STEP: usize = size_of::<StepTrace>();
const BARRIER: usize = size_of::<BarrierTrace>();

impl TraceMemory {
    /// Allocates a trace for a table of `groups` groups that `blocks` blocks run.
    pub(super) fn new(groups: usize, blocks: u32) -> Result<Self, BackendError> {
        let barriers = (blocks as usize).saturating_mul(BARRIERS_KEPT as usize * BARRIER);
        let bytes = first_barrier(groups).saturating_add(barriers);
        let words = memory::zeroed(bytes.div_ceil(8));
        let words = words.map_err(BackendError::short("the trace of a run"))?;
        Ok(Self {
            words,
            groups,
            blocks,
        })
    }

    /// Empties the trace for the next run.
    pub(super) fn clear(&mut self) {
        self.words.fill(0);
        let head = TraceHead {
            space: STEPS_KEPT,
            blocks: self.blocks,
            ..TraceHead::default()
        };
        self.bytes_mut()[..HEAD].copy_from_slice(bytemuck::bytes_of(&head));
    }

    pub(super) fn bytes_mut(&mut self) -> &mut [u8] {
        bytemuck::cast_slice_mut(&mut self.words)
    }

    pub(super) fn address(&mut self) -> u64 {
        self.words.as_mut_ptr() as u64
    }

    fn record<T: AnyBitPattern>(&self, at: usize) -> T {
        let bytes: &[u8] = bytemuck::cast_slice(&self.words);
        bytemuck::pod_read_unaligned(&bytes[at..at + size_of::<T>()])
    }

    /// Returns the trace of the run that left `control`.
    pub(super) fn read(&self, control: &ControlRecord) -> Trace {
        let zero = nanoseconds(control.started_ns);
        let head: TraceHead = self.record(0);
        let group = |group: usize| group_time(group, &self.record(HEAD + group * GROUP), zero);
        let first_step = HEAD + self.groups * GROUP;
        let kept = head.steps.min(STEPS_KEPT) as usize;
        let step = |step: usize| step_taken(&self.record(first_step + step * STEP), zero);
        Trace {
            groups: (0..self.groups).filter_map(group).collect(),
            steps: (0..kept).filter_map(step).collect(),
            steps_total: head.steps,
            barriers: self.barriers(zero),
        }
    }

    /// The barriers that all blocks of the run crossed.
    fn barriers(&self, zero: u64) -> Vec<BarrierCrossed> {
        let ran = |block: &u32| nanoseconds(self.barrier_of(*block, 0).left_ns) != 0;
        let blocks = (0..self.blocks).take_while(ran).count() as u32;
        let crossed = |barrier| self.barrier(barrier, blocks, zero);
        (0..BARRIERS_KEPT).map_while(crossed).collect()
    }

    fn barrier_of(&self, block: u32, barrier: u32) -> BarrierTrace {
        let before = block as usize * BARRIERS_KEPT as usize + barrier as usize;
        self.record(first_barrier(self.groups) + before * BARRIER)
    }

    /// The barrier with this index; `None` if one of `blocks` did not cross it.
    fn barrier(&self, barrier: u32, blocks: u32, zero: u64) -> Option<BarrierCrossed> {
        let crossings = (0..blocks).map(|block| self.barrier_of(block, barrier));
        let of_first = crossings.clone().next()?;
        let mut crossed = BarrierCrossed {
            wave: of_first.wave,
            iteration: of_first.iteration,
            arrived_ns: Vec::new(),
            left_ns: Vec::new(),
        };
        for crossing in crossings {
            let [arrived, left] = [crossing.arrived_ns, crossing.left_ns].map(nanoseconds);
            if left == 0 {
                return None;
            }
            crossed.arrived_ns.push(arrived.saturating_sub(zero));
            crossed.left_ns.push(left.saturating_sub(zero));
        }
        Some(crossed)
    }
}

/// Offset of the barriers in the trace of a table of `groups` groups.
const fn first_barrier(groups: usize) -> usize {
    HEAD.saturating_add(groups.saturating_mul(GROUP))
        .saturating_add(STEPS_KEPT as usize * STEP)
}

fn group_time(group: usize, record: &GroupTrace, zero: u64) -> Option<GroupTime> {
    (record.runs > 0).then(|| GroupTime {
        group: group as u32,
        groups: record.groups,
        runs: record.runs,
        start_ns: nanoseconds(record.first_ns).saturating_sub(zero),
        spent_ns: nanoseconds(record.spent_ns),
    })
}

fn step_taken(record: &StepTrace, zero: u64) -> Option<StepTaken> {
    let [begun, ended] = [record.begun_ns, record.ended_ns].map(nanoseconds);
    Some(StepTaken {
        wave: record.wave,
        iteration: record.iteration,
        step: Step::from_word(record.step)?,
        topology: Topology::from_u32(record.topology)?,
        reason: StepReason::from_word(record.reason)?,
        nodes: record.nodes,
        edges: record.edges,
        start_ns: begun.saturating_sub(zero),
        duration_ns: ended.saturating_sub(begun),
    })
}
