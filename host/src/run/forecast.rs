//! Uploads, allocations and waits of a session for a request: predicted by `core`'s session plan
//! before it runs, and counted.

use super::plan::Planned;
use super::{Executor, RunRequest};
use crate::backend::{self, PROGRAM_ALLOCATIONS, SessionWork};
use crate::graph::Graph;
use crate::outcome::SessionReport;
use crate::program::EncodedProgram;
use seawall_core::session::{ReadbackPolicy, ReuseTelemetry, SessionProfile};

/// Predictions for a request and its counters, program by program: a search whose distances exceed
/// 32 bits runs two.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ledger {
    /// Work of the session before the request.
    start: SessionWork,
    /// Work of the session so far.
    now: SessionWork,
    predicted: SessionWork,
    peak_bytes: u64,
}

impl Ledger {
    pub(super) fn begin(start: SessionWork) -> Self {
        Self {
            start,
            now: start,
            ..Self::default()
        }
    }

    /// Predicts a program's part of the request.
    pub(super) fn predict(
        &mut self,
        graph: &Graph,
        request: &RunRequest,
        planned: &Planned,
        executor: Executor,
    ) {
        let (repeat, output_bytes) = (u64::from(request.repeat.get()), planned.output_bytes());
        let profile = SessionProfile {
            budget_bytes: request.machine.budget_bytes.unwrap_or(u64::MAX),
            ..profile(graph, executor, &planned.encoded, output_bytes, repeat)
        };
        let plan = |run_count| {
            SessionProfile {
                run_count,
                ..profile
            }
            .plan()
        };
        let after = self.now.runs.saturating_add(profile.run_count);
        let (Ok(alone), Ok(whole)) = (plan(profile.run_count), plan(after)) else {
            return;
        };
        let earlier =
            plan(self.now.runs).map_or_else(|_| ReuseTelemetry::default(), |plan| plan.graph_reuse);
        let cold = whole
            .graph_reuse
            .cold_uploads
            .saturating_sub(earlier.cold_uploads);
        let allocations = if planned.is_loaded {
            0
        } else {
            PROGRAM_ALLOCATIONS
        };
        let work = SessionWork::of(&alone, profile.run_count, allocations);
        self.peak_bytes = self.peak_bytes.max(whole.peak_resident_bytes);
        self.predicted = self.predicted.and(SessionWork {
            graph_uploads: cold,
            graph_bytes: whole
                .one_time_graph_upload_bytes
                .saturating_sub(self.now.graph_bytes),
            // Distances that exceeded their words are not read.
            readback_bytes: work
                .readback_bytes
                .saturating_sub(self.predicted.readback_bytes),
            ..work
        });
    }

    /// Adds the session's work since the last call.
    pub(super) const fn count(&mut self, now: SessionWork) {
        self.now = now;
    }

    pub(super) fn report(&self) -> SessionReport {
        let counted = self.now.since(self.start);
        SessionReport::of(self.predicted, counted, self.now, self.peak_bytes)
    }
}

/// Reports a session of `executor` that was opened for `program`, ran it `runs` times, read
/// `output_bytes` at the end and counted `counted`.
#[must_use]
pub fn program_report(
    graph: &Graph,
    executor: Executor,
    program: &EncodedProgram,
    runs: u64,
    output_bytes: u64,
    counted: SessionWork,
) -> SessionReport {
    let Ok(plan) = profile(graph, executor, program, output_bytes, runs).plan() else {
        return SessionReport::of(SessionWork::default(), counted, counted, 0);
    };
    let predicted = SessionWork::of(&plan, runs, PROGRAM_ALLOCATIONS);
    SessionReport::of(predicted, counted, counted, plan.peak_resident_bytes)
}

/// A session of `run_count` runs of `program`, with `output_bytes` to read at the end.
fn profile(
    graph: &Graph,
    executor: Executor,
    program: &EncodedProgram,
    output_bytes: u64,
    run_count: u64,
) -> SessionProfile {
    let graph_bytes = backend::graph_bytes(graph, program.needs, executor);
    let whole = backend::session_bytes(graph, program, executor);
    let known = graph_bytes + program.input_bytes + output_bytes;
    SessionProfile {
        // The sizes that the plan depends on; never 0.
        graph_layout_hash: u64::from(graph.nodes()) << 32 | u64::from(graph.edges()) | 1 << 63,
        graph_bytes,
        run_count,
        per_run_frontier_bytes: program.input_bytes,
        reusable_scratch_bytes: whole.saturating_sub(known),
        per_run_output_bytes: output_bytes,
        budget_bytes: u64::MAX,
        readback: ReadbackPolicy::FinalOnly,
    }
}
