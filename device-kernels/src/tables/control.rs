//! The control block as kernels see it: faults, progress, loop state.

use crate::machine::Grid;
use crate::machine::memory::{Proven, missed, word_of};
use seawall_core::abi::code::DEPTH_MAX;
use seawall_core::abi::control::{
    BLOCKS_NAMED, ControlRecord, FaultCode, FaultRecord, LOOPS_MAX, LoopRecord, LoopState,
};
use seawall_core::abi::search::Step;

/// Ends a run early; the control block's fault record says why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stop;

/// The point of a program that a block is at, for fault records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProgramPoint {
    /// Number of the wave.
    pub wave: u32,
    /// Word of its opcode.
    pub opcode: u32,
    /// Iteration of the open fixpoint.
    pub iteration: u32,
}

/// The control block of a run.
#[derive(Clone, Copy, Debug)]
pub struct Control {
    words: Proven,
}

const FAULT: u32 = word_of!(ControlRecord, fault);
const LOOPS: u32 = word_of!(ControlRecord, loops);
const ROUNDS: u32 = word_of!(ControlRecord, rounds);
const LOOP_WORDS: u32 = (size_of::<LoopRecord>() / 4) as u32;

impl Control {
    /// Words of the control block.
    pub const WORDS: u32 = (size_of::<ControlRecord>() / 4) as u32;

    /// The control block at `address`.
    ///
    /// # Safety
    /// There must be one, valid for the whole run.
    #[inline(always)]
    #[must_use]
    pub unsafe fn at(address: u64) -> Self {
        // SAFETY: the block is valid, by this function's contract.
        let words = unsafe { Proven::trusted(address as *mut u32, Self::WORDS) };
        Self { words }
    }

    /// Address of the control block.
    #[inline(always)]
    #[must_use]
    pub fn address(self) -> u64 {
        self.words.address()
    }

    /// Clears the state of an earlier run, some words per lane. A block barrier follows before the
    /// next.
    #[inline(always)]
    pub fn clear<G: Grid>(self, grid: G) {
        let mut at = grid.lane();
        while at < Self::WORDS {
            self.words.store(grid, at, 0);
            at += grid.lanes();
        }
    }

    /// The code of the fault that ended the run.
    #[inline(always)]
    pub fn fault_code<G: Grid>(self, grid: G) -> u32 {
        self.words.load(grid, FAULT + word_of!(FaultRecord, code))
    }

    /// Words of the report of the fault that ended the run, padded with 0.
    #[cold]
    pub fn fault_words<G: Grid, const N: usize>(self, grid: G) -> [u32; N] {
        let mut words = [0; N];
        let fields = FAULT..FAULT + (size_of::<FaultRecord>() / 4) as u32;
        for (word, at) in words.iter_mut().zip(fields) {
            *word = self.words.load(grid, at);
        }
        words
    }

    /// Arrives at the grid barrier.
    #[inline(always)]
    pub fn arrive<G: Grid>(self, grid: G) {
        self.words.signal(grid, word_of!(ControlRecord, ticket));
    }

    /// Arrivals at the grid barrier so far.
    #[inline(always)]
    pub fn arrivals<G: Grid>(self, grid: G) -> u32 {
        self.words.poll(grid, word_of!(ControlRecord, ticket))
    }

    /// Records that this block gave up waiting after `epoch` complete barriers.
    #[cold]
    pub fn note_waited<G: Grid>(self, grid: G, epoch: u32) {
        let block = grid.block();
        if block >= BLOCKS_NAMED {
            return;
        }
        let set = if epoch & 1 == 0 {
            word_of!(ControlRecord, waited_even)
        } else {
            word_of!(ControlRecord, waited_odd)
        };
        self.words.or(grid, set + block / 32, 1 << (block % 32));
    }

    /// Whether some block reported a fault.
    #[inline(always)]
    pub fn is_stopped<G: Grid>(self, grid: G) -> bool {
        self.words.load(grid, FAULT) != 0
    }

    /// Reports a fault, unless one was reported before.
    #[cold]
    #[inline(never)]
    pub fn report<G: Grid>(self, grid: G, record: &FaultRecord) {
        if self.words.swap_if(grid, FAULT, 0, record.code) != 0 {
            return;
        }
        let rest = [
            record.wave,
            record.opcode,
            record.block,
            record.epoch,
            record.arrived,
            record.expected,
            record.iteration,
        ];
        for (at, word) in (FAULT + 1..).zip(rest) {
            self.words.store(grid, at, word);
        }
    }

    /// Reports `code` at `point` and stops.
    #[cold]
    pub fn fault<G: Grid>(self, grid: G, code: FaultCode, point: ProgramPoint) -> Stop {
        if grid.lane() == 0 {
            let (arrived, expected) = if matches!(code, FaultCode::BadIndex | FaultCode::NotANode) {
                missed(grid)
            } else {
                (0, grid.blocks())
            };
            self.report(
                grid,
                &FaultRecord {
                    code: code as u32,
                    wave: point.wave,
                    opcode: point.opcode,
                    block: grid.block(),
                    epoch: self.arrivals(grid).checked_div(grid.blocks()).unwrap_or(0),
                    arrived,
                    expected,
                    iteration: point.iteration,
                },
            );
        }
        Stop
    }

    /// Tag of the last change, read past every cache. One lane per block calls this.
    #[inline(always)]
    pub fn changed<G: Grid>(self, grid: G) -> u32 {
        self.words.load(grid, word_of!(ControlRecord, changed))
    }

    /// Tags the convergence flag with the number of the running iteration. The tag only grows:
    /// clearing it never races, and a slow block that is still in a wave before a loop does not
    /// undo a tag of the loop.
    #[inline(always)]
    pub fn raise_changed<G: Grid>(self, grid: G, tag: u32) {
        let at = word_of!(ControlRecord, changed);
        if self.words.load_weak(grid, at) < tag {
            self.words.max(grid, at, tag);
        }
    }

    /// Clears the convergence flag before a fixpoint.
    #[inline(always)]
    pub fn clear_changed<G: Grid>(self, grid: G) {
        self.words.store(grid, word_of!(ControlRecord, changed), 0);
    }

    /// Stores the wave that block 0 runs now.
    #[inline(always)]
    pub fn note_wave<G: Grid>(self, grid: G, wave: u32) {
        self.note_waves(grid, wave, 1);
    }

    /// Stores the last of `count` waves that run now.
    #[inline(always)]
    pub fn note_waves<G: Grid>(self, grid: G, wave: u32, count: u32) {
        self.words.store(grid, word_of!(ControlRecord, wave), wave);
        self.words
            .add(grid, word_of!(ControlRecord, waves_done), count);
    }

    /// The wave that [`Control::note_wave`] stored, for a report from within a wave. Other
    /// blocks may be in an earlier or a later one.
    #[cold]
    pub fn noted_point<G: Grid>(self, grid: G) -> ProgramPoint {
        ProgramPoint {
            wave: self.words.load(grid, word_of!(ControlRecord, wave)),
            opcode: 0,
            iteration: self.iteration(grid),
        }
    }

    /// Counts edges that a sequential algorithm visited.
    #[inline(always)]
    pub fn count_examined<G: Grid>(self, grid: G, edges: u64) {
        let at = word_of!(ControlRecord, examined);
        let low = self.words.add(grid, at, edges as u32);
        let carry = u32::from(low.checked_add(edges as u32).is_none());
        let high = ((edges >> 32) as u32).wrapping_add(carry);
        self.words.add(grid, at + 1, high);
    }

    /// Stores the iteration of the open fixpoint.
    #[inline(always)]
    pub fn set_iteration<G: Grid>(self, grid: G, iteration: u32) {
        self.words
            .store(grid, word_of!(ControlRecord, iteration), iteration);
    }

    /// The iteration of the open fixpoint, as of the launch.
    #[inline(always)]
    pub fn iteration<G: Grid>(self, grid: G) -> u32 {
        self.words
            .load_weak(grid, word_of!(ControlRecord, iteration))
    }

    /// Stores whether the open fixpoint continues.
    #[inline(always)]
    pub fn set_loop_state<G: Grid>(self, grid: G, state: LoopState) {
        self.words
            .store(grid, word_of!(ControlRecord, loop_state), state as u32);
    }

    /// Whether the open fixpoint continues.
    #[inline(always)]
    pub fn loop_runs<G: Grid>(self, grid: G) -> bool {
        self.words
            .load_weak(grid, word_of!(ControlRecord, loop_state))
            == LoopState::Running as u32
    }

    /// Counts a block that leaves the open launch and returns whether it was the last.
    #[inline(always)]
    pub fn leave<G: Grid>(self, grid: G) -> bool {
        let at = word_of!(ControlRecord, arrivals);
        let last = self.words.arrive(grid, at) + 1 == grid.blocks();
        if last {
            self.words.store(grid, at, 0);
        }
        last
    }

    /// Record of the open fixpoint, or the last record if there is no space for more.
    #[inline(always)]
    pub fn open_loop<G: Grid>(self, grid: G) -> LoopReport {
        let done = self.words.load(grid, word_of!(ControlRecord, loops_done));
        let slot = done.min(LOOPS_MAX as u32 - 1);
        LoopReport {
            words: self
                .words
                .part(u64::from(LOOPS + slot * LOOP_WORDS), LOOP_WORDS),
        }
    }

    /// Closes the open fixpoint's record.
    #[inline(always)]
    pub fn close_loop<G: Grid>(self, grid: G) {
        self.words.add(grid, word_of!(ControlRecord, loops_done), 1);
    }

    /// Fixpoints that ended so far.
    #[inline(always)]
    pub fn loops_done<G: Grid>(self, grid: G) -> u32 {
        self.words.load(grid, word_of!(ControlRecord, loops_done))
    }

    /// Resets the count to `done` ended fixpoints, and discards the reports of later ones.
    #[inline(always)]
    pub fn forget_loops<G: Grid>(self, grid: G, done: u32) {
        let first = done.min(LOOPS_MAX as u32 - 1) * LOOP_WORDS;
        for at in first..LOOPS_MAX as u32 * LOOP_WORDS {
            self.words.store(grid, LOOPS + at, 0);
        }
        self.words
            .store(grid, word_of!(ControlRecord, loops_done), done);
    }

    /// Iterations of the open loop on a register at `depth`, for executors that launch
    /// each group.
    #[inline(always)]
    pub fn rounds<G: Grid>(self, grid: G, depth: u32) -> u32 {
        self.words.load(grid, ROUNDS + depth.min(DEPTH_MAX))
    }

    /// Stores [`Control::rounds`].
    #[inline(always)]
    pub fn set_rounds<G: Grid>(self, grid: G, depth: u32, rounds: u32) {
        self.words
            .store(grid, ROUNDS + depth.min(DEPTH_MAX), rounds);
    }

    /// Stores the clock as the start of the run, unless a start is stored already.
    pub fn stamp_first<G: Grid>(self, grid: G) {
        if self.started_ns(grid) == 0 {
            self.stamp(grid, false);
        }
    }

    /// The clock at the start of the run, 0 before it was stored.
    pub fn started_ns<G: Grid>(self, grid: G) -> u64 {
        let at = word_of!(ControlRecord, started_ns);
        let [low, high] = [at, at + 1].map(|at| u64::from(self.words.load_weak(grid, at)));
        high << 32 | low
    }

    /// Stores the clock at the start (`at_end` false) or end of the run.
    pub fn stamp<G: Grid>(self, grid: G, at_end: bool) {
        let now = grid.now_ns();
        let at = if at_end {
            word_of!(ControlRecord, ended_ns)
        } else {
            word_of!(ControlRecord, started_ns)
        };
        self.words.store(grid, at, now as u32);
        self.words.store(grid, at + 1, (now >> 32) as u32);
    }
}

/// The counters of one fixpoint; written by one lane only.
#[derive(Clone, Copy, Debug)]
pub struct LoopReport {
    words: Proven,
}

impl LoopReport {
    /// Counts a step of the shape that the word `step` names; a word that names none counts
    /// as a compaction.
    #[inline(always)]
    pub fn count_step<G: Grid>(self, grid: G, step: u32) {
        self.count_steps(grid, step.min(Step::Compact as u32), 1);
    }

    /// Counts `count` steps of the shape that the word `step` names.
    #[inline(always)]
    pub fn count_steps<G: Grid>(self, grid: G, step: u32, count: u32) {
        let at = word_of!(LoopRecord, steps) + step;
        self.words.add(grid, at, count);
    }

    /// Counts grid barriers.
    #[inline(always)]
    pub fn count_barriers<G: Grid>(self, grid: G, barriers: u32) {
        self.words
            .add(grid, word_of!(LoopRecord, grid_barriers), barriers);
    }

    /// Counts iterations that one block ran alone.
    #[inline(always)]
    pub fn count_block_iterations<G: Grid>(self, grid: G, iterations: u32) {
        self.words
            .add(grid, word_of!(LoopRecord, block_iterations), iterations);
    }

    /// Stores how the loop ended.
    #[inline(always)]
    pub fn finish<G: Grid>(self, grid: G, end: LoopEnd) {
        self.words
            .store(grid, word_of!(LoopRecord, iterations), end.iterations);
        self.words.store(
            grid,
            word_of!(LoopRecord, converged),
            u32::from(end.converged),
        );
        self.words
            .store(grid, word_of!(LoopRecord, frontier_max), end.frontier_max);
    }
}

/// The end of a fixpoint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LoopEnd {
    /// Iterations that ran.
    pub iterations: u32,
    /// Whether the last one changed nothing.
    pub converged: bool,
    /// Largest frontier, nodes.
    pub frontier_max: u32,
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::machine::cpu::{HostGrid, Services};
    use crate::machine::dealer::Dealer;

    #[test]
    fn a_slow_wave_before_a_loop_takes_nothing_back() {
        let mut record: ControlRecord = bytemuck::Zeroable::zeroed();
        let services = Services {
            now_ns: || 0,
            yield_now: || {},
        };
        let dealer = &Dealer::new();
        // SAFETY: no shared memory is accessed through this view, and no work is taken.
        let grid = unsafe { HostGrid::new(0, 1, std::ptr::null_mut(), dealer, services) };
        // SAFETY: the record outlives its use here.
        let control = unsafe { Control::at(std::ptr::from_mut(&mut record) as u64) };
        control.raise_changed(grid, 0);
        assert_eq!(control.changed(grid), 0);
        control.raise_changed(grid, 5);
        control.raise_changed(grid, 4);
        assert_eq!(control.changed(grid), 5);
        control.raise_changed(grid, 6);
        assert_eq!(control.changed(grid), 6);
    }
}
