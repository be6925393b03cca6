//! The explanation of a run: its groups and steps, as planned, predicted and measured.

use super::RunRequest;
use super::choose::sample_edges;
use super::opened::Opened;
use super::planned::Planned;
use super::weigh;
use crate::backend::RunStats;
use crate::calibrate::predict_groups;
use crate::graph::Graph;
use crate::outcome::{GroupSummary, StepSummary, WaveSummary, groups, steps};

/// Groups and steps of a run, with their reasons.
#[derive(Default)]
pub(super) struct Explanation {
    pub(super) groups: Vec<GroupSummary>,
    pub(super) steps: Vec<StepSummary>,
    pub(super) steps_total: u32,
}

/// Explains a run whose waves were `waves`; says nothing if that was not requested.
pub(super) fn explain(
    (graph, request): (&Graph, &RunRequest),
    (planned, opened): (&Planned, &Opened<'_>),
    (stats, waves): (&RunStats, &[WaveSummary]),
) -> Explanation {
    if !request.explain {
        return Explanation::default();
    }
    let program = &planned.encoded;
    let job = weigh::job(graph, request, sample_edges(graph));
    let units = opened.session.device().units;
    let worker = weigh::worker(request, (opened.executor, units), &job);
    let predicted = predict_groups((request.analysis, &job), &worker, program);
    let trace = stats.trace.as_ref();
    Explanation {
        groups: groups(program, waves, (trace, &predicted)),
        steps: trace.map_or_else(Vec::new, |trace| steps(trace, &program.wave_names)),
        steps_total: trace.map_or(0, |trace| trace.steps_total),
    }
}
