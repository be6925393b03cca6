//! Ranks that follow edges in proportion to their weights.
//!
//! The share of an edge in the weights of the node that it leaves depends on the graph alone. It is
//! stored with the edges that arrive at a node, which gathers them without atomic additions. Shares
//! are added up as whole numbers, whose order does not matter.

use super::{Registers, jump, units};
use crate::graph::{Graph, WeightKind};
use crate::program::{
    Edge, Edges, Item, Join, Kind, Over, ProgramBuilder, ProgramError, RegisterId, Value,
};

/// Bits of a sum of weights.
const SUM_BITS: u32 = 62;

/// Registers of weighted edges.
#[derive(Clone, Copy)]
pub(super) struct Weighing {
    /// The largest weight of each node's edges, a float, and the sum of their weights as multiples
    /// of it; 0 if no edge has any.
    largest: RegisterId,
    sums: RegisterId,
    /// The share of each incoming edge in the weights of the node that it leaves.
    shares: RegisterId,
    kind: WeightKind,
}

impl Weighing {
    /// Registers and waves of the weights of `graph`, which are of `kind`.
    ///
    /// Weights are added up in units of the row's largest one, so that a sum of `d` weights is
    /// exact up to `d` units of 2^-62 times twice the largest degree.
    pub(super) fn of(
        program: &mut ProgramBuilder,
        graph: &Graph,
        kind: WeightKind,
    ) -> Result<Self, ProgramError> {
        let weighing = Self {
            largest: program.per_node("largest weights", Kind::F32)?,
            sums: program.per_node("weights", Kind::F32)?,
            shares: program.values("shares of edges", Kind::F32, u64::from(graph.edges()))?,
            kind,
        };
        let rows = graph.offsets().windows(2);
        let degree = rows.map(|row| row[1] - row[0]).max().unwrap_or(0);
        let exponent = SUM_BITS - (u32::BITS - degree.leading_zeros());
        program.once(|once| weighing.weigh(once, exponent));
        Ok(weighing)
    }

    /// Sums up the weights of each node's edges, and divides every edge's weight by them.
    fn weigh(self, once: &mut ProgramBuilder, exponent: u32) {
        once.each("largest weights", Over::Nodes, |node| {
            let largest = node.gather(Edges::Out, Join::Max, |edge| self.weight(edge));
            // A node without edges gets the least of all floats.
            node.store(self.largest, largest.max(0.0));
        });
        once.each("weights", Over::Nodes, |node| {
            let largest = node.load(self.largest);
            let sum = node.gather(Edges::Out, Join::Sum, |edge| {
                units(self.weight(edge) / largest, exponent)
            });
            let sum = sum.to_f32() * 0.5_f32.powi(exponent as i32);
            node.store(self.sums, largest.equals(0.0).select(0.0_f32, sum));
        });
        once.fill("no shares", self.shares, 0);
        once.each("shares of edges", Over::Nodes, |node| {
            node.each_edge(Edges::In, |edge| {
                let sum = edge.there(self.sums);
                edge.only(sum.differs(0.0));
                let share = self.weight(edge) / edge.there(self.largest) / sum;
                edge.scatter(self.shares, edge.number(), Join::Sum, share);
            });
        });
    }

    /// The weight of an edge.
    fn weight<'c>(self, edge: Edge<'c>) -> Value<'c> {
        match self.kind {
            WeightKind::Integer => edge.weight().to_f32(),
            _ => edge.float_weight(),
        }
    }

    /// Keeps the rank that each node passes on.
    pub(super) fn share(self, body: &mut ProgramBuilder, registers: Registers) {
        body.each("share by weight", Over::Nodes, |node| {
            node.store(registers.shares, node.load(registers.ranks));
            jump(node, registers, node.load(self.sums).equals(0.0));
        });
    }

    /// The rank that comes along the edges of a node, in units.
    pub(super) fn arriving<'c>(
        self,
        node: Item<'c>,
        registers: Registers,
        exponent: u32,
    ) -> Value<'c> {
        node.gather(Edges::In, Join::Sum, |edge| {
            let share = edge.at(self.shares, edge.number()) * edge.there(registers.shares);
            units(share, exponent)
        })
    }
}
