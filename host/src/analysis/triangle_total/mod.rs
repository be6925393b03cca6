//! The number of triangles: each counted once, at one of its corners.

pub(super) mod oracle;

use super::triangles;
use super::{
    Analysis, AnalysisOutput, Answer, Bars, Built, Case, Facts, LoopRule, ParallelRule, Picture,
    Question,
};
use crate::column::Column;
use crate::cost::{Job, Worker};
use crate::graph::Graph;
use crate::program::ProgramError;

pub(super) struct TriangleTotal;

pub(super) const FACTS: Facts = Facts {
    name: "triangle-total",
    title: "Triangles, each counted once",
    summary: "Number of triangles: each counted at one of its corners",
    is_undirected: true,
    loops: LoopRule::Ignored,
    parallel: ParallelRule::Ignored,
    picture: Picture {
        title: "Nodes by the triangles counted there",
        axis: "triangles counted at the node",
        bars: Bars::Suited,
    },
    ..Facts::PLAIN
};

impl Analysis for TriangleTotal {
    fn build(&self, graph: &Graph, question: &Question) -> Result<Built, ProgramError> {
        triangles::build(graph, question, triangles::Counts::Once)
    }

    fn check(&self, case: &Case<'_>, found: AnalysisOutput<'_>) -> bool {
        *found.values == Column::U32(oracle::triangles_once(case.graph))
    }

    fn answer(&self, _graph: &Graph, column: &Column) -> Answer {
        Answer::of_triangles(column, 1)
    }

    fn cost_ns(&self, job: &Job, worker: &Worker) -> f64 {
        triangles::cost_ns(job, worker)
    }
}
