//! Core numbers: the largest k such that a node is in a subgraph whose nodes all have k neighbours
//! in it.
//!
//! All nodes with the fewest neighbours are removed at once, in rounds, and each core number costs
//! a pass over all nodes: `O(m + n h)` for `h` core numbers. If `h` may be so large that this
//! exceeds the edges, a CPU thread keeps nodes in the order of their remaining neighbours: `m` edge
//! visits, whatever the shape. Otherwise, rounds are twice as fast.

pub(super) mod oracle;

use super::alone::{self, Sought};
use super::falling::has_settled;
use super::{
    Analysis, AnalysisOutput, Answer, Bars, Built, Case, Facts, Figure, Highlight, LoopRule,
    ParallelRule, Picture, Question, Reading,
};
use crate::column::Column;
use crate::cost::{Job, Worker};
use crate::graph::Graph;
use crate::program::{ProgramBuilder, ProgramError};
use crate::units::{Count, counted};
use seawall_core::abi::sequential::Algorithm;

pub(super) struct Kcore;

pub(super) const FACTS: Facts = Facts {
    name: "kcore",
    title: "Core numbers",
    summary: "Core number of every node",
    is_undirected: true,
    loops: LoopRule::Ignored,
    parallel: ParallelRule::Ignored,
    highlight: Highlight::Highest,
    picture: Picture {
        title: "Nodes by core number",
        axis: "core number",
        bars: Bars::Suited,
    },
    ..Facts::PLAIN
};

/// Passes over all edges, and levels in between, where nodes have many edges.
const PASSES: [f64; 2] = [6.0, 60.0];

/// Node visits in search of the next core number, per node, edge and thread, from which one thread
/// keeps the order of nodes. The h-index of degrees overstates the rounds, and the order waits for
/// memory on large graphs: with 45 visits, `gen:rmat:20:16` took 950 ms in rounds and 1 573 in
/// order, with 33 `gen:rmat:18:16` took 139 and 178 (two shared x86-64 cores, 2026-11-27).
const VISITS_MOST: u64 = 64;

/// Degree below which peeling takes many rounds of few nodes: about twice the width of a grid of
/// as many nodes.
const LEAN_DEGREE: f64 = 8.0;

impl Analysis for Kcore {
    fn build(&self, graph: &Graph, question: &Question) -> Result<Built, ProgramError> {
        let has_many_levels = |threads: u32| {
            let size = u64::from(graph.nodes()) + u64::from(graph.edges());
            let visits = u64::from(graph.nodes()) * levels_most(graph.offsets());
            visits > VISITS_MOST * u64::from(threads) * size
        };
        if alone::suits(question) && question.threads.is_some_and(has_many_levels) {
            return alone::build(graph, question, Sought::words(Algorithm::Cores, 0));
        }
        build(graph, question)
    }

    fn check(&self, case: &Case<'_>, found: AnalysisOutput<'_>) -> bool {
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
        let (core, nodes) = (Count(largest), counted(members, "node"));
        let figures = vec![
            Figure::new("largest_core", largest),
            Figure::new("largest_core_nodes", members),
        ];
        Answer::of_graph(figures, format!("largest core number {core}, of {nodes}"))
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

/// The largest possible core number: the largest `k` such that `k` nodes have `k` neighbours.
fn levels_most(offsets: &[u32]) -> u64 {
    let edges = offsets.last().copied().unwrap_or(0);
    let most = edges.isqrt() as usize + 1;
    let mut counts = vec![0_u64; most + 1];
    for row in offsets.windows(2) {
        counts[((row[1] - row[0]) as usize).min(most)] += 1;
    }
    let mut nodes = 0;
    for (degree, count) in counts.into_iter().enumerate().rev() {
        nodes += count;
        if nodes >= degree as u64 {
            return degree as u64;
        }
    }
    0
}

/// Stores degrees and peels level after level. The graph must be symmetric.
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
    Ok(Built::of(program, Vec::new(), cores, Reading::Words))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::PlanRequest;
    use seawall_core::abi::program::{Opcode, WaveRecord};

    #[test]
    fn a_core_has_no_larger_number_than_so_many_nodes_have_neighbours() {
        assert_eq!(levels_most(&[0]), 0);
        assert_eq!(levels_most(&[0, 0, 0]), 0);
        // A star, a triangle, and degrees 5, 4, 4, 2, 1.
        assert_eq!(levels_most(&[0, 4, 5, 6, 7, 8]), 1);
        assert_eq!(levels_most(&[0, 2, 4, 6]), 2);
        assert_eq!(levels_most(&[0, 5, 9, 13, 15, 16]), 3);
    }

    #[test]
    fn one_thread_keeps_the_order_where_nodes_have_many_core_numbers() {
        // The last of 300 nodes have increasing numbers of neighbours; others have none.
        let edges: Vec<_> = (0..300_u32)
            .flat_map(|node| (node / 2..node).map(move |other| (node, other)))
            .collect();
        let nested = Graph::from_edges(200_000, &edges, true).unwrap();
        let path: Vec<_> = (1..20_000).map(|node| (node - 1, node)).collect();
        let path = Graph::from_edges(20_000, &path, true).unwrap();
        let has_loop = |graph: &Graph, threads: u32| {
            let question = Question {
                threads: Some(threads),
                ..Question::new(Vec::new())
            };
            let built = Kcore.build(graph, &question).unwrap();
            let (program, _) = built.program.encode(&PlanRequest::default()).unwrap();
            let peels = |wave: &WaveRecord| wave.opcode == Opcode::StepPeel as u32;
            program.waves.iter().any(peels)
        };
        assert!(!has_loop(&nested, 1) && has_loop(&nested, 16));
        assert!(has_loop(&path, 1));
    }
}
