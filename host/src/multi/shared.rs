//! Analyses whose composed programs several devices share: each runs a part of the items.
//!
//! The program is that of any machine without lists and sequential methods. Its results are those of
//! one device; rounds of programs that read what is there now may be others.

use super::dealt::machine;
use super::programs::open_session;
use super::ranks::refuse_on_ranks;
use super::{Carrier, Devices};
use crate::analysis::End;
use crate::backend::cpu::stepped;
use crate::backend::{BackendError, Canceller, RunLimits, Session};
use crate::executor::Executor;
use crate::graph::Graph;
use crate::job::Job;
use crate::outcome::{Rounds, RunOutcome};
use crate::run::{Analyzer, Opener, RunError, RunRequest};

/// Runs a job on devices.
///
/// # Errors
/// As [`super::execute_with`].
pub(super) fn run(
    graph: &Graph,
    job: &mut Job<'_>,
    devices: &Devices,
    canceller: &Canceller,
) -> Result<(RunOutcome, End), RunError> {
    let (request, executor) = (request_of(job.request, devices), executor(devices));
    let on = request.machine;
    let open = move |form| open_session(form, &on, devices);
    run_by(graph, job, &request, (executor, Box::new(open)), canceller)
}

/// Runs a job on the ranks that `carrier` joins.
///
/// # Errors
/// As [`super::execute_on_ranks`].
pub(super) fn run_on_ranks(
    graph: &Graph,
    job: &mut Job<'_>,
    devices: &Devices,
    carrier: &mut dyn Carrier,
    canceller: &Canceller,
) -> Result<(RunOutcome, End), RunError> {
    let request = request_of(job.request, devices);
    let (on, threads) = (request.machine, devices.threads());
    let mut free = Some(carrier);
    let place = &mut free;
    let open = move |form| -> Result<Box<dyn Session + '_>, BackendError> {
        let session = stepped::open(form, 1, threads, RunLimits::of(&on), on.jit)?;
        Ok(Box::new(match place.take() {
            Some(carrier) => session.on_ranks(carrier, threads),
            None => session,
        }))
    };
    let opener = (Executor::Cpu, Box::new(open) as _);
    let found = run_by(graph, job, &request, opener, canceller);
    if let (Err(_), Some(carrier)) = (&found, free) {
        // The others wait for the program of this rank.
        refuse_on_ranks(carrier)?;
    }
    found
}

fn run_by<'g>(
    graph: &'g Graph,
    job: &mut Job<'_>,
    request: &RunRequest,
    opener: Opener<'g>,
    canceller: &Canceller,
) -> Result<(RunOutcome, End), RunError> {
    let mut analyzer = Analyzer::new(graph).on_devices(opener, canceller);
    let mut outcome = analyzer.run_with_progress(request, &mut |phase| job.phase(phase))?;
    if let Some(report) = &outcome.devices {
        let memory = &mut outcome.memory;
        memory.predicted_bytes = memory.predicted_bytes.saturating_mul(report.count.into());
        memory.allocated_bytes = report.memory_bytes.iter().sum();
    }
    let (Rounds::Levels(iterations) | Rounds::Iterations(iterations)) = outcome.rounds;
    let converged = outcome.converged;
    Ok((
        outcome,
        End {
            iterations,
            converged,
        },
    ))
}

/// The executor that launches the groups of a program.
const fn executor(devices: &Devices) -> Executor {
    match devices {
        Devices::Gpus(_) => Executor::Launches,
        Devices::Simulated { .. } => Executor::Cpu,
    }
}

/// The request for all devices, whose outcome is checked later.
fn request_of(request: &RunRequest, devices: &Devices) -> RunRequest {
    let mut on = machine(request.machine, devices, 0);
    on.executor = Some(executor(devices));
    RunRequest {
        machine: on,
        check: false,
        shared: true,
        ..request.clone()
    }
}

/// Why one device is the better choice.
pub(super) fn reason_for_one(devices: &Devices) -> Option<String> {
    let Devices::Gpus(_) = devices else {
        return None;
    };
    let reason = "one device is the better choice: the host launches each group of waves on several, and waits for it";
    Some(reason.to_owned())
}
