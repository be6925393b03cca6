//! Comparison of values that only fall, such as distances and core numbers.

use super::End;
use crate::column::Column;
use seawall_core::abi::UNREACHED;

/// Returns whether values that only fall have reached `expected`. The result of a run that a limit
/// ended is correct if no value is too low.
pub(super) fn has_settled(values: &Column, expected: &Column, end: End) -> bool {
    if end.converged {
        return values == expected;
    }
    let not_below = |(value, least): (f64, f64)| value >= least;
    values.len() == expected.len() && heights(values).zip(heights(expected)).all(not_below)
}

/// Converts values to numbers that are exact below 2^53 and keep their order beyond; unreached
/// nodes are infinite.
fn heights(column: &Column) -> Box<dyn Iterator<Item = f64> + '_> {
    let whole = |value: u64, never: u64| match value == never {
        true => f64::INFINITY,
        false => value as f64,
    };
    match column {
        Column::U32(words) => Box::new(
            words
                .iter()
                .map(move |word| whole(u64::from(*word), u64::from(UNREACHED))),
        ),
        Column::U64(words) => Box::new(words.iter().map(move |word| whole(*word, u64::MAX))),
        Column::I64(words) => Box::new(words.iter().map(|word| match *word {
            i64::MAX => f64::INFINITY,
            word => word as f64,
        })),
        Column::F32(floats) => Box::new(floats.iter().map(|float| f64::from(*float))),
        Column::Sets(_) => Box::new(std::iter::empty()),
    }
}
