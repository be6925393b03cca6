//! Choice of the machine of a batch, with its reason.

use super::BatchGraph;
use crate::calibrate::sample::SAMPLE_EDGES;
use crate::calibrate::{BatchJob, BatchPrediction, predict_batch};
use crate::cost::{Costs, Job};
use crate::job::choose::{self, Choice, Predict};
use crate::job::cost_model::{job, limits_of};
use crate::run::{Executor, RunRequest};

/// Most graphs in a sample, in addition to the largest.
const SAMPLE_GRAPHS: usize = 32;

/// Edges in the sample of each graph: in total four times those of a single run.
const EDGES_A_GRAPH: u64 = SAMPLE_EDGES / 8;

/// Chooses for `graphs`, each with its own request; all requests agree on the backend.
///
/// Samples at most 33 graphs and 825 000 edges.
pub(super) fn choose(graphs: &[BatchGraph<'_>], requests: &[RunRequest]) -> Choice {
    let Some(request) = requests.first() else {
        return Choice::default();
    };
    if !matches!(request.machine.executor, None | Some(Executor::Mega)) {
        return Choice::asked(&request.machine);
    }
    choose::choose(request, || batch_job(graphs, requests), limits_of)
}

impl Predict for BatchJob {
    type Forecast = BatchPrediction;

    fn predict(&self, costs: &Costs, units: u32) -> BatchPrediction {
        predict_batch(self, costs, units)
    }
}

/// Returns the batch as a job, from its largest graph and a regular sample of the others; `None`
/// for an empty batch.
fn batch_job(graphs: &[BatchGraph<'_>], requests: &[RunRequest]) -> Option<BatchJob> {
    let largest = (0..graphs.len().min(requests.len())).max_by_key(|at| work_of(&graphs[*at]))?;
    let step = graphs.len().div_ceil(SAMPLE_GRAPHS);
    let sampled: Vec<usize> = (0..graphs.len())
        .step_by(step)
        .filter(|at| *at != largest)
        .collect();
    let all: u64 = graphs.iter().map(work_of).sum();
    let rest = all - work_of(&graphs[largest]);
    let looked_at: u64 = sampled.iter().map(|at| work_of(&graphs[*at])).sum();
    let job_of = |at: usize| job(graphs[at].graph, &requests[at], EDGES_A_GRAPH);
    let largest = job_of(largest);
    let others: Vec<Job> = sampled.into_iter().map(job_of).collect();
    let words: u64 = if largest.weighted { 2 } else { 1 };
    let bytes_of = |of: &BatchGraph<'_>| {
        4 * (u64::from(of.graph.nodes()) + words * u64::from(of.graph.edges()))
    };
    Some(BatchJob {
        analysis: requests.first()?.analysis,
        graphs: graphs.len() as f64,
        bytes: graphs.iter().map(bytes_of).sum::<u64>() as f64,
        scale: rest as f64 / looked_at.max(1) as f64,
        repeat: largest.repeat,
        largest,
        others,
    })
}

/// Weight of a graph, above 0 even for an empty one.
fn work_of(of: &BatchGraph<'_>) -> u64 {
    1 + u64::from(of.graph.nodes()) + u64::from(of.graph.edges())
}

#[cfg(test)]
mod tests {
    use super::super::{NamedGraph, expand, load, requests};
    use super::*;
    use crate::graph::LoadOptions;
    use crate::run::{AnalysisKind, Machine};

    fn graphs(arguments: &[&str]) -> Vec<NamedGraph> {
        let arguments: Vec<String> = arguments.iter().map(|&text| text.to_owned()).collect();
        load(expand(&arguments).unwrap(), &LoadOptions::default()).unwrap()
    }

    fn members(graphs: &[NamedGraph]) -> Vec<BatchGraph<'_>> {
        let members = graphs.iter();
        members
            .map(|of| BatchGraph::new("", &of.graph, vec![0]))
            .collect()
    }

    fn job_of(arguments: &[&str]) -> BatchJob {
        let graphs = graphs(arguments);
        let members = members(&graphs);
        let request = RunRequest::new(AnalysisKind::Bfs, Vec::new());
        batch_job(&members, &requests(&members, &request)).unwrap()
    }

    /// Predicted levels of all graphs.
    fn levels(job: &BatchJob) -> f64 {
        let others: f64 = job.others.iter().map(|of| of.tally.depth()).sum();
        job.largest.tally.depth() + job.scale * others
    }

    #[test]
    fn a_sample_of_many_graphs_represents_all_of_them() {
        let job = job_of(&["gen:batch:1000:chain:512"]);
        assert!(job.others.len() <= SAMPLE_GRAPHS, "{}", job.others.len());
        let all = graphs(&["gen:batch:1000:chain:512"]);
        let depth = |of: &NamedGraph| {
            let levels = crate::analysis::oracle::levels(&of.graph, &[0], u32::MAX - 1);
            f64::from(
                levels
                    .into_iter()
                    .filter(|level| *level != u32::MAX)
                    .max()
                    .unwrap()
                    + 1,
            )
        };
        let ratio = levels(&job) / all.iter().map(depth).sum::<f64>();
        assert!((0.9..1.1).contains(&ratio), "{ratio}");
    }

    #[test]
    fn few_graphs_are_all_sampled_and_the_largest_is_known() {
        let job = job_of(&["gen:grid:8", "gen:grid:40", "gen:grid:9"]);
        assert_eq!((job.graphs, job.scale), (3.0, 1.0));
        assert_eq!(job.largest.nodes, 1600.0);
        assert_eq!(levels(&job), 15.0 + 79.0 + 17.0);
        let alone = job_of(&["gen:grid:8"]);
        assert!(alone.others.is_empty() && alone.scale == 0.0, "{alone:?}");
        assert_eq!(alone.bytes, alone.largest.graph_bytes());
    }

    #[test]
    fn a_choice_of_the_caller_is_kept_and_auto_needs_a_gpu() {
        let graphs = graphs(&["gen:grid:8", "gen:grid:9"]);
        let members = members(&graphs);
        let chosen = |executor| {
            let machine = Machine {
                executor,
                device: u32::MAX,
                ..Machine::auto()
            };
            let request = RunRequest::new(AnalysisKind::Bfs, Vec::new()).on(machine);
            choose(&members, &requests(&members, &request))
        };
        for executor in Executor::ALL.map(Some) {
            let choice = chosen(executor);
            assert_eq!((choice.executor, choice.reason), (executor, None));
        }
        let open = chosen(None);
        assert_eq!(open.executor, Some(Executor::Cpu));
        assert!(open.reason.unwrap().contains("no GPU was looked for"));
    }
}
