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

/// Likewise, of batches.
const BATCHES: &str = "seawall::batch::execute";

/// Milliseconds, to the microsecond.
pub(crate) fn ms(ns: u64) -> f64 {
    (ns / 1_000) as f64 / 1e3
}

/// The span of a run of `request` on `graph`; `on` says where it is.
pub(crate) fn run(on: &'static str, graph: &Graph, request: &RunRequest) -> Span {
    run_of(on, graph.nodes(), u64::from(graph.edges()), request)
}

/// As [`run`], on a graph of that size.
pub(crate) fn run_of(on: &'static str, nodes: u32, edges: u64, request: &RunRequest) -> Span {
    let analysis = request.analysis;
    tracing::info_span!(target: RUNS, "run", %analysis, on, nodes, edges)
}

/// The span of a batch.
pub(crate) fn batch(graphs: usize, request: &RunRequest) -> Span {
    let analysis = request.analysis;
    tracing::info_span!(target: BATCHES, "batch", %analysis, graphs)
}

/// An outcome with which a span ends.
pub(crate) trait Answered {
    /// Reports it.
    fn answered(&self);
}

impl Answered for RunOutcome {
    fn answered(&self) {
        let times = &self.times;
        tracing::info!(
            target: RUNS,
            backend = %self.backend,
            device = self.device,
            reason = self.backend_reason,
            reached = self.reached,
            upload_ms = ms(times.upload),
            plan_ms = ms(times.plan),
            run_ms = ms(times.run),
            readback_ms = ms(times.readback),
            checked = self.checked,
            "answered"
        );
    }
}

impl Answered for BatchOutcome {
    fn answered(&self) {
        tracing::info!(
            target: BATCHES,
            backend = %self.backend,
            device = self.device,
            reason = self.backend_reason,
            run_ms = ms(self.times.run),
            "answered"
        );
    }
}

/// An error with which a span ends.
pub(crate) trait Failure: Display {
    /// Whether the request or the machine is its cause.
    fn cause(&self) -> Cause;
}

impl Failure for RunError {
    fn cause(&self) -> Cause {
        self.cause()
    }
}

impl Failure for BatchError {
    fn cause(&self) -> Cause {
        self.cause()
    }
}

/// Reports a failure: as an error unless the request is its cause.
pub(crate) fn failed(error: &impl Failure) {
    match error.cause() {
        Cause::Failure => tracing::error!(target: RUNS, %error, "failed"),
        _ => tracing::warn!(target: RUNS, %error, "refused"),
    }
}

/// Reports the start of a phase.
pub(crate) fn phase(phase: Phase) {
    tracing::debug!(target: RUNS, ?phase, "begins");
}

/// Reports a step of a run that has ended.
pub(crate) fn step(name: &str, duration_ns: u64) {
    tracing::debug!(target: RUNS, name, ms = ms(duration_ns), "step");
}
