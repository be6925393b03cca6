//! Units of the sums of ranks, with the roundings of the resident waves
//! (`waves/rank`): integers add up alike in any order.

/// Units of a total in 1.
const UNITS: f32 = (1_u64 << 60) as f32;

/// Units of the sums of shares.
#[derive(Clone, Copy, Debug)]
pub struct Scale {
    up: f32,
    down: f32,
}

impl Scale {
    /// Units in 1, as a power of two up to 2^62.
    #[inline(always)]
    #[must_use]
    pub fn of(exponent: u32) -> Self {
        Self {
            up: f32::from_bits((127 + exponent) << 23),
            down: f32::from_bits((127 - exponent) << 23),
        }
    }

    /// `share` in units, rounded down.
    #[inline(always)]
    #[must_use]
    pub fn units(self, share: f32) -> u64 {
        (share * self.up) as i64 as u64
    }

    /// `share`, rounded down to units: a float holds it, as it has no more bits than before.
    #[inline(always)]
    #[must_use]
    pub fn whole(self, share: f32) -> f32 {
        self.units(share) as i64 as f32 * self.down
    }

    /// `sum` as a float, rounded to the nearest.
    #[inline(always)]
    #[must_use]
    pub fn part(self, sum: u64) -> f32 {
        sum as i64 as f32 * self.down
    }
}

/// `value` in units of a total, rounded down; 0 unless it is a number above 0.
#[inline(always)]
#[must_use]
pub fn units(value: f32) -> u64 {
    ((value * UNITS) as i64).max(0) as u64
}

/// A total as a float, rounded to the nearest.
#[inline(always)]
#[must_use]
pub fn part(sum: u64) -> f32 {
    sum as f32 * (1.0 / UNITS)
}
