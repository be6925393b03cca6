//! Records of a trace, in memory of which each word has one block that writes it.

use crate::machine::Grid;
use crate::machine::memory::{Proven, word_of};
use crate::machine::shared::BARRIERS_TRACED;
use seawall_core::abi::search::DriveRecord;
use seawall_core::abi::trace::{BARRIERS_KEPT, BarrierTrace, GroupTrace, StepTrace, TraceHead};

const HEAD_WORDS: u32 = (size_of::<TraceHead>() / 4) as u32;
const GROUP_WORDS: u32 = (size_of::<GroupTrace>() / 4) as u32;
const STEP_WORDS: u32 = (size_of::<StepTrace>() / 4) as u32;
const BARRIER_WORDS: u32 = (size_of::<BarrierTrace>() / 4) as u32;

/// A trace in the device's memory.
#[derive(Clone, Copy, Debug)]
pub struct Trace {
    words: Proven,
    groups: u32,
}

impl Trace {
    /// The trace at `address`, of a table of `groups` groups.
    ///
    /// # Safety
    /// There must be one with the space that it states, for this run alone, valid for the whole
    /// run.
    #[inline(always)]
    #[must_use]
    pub unsafe fn at(address: u64, groups: u32) -> Self {
        // SAFETY: the trace is valid, by this function's contract, and callers stay in it.
        let words = unsafe { Proven::trusted(address as *mut u32, u32::MAX) };
        Self { words, groups }
    }

    #[inline(always)]
    fn time<G: Grid>(self, grid: G, at: u32) -> u64 {
        let [low, high] = [at, at + 1].map(|at| u64::from(self.words.load(grid, at)));
        high << 32 | low
    }

    #[inline(always)]
    fn set_time<G: Grid>(self, grid: G, at: u32, time: u64) {
        set_time(grid, self.words, at, time);
    }

    /// Lets this block note its barriers in the trace, if there is space for the block. For its
    /// first lane.
    pub(crate) fn hold_barriers<G: Grid>(self, grid: G) {
        let [blocks, steps] = [word_of!(TraceHead, blocks), word_of!(TraceHead, space)]
            .map(|at| self.words.load(grid, at));
        if grid.block() < blocks {
            let before = HEAD_WORDS + self.groups * GROUP_WORDS + steps * STEP_WORDS;
            let at = before + grid.block() * BARRIERS_KEPT * BARRIER_WORDS;
            let own = self
                .words
                .part(u64::from(at), BARRIERS_KEPT * BARRIER_WORDS);
            BARRIERS_TRACED.store_wide(grid, own.address());
        }
    }

    /// The record of a group of the table.
    #[inline(always)]
    fn group(self, index: u32) -> Option<u32> {
        (index < self.groups).then(|| HEAD_WORDS + index * GROUP_WORDS)
    }

    /// The record of step `index` of all searches, if there is space for it.
    #[inline(always)]
    fn step<G: Grid>(self, grid: G, index: u32) -> Option<u32> {
        let space = self.words.load(grid, word_of!(TraceHead, space));
        (index < space).then(|| HEAD_WORDS + self.groups * GROUP_WORDS + index * STEP_WORDS)
    }

    pub(crate) fn begin_group<G: Grid>(self, grid: G, index: u32) {
        let Some(at) = self.group(index) else { return };
        let now = grid.now_ns();
        self.set_time(grid, at + word_of!(GroupTrace, begun_ns), now);
        let runs = at + word_of!(GroupTrace, runs);
        let before = self.words.load(grid, runs);
        if before == 0 {
            self.set_time(grid, at + word_of!(GroupTrace, first_ns), now);
        }
        self.words.store(grid, runs, before.saturating_add(1));
    }

    pub(crate) fn end_group<G: Grid>(self, grid: G, index: u32, groups: u32) {
        let Some(at) = self.group(index) else { return };
        let begun = self.time(grid, at + word_of!(GroupTrace, begun_ns));
        let spent = at + word_of!(GroupTrace, spent_ns);
        let took = grid.now_ns().saturating_sub(begun);
        let total = self.time(grid, spent).saturating_add(took);
        self.set_time(grid, spent, total);
        self.words
            .store(grid, at + word_of!(GroupTrace, groups), groups);
    }

    /// Ends the last step of a search, unless it has ended.
    pub(crate) fn end_step<G: Grid>(self, grid: G) {
        let steps = self.words.load(grid, word_of!(TraceHead, steps));
        let last = steps
            .checked_sub(1)
            .and_then(|index| self.step(grid, index));
        let Some(at) = last else { return };
        let ended = at + word_of!(StepTrace, ended_ns);
        if self.time(grid, ended) == 0 {
            self.set_time(grid, ended, grid.now_ns());
        }
    }

    pub(crate) fn begin_step<G: Grid>(self, grid: G, wave: u32, drive: &DriveRecord) {
        self.end_step(grid);
        let counter = word_of!(TraceHead, steps);
        let index = self.words.load(grid, counter);
        self.words.store(grid, counter, index.saturating_add(1));
        let Some(at) = self.step(grid, index) else {
            return;
        };
        let words = [
            drive.next,
            drive.topology,
            drive.reason,
            drive.iteration,
            drive.nodes,
            drive.edges,
            wave,
        ];
        for (at, word) in (at..).zip(words) {
            self.words.store(grid, at, word);
        }
        self.set_time(grid, at + word_of!(StepTrace, begun_ns), grid.now_ns());
    }
}

#[inline(always)]
fn set_time<G: Grid>(grid: G, words: Proven, at: u32, time: u64) {
    words.store(grid, at, time as u32);
    words.store(grid, at + 1, (time >> 32) as u32);
}

/// The barriers of one block in a trace.
#[derive(Clone, Copy, Debug)]
pub struct BlockTrace(Proven);

impl BlockTrace {
    /// The barriers that this block notes; `None` without a trace. For its first lane.
    pub(crate) fn held<G: Grid>(grid: G) -> Option<Self> {
        let address = BARRIERS_TRACED.load_wide(grid);
        let words = BARRIERS_KEPT * BARRIER_WORDS;
        // SAFETY: `hold_barriers` found space for the block there, which is valid for the run.
        (address != 0).then(|| Self(unsafe { Proven::trusted(address as *mut u32, words) }))
    }

    /// The record of barrier `met`, counted from 1.
    fn record(met: u32) -> Option<u32> {
        let index = met.checked_sub(1)?;
        (index < BARRIERS_KEPT).then(|| index * BARRIER_WORDS)
    }

    pub(crate) fn arrive<G: Grid>(self, grid: G, met: u32, wave: u32, iteration: u32) {
        let Some(at) = Self::record(met) else { return };
        self.0.store(grid, at + word_of!(BarrierTrace, wave), wave);
        let told = at + word_of!(BarrierTrace, iteration);
        self.0.store(grid, told, iteration);
        let arrived = at + word_of!(BarrierTrace, arrived_ns);
        set_time(grid, self.0, arrived, grid.now_ns());
    }

    pub(crate) fn leave<G: Grid>(self, grid: G, met: u32) {
        let Some(at) = Self::record(met) else { return };
        let left = at + word_of!(BarrierTrace, left_ns);
        set_time(grid, self.0, left, grid.now_ns());
    }
}
