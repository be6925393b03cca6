//! Uploads, allocations and waits of a session for a request: predicted by `core`'s session plan
//! before it runs, and counted.

use super::planned::Planned;
use super::{Executor, RunRequest};
use crate::backend::{self, PROGRAM_ALLOCATIONS, SessionWork};
use crate::graph::Graph;
use crate::outcome::SessionReport;
use seawall_core::session::{ReadbackPolicy, ReuseTelemetry, SessionProfile};

/// Predictions for a request and its counters, program by program: a search whose distances
/// outgrow 32 bits runs two.
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
    /// Begins a request on a session that did `start` so far.
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
        (graph, request): (&Graph, &RunRequest),
        planned: &Planned,
        executor: Executor,
    ) {
        let profile = profile((graph, request), planned, executor);
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
        let graph_bytes = whole.one_time_graph_upload_bytes;
        self.peak_bytes = self.peak_bytes.max(whole.peak_resident_bytes);
        self.predicted = self.predicted.and(SessionWork {
            graph_uploads: cold,
            graph_bytes: graph_bytes.saturating_sub(self.now.graph_bytes),
            allocations: if planned.is_loaded {
                0
            } else {
                PROGRAM_ALLOCATIONS
            },
            runs: profile.run_count,
            input_bytes: alone.total_frontier_refresh_bytes,
            synchronisations: profile.run_count,
            // Distances that outgrew their words are not read.
            readback_bytes: alone
                .host_readback_bytes
                .saturating_sub(self.predicted.readback_bytes),
        });
    }

    /// Takes in what the session did meanwhile.
    pub(super) const fn count(&mut self, now: SessionWork) {
        self.now = now;
    }

    /// Returns the report of the request.
    pub(super) fn report(&self) -> SessionReport {
        let SessionWork {
            graph_uploads,
            graph_bytes,
            runs,
            ..
        } = self.now;
        let warm_reuses = runs.saturating_sub(graph_uploads);
        let reuse = ReuseTelemetry {
            cold_uploads: graph_uploads,
            warm_reuses,
            upload_bytes: graph_bytes,
            avoided_upload_bytes: warm_reuses.saturating_mul(graph_bytes),
        };
        SessionReport {
            predicted: self.predicted,
            counted: self.now.since(self.start),
            peak_bytes: self.peak_bytes,
            reuse,
            reuse_rate_ppm: reuse.reuse_rate().map(|rate| rate.0),
        }
    }
}

/// The session that the request would make alone, of its runs.
fn profile(
    (graph, request): (&Graph, &RunRequest),
    planned: &Planned,
    executor: Executor,
) -> SessionProfile {
    let program = &planned.encoded;
    let graph_bytes = backend::graph_bytes(graph, program.needs, executor);
    let output = planned.output_bytes();
    let whole = backend::session_bytes(graph, program, executor);
    let known = graph_bytes + program.input_bytes + output;
    SessionProfile {
        // The sizes that the plan follows from; never 0.
        graph_layout_hash: u64::from(graph.nodes()) << 32 | u64::from(graph.edges()) | 1 << 63,
        graph_bytes,
        run_count: u64::from(request.repeat.get()),
        per_run_frontier_bytes: program.input_bytes,
        reusable_scratch_bytes: whole.saturating_sub(known),
        per_run_output_bytes: output,
        budget_bytes: request.machine.budget_bytes.unwrap_or(u64::MAX),
        readback: ReadbackPolicy::FinalOnly,
    }
}
