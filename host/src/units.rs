//! Formatting of bytes, times and counts with units.

use std::fmt;
use std::time::Instant;

use bytesize::ByteSize;

/// Nanoseconds since `start`.
#[must_use]
pub fn elapsed_ns(start: Instant) -> u64 {
    u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

/// Bytes in binary units, such as `1.5 KiB`.
///
/// ```
/// assert_eq!(seawall::units::bytes(1536).to_string(), "1.5 KiB");
/// ```
#[must_use]
pub fn bytes(count: u64) -> impl fmt::Display {
    ByteSize(count).display().iec()
}

/// A time in the largest unit that leaves a digit before the point.
///
/// ```
/// use seawall::units::Nanoseconds;
/// assert_eq!(Nanoseconds(850).to_string(), "850 ns");
/// assert_eq!(Nanoseconds(12_345_678).to_string(), "12.3 ms");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nanoseconds(pub u64);

impl fmt::Display for Nanoseconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self.0 {
            ns @ 0..1_000 => format!("{ns} ns"),
            ns @ 1_000..1_000_000 => format!("{:.1} us", ns as f64 / 1e3),
            ns @ 1_000_000..1_000_000_000 => format!("{:.1} ms", ns as f64 / 1e6),
            ns => format!("{:.2} s", ns as f64 / 1e9),
        };
        f.pad(&text)
    }
}

/// A count with digits in groups of three, such as `1,046,528`.
///
/// ```
/// use seawall::units::Count;
/// assert_eq!(Count(1_046_528).to_string(), "1,046,528");
/// assert_eq!(Count(12).to_string(), "12");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count(pub u64);

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = self.0.to_string();
        let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
        for (at, digit) in digits.chars().enumerate() {
            if at > 0 && (digits.len() - at).is_multiple_of(3) {
                grouped.push(',');
            }
            grouped.push(digit);
        }
        f.pad(&grouped)
    }
}

/// A count and its noun, in the plural unless it is one: `1 wave`, `2 waves`.
///
/// ```
/// assert_eq!(seawall::units::counted(1, "group"), "1 group");
/// assert_eq!(seawall::units::counted(3, "group"), "3 groups");
/// ```
#[must_use]
pub fn counted(count: u64, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", Count(count))
}
