//! Kinds of weights: whole numbers or floats.
//!
//! Either way an edge has one 32-bit word. The words of non-negative floats order like the floats,
//! so sorting, comparing and keeping the lightest of equal edges work on words of either kind.

use std::fmt;

use rayon::prelude::*;

/// The word of infinity; the words of finite non-negative floats are below it.
const INFINITY: u32 = f32::INFINITY.to_bits();

/// The word of 0 where weights have a sign.
const SIGNED_ZERO: u32 = 1 << 31;

/// Meaning of the weight words of a graph.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum WeightKind {
    /// Whole numbers from 0 to `u32::MAX`.
    #[default]
    Integer,
    /// The bits of finite, non-negative `f32` values; -0.0 does not occur.
    Float,
    /// Whole numbers from `i32::MIN` to `i32::MAX`, of which one is negative. A word is the number
    /// plus 2^31, so that words order like the numbers.
    Signed,
    /// Finite `f32` values, of which one is negative. A word is the complement of the bits of a
    /// negative value, and the bits of another one plus 2^31.
    SignedFloat,
}

impl WeightKind {
    /// Returns whether a word can be a weight of this kind.
    #[must_use]
    pub const fn holds(self, word: u32) -> bool {
        match self {
            Self::Integer | Self::Signed => true,
            Self::Float => word < INFINITY,
            Self::SignedFloat => self.number_bits(word) & !SIGNED_ZERO < INFINITY,
        }
    }

    /// Returns whether some weight is negative.
    #[must_use]
    pub const fn is_signed(self) -> bool {
        matches!(self, Self::Signed | Self::SignedFloat)
    }

    /// Returns whether weights are floats.
    #[must_use]
    pub const fn is_float(self) -> bool {
        matches!(self, Self::Float | Self::SignedFloat)
    }

    /// The weight that a word of this kind stands for.
    ///
    /// ```
    /// use seawall_graph::Graph;
    ///
    /// let graph = Graph::from_signed_edges(2, &[(0, 1, -7)], false)?;
    /// let (kind, words) = (graph.weight_kind().unwrap(), graph.weights().unwrap());
    /// assert_eq!(kind.number(words[0]), -7.0);
    /// # Ok::<(), seawall_graph::GraphError>(())
    /// ```
    #[must_use]
    pub const fn number(self, word: u32) -> f64 {
        match self {
            Self::Integer => word as f64,
            Self::Signed => self.number_bits(word).cast_signed() as f64,
            Self::Float | Self::SignedFloat => f32::from_bits(self.number_bits(word)) as f64,
        }
    }

    /// The bits of the number that a word stands for: of a `u32`, `i32` or `f32`.
    pub(super) const fn number_bits(self, word: u32) -> u32 {
        match self {
            Self::SignedFloat if word < SIGNED_ZERO => !word,
            Self::SignedFloat | Self::Signed => word ^ SIGNED_ZERO,
            Self::Integer | Self::Float => word,
        }
    }

    /// The kind that holds weights of both kinds, if whole ones fit.
    const fn joined(self, other: Self) -> Self {
        let is_float = self.is_float() || other.is_float();
        match (is_float, self.is_signed() || other.is_signed()) {
            (false, false) => Self::Integer,
            (true, false) => Self::Float,
            (false, true) => Self::Signed,
            (true, true) => Self::SignedFloat,
        }
    }

    /// The word of kind `to`, which holds more numbers, and whether it was rounded.
    pub(super) fn convert(self, word: u32, to: Self) -> (u32, bool) {
        let number = self.number(word);
        let float = number as f32;
        let is_rounded = to.is_float() && f64::from(float) != number;
        let converted = match to {
            _ if self == to => word,
            Self::Integer | Self::Signed => word ^ SIGNED_ZERO,
            Self::Float => float.to_bits(),
            Self::SignedFloat => signed_word(float),
        };
        (converted, is_rounded)
    }
}

/// The word of a finite float where weights have a sign.
pub(super) const fn signed_word(float: f32) -> u32 {
    let bits = (float + 0.0).to_bits();
    if bits < SIGNED_ZERO {
        bits | SIGNED_ZERO
    } else {
        !bits
    }
}

/// The word of a whole number where weights have a sign.
pub(super) const fn signed_whole(whole: i32) -> u32 {
    whole.cast_unsigned() ^ SIGNED_ZERO
}

impl WeightKind {
    /// Returns a number that orders words of this kind like their weights.
    #[inline]
    pub(super) const fn key(self, word: u32) -> u32 {
        match self {
            Self::Integer | Self::Signed | Self::SignedFloat => word,
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
            Self::Signed => "signed integer",
            Self::SignedFloat => "signed float",
        })
    }
}

/// Returns the word of a float weight; `None` if it is negative, infinite or not a number.
pub(super) fn float_word(weight: f32) -> Option<u32> {
    // Adding 0.0 turns -0.0 into 0.0 and changes nothing else.
    (weight >= 0.0 && weight.is_finite()).then(|| (weight + 0.0).to_bits())
}

/// Weights whose kind widens as needed.
pub(super) trait Growing {
    /// The kind so far.
    fn kind_mut(&mut self) -> &mut WeightKind;

    /// Calls `change` for every weight so far.
    fn each(&mut self, change: &(dyn Fn(&mut u32) -> u64 + Sync)) -> u64;

    /// Widens the kind of the weights so far to include `other`; whole ones become floats if they
    /// do not fit beside negative ones. Returns how many were rounded.
    fn grow(&mut self, other: WeightKind) -> u64 {
        let from = *self.kind_mut();
        let mut to = from.joined(other);
        if (from, to) == (WeightKind::Integer, WeightKind::Signed) {
            let too_large = self.each(&|word| u64::from(*word > i32::MAX.cast_unsigned()));
            if too_large > 0 {
                to = WeightKind::SignedFloat;
            }
        }
        if from == to {
            return 0;
        }
        *self.kind_mut() = to;
        self.each(&|word| {
            let (converted, is_rounded) = from.convert(*word, to);
            *word = converted;
            u64::from(is_rounded)
        })
    }
}

/// Calls `change` for the weights of edges, if they have any, on all threads.
pub(super) fn each_weight<const N: usize>(
    edges: &mut [[u32; N]],
    change: &(dyn Fn(&mut u32) -> u64 + Sync),
) -> u64 {
    if N < 3 {
        return 0;
    }
    edges
        .par_iter_mut()
        .map(|edge| change(&mut edge[N - 1]))
        .sum()
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
    fn signed_words_order_like_their_weights() {
        let wholes = [i32::MIN, -5, -1, 0, 1, i32::MAX];
        let words = wholes.map(signed_whole);
        assert!(words.is_sorted());
        assert_eq!(
            words.map(|word| WeightKind::Signed.number(word)),
            wholes.map(f64::from)
        );
        let floats = [f32::MIN, -2.5, -f32::from_bits(1), 0.0, 0.5, f32::MAX];
        let words = floats.map(signed_word);
        assert!(words.is_sorted());
        let kind = WeightKind::SignedFloat;
        assert!(words.iter().all(|word| kind.holds(*word)));
        assert_eq!(words.map(|word| kind.number(word)), floats.map(f64::from));
        assert_eq!(signed_word(-0.0), signed_word(0.0));
        for wrong in [f32::INFINITY, f32::NEG_INFINITY, f32::NAN] {
            assert!(!kind.holds(signed_word(wrong)), "{wrong}");
        }
    }

    struct Weights(WeightKind, Vec<[u32; 3]>);

    impl Growing for Weights {
        fn kind_mut(&mut self) -> &mut WeightKind {
            &mut self.0
        }

        fn each(&mut self, change: &(dyn Fn(&mut u32) -> u64 + Sync)) -> u64 {
            each_weight(&mut self.1, change)
        }
    }

    #[test]
    fn weights_grow_to_a_kind_that_holds_all() {
        let whole =
            |words: [u32; 3]| Weights(WeightKind::Integer, words.map(|word| [0, 1, word]).to_vec());
        let numbers = |weights: &Weights| {
            let all = weights.1.iter();
            all.map(|edge| weights.0.number(edge[2]))
                .collect::<Vec<_>>()
        };
        let mut floats = whole([1 << 24, (1 << 24) + 1, u32::MAX]);
        assert_eq!(floats.grow(WeightKind::Float), 2);
        assert_eq!(
            numbers(&floats),
            [16_777_216.0, 16_777_216.0, 4_294_967_296.0]
        );
        let mut signed = whole([0, 7, i32::MAX.cast_unsigned()]);
        assert_eq!(signed.grow(WeightKind::Signed), 0);
        assert_eq!(
            (signed.0, numbers(&signed)),
            (WeightKind::Signed, vec![0.0, 7.0, 2_147_483_647.0])
        );
        assert_eq!(signed.grow(WeightKind::Float), 1);
        assert_eq!(
            (signed.0, numbers(&signed)),
            (WeightKind::SignedFloat, vec![0.0, 7.0, 2_147_483_648.0])
        );
        let mut large = whole([1, 2, 1 << 31]);
        assert_eq!(large.grow(WeightKind::Signed), 0);
        assert_eq!(
            (large.0, numbers(&large)),
            (WeightKind::SignedFloat, vec![1.0, 2.0, 2_147_483_648.0])
        );
        assert_eq!(each_weight(&mut [[1, 2]], &|_| 1), 0);
    }
}
