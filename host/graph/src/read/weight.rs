//! Parsing of one edge weight.
//!
//! A number that is whole and fits 32 bits, with a sign if it is negative, is a whole number in any
//! notation (`3`, `3.0`, `3e0`). Plain digits beyond 32 bits are refused. Any other number becomes
//! the nearest `f32`; whether this rounds is decided exactly, from the decimal digits. So `0.5` is
//! not rounded, while `0.1`, `1.00000000000000001` and `1e-400` are.

use super::quote::quote;
use crate::scale::{Factor, Product};
use crate::weights::{signed_whole, signed_word};
use crate::{LineProblem, WeightKind};

const WHAT: &str = "a weight";
/// Larger exponents are clamped to this: no float is near.
const EXPONENT_LIMIT: i64 = 1 << 40;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Weight {
    Whole(u32),
    Negative(i32),
    /// A number that only a float represents.
    Real {
        /// Its bits, also of a negative one.
        word: u32,
        /// Whether it differs from the number in the file.
        rounded: bool,
    },
}

impl Weight {
    /// Whether it is below 0.
    pub(super) const fn is_negative(self) -> bool {
        match self {
            Self::Whole(_) => false,
            Self::Negative(_) => true,
            Self::Real { word, .. } => word >> 31 == 1,
        }
    }

    /// Its kind, its word of that kind, and whether it differs from the number in the file.
    pub(super) const fn parts(self) -> (WeightKind, u32, bool) {
        match self {
            Self::Whole(word) => (WeightKind::Integer, word, false),
            Self::Negative(whole) => (WeightKind::Signed, signed_whole(whole), false),
            Self::Real { word, rounded } if word >> 31 == 1 => {
                let word = signed_word(f32::from_bits(word));
                (WeightKind::SignedFloat, word, rounded)
            }
            Self::Real { word, rounded } => (WeightKind::Float, word, rounded),
        }
    }

    /// The negative of a whole number, if it has 32 bits.
    fn minus(magnitude: u32) -> Option<Self> {
        0_i32.checked_sub_unsigned(magnitude).map(Self::Negative)
    }

    /// A weight that was multiplied; `None` beyond 32 bits.
    pub(super) fn product(whole: u32, is_negative: bool) -> Option<Self> {
        match (is_negative, whole) {
            (false, _) | (_, 0) => Some(Self::Whole(whole)),
            _ => Self::minus(whole),
        }
    }
}

/// Parses a weight of digits only.
pub(super) fn whole(value: u64) -> Result<Weight, LineProblem> {
    let limit = u32::MAX;
    let too_large = |_| LineProblem::TooLarge {
        what: WHAT,
        value: value.to_string(),
        limit: u64::from(limit),
    };
    u32::try_from(value).map(Weight::Whole).map_err(too_large)
}

/// Parses a weight in any decimal notation.
pub(super) fn decimal(word: &[u8]) -> Result<Weight, LineProblem> {
    let value = || quote(word);
    let not_a_number = || LineProblem::NotANumber {
        what: WHAT,
        value: value(),
    };
    let (text, float) = real(word).ok_or_else(not_a_number)?;
    let exact = Decimal::of(text);
    let is_negative = exact.negative && !exact.digits.is_empty();
    let whole = exact.whole();
    if let Some(weight) = whole.and_then(|whole| Weight::product(whole, is_negative)) {
        return Ok(weight);
    }
    if is_negative && text[1..].bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(LineProblem::TooSmall {
            what: WHAT,
            value: value(),
            limit: i64::from(i32::MIN),
        });
    }
    if !float.is_finite() {
        return Err(LineProblem::BeyondFloat {
            what: WHAT,
            value: value(),
        });
    }
    Ok(Weight::Real {
        word: float.to_bits(),
        rounded: !exact.is(text, float),
    })
}

/// Parses a weight in any decimal notation and multiplies it, exactly; returns the product of its
/// digits, and whether it is negative.
pub(super) fn scaled(word: &[u8], factor: Factor) -> Result<(Product, bool), LineProblem> {
    let value = || quote(word);
    let not_a_number = || LineProblem::NotANumber {
        what: WHAT,
        value: value(),
    };
    let (text, _) = real(word).ok_or_else(not_a_number)?;
    let exact = Decimal::of(text);
    let is_negative = exact.negative && !exact.digits.is_empty();
    let exponent = exact.before - exact.digits.len() as i64;
    let product = factor.times_digits(&exact.digits, exponent);
    let fits = |product: &Product| Weight::product(product.whole, is_negative).is_some();
    let product = product.filter(fits).map(|product| (product, is_negative));
    product.ok_or_else(|| LineProblem::ScaledTooLarge {
        value: value(),
        factor: format!("{:?}", factor.value),
    })
}

/// Parses a number in decimal notation; refuses the words that Rust's parser also takes.
pub(super) fn real(word: &[u8]) -> Option<(&str, f32)> {
    let is_plain = |b: &u8| matches!(b, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E');
    let text = std::str::from_utf8(word).ok()?;
    let float = text.parse().ok()?;
    word.iter().all(is_plain).then_some((text, float))
}

/// A decimal number as its digits, without zeros at either end.
#[derive(Debug, PartialEq, Eq)]
struct Decimal {
    negative: bool,
    digits: Vec<u8>,
    /// Number of digits before the point. Zeros follow the digits, or fill the gap after the point.
    before: i64,
}

impl Decimal {
    /// Returns the digits of a text that Rust parses as a float.
    fn of(text: &str) -> Self {
        let negative = text.starts_with('-');
        let text = text.trim_start_matches(['-', '+']);
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent_of(exponent)),
            None => (text, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all: Vec<u8> = whole.bytes().chain(fraction.bytes()).collect();
        let zeros = all.iter().take_while(|digit| **digit == b'0').count();
        let end = all.iter().rposition(|digit| *digit != b'0');
        let digits = end.map_or(Vec::new(), |end| all[zeros..=end].to_vec());
        let before = whole.len() as i64 - zeros as i64 + exponent;
        Self {
            negative,
            before: if digits.is_empty() { 0 } else { before },
            digits,
        }
    }

    /// Returns the value as a 32-bit whole number, if it is one.
    fn whole(&self) -> Option<u32> {
        let zeros = self.before.checked_sub(self.digits.len() as i64)?;
        let zeros = u32::try_from(zeros).ok().filter(|_| self.before <= 10)?;
        let digits = self.digits.iter();
        let value = digits.fold(0, |value, digit| value * 10 + u64::from(digit - b'0'));
        u32::try_from(value * 10_u64.pow(zeros)).ok()
    }

    /// Returns whether `float`, the nearest to `text`, is exactly this number.
    fn is(&self, text: &str, float: f32) -> bool {
        let near = text.parse() == Ok(f64::from(float));
        near && *self == Self::of(&exactly(float))
    }
}

fn exponent_of(text: &str) -> i64 {
    let limit = if text.starts_with('-') {
        -EXPONENT_LIMIT
    } else {
        EXPONENT_LIMIT
    };
    let exponent = text.parse().unwrap_or(limit);
    exponent.clamp(-EXPONENT_LIMIT, EXPONENT_LIMIT)
}

/// Returns all decimal digits of a finite float, down to its last bit.
fn exactly(float: f32) -> String {
    let sign = if float.is_sign_negative() { "-" } else { "" };
    let float = float.abs();
    let exponent = (float.to_bits() >> 23).max(1) as i32 - 150;
    let mantissa = float.to_bits() & 0x7f_ffff | u32::from(float.is_normal()) << 23;
    let last = exponent.saturating_add_unsigned(mantissa.trailing_zeros());
    let places = last.min(0).unsigned_abs() as usize;
    format!("{sign}{float:.places$}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str) -> Result<Weight, String> {
        decimal(text.as_bytes()).map_err(|problem| problem.to_string())
    }

    fn float(value: f32, rounded: bool) -> Result<Weight, String> {
        let word = value.to_bits();
        Ok(Weight::Real { word, rounded })
    }

    #[test]
    fn whole_numbers_stay_whole_in_any_notation() {
        for (text, value) in [
            ("3.0", 3),
            ("1e3", 1000),
            ("+7", 7),
            ("12.5e1", 125),
            ("4294967295.000", u32::MAX),
            ("4294967.295e3", u32::MAX),
            ("-0.0", 0),
            ("-0", 0),
            ("0e999999999999999999999", 0),
        ] {
            assert_eq!(read(text), Ok(Weight::Whole(value)), "{text}");
        }
    }

    #[test]
    fn negative_weights_are_whole_in_any_notation_or_floats() {
        let whole = |text: &str| match read(text) {
            Ok(Weight::Negative(whole)) => Some(whole),
            _ => None,
        };
        assert_eq!(whole("-7"), Some(-7));
        assert_eq!(whole("-70e-1"), Some(-7));
        assert_eq!(whole("-2147483648"), Some(i32::MIN));
        assert_eq!(read("-2.5"), float(-2.5, false));
        assert_eq!(read("-0.1"), float(-0.1, true));
        assert_eq!(read("-2147483649.0"), float(-2_147_483_648.0, true));
        assert_eq!(read("-1e-400"), float(-0.0, true));
        assert!(read("-1e-400").unwrap().is_negative() && !read("-0").unwrap().is_negative());
        let product = |text: &str| scaled(text.as_bytes(), Factor::of(100.0).unwrap());
        let (found, is_negative) = product("-0.25").unwrap();
        assert_eq!((found.whole, is_negative), (25, true));
        assert!(product("-21474836.49").is_err());
    }

    #[test]
    fn fractions_report_whether_they_were_rounded() {
        assert_eq!(read("2.5"), float(2.5, false));
        assert_eq!(read("250e-2"), float(2.5, false));
        assert_eq!(read("1e10"), float(1e10, false));
        assert_eq!(read("4294967296.0"), float(4_294_967_296.0, false));
        assert_eq!(read("0.1"), float(0.1, true));
        assert_eq!(read("1.00000000000000001"), float(1.0, true));
        assert_eq!(read("1.000000000000000000000000000001"), float(1.0, true));
        assert_eq!(read("1e-400"), float(0.0, true));
        assert_eq!(read("1e-99999999999999999999"), float(0.0, true));
        let least = exactly(f32::from_bits(1));
        assert_eq!(read(&least), float(f32::from_bits(1), false));
    }

    #[test]
    fn texts_that_are_not_weights_are_refused() {
        for (text, message) in [
            (
                "-2147483649",
                "a weight is too small (-2147483649); at least -2147483648",
            ),
            ("nan", "expected a weight, found \"nan\""),
            ("inf", "expected a weight, found \"inf\""),
            ("1.5x", "expected a weight, found \"1.5x\""),
            (
                "3.5e38",
                "a weight is too large for a 32-bit float (3.5e38)",
            ),
            ("1e400", "a weight is too large for a 32-bit float (1e400)"),
        ] {
            let found = read(text).unwrap_err();
            assert!(found.starts_with(message), "{text}: {found}");
        }
        assert!(
            whole(1 << 32)
                .unwrap_err()
                .to_string()
                .contains("too large")
        );
    }

    proptest! {
        #[test]
        fn every_float_written_in_full_reads_back_unrounded(bits in 0..f32::INFINITY.to_bits()) {
            let value = f32::from_bits(bits);
            let expected = match value as u32 {
                whole if whole as f32 == value && value < 4_294_967_296.0 => Weight::Whole(whole),
                _ => Weight::Real { word: bits, rounded: false },
            };
            prop_assert_eq!(read(&exactly(value)), Ok(expected));
        }

        #[test]
        fn a_digit_more_is_always_noticed(bits in 1..f32::INFINITY.to_bits()) {
            let text = exactly(f32::from_bits(bits));
            let point = if text.contains('.') { "" } else { "." };
            let more = format!("{text}{point}0000000000000000000000000000001");
            let found = read(&more);
            prop_assert!(matches!(found, Ok(Weight::Real { rounded: true, .. })), "{found:?}");
        }
    }
}
