//! Connected components, directions ignored: the smallest node that each node is connected with.

pub(super) mod oracle;

use super::{
    Analysis, Answer, Bars, Built, Case, Facts, Found, Picture, Question, Reading, Streaming,
    Values,
};
use crate::column::Column;
use crate::cost::{Job, Worker};
use crate::graph::Graph;
use crate::program::{ComponentStep, ProgramBuilder, ProgramError};

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
        let sample = ComponentStep::LinkSample { edges: SAMPLE };
        let rest = ComponentStep::LinkRest {
            skip: SAMPLE,
            except: largest,
        };
        program.components("link a sample", sample, labels);
        program.components("compress the sample", ComponentStep::Compress, labels);
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
