//! Analyses whose composed programs several devices share: each runs a part of the items.
//!
//! The program is that of any machine without lists and sequential methods. Its results are those of
//! one device; rounds of programs that read what is there now may be others.

use super::dealt::machine;
use super::programs::{open_on_ranks, open_session};
use super::ranks::refuse_on_ranks;
use super::{Carrier, Devices};
use crate::analysis::End;
use crate::backend::Canceller;
use crate::executor::Executor;
use crate::graph::Graph;
use crate::job::Job;
use crate::outcome::RunOutcome;
use crate::run::{Analyzer, RunError, RunRequest};

/// Runs a job on devices, or on the ranks that `carrier` joins.
///
/// # Errors
/// As [`super::execute_with`] and [`super::execute_on_ranks`].
pub(super) fn run(
    graph: &Graph,
    job: &mut Job<'_>,
    devices: &Devices,
    mut carrier: Option<&mut dyn Carrier>,
    canceller: &Canceller,
) -> Result<(RunOutcome, End), RunError> {
    // The executor that launches the groups of a program.
    let executor = match devices {
        Devices::Gpus(_) => Executor::Launches,
        Devices::Simulated { .. } => Executor::Cpu,
    };
    let mut on = machine(job.request.machine, devices, 0);
    on.executor = Some(executor);
    let request = RunRequest {
        machine: on,
        // The outcome of all devices is checked later.
        check: false,
        shared: true,
        ..job.request.clone()
    };
    let place = &mut carrier;
    let open = move |form| match place.take() {
        Some(carrier) => open_on_ranks(form, &on, carrier, devices.threads()),
        None => open_session(form, &on, devices),
    };
    let mut analyzer = Analyzer::new(graph).on_devices((executor, Box::new(open)), canceller);
    let outcome = analyzer.run_with_progress(&request, &mut |phase| job.phase(phase));
    drop(analyzer);
    if let (Err(_), Some(carrier)) = (&outcome, carrier) {
        // The others wait for the program of this rank.
        refuse_on_ranks(carrier)?;
    }
    let mut outcome = outcome?;
    if let Some(report) = &outcome.devices {
        let memory = &mut outcome.memory;
        memory.predicted_bytes = memory.predicted_bytes.saturating_mul(report.count.into());
        memory.allocated_bytes = report.memory_bytes.iter().sum();
    }
    let end = End::of(&outcome);
    Ok((outcome, end))
}

/// Why one device is the better choice.
pub(super) fn reason_for_one(devices: &Devices) -> Option<String> {
    let Devices::Gpus(_) = devices else {
        return None;
    };
    let reason = "one device is the better choice: the host launches each group of waves on several, and waits for it";
    Some(reason.to_owned())
}
