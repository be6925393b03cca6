//! The edge of a node whose value is least or largest.
//!
//! A pair of the value and the node at the other end is joined, so that one pass finds both. The
//! value is the high word, mapped to an unsigned number of the same order.

use super::item::{Edge, Item};
use super::value::Value;
use crate::program::error::CodeError;
use seawall_core::abi::code::{Edges, Join, Kind};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::program) enum Extreme {
    Least,
    Largest,
}

/// The bit that holds the sign of a word.
const SIGN: u32 = 1 << 31;

impl<'c> Item<'c> {
    /// The least value that `body` returns for an edge, and the node at that edge's other end; of
    /// several such nodes the first. A node without edges has the node `u32::MAX`, and the largest
    /// value, or NaN for floats. Floats compare as in [`f32::total_cmp`]; values of 64 bits are
    /// refused.
    ///
    /// ```
    /// use seawall::program::{Edges, Kind, Over, ProgramBuilder};
    /// let mut program = ProgramBuilder::new(1000);
    /// let heights = program.per_node("heights", Kind::F32)?;
    /// let down = program.per_node("down", Kind::U32)?;
    /// program.each("draw", Over::Nodes, |node| {
    ///     node.store(heights, node.index().hash().to_f32());
    /// });
    /// program.each("lowest neighbour", Over::Nodes, |node| {
    ///     let [_, lowest] = node.argmin(Edges::Out, |edge| edge.there(heights));
    ///     node.store(down, lowest);
    /// });
    /// program.keep(down);
    /// program.encode(&Default::default())?;
    /// # Ok::<(), seawall::program::ProgramError>(())
    /// ```
    pub fn argmin(self, edges: Edges, body: impl FnOnce(Edge<'c>) -> Value<'c>) -> [Value<'c>; 2] {
        self.extreme(edges, Extreme::Least, body)
    }

    /// The largest value, otherwise like [`Item::argmin`]. A node without edges has the least
    /// value.
    pub fn argmax(self, edges: Edges, body: impl FnOnce(Edge<'c>) -> Value<'c>) -> [Value<'c>; 2] {
        self.extreme(edges, Extreme::Largest, body)
    }

    fn extreme(
        self,
        edges: Edges,
        extreme: Extreme,
        body: impl FnOnce(Edge<'c>) -> Value<'c>,
    ) -> [Value<'c>; 2] {
        let mut kind = Kind::U32;
        let pair = self.gather(edges, Join::Min, |edge| {
            let value = body(edge);
            kind = value.kind();
            extreme.pair(edge, value)
        });
        extreme.parts(pair, kind)
    }
}

impl Extreme {
    pub(in crate::program) fn pair<'c>(self, edge: Edge<'c>, value: Value<'c>) -> Value<'c> {
        let key = match self {
            Self::Least => ordered(value),
            Self::Largest => ordered(value) ^ u32::MAX,
        };
        edge.neighbour().below_high(key)
    }

    pub(in crate::program) fn parts<'c>(self, pair: Value<'c>, kind: Kind) -> [Value<'c>; 2] {
        let key = match self {
            Self::Least => pair.high(),
            Self::Largest => pair.high() ^ u32::MAX,
        };
        [value_of(key, kind), pair.to_u32()]
    }
}

/// A whole number without a sign, in the order of values of this kind.
fn ordered(value: Value<'_>) -> Value<'_> {
    match value.kind() {
        Kind::U32 => value,
        Kind::I32 => value.bits() ^ SIGN,
        Kind::F32 => {
            let bits = value.bits();
            bits ^ (signs(bits) | SIGN)
        }
        Kind::U64 => {
            let (what, kind) = ("argmin or argmax", Kind::U64);
            value.refuse(CodeError::NoSuchOperation { what, kind });
            value.to_u32()
        }
    }
}

/// All bits like the first one.
fn signs(word: Value<'_>) -> Value<'_> {
    (word.to_i32() >> 31).bits()
}

/// The value that [`ordered`] maps to `key`.
fn value_of(key: Value<'_>, kind: Kind) -> Value<'_> {
    match kind {
        Kind::U32 | Kind::U64 => key,
        Kind::I32 => (key ^ SIGN).to_i32(),
        Kind::F32 => (key ^ ((signs(key) ^ u32::MAX) | SIGN)).as_float(),
    }
}
