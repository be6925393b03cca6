//! Core numbers: the largest k such that a node is in a part of the graph
//! whose nodes all have k neighbours in it.

pub(super) mod oracle;

use super::falling::has_settled;
use super::{
    Analysis, Answer, Bars, Built, Case, Facts, Figure, Found, LoopRule, ParallelRule, Picture,
    Question, Reading, Sentence,
};
use crate::column::Column;
use crate::cost::{Job, Worker};
use crate::graph::Graph;
use crate::program::{ProgramBuilder, ProgramError};
use crate::units::{Count, counted};

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

/// Degree below which peeling takes many rounds of few nodes: about twice the width of a grid of
/// as many nodes.
const LEAN_DEGREE: f64 = 8.0;

impl Analysis for Kcore {
    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    fn build(&self, graph: &Graph, question: &Question) -> Result<Built, ProgramError> {
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
