//! Ranks that follow edges in proportion to their weights.
//!
//! The share of an edge in the weights of the node that it leaves depends on the graph alone. It is
//! stored with the edges that arrive at a node, which gathers them without atomic additions. Shares
//! are added up as whole numbers, whose order does not matter.

use super::{Registers, jump, units};
use crate::analysis::lists::{List, over};
use crate::graph::{Graph, WeightKind};
use crate::program::{
    Edge, Edges, Item, Join, Kind, Over, ProgramBuilder, ProgramError, RegisterId, Value,
};

const SUM_BITS: u32 = 62;

#[derive(Clone, Copy)]
pub(super) struct Weighing {
    /// The largest weight of each node's edges, a float, and the sum of their weights as multiples
    /// of it; 0 if no edge has any.
    largest: RegisterId,
    sums: RegisterId,
    /// Registers of all nodes, if all are ranked.
    of_all: Option<OfAll>,
    kind: WeightKind,
    /// Units of a sum of weights in the largest one, as a power of two.
    exponent: u32,
}

/// Registers of weights that are made once for all nodes.
#[derive(Clone, Copy)]
struct OfAll {
    /// The share of each incoming edge in the weights of the node that it leaves.
    shares: RegisterId,
    /// The nodes without an edge of any weight; none if several devices share the program, which keep no
    /// lists.
    ends: Option<List>,
}

impl Weighing {
    /// Registers and waves of the weights of `graph`, which are of `kind`.
    pub(super) fn of(
        program: &mut ProgramBuilder,
        graph: &Graph,
        kind: WeightKind,
        is_shared: bool,
    ) -> Result<Self, ProgramError> {
        let shares = program.values("shares of edges", Kind::F32, u64::from(graph.edges()))?;
        let ends = match is_shared {
            true => None,
            false => Some((
                program.per_node("ends", Kind::U32)?,
                program.values("end count", Kind::U32, 1)?,
            )),
        };
        let weighing = Self {
            of_all: Some(OfAll { shares, ends }),
            ..Self::registers(program, graph, kind)?
        };
        program.once(|once| {
            if let Some(ends) = ends {
                once.fill_by_appends(ends.0);
                once.fill("no ends", ends.1, 0);
            }
            once.each("weights", Over::Nodes, |node| {
                let sum = weighing.weigh(node);
                if let Some(ends) = ends {
                    node.append(ends, node.index(), sum.equals(0.0));
                }
            });
            once.fill("no shares", shares, 0);
            once.each("shares of edges", Over::Nodes, |node| {
                node.each_edge(Edges::In, |edge| {
                    edge.only(edge.there(weighing.sums).differs(0.0));
                    let share = weighing.divide(edge);
                    edge.scatter(shares, edge.number(), Join::Sum, share);
                });
            });
        });
        Ok(weighing)
    }

    /// As [`Self::of`] for few nodes, which [`Self::weigh`] weighs one by one.
    pub(super) fn of_few(
        program: &mut ProgramBuilder,
        graph: &Graph,
        kind: WeightKind,
    ) -> Result<Self, ProgramError> {
        let weighing = Self::registers(program, graph, kind)?;
        program.fill("nothing is weighed", weighing.sums, 0);
        program.fill("no largest weight", weighing.largest, 0);
        Ok(weighing)
    }

    /// Weights are added up in units of the row's largest one, so that a sum of `d` weights is
    /// exact up to `d` units of 2^-62 times twice the largest degree.
    fn registers(
        program: &mut ProgramBuilder,
        graph: &Graph,
        kind: WeightKind,
    ) -> Result<Self, ProgramError> {
        let rows = graph.offsets().windows(2);
        let degree = rows.map(|row| row[1] - row[0]).max().unwrap_or(0);
        Ok(Self {
            largest: program.per_node("largest weights", Kind::F32)?,
            sums: program.per_node("weights", Kind::F32)?,
            of_all: None,
            kind,
            exponent: SUM_BITS - (u32::BITS - degree.leading_zeros()),
        })
    }

    /// Sums up the weights of the node's edges, as multiples of the largest one.
    pub(super) fn weigh<'c>(self, node: Item<'c>) -> Value<'c> {
        let largest = node.gather(Edges::Out, Join::Max, |edge| self.weight(edge));
        // A node without edges gets the least of all floats.
        let largest = largest.max(0.0);
        node.store(self.largest, largest);
        let sum = node.gather(Edges::Out, Join::Sum, |edge| {
            units(self.weight(edge) / largest, self.exponent)
        });
        let sum = sum.to_f32() * 0.5_f32.powi(self.exponent as i32);
        let sum = largest.equals(0.0).select(0.0_f32, sum);
        node.store(self.sums, sum);
        sum
    }

    /// The share of an incoming edge in the weights of the node that it leaves.
    fn divide<'c>(self, edge: Edge<'c>) -> Value<'c> {
        self.weight(edge) / edge.there(self.largest) / edge.there(self.sums)
    }

    fn weight<'c>(self, edge: Edge<'c>) -> Value<'c> {
        match self.kind {
            WeightKind::Integer => edge.weight().to_f32(),
            _ => edge.float_weight(),
        }
    }

    /// Keeps the ranks that all nodes pass on, if all are ranked.
    pub(super) fn share_all(self, body: &mut ProgramBuilder, registers: Registers) -> bool {
        let Some(OfAll { ends, .. }) = self.of_all else {
            return false;
        };
        body.copy("share by weight", registers.shares, registers.ranks);
        match ends {
            Some(ends) => body.each("jump", over(ends), |node| {
                jump(node, registers, node.constant(1_u32));
            }),
            None => body.each("jump", Over::Nodes, |node| {
                jump(node, registers, node.load(self.sums).equals(0.0));
            }),
        }
        true
    }

    /// Keeps the rank that a node passes on.
    pub(super) fn share(self, node: Item<'_>, registers: Registers) {
        node.store(registers.shares, node.load(registers.ranks));
        jump(node, registers, node.load(self.sums).equals(0.0));
    }

    /// The rank that comes along the edges of a node, in units.
    pub(super) fn arriving<'c>(
        self,
        node: Item<'c>,
        registers: Registers,
        exponent: u32,
    ) -> Value<'c> {
        node.gather(Edges::In, Join::Sum, |edge| {
            let share = match self.of_all {
                Some(of_all) => edge.at(of_all.shares, edge.number()),
                None => {
                    edge.only(edge.there(self.sums).differs(0.0));
                    self.divide(edge)
                }
            };
            units(share * edge.there(registers.shares), exponent)
        })
    }
}
