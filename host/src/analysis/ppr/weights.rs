//! Ranks that follow edges in proportion to their weights.
//!
//! Weights are stored at the start of edges, so ranks are pushed along them. Received shares are
//! added up as whole numbers, whose order does not matter.

use super::{Registers, jump, units};
use crate::analysis::Question;
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
    kind: WeightKind,
}

impl Weighing {
    /// Registers and waves that sum up the weights of `graph`, if `question` uses them.
    ///
    /// Weights are added up in units of the row's largest one, so that a sum of `d` weights is
    /// exact up to `d` units of 2^-62 times twice the largest degree.
    pub(super) fn of(
        program: &mut ProgramBuilder,
        graph: &Graph,
        question: &Question,
    ) -> Result<Option<Self>, ProgramError> {
        let Some(kind) = graph.weight_kind().filter(|_| question.weighted) else {
            return Ok(None);
        };
        let weighing = Self {
            largest: program.per_node("largest weights", Kind::F32)?,
            sums: program.per_node("weights", Kind::F32)?,
            kind,
        };
        let rows = graph.offsets().windows(2);
        let degree = rows.map(|row| row[1] - row[0]).max().unwrap_or(0);
        let exponent = SUM_BITS - (u32::BITS - degree.leading_zeros());
        program.each("largest weights", Over::Nodes, |node| {
            let largest = node.gather(Edges::Out, Join::Max, |edge| weighing.weight(edge));
            // A node without edges gets the least of all floats.
            node.store(weighing.largest, largest.max(0.0));
        });
        program.each("weights", Over::Nodes, |node| {
            let sum = node.gather(Edges::Out, Join::Sum, |edge| {
                units(weighing.part(edge, *edge), exponent)
            });
            let sum = sum.to_f32() * 0.5_f32.powi(exponent as i32);
            let is_end = node.load(weighing.largest).equals(0.0);
            node.store(weighing.sums, is_end.select(0.0_f32, sum));
        });
        Ok(Some(weighing))
    }

    /// The weight of an edge.
    fn weight<'c>(self, edge: Edge<'c>) -> Value<'c> {
        match self.kind {
            WeightKind::Integer => edge.weight().to_f32(),
            _ => edge.float_weight(),
        }
    }

    /// The weight of an edge of `node`, as a multiple of the row's largest one.
    fn part<'c>(self, edge: Edge<'c>, node: Item<'c>) -> Value<'c> {
        self.weight(edge) / node.load(self.largest)
    }

    /// Pushes the rank of each node along its edges.
    pub(super) fn share(self, body: &mut ProgramBuilder, registers: Registers, exponent: u32) {
        body.each("share by weight", Over::Nodes, |node| {
            let is_end = node.load(self.sums).equals(0.0);
            jump(node, registers, is_end);
            node.only(is_end.is_zero());
            let (own, sum) = (node.load(registers.ranks), node.load(self.sums));
            let largest = node.load(self.largest);
            node.each_edge(Edges::Out, |edge| {
                let share = self.weight(edge) / largest / sum * own;
                edge.scatter(
                    registers.shares,
                    edge.neighbour(),
                    Join::Sum,
                    units(share, exponent),
                );
            });
        });
    }
}
