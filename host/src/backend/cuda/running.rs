//! A run in progress: the part that executors share.
//!
//! It times the host's own watchdog. The kernel's time budget should end every run; the host waits
//! for a grace period longer and then abandons the device instead of hanging with it.

use super::abort::Watch;
use super::baseline::Copies;
use super::loaded::{Loaded, STATE_BYTES, STATE_OFFSET};
use super::marks::Marks;
use super::stream::{Event, Stream};
use crate::backend::walk::LoopStage;
use crate::backend::{BackendError, HostWork, Trace};
use seawall_core::abi::control::LoopState;
use std::time::{Duration, Instant};

/// Time that the host waits beyond the kernel's time budget.
const GRACE: Duration = Duration::from_secs(5);

/// A run in progress.
#[derive(Debug)]
pub(super) struct Running<'a> {
    stream: &'a Stream,
    program: &'a Loaded,
    started: Instant,
    budget: Duration,
    host: HostWork,
    before_region: Option<HostWork>,
    copies: Option<&'a Copies>,
    marks: Option<Marks>,
    watch: Watch<'a>,
}

impl<'a> Running<'a> {
    /// Starts a run of `program` now, which `watch` may end.
    pub(super) fn new(
        stream: &'a Stream,
        program: &'a Loaded,
        (time_budget_ns, watch): (u64, Watch<'a>),
    ) -> Self {
        Self {
            watch,
            stream,
            program,
            started: Instant::now(),
            budget: Duration::from_nanos(time_budget_ns),
            host: HostWork::default(),
            before_region: None,
            copies: None,
            marks: None,
        }
    }

    /// Makes the host copy before and after every wave.
    pub(super) fn with_copies(self, copies: Option<&'a Copies>) -> Self {
        Self { copies, ..self }
    }

    /// Marks the start of each group in the stream, if `marks`.
    pub(super) fn with_marks(self, marks: bool) -> Self {
        let marks = marks.then(Marks::default);
        Self { marks, ..self }
    }

    /// Marks the start of a group, if that was requested.
    pub(super) fn begin_group(&mut self, group: u32) -> Result<(), BackendError> {
        match &mut self.marks {
            Some(marks) => marks.begin(self.stream, group),
            None => Ok(()),
        }
    }

    /// Returns the times of the groups of a run from `start` to `end` that has ended, if they were
    /// marked.
    pub(super) fn trace(&self, [start, end]: &[Event; 2]) -> Result<Option<Trace>, BackendError> {
        let marks = self.marks.as_ref();
        marks.map(|marks| marks.trace((start, end))).transpose()
    }

    /// Stream of the run.
    pub(super) const fn stream(&self) -> &'a Stream {
        self.stream
    }

    /// The program that runs.
    pub(super) const fn program(&self) -> &'a Loaded {
        self.program
    }

    /// Work of the host so far.
    pub(super) const fn host(&self) -> HostWork {
        self.host
    }

    /// Counts a copy to the device.
    pub(super) const fn uploaded(&mut self) {
        self.host.uploads = self.host.uploads.saturating_add(1);
    }

    /// Work of the host since its first launch.
    pub(super) fn region(&self) -> HostWork {
        self.before_region
            .map_or_else(HostWork::default, |before| self.host.since(before))
    }

    /// Uploads the graph, if the host does so before every wave.
    pub(super) fn begin_wave(&mut self) -> Result<(), BackendError> {
        if let Some(copies) = self.copies {
            let uploads = copies.upload(self.stream)?;
            self.host.uploads = self.host.uploads.saturating_add(uploads);
        }
        Ok(())
    }

    /// Reads the program's memory back, if the host does so after every wave.
    pub(super) fn end_wave(&mut self) -> Result<(), BackendError> {
        let Some(copies) = self.copies else {
            return Ok(());
        };
        copies.read_back(self.stream)?;
        self.wait()
    }

    /// Counts launches.
    pub(super) fn launched(&mut self, launches: u64) {
        self.before_region.get_or_insert(self.host);
        self.host.launches = self.host.launches.saturating_add(launches);
    }

    /// Waits for everything queued, no longer than budget and grace allow.
    pub(super) fn wait(&mut self) -> Result<(), BackendError> {
        self.host.host_synchronisations = self.host.host_synchronisations.saturating_add(1);
        let limit = self
            .budget
            .saturating_sub(self.started.elapsed())
            .saturating_add(GRACE);
        let look = || self.watch.look(&[self.program.fault_words()]);
        self.stream
            .wait_beside("waiting for the run to end", limit, look)
    }

    /// Queues the copy of the loop's state.
    pub(super) fn queue_state(stream: &Stream, program: &Loaded) -> Result<(), BackendError> {
        let source = program.control_address() + STATE_OFFSET;
        // SAFETY: the control block and the pinned words belong to `program`,
        // which outlives the run; `ends` waits before it reads.
        unsafe { stream.copy_out(&program.state, source, STATE_BYTES) }
    }

    /// Waits for the queued copy of the loop's state; returns whether the loop is over.
    ///
    /// # Errors
    /// [`BackendError::Fault`] with [`FaultCode::TimeBudget`] if the loop still runs after the
    /// time budget: no single launch took too long, but all of them together did;
    /// [`BackendError::Cancelled`] if it is to end.
    pub(super) fn ends(&mut self, stage: &LoopStage) -> Result<bool, BackendError> {
        self.wait()?;
        // SAFETY: the wait above ended every copy.
        let state = State::read(unsafe { self.program.state.as_slice() });
        if state.is_over() {
            return Ok(true);
        }
        if self.watch.is_cancelled() {
            return Err(BackendError::Cancelled);
        }
        if self.started.elapsed() > self.budget {
            return Err(self.program.host_fault(stage.out_of_time(state.iteration)));
        }
        Ok(false)
    }
}

/// Content of the state words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct State {
    fault: u32,
    iteration: u32,
    loop_state: u32,
}

impl State {
    /// Reads the words copied by [`Running::queue_state`].
    fn read(bytes: &[u8]) -> Self {
        let word = |at: usize| {
            let bytes = bytes
                .get(at..at + 4)
                .and_then(|bytes| bytes.try_into().ok());
            bytes.map_or(u32::MAX, u32::from_ne_bytes)
        };
        Self {
            fault: word(0),
            iteration: word(FAULT_TO_ITERATION),
            loop_state: word(STATE_BYTES - 4),
        }
    }

    /// Returns whether the loop has ended, by itself or by a fault.
    const fn is_over(self) -> bool {
        self.fault != 0 || self.loop_state != LoopState::Running as u32
    }
}

/// Bytes from the fault record to the iteration's number.
const FAULT_TO_ITERATION: usize = {
    use seawall_core::abi::control::ControlRecord;
    std::mem::offset_of!(ControlRecord, iteration) - std::mem::offset_of!(ControlRecord, fault)
};

#[cfg(test)]
mod tests {
    use super::*;
    use bytemuck::Zeroable;
    use seawall_core::abi::control::{ControlRecord, FaultCode};

    fn state_of(control: &ControlRecord) -> State {
        let start = STATE_OFFSET as usize;
        State::read(&bytemuck::bytes_of(control)[start..start + STATE_BYTES])
    }

    #[test]
    fn a_loop_runs_until_its_state_or_a_fault_ends_it() {
        let mut control = ControlRecord::zeroed();
        control.iteration = 7;
        assert_eq!(
            state_of(&control),
            State {
                fault: 0,
                iteration: 7,
                loop_state: 0
            }
        );
        assert!(!state_of(&control).is_over());
        control.loop_state = LoopState::Exhausted as u32;
        assert!(state_of(&control).is_over());
        control.loop_state = LoopState::Running as u32;
        control.fault.code = FaultCode::Watchdog as u32;
        assert!(state_of(&control).is_over());
    }
}
