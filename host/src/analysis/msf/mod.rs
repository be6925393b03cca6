//! Minimum spanning forest: edges of least total weight that connect every component.
//!
//! Every tree of the forest so far takes the lightest edge that leaves it, and trees that meet
//! become one, until none is left (Borůvka, 1926). Edges of equal weight are ordered by their ends,
//! so that the forest is unique and has no cycle.
//!
//! The maximum spanning forest is the minimum one of complemented weights: edges of equal weight
//! keep their order.
//!
//! On a CPU one thread keeps a list of the edges that still leave a tree, in at most `2 m + m / 2
//! log2 n` edge visits ([`seawall_core::abi::sequential`]); it takes 5 words for each node and 2
//! for each directed edge.
//!
//! In the program for GPUs a node keeps the lightest of its edges that leave its tree, and reads
//! its row again only once that edge leads into the tree: edges never leave a tree again. Both
//! methods store the same edges at the same nodes.

mod oracle;

use super::alone::{self, Sought};
use super::lists::{List, over};
use super::{
    Analysis, AnalysisOutput, Answer, Bars, Built, Case, Facts, Figure, LoopRule, ParallelRule,
    Picture, Question, Reading, Values,
};
use crate::column::Column;
use crate::cost::{Job, Times, Worker};
use crate::graph::{Graph, WeightKind};
use crate::program::{
    Edge, Edges, Join, Kind, Over, ProgramBuilder, ProgramError, RegisterId, Value,
};
use crate::units::counted;
use seawall_core::abi::sequential::{Algorithm, SequentialRecord};

pub(super) struct Msf;

pub(super) const FACTS: Facts = Facts {
    name: "msf",
    title: "Minimum spanning forest",
    summary: "A minimum spanning forest: for every node but one of a component an edge, as its ends",
    values: Values::Edges,
    is_undirected: true,
    reads_weights: true,
    signed: true,
    loops: LoopRule::Ignored,
    parallel: ParallelRule::Least,
    has_maximum: true,
    picture: Picture {
        title: "Nodes by the edge that they hold",
        axis: "larger end times 2^32, and the smaller end",
        bars: Bars::Suited,
    },
    ..Facts::PLAIN
};

/// Passes over all edges, and levels in between.
const PASSES: [f64; 2] = [7.0, 80.0];

/// Work of one thread, in edges of a pass.
const ALONE: Times = Times {
    node: 4.0,
    edge: 16.0,
};

/// Stands for no edge.
const NONE: u64 = u64::MAX;

impl Analysis for Msf {
    fn build(&self, graph: &Graph, question: &Question) -> Result<Built, ProgramError> {
        let record = SequentialRecord {
            lengths: alone::lengths(graph, true),
            maximum: question.maximum,
            ..SequentialRecord::new(Algorithm::Forest)
        };
        // A register has less than 2^32 words.
        let words = record.scratch_words(graph.nodes(), graph.edges());
        if alone::suits(question) && u32::try_from(words).is_ok() {
            let sought = Sought {
                record,
                none: u32::MAX,
                reading: Reading::WideWords,
            };
            return alone::build(graph, question, sought);
        }
        build(graph, question)
    }

    /// A run that a limit ended has found only a part of the forest.
    fn check(&self, case: &Case<'_>, found: AnalysisOutput<'_>) -> bool {
        let Column::U64(edges) = found.values else {
            return false;
        };
        let order = oracle::Order::of(case.question);
        oracle::is_forest(case.graph, order, edges, case.end.converged)
    }

    fn answer(&self, graph: &Graph, column: &Column) -> Answer {
        let Column::U64(edges) = column else {
            return Answer::reached();
        };
        let held = edges.iter().filter(|edge| **edge != NONE);
        let (count, weight) = (held.clone().count() as u64, oracle::weight(graph, held));
        let edges = counted(count, "edge");
        let text = format!("a forest of {edges} and weight {weight}");
        let weight = Figure::new("forest_weight", weight);
        Answer::of_graph(
            vec![Figure::count("forest_edges", "edge", count), weight],
            text,
        )
    }

    fn parallel(&self, maximum: bool) -> ParallelRule {
        match maximum {
            true => ParallelRule::Greatest,
            false => ParallelRule::Least,
        }
    }

    fn cost_ns(&self, job: &Job, worker: &Worker) -> f64 {
        if worker.is_cpu() {
            return worker.alone_ns(job, ALONE);
        }
        let [passes, levels] = PASSES;
        worker.code_ns(job, passes, levels)
    }
}

/// The registers of the program, each except the count with a value per node.
#[derive(Clone, Copy)]
struct Registers {
    /// The root of each node's tree.
    roots: RegisterId,
    /// The lightest edge that leaves a node's tree at the node: its weight above the node at its
    /// other end. [`NONE`] for a node without one, which never has one again.
    leaving: RegisterId,
    /// The least weight that leaves a root's tree, and the ends of that edge.
    lightest: RegisterId,
    picks: RegisterId,
    /// The root that each root joins, or itself.
    joins: RegisterId,
    /// The same without cycles of two.
    leads: RegisterId,
    /// The edge by which a root has joined another.
    edges: RegisterId,
    /// The list of roots that joined another root in this turn, and its length.
    joined: List,
    /// Whether several devices share the program: they count these roots and keep no list.
    is_shared: bool,
    weights: WeightKind,
    /// Whether heavy edges come first.
    maximum: bool,
}

impl Registers {
    /// Finds the lightest edge that leaves each tree.
    fn pick(self, body: &mut ProgramBuilder) {
        body.each("search again", Over::Nodes, |node| {
            let known = node.load(self.leaving);
            node.only(known.differs(NONE));
            let own = node.load(self.roots);
            node.only(node.at(self.roots, known.to_u32()).equals(own));
            // At one node, the order of equal edges by their ends is the order by the other end.
            let least = node.gather(Edges::Out, Join::Min, |edge| {
                let other = edge.neighbour();
                edge.only(edge.at(self.roots, other).differs(own));
                other.below_high(weight(edge, self))
            });
            node.store(self.leaving, least);
        });
        body.each("lightest", Over::Nodes, |node| {
            let known = node.load(self.leaving);
            node.only(known.differs(NONE));
            let (own, weight) = (node.load(self.roots), known.high());
            // Many nodes share a root, and a load is cheaper than an atomic change.
            node.only(node.latest(self.lightest, own).above(weight));
            node.scatter(self.lightest, own, Join::Min, weight);
        });
        body.each("pick", Over::Nodes, |node| {
            let known = node.load(self.leaving);
            node.only(known.differs(NONE));
            let own = node.load(self.roots);
            node.only(node.at(self.lightest, own).equals(known.high()));
            let (number, other) = (node.index(), known.to_u32());
            let pick = number.max(other).below_high(number.min(other));
            node.scatter(self.picks, own, Join::Min, pick);
        });
    }

    /// Joins each tree to the one that its lightest edge leads to.
    fn turn(self, body: &mut ProgramBuilder) {
        let (_, joined) = self.joined;
        self.pick(body);
        body.each("join", Over::Nodes, |node| {
            let pick = node.load(self.picks);
            let own = node.index();
            let (one, other) = (pick.to_u32(), pick.high());
            let is_picked = pick.differs(NONE);
            // A missing edge has no ends.
            let (one, other) = (is_picked.select(one, own), is_picked.select(other, own));
            let (one, other) = (node.at(self.roots, one), node.at(self.roots, other));
            let to = one.equals(own).select(other, one);
            node.store(self.joins, is_picked.select(to, own));
        });
        body.fill("count anew", joined, 0);
        body.each("part circles", Over::Nodes, |node| {
            let (own, to) = (node.index(), node.load(self.joins));
            let is_circle = node.at(self.joins, to).equals(own) & own.below(to);
            let stays = is_circle | to.equals(own);
            node.store(self.leads, stays.select(own, to));
            node.only(stays.is_zero());
            node.store(self.edges, node.load(self.picks));
            match self.is_shared {
                true => node.fold(joined, Join::Sum, 1),
                false => node.append(self.joined, own, 1),
            }
        });
        body.fixpoint("follow", Question::UNLIMITED, |body| {
            let trees = match self.is_shared {
                true => Over::Nodes,
                false => over(self.joined),
            };
            body.each("leap", trees, |node| {
                if self.is_shared {
                    node.only(node.load(self.roots).equals(node.index()));
                }
                let own = node.latest(self.leads, node.index());
                let next = node.latest(self.leads, own);
                node.only(next.differs(own));
                node.store(self.leads, next);
                node.changed(1);
            });
        });
        body.each("name roots", Over::Nodes, |node| {
            node.store(self.roots, node.at(self.leads, node.load(self.roots)));
            node.store(self.lightest, u32::MAX);
            node.store(self.picks, NONE);
        });
    }
}

fn build(graph: &Graph, question: &Question) -> Result<Built, ProgramError> {
    let mut program = ProgramBuilder::new(graph.nodes());
    let registers = Registers {
        roots: program.per_node("roots", Kind::U32)?,
        leaving: program.per_node("leaving", Kind::U64)?,
        lightest: program.per_node("lightest", Kind::U32)?,
        picks: program.per_node("picks", Kind::U64)?,
        joins: program.per_node("joins", Kind::U32)?,
        leads: program.per_node("leads", Kind::U32)?,
        edges: program.per_node("edges", Kind::U64)?,
        joined: (
            program.per_node("joined", Kind::U32)?,
            program.values("joined count", Kind::U32, 1)?,
        ),
        is_shared: question.shared,
        weights: graph.weight_kind().unwrap_or(WeightKind::Integer),
        maximum: question.maximum,
    };
    let (list, joined) = registers.joined;
    program.fill("none joined", list, 0);
    program.fill("begin", joined, 1);
    program.each("trees of one node", Over::Nodes, |node| {
        node.store(registers.roots, node.index());
        node.store(registers.leads, node.index());
        node.store(registers.edges, NONE);
        // There are no loops yet, so all nodes search for an edge.
        node.store(registers.leaving, node.index().to_u64());
        node.store(registers.lightest, u32::MAX);
        node.store(registers.picks, NONE);
    });
    program.while_nonzero("join trees", joined, question.max_iterations, |body| {
        registers.turn(body)
    });
    Ok(Built::of(
        program,
        Vec::new(),
        registers.edges,
        Reading::WideWords,
    ))
}

/// The weight of an edge as a word that orders like the weights, least first.
fn weight<'c>(edge: Edge<'c>, registers: Registers) -> Value<'c> {
    let word = edge.weight_word(registers.weights);
    if registers.maximum {
        word ^ u32::MAX
    } else {
        word
    }
}

#[cfg(test)]
mod tests {
    use super::super::{AnalysisKind, End};
    use super::*;

    #[test]
    fn forests_that_are_none_are_refused() {
        let edges = [(0, 1, 5), (1, 2, 1), (0, 2, 2), (3, 4, 9)];
        let graph = Graph::from_weighted_edges(5, &edges, true).unwrap();
        let question = Question::new(Vec::new());
        let edge = |one: u64, other: u64| one << 32 | other;
        let judge = |values: [u64; 5], converged| {
            let end = End {
                iterations: 2,
                converged,
            };
            let values = Column::U64(values.to_vec());
            AnalysisKind::Msf.accepts(&graph, &question, end, values)
        };
        let best = [edge(0, 2), edge(1, 2), NONE, edge(3, 4), NONE];
        assert!(judge(best, true) && judge(best, false));
        let (missing, heavy) = ([NONE; 5], [edge(0, 1), edge(1, 2), NONE, edge(3, 4), NONE]);
        assert!(!judge(missing, true) && judge(missing, false));
        assert!(!judge(heavy, true) && !judge(heavy, false));
        let none = [edge(0, 3), NONE, NONE, NONE, NONE];
        assert!(!judge(none, false), "no edge of the graph");
    }
}
