//! Units in which ranks and their shares are summed: integers add up alike in any order.

use seawall_core::abi::rank::unit_exponent;

/// Units of a total in 1.
pub(crate) const UNITS: f32 = (1_u64 << 60) as f32;

/// Units of the sums of shares.
#[derive(Clone, Copy, Debug)]
pub struct Scale {
    /// Units in 1.
    up: f32,
    /// A unit.
    down: f32,
}

impl Scale {
    /// The scale for a graph of `edges` edges.
    #[inline(always)]
    #[must_use]
    pub fn of_edges(edges: u32) -> Self {
        Self::of(unit_exponent(edges))
    }

    /// Units in 1, as a power of two up to 2^62.
    #[inline(always)]
    #[must_use]
    pub fn of(exponent: u32) -> Self {
        Self {
            up: f32::from_bits((127 + exponent) << 23),
            down: f32::from_bits((127 - exponent) << 23),
        }
    }

    /// `share` in units, rounded down. A share is never below 0, and processors
    /// convert to signed numbers faster.
    #[inline(always)]
    #[must_use]
    pub fn units(self, share: f32) -> u64 {
        (share * self.up) as i64 as u64
    }

    /// [`Scale::units`] of a share from 0 to 1. Loops over even rows of many edges (`gather`) are
    /// slower with it.
    #[inline(always)]
    #[expect(
        clippy::manual_clamp,
        reason = "what is no number becomes 0 by these two"
    )]
    pub(crate) fn bounded_units(self, share: f32) -> u64 {
        // Two bounds cost less than a conversion that checks for numbers out of range.
        let scaled = share.max(0.0).min(2.0) * self.up;
        // SAFETY: a number from 0 to 2^57.
        unsafe { scaled.to_int_unchecked::<i64>() as u64 }
    }

    /// [`Scale::units`] if a word holds them.
    #[inline(always)]
    pub(crate) fn word(self, share: f32) -> Option<u32> {
        const WORD: f32 = (1_u64 << 32) as f32;
        let scaled = share * self.up;
        let fits = (0.0..WORD).contains(&scaled);
        // SAFETY: a number from 0 to below 2^32.
        fits.then(|| unsafe { scaled.to_int_unchecked() })
    }

    /// `share`, rounded down to units.
    #[inline(always)]
    #[must_use]
    pub fn whole(self, share: f32) -> f32 {
        // It has no more bits than before, so a float holds it.
        self.units(share) as i64 as f32 * self.down
    }

    /// [`Scale::whole`] of a share from 0 to 1, without a branch and by a conversion that vectors
    /// have.
    #[inline(always)]
    pub(crate) fn whole_of_few(self, share: f32) -> f32 {
        /// From here on a float has no fraction.
        const WHOLE: f32 = (1 << 24) as f32;
        let units = share * self.up;
        let units = if units > 0.0 { units } else { 0.0 };
        let few = if units < WHOLE { units } else { WHOLE };
        // SAFETY: a number from 0 to 2^24.
        let whole = unsafe { few.to_int_unchecked::<i32>() } as f32;
        // Beyond it there is no fraction, and neither difference nor sum is rounded.
        (whole + (units - few)) * self.down
    }

    /// Whether doubles sum shares in whole units exactly: all shares together are 1, and
    /// doubles hold integers up to 2^53.
    #[inline(always)]
    pub(crate) fn fits_doubles(self) -> bool {
        self.up <= (1_u64 << 52) as f32
    }

    /// A sum of doubles, in units.
    #[inline(always)]
    pub(crate) fn units_of_double(self, sum: f64) -> u64 {
        (sum * f64::from(self.up)) as i64 as u64
    }

    /// `sum` as a float, rounded to the nearest.
    #[inline(always)]
    #[must_use]
    pub fn part(self, sum: u64) -> f32 {
        sum as i64 as f32 * self.down
    }
}

/// Moves `value` by two shuffles of words.
#[inline(always)]
pub(crate) fn move_wide(value: u64, shuffle: impl Fn(u32) -> u32) -> u64 {
    u64::from(shuffle(value as u32)) | u64::from(shuffle((value >> 32) as u32)) << 32
}

/// `value` in units of a total, rounded down; 0 unless it is a number above 0. Values are below 4,
/// and processors convert to signed numbers faster.
#[inline(always)]
#[must_use]
#[expect(
    clippy::manual_clamp,
    reason = "what is no number becomes 0 by these two"
)]
pub fn units(value: f32) -> u64 {
    let value = value.max(0.0).min(4.0) * UNITS;
    // SAFETY: a number from 0 to 2^62.
    unsafe { value.to_int_unchecked::<i64>() as u64 }
}

/// A total as a float, rounded to the nearest.
#[inline(always)]
#[must_use]
pub fn part(sum: u64) -> f32 {
    sum as f32 * (1.0 / UNITS)
}
