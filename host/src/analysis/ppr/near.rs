//! Ranks of the nodes around the sources.
//!
//! A round moves rank by one edge, so after `r` rounds all nodes further than that have none: on
//! roads, paths and chains these are nearly all. Here a list begins with the sources, and grows by
//! the neighbours of its nodes each round. Only its nodes share and gather, by the arithmetic of all
//! nodes, so ranks have the same bits.
//!
//! Work: at most `r` times the nodes and edges within `r` edges of the sources, and O(n) once.

use super::weights::Weighing;
use super::{PASSES, Ppr, Registers};
use crate::analysis::lists::{List, list, over};
use crate::analysis::{Analysis, Question, look};
use crate::cost::{Job, Worker};
use crate::graph::Graph;
use crate::program::{Edges, Item, Join, Kind, Over, ProgramBuilder, ProgramError, RegisterId};

/// Share of the graph that all rounds reach, as a divisor, up to which a list pays: a node of a list
/// costs several times what it costs among all.
const PART: u64 = 8;

/// Rounds of all nodes that a node of a list costs.
const OF_LIST: f64 = 4.0;

/// The nodes that may have a rank.
#[derive(Clone, Copy)]
pub(super) struct Near {
    list: List,
    /// Nodes that a round adds.
    found: List,
    /// 1 for nodes of either list.
    seen: RegisterId,
    /// 1 for nodes whose neighbours are not seen yet.
    fresh: RegisterId,
}

/// Whether CPU threads answer `question` and all rounds reach a small part of `graph`.
pub(super) fn suits(graph: &Graph, question: &Question) -> bool {
    if question.threads.is_none() || question.low_memory {
        return false;
    }
    let rounds = (Ppr.rounds_predicted(question.ranking) as u32).min(question.max_iterations);
    let most = (u64::from(graph.nodes()) + u64::from(graph.edges())) / PART;
    let looked = look::search(graph, &question.sources, rounds, most);
    question.sources.len() as u64 + looked.edges <= most
}

/// The share of a graph's nodes that all rounds of `job` reach: levels hold ever more nodes unless
/// all are narrow.
fn part(job: &Job) -> f64 {
    let [narrow, others @ ..] = job.tally.levels;
    let is_narrow = narrow > 8.0 * others.iter().sum::<f64>();
    let part = (job.rounds / job.tally.depth().max(1.0)).min(1.0);
    let reached: f64 = job.tally.nodes.iter().sum();
    let of_all = (reached / job.nodes.max(1.0)).min(1.0);
    of_all * if is_narrow { part } else { part * part }
}

/// Whether a program for `job` is expected to rank a list.
pub(super) fn is_expected(job: &Job) -> bool {
    part(job) * PART as f64 <= 1.0
}

/// Cost of such a program on CPU threads, nanoseconds.
pub(super) fn cost_ns(job: &Job, worker: &Worker) -> f64 {
    let part = part(job);
    let near = Job {
        nodes: job.nodes * part,
        edges: job.edges * part,
        ..*job
    };
    let [passes, levels] = PASSES;
    let filled = worker.passes_ns(job, passes, 0.0);
    filled + job.rounds * worker.passes_ns(&near, OF_LIST * passes, levels)
}

impl Near {
    /// Begins with the nodes where a walk starts.
    pub(super) fn begin(
        program: &mut ProgramBuilder,
        registers: Registers,
        weighing: Option<Weighing>,
    ) -> Result<Self, ProgramError> {
        let near = Self {
            list: list(program, ["near", "near count"])?,
            found: list(program, ["found", "found count"])?,
            seen: program.per_node("seen", Kind::U32)?,
            fresh: program.per_node("fresh", Kind::U32)?,
        };
        // Neighbours that are in no list pass on nothing.
        program.fill("nothing is shared", registers.shares, 0);
        program.fill("nothing is fresh", near.fresh, 0);
        program.each("begin at the sources", Over::Nodes, |node| {
            let starts = node.load(registers.starts).above(0.0);
            node.store(near.seen, starts);
            node.append(near.found, node.index(), starts);
        });
        near.take(program, weighing);
        Ok(near)
    }

    /// The nodes that are ranked.
    pub(super) fn over(self) -> Over {
        over(self.list)
    }

    /// Empties the list of nodes that a round adds.
    pub(super) fn empty(self, body: &mut ProgramBuilder) {
        body.fill("none is found", self.found.1, 0);
    }

    /// Finds the neighbours of a node that were not seen before. The last code for a node.
    pub(super) fn find(self, node: Item<'_>) {
        node.only(node.load(self.fresh));
        node.store(self.fresh, 0);
        node.each_edge(Edges::Out, |edge| {
            let neighbour = edge.neighbour();
            edge.only(edge.latest(self.seen, neighbour).is_zero());
            let before = edge.scatter(self.seen, neighbour, Join::Or, 1);
            edge.append(self.found, neighbour, before.is_zero());
        });
    }

    /// Adds the nodes that were found.
    pub(super) fn take(self, body: &mut ProgramBuilder, weighing: Option<Weighing>) {
        body.each("come nearer", over(self.found), |node| {
            node.append(self.list, node.index(), 1);
            node.store(self.fresh, 1);
            if let Some(weighing) = weighing {
                weighing.weigh(node);
            }
        });
    }
}
