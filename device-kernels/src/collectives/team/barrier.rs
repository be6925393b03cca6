//! The barrier of a team, and its time budget.

use super::members::Team;
use crate::machine::Grid;
use crate::machine::shared::{BARRIERS_TRACED, EPOCH, STOPPED};
use crate::tables::control::{Control, ProgramPoint, Stop};
use crate::tables::trace::BlockTrace;
use seawall_core::abi::control::{FaultCode, FaultRecord};

/// Clock cycles between an arrival and the first poll. No barrier is shorter, and polls
/// in vain delay the arrivals that they wait for. Measured on an H200 with 132 blocks of
/// 256 lanes: a barrier takes 820 to 828 ns with 280 cycles. With up to 240, it depends
/// on where the ticket lies in memory: at some places, two barriers in three poll twice.
const FIRST_POLL_CYCLES: u32 = 280;

/// Polls by a waiting lane between two reads of the clock and the fault word. A CPU thread yields
/// its core between polls, and gets it back after all threads that wait for it: with thousands of
/// them, 1024 polls take seconds.
const fn polls_per_look<G: Grid>() -> u32 {
    if G::ITEMS == 1 { 1024 } else { 32 }
}

/// Rounds of a loop between two reads of the clock: `on_a_gpu` there, 1 on a CPU, where a round of
/// a large graph takes long and a read some 30 ns.
pub const fn rounds_per_poll<G: Grid>(on_a_gpu: u32) -> u32 {
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

    /// Whether the run is to end: its time is over, which this then reports, or it was stopped.
    /// Only the first block reads this; the others find the report at their next barrier. A block
    /// operation.
    #[inline(always)]
    pub fn is_out_of_time(&self, point: impl Fn() -> ProgramPoint) -> bool {
        let late = self.is_leader() && self.is_late();
        if late {
            self.control
                .fault(self.grid, FaultCode::TimeBudget, point());
        }
        let stopped = self.is_leader() && self.control.is_stopped(self.grid);
        self.grid.block_any(stopped)
    }

    /// Whether a block left a wave undone, after a barrier of one-lane blocks. On a GPU blocks
    /// finish their waves, and polling blocks find the reason.
    #[inline(always)]
    fn was_left(&self) -> bool {
        G::ITEMS != 1 && self.control.is_stopped(self.grid)
    }

    /// Waits for all lanes of the team and orders their memory accesses.
    ///
    /// # Errors
    /// If a block reported a fault, or the time budget ended first; `point` then says
    /// where blocks are missing.
    #[inline(always)]
    pub fn barrier(&self, point: impl Fn() -> ProgramPoint) -> Result<(), Stop> {
        if self.size == 1 {
            self.grid.block_barrier();
            // Others read the clock while they poll; a single thread never polls.
            let looks = rounds_per_poll::<G>(0) == 1;
            return if looks && self.is_out_of_time(point) {
                Err(Stop)
            } else {
                Ok(())
            };
        }
        self.barrier_and(point, || {})
    }

    /// [`Team::barrier`]; when all blocks have arrived, the first lane of each calls `decide`
    /// before the other lanes continue.
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
            if (self.size == 1 || self.meet(point)) && !self.was_left() {
                decide();
            } else {
                STOPPED.store(self.grid, 1);
            }
        }
        self.grid.block_barrier();
        if self.size == 1 && G::ITEMS == 1 {
            return Ok(());
        }
        // Uses a word instead of a vote: a barrier that counts costs about 8 ns per warp on an
        // H200.
        if STOPPED.load(self.grid) != 0 {
            Err(Stop)
        } else {
            Ok(())
        }
    }

    /// Synchronises with the first lanes of the other blocks; `false` ends the run.
    ///
    /// The ticket only grows, so no block can mistake one barrier for the next. The
    /// comparison is by wrapping distance, so the ticket may overflow.
    #[inline(always)]
    fn meet(&self, point: impl Fn() -> ProgramPoint) -> bool {
        self.control.arrive(self.grid);
        let met = self.barriers().wrapping_add(1);
        EPOCH.store(self.grid, met);
        let target = met.wrapping_mul(self.size);
        // Read while others arrive, so that it costs a run without a trace nothing.
        let is_traced = BARRIERS_TRACED.load_wide(self.grid) != 0;
        if is_traced {
            let point = point();
            note_arrival(self.grid, met, point.wave, point.iteration);
        }
        self.grid.delay(FIRST_POLL_CYCLES);
        let mut polls = 0_u32;
        loop {
            let arrivals = self.control.arrivals(self.grid);
            if arrivals.wrapping_sub(target) as i32 >= 0 {
                if is_traced {
                    note_departure(self.grid, met);
                }
                return true;
            }
            polls = polls.wrapping_add(1);
            self.grid.pause(polls);
            if !polls.is_multiple_of(polls_per_look::<G>()) {
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

/// Notes in the trace that this block arrived at barrier `met` of the grid, counted from 1.
#[cold]
#[inline(never)]
fn note_arrival<G: Grid>(grid: G, met: u32, wave: u32, iteration: u32) {
    if let Some(trace) = BlockTrace::held(grid) {
        trace.arrive(grid, met, wave, iteration);
    }
}

/// Notes in the trace that this block left barrier `met`.
#[cold]
#[inline(never)]
fn note_departure<G: Grid>(grid: G, met: u32) {
    if let Some(trace) = BlockTrace::held(grid) {
        trace.leave(grid, met);
    }
}

/// Whether to stop waiting for `target` arrivals: a block reported a fault, or the time is over,
/// which this reports. A block that stops names itself, so that the host finds out which blocks
/// were missing. None is missing if all have arrived since the last poll: the caller finds that at
/// its next one, and the report always counts fewer arrivals than blocks.
///
/// Codegen rule `BY_VALUE`: with references, every lane would write to local memory on
/// the way to every barrier.
#[inline(never)]
fn must_stop<G: Grid>(
    grid: G,
    control: Control,
    deadline_ns: u64,
    target: u32,
    wave: u32,
    opcode: u32,
    iteration: u32,
) -> bool {
    let is_stopped = control.is_stopped(grid);
    if !is_stopped && grid.now_ns() < deadline_ns {
        return false;
    }
    let blocks = grid.blocks();
    let before = target.wrapping_sub(blocks);
    let arrived = control.arrivals(grid).wrapping_sub(before);
    if arrived >= blocks {
        return false;
    }
    let epoch = before.checked_div(blocks).unwrap_or(0);
    control.note_waited(grid, epoch);
    if is_stopped {
        return true;
    }
    control.report(
        grid,
        &FaultRecord {
            code: FaultCode::Watchdog as u32,
            wave,
            opcode,
            block: grid.block(),
            epoch,
            arrived,
            expected: blocks,
            iteration,
        },
    );
    true
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::machine::cpu::{HostGrid, Services};
    use crate::machine::dealer::Dealer;
    use seawall_core::abi::control::ControlRecord;

    /// The leader's verdict at time `now_ns` of a budget that ends at 100, and the fault
    /// afterwards, of a run whose fault word is `fault`.
    fn look(now_ns: fn() -> u64, fault: u32) -> (bool, u32) {
        let mut record: ControlRecord = bytemuck::Zeroable::zeroed();
        record.fault.code = fault;
        let dealer = &Dealer::new();
        let services = Services {
            now_ns,
            yield_now: || {},
        };
        // SAFETY: no shared memory is accessed through this view, and no work is taken.
        let grid = unsafe { HostGrid::new(0, 1, std::ptr::null_mut(), dealer, services) };
        // SAFETY: the record outlives its use here.
        let control = unsafe { Control::at(std::ptr::from_mut(&mut record) as u64) };
        let ends = Team::again(grid, control, 100).is_out_of_time(ProgramPoint::default);
        (ends, record.fault.code)
    }

    /// Whether a block of two that waits for the first barrier stops after its time, where `ticket`
    /// arrivals were counted by then, and the report.
    fn waits_in_vain(ticket: u32, fault: u32) -> (bool, FaultRecord) {
        let mut record: ControlRecord = bytemuck::Zeroable::zeroed();
        record.ticket = ticket;
        record.fault.code = fault;
        let dealer = &Dealer::new();
        let services = Services {
            now_ns: || 100,
            yield_now: || {},
        };
        // SAFETY: no shared memory is accessed through this view, and no work is taken.
        let grid = unsafe { HostGrid::new(0, 2, std::ptr::null_mut(), dealer, services) };
        // SAFETY: the record outlives its use here.
        let control = unsafe { Control::at(std::ptr::from_mut(&mut record) as u64) };
        let stops = must_stop(grid, control, 100, 2, 7, 8, 9);
        (stops, record.fault)
    }

    #[test]
    fn a_report_of_a_barrier_counts_fewer_arrivals_than_blocks() {
        let (stops, report) = waits_in_vain(1, 0);
        assert!(stops);
        let expected = (FaultCode::Watchdog as u32, 1, 2);
        assert_eq!((report.code, report.arrived, report.expected), expected);
        // The other block arrived meanwhile, and may be at the next barrier already.
        for ticket in [2, 3] {
            for fault in [0, FaultCode::BadIndex as u32] {
                let (stops, report) = waits_in_vain(ticket, fault);
                assert_eq!((stops, report.code), (false, fault), "{ticket}");
            }
        }
    }

    #[test]
    fn threads_whose_time_ends_at_any_barrier_report_what_is_true() {
        const THREADS: u32 = 3;
        const RUNS: u64 = 300;
        let began = std::time::Instant::now();
        static CLOCK: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
        let _ = CLOCK.set(began);
        let now_ns = || {
            CLOCK
                .get()
                .map_or(0, |began| began.elapsed().as_nanos() as u64)
        };
        let mut reports = 0;
        for run in 0..RUNS {
            let mut record: ControlRecord = bytemuck::Zeroable::zeroed();
            let address = std::ptr::from_mut(&mut record) as u64;
            let dealer = &Dealer::new();
            let services = Services {
                now_ns,
                yield_now: std::thread::yield_now,
            };
            let deadline_ns = now_ns() + 20_000 + run * 1_000;
            std::thread::scope(|scope| {
                for thread in 0..THREADS {
                    scope.spawn(move || {
                        let mut shared = std::vec![0_u32; crate::machine::SHARED_WORDS];
                        let own = shared.as_mut_ptr();
                        // SAFETY: the words are this thread's own, and all threads have the dealer.
                        let grid = unsafe { HostGrid::new(thread, THREADS, own, dealer, services) };
                        // SAFETY: the record outlives the threads, which reach it atomically.
                        let control = unsafe { Control::at(address) };
                        let team = Team::whole(grid, control, deadline_ns);
                        while team.barrier(ProgramPoint::default).is_ok() {
                            if thread == 0 && !team.is_late() {
                                std::thread::yield_now();
                            }
                        }
                    });
                }
            });
            let FaultRecord {
                code,
                arrived,
                expected,
                ..
            } = record.fault;
            if code == FaultCode::Watchdog as u32 {
                reports += 1;
                assert!((1..expected).contains(&arrived), "{arrived} of {expected}");
            }
        }
        assert!(reports > 0, "no run ended while it waited");
    }

    #[test]
    fn a_run_ends_when_its_time_is_over_or_somebody_stopped_it() {
        let (budget, given_up) = (FaultCode::TimeBudget as u32, FaultCode::GivenUp as u32);
        assert_eq!(look(|| 99, 0), (false, 0));
        assert_eq!(look(|| 100, 0), (true, budget));
        assert_eq!(look(|| 99, given_up), (true, given_up));
        assert_eq!(look(|| 100, given_up), (true, given_up));
    }
}
