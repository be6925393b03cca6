//! Ratios as integers, which are equal on every machine.
//!
//! Planning compares pressures, densities and degrees against thresholds. Floating point would
//! make those comparisons depend on the target (or link soft-float routines into firmware), so
//! every ratio here is a scaled integer that is rounded down once. The module holds no policy:
//! its users decide what a ratio means and which threshold it meets.

pub(crate) mod threshold;

pub use threshold::ThresholdError;

use core::fmt;

/// Basis points in one: a ratio of 1 is `Bps(10_000)`.
pub const BPS_PER_ONE: u32 = 10_000;

/// Parts per million in one: a ratio of 1 is `Ppm(1_000_000)`.
pub const PPM_PER_ONE: u32 = 1_000_000;

/// A ratio in basis points (ten-thousandths).
///
/// ```
/// use seawall_core::ratio::Bps;
/// assert_eq!(Bps::share(1, 3), Some(Bps(3_333)));
/// assert_eq!(Bps::share(5, 2), Some(Bps::ONE)); // shares saturate at one
/// assert_eq!(Bps::share(1, 0), None);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(transparent)]
pub struct Bps(pub u32);

impl Bps {
    /// A ratio of one.
    pub const ONE: Self = Self(BPS_PER_ONE);

    /// `⌊part·10000/whole⌋`, at most one; `None` when `whole` is zero.
    #[must_use]
    pub const fn share(part: u64, whole: u64) -> Option<Self> {
        match scaled_floor(part, BPS_PER_ONE, whole) {
            Some(value) => Some(Self(saturate_at(value, BPS_PER_ONE))),
            None => None,
        }
    }

    /// The same ratio, but at most one.
    #[must_use]
    pub const fn clamped(self) -> Self {
        Self(saturate_at(self.0 as u64, BPS_PER_ONE))
    }
}

impl fmt::Display for Bps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bps", self.0)
    }
}

/// A ratio in parts per million.
///
/// ```
/// use seawall_core::ratio::Ppm;
/// assert_eq!(Ppm::share(1, 8), Some(Ppm(125_000)));
/// assert_eq!(Ppm::share(u64::MAX, u64::MAX), Some(Ppm::ONE));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(transparent)]
pub struct Ppm(pub u32);

impl Ppm {
    /// A ratio of one.
    pub const ONE: Self = Self(PPM_PER_ONE);

    /// `⌊part·1000000/whole⌋`, at most one; `None` when `whole` is zero.
    #[must_use]
    pub const fn share(part: u64, whole: u64) -> Option<Self> {
        match scaled_floor(part, PPM_PER_ONE, whole) {
            Some(value) => Some(Self(saturate_at(value, PPM_PER_ONE))),
            None => None,
        }
    }
}

impl fmt::Display for Ppm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ppm", self.0)
    }
}

/// `⌊numerator·scale/denominator⌋`, saturating at `u64::MAX`; `None` when `denominator` is zero.
///
/// The product is formed in 128 bits only when it does not fit 64, because a 128-bit division
/// costs a small processor about a thousand cycles.
#[must_use]
pub const fn scaled_floor(numerator: u64, scale: u32, denominator: u64) -> Option<u64> {
    match numerator.checked_mul(scale as u64) {
        Some(product) => product.checked_div(denominator),
        None => {
            let product = (numerator as u128).saturating_mul(scale as u128);
            wide_quotient(product, denominator as u128)
        }
    }
}

/// `numerator·scale/denominator` rounded to the nearest integer, halves up, saturating at
/// `u64::MAX`; `None` when `denominator` is zero.
///
/// ```
/// use seawall_core::ratio::scaled_nearest;
/// assert_eq!(scaled_nearest(1, 10_000, 6), Some(1_667));
/// assert_eq!(scaled_nearest(1, 5, 2), Some(3)); // two and a half
/// assert_eq!(scaled_nearest(1, 5, 0), None);
/// ```
#[must_use]
pub const fn scaled_nearest(numerator: u64, scale: u32, denominator: u64) -> Option<u64> {
    let twice = (numerator as u128).saturating_mul((scale as u128).saturating_mul(2));
    let rounded = twice.saturating_add(denominator as u128);
    wide_quotient(rounded, (denominator as u128).saturating_mul(2))
}

/// The quotient of two wide numbers, saturating at `u64::MAX`; `None` for a zero divisor.
///
/// The function is not inlined: on processors of 32 bits each inlined division takes half a
/// kilobyte of flash.
#[inline(never)]
const fn wide_quotient(dividend: u128, divisor: u128) -> Option<u64> {
    match dividend.checked_div(divisor) {
        Some(quotient) if quotient > u64::MAX as u128 => Some(u64::MAX),
        Some(quotient) => Some(quotient as u64),
        None => None,
    }
}

/// `value` as a `u32` that is at most `limit`.
pub(crate) const fn saturate_at(value: u64, limit: u32) -> u32 {
    if value > limit as u64 {
        limit
    } else {
        value as u32
    }
}

#[cfg(test)]
#[allow(
    clippy::arithmetic_side_effects,
    reason = "a test that overflows has found something"
)]
mod tests {
    use super::*;

    #[test]
    fn wide_products_equal_the_exact_quotient() {
        for (n, d) in [
            (u64::MAX, 3),
            (u64::MAX, u64::MAX),
            (u64::MAX / 2, 1 << 60),
            (7, 1),
        ] {
            let exact = u128::from(n) * 10_000 / u128::from(d);
            let expected = u64::try_from(exact).unwrap_or(u64::MAX);
            assert_eq!(scaled_floor(n, BPS_PER_ONE, d), Some(expected));
        }
    }

    #[test]
    fn a_zero_denominator_has_no_ratio() {
        assert_eq!(scaled_floor(1, 1, 0), None);
        assert_eq!(scaled_floor(u64::MAX, u32::MAX, 0), None);
        assert_eq!(scaled_nearest(u64::MAX, u32::MAX, 0), None);
    }

    #[test]
    fn nearest_rounds_halves_up_at_the_top_of_the_range() {
        assert_eq!(scaled_nearest(u64::MAX, 1, 2), Some(1 << 63));
        assert_eq!(scaled_nearest(u64::MAX, u32::MAX, 1), Some(u64::MAX));
    }
}
