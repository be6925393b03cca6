//! Strongly connected components: nodes that reach each other along directed edges.
//!
//! In a graph whose edges all have mirror images they are its connected components, and found as
//! such. On a CPU one thread finds them in one depth-first pass: `m` edge visits, whatever the
//! shape. The following method is for GPUs.
//!
//! Most graphs have one large component. Presumably the node with the most pairs of edges is in it:
//! the nodes that it reaches and the nodes that reach it are searched, and their intersection is
//! the component (Fleischer, Hendrickson, Pinar, "On Identifying Strongly Connected Components in
//! Parallel", 2000). A search that takes too many steps is given up.
//!
//! For the rest, every node learns the largest node that reaches it and the largest that it
//! reaches. If both are the same, that node is in its component. Two nodes with different pairs are
//! in different components, so edges between them no longer count (Alabandi, Sands, Biros,
//! Burtscher, "A High-Performance Algorithm for Finding Strongly Connected Components on GPUs",
//! 2023). The largest nodes propagate by leaps: a node that reaches the largest node that reaches
//! another node also reaches that one. Before that, nodes without entering or leaving edges are
//! removed.

mod large;
pub(super) mod oracle;

use super::alone::{self, Sought};
use super::{
    Analysis, AnalysisKind, AnalysisOutput, Answer, Bars, Built, Case, Facts, Highlight, Picture,
    Question, Reading, Values, cc,
};
use crate::column::Column;
use crate::cost::{Job, Times, Worker};
use crate::graph::Graph;
use crate::program::{
    Edges, Item, Join, Kind, Over, ProgramBuilder, ProgramError, RegisterId, Value,
};
use seawall_core::abi::UNREACHED;
use seawall_core::abi::sequential::Algorithm;

pub(super) struct Scc;

pub(super) const FACTS: Facts = Facts {
    name: "scc",
    title: "Strongly connected components",
    summary: "Strongly connected components: the smallest node of each",
    values: Values::NodesOfReached,
    highlight: Highlight::LargestParts,
    picture: Picture {
        title: "Nodes by the size of their component",
        axis: "nodes in the component",
        bars: Bars::Groups,
    },
    ..Facts::PLAIN
};

/// Work of one depth-first pass, in edges of a pass.
const ALONE: Times = Times {
    node: 10.0,
    edge: 15.0,
};

/// Passes over all edges, and levels in between.
const PASSES: [f64; 2] = [6.0, 60.0];

impl Analysis for Scc {
    fn build(&self, graph: &Graph, question: &Question) -> Result<Built, ProgramError> {
        if graph.is_symmetric() {
            // Without the first search of rich graphs, since that may give up, and would leave this
            // analysis unconverged.
            return cc::build(graph, true);
        }
        if alone::suits(question) {
            let sought = Sought::words(Algorithm::StrongComponents, UNREACHED);
            return alone::build(graph, question, sought);
        }
        build(graph, question)
    }

    fn check(&self, case: &Case<'_>, found: AnalysisOutput<'_>) -> bool {
        let Column::U32(labels) = found.values else {
            return false;
        };
        let expected = oracle::strong_components(case.graph);
        if case.end.converged {
            return *labels == expected;
        }
        // A run that a limit ended leaves some nodes unlabelled, and labels no other wrongly.
        let mut both = labels.iter().zip(&expected);
        labels.len() == expected.len()
            && both.all(|(label, expected)| label == expected || *label == UNREACHED)
    }

    fn answer(&self, _graph: &Graph, column: &Column) -> Answer {
        let Column::U32(labels) = column else {
            return Answer::reached();
        };
        Answer::of_components(labels, "strongly connected component")
    }

    fn cost_ns(&self, job: &Job, worker: &Worker) -> f64 {
        if job.can_pull {
            return AnalysisKind::Cc.definition().cost_ns(job, worker);
        }
        if worker.is_cpu() {
            return worker.alone_ns(job, ALONE);
        }
        let [passes, levels] = PASSES;
        worker.code_ns(job, passes, levels)
    }
}

/// Mark of nodes whose component is known.
const GONE: u64 = u64::MAX;

/// The registers of the program, each except the count with a value per node.
#[derive(Clone, Copy)]
struct Registers {
    /// The largest node that reaches a node, as far as is known.
    before: RegisterId,
    /// The largest node that a node reaches, as far as is known.
    after: RegisterId,
    /// Both values of the last turn, or [`GONE`] once the component is known: edges between nodes
    /// with different values no longer count.
    parts: RegisterId,
    /// A node of the component, [`UNREACHED`] while it is not known.
    found: RegisterId,
    /// Nodes whose component is not known.
    left: RegisterId,
}

impl Registers {
    /// Removes nodes without entering or without leaving edges among those that count.
    fn trim(self, body: &mut ProgramBuilder, rounds: usize) {
        for _ in 0..rounds {
            body.each("trim", Over::Nodes, |node| {
                let part = node.latest(self.parts, node.index());
                node.only(part.differs(GONE));
                let [is_entered, is_left] = [Edges::In, Edges::Out].map(|edges| {
                    node.gather(edges, Join::Any, |edge| {
                        edge.latest(self.parts, edge.neighbour()).equals(part)
                    })
                });
                node.only((is_entered & is_left).is_zero());
                node.store(self.found, node.index());
                node.store(self.parts, GONE);
            });
        }
    }

    /// Finds the largest nodes along the edges that still count, and removes those whose component this
    /// determines.
    fn turn(self, body: &mut ProgramBuilder) {
        body.each("begin with itself", Over::Nodes, |node| {
            node.only(node.load(self.parts).differs(GONE));
            node.store(self.before, node.index());
            node.store(self.after, node.index());
        });
        // The directions run one after the other: they may take different numbers of rounds, and the
        // result of the first separates nodes before the second. If no edge leads to a smaller node, it
        // takes one round and leaves nothing to the second.
        spread(
            body,
            self.parts,
            ["largest before", "search back"],
            Edges::In,
            self.before,
        );
        body.each("part by who comes before", Over::Nodes, |node| {
            node.only(node.load(self.parts).differs(GONE));
            node.store(self.parts, node.load(self.before).below_high(0));
        });
        self.trim(body, 1);
        spread(
            body,
            self.parts,
            ["largest after", "search ahead"],
            Edges::Out,
            self.after,
        );
        body.each("take out", Over::Nodes, |node| {
            node.only(node.load(self.parts).differs(GONE));
            let (first, last) = (node.load(self.before), node.load(self.after));
            let is_found = first.equals(last);
            node.store(self.parts, is_found.select(GONE, first.below_high(last)));
            node.store(self.found, is_found.select(first, UNREACHED));
        });
        self.trim(body, TRIMS);
        self.count(body);
    }

    /// Counts the nodes whose component is not known.
    fn count(self, body: &mut ProgramBuilder) {
        body.fill("count anew", self.left, 0);
        body.each("count", Over::Nodes, |node| {
            node.fold(self.left, Join::Sum, node.load(self.parts).differs(GONE));
        });
    }
}

fn build(graph: &Graph, question: &Question) -> Result<Built, ProgramError> {
    let mut program = ProgramBuilder::new(graph.nodes());
    let registers = Registers {
        before: program.per_node("before", Kind::U32)?,
        after: program.per_node("after", Kind::U32)?,
        parts: program.per_node("parts", Kind::U64)?,
        found: program.per_node("found", Kind::U32)?,
        left: program.values("left", Kind::U32, 1)?,
    };
    let (least, labels) = (
        program.per_node("least", Kind::U32)?,
        program.per_node("labels", Kind::U32)?,
    );
    program.each("one part", Over::Nodes, |node| {
        node.store(registers.parts, 0);
        node.store(registers.before, 0);
        node.store(registers.after, 0);
        node.store(registers.found, UNREACHED);
        node.store(least, UNREACHED);
        node.store(labels, UNREACHED);
    });
    registers.trim(&mut program, TRIMS);
    match question.shared {
        true => registers.count(&mut program),
        false => large::take_out(&mut program, registers)?,
    }
    program.while_nonzero(
        "take components out",
        registers.left,
        question.max_iterations,
        |body| registers.turn(body),
    );
    program.each("least of each", Over::Nodes, |node| {
        let found = node.load(registers.found);
        node.only(found.differs(UNREACHED));
        // Many nodes may be in one component, and a load is cheaper than an atomic change.
        node.only(node.latest(least, found).above(node.index()));
        node.scatter(least, found, Join::Min, node.index());
    });
    program.each("label", Over::Nodes, |node| {
        let found = node.load(registers.found);
        node.only(found.differs(UNREACHED));
        node.store(labels, node.at(least, found));
    });
    Ok(Built::of(program, Vec::new(), labels, Reading::Words))
}

/// Rounds of [`trim`]: each finds the nodes that the previous one isolated. Longer chains are left
/// to the leaps, which are faster there.
const TRIMS: usize = 2;

/// Propagates the largest node to all remaining nodes along edges that count, by a loop and a wave of
/// these names.
fn spread(
    body: &mut ProgramBuilder,
    parts: RegisterId,
    [name, wave]: [&'static str; 2],
    edges: Edges,
    largest: RegisterId,
) {
    body.fixpoint(name, Question::UNLIMITED, |body| {
        body.each(wave, Over::Nodes, |node| {
            let part = node.load(parts);
            node.only(part.differs(GONE));
            look(node, parts, part, edges, largest);
        });
    });
}

/// Steps of a lookup: reading a node further away costs less than another round.
const LEAPS: usize = 6;

/// Raises what a node has in `largest` to what its neighbours of the same part have, and
/// to what those have that it points to.
fn look<'c>(node: Item<'c>, parts: RegisterId, part: Value<'c>, edges: Edges, largest: RegisterId) {
    let own = node.latest(largest, node.index());
    let best: Value<'c> = node.gather(edges, Join::Max, |edge| {
        let neighbour = edge.neighbour();
        edge.only(edge.at(parts, neighbour).equals(part));
        edge.latest(largest, neighbour)
    });
    let mut best = best.max(own);
    for _ in 0..LEAPS {
        best = best.max(node.latest(largest, best));
    }
    node.store(largest, best);
    node.changed(best.differs(own));
}
