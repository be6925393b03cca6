//! Values in several forms: conversions are written only where a form changes.

use seawall_core::abi::code::{Kind, TEMPS};

/// The form of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// A word.
    Word,
    /// A word with zeros above it, as an index needs it.
    Index,
    /// A word that is a float.
    Float,
    /// A pair of words.
    Pair,
    /// A condition, the word 1 or 0.
    Flag,
}

impl Shape {
    /// The form of values of a kind.
    pub(crate) const fn of(kind: Kind) -> Self {
        match kind {
            Kind::U32 | Kind::I32 => Self::Word,
            Kind::F32 => Self::Float,
            Kind::U64 => Self::Pair,
        }
    }
}

/// No known bound: every word is below it.
const UNBOUNDED: u64 = 1 << 32;

/// A value of each of `N` items.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Held<V, const N: usize> {
    pub(crate) values: [V; N],
    pub(crate) shape: Shape,
    /// A number that the word is known to be below.
    pub(crate) bound: u64,
}

impl<V, const N: usize> Held<V, N> {
    pub(crate) const fn shaped(values: [V; N], shape: Shape) -> Self {
        let bound = match shape {
            Shape::Flag => 2,
            _ => UNBOUNDED,
        };
        Self {
            values,
            shape,
            bound,
        }
    }

    pub(crate) const fn word(values: [V; N]) -> Self {
        Self::shaped(values, Shape::Word)
    }

    pub(crate) const fn pair(values: [V; N]) -> Self {
        Self::shaped(values, Shape::Pair)
    }

    pub(crate) const fn of_kind(kind: Kind, values: [V; N]) -> Self {
        Self::shaped(values, Shape::of(kind))
    }

    /// The same value, below `bound`.
    pub(crate) fn below(self, bound: u64) -> Self {
        Self {
            bound: self.bound.min(bound),
            ..self
        }
    }
}

/// Temporaries. Which values they have is known where code is written, since code has no jumps but
/// those that leave an item or an edge, and neither has temporaries that the next one reads.
pub(crate) type Temps<V, const N: usize> = [Option<Held<V, N>>; TEMPS as usize];
