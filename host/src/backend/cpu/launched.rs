//! Launches of a host loop on the CPU: one kernel at a time, by the same functions as a whole program.

use super::{Loaded, RunLimits, SERVICES, Tier};
use crate::backend::walk::{Kernel, LoopStage};
use crate::backend::{BackendError, Canceller, NamedWaves, fault, host_fault};
use crate::own::Walkers;
use seawall_core::abi::control::LoopState;
use seawall_core::abi::program::LaunchRecord;
use seawall_device::machine::SHARED_WORDS;
use seawall_device::machine::cpu::HostGrid;
use seawall_device::machine::dealer::Dealer;
use seawall_device::scheduler::{again, begin_loop};
use seawall_device::tables::launch::Launch;
use std::time::{Duration, Instant};

impl Kernel {
    /// The blocks of a launch on `threads` threads.
    pub(super) const fn blocks(self, threads: u32) -> u32 {
        match self {
            Self::Begin(_) | Self::Again(_) => 1,
            Self::Group(_) | Self::Body(_) => threads,
        }
    }

    /// Runs one block of the launch: `place` is its number and that of all blocks.
    pub(super) fn run(
        self,
        record: &LaunchRecord,
        (walk, code): (Walkers, Option<&Tier>),
        place: [u32; 2],
        dealer: &Dealer,
    ) {
        let mut shared = vec![0_u32; SHARED_WORDS];
        // SAFETY: `shared` belongs to this thread, has the length that the grid states, and outlives
        // the call; so does the dealer, which only the threads of this launch use.
        let grid =
            unsafe { HostGrid::new(place[0], place[1], shared.as_mut_ptr(), dealer, SERVICES) };
        let code = code.map_or(std::ptr::null(), Tier::waves);
        // SAFETY: the tier outlives this call, and its code is for the tables of the launch and for
        // the threads of the device.
        let grid = unsafe { grid.with_compiled(code) };
        // SAFETY: the record was filled from live, exclusively borrowed memory of the stated lengths,
        // which outlives the threads.
        let launch = unsafe { Launch::new(record) };
        // A launch that stops early leaves its reason in the control block.
        let _ = match self {
            Self::Group(group) => (walk.group)(grid, launch, group),
            Self::Begin(wave) => begin_loop(grid, launch, wave),
            Self::Body(body) => (walk.body)(grid, launch, body),
            Self::Again(wave) => again(grid, launch, wave),
        };
    }
}

impl Loaded {
    /// Turns the fault of the last launch into an error, and ends a cancelled run.
    pub(super) fn settle(&self, canceller: &Canceller) -> Result<(), BackendError> {
        canceller.settle()?;
        match self.control.fault.code {
            0 => Ok(()),
            _ => Err(fault(&NamedWaves::of(&self.program), &self.control)),
        }
    }

    /// Whether another iteration of the open loop follows in a run that began at `started`.
    pub(super) fn goes_on(
        &self,
        stage: &LoopStage,
        started: Instant,
        limits: RunLimits,
    ) -> Result<bool, BackendError> {
        if self.control.loop_state != LoopState::Running as u32 {
            return Ok(false);
        }
        if started.elapsed() > Duration::from_nanos(limits.time_budget_ns) {
            let record = stage.out_of_time(self.control.iteration);
            return Err(host_fault(&NamedWaves::of(&self.program), record));
        }
        Ok(true)
    }
}
