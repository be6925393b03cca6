//! Shortest paths: length of the shortest path from the sources to every node.

mod alone;
pub(super) mod oracle;
mod parents;
mod program;
mod signed;

use super::alone::{Searching, search_ns};
use super::bfs::farthest;
use super::falling::has_settled;
use super::{
    Analysis, AnalysisOutput, Answer, Bars, Built, Case, Detail, End, Facts, Figure, Highlight,
    ParallelRule, Picture, Question, Streaming, Values,
};
use crate::column::Column;
use crate::cost::{Job, Times, Worker};
use crate::graph::{EdgeLengths, Graph};
use crate::program::ProgramError;
use crate::run::RunError;
use program::bounds_of_a_level;
pub(super) use program::build as rounds_of_paths;

pub(super) struct Sssp;

pub(super) const FACTS: Facts = Facts {
    name: "sssp",
    title: "Shortest paths",
    summary: "Length of the shortest path to every node",
    values: Values::NumbersOfReached,
    takes_sources: true,
    walks: true,
    reads_weights: true,
    signed: true,
    streams: Some(Streaming::Lengths),
    parallel: ParallelRule::Least,
    details: &[Detail::Parents],
    highlight: Highlight::Farthest,
    picture: Picture {
        title: "Nodes by distance",
        axis: "distance",
        bars: Bars::Suited,
    },
    ..Facts::PLAIN
};

/// Work as a multiple of a search's.
const WORK: Times = Times {
    node: 4.0,
    edge: 14.0,
};

/// Work of the nearest node first, in edges of a pass.
const ALONE: Searching = Searching {
    times: Times {
        node: 4.0,
        edge: 20.0,
    },
    narrow: 30.0,
    words: 2.0,
};

/// Cost of a node in a sweep over all distances, in edges of a pass.
const SWEEP_EDGES: f64 = 0.4;

/// Cost of the end of a round for threads, in wide levels: only the barrier. There are about as
/// many rounds as levels.
const ROUND_LEVELS: f64 = 0.15;

/// Factor on the work of CPU threads that change shared words.
const CONTENDED: f64 = 1.15;

impl Analysis for Sssp {
    fn build(&self, graph: &Graph, question: &Question) -> Result<Built, ProgramError> {
        if signed::is_signed(graph) {
            return signed::build(graph, question);
        }
        if !question.shortcuts && alone::suits(graph, question) {
            return alone::build(graph, question);
        }
        rounds_of_paths(graph, question)
    }

    /// Distances in floats must also be near those in doubles.
    fn check(&self, case: &Case<'_>, found: AnalysisOutput<'_>) -> bool {
        let sources = &case.question.sources;
        if signed::is_signed(case.graph) {
            return oracle::signed_distances(case.graph, sources).is_some_and(|expected| {
                *found.values == expected.column()
                    && found
                        .parents
                        .is_none_or(|parents| expected.has_tree(case.graph, sources, parents))
            });
        }
        let expected = oracle::distances(case.graph, sources);
        let exact = || oracle::distances_in_doubles(case.graph, sources);
        let is_tree = |parents: &[u32]| {
            !case.end.converged || oracle::is_tree(case.graph, sources, found.values, parents)
        };
        has_settled(found.values, &expected, case.end)
            && found.parents.is_none_or(is_tree)
            && found
                .values
                .floats()
                .is_none_or(|floats| is_near(floats, &exact()) || !case.end.converged)
    }

    fn parents(&self, graph: &Graph, question: &Question, column: &Column) -> Option<Vec<u32>> {
        let sources = question.sources.as_slice();
        let asked = (question.detail == Detail::Parents).then_some(sources);
        parents::parents(graph, asked?, column)
    }

    fn accept(
        &self,
        (graph, question): (&Graph, &Question),
        found: AnalysisOutput<'_>,
    ) -> Result<(), RunError> {
        match found.parents.filter(|_| signed::is_signed(graph)) {
            Some(parents) => signed::check(graph, (&question.sources, found.values), parents),
            None => Ok(()),
        }
    }

    fn tolerance(&self, column: &Column, _end: End) -> Option<f64> {
        Some(distance_tolerance(column.floats()?.len()))
    }

    /// Parents follow from the distances.
    fn shortcuts(&self, _detail: Detail) -> Option<EdgeLengths> {
        Some(EdgeLengths::Weights)
    }

    fn answer(&self, _graph: &Graph, column: &Column) -> Answer {
        let bits: u64 = match column {
            Column::U64(_) | Column::I64(_) => 64,
            _ => 32,
        };
        let mut answer = farthest(column, "distance");
        answer.figures.push(Figure::new("distance_bits", bits));
        answer
    }

    /// Cost of rounds, each with a barrier of all threads, and of a sweep over all nodes per
    /// bucket.
    fn cost_ns(&self, job: &Job, worker: &Worker) -> f64 {
        let levels = job.tally.depth();
        let reached: f64 = job.tally.nodes.iter().sum();
        if worker.is_cpu() && alone::is_deep(levels, reached) {
            return search_ns(job, worker, ALONE);
        }
        let sweeps = levels * bounds_of_a_level(job.degree()) * job.nodes;
        let sweeps_ns = sweeps * SWEEP_EDGES * worker.gather_ns();
        if worker.is_shared() {
            let shared = worker.with_wide_levels(ROUND_LEVELS);
            let work = Times {
                node: WORK.node * CONTENDED,
                edge: WORK.edge * CONTENDED,
            };
            return shared.search_ns(job, work) + sweeps_ns;
        }
        worker.search_ns(job, WORK) + (WORK.node - 1.0) * worker.levels_ns(job) + sweeps_ns
    }
}

/// Relative tolerance of a float distance against the one in doubles: a sum of a path's weights is
/// off by at most 2^-24 of itself for each of its edges, of which there are fewer than nodes, and
/// twice that covers its own rounding.
fn distance_tolerance(nodes: usize) -> f64 {
    nodes as f64 * 2_f64.powi(-23)
}

/// Returns whether distances in floats equal those in doubles up to rounding.
fn is_near(floats: &[f32], doubles: &[f64]) -> bool {
    let share = distance_tolerance(floats.len());
    floats.iter().zip(doubles).all(|(float, double)| {
        let float = f64::from(*float);
        float == *double || (float - double).abs() <= share * double
    })
}
