//! Triangles: the number that each node is a corner of.

pub(super) mod oracle;

use super::{
    Analysis, Answer, Bars, Built, Case, Facts, Figure, Found, Picture, Question, Reading, Sentence,
};
use crate::column::Column;
use crate::cost::{Job, Worker};
use crate::graph::Graph;
use crate::program::{self, ProgramBuilder, ProgramError};
use crate::units::counted;

/// The analysis `triangles`.
pub(super) struct Triangles;

const FACTS: Facts = Facts {
    name: "triangles",
    title: "Triangle counts",
    summary: "Triangles at every node",
    is_undirected: true,
    picture: Picture {
        title: "Nodes by triangles",
        axis: "triangles at the node",
        bars: Bars::Suited,
    },
    ..Facts::PLAIN
};

/// Passes over all edges for each edge of a node.
const PASSES_OF_DEGREE: f64 = 1.0;

/// Fewest passes.
const PASSES_LEAST: f64 = 4.0;

/// Levels in between.
const LEVELS: f64 = 4.0;

impl Analysis for Triangles {
    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    fn build(&self, graph: &Graph, _question: &Question) -> Result<Built, ProgramError> {
        build(graph, Counts::Corners)
    }

    fn check(&self, case: &Case<'_>, found: Found<'_>) -> bool {
        *found.values == Column::U32(oracle::triangles(case.graph))
    }

    fn answer(&self, _graph: &Graph, column: &Column) -> Answer {
        let Column::U32(corners) = column else {
            return Answer::reached();
        };
        // Each triangle has three corners.
        let triangles = corners.iter().map(|count| u64::from(*count)).sum::<u64>() / 3;
        Answer {
            figures: vec![Figure::count("triangles", "triangle", triangles)],
            sentence: Sentence::Graph(counted(triangles, "triangle")),
        }
    }

    fn cost_ns(&self, job: &Job, worker: &Worker) -> f64 {
        cost_ns(job, worker)
    }
}

/// Time of a run, nanoseconds.
pub(super) fn cost_ns(job: &Job, worker: &Worker) -> f64 {
    let passes = (PASSES_OF_DEGREE * job.degree()).max(PASSES_LEAST);
    worker.passes_ns(job, passes, LEVELS)
}

/// The corners at which a triangle is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Counts {
    /// All three.
    Corners,
    /// One of them.
    Once,
}

/// Keeps one direction of every edge, and intersects rows. The graph must be symmetric.
pub(super) fn build(graph: &Graph, counts: Counts) -> Result<Built, ProgramError> {
    let nodes = u64::from(graph.nodes());
    let mut program = ProgramBuilder::new(graph.nodes());
    let triangles = program::Triangles {
        corners: program.words("corners", nodes)?,
        forward: program.words("forward edges", u64::from(graph.edges()))?,
        degrees: program.words("forward degrees", nodes)?,
        held: 0,
    };
    program.fill("clear corners", triangles.corners, 0);
    program.orient_edges("orient edges", triangles);
    match counts {
        Counts::Corners => program.count_triangles("count triangles", triangles),
        Counts::Once => program.count_triangles_once("count triangles", triangles),
    }
    program.keep(triangles.corners);
    Ok(Built {
        program,
        inputs: Vec::new(),
        result: triangles.corners,
        parents: None,
        reading: Reading::Words,
    })
}
