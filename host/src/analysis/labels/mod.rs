//! Label propagation: communities of nodes with the same label.
//!
//! Every node begins with a unique label. In each round, nodes find the label that most of their
//! neighbours have (after Raghavan, Albert, Kumara, "Near linear time algorithm to detect community
//! structures in large-scale networks", 2007). Loops do not count, parallel edges count each, and
//! with weights the heaviest label wins instead of the most frequent one.
//!
//! # The stable rule
//!
//! A node wants another label only if more of its neighbours have that than have its own; of
//! several labels it wants the first in a fixed random order. Two neighbours are in conflict if
//! both want another label and one of them wants the present label of the other. Each round, all
//! nodes change that come before every neighbour they are in conflict with.
//!
//! *This ends.* Let `S` be the number (or weight) of edges whose ends have the same label. If only
//! node `v` changed, `S` would grow by its gain, which is above 0. If several nodes change at once,
//! the sum of their gains is wrong only at an edge between two of them, `u` and `v`, by `[new u =
//! new v] + [old u = old v] - [new u = old v] - [new v = old u]`. One of the last two terms is 1
//! only if `u` and `v` are in conflict, and then only one of them changes. So `S` grows by the sum
//! of the gains or more. The first of all nodes that want another label changes in every round, so
//! `S` grows in every round until no node wants another label, after at most as many rounds as
//! there are edges. In practice it takes some tens. `S` never grows by more than all edges, so the
//! nodes that change, in all rounds together, are at most as many as edges, too.
//!
//! Since a round depends only on the labels before it, it is the same on every machine. At the end
//! a community is named after its smallest node.
//!
//! # The rule of LDBC Graphalytics
//!
//! All nodes take the most frequent label at once, the least one in a tie, for a fixed number of
//! rounds (CDLP). Neighbours may swap labels for ever.
//!
//! # Work
//!
//! With few CPU threads, one of them runs the stable rule (`seawall_device::cpu::sequential`), which
//! counts in an array with a sum for each label. On a GPU and on many threads, and for the rule of
//! LDBC, a program of code does the same rounds.
//!
//! A round reads the rows of nodes that had to wait in the round before, or of which a neighbour
//! changed: O(their edges) expected. A sweep counts each node's own label, which is the best one of
//! most rows in later rounds. Other labels of a row are counted in a table as long as the row, in a
//! few passes: the labels that are not counted yet claim cells by a hash, and the least in each cell
//! is counted there, in three sweeps. A node is done once no remaining label can be more frequent
//! than the best one. In the first round all labels differ: each counts 1 where no edges are
//! parallel, and nothing is counted.

mod count;
pub(crate) use count::weightless_edges;
pub(super) mod oracle;

use super::alone::{self, Sought};
use super::answer::parts;
use super::lists::{List, list};
use super::{
    Analysis, AnalysisOutput, Answer, Bars, Built, Case, Facts, Figure, Highlight, LabelRule,
    LoopRule, ParallelRule, Picture, Question, Reading, Values,
};
use crate::column::Column;
use crate::cost::{Job, Times, Worker};
use crate::graph::Graph;
use crate::program::{
    Edges, Item, Join, Kind, Over, ProgramBuilder, ProgramError, RegisterId, Value,
};
use crate::units::counted;
use count::Counter;
use seawall_core::abi::UNREACHED;
use seawall_core::abi::sequential::{Algorithm, SequentialRecord};

pub(super) struct Labels;

pub(super) const FACTS: Facts = Facts {
    name: "labels",
    title: "Label propagation",
    summary: "Communities by label propagation: the label of each, a node",
    values: Values::Nodes,
    is_undirected: true,
    loops: LoopRule::Ignored,
    parallel: ParallelRule::Count,
    weighs: true,
    has_rules: true,
    highlight: Highlight::LargestParts,
    picture: Picture {
        title: "Nodes by the size of their community",
        axis: "nodes in the community",
        bars: Bars::Groups,
    },
    ..Facts::PLAIN
};

/// Passes over all edges, and levels in between.
const PASSES: [f64; 2] = [100.0, 400.0];

/// Work of a sequential run, in edges of a pass.
const ALONE: Times = Times {
    node: 100.0,
    edge: 150.0,
};

/// Whether one thread runs all rounds.
fn is_sequential(question: &Question) -> bool {
    alone::suits_few(question) && question.rule == LabelRule::Stable
}

/// Rounds of the rule of LDBC without a limit.
const LDBC_ROUNDS: u32 = 10;

impl Analysis for Labels {
    fn build(&self, graph: &Graph, question: &Question) -> Result<Built, ProgramError> {
        if is_sequential(question) {
            let record = SequentialRecord {
                lengths: alone::lengths(graph, question.weighted),
                ..SequentialRecord::new(Algorithm::Labels)
            };
            let sought = Sought {
                record,
                none: UNREACHED,
                reading: Reading::Words,
            };
            return alone::build(graph, question, sought);
        }
        build(graph, question)
    }

    /// A converged run must also leave no node that would change.
    fn check(&self, case: &Case<'_>, found: AnalysisOutput<'_>) -> bool {
        let question = case.question;
        // A sequential run counts no rounds, and continues until it is stable.
        let rounds = match (question.rule, case.end.converged) {
            (LabelRule::Stable, true) => u32::MAX,
            _ => case.end.iterations,
        };
        let expected =
            oracle::Propagation::run(case.graph, question.rule, question.weighted, rounds);
        *found.values == Column::U32(expected.communities())
            && (!case.end.converged || expected.is_stable())
    }

    fn answer(&self, _graph: &Graph, column: &Column) -> Answer {
        let Column::U32(labels) = column else {
            return Answer::reached();
        };
        let [communities, largest] = parts(labels);
        let (found, most) = (counted_communities(communities), counted(largest, "node"));
        let figures = vec![
            Figure::new("communities", communities),
            Figure::new("largest_community", largest),
        ];
        Answer::of_graph(figures, format!("{found}, the largest of {most}"))
    }

    fn cost_ns(&self, job: &Job, worker: &Worker) -> f64 {
        if worker.is_cpu() {
            return worker.alone_ns(job, ALONE);
        }
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

#[derive(Clone, Copy)]
struct Registers {
    labels: RegisterId,
    /// The label that each node wants, which is its own for most.
    wanted: RegisterId,
    /// The last round that listed each node.
    listed: RegisterId,
    round: RegisterId,
    /// Nodes that search for a label in a round, that change theirs, and that have to wait.
    looking: List,
    changing: List,
    waiting: List,
}

fn build(graph: &Graph, question: &Question) -> Result<Built, ProgramError> {
    let mut program = ProgramBuilder::new(graph.nodes());
    let registers = Registers {
        labels: program.per_node("labels", Kind::U32)?,
        wanted: program.per_node("wanted", Kind::U32)?,
        listed: program.per_node("listed", Kind::U32)?,
        round: program.values("round", Kind::U32, 1)?,
        looking: list(&mut program, ["looking", "looking count"])?,
        changing: list(&mut program, ["changing", "changing count"])?,
        waiting: list(&mut program, ["waiting", "waiting count"])?,
    };
    let rule = question.rule;
    let counter = Counter::of(&mut program, graph, question, registers.labels)?;
    program.fill("before all rounds", registers.round, 0);
    program.each("own labels", Over::Nodes, |node| {
        let own = first_label(node.index(), rule);
        node.store(registers.labels, own);
        node.store(registers.wanted, own);
        node.store(registers.listed, 0);
    });
    program.each("all search", Over::Nodes, |node| {
        let degree = node.degree(Edges::Out, node.index());
        node.append(registers.looking, node.index(), degree.differs(0));
    });
    let limit = match (question.max_iterations, rule) {
        (Question::UNLIMITED, LabelRule::Ldbc) => LDBC_ROUNDS,
        (limit, _) => limit,
    };
    let condition = (registers.looking.1, limit);
    program.while_nonzero("pass labels on", condition.0, condition.1, |body| {
        counter.count(body, registers.looking, registers.round);
        round(body, registers, rule, counter);
    });
    let result = match rule {
        LabelRule::Ldbc => registers.labels,
        LabelRule::Stable => name_communities(&mut program, registers)?,
    };
    Ok(Built::of(program, Vec::new(), result, Reading::Words))
}

/// Changes labels once the best one of each node that looks is known, and lists the nodes that look
/// in the next round.
fn round(body: &mut ProgramBuilder, registers: Registers, rule: LabelRule, counter: Counter) {
    let Registers {
        labels,
        wanted,
        listed,
        round,
        looking,
        changing,
        waiting,
    } = registers;
    let over = |(list, count): List| Over::List { list, count };
    body.fill("none changes", changing.1, 0);
    body.fill("none waits", waiting.1, 0);
    body.each("count rounds", Over::Count(1), |one| {
        one.store(round, one.load(round) + 1);
    });
    body.each("want", over(looking), |node| {
        let own = node.load(labels);
        let label = counter.best_label(node, own);
        node.store(wanted, label);
        if rule == LabelRule::Ldbc {
            node.append(changing, node.index(), label.differs(own));
        }
    });
    if rule == LabelRule::Stable {
        body.each("contest", over(looking), |node| {
            let (own, label) = (node.load(labels), node.load(wanted));
            node.only(label.differs(own));
            let waits = is_behind(node, registers, [own, label]);
            node.append(waiting, node.index(), waits);
            node.append(changing, node.index(), waits.is_zero());
        });
    }
    body.fill("none searches", looking.1, 0);
    body.each("change", over(changing), |node| {
        node.store(labels, node.load(wanted));
    });
    body.each("wake neighbours", over(changing), |node| {
        let now = node.at(round, 0);
        node.each_edge(Edges::Out, |edge| {
            let other = edge.neighbour();
            // A load is cheaper than an atomic change.
            edge.only(edge.latest(listed, other).below(now));
            let before = edge.scatter(listed, other, Join::Max, now);
            edge.append(looking, other, before.below(now));
        });
    });
    if rule == LabelRule::Stable {
        body.each("search again", over(waiting), |node| {
            let now = node.at(round, 0);
            let before = node.scatter(listed, node.index(), Join::Max, now);
            node.append(looking, node.index(), before.below(now));
        });
    }
}

/// Whether a node with the label `own` that wants `label` comes after a neighbour in conflict with
/// it.
fn is_behind<'c>(node: Item<'c>, registers: Registers, [own, label]: [Value<'c>; 2]) -> Value<'c> {
    let Registers { labels, wanted, .. } = registers;
    let place = mix(node.index() + 1);
    node.gather(Edges::Out, Join::Max, |edge| {
        let (theirs, their_wish) = (edge.there(labels), edge.there(wanted));
        let meet = theirs.equals(label) | their_wish.equals(own);
        let is_first = mix(edge.neighbour() + 1).below(place);
        let is_ahead = meet & theirs.differs(their_wish) & is_first;
        edge.until(is_ahead);
        is_ahead
    })
}

/// Names each label after the smallest node that has it.
fn name_communities(
    program: &mut ProgramBuilder,
    registers: Registers,
) -> Result<RegisterId, ProgramError> {
    let labels = registers.labels;
    let names = program.per_node("names", Kind::U32)?;
    let communities = program.per_node("communities", Kind::U32)?;
    program.fill("no names", names, u32::MAX);
    program.each("find names", Over::Nodes, |node| {
        let first = unmix(node.load(labels)) - 1;
        node.scatter(names, first, Join::Min, node.index());
    });
    program.each("name", Over::Nodes, |node| {
        let first = unmix(node.load(labels)) - 1;
        node.store(communities, node.at(names, first));
    });
    Ok(communities)
}

/// The first label of a node. Labels of the stable rule compare in the random order of nodes; none
/// of them is 0.
fn first_label(number: Value<'_>, rule: LabelRule) -> Value<'_> {
    match rule {
        LabelRule::Ldbc => number,
        LabelRule::Stable => mix(number + 1),
    }
}

/// Factors of [`mix`] and their inverses modulo 2^32.
const FACTORS: [u32; 2] = [0x7FEB_352D, 0x846C_A68B];
const INVERSES: [u32; 2] = [inverse(FACTORS[0]), inverse(FACTORS[1])];

/// The inverse of an odd number modulo 2^32, by Newton's method: each step doubles the right bits.
const fn inverse(factor: u32) -> u32 {
    let mut found = factor;
    let mut bits = 3;
    while bits < u32::BITS {
        found = found.wrapping_mul(2_u32.wrapping_sub(factor.wrapping_mul(found)));
        bits *= 2;
    }
    found
}

/// Mixes the bits of a number by a bijection that maps only 0 to 0 (Wellons, "Prospecting for hash
/// functions", 2018).
fn mix(number: Value<'_>) -> Value<'_> {
    let mixed = (number ^ (number >> 16)) * FACTORS[0];
    let mixed = (mixed ^ (mixed >> 15)) * FACTORS[1];
    mixed ^ (mixed >> 16)
}

/// The inverse of [`mix`].
fn unmix(mixed: Value<'_>) -> Value<'_> {
    let number = (mixed ^ (mixed >> 16)) * INVERSES[1];
    let number = (number ^ (number >> 15) ^ (number >> 30)) * INVERSES[0];
    number ^ (number >> 16)
}

#[cfg(test)]
mod tests {
    use super::super::{AnalysisKind, End};
    use super::*;

    fn judge(rule: LabelRule, labels: [u32; 6], (iterations, converged): (u32, bool)) -> bool {
        // Two triangles with an edge between them.
        let edges = [(0, 1), (1, 2), (0, 2), (2, 3), (3, 4), (4, 5), (3, 5)];
        let graph = Graph::from_edges(6, &edges, true).unwrap();
        let question = Question {
            rule,
            ..Question::new(Vec::new())
        };
        let case = Case {
            graph: &graph,
            question: &question,
            end: End {
                iterations,
                converged,
            },
        };
        let values = &Column::U32(labels.to_vec());
        let parents = None;
        AnalysisKind::Labels
            .definition()
            .check(&case, AnalysisOutput { values, parents })
    }

    #[test]
    fn labels_of_another_round_are_refused() {
        let rule = LabelRule::Ldbc;
        assert!(judge(rule, [0, 1, 2, 3, 4, 5], (0, false)));
        assert!(judge(rule, [1, 0, 0, 2, 3, 3], (1, false)));
        assert!(!judge(rule, [1, 0, 0, 2, 3, 3], (2, false)));
        assert!(!judge(rule, [0, 0, 0, 3, 3, 3], (1, false)));
    }

    #[test]
    fn labels_that_would_change_are_refused_as_converged() {
        let rule = LabelRule::Stable;
        assert!(judge(rule, [0, 1, 2, 3, 4, 5], (0, false)));
        assert!(!judge(rule, [0, 1, 2, 3, 4, 5], (0, true)));
        assert!(judge(rule, [0, 0, 0, 3, 3, 3], (9, true)));
        assert!(!judge(rule, [0, 0, 0, 3, 3, 0], (9, true)));
    }
}
