//! The explanation of a run: its groups and steps, as planned, predicted and measured.

use super::RunRequest;
use super::choose::sample_edges;
use super::plan::Planned;
use crate::backend::{RunStats, Session};
use crate::calibrate::predict_groups;
use crate::graph::Graph;
use crate::job::choose::Opened;
use crate::job::cost_model;
use crate::outcome::{
    GroupSummary, StepSummary, Timeline, WaveSummary, groups, steps, timeline, waves,
};
use crate::program::EncodedProgram;

/// Groups, waves and steps of a program that a session ran, with their reasons.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ProgramExplanation {
    /// Its groups; predicted times are those of analyses alone.
    pub groups: Vec<GroupSummary>,
    /// Its waves, in the order of their groups.
    pub waves: Vec<WaveSummary>,
    /// The steps of its searches that the trace has space for.
    pub steps: Vec<StepSummary>,
    /// All of its searches' steps.
    pub steps_total: u32,
    /// The work of each block or thread between barriers, if several ran it in one launch.
    pub timeline: Option<Timeline>,
}

/// Explains a run; if that is not requested, it has the waves alone.
pub(super) fn explain(
    graph: &Graph,
    request: &RunRequest,
    planned: &Planned,
    opened: &Opened<Box<dyn Session + '_>>,
    stats: &RunStats,
) -> ProgramExplanation {
    let program = &planned.encoded;
    if !request.explain {
        return ProgramExplanation {
            waves: waves(program, &stats.control),
            ..ProgramExplanation::default()
        };
    }
    let job = cost_model::job(graph, request, sample_edges(graph));
    let units = opened.session.device().units;
    let worker = cost_model::worker(request, opened.executor, units, &job);
    let predicted = predict_groups(request.analysis, &job, &worker, program);
    explained(program, stats, &predicted)
}

/// Explains a run of `program`; its times are there if the session traced it
/// ([`ProgramSession::trace_runs`](crate::backend::ProgramSession::trace_runs)).
#[must_use]
pub fn explain_program(program: &EncodedProgram, stats: &RunStats) -> ProgramExplanation {
    explained(program, stats, &[])
}

fn explained(program: &EncodedProgram, stats: &RunStats, predicted: &[f64]) -> ProgramExplanation {
    let trace = stats.trace.as_ref();
    let waves = waves(program, &stats.control);
    ProgramExplanation {
        groups: groups(program, &waves, trace, predicted),
        steps: trace.map_or_else(Vec::new, |trace| steps(trace, &program.wave_names)),
        steps_total: trace.map_or(0, |trace| trace.steps_total),
        timeline: trace.and_then(|trace| timeline(trace, &program.wave_names)),
        waves,
    }
}
