//! Numbers of shortest paths, and shares of them.
//!
//! A number of paths is a pair: 24 bits of a float's mantissa in its low word, the exponent in its
//! high one. So the larger pair is the larger number.

use super::registers::Registers;
use crate::analysis::lists::over;
use crate::program::{Edge, Edges, Join, ProgramBuilder, Value};
use seawall_core::abi::sequential::Shares;

/// Bits of a mantissa after its first one.
const FRACTION: u32 = 23;
/// Extra bits of sums below the last bit of their largest number.
const GUARD: u32 = 8;
/// Exponent of 1 in pairs, the least one.
const ONE: u32 = 64;
/// Units of a share in 1, as a power of two.
const UNITS: u32 = 31;

/// The pair of `sum` units of a number with exponent `top`.
fn normal<'c>(sum: Value<'c>, top: Value<'c>) -> Value<'c> {
    let bits = sum.to_f32().bits();
    let mantissa = (bits & ((1 << FRACTION) - 1)) | (1_u32 << FRACTION);
    // The sum of a single number has this exponent.
    const SINGLE: u32 = 127 + FRACTION + GUARD;
    mantissa.below_high(top + (bits >> FRACTION) - SINGLE)
}

impl Registers {
    pub(super) fn count_paths(self, body: &mut ProgramBuilder) {
        body.each("count paths", over((self.level, self.length)), |node| {
            let own = node.load(self.levels);
            let before = |edge: Edge<'_>| edge.only(edge.there(self.levels).below(own));
            let most = node.gather(Edges::In, Join::Max, |edge| {
                before(edge);
                edge.latest(self.paths, edge.neighbour())
            });
            let top = most.high();
            let sum = node.gather(Edges::In, Join::Sum, |edge| {
                before(edge);
                let theirs = edge.latest(self.paths, edge.neighbour());
                (theirs.to_u32().to_u64() << GUARD) >> (top - theirs.high())
            });
            let source = node.constant(u64::from(ONE) << 32 | 1 << FRACTION);
            let counted = normal(sum, top);
            node.store(self.paths, own.is_zero().select(source, counted));
        });
    }

    /// Adds up the shares of paths through the nodes of the present level, for the source.
    pub(super) fn share_paths(self, body: &mut ProgramBuilder, how: Shares) {
        body.each("share paths", over((self.level, self.length)), |node| {
            let (next, mine) = (node.load(self.levels) + 1, node.load(self.paths));
            let units = 2.0_f32.powi(UNITS as i32);
            let (mantissa, exponent) = (mine.to_u32().to_f32() * units, mine.high());
            let sum = node.gather(Edges::Out, Join::Sum, |edge| {
                edge.only(edge.there(self.levels).equals(next));
                let less = edge.there(self.paths).high() - exponent;
                let ratio = mantissa / edge.there(self.paths).to_u32().to_f32();
                let through = ratio * edge.latest(self.shares, edge.neighbour());
                through.to_u64() >> less
            });
            let share = sum.to_f32() * 0.5_f32.powi(UNITS as i32);
            // A path between two sources counts half at each, since both ends find it.
            let end = if how == Shares::Halved {
                node.load(self.marks).select(0.5_f32, 1.0_f32)
            } else {
                node.constant(1.0_f32)
            };
            node.store(self.shares, share + end);
            // A path does not lead through its end.
            let is_source = node.load(self.levels).is_zero();
            let counted = is_source.select(0.0_f32, share);
            node.store(self.scores, node.load(self.scores) + counted);
        });
    }
}
