//! Core numbers: the largest k such that a node is in a part of the graph
//! whose nodes all have k neighbours in it.
//!
//! Few threads of a CPU leave it to one of them, which keeps nodes in the order of the neighbours
//! that they have left: `m` looks at edges, whatever the shape. On many threads and on a GPU all
//! nodes with the fewest go at once, in rounds.

pub(super) mod oracle;

use super::alone::{self, Sought};
use super::falling::has_settled;
use super::{
    Analysis, Answer, Bars, Built, Case, Facts, Figure, Found, LoopRule, ParallelRule, Picture,
    Question, Reading, Sentence,
};
use crate::column::Column;
use crate::cost::{Job, Times, Worker};
use crate::graph::Graph;
use crate::program::{ProgramBuilder, ProgramError};
use crate::units::{Count, counted};
use seawall_core::abi::sequential::{Algorithm, SequentialRecord};

/// The analysis `kcore`.
pub(super) struct Kcore;

const FACTS: Facts = Facts {
    name: "kcore",
    title: "Core numbers",
    summary: "Core number of every node",
    is_undirected: true,
    loops: LoopRule::Ignored,
    parallel: ParallelRule::Ignored,
    picture: Picture {
        title: "Nodes by core number",
        axis: "core number",
        bars: Bars::Suited,
    },
    ..Facts::PLAIN
};

/// Passes over all edges, and levels in between, where nodes have many edges.
const PASSES: [f64; 2] = [6.0, 60.0];

/// Work of one thread, in edges of a pass.
const ALONE: Times = Times {
    node: 10.0,
    edge: 5.0,
};

/// Threads up to which one of them is faster than rounds of all.
const ALONE_THREADS: u32 = 2;

/// Degree below which peeling takes many rounds of few nodes: about twice the width of a grid of
/// as many nodes.
const LEAN_DEGREE: f64 = 8.0;

impl Analysis for Kcore {
    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    fn build(&self, graph: &Graph, question: &Question) -> Result<Built, ProgramError> {
        let are_few = question
            .threads
            .is_some_and(|threads| threads <= ALONE_THREADS);
        if are_few && alone::suits(question) {
            let sought = Sought {
                record: SequentialRecord::new(Algorithm::Cores),
                none: 0,
                reading: Reading::Words,
            };
            return alone::build(graph, question, sought);
        }
        build(graph, question)
    }

    fn check(&self, case: &Case<'_>, found: Found<'_>) -> bool {
        let cores = Column::U32(oracle::cores(case.graph));
        has_settled(found.values, &cores, case.end)
    }

    fn answer(&self, _graph: &Graph, column: &Column) -> Answer {
        let Column::U32(numbers) = column else {
            return Answer::reached();
        };
        let largest = u64::from(numbers.iter().max().copied().unwrap_or(0));
        let members = numbers
            .iter()
            .filter(|number| u64::from(**number) == largest);
        let members = members.count() as u64;
        Answer {
            figures: vec![
                Figure::new("largest_core", largest),
                Figure::new("largest_core_nodes", members),
            ],
            sentence: Sentence::Graph(format!(
                "largest core number {}, of {}",
                Count(largest),
                counted(members, "node")
            )),
        }
    }

    fn cost_ns(&self, job: &Job, worker: &Worker) -> f64 {
        if worker.is_cpu() && worker.threads_of(f64::INFINITY) <= f64::from(ALONE_THREADS) {
            return worker.alone_ns(job, ALONE);
        }
        let [passes, levels] = PASSES;
        if job.degree() < LEAN_DEGREE {
            let turns = 2.0 * job.nodes.max(0.0).sqrt();
            return worker.passes_ns(job, passes, turns.max(levels));
        }
        worker.passes_ns(job, passes, levels)
    }
}

/// Store degrees, peel level after level. The graph must be symmetric.
fn build(graph: &Graph, question: &Question) -> Result<Built, ProgramError> {
    let nodes = graph.nodes();
    let mut program = ProgramBuilder::new(nodes);
    let cores = program.words("cores", u64::from(nodes))?;
    let work = program.work("work")?;
    program.reset_work("reset work", work);
    program.seed_peel("store degrees", cores, work);
    program.fixpoint("peel", question.max_iterations, |body| {
        body.step_peel("step", cores, work);
    });
    program.keep(cores);
    Ok(Built {
        program,
        inputs: Vec::new(),
        result: cores,
        parents: None,
        reading: Reading::Words,
    })
}
