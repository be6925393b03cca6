//! Strongly connected components: nodes that reach each other along directed edges.
//!
//! Every node learns the largest node that reaches it and the largest that it reaches.
//! If both are the same, that one is in its component; if they differ, no component
//! holds both of two nodes with different pairs, and their edges no longer count
//! (Alabandi, Sands, Biros, Burtscher, "A High-Performance Algorithm for Finding Strongly
//! Connected Components on GPUs", 2023). What is largest passes on by leaps: what reaches the largest node
//! that reaches a node reaches it too.

pub(super) mod oracle;

use super::{
    Analysis, Answer, Bars, Built, Case, Facts, Found, Picture, Question, Reading, Values,
};
use crate::column::Column;
use crate::cost::{Job, Worker};
use crate::graph::Graph;
use crate::program::{
    Edges, Item, Join, Kind, Over, ProgramBuilder, ProgramError, RegisterId, Value,
};
use seawall_core::abi::UNREACHED;

/// The analysis `scc`.
pub(super) struct Scc;

const FACTS: Facts = Facts {
    name: "scc",
    title: "Strongly connected components",
    summary: "Strongly connected components: the smallest node of each",
    values: Values::NumbersOfReached,
    picture: Picture {
        title: "Nodes by the size of their component",
        axis: "nodes in the component",
        bars: Bars::Groups,
    },
    ..Facts::PLAIN
};

/// Passes over all edges, and levels in between.
const PASSES: [f64; 2] = [16.0, 60.0];

impl Analysis for Scc {
    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    fn build(&self, graph: &Graph, question: &Question) -> Result<Built, ProgramError> {
        build(graph, question)
    }

    fn check(&self, case: &Case<'_>, found: Found<'_>) -> bool {
        let Column::U32(labels) = found.values else {
            return false;
        };
        let expected = oracle::strong_components(case.graph);
        if case.end.converged {
            return *labels == expected;
        }
        // A run that a limit ended leaves some nodes out, and labels no other wrongly.
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
        let [passes, levels] = PASSES;
        worker.code_ns(job, passes, levels)
    }
}

/// The registers of the program, a value a node each but for the count.
#[derive(Clone, Copy)]
struct Registers {
    /// The largest node that reaches a node, as far as is known.
    before: RegisterId,
    /// The largest node that a node reaches, as far as is known.
    after: RegisterId,
    /// Both of the last turn: edges between different ones no longer count.
    parts: RegisterId,
    /// A node of the component, [`UNREACHED`] while it is not known.
    found: RegisterId,
    /// Nodes whose component is not known.
    left: RegisterId,
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
    program.fill("all are left", registers.left, graph.nodes());
    program.each("one part", Over::Nodes, |node| {
        node.store(registers.parts, 0);
        node.store(registers.before, 0);
        node.store(registers.after, 0);
        node.store(registers.found, UNREACHED);
        node.store(least, UNREACHED);
        node.store(labels, UNREACHED);
    });
    let condition = (registers.left, question.max_iterations);
    program.while_nonzero("take components out", condition, |body| {
        turn(body, registers)
    });
    program.each("least of each", Over::Nodes, |node| {
        let found = node.load(registers.found);
        node.only(found.differs(UNREACHED));
        node.scatter(least, found, Join::Min, node.index());
    });
    program.each("label", Over::Nodes, |node| {
        let found = node.load(registers.found);
        node.only(found.differs(UNREACHED));
        node.store(labels, node.at(least, found));
    });
    program.keep(labels);
    Ok(Built {
        program,
        inputs: Vec::new(),
        result: labels,
        parents: None,
        reading: Reading::Words,
    })
}

/// Finds the largest nodes along what edges still count, and takes out whose component
/// that tells.
fn turn(body: &mut ProgramBuilder, registers: Registers) {
    let Registers {
        before,
        after,
        parts,
        found,
        left,
    } = registers;
    body.each("begin with itself", Over::Nodes, |node| {
        node.only(node.load(found).equals(UNREACHED));
        node.store(before, node.index());
        node.store(after, node.index());
    });
    body.fixpoint("largest", Question::UNLIMITED, |body| {
        body.each("look before", Over::Nodes, |node| {
            look(node, (parts, found), (Edges::In, before));
        });
        body.each("look after", Over::Nodes, |node| {
            look(node, (parts, found), (Edges::Out, after));
        });
    });
    body.fill("count anew", left, 0);
    body.each("take out", Over::Nodes, |node| {
        node.only(node.load(found).equals(UNREACHED));
        let (first, last) = (node.load(before), node.load(after));
        node.store(parts, first.below_high(last));
        let is_found = first.equals(last);
        node.store(found, is_found.select(first, UNREACHED));
        node.fold(left, Join::Sum, is_found.is_zero());
    });
}

/// Raises what a node has in `largest` to what its neighbours of the same part have, and
/// to what those have that it points to.
fn look<'c>(
    node: Item<'c>,
    (parts, found): (RegisterId, RegisterId),
    (edges, largest): (Edges, RegisterId),
) {
    node.only(node.load(found).equals(UNREACHED));
    let (part, own) = (node.load(parts), node.latest(largest, node.index()));
    let best: Value<'c> = node.gather(edges, Join::Max, |edge| {
        let neighbour = edge.neighbour();
        let is_same = edge.at(parts, neighbour).equals(part);
        let is_left = edge.at(found, neighbour).equals(UNREACHED);
        let theirs = edge.latest(largest, neighbour);
        (is_same & is_left).select(theirs, 0)
    });
    let best = best.max(own);
    let best = best.max(node.latest(largest, best));
    node.store(largest, best);
    node.changed(best.differs(own));
}
