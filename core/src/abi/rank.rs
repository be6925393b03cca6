//! Shared facts of rankings: the units in which contributions are added up, and totals.

/// Words of a register of totals: three, each on a separate cache line.
pub const TOTALS_WORDS: u32 = 96;

/// Units of a sum of contributions in 1, as a power of two, for a graph of `edges`
/// edges.
///
/// A unit is at most 2^-24 of the mean contribution, since all edges together pass on 1, so that
/// rounding down to units costs no more than rounding to a float. It is no finer for large graphs:
/// sums of 2^32 units must be rare, since a word holds no more.
///
/// ```
/// use seawall_core::abi::rank::unit_exponent;
/// assert_eq!([0, 1 << 20, 1 << 27, u32::MAX].map(unit_exponent), [48, 48, 51, 56]);
/// ```
#[must_use]
pub const fn unit_exponent(edges: u32) -> u32 {
    let leading_zeros = edges.saturating_sub(1).leading_zeros();
    let exponent = 24_u32
        .saturating_add(u32::BITS)
        .saturating_sub(leading_zeros);
    if exponent < 48 { 48 } else { exponent }
}
