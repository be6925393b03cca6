//! Connected components, directions ignored: the smallest node that each node is connected with.

pub(super) mod oracle;

use super::{
    Analysis, Answer, Bars, Built, Case, Facts, Found, Picture, Question, Reading, Streaming,
    Values,
};
use crate::column::Column;
use crate::cost::{Job, Worker};
use crate::graph::Graph;
use crate::program::{ComponentStep, ProgramBuilder, ProgramError, RegisterId};

/// The analysis `cc`.
pub(super) struct Cc;

const FACTS: Facts = Facts {
    name: "cc",
    title: "Connected components",
    summary: "Connected components, directions ignored: the smallest node of each",
    values: Values::Nodes,
    streams: Some(Streaming::Components),
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
const LEAN_DEGREE: u64 = 8;

/// Edges of a pass that a node costs, however many edges it has: most are settled by a
/// sample. One thread takes 13 to 25 ns for each node of grids, roads and random graphs.
const NODE_EDGES: f64 = 16.0;

/// Factor on work that threads share: 16 threads are 2.3 to 5.5 times as fast as one, two are as
/// fast as one on grids.
const CONTENDED: f64 = 3.0;

/// Levels in between.
const LEVELS: f64 = 6.0;

impl Analysis for Cc {
    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    fn build(&self, graph: &Graph, _question: &Question) -> Result<Built, ProgramError> {
        build(graph)
    }

    fn check(&self, case: &Case<'_>, found: Found<'_>) -> bool {
        *found.values == Column::U32(oracle::components(case.graph))
    }

    fn answer(&self, _graph: &Graph, column: &Column) -> Answer {
        let Column::U32(labels) = column else {
            return Answer::reached();
        };
        Answer::of_components(labels, "component")
    }

    fn cost_ns(&self, job: &Job, worker: &Worker) -> f64 {
        let work = if worker.is_shared() { CONTENDED } else { 1.0 };
        let edges = work * NODE_EDGES * job.nodes;
        edges * worker.gather_ns() + worker.passes_ns(job, 0.0, LEVELS)
    }
}

/// A sample finds the largest component first, and the other nodes' edges follow. Skipping the
/// edges of a component is only correct if every edge is listed at both ends, so a directed graph
/// links all edges at once.
fn build(graph: &Graph) -> Result<Built, ProgramError> {
    let nodes = graph.nodes();
    let mut program = ProgramBuilder::new(nodes);
    let labels = program.words("labels", u64::from(nodes))?;
    program.iota("number the nodes", labels);
    if graph.is_symmetric() {
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
    } else {
        program.components("link", ComponentStep::Link, labels);
    }
    program.components("compress", ComponentStep::Compress, labels);
    program.keep(labels);
    Ok(Built {
        program,
        inputs: Vec::new(),
        result: labels,
        parents: None,
        reading: Reading::Words,
    })
}

/// Links [`SAMPLE`] edges of every node. On lean graphs a sample links long paths: there first
/// edges hook without climbing, and paths are short again before the second edges look at them.
fn link_sample(program: &mut ProgramBuilder, graph: &Graph, labels: RegisterId) {
    let mut link = |name, skip, edges| {
        let sample = ComponentStep::LinkSample { skip, edges };
        program.components(name, sample, labels);
        program.components("compress the sample", ComponentStep::Compress, labels);
    };
    if u64::from(graph.edges()) > LEAN_DEGREE * u64::from(graph.nodes()) {
        link("link a sample", 0, SAMPLE);
    } else {
        link("link first edges", 0, 1);
        link("link second edges", 1, 1);
    }
}
