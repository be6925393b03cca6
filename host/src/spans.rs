//! Spans and events for subscribers of `tracing`: a span for each run, an event for each phase.
//!
//! Without a subscriber each costs a load and a branch.

use crate::Cause;
use crate::batch::{BatchError, BatchOutcome};
use crate::graph::Graph;
use crate::outcome::RunOutcome;
use crate::run::{Phase, RunError, RunRequest};
use std::fmt::Display;
use tracing::Span;

/// Target of the events, by which a subscriber filters.
const RUNS: &str = "seawall::run";

const BATCHES: &str = "seawall::batch::execute";

/// Milliseconds, to the microsecond.
pub(crate) fn ms(ns: u64) -> f64 {
    (ns / 1_000) as f64 / 1e3
}

pub(crate) fn run(on: &'static str, graph: &Graph, request: &RunRequest) -> Span {
    run_of(on, graph.nodes(), u64::from(graph.edges()), request)
}

/// As [`run`], on a graph of that size.
pub(crate) fn run_of(on: &'static str, nodes: u32, edges: u64, request: &RunRequest) -> Span {
    let analysis = request.analysis;
    tracing::info_span!(target: RUNS, "run", %analysis, on, nodes, edges)
}

pub(crate) fn batch(graphs: usize, request: &RunRequest) -> Span {
    let analysis = request.analysis;
    tracing::info_span!(target: BATCHES, "batch", %analysis, graphs)
}

pub(crate) trait Ended {
    fn log(&self);
}

impl Ended for Result<RunOutcome, RunError> {
    fn log(&self) {
        let outcome = match self {
            Ok(outcome) => outcome,
            Err(error) => return failed(error, error.cause()),
        };
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
}

impl Ended for Result<BatchOutcome, BatchError> {
    fn log(&self) {
        match self {
            Ok(outcome) => tracing::info!(
                target: BATCHES,
                backend = %outcome.backend,
                device = outcome.device,
                reason = outcome.backend_reason,
                run_ms = ms(outcome.times.run),
                "answered"
            ),
            Err(error) => failed(error, error.cause()),
        }
    }
}

/// Reports a failure: as an error unless the request is its cause.
fn failed(error: &impl Display, cause: Cause) {
    match cause {
        Cause::Failure => tracing::error!(target: RUNS, %error, "failed"),
        _ => tracing::warn!(target: RUNS, %error, "refused"),
    }
}

pub(crate) fn phase(phase: Phase) {
    tracing::debug!(target: RUNS, ?phase, "begins");
}

/// Reports a step of a run that has ended.
pub(crate) fn step(name: &str, duration_ns: u64) {
    tracing::debug!(target: RUNS, name, ms = ms(duration_ns), "step");
}
