//! Label propagation: communities of nodes with the same label.
//!
//! Every node begins with a label of its own. In each round it takes the label that most of its
//! neighbours had, and the least of those if there are many; all nodes at once (the rule of
//! CDLP in LDBC Graphalytics, after Raghavan, Albert, Kumara, "Near linear time algorithm to
//! detect community structures in large-scale networks", 2007).
//!
//! Labels of a row are counted in a table as long as the row. In each pass the labels that are
//! not counted yet claim cells by a hash, and the least in each cell is counted there. A node is
//! done once no label that is left can be more frequent than the best one, so later passes look
//! at few rows.

pub(super) mod oracle;

use super::{
    Analysis, Answer, Bars, Built, Case, Facts, Figure, Found, LoopRule, ParallelRule, Picture,
    Question, Reading, Sentence, Values,
};
use crate::column::Column;
use crate::cost::{Job, Worker};
use crate::graph::Graph;
use crate::program::{
    Edges, Item, Join, Kind, Over, ProgramBuilder, ProgramError, RegisterId, Value,
};
use crate::units::counted;

/// The analysis `labels`.
pub(super) struct Labels;

const FACTS: Facts = Facts {
    name: "labels",
    title: "Label propagation",
    summary: "Communities by label propagation: the label of each, a node",
    values: Values::Nodes,
    is_undirected: true,
    loops: LoopRule::Ignored,
    parallel: ParallelRule::Count,
    picture: Picture {
        title: "Nodes by the size of their community",
        axis: "nodes in the community",
        bars: Bars::Groups,
    },
    ..Facts::PLAIN
};

/// Passes over all edges, and levels in between.
const PASSES: [f64; 2] = [140.0, 400.0];

/// Rounds without a limit: labels may change forever, so Graphalytics sets a number.
const ROUNDS: u32 = 10;

impl Analysis for Labels {
    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    fn build(&self, graph: &Graph, question: &Question) -> Result<Built, ProgramError> {
        build(graph, question)
    }

    fn check(&self, case: &Case<'_>, found: Found<'_>) -> bool {
        *found.values == Column::U32(oracle::labels(case.graph, case.end.iterations))
    }

    fn answer(&self, _graph: &Graph, column: &Column) -> Answer {
        let Column::U32(labels) = column else {
            return Answer::reached();
        };
        let mut sizes = vec![0_u64; labels.len()];
        for label in labels {
            if let Some(size) = sizes.get_mut(*label as usize) {
                *size += 1;
            }
        }
        let communities = sizes.iter().filter(|size| **size > 0).count() as u64;
        let largest = sizes.into_iter().max().unwrap_or(0);
        let (found, most) = (counted_communities(communities), counted(largest, "node"));
        Answer {
            figures: vec![
                Figure::new("communities", communities),
                Figure::new("largest_community", largest),
            ],
            sentence: Sentence::Graph(format!("{found}, the largest of {most}")),
        }
    }

    fn cost_ns(&self, job: &Job, worker: &Worker) -> f64 {
        let [passes, levels] = PASSES;
        worker.code_ns(job, passes, levels)
    }
}

fn counted_communities(count: u64) -> String {
    match count {
        1 => "1 community".to_owned(),
        _ => format!("{count} communities"),
    }
}

/// The registers of the program.
#[derive(Clone, Copy)]
struct Registers {
    /// The label of each node.
    labels: RegisterId,
    /// The count of each node's best label, and the label's complement below it: the largest
    /// pair is the best one.
    best: RegisterId,
    /// Edges of each node whose labels may still matter.
    left: RegisterId,
    /// Edges of each node that the present pass counted.
    counted: RegisterId,
    /// The label that claimed each cell, and its count. The cells of a row are its edges.
    claims: RegisterId,
    counts: RegisterId,
    /// The pass that counted each edge, 0 for none yet.
    done: RegisterId,
    /// Number of the pass, from 1 on.
    pass: RegisterId,
    /// Labels that changed in the round; 0 ends the rounds.
    changed: RegisterId,
    /// Rounds that are left.
    rounds: RegisterId,
}

fn build(graph: &Graph, question: &Question) -> Result<Built, ProgramError> {
    let mut program = ProgramBuilder::new(graph.nodes());
    let edges = u64::from(graph.edges());
    let registers = Registers {
        labels: program.per_node("labels", Kind::U32)?,
        best: program.per_node("best", Kind::U64)?,
        left: program.per_node("left", Kind::U32)?,
        counted: program.per_node("counted", Kind::U32)?,
        claims: program.values("claims", Kind::U32, edges)?,
        counts: program.values("counts", Kind::U32, edges)?,
        done: program.values("done", Kind::U32, edges)?,
        pass: program.values("pass", Kind::U32, 1)?,
        changed: program.values("changed", Kind::U32, 1)?,
        rounds: program.values("rounds", Kind::U32, 1)?,
    };
    let rounds = match question.max_iterations {
        Question::UNLIMITED => ROUNDS,
        limit => limit,
    };
    program.iota("own labels", registers.labels);
    program.fill("no cell is claimed", registers.claims, u32::MAX);
    program.fill("nothing is counted", registers.counts, 0);
    program.fill("no edge yet", registers.counted, 0);
    program.fill("begin", registers.changed, 1);
    program.fill("all rounds are left", registers.rounds, rounds);
    let condition = (registers.changed, question.max_iterations);
    program.while_nonzero("pass labels on", condition, |body| round(body, registers));
    program.keep(registers.labels);
    Ok(Built {
        program,
        inputs: Vec::new(),
        result: registers.labels,
        parents: None,
        reading: Reading::Words,
    })
}

fn round(body: &mut ProgramBuilder, registers: Registers) {
    let Registers {
        labels,
        best,
        left,
        done,
        pass,
        changed,
        rounds,
        ..
    } = registers;
    body.fill("no edge is counted", done, 0);
    body.fill("no pass yet", pass, 0);
    body.each("all edges are left", Over::Nodes, |node| {
        node.store(best, 0_u64);
        node.store(left, node.degree(Edges::Out, node.index()));
    });
    body.fixpoint("count", Question::UNLIMITED, |body| count(body, registers));
    body.fill("count changes", changed, 0);
    body.each("take the best", Over::Nodes, |node| {
        let (own, best) = (node.load(labels), node.load(best));
        // A node without edges keeps its label.
        let taken = best.high().is_zero().select(own, best.to_u32() ^ u32::MAX);
        node.store(labels, taken);
        node.fold(changed, Join::Sum, taken.differs(own));
    });
    body.each("count rounds", Over::Count(1), |one| {
        let left = one.load(rounds) - 1;
        let goes_on = one.load(changed).differs(0) & left.differs(0);
        one.store(rounds, left);
        one.store(changed, goes_on);
    });
}

/// A pass: labels that are left claim cells, and those that got theirs are counted.
fn count(body: &mut ProgramBuilder, registers: Registers) {
    let Registers {
        labels,
        best,
        left,
        claims,
        counts,
        done,
        pass,
        counted,
        ..
    } = registers;
    body.each("number the pass", Over::Count(1), |one| {
        one.store(pass, one.load(pass) + 1);
    });
    body.each("clear", Over::Nodes, |node| {
        node.only(node.load(left));
        node.each_edge(Edges::Out, |edge| {
            edge.scatter(claims, edge.number(), Join::Max, u32::MAX);
            edge.scatter(counts, edge.number(), Join::Min, 0);
        });
    });
    body.each("claim", Over::Nodes, |node| {
        node.only(node.load(left));
        let row = Row::of(node, pass);
        node.each_edge(Edges::Out, |edge| {
            edge.only(edge.at(done, edge.number()).is_zero());
            let label = edge.there(labels);
            edge.scatter(claims, row.cell(label), Join::Min, label);
        });
    });
    body.each("count", Over::Nodes, |node| {
        node.only(node.load(left));
        let row = Row::of(node, pass);
        let found = node.gather(Edges::Out, Join::Sum, |edge| {
            edge.only(edge.latest(done, edge.number()).is_zero());
            let label = edge.there(labels);
            let cell = row.cell(label);
            edge.only(edge.at(claims, cell).equals(label));
            edge.scatter(counts, cell, Join::Sum, 1);
            edge.scatter(done, edge.number(), Join::Max, row.pass);
            edge.constant(1_u32)
        });
        node.store(counted, found);
    });
    body.each("choose", Over::Nodes, |node| {
        node.only(node.load(left));
        let row = Row::of(node, pass);
        let found = node.gather(Edges::Out, Join::Max, |edge| {
            edge.only(edge.at(done, edge.number()).equals(row.pass));
            let label = edge.there(labels);
            let count = edge.at(counts, row.cell(label));
            (label ^ u32::MAX).below_high(count)
        });
        let found = found.max(node.load(best));
        node.store(best, found);
        let rest = node.load(left) - node.load(counted);
        // The rest may be one label as often as that, which wins a draw if it is less.
        let rest = rest.below(found.high()).select(0, rest);
        node.store(left, rest);
        node.changed(rest);
    });
}

/// The cells of a node's row in a pass.
#[derive(Clone, Copy)]
struct Row<'c> {
    first: Value<'c>,
    cells: Value<'c>,
    pass: Value<'c>,
}

impl<'c> Row<'c> {
    fn of(node: Item<'c>, pass: RegisterId) -> Self {
        let number = node.index();
        Self {
            first: node.first_edge(Edges::Out, number),
            cells: node.degree(Edges::Out, number),
            pass: node.at(pass, 0),
        }
    }

    /// The cell of `label`, by a hash that differs from pass to pass.
    fn cell(self, label: Value<'c>) -> Value<'c> {
        self.first + label.random(self.pass, 0) % self.cells
    }
}

#[cfg(test)]
mod tests {
    use super::super::{AnalysisKind, End};
    use super::*;

    #[test]
    fn labels_of_another_round_are_refused() {
        // Two triangles with an edge between them.
        let edges = [(0, 1), (1, 2), (0, 2), (2, 3), (3, 4), (4, 5), (3, 5)];
        let graph = Graph::from_edges(6, &edges, true).unwrap();
        let question = Question::new(Vec::new());
        let judge = |labels: [u32; 6], iterations: u32| {
            let end = End {
                iterations,
                converged: true,
            };
            let case = Case {
                graph: &graph,
                question: &question,
                end,
            };
            let values = &Column::U32(labels.to_vec());
            let parents = None;
            AnalysisKind::Labels
                .room()
                .check(&case, Found { values, parents })
        };
        assert!(judge([0, 1, 2, 3, 4, 5], 0));
        assert!(judge([1, 0, 0, 2, 3, 3], 1));
        assert!(!judge([1, 0, 0, 2, 3, 3], 2));
        assert!(!judge([0, 0, 0, 3, 3, 3], 1));
    }
}
