//! The best label around each node of a list: the label of most edges, or of most weight.

use super::super::lists::List;
use super::super::{LabelRule, Question};
use crate::graph::{Graph, WeightKind};
use crate::program::{
    Edge, Edges, Item, Join, Kind, Over, ProgramBuilder, ProgramError, RegisterId, Value,
};
use seawall_device::cpu::sequential::units_in_one;

#[derive(Clone, Copy)]
enum Amount {
    One,
    Whole,
    /// A float weight, times both factors and rounded down to a whole number, so that the order of a
    /// sum does not matter.
    Float([f32; 2]),
}

impl Amount {
    /// The amounts of `graph`. One pass over float weights.
    fn of(graph: &Graph, question: &Question) -> Self {
        let weights = graph.weights().filter(|_| question.weighted);
        match (weights, graph.weight_kind()) {
            (None, _) => Self::One,
            (Some(weights), Some(WeightKind::Float)) => Self::Float(units(weights)),
            (Some(_), _) => Self::Whole,
        }
    }

    /// The kind of a sum. Fewer than 2^32 edges of less than 2^32 each fit.
    const fn kind(self) -> Kind {
        match self {
            Self::One => Kind::U32,
            Self::Whole | Self::Float(_) => Kind::U64,
        }
    }

    fn at<'c>(self, edge: Edge<'c>) -> Value<'c> {
        match self {
            Self::One => edge.constant(1_u32),
            Self::Whole => edge.weight().to_u64(),
            Self::Float([first, second]) => (edge.float_weight() * first * second).to_u64(),
        }
    }

    /// Returns `number` as a value of the kind of sums.
    fn constant<'c>(self, item: Item<'c>, number: u32) -> Value<'c> {
        match self {
            Self::One => item.constant(number),
            Self::Whole | Self::Float(_) => item.constant(u64::from(number)),
        }
    }
}

/// Units in a float weight of 1, for a graph with the weights `words`.
fn units(words: &[u32]) -> [f32; 2] {
    // Words of non-negative floats order like the floats.
    units_in_one(f32::from_bits(words.iter().copied().max().unwrap_or(0)))
}

/// Edges along which labels weigh nothing, though their weights are not 0: those of less than a unit,
/// which is 2^-32 to 2^-31 of the largest float weight.
pub(crate) fn weightless_edges(graph: &Graph) -> u64 {
    let floats = graph
        .weights()
        .filter(|_| graph.weight_kind() == Some(WeightKind::Float));
    let words = floats.unwrap_or(&[]);
    let [first, second] = units(words);
    let is_light = |word: &&u32| **word != 0 && f32::from_bits(**word) * first * second < 1.0;
    words.iter().filter(is_light).count() as u64
}

#[derive(Clone, Copy)]
pub(super) struct Counter {
    labels: RegisterId,
    /// The amount of each node's best label, and the complement of the label: 0 stands for the
    /// node's own label, if it keeps that.
    most: RegisterId,
    best: RegisterId,
    /// The amount of a node's edges whose labels may still matter, and of the edges that the
    /// present pass counted.
    left: RegisterId,
    counted: RegisterId,
    /// The label that claimed each cell, and its amount. The cells of a row are its edges.
    claims: RegisterId,
    sums: RegisterId,
    /// The pass that counted each edge.
    done: RegisterId,
    /// Number of the pass over all rounds, from 1 on; and of the last pass before this round.
    pass: RegisterId,
    before: RegisterId,
    amount: Amount,
    rule: LabelRule,
    /// Whether there are edges from a node to itself, which do not count.
    has_loops: bool,
    /// Whether each label counts 1 before all rounds: labels differ, and so do the neighbours of a node.
    starts_even: bool,
}

impl Counter {
    /// Registers to count the `labels` around nodes of `graph`, and the waves that prepare them.
    pub(super) fn of(
        program: &mut ProgramBuilder,
        graph: &Graph,
        question: &Question,
        labels: RegisterId,
    ) -> Result<Self, ProgramError> {
        let edges = u64::from(graph.edges());
        let amount = Amount::of(graph, question);
        let counter = Self {
            labels,
            most: program.per_node("most", amount.kind())?,
            best: program.per_node("best", Kind::U32)?,
            left: program.per_node("left", amount.kind())?,
            counted: program.per_node("counted", amount.kind())?,
            claims: program.values("claims", Kind::U32, edges)?,
            sums: program.values("sums", amount.kind(), edges)?,
            done: program.values("done", Kind::U32, edges)?,
            pass: program.values("pass", Kind::U32, 1)?,
            before: program.values("passes before", Kind::U32, 1)?,
            amount,
            rule: question.rule,
            has_loops: has_loops(graph),
            starts_even: matches!(amount, Amount::One) && graph.parallel_edges() == 0,
        };
        program.fill("no cell is claimed", counter.claims, u32::MAX);
        program.fill("nothing is counted", counter.sums, 0);
        program.fill("no edge is done", counter.done, 0);
        program.fill("no pass yet", counter.pass, 0);
        for register in [counter.most, counter.best, counter.left, counter.counted] {
            program.fill("none counts", register, 0);
        }
        Ok(counter)
    }

    /// Finds the best label around each node of `list`. `round` holds the number of rounds before.
    pub(super) fn count(self, body: &mut ProgramBuilder, (list, count): List, round: RegisterId) {
        let over = Over::List { list, count };
        body.each("passes so far", Over::Count(1), |one| {
            one.store(self.before, one.load(self.pass));
        });
        if self.starts_even {
            body.each("labels count 1", over, |node| {
                node.only(node.at(round, 0).is_zero());
                let own = node.load(self.labels);
                let best = node.gather(Edges::Out, Join::Max, |edge| {
                    self.only_proper(edge);
                    self.key(edge.there(self.labels), own)
                });
                node.store(self.best, best);
                node.store(self.most, best.differs(0));
                node.store(self.left, 0);
            });
        }
        body.each("count own label", over, |node| {
            if self.starts_even {
                node.only(node.at(round, 0).differs(0));
            }
            let own = node.load(self.labels);
            let found = node.gather(Edges::Out, Join::Sum, |edge| {
                self.only_proper(edge);
                edge.only(edge.there(self.labels).equals(own));
                self.amount.at(edge)
            });
            let none = self.amount.constant(node, 0);
            let is_none = found.equals(none);
            node.store(self.most, found);
            node.store(self.best, is_none.select(0, self.key(own, own)));
            let rest = self.all(node) - found;
            let is_decided = match self.rule {
                LabelRule::Ldbc => rest.below(found),
                // A tie is the own label's.
                LabelRule::Stable => rest.at_most(found),
            };
            node.store(self.left, is_decided.select(none, rest));
        });
        body.fixpoint("count", Question::UNLIMITED, |body| self.pass(body, over));
    }

    /// The best label around a node with the label `own`; `own` itself for a node without
    /// neighbours.
    pub(super) fn best_label<'c>(self, node: Item<'c>, own: Value<'c>) -> Value<'c> {
        let (most, best) = (node.load(self.most), node.load(self.best));
        let is_kept = most.equals(self.amount.constant(node, 0));
        let label = best ^ u32::MAX;
        match self.rule {
            LabelRule::Ldbc => is_kept.select(own, label),
            LabelRule::Stable => (is_kept | label.is_zero()).select(own, label),
        }
    }

    /// The amount of all edges of a node.
    fn all<'c>(self, node: Item<'c>) -> Value<'c> {
        match (self.amount, self.has_loops) {
            (Amount::One, false) => node.degree(Edges::Out, node.index()),
            _ => node.gather(Edges::Out, Join::Sum, |edge| {
                self.only_proper(edge);
                self.amount.at(edge)
            }),
        }
    }

    /// Leaves out edges from a node to itself.
    fn only_proper(self, edge: Edge<'_>) {
        if self.has_loops {
            edge.only(edge.neighbour().differs(edge.index()));
        }
    }

    /// A pass: remaining labels but a node's own, which is counted, claim cells, and labels that got
    /// theirs are counted.
    fn pass(self, body: &mut ProgramBuilder, over: Over) {
        let Self {
            labels,
            most,
            left,
            counted,
            claims,
            sums,
            done,
            pass,
            before,
            amount,
            ..
        } = self;
        let none = |node: Item<'_>| node.only(node.load(left).differs(0));
        body.each("number the pass", Over::Count(1), |one| {
            one.store(pass, one.load(pass) + 1);
        });
        body.each("claim", over, |node| {
            none(node);
            let row = Row::of(node, pass);
            let (before, own) = (node.at(before, 0), node.load(labels));
            node.each_edge(Edges::Out, |edge| {
                edge.scatter(sums, edge.number(), Join::Min, amount.constant(*edge, 0));
                edge.only(edge.at(done, edge.number()).at_most(before));
                self.only_proper(edge);
                let label = edge.there(labels);
                edge.only(label.differs(own));
                let cell = row.cell(label);
                // A load is cheaper than an atomic change, and many edges may lead to one label.
                edge.only(edge.latest(claims, cell).above(label));
                edge.scatter(claims, cell, Join::Min, label);
            });
        });
        body.each("count", over, |node| {
            none(node);
            let row = Row::of(node, pass);
            let found = node.gather(Edges::Out, Join::Sum, |edge| {
                edge.only(edge.latest(done, edge.number()).at_most(edge.at(before, 0)));
                self.only_proper(edge);
                let label = edge.there(labels);
                let cell = row.cell(label);
                edge.only(edge.at(claims, cell).equals(label));
                edge.scatter(sums, cell, Join::Sum, amount.at(edge));
                edge.scatter(done, edge.number(), Join::Max, edge.at(pass, 0));
                amount.at(edge)
            });
            node.store(counted, found);
        });
        body.each("choose", over, |node| {
            none(node);
            let row = Row::of(node, pass);
            let [found, first] = self.most_counted(node, row);
            let (before, of_before) = (node.load(most), node.load(self.best));
            let first = found.below(before).select(0, first);
            let of_before = found.above(before).select(0, of_before);
            let known = found.max(before);
            node.store(most, known);
            node.store(self.best, first.max(of_before));
            let rest = node.load(left) - node.load(counted);
            // The rest may be one label with the same count, which wins a tie if it comes first.
            let none = amount.constant(node, 0);
            let rest = rest.below(known).select(none, rest);
            node.store(left, rest);
            node.changed(rest.differs(none));
        });
    }

    /// The largest amount that the pass counted around a node, and the largest key of a label that has
    /// it. Frees the cells.
    fn most_counted<'c>(self, node: Item<'c>, row: Row<'c>) -> [Value<'c>; 2] {
        let own = node.load(self.labels);
        let free = |edge: Edge<'c>| {
            edge.scatter(self.claims, edge.number(), Join::Max, u32::MAX);
        };
        let counted = |edge: Edge<'c>| {
            edge.only(
                edge.at(self.done, edge.number())
                    .equals(edge.at(self.pass, 0)),
            );
            let label = edge.there(self.labels);
            [edge.at(self.sums, row.cell(label)), label]
        };
        if let Amount::One = self.amount {
            let both = node.gather(Edges::Out, Join::Max, |edge| {
                free(edge);
                let [sum, label] = counted(edge);
                let key = self.key(label, own);
                (sum.to_u64() << 32) | key.to_u64()
            });
            return [both.high(), both.to_u32()];
        }
        let most = node.gather(Edges::Out, Join::Max, |edge| {
            free(edge);
            counted(edge)[0]
        });
        let first = node.gather(Edges::Out, Join::Max, |edge| {
            let [sum, label] = counted(edge);
            edge.only(sum.equals(most));
            self.key(label, own)
        });
        [most, first]
    }

    /// The best label of several has the largest key.
    fn key<'c>(self, label: Value<'c>, own: Value<'c>) -> Value<'c> {
        let key = label ^ u32::MAX;
        match self.rule {
            LabelRule::Ldbc => key,
            // No label is 0.
            LabelRule::Stable => label.equals(own).select(u32::MAX, key),
        }
    }
}

/// Whether an edge leads from a node to itself. O(nodes log edges).
fn has_loops(graph: &Graph) -> bool {
    (0..graph.nodes()).any(|node| graph.neighbours(node).binary_search(&node).is_ok())
}

/// The cells of a node's row in a pass.
#[derive(Clone, Copy)]
struct Row<'c> {
    first: Value<'c>,
    cells: Value<'c>,
    factor: Value<'c>,
}

impl<'c> Row<'c> {
    fn of(node: Item<'c>, pass: RegisterId) -> Self {
        let (number, pass) = (node.index(), node.at(pass, 0));
        Self {
            first: node.first_edge(Edges::Out, number),
            cells: node.degree(Edges::Out, number),
            factor: pass.hash() | 1,
        }
    }

    /// The cell of `label`: the high bits of its product with an odd factor that differs from pass to
    /// pass (Dietzfelbinger, Hagerup, Katajainen, Penttonen, "A Reliable Randomized Algorithm for the
    /// Closest-Pair Problem", 1997), times the number of cells.
    fn cell(self, label: Value<'c>) -> Value<'c> {
        self.first + ((label * self.factor).to_u64() * self.cells.to_u64()).high()
    }
}
