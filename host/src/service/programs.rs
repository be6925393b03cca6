//! The service's wave programs, as one worker runs them.

use super::Shared;
use super::deadline::Deadline;
use super::reply::ProgramFault;
use crate::backend::cpu::CpuSession;
use crate::backend::{BackendError, RunLimits, Session};
use seawall_core::abi::ring::FaultCode;
use seawall_core::protocol::Outcome;
use std::num::NonZeroUsize;

/// A worker's sessions, opened at their first use: each has its own arena, so that workers can run
/// the same program at the same time.
pub(super) struct Programs<'s> {
    shared: &'s Shared,
    sessions: Vec<Option<CpuSession<'s>>>,
    words: Vec<u32>,
}

impl<'s> Programs<'s> {
    pub(super) fn new(shared: &'s Shared) -> Self {
        Self {
            shared,
            sessions: shared.programs.iter().map(|_| None).collect(),
            words: Vec::new(),
        }
    }

    /// Runs a program on this thread alone; returns the words of its result.
    pub(super) fn run(
        &mut self,
        number: u32,
        inputs: &[u32],
        deadline: &Deadline<'_>,
    ) -> Result<&[u32], Outcome> {
        let at = number as usize;
        let unknown = Outcome::fault(FaultCode::NoSuchProgram, number);
        let program = self.shared.programs.get(at).ok_or(unknown)?;
        let place = self.sessions.get_mut(at).ok_or(unknown)?;
        if place.is_none() {
            let one = Some(NonZeroUsize::MIN);
            let session = CpuSession::open(&self.shared.graph, one, RunLimits::default());
            let session = session.map_err(|error| outcome_of(number, &error))?;
            let mut session = session.with_jit(self.shared.jit);
            let loaded = session.load(&program.program);
            loaded.map_err(|error| outcome_of(number, &error))?;
            session.share_code(self.shared.codes.get(at).ok_or(unknown)?);
            *place = Some(session);
        }
        let session = place.as_mut().ok_or(unknown)?;
        let left = deadline.left().as_nanos();
        session.set_limits(RunLimits {
            time_budget_ns: u64::try_from(left).unwrap_or(u64::MAX),
        });
        let run = session.run(inputs).map(drop);
        let read = run.and_then(|()| session.read(program.result, &mut self.words));
        read.map_err(|error| outcome_of(number, &error))?;
        Ok(&self.words)
    }
}

/// End of a slot for an error of the session of program `number`.
fn outcome_of(number: u32, error: &BackendError) -> Outcome {
    match error {
        BackendError::Fault { record, .. } => {
            Outcome::Stopped(ProgramFault::words(number, *record))
        }
        BackendError::InputLength { given, .. } => {
            let given = u32::try_from(*given).unwrap_or(u32::MAX);
            Outcome::fault(FaultCode::BadArgument, given)
        }
        _ => Outcome::fault(FaultCode::Machine, 0),
    }
}
