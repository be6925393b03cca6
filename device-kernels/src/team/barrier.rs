//! The barrier of a team, and its time budget.

use super::members::Team;
use crate::block::shared::{EPOCH, STOPPED};
use crate::control::{Control, ProgramPoint, Stop};
use crate::grid::Grid;
use seawall_core::abi::control::{FaultCode, FaultRecord};

/// Clock cycles between an arrival and the first poll. Nobody can have met
/// earlier, and polls in vain delay the arrivals that they wait for: measured on
/// an H200 with 132 blocks of 256 lanes, a barrier takes 820 to 828 ns with 280
/// cycles. With up to 240 it depends on where the ticket lies in memory: at some
/// places two barriers in three poll twice.
const FIRST_POLL_CYCLES: u32 = 280;

/// Polls of a waiting lane between two looks at the clock and the fault word.
const POLLS_PER_LOOK: u32 = 1024;

/// Rounds of a loop between two looks at the clock: `on_a_gpu` there, where a loop whose
/// barriers are short would otherwise never find out that its time is over. A CPU looks
/// each round, as a round of a large graph takes long and a look some 30 ns.
pub const fn rounds_per_look<G: Grid>(on_a_gpu: u32) -> u32 {
    if G::ITEMS == 1 { on_a_gpu } else { 1 }
}

impl<G: Grid> Team<G> {
    /// Whether the run's time is over.
    #[inline(always)]
    pub fn is_late(&self) -> bool {
        self.grid.now_ns() >= self.deadline_ns
    }

    /// Whether the run's time has been over for a second.
    #[inline(always)]
    pub fn is_overdue(&self) -> bool {
        self.grid.now_ns() >= self.deadline_ns.saturating_add(1_000_000_000)
    }

    /// Reports the end of the time budget when it is over, and tells so to
    /// this block. Only the first block looks at the clock; the others find
    /// its report at their next barrier. All lanes of the block take part.
    #[inline(always)]
    pub fn is_out_of_time(&self, point: impl Fn() -> ProgramPoint) -> bool {
        let late = self.is_leader() && self.is_late();
        if late {
            self.control
                .fault(self.grid, FaultCode::TimeBudget, point());
        }
        self.grid.block_any(late)
    }

    /// Waits for all lanes of the team and orders their memory accesses.
    ///
    /// # Errors
    /// When a block reported a fault, or the time budget ended first; `point` then
    /// says where nobody came from.
    #[inline(always)]
    pub fn barrier(&self, point: impl Fn() -> ProgramPoint) -> Result<(), Stop> {
        if self.size == 1 {
            self.grid.block_barrier();
            // A thread that is alone polls for nobody, which is when others look.
            let looks = rounds_per_look::<G>(0) == 1;
            return if looks && self.is_out_of_time(point) {
                Err(Stop)
            } else {
                Ok(())
            };
        }
        self.barrier_and(point, || {})
    }

    /// [`Team::barrier`]; the first lane of each block calls `decide` when all
    /// blocks have met, before the other lanes go on.
    ///
    /// # Errors
    /// As [`Team::barrier`].
    #[inline(always)]
    pub fn barrier_and(
        &self,
        point: impl Fn() -> ProgramPoint,
        decide: impl FnOnce(),
    ) -> Result<(), Stop> {
        self.grid.block_barrier();
        if self.grid.lane() == 0 {
            if self.size == 1 || self.meet(point) {
                decide();
            } else {
                // SAFETY: a fixed word of shared memory.
                unsafe { self.grid.shared_store(STOPPED, 1) };
            }
        }
        self.grid.block_barrier();
        if self.size == 1 {
            return Ok(());
        }
        // Told by a word and not by a vote: a barrier that counts costs about 8 ns
        // a warp on an H200.
        // SAFETY: a fixed word of shared memory.
        if unsafe { self.grid.shared_load(STOPPED) } != 0 {
            Err(Stop)
        } else {
            Ok(())
        }
    }

    /// Meets the first lanes of the other blocks; false ends the run.
    ///
    /// The ticket only grows, so that no block can mistake one barrier for
    /// the next; the comparison is by wrapping distance, so it may overflow.
    #[inline(always)]
    fn meet(&self, point: impl Fn() -> ProgramPoint) -> bool {
        self.control.arrive(self.grid);
        let met = self.barriers().wrapping_add(1);
        // SAFETY: a fixed word of shared memory.
        unsafe { self.grid.shared_store(EPOCH, met) };
        let target = met.wrapping_mul(self.size);
        self.grid.delay(FIRST_POLL_CYCLES);
        let mut polls = 0_u32;
        loop {
            let arrivals = self.control.arrivals(self.grid);
            if arrivals.wrapping_sub(target) as i32 >= 0 {
                return true;
            }
            polls = polls.wrapping_add(1);
            self.grid.pause(polls);
            if !polls.is_multiple_of(POLLS_PER_LOOK) {
                continue;
            }
            let point = point();
            if must_stop(
                self.grid,
                self.control,
                self.deadline_ns,
                target,
                point.wave,
                point.opcode,
                point.iteration,
            ) {
                return false;
            }
        }
    }
}

/// Whether to stop waiting for `target` arrivals: some block reported a fault,
/// or the time is over, which this reports itself.
///
/// Takes words and no references: what a call takes by reference every lane
/// would write to its local memory on the way to every barrier (with 1024 lanes a
/// barrier took 1.26 to 1.30 us that way on an H200, 0.95 without).
#[inline(never)]
#[expect(clippy::too_many_arguments, reason = "see above")]
fn must_stop<G: Grid>(
    grid: G,
    control: Control,
    deadline_ns: u64,
    target: u32,
    wave: u32,
    opcode: u32,
    iteration: u32,
) -> bool {
    if control.is_stopped(grid) {
        return true;
    }
    if grid.now_ns() < deadline_ns {
        return false;
    }
    let blocks = grid.blocks();
    let before = target.wrapping_sub(blocks);
    control.report(
        grid,
        &FaultRecord {
            code: FaultCode::Watchdog as u32,
            wave,
            opcode,
            block: grid.block(),
            epoch: before.checked_div(blocks).unwrap_or(0),
            arrived: control.arrivals(grid).wrapping_sub(before),
            expected: blocks,
            iteration,
        },
    );
    true
}
