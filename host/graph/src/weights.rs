//! Kinds of weights: whole numbers or floats.
//!
//! Either way an edge has one 32-bit word. The words of non-negative floats order like the floats,
//! so sorting, comparing and keeping the lightest of equal edges work on words of either kind.

use std::fmt;

use rayon::prelude::*;

/// The word of infinity; the words of finite non-negative floats are below it.
const INFINITY: u32 = f32::INFINITY.to_bits();

/// Meaning of the weight words of a graph.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum WeightKind {
    /// Whole numbers from 0 to `u32::MAX`.
    #[default]
    Integer,
    /// The bits of finite, non-negative `f32` values; -0.0 does not occur.
    Float,
}

impl WeightKind {
    /// Tells whether a word can be a weight of this kind.
    #[must_use]
    pub const fn holds(self, word: u32) -> bool {
        match self {
            Self::Integer => true,
            Self::Float => word < INFINITY,
        }
    }
}

impl WeightKind {
    /// Returns a number that orders words of this kind like their weights.
    #[inline]
    pub(super) const fn key(self, word: u32) -> u32 {
        match self {
            Self::Integer => word,
            // The words of negative floats descend.
            Self::Float if word >> 31 == 1 => !word,
            Self::Float => word | 1 << 31,
        }
    }
}

impl fmt::Display for WeightKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Integer => "integer",
            Self::Float => "float",
        })
    }
}

/// Returns the word of a float weight; `None` if it is negative, infinite or not a number.
pub(super) fn float_word(weight: f32) -> Option<u32> {
    // Adding 0.0 turns -0.0 into 0.0 and changes nothing else.
    (weight >= 0.0 && weight.is_finite()).then(|| (weight + 0.0).to_bits())
}

/// Turns the whole weights of edges into floats; returns how many were rounded. Edges without
/// weights stay as they are.
pub(super) fn to_floats<const N: usize>(edges: &mut [[u32; N]]) -> u64 {
    if N < 3 {
        return 0;
    }
    let convert = |edge: &mut [u32; N]| {
        let whole = edge[N - 1];
        let float = whole as f32;
        edge[N - 1] = float.to_bits();
        u64::from(f64::from(float) != f64::from(whole))
    };
    edges.par_iter_mut().map(convert).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_floats_order_like_the_floats() {
        let floats = [0.0, f32::from_bits(1), 0.1, 1.0, 1.5, 3e38, f32::MAX];
        let words = floats.map(|float| float_word(float).unwrap());
        assert!(words.is_sorted());
        assert!(words.iter().all(|word| WeightKind::Float.holds(*word)));
        assert_eq!(float_word(-0.0), Some(0));
        for wrong in [-1.0, -f32::from_bits(1), f32::INFINITY, f32::NAN] {
            assert_eq!(float_word(wrong), None);
            assert!(!WeightKind::Float.holds(wrong.to_bits()));
        }
    }

    #[test]
    fn whole_numbers_beyond_24_bits_may_round() {
        let mut edges = [[0, 1, 1 << 24], [0, 1, (1 << 24) + 1], [0, 1, u32::MAX]];
        assert_eq!(to_floats(&mut edges), 2);
        assert_eq!(
            edges.map(|edge| f32::from_bits(edge[2])),
            [16_777_216.0, 16_777_216.0, 4_294_967_296.0]
        );
        assert_eq!(to_floats(&mut [[1, 2]]), 0);
    }
}
