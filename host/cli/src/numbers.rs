//! Numbers of options, with the expected form for messages.

use std::num::NonZeroUsize;
use std::str::FromStr;

use bytesize::ByteSize;

use seawall::backend::cpu::THREADS_MAX;
use seawall::program::{ProgramError, check_damping, check_tolerance};

/// Parses a size such as `512MiB`.
///
/// # Errors
/// The expected value.
pub fn size(text: &str) -> Result<u64, String> {
    let is_size = text.starts_with(|first: char| first.is_ascii_digit());
    let rounded = text.parse::<ByteSize>().ok().filter(|_| is_size);
    let rounded = rounded
        .ok_or("expected bytes below 2^64 with or without a unit, such as 512MiB or 8GiB")?;
    let bytes = if text.contains('.') {
        Some(rounded.as_u64()).filter(|bytes| *bytes < u64::MAX)
    } else {
        product(text)
    };
    bytes.ok_or_else(|| "expected fewer than 2^64 bytes".to_owned())
}

/// Multiplies digits by their unit. A size with a fraction is computed as a float, which rounds
/// and saturates.
fn product(text: &str) -> Option<u64> {
    let unit = text.trim_start_matches(|digit: char| digit.is_ascii_digit());
    let count: u64 = text.strip_suffix(unit)?.parse().ok()?;
    let factor: ByteSize = format!("1{unit}").parse().ok()?;
    count.checked_mul(factor.as_u64())
}

/// Parses a number of threads. A number above the library's limit is refused before a graph is
/// read.
pub(crate) fn thread_count(text: &str) -> Result<NonZeroUsize, String> {
    let count = text.parse().ok();
    count
        .filter(|count: &NonZeroUsize| count.get() <= THREADS_MAX)
        .ok_or_else(|| format!("expected a whole number from 1 to {THREADS_MAX}"))
}

pub(crate) fn above_zero<N: FromStr>(text: &str) -> Result<N, String> {
    text.parse()
        .map_err(|_| "expected a whole number from 1 to 4294967295".to_owned())
}

pub(crate) fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value > 0.0 && value <= 1e9 => Ok(value),
        _ => Err("expected seconds above 0, at most 1e9".to_owned()),
    }
}

pub(crate) fn damping(text: &str) -> Result<f32, String> {
    share(text, check_damping)
}

pub(crate) fn tolerance(text: &str) -> Result<f32, String> {
    share(text, check_tolerance)
}

fn share(text: &str, check: fn(f32) -> Result<(), ProgramError>) -> Result<f32, String> {
    let value = text.parse().map_err(|_| "expected a number".to_owned())?;
    check(value).map_err(|error| error.to_string())?;
    Ok(value)
}
