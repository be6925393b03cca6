//! Maximal independent set: a set of nodes without neighbours among them to which no node can be
//! added.
//!
//! Every node has a priority, and the highest among its neighbours joins the set (Luby, "A Simple
//! Parallel Algorithm for the Maximal Independent Set Problem", 1986). Nodes with few edges come
//! first, as they keep few others out (Burtscher, Devale, Azimi, Jaiganesh, Powers, "A High-Quality
//! and Fast Maximal Independent Set Implementation for GPUs", 2018). The set only depends on the
//! priorities.
//!
//! With few CPU threads one of them decides the nodes in that order, each once
//! (`seawall_device::cpu::sequential`), which is the same set. On a GPU and on many threads a program of
//! code works in rounds.
//!
//! A round visits the nodes that are undecided: it lists those of the next one. Lists take turns,
//! and a round empties the list of the next one, so that it takes one barrier. The first round
//! visits all nodes; the first two if degrees are even, since most nodes that the first could list
//! are out before it ends.

mod oracle;

use super::alone::{self, Sought};
use super::lists::{List, list, of_turn, over};
use super::{
    Analysis, AnalysisOutput, Answer, Bars, Built, Case, Facts, Figure, LoopRule, Picture,
    Question, Reading, Values,
};
use crate::column::Column;
use crate::cost::{Job, Times, Worker};
use crate::graph::Graph;
use crate::program::{
    Edges, Item, Join, Kind, Over, ProgramBuilder, ProgramError, RegisterId, Value,
};
use crate::units::counted;
use seawall_core::abi::sequential::Algorithm;

pub(super) struct Mis;

pub(super) const FACTS: Facts = Facts {
    name: "mis",
    title: "Maximal independent set",
    summary: "A maximal independent set: 1 for its nodes, of which no two are neighbours",
    values: Values::Flags,
    is_undirected: true,
    loops: LoopRule::Ignored,
    picture: Picture {
        title: "Nodes in the independent set",
        axis: "1 for nodes of the set",
        bars: Bars::Even,
    },
    ..Facts::PLAIN
};

/// Passes over all edges, and levels in between.
const PASSES: [f64; 2] = [0.6, 10.0];

/// Work of one thread, in edges of a pass.
const ALONE: Times = Times {
    node: 100.0,
    edge: 1.5,
};

/// State of a node in the set. A node out of it has 0, an undecided one its priority.
const IN: u32 = u32::MAX;

impl Analysis for Mis {
    fn build(&self, graph: &Graph, question: &Question) -> Result<Built, ProgramError> {
        if alone::suits_few(question) {
            let sought = Sought::words(Algorithm::IndependentSet, 0);
            let shape = Shape::of(graph);
            return alone::build_greedy(graph, question, sought, |node| priority(node, shape));
        }
        match question.shared {
            true => build_shared(graph, question),
            false => build(graph, question),
        }
    }

    /// There are many such sets; the result is checked by the definition.
    fn check(&self, case: &Case<'_>, found: AnalysisOutput<'_>) -> bool {
        let Column::U32(flags) = found.values else {
            return false;
        };
        oracle::is_independent(case.graph, flags)
            && (!case.end.converged || oracle::is_maximal(case.graph, flags))
    }

    fn answer(&self, _graph: &Graph, column: &Column) -> Answer {
        let members = self.reached(column);
        let text = format!("an independent set of {}", counted(members, "node"));
        Answer::of_graph(vec![Figure::count("members", "member", members)], text)
    }

    fn cost_ns(&self, job: &Job, worker: &Worker) -> f64 {
        if alone::is_few(worker) {
            return worker.alone_ns(job, ALONE);
        }
        let [passes, levels] = PASSES;
        worker.code_ns(job, passes, levels)
    }
}

fn build(graph: &Graph, question: &Question) -> Result<Built, ProgramError> {
    let mut program = ProgramBuilder::new(graph.nodes());
    let states = program.per_node("states", Kind::U32)?;
    let members = program.per_node("members", Kind::U32)?;
    let lists = [
        list(&mut program, ["undecided", "undecided count"])?,
        list(&mut program, ["undecided next", "next count"])?,
        list(&mut program, ["undecided later", "later count"])?,
    ];
    let shape = Shape::of(graph);
    program.fill("none is in", members, 0);
    program.each("draw priorities", Over::Nodes, |node| {
        node.store(states, priority(node, shape));
    });
    if shape.is_even() {
        program.each("first round", Over::Nodes, |node| {
            let own = node.latest(states, node.index());
            // No other code puts a node in.
            node.only(own);
            let best = best_beside(node, states, own);
            join(node, [states, members], best.below(own));
        });
    }
    program.each("listing round", Over::Nodes, |node| {
        decide(node, [states, members], lists[0]);
    });
    program.fixpoint("decide", question.max_iterations, |body| {
        for turn in 0..3 {
            let [now, next, later] = of_turn(lists, turn);
            body.fill("none", later.1, 0);
            body.each("round", over(now), |node| {
                node.changed(1);
                decide(node, [states, members], next);
            });
        }
    });
    Ok(Built::of(program, Vec::new(), members, Reading::Words))
}

/// The program that several devices share: each undecided node looks at all of its neighbours in each
/// round, and no other code decides for it. Work: m for each round at most.
fn build_shared(graph: &Graph, question: &Question) -> Result<Built, ProgramError> {
    let mut program = ProgramBuilder::new(graph.nodes());
    let states = program.per_node("states", Kind::U32)?;
    let members = program.per_node("members", Kind::U32)?;
    let shape = Shape::of(graph);
    program.each("draw priorities", Over::Nodes, |node| {
        node.store(states, priority(node, shape));
    });
    program.fixpoint("decide", question.max_iterations, |body| {
        body.each("round", Over::Nodes, |node| {
            let own = node.latest(states, node.index());
            node.only((own - 1).below(IN - 1));
            let best = node.gather(Edges::Out, Join::Max, |edge| {
                edge.latest(states, edge.neighbour())
            });
            let is_out = best.equals(IN);
            node.only(is_out | best.below(own));
            node.store(states, is_out.select(0, IN));
            node.changed(1);
        });
    });
    program.each("members", Over::Nodes, |node| {
        node.store(members, node.load(states).equals(IN));
    });
    Ok(Built::of(program, Vec::new(), members, Reading::Words))
}

/// Puts a node into the set if it comes before all of its undecided neighbours, and takes those
/// out; otherwise lists it as waiting.
fn decide(node: Item<'_>, registers: [RegisterId; 2], next: List) {
    let [states, _] = registers;
    let own = node.latest(states, node.index());
    node.only((own - 1).below(IN - 1));
    let best = best_beside(node, states, own);
    // A node in the set takes its neighbours out itself.
    node.append(next, node.index(), best.above(own) & best.differs(IN));
    join(node, registers, best.below(own));
}

/// The largest state of a node's neighbours, up to the first that comes before the node, decided or
/// not.
fn best_beside<'c>(node: Item<'c>, states: RegisterId, own: Value<'c>) -> Value<'c> {
    node.gather(Edges::Out, Join::Max, |edge| {
        let theirs = edge.latest(states, edge.neighbour());
        edge.until(theirs.above(own));
        theirs
    })
}

/// Puts a node into the set if it is the first, and takes its neighbours out.
fn join<'c>(node: Item<'c>, [states, members]: [RegisterId; 2], is_first: Value<'c>) {
    node.only(is_first);
    node.store(members, 1);
    node.scatter(states, node.index(), Join::Max, IN);
    node.each_edge(Edges::Out, |edge| {
        edge.scatter(states, edge.neighbour(), Join::Min, 0);
    });
}

/// Layout of the bits of a priority.
#[derive(Clone, Copy, Debug)]
struct Shape {
    /// Bits of a number that is different for each node.
    chance: u32,
    /// Bits of the magnitude of a degree that are left out; all if most nodes have the same degree.
    dropped: u32,
}

/// Bits that distinguish the magnitudes of degrees: their exponents and the bit below.
const MAGNITUDE_BITS: u32 = 6;

/// The exponent of a float of 1 and the first bit of its fraction.
const LEAST: u32 = 254;

/// Nodes that are sampled to see whether most have the same degree.
const SAMPLES: usize = 512;

impl Shape {
    fn of(graph: &Graph) -> Self {
        let chance = u32::BITS - graph.nodes().saturating_sub(1).leading_zeros();
        // The last bit keeps priorities apart from the states 0 and IN.
        let space = u32::BITS - 1 - chance.min(u32::BITS - 1);
        Self {
            chance: chance.max(2),
            dropped: if is_even(graph) {
                MAGNITUDE_BITS
            } else {
                MAGNITUDE_BITS.saturating_sub(space)
            },
        }
    }

    /// Whether degrees are left out.
    const fn is_even(self) -> bool {
        self.dropped >= MAGNITUDE_BITS
    }
}

/// Whether nearly all nodes have the median degree: degrees then decide little, and take half of
/// the work of drawing priorities.
fn is_even(graph: &Graph) -> bool {
    let offsets = graph.offsets();
    let nodes = offsets.len().saturating_sub(1);
    let degree = |node: usize| offsets[node + 1] - offsets[node];
    let samples = nodes.min(SAMPLES);
    let same = |sample: &usize| degree(sample * nodes / samples) == degree(nodes / 2);
    samples > 0 && (0..samples).filter(same).count() * 16 >= samples * 15
}

/// The priority of a node: by the magnitude of its degree, then random. No two nodes have the same.
fn priority(node: Item<'_>, shape: Shape) -> Value<'_> {
    let number = node.index();
    let chance = mixed(number, shape.chance);
    if shape.is_even() {
        return chance + 1;
    }
    let magnitude = node.degree(Edges::Out, number).to_f32().bits() >> 22;
    // No word has a larger magnitude than this.
    let most = LEAST + (1_u32 << MAGNITUDE_BITS) - 1;
    let few = node.constant(most) - magnitude.max(LEAST);
    let few = match shape.dropped {
        0 => few,
        dropped => few >> dropped,
    };
    ((few << shape.chance) | chance) + 1
}

/// Mixes the low `bits` bits of a number; different ones stay different. Numbers of 32 bits stay
/// unchanged: a mixed one could equal a state.
fn mixed(number: Value<'_>, bits: u32) -> Value<'_> {
    if bits >= u32::BITS {
        return number;
    }
    let mask = u32::MAX >> (u32::BITS - bits);
    let mixed = (number * 0x9E37_79B1_u32) & mask;
    ((mixed ^ (mixed >> (bits / 2))) * 0x7FEB_352D_u32) & mask
}

#[cfg(test)]
mod tests {
    use super::super::{AnalysisKind, End};
    use super::*;

    #[test]
    fn sets_that_are_none_are_refused() {
        let graph = Graph::from_edges(4, &[(0, 1), (1, 2), (2, 3)], true).unwrap();
        let question = Question::new(Vec::new());
        let judge = |flags: [u32; 4], converged| {
            let end = End {
                iterations: 3,
                converged,
            };
            let flags = Column::U32(flags.to_vec());
            AnalysisKind::Mis.accepts(&graph, &question, end, flags)
        };
        assert!(judge([1, 0, 0, 1], true) && judge([0, 1, 0, 1], true));
        assert!(!judge([1, 1, 0, 1], true), "neighbours");
        assert!(!judge([1, 0, 0, 0], true), "one could be added");
        assert!(judge([1, 0, 0, 0], false) && !judge([1, 1, 0, 0], false));
        assert!(!judge([2, 0, 0, 1], true), "no flag");
    }
}
