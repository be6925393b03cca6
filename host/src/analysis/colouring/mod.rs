//! Colouring: numbers for nodes, such that no two neighbours have the same.
//!
//! A node takes the least number that its neighbours of higher priority leave free, once all of
//! them have theirs (Jones, Plassmann, "A Parallel Graph Coloring Heuristic", 1993). Nodes with
//! many edges come first, which takes few colours. The colouring only depends on the priorities.
//!
//! With few CPU threads one of them colours the nodes in that order, each once
//! (`seawall_device::cpu::sequential`). On a GPU and on many threads a program of code works in rounds.
//!
//! A node that gets its colour notifies the neighbours that wait for it, and lists those that wait
//! for none any more. So edges are visited about twice, however many rounds there are. Lists take
//! turns, and a round empties the list of the next one, so that it takes one barrier.
//!
//! Nodes with very many edges wait for each other longest, and on a GPU notifying all of their
//! neighbours in every round would take longer still. So there, and on many threads, they come first,
//! by a separate method ([`hubs`]), and notify the others at once. It takes fewer rounds and more work,
//! so few threads do without it. Graphs whose rows are all short have another method ([`short`]).

mod hubs;
mod oracle;
mod short;

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
use hubs::Hubs;
use seawall_core::abi::UNREACHED;
use seawall_core::abi::sequential::Algorithm;

pub(super) struct Colouring;

pub(super) const FACTS: Facts = Facts {
    name: "colouring",
    title: "Colouring",
    summary: "A colour for every node, numbers from 0 on, no two neighbours of the same",
    values: Values::NumbersOfReached,
    is_undirected: true,
    loops: LoopRule::Ignored,
    picture: Picture {
        title: "Nodes by colour",
        axis: "colour",
        bars: Bars::Even,
    },
    ..Facts::PLAIN
};

/// Passes over all edges, and levels in between.
const PASSES: [f64; 2] = [5.0, 60.0];

/// Work of one thread, in edges of a pass.
const ALONE: Times = Times {
    node: 330.0,
    edge: 3.0,
};

/// Colours that a node checks in a round once all that it was notified of are taken.
const WINDOW: u32 = u64::BITS;

/// Edges per node up to which graphs hardly need more colours than nodes are notified of.
const LEAN: u64 = 48;

/// More neighbours than a node waits for.
const MOST_WAITS: u32 = 1 << 31;

/// Colours that neighbours notify a node of.
const NOTIFIED: u32 = u32::BITS;

impl Analysis for Colouring {
    fn build(&self, graph: &Graph, question: &Question) -> Result<Built, ProgramError> {
        if alone::suits_few(question) {
            let sought = Sought::words(Algorithm::Colours, UNREACHED);
            let (is_short, order) = (short::fits(graph), Order::of(graph));
            return alone::build_greedy(graph, question, sought, |node| match is_short {
                true => short::priority(node.index()),
                false => order.priority(node),
            });
        }
        build(graph, question)
    }

    /// There are many colourings; the result is checked by the definition.
    fn check(&self, case: &Case<'_>, found: AnalysisOutput<'_>) -> bool {
        let Column::U32(colours) = found.values else {
            return false;
        };
        oracle::is_proper(case.graph, colours)
            && (!case.end.converged || oracle::is_greedy(case.graph, colours))
    }

    fn answer(&self, _graph: &Graph, column: &Column) -> Answer {
        let Column::U32(colours) = column else {
            return Answer::reached();
        };
        let given = colours.iter().filter(|colour| **colour != UNREACHED);
        let most = given.max().map_or(0, |colour| u64::from(*colour) + 1);
        Answer::of_graph(vec![Figure::new("colours", most)], counted(most, "colour"))
    }

    fn cost_ns(&self, job: &Job, worker: &Worker) -> f64 {
        if alone::is_few(worker) {
            return worker.alone_ns(job, ALONE);
        }
        let [passes, levels] = PASSES;
        worker.code_ns(job, passes, levels)
    }
}

/// The registers of the program, each with a value per node.
#[derive(Clone, Copy)]
struct Registers {
    priorities: RegisterId,
    colours: RegisterId,
    /// Bits of the colours below [`NOTIFIED`] that neighbours have.
    used: RegisterId,
    /// The first colour that a node has not checked yet, from [`NOTIFIED`] on.
    bases: RegisterId,
    /// Uncoloured neighbours that precede a node; for nodes other than hubs, without hubs. With
    /// [`Order::counts_on`], the count continues below 0 for nodes with a colour.
    waits: RegisterId,
    counts_on: bool,
}

impl Registers {
    /// Counts the predecessors of each node; nodes without any are ready.
    fn begin(self, program: &mut ProgramBuilder, order: Order, hubs: Option<Hubs>, ready: List) {
        program.each("draw priorities", Over::Nodes, |node| {
            node.store(self.priorities, order.priority(node));
            node.store(self.colours, UNREACHED);
            node.store(self.used, 0);
            node.store(self.bases, 0);
            if let Some(hubs) = hubs {
                node.append(hubs.list, node.index(), hubs::is_hub(node));
            }
        });
        program.each("count who comes before", Over::Nodes, |node| {
            let own = node.load(self.priorities);
            // Priorities above this node's; for nodes other than hubs, also below the least hub's.
            let Some(is_hub) = hubs.map(|_| hubs::is_hub(node)) else {
                let before = node.gather(Edges::Out, Join::Sum, |edge| {
                    edge.there(self.priorities).above(own)
                });
                node.store(self.waits, before);
                node.append(ready, node.index(), before.is_zero());
                return;
            };
            let first = own + 1;
            let count = is_hub.select(u64::MAX, hubs::LEAST_PRIORITY) - first;
            let before = node.gather(Edges::Out, Join::Sum, |edge| {
                (edge.there(self.priorities) - first).below(count)
            });
            node.store(self.waits, before);
            node.append(ready, node.index(), before.is_zero() & is_hub.is_zero());
        });
    }

    /// Colours the nodes that are ready, and finds the next ready ones. Each edge is visited once from
    /// its first end. Lists the nodes that need colours beyond those that they were notified of.
    fn round(self, body: &mut ProgramBuilder, [ready, next, full]: [List; 3]) {
        body.each("round", over(ready), |node| {
            node.changed(1);
            let taken = node.latest(self.used, node.index());
            let colour = (taken ^ u32::MAX).low_zeros();
            let is_full = colour.equals(NOTIFIED);
            node.append(full, node.index(), is_full);
            node.only(is_full.is_zero());
            self.settle(node, colour, next);
        });
    }

    /// Checks the colours of all neighbours of the nodes in `full`, one window of colours at a time.
    fn look(self, body: &mut ProgramBuilder, [full, next, full_next]: [List; 3]) {
        body.each("search beyond", over(full), |node| {
            node.changed(1);
            let base = node.load(self.bases).max(NOTIFIED);
            let taken = node.gather(Edges::Out, Join::Or, |edge| {
                let colour = edge.latest(self.colours, edge.neighbour());
                // No bit for colours below or above the window, or for none.
                edge.constant(1_u64) << (colour - base)
            });
            let free = (taken ^ u64::MAX).low_zeros();
            let is_full = free.equals(WINDOW);
            node.store(self.bases, base + WINDOW);
            node.append(full_next, node.index(), is_full);
            node.only(is_full.is_zero());
            self.settle(node, base + free, next);
        });
    }

    /// Gives a node its colour, notifies the neighbours without one, and lists those that then wait for
    /// none.
    fn settle<'c>(self, node: Item<'c>, colour: Value<'c>, next: List) {
        node.store(self.colours, colour);
        let bit = node.constant(1_u32) << colour;
        node.each_edge(Edges::Out, |edge| {
            let neighbour = edge.neighbour();
            let count = || edge.scatter(self.waits, neighbour, Join::Sum, u32::MAX);
            let notify = || edge.scatter(self.used, neighbour, Join::Or, bit);
            let before = if self.counts_on {
                let before = count();
                edge.only((before - 1).below(MOST_WAITS));
                notify();
                before
            } else {
                edge.only(edge.latest(self.colours, neighbour).equals(UNREACHED));
                notify();
                count()
            };
            edge.append(next, neighbour, before.equals(1));
        });
    }
}

fn build(graph: &Graph, question: &Question) -> Result<Built, ProgramError> {
    if short::fits(graph) {
        return short::build(graph, question);
    }
    let order = Order::of(graph);
    let mut program = ProgramBuilder::new(graph.nodes());
    let registers = Registers {
        priorities: program.per_node("priorities", order.kind())?,
        colours: program.per_node("colours", Kind::U32)?,
        used: program.per_node("used", Kind::U32)?,
        bases: program.per_node("bases", Kind::U32)?,
        waits: program.per_node("waits", Kind::U32)?,
        counts_on: order.counts_on(),
    };
    let lists = [
        list(&mut program, ["ready", "ready count"])?,
        list(&mut program, ["next", "next count"])?,
        list(&mut program, ["later", "later count"])?,
    ];
    let fulls = [
        list(&mut program, ["full", "full count"])?,
        list(&mut program, ["full next", "full next count"])?,
    ];
    let hubs = match order {
        Order::Pairs if alone::are_many(question) => Hubs::of(&mut program, graph)?,
        _ => None,
    };
    registers.begin(&mut program, order, hubs, lists[0]);
    if let Some(hubs) = hubs {
        hubs.colour(&mut program, registers, question.max_iterations);
    }
    let rounds = order.rounds_before_looks(graph);
    program.fixpoint("colour", question.max_iterations, |body| {
        // Three lists take turns in rounds, two in searches.
        for turn in 0..6.max(2 * rounds) {
            let [now, next, later] = of_turn(lists, turn % 3);
            let looks = turn / rounds % 2;
            let [full, full_next] = [fulls[looks], fulls[1 - looks]];
            body.fill("none", later.1, 0);
            if turn % rounds == 0 {
                body.fill("none is full", full_next.1, 0);
            }
            registers.round(body, [now, next, full]);
            if (turn + 1) % rounds == 0 {
                registers.look(body, [full, next, full_next]);
            }
        }
    });
    Ok(Built::of(
        program,
        Vec::new(),
        registers.colours,
        Reading::Words,
    ))
}

/// An odd number near the golden ratio of all words: multiples of it are different and evenly
/// distributed.
const SPREAD: u32 = 0x9E37_79B1;

/// Representation of priorities: a node's degree, then a unique number.
#[derive(Clone, Copy, Debug)]
enum Order {
    /// In a word, whose low bits have the number. These graphs have no hubs.
    Words { bits: u32 },
    /// In a pair.
    Pairs,
}

impl Order {
    fn of(graph: &Graph) -> Self {
        let longest = graph.offsets().windows(2).map(|row| row[1] - row[0]).max();
        let longest = longest.unwrap_or(0);
        let bits = u32::BITS - graph.nodes().saturating_sub(1).leading_zeros();
        if longest <= hubs::DEGREE && bits < longest.leading_zeros() {
            Self::Words { bits }
        } else {
            Self::Pairs
        }
    }

    /// Rounds before nodes that were notified of many colours check beyond these: more than one if
    /// all rows are short, since there are hardly any then. Others wait for them.
    fn rounds_before_looks(self, graph: &Graph) -> usize {
        let is_lean = graph.targets().len() as u64 <= LEAN * u64::from(graph.nodes());
        match self {
            Self::Words { .. } if is_lean => 6,
            _ => 1,
        }
    }

    /// Whether coloured nodes are counted down too: checking the colour first takes longer than the
    /// atomic change, except under contention, as for a hub.
    const fn counts_on(self) -> bool {
        matches!(self, Self::Words { .. })
    }

    const fn kind(self) -> Kind {
        match self {
            Self::Words { .. } => Kind::U32,
            Self::Pairs => Kind::U64,
        }
    }

    fn priority(self, node: Item<'_>) -> Value<'_> {
        let number = node.index();
        let degree = node.degree(Edges::Out, number);
        match self {
            Self::Words { bits } => {
                let spread = SPREAD.checked_shr(u32::BITS - bits).unwrap_or(0) | 1;
                (degree << bits) | ((number * spread) & ((1_u32 << bits) - 1))
            }
            Self::Pairs => (number * SPREAD).below_high(degree),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{AnalysisKind, End};
    use super::*;

    #[test]
    fn colourings_that_are_none_are_refused() {
        let graph = Graph::from_edges(4, &[(0, 1), (1, 2), (2, 3)], true).unwrap();
        let question = Question::new(Vec::new());
        let judge = |colours: [u32; 4], converged| {
            let end = End {
                iterations: 3,
                converged,
            };
            let colours = Column::U32(colours.to_vec());
            AnalysisKind::Colouring.accepts(&graph, &question, end, colours)
        };
        assert!(judge([0, 1, 0, 1], true) && judge([0, 1, 2, 0], true));
        assert!(!judge([0, 1, 1, 0], true), "neighbours");
        assert!(!judge([0, 2, 0, 1], true), "1 is free");
        assert!(!judge([0, 1, 0, UNREACHED], true), "no colour");
        assert!(judge([0, 1, 0, UNREACHED], false));
    }
}
