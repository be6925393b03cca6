//! Spans and events for subscribers of `tracing`: a span for each run, an event for each phase.
//!
//! Without a subscriber each costs a load and a branch.

use crate::Cause;
use crate::outcome::RunOutcome;
use crate::run::{Phase, RunError, RunRequest};
use std::fmt::Debug;

/// Target of the events, by which a subscriber filters.
const RUNS: &str = "seawall::run";

/// Milliseconds, to the microsecond.
pub(crate) fn ms(ns: u64) -> f64 {
    (ns / 1_000) as f64 / 1e3
}

/// Does `work` in the span of a run of `request` on `graph`, which is described by its nodes and
/// edges; `on` says where it is. The span ends with an event of the outcome.
pub(crate) fn run(
    on: &'static str,
    (nodes, edges): (u32, u64),
    request: &RunRequest,
    work: impl FnOnce() -> Result<RunOutcome, RunError>,
) -> Result<RunOutcome, RunError> {
    let analysis = request.analysis;
    let _entered = tracing::info_span!(target: RUNS, "run", %analysis, on, nodes, edges).entered();
    let outcome = work();
    match &outcome {
        Ok(outcome) => answered(outcome),
        Err(error) => failed(error, error.cause()),
    }
    outcome
}

fn answered(outcome: &RunOutcome) {
    let times = &outcome.times;
    tracing::info!(
        target: RUNS,
        backend = %outcome.backend,
        device = outcome.device,
        reason = outcome.backend_reason,
        reached = outcome.reached,
        upload_ms = ms(times.upload),
        plan_ms = ms(times.plan),
        run_ms = ms(times.run),
        readback_ms = ms(times.readback),
        checked = outcome.checked,
        "answered"
    );
}

/// Reports a failure: as an error unless the request is its cause.
pub(crate) fn failed(error: &dyn std::error::Error, cause: Cause) {
    match cause {
        Cause::Failure => tracing::error!(target: RUNS, %error, "failed"),
        _ => tracing::warn!(target: RUNS, %error, "refused"),
    }
}

/// Reports the start of a phase.
pub(crate) fn phase(phase: &impl Debug) {
    tracing::debug!(target: RUNS, ?phase, "begins");
}

/// Reports a step of a run that has ended.
pub(crate) fn step(name: &str, duration_ns: u64) {
    tracing::debug!(target: RUNS, name, ms = ms(duration_ns), "step");
}

/// The observer `progress`, which reports each phase also as an event.
pub(crate) fn phases<'p>(progress: &'p mut dyn FnMut(Phase)) -> impl FnMut(Phase) + 'p {
    move |at| {
        phase(&at);
        progress(at);
    }
}
