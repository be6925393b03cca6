//! Weights other than those that were read: 1 everywhere, or scaled to whole numbers.
//!
//! Scaling is decimal arithmetic on the number as written: 12345678.91 times 100 is 1234567891,
//! although no 32-bit float is 12345678.91. Text is scaled as it is parsed; weights that are words
//! already count as the shortest decimal number that names them.

use rayon::prelude::*;

use super::memory::{self, Shortage};
use super::model::{Graph, too_large};
use super::weights::{WeightKind, signed_whole};
use super::{Cause, GraphError};

/// A factor on all weights, and its effect.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    /// The factor.
    pub factor: f64,
    /// Weights whose product is not a whole number, counted as often as the file lists them.
    pub rounded: u64,
    /// Positive weights that became 0.
    pub vanished: u64,
}

/// An error of scaling.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, thiserror::Error)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum ScaleError {
    /// The graph has no weights.
    #[error("the graph has no weights to scale; load it with weights, or give every edge 1")]
    NoWeights,
    /// The factor is not a positive finite number.
    #[error("a factor of {factor:?}; it is a finite number above 0")]
    #[serde(rename = "scale_factor")]
    Factor {
        /// The factor given.
        factor: f64,
    },
    /// A product beyond 32 bits.
    #[error(
        "the edge from node {from} to node {to} weighs {weight:?}, and {factor:?} times that is more than 4294967295; take a smaller factor"
    )]
    #[serde(rename = "scaled_weight")]
    TooHeavy {
        /// Start of the edge, by its id in the file.
        from: u64,
        /// End of the edge, by its id in the file.
        to: u64,
        /// Its weight.
        weight: f64,
        /// The factor given.
        factor: f64,
    },
}

impl ScaleError {
    /// Returns the cause: the request or the machine.
    #[must_use]
    pub const fn cause(&self) -> Cause {
        Cause::Request
    }
}

/// A positive factor as decimal digits: `digits` times ten to the `exponent`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Factor {
    pub(super) value: f64,
    digits: u64,
    exponent: i64,
}

/// A product, rounded to a whole number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Product {
    pub(super) whole: u32,
    /// Whether the exact product is another number.
    pub(super) is_rounded: bool,
}

impl Product {
    /// Whether a positive weight became 0.
    pub(super) const fn has_vanished(self) -> bool {
        self.whole == 0 && self.is_rounded
    }
}

impl Factor {
    /// Takes a factor as the shortest decimal number that names it.
    pub(super) fn of(value: f64) -> Result<Self, ScaleError> {
        let problem = ScaleError::Factor { factor: value };
        if !(value > 0.0 && value.is_finite()) {
            return Err(problem);
        }
        let text = format!("{value:e}");
        let (mantissa, exponent) = text.split_once('e').ok_or(problem)?;
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits = format!("{whole}{fraction}").parse();
        let exponent: Result<i64, _> = exponent.parse();
        match (digits, exponent) {
            (Ok(digits), Ok(exponent)) => Ok(Self {
                value,
                digits,
                exponent: exponent - fraction.len() as i64,
            }),
            _ => Err(problem),
        }
    }

    /// Multiplies `digits` times ten to the `exponent`, rounds to the nearest whole number and ties
    /// to the even one. `None` beyond 32 bits.
    pub(super) fn times(self, digits: u64, exponent: i64) -> Option<Product> {
        // 20 and 17 digits are at most 37 together, and 38 fit 128 bits.
        let product = u128::from(digits) * u128::from(self.digits);
        let exponent = exponent + self.exponent;
        if product == 0 {
            return Some(Product {
                whole: 0,
                is_rounded: false,
            });
        }
        if exponent >= 0 {
            let power = 10u128.checked_pow(u32::try_from(exponent).ok()?)?;
            let whole = u32::try_from(product.checked_mul(power)?).ok()?;
            return Some(Product {
                whole,
                is_rounded: false,
            });
        }
        // A divisor beyond 10^38 is more than twice any product.
        let power = u32::try_from(-exponent)
            .ok()
            .and_then(|places| 10u128.checked_pow(places));
        let Some(power) = power else {
            return Some(Product {
                whole: 0,
                is_rounded: true,
            });
        };
        let (whole, rest) = (product / power, product % power);
        let up = rest > power - rest || rest == power - rest && whole % 2 == 1;
        Some(Product {
            whole: u32::try_from(whole + u128::from(up)).ok()?,
            is_rounded: rest > 0,
        })
    }

    /// As [`times`](Self::times), for any number of decimal digits, the greatest first. Linear in
    /// them.
    pub(super) fn times_digits(self, digits: &[u8], exponent: i64) -> Option<Product> {
        let mut product = Vec::with_capacity(digits.len() + 20);
        let mut carry = 0u128;
        for digit in digits.iter().rev() {
            carry += u128::from(*digit - b'0') * u128::from(self.digits);
            product.push((carry % 10) as u8);
            carry /= 10;
        }
        while carry > 0 {
            product.push((carry % 10) as u8);
            carry /= 10;
        }
        while product.last() == Some(&0) {
            product.pop();
        }
        // Now the least digit comes first. Places after the point end at `point`.
        let exponent = exponent + self.exponent;
        let point = usize::try_from(-exponent).unwrap_or(0);
        let (fraction, whole) = product.split_at(point.min(product.len()));
        if product.is_empty() {
            return Some(Product {
                whole: 0,
                is_rounded: false,
            });
        }
        if whole.len() > 10 {
            return None;
        }
        let zeros = u32::try_from(exponent.max(0)).ok()?;
        let value = whole
            .iter()
            .rev()
            .fold(0u64, |value, digit| value * 10 + u64::from(*digit));
        let value = value.checked_mul(10u64.checked_pow(zeros)?)?;
        let first = if point <= product.len() {
            fraction.last().copied().unwrap_or(0)
        } else {
            0
        };
        let rest = fraction.len().saturating_sub(1);
        let has_rest = fraction[..rest].iter().any(|digit| *digit > 0);
        let up = first > 5 || first == 5 && (has_rest || value % 2 == 1);
        Some(Product {
            whole: u32::try_from(value + u64::from(up)).ok()?,
            is_rounded: fraction.iter().any(|digit| *digit > 0),
        })
    }

    /// Multiplies a weight that is a word already, without its sign.
    fn times_word(self, kind: WeightKind, word: u32) -> Option<Product> {
        let number = kind.number(word);
        let product = if kind.is_float() {
            let other = Self::of((number as f32).abs().to_string().parse().ok()?);
            other.map_or(self.times(0, 0), |other| {
                self.times(other.digits, other.exponent)
            })
        } else {
            self.times(number.abs() as u64, 0)
        };
        let most = match (kind.is_signed(), number < 0.0) {
            (false, _) => u32::MAX,
            (true, false) => i32::MAX.cast_unsigned(),
            (true, true) => i32::MIN.unsigned_abs(),
        };
        product.filter(|product| product.whole <= most)
    }
}

impl Graph {
    /// Returns the same graph with weight 1 on every edge. Existing weights are replaced.
    ///
    /// ```
    /// use seawall_graph::Graph;
    ///
    /// let graph = Graph::from_edges(3, &[(0, 1), (1, 2)], false)?.with_unit_weights()?;
    /// assert_eq!(graph.weights(), Some(&[1, 1][..]));
    /// # Ok::<(), seawall_graph::GraphError>(())
    /// ```
    ///
    /// # Errors
    /// [`GraphError::Memory`].
    pub fn with_unit_weights(self) -> Result<Self, GraphError> {
        self.unit_weights().map_err(too_large)
    }

    /// Works as [`with_unit_weights`](Self::with_unit_weights), for callers that name the graph.
    pub(super) fn unit_weights(self) -> Result<Self, Shortage> {
        let mut weights = memory::zeroed::<u32>(self.edges() as usize)?;
        weights.par_iter_mut().for_each(|weight| *weight = 1);
        Ok(self.with_weights(weights))
    }

    /// Returns the same graph with its weights times `factor`, rounded to the nearest whole
    /// number, ties to even.
    ///
    /// Weights and factor count as the shortest decimal numbers that name them, and their product
    /// is exact: 0.1 times 10 is 1. Rounding keeps the order of weights, and both directions of an
    /// edge keep the same weight.
    ///
    /// ```
    /// use seawall_graph::Graph;
    ///
    /// let edges = [(0, 1, 0.25), (1, 2, 1.5)];
    /// let scaled = Graph::from_float_edges(3, &edges, false)?.with_scaled_weights(2.0)?;
    /// let (graph, scale) = scaled;
    /// assert_eq!(graph.weights(), Some(&[0, 3][..]));
    /// assert_eq!((scale.rounded, scale.vanished), (1, 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`ScaleError`] if there are no weights, the factor is not finite and positive, or a product
    /// exceeds `u32::MAX`, or 31 bits and a sign where some weight is negative; the error names the
    /// first such edge.
    pub fn with_scaled_weights(self, factor: f64) -> Result<(Self, Scale), ScaleError> {
        let times = Factor::of(factor)?;
        let kind = self.weight_kind().ok_or(ScaleError::NoWeights)?;
        let words = self.weights().unwrap_or_default();
        let too_heavy = |word: &u32| times.times_word(kind, *word).is_none();
        if let Some(edge) = words.par_iter().position_first(too_heavy) {
            return Err(self.too_heavy(edge, kind.number(words[edge]), factor));
        }
        let mut scale = Scale {
            factor,
            rounded: 0,
            vanished: 0,
        };
        let graph = self.map_rows(|mut rows| {
            let words = rows.weights.as_deref_mut().unwrap_or_default();
            (scale.rounded, scale.vanished) = scale_all(words, kind, times);
            rows
        });
        let kind = match kind.is_signed() {
            true => WeightKind::Signed,
            false => WeightKind::Integer,
        };
        Ok((graph.with_kind(kind), scale))
    }

    fn too_heavy(&self, edge: usize, weight: f64, factor: f64) -> ScaleError {
        let starts = self.offsets();
        let row = starts.partition_point(|start| *start as usize <= edge);
        let from = u32::try_from(row.saturating_sub(1)).unwrap_or(u32::MAX);
        ScaleError::TooHeavy {
            from: self.original_id(from),
            to: self.original_id(self.targets()[edge]),
            weight,
            factor,
        }
    }
}

/// Scales weights whose products fit; returns how many were rounded and how many vanished.
fn scale_all(words: &mut [u32], kind: WeightKind, factor: Factor) -> (u64, u64) {
    let scale = |word: &mut u32| match factor.times_word(kind, *word) {
        Some(product) => {
            *word = match (kind.is_signed(), kind.number(*word) < 0.0) {
                (false, _) => product.whole,
                (true, false) => signed_whole(product.whole.cast_signed()),
                (true, true) => signed_whole(product.whole.wrapping_neg().cast_signed()),
            };
            (
                u64::from(product.is_rounded),
                u64::from(product.has_vanished()),
            )
        }
        None => (0, 0),
    };
    let add = |a: (u64, u64), b: (u64, u64)| (a.0 + b.0, a.1 + b.1);
    words.par_iter_mut().map(scale).reduce(|| (0, 0), add)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(weights: [u32; 3]) -> Graph {
        let [a, b, c] = weights;
        Graph::from_weighted_edges(3, &[(0, 1, a), (0, 2, b), (2, 1, c)], false).unwrap()
    }

    #[test]
    fn products_are_rounded_to_the_nearest_and_ties_to_even() {
        let (graph, scale) = whole([25, 35, 4]).with_scaled_weights(0.1).unwrap();
        assert_eq!(graph.weights(), Some(&[2, 4, 0][..]));
        assert_eq!((scale.rounded, scale.vanished), (3, 1));
        let (graph, scale) = whole([10, 30, 0]).with_scaled_weights(0.1).unwrap();
        assert_eq!(graph.weights(), Some(&[1, 3, 0][..]));
        assert_eq!((scale.rounded, scale.vanished), (0, 0));
    }

    #[test]
    fn decimals_that_become_whole_are_not_rounded() {
        let edges = [(0, 1, 0.1), (0, 2, 2.3), (2, 1, 0.25)];
        let graph = Graph::from_float_edges(3, &edges, true).unwrap();
        let (graph, scale) = graph.with_scaled_weights(10.0).unwrap();
        assert_eq!(graph.weights(), Some(&[1, 23, 1, 2, 23, 2][..]));
        assert_eq!(graph.weight_kind(), Some(WeightKind::Integer));
        assert!(graph.is_symmetric());
        assert_eq!(scale.rounded, 2, "the edge of 2.5 in both directions");
    }

    #[test]
    fn a_product_beyond_32_bits_names_its_edge() {
        let (largest, _) = whole([0, 1, u32::MAX]).with_scaled_weights(1.0).unwrap();
        assert_eq!(largest.weights(), Some(&[0, 1, u32::MAX][..]));
        let error = whole([7, 1, u32::MAX])
            .with_scaled_weights(1.5)
            .unwrap_err();
        let text = error.to_string();
        assert!(
            text.starts_with("the edge from node 2 to node 1 weighs 4294967295.0, and 1.5 times"),
            "{text}"
        );
    }

    #[test]
    fn zero_negative_and_infinite_factors_are_refused() {
        for factor in [0.0, -1.0, f64::INFINITY, f64::NAN] {
            let error = whole([1, 2, 3]).with_scaled_weights(factor).unwrap_err();
            assert!(matches!(error, ScaleError::Factor { .. }), "{error}");
        }
        let plain = Graph::from_edges(2, &[(0, 1)], false).unwrap();
        let error = plain.with_scaled_weights(2.0).unwrap_err();
        assert_eq!(error, ScaleError::NoWeights);
    }

    #[test]
    fn products_are_exact_whatever_the_number_of_digits() {
        let times = |factor: f64, digits: &str, exponent| {
            let factor = Factor::of(factor).unwrap();
            let long = factor.times_digits(digits.as_bytes(), exponent);
            if let Ok(digits) = digits.parse() {
                assert_eq!(factor.times(digits, exponent), long, "{digits} {exponent}");
            }
            long.map(|product| (product.whole, product.is_rounded))
        };
        assert_eq!(times(100.0, "1234567891", -2), Some((1_234_567_891, false)));
        assert_eq!(times(0.1, "5", 0), Some((0, true)));
        assert_eq!(times(0.1, "15", 0), Some((2, true)));
        assert_eq!(times(0.1, "25", 0), Some((2, true)));
        assert_eq!(
            times(0.1, "250000000000000000000000000001", -28),
            Some((3, true))
        );
        assert_eq!(
            times(3.0, "1666666666666666666666666667", -28),
            Some((1, true))
        );
        assert_eq!(
            times(3.0, "1666666666666666666666666666", -28),
            Some((0, true))
        );
        assert_eq!(times(1.0, "4294967295", 0), Some((u32::MAX, false)));
        assert_eq!(times(1.0, "4294967296", 0), None);
        assert_eq!(times(1.0, "42949672954", -1), Some((u32::MAX, true)));
        assert_eq!(times(1.0, "42949672955", -1), None);
        assert_eq!(times(1e300, "1", -295), Some((100_000, false)));
        assert_eq!(times(1e300, "1", 0), None);
        assert_eq!(times(5e-324, "9", 0), Some((0, true)));
        assert_eq!(times(5e-324, "0", 1 << 40), Some((0, false)));
        assert_eq!(
            times(1e-10, "18446744073709551615", 0),
            Some((1_844_674_407, true))
        );
    }
}
