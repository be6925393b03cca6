//! Fields of one line, parsed from bytes.
//!
//! Nothing is copied and nothing is decoded as UTF-8 until an error quotes it. The
//! digit loop is the hot loop of every text format.

use super::quote::quote;
use super::weight::{self, Weight};
use crate::LineProblem;
use crate::scale::{Factor, Product};

/// A position in the bytes of whole lines.
#[derive(Clone, Copy)]
pub(super) struct Fields<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Fields<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// Bytes before the position.
    pub(super) fn position(&self) -> usize {
        self.at
    }

    /// Returns whether all bytes are taken.
    pub(super) fn is_done(&self) -> bool {
        self.at >= self.bytes.len()
    }

    #[inline]
    fn byte(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    /// Steps over blanks; returns the next byte of the line, `None` at its end.
    #[inline]
    pub(super) fn peek(&mut self) -> Option<u8> {
        loop {
            match self.byte() {
                Some(b' ' | b'\t' | b'\r') => self.at += 1,
                Some(b'\n') | None => return None,
                other => return other,
            }
        }
    }

    #[inline]
    pub(super) fn next_line(&mut self) {
        let rest = self.bytes.get(self.at..).unwrap_or(&[]);
        let length = rest
            .iter()
            .position(|&b| b == b'\n')
            .map_or(rest.len(), |newline| newline + 1);
        self.at += length;
    }

    /// Returns the bytes up to the end of the line, and steps over it.
    pub(super) fn take_line(&mut self) -> &'a [u8] {
        let start = self.at;
        self.next_line();
        let line = &self.bytes[start..self.at.min(self.bytes.len())];
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        line.strip_suffix(b"\r").unwrap_or(line)
    }

    #[inline]
    pub(super) fn end(&mut self) -> Result<(), LineProblem> {
        if self.peek().is_some() {
            return Err(LineProblem::ExtraField {
                value: quote(self.word()),
            });
        }
        self.at += 1;
        Ok(())
    }

    /// Returns the next field as bytes; empty at the end of the line.
    pub(super) fn word(&mut self) -> &'a [u8] {
        self.peek();
        let rest = self.bytes.get(self.at..).unwrap_or(&[]);
        let length = rest
            .iter()
            .position(u8::is_ascii_whitespace)
            .unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    /// Returns the next field without taking it.
    pub(super) fn upcoming(&self) -> &'a [u8] {
        let mut ahead = *self;
        ahead.word()
    }

    /// Returns the next field as a number of a header, at most `limit`.
    pub(super) fn count(&mut self, what: &'static str, limit: u64) -> Result<u64, LineProblem> {
        let value = self.number(what)?;
        if value > limit {
            return Err(LineProblem::TooLarge {
                what,
                value: value.to_string(),
                limit,
            });
        }
        Ok(value)
    }

    #[inline]
    pub(super) fn number(&mut self, what: &'static str) -> Result<u64, LineProblem> {
        self.peek();
        let start = self.at;
        let mut value = 0u64;
        while let Some(digit @ b'0'..=b'9') = self.byte() {
            value = value.wrapping_mul(10).wrapping_add(u64::from(digit - b'0'));
            self.at += 1;
        }
        let digits = self.at - start;
        let ended = self.byte().is_none_or(|b| b.is_ascii_whitespace());
        // Nineteen digits always fit a 64-bit word; longer fields take the checked path.
        if ended && (1..=19).contains(&digits) {
            return Ok(value);
        }
        self.at = start;
        self.odd_number(what)
    }

    #[cold]
    fn odd_number(&mut self, what: &'static str) -> Result<u64, LineProblem> {
        let line_start = self.bytes[..self.at]
            .iter()
            .rposition(|&b| b == b'\n')
            .map_or(0, |n| n + 1);
        let word = self.word();
        let value = quote(word);
        match word {
            [] => Err(LineProblem::MissingField {
                what,
                value: quote(line_of(&self.bytes[line_start..])),
            }),
            [b'-', digits @ ..] if all_digits(digits) => Err(LineProblem::Negative { what, value }),
            digits if all_digits(digits) => whole(digits).ok_or(LineProblem::TooLarge {
                what,
                value,
                limit: u64::MAX,
            }),
            _ => Err(LineProblem::NotANumber { what, value }),
        }
    }

    #[inline]
    pub(super) fn weight(&mut self) -> Result<Weight, LineProblem> {
        let before = *self;
        match self.number("a weight") {
            Ok(digits) => weight::whole(digits),
            Err(LineProblem::NotANumber { .. } | LineProblem::Negative { .. }) => {
                *self = before;
                weight::decimal(self.word())
            }
            Err(other) => Err(other),
        }
    }

    /// Returns the digits of the next field, an edge weight, times `factor`, and whether the weight is
    /// negative.
    pub(super) fn scaled_weight(&mut self, factor: Factor) -> Result<(Product, bool), LineProblem> {
        let before = *self;
        if let Ok(digits) = self.number("a weight")
            && let Some(product) = factor.times(digits, 0)
        {
            return Ok((product, false));
        }
        *self = before;
        match self.word() {
            [] => Err(LineProblem::MissingField {
                what: "a weight",
                value: String::new(),
            }),
            word => weight::scaled(word, factor),
        }
    }

    /// Steps over an unused value, without checking it.
    pub(super) fn skip_value(&mut self) -> Result<(), LineProblem> {
        self.value().map(|_| ())
    }

    /// Steps over a value and returns whether it is written as zero; a text that is not a number is
    /// not zero.
    pub(super) fn is_zero_value(&mut self) -> Result<bool, LineProblem> {
        let value = self.value()?;
        let mantissa = value.split(|byte| matches!(byte, b'e' | b'E')).next();
        let mantissa = mantissa.unwrap_or(&[]);
        let is_plain = |byte: &u8| matches!(byte, b'0' | b'.' | b'+' | b'-');
        Ok(mantissa.contains(&b'0') && mantissa.iter().all(is_plain))
    }

    fn value(&mut self) -> Result<&'a [u8], LineProblem> {
        match self.word() {
            [] => Err(LineProblem::MissingField {
                what: "a value",
                value: String::new(),
            }),
            word => Ok(word),
        }
    }
}

/// Returns the number that decimal digits make, however many zeros lead it.
fn whole(digits: &[u8]) -> Option<u64> {
    digits.iter().try_fold(0_u64, |number, digit| {
        let digit = u64::from(digit - b'0');
        number.checked_mul(10)?.checked_add(digit)
    })
}

fn all_digits(word: &[u8]) -> bool {
    !word.is_empty() && word.iter().all(u8::is_ascii_digit)
}

/// Returns the first line of these bytes, without its end.
pub(super) fn line_of(bytes: &[u8]) -> &[u8] {
    let line = bytes.split(|&b| b == b'\n').next().unwrap_or(&[]);
    line.trim_ascii()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn number(text: &str) -> Result<u64, String> {
        Fields::new(text.as_bytes())
            .number("a count")
            .map_err(|e| e.to_string())
    }

    fn weight(text: &str) -> Result<Weight, String> {
        Fields::new(text.as_bytes())
            .weight()
            .map_err(|e| e.to_string())
    }

    #[test]
    fn odd_numbers_name_their_fault() {
        assert_eq!(number("18446744073709551615"), Ok(u64::MAX));
        assert_eq!(number("00000000000000000000007"), Ok(7));
        // Messages cut such a word short; the number is read whole.
        assert_eq!(number(&format!("{}7", "0".repeat(200))), Ok(7));
        assert!(
            number("18446744073709551616")
                .unwrap_err()
                .contains("too large (18446744073709551616)")
        );
        assert_eq!(number("-5").unwrap_err(), "a count is negative (-5)");
        assert_eq!(number("1x").unwrap_err(), "expected a count, found \"1x\"");
        assert_eq!(
            number("  \n3").unwrap_err(),
            "the line ends before a count (\"\")"
        );
    }

    #[test]
    fn weights_are_numbers_in_any_notation() {
        assert_eq!(weight("4294967295"), Ok(Weight::Whole(u32::MAX)));
        assert_eq!(weight("3.0"), Ok(Weight::Whole(3)));
        assert!(matches!(weight("2.5"), Ok(Weight::Real { .. })));
        assert_eq!(weight("-0"), Ok(Weight::Whole(0)));
        assert!(weight("4294967296").unwrap_err().contains("too large"));
        assert_eq!(weight("-2"), Ok(Weight::Negative(-2)));
        assert!(weight("").unwrap_err().contains("before a weight"));
    }

    #[test]
    fn unused_values_are_counted_but_not_checked() {
        for value in ["1", "-2.5e-3", "+7", "nan", "-inf", "x"] {
            assert!(
                Fields::new(value.as_bytes()).skip_value().is_ok(),
                "{value}"
            );
        }
        assert!(Fields::new(b"  \n1").skip_value().is_err());
    }

    #[test]
    fn zero_has_every_notation() {
        let is_zero = |text: &str| Fields::new(text.as_bytes()).is_zero_value().unwrap();
        for zero in ["0", "0.0", "-0.0", "+0.000e+00", "0e7", ".0"] {
            assert!(is_zero(zero), "{zero}");
        }
        for other in ["1e-400", "0.01", "nan", "e", ".", "-"] {
            assert!(!is_zero(other), "{other}");
        }
    }

    proptest! {
        #[test]
        fn every_number_reads_back(value: u64) {
            prop_assert_eq!(number(&value.to_string()), Ok(value));
        }
    }
}
