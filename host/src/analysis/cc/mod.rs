//! Connected components, ignoring directions: the smallest node of each node's component.

mod hub;
pub(super) mod oracle;

use super::{
    Analysis, AnalysisOutput, Answer, Bars, Built, Case, End, Facts, Highlight, Picture, Question,
    Reading, Streaming, Values,
};
use crate::column::Column;
use crate::cost::{Job, Worker};
use crate::graph::Graph;
use crate::program::{ComponentStep, Mark, ProgramBuilder, ProgramError, RegisterId};
use seawall_core::abi::components::KNOWN_WORDS;

pub(super) struct Cc;

pub(super) const FACTS: Facts = Facts {
    name: "cc",
    title: "Connected components",
    summary: "Connected components, directions ignored: the smallest node of each",
    values: Values::Nodes,
    streams: Some(Streaming::Components),
    highlight: Highlight::LargestParts,
    picture: Picture {
        title: "Nodes by the size of their component",
        axis: "nodes in the component",
        bars: Bars::Groups,
    },
    ..Facts::PLAIN
};

/// Edges of each node that the sample links.
const SAMPLE: u32 = 2;

/// Mean degree up to which the sample's edges are linked one after the other. Measured on an H200:
/// 0.32 instead of 0.56 ms for the grid of 2048 × 2048 nodes, but 1.16 instead of 0.87 for
/// `gen:rmat:22:16` and 0.78 instead of 0.66 for `gen:uniform:22:16`, where paths are short anyway.
const LEAN_DEGREE: f64 = 8.0;

/// Most levels of the first search. Graphs with short paths have fewer, and it must not take long
/// on others.
const LEVELS_MAX: u32 = 12;

/// Cost of a node in edges of a pass, whatever its degree: a sample settles most nodes. One thread
/// takes 13 to 25 ns for each node of grids, roads and random graphs.
const NODE_EDGES: f64 = 16.0;

/// Factor on work that threads share if no search comes first: 16 threads are 2.3 to 5.5 times as
/// fast as one, two are as fast as one on grids.
const CONTENDED: f64 = 3.0;

/// Levels in between.
const LEVELS: f64 = 6.0;

impl Analysis for Cc {
    fn build(&self, graph: &Graph, question: &Question) -> Result<Built, ProgramError> {
        build(graph, question.low_memory)
    }

    fn check(&self, case: &Case<'_>, found: AnalysisOutput<'_>) -> bool {
        *found.values == Column::U32(oracle::components(case.graph))
    }

    /// A search that gives up has only begun the work.
    fn end(&self, _end: End) -> End {
        End::ONCE
    }

    fn answer(&self, _graph: &Graph, column: &Column) -> Answer {
        let Column::U32(labels) = column else {
            return Answer::reached();
        };
        Answer::of_components(labels, "component")
    }

    fn cost_ns(&self, job: &Job, worker: &Worker) -> f64 {
        let is_contended = worker.is_shared() && !hub::is_rich(job.nodes, job.edges);
        let work = if is_contended { CONTENDED } else { 1.0 };
        let edges = work * NODE_EDGES * job.nodes;
        edges * worker.gather_ns() + worker.passes_ns(job, 0.0, LEVELS)
    }
}

/// The largest component is found first, and the other nodes' edges follow. Skipping the edges of a
/// component is only correct if every edge is listed at both ends, so a directed graph links all
/// edges at once. No search comes first with `low_memory`: it takes some bytes for each node.
pub(super) fn build(graph: &Graph, low_memory: bool) -> Result<Built, ProgramError> {
    let nodes = graph.nodes();
    let mut program = ProgramBuilder::new(nodes);
    let labels = program.words("labels", u64::from(nodes))?;
    if !graph.is_symmetric() {
        program.iota("number the nodes", labels);
        program.components("link", ComponentStep::Link, labels);
    } else if let Some(source) = (!low_memory).then(|| hub::of(graph)).flatten() {
        begin_with_a_search(&mut program, source, labels)?;
    } else {
        program.iota("number the nodes", labels);
        let largest = program.words("largest", 1)?;
        let rest = ComponentStep::LinkRest {
            skip: SAMPLE,
            except: largest,
        };
        link_sample(&mut program, graph, labels);
        program.components(
            "find the largest",
            ComponentStep::Majority { to: largest },
            labels,
        );
        program.components("link the rest", rest, labels);
    }
    program.components("compress", ComponentStep::Compress, labels);
    Ok(Built::of(program, Vec::new(), labels, Reading::Words))
}

/// A search from a node of many edges finds the largest component of most rich graphs in a few
/// steps, which visit a small part of all edges. If it does not, a sample follows, as on other
/// graphs.
fn begin_with_a_search(
    program: &mut ProgramBuilder,
    source: u32,
    labels: RegisterId,
) -> Result<(), ProgramError> {
    let list = program.words("source", 1)?;
    let frontier = program.frontier("frontier")?;
    let known = program.words("largest", KNOWN_WORDS.into())?;
    program.fill("take a source", list, source);
    program.reset("reset the frontier", frontier);
    program.seed("seed the source", frontier, list, Mark::BitsAhead);
    program.search(
        "search from the source",
        frontier,
        Mark::BitsAhead,
        LEVELS_MAX,
    );
    let hook = ComponentStep::HookReached { frontier, known };
    program.components("hook what was reached", hook, labels);
    let steps = [
        (
            "link a sample",
            ComponentStep::LinkSample {
                skip: 0,
                edges: SAMPLE,
            },
        ),
        ("compress the sample", ComponentStep::Compress),
        ("find the largest", ComponentStep::Majority { to: known }),
    ];
    for (name, step) in steps {
        program.components_unless(name, step, labels, known);
    }
    // Edges between reached nodes and others may be the first of a row, so none is skipped.
    let rest = ComponentStep::LinkRest {
        skip: 0,
        except: known,
    };
    program.components("link the rest", rest, labels);
    Ok(())
}

/// Links [`SAMPLE`] edges of every node. On graphs of low degree a sample links long paths: there
/// the first edges hook without climbing, and paths are short again before the second edges climb
/// them.
fn link_sample(program: &mut ProgramBuilder, graph: &Graph, labels: RegisterId) {
    let mut link = |name, skip, edges| {
        let sample = ComponentStep::LinkSample { skip, edges };
        program.components(name, sample, labels);
        program.components("compress the sample", ComponentStep::Compress, labels);
    };
    if is_lean(graph.nodes().into(), graph.edges().into()) {
        link("link first edges", 0, 1);
        link("link second edges", 1, 1);
    } else {
        link("link a sample", 0, SAMPLE);
    }
}

/// Whether nodes have few edges, and paths are long.
fn is_lean(nodes: f64, edges: f64) -> bool {
    edges <= LEAN_DEGREE * nodes
}
