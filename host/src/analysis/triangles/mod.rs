//! Triangles: the number of triangles at each node.

mod method;
pub(super) mod oracle;

use method::Method;

use super::alone::{self, Sought};
use super::{
    Analysis, AnalysisOutput, Answer, Bars, Built, Case, Facts, Highlight, LoopRule, ParallelRule,
    Picture, Question, Reading,
};
use crate::column::Column;
use crate::cost::{Job, Worker};
use crate::graph::Graph;
use crate::program::{self, Hubs, ProgramBuilder, ProgramError};
use seawall_core::abi::sequential::Algorithm;

pub(super) struct Triangles;

pub(super) const FACTS: Facts = Facts {
    name: "triangles",
    title: "Triangle counts",
    summary: "Triangles at every node",
    is_undirected: true,
    loops: LoopRule::Ignored,
    parallel: ParallelRule::Ignored,
    highlight: Highlight::Highest,
    picture: Picture {
        title: "Nodes by triangles",
        axis: "triangles at the node",
        bars: Bars::Suited,
    },
    ..Facts::PLAIN
};

/// Passes over all edges for each edge of a node.
const PASSES_OF_DEGREE: f64 = 1.0;

const PASSES_LEAST: f64 = 4.0;

const LEVELS: f64 = 4.0;

impl Analysis for Triangles {
    fn build(&self, graph: &Graph, question: &Question) -> Result<Built, ProgramError> {
        build(graph, question, Counts::Corners)
    }

    fn check(&self, case: &Case<'_>, found: AnalysisOutput<'_>) -> bool {
        *found.values == Column::U32(oracle::triangles(case.graph))
    }

    fn answer(&self, _graph: &Graph, column: &Column) -> Answer {
        Answer::of_triangles(column, 3)
    }

    fn cost_ns(&self, job: &Job, worker: &Worker) -> f64 {
        cost_ns(job, worker)
    }
}

/// Directed edges of so many bits take as long to intersect as to look up one entry.
const BITS: f64 = 128.0;

/// Part of all pairs of nodes, as a divisor, from which on one thread intersects rows of bits faster
/// than it looks rows of edges up. Several threads share the latter.
const PAIRS: f64 = 16.0;

/// Whether a graph has so many edges for its nodes that one of the threads counts by bits.
fn is_dense(nodes: f64, edges: f64, threads: f64) -> bool {
    nodes * nodes * threads <= PAIRS * edges
}

/// Time of a run, nanoseconds.
pub(super) fn cost_ns(job: &Job, worker: &Worker) -> f64 {
    let threads = worker.threads_of(f64::INFINITY);
    if worker.is_cpu() && is_dense(job.nodes, job.edges, threads) {
        return job.edges * job.nodes / BITS * worker.gather_alone_ns(job);
    }
    let passes = (PASSES_OF_DEGREE * job.degree()).max(PASSES_LEAST);
    worker.passes_ns(job, passes, LEVELS)
}

/// The corners at which a triangle is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Counts {
    /// All three nodes.
    Corners,
    /// One node per triangle.
    Once,
}

/// Counts triangles by the method that suits the machine and the graph, which must be symmetric. Of
/// CPU threads one counts by bits where the graph is dense; else they count by rows, as they gain
/// nothing from bits of hubs, of which warps compare 4 096 at a time.
pub(super) fn build(
    graph: &Graph,
    question: &Question,
    counts: Counts,
) -> Result<Built, ProgramError> {
    if alone::suits(question) && question.centers.is_none() {
        let threads = question.threads.map_or(1.0, f64::from);
        if is_dense(graph.nodes().into(), graph.edges().into(), threads) {
            let algorithm = match counts {
                Counts::Corners => Algorithm::Triangles,
                Counts::Once => Algorithm::TrianglesOnce,
            };
            return alone::build(graph, question, Sought::words(algorithm, 0));
        }
    }
    let nodes = u64::from(graph.nodes());
    let mut program = ProgramBuilder::new(graph.nodes());
    let corners = program.words("corners", nodes)?;
    program.fill("clear corners", corners, 0);
    let method = if question.warps {
        Method::of(graph, counts)
    } else {
        Method::Rows
    };
    let triangles = program::Triangles {
        corners,
        forward: program.words("forward edges", u64::from(graph.edges()))?,
        degrees: program.words("forward degrees", nodes)?,
        held: 0,
        centers: question.centers,
    };
    count_by_rows(&mut program, triangles, counts, method)?;
    Ok(Built::of(program, Vec::new(), corners, Reading::Words))
}

/// Keeps one direction of every edge, and intersects rows; rows of hubs by bits.
fn count_by_rows(
    program: &mut ProgramBuilder,
    triangles: program::Triangles,
    counts: Counts,
    method: Method,
) -> Result<(), ProgramError> {
    let hubs = match method {
        Method::Hubs { space, least } => Some(Hubs {
            register: program.hubs("hubs", space)?,
            space,
            least,
            corners: counts == Counts::Corners,
        }),
        Method::Rows => None,
    };
    program.once(|once| match hubs {
        Some(hubs) => {
            once.find_hubs(["clear hubs", "pick hubs", "rank hubs"], hubs);
            once.orient_by_hubs("orient edges", triangles, hubs);
        }
        None => once.orient_edges("orient edges", triangles),
    });
    if let Some(hubs) = hubs {
        program.count_by_hubs("count pairs of hubs", triangles, hubs);
    }
    match counts {
        Counts::Corners => program.count_triangles("count triangles", triangles),
        Counts::Once => program.count_triangles_once("count triangles", triangles),
    }
    Ok(())
}
