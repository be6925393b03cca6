//! All thresholds of the topology choice in one validated value.
//!
//! The two thresholds of a band may be equal (the band is then empty) but not cross. A crossed
//! pair would make a topology flap, which hysteresis exists to prevent.

use crate::ratio::threshold::{check_limits, check_order};
use crate::ratio::{BPS_PER_ONE, PPM_PER_ONE, ThresholdError};

/// The numbers that a topology is chosen by, as plain words for the device table.
///
/// `hold` thresholds apply to keeping a topology, the others to entering it.
///
/// ```
/// use seawall_core::topology::{Thresholds, TopologyPolicy};
/// let standard = TopologyPolicy::DEFAULT.thresholds();
/// assert!(TopologyPolicy::new(Thresholds { ..*standard }).is_ok());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, bytemuck::Pod, bytemuck::Zeroable)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(C)]
pub struct Thresholds {
    /// Memory pressure from which only `Sparse` is safe.
    pub sparse_memory_min_bps: u32,
    /// Memory pressure down to which a sparse topology stays `Sparse`.
    pub sparse_memory_hold_bps: u32,
    /// Fusion pressure from which `Fused` is entered.
    pub fused_fusion_min_bps: u32,
    /// Fusion pressure down to which `Fused` is kept.
    pub fused_fusion_hold_bps: u32,
    /// Launch pressure from which `Fused` is entered.
    pub fused_launch_min_bps: u32,
    /// Launch pressure down to which `Fused` is kept.
    pub fused_launch_hold_bps: u32,
    /// Readback from which `Fused` is entered or kept.
    pub fused_readback_min_bytes: u32,
    /// Memory pressure up to which `Fused` is entered.
    pub fused_memory_max_bps: u32,
    /// Memory pressure up to which `Fused` is kept.
    pub fused_memory_hold_bps: u32,
    /// Boundary between `WarpSparse` and `Sparse`.
    pub warp_density_max_ppm: u32,
    /// Boundary between `Sparse` and `Hybrid`.
    pub sparse_density_max_ppm: u32,
    /// Boundary between `Hybrid` and `Dense`.
    pub dense_density_min_ppm: u32,
    /// Boundary between `Dense` and `BlockDense`.
    pub block_density_min_ppm: u32,
    /// Overshoot of a boundary by the density at which the previous topology is still kept.
    pub density_margin_ppm: u32,
    /// Average degree up to which `WarpSparse` pays.
    pub warp_degree_max_bps: u32,
    /// Average degree from which `Dense` and `BlockDense` pay.
    pub dense_degree_min_bps: u32,
}

const _: () = assert!(size_of::<Thresholds>() == 64 && align_of::<Thresholds>() == 4);

impl Thresholds {
    /// The product's thresholds.
    pub const DEFAULT: Self = Self {
        sparse_memory_min_bps: 9_000,
        sparse_memory_hold_bps: 8_750,
        fused_fusion_min_bps: 7_000,
        fused_fusion_hold_bps: 6_000,
        fused_launch_min_bps: 1_500,
        fused_launch_hold_bps: 1_250,
        fused_readback_min_bytes: 4_096,
        fused_memory_max_bps: 8_500,
        fused_memory_hold_bps: 8_750,
        warp_density_max_ppm: 31_250,
        sparse_density_max_ppm: 125_000,
        dense_density_min_ppm: 700_000,
        block_density_min_ppm: 850_000,
        density_margin_ppm: 25_000,
        warp_degree_max_bps: 80_000,
        dense_degree_min_bps: 20_000,
    };
}

impl Default for Thresholds {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// Thresholds whose order has been checked.
///
/// A policy that arrives as bytes in a device table skips the check. Selection is still total
/// then, but its bands may be crossed.
///
/// ```
/// use seawall_core::topology::{Thresholds, TopologyPolicy};
/// let policy = TopologyPolicy::new(Thresholds { density_margin_ppm: 0, ..Thresholds::DEFAULT })?;
/// assert_eq!(policy.thresholds().density_margin_ppm, 0);
/// # Ok::<(), seawall_core::ratio::ThresholdError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, bytemuck::Pod, bytemuck::Zeroable)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(transparent)]
pub struct TopologyPolicy {
    pub(super) thresholds: Thresholds,
}

impl TopologyPolicy {
    /// The product's policy.
    pub const DEFAULT: Self = Self {
        thresholds: Thresholds::DEFAULT,
    };

    /// A policy of these thresholds.
    ///
    /// # Errors
    /// [`ThresholdError::OutOfRange`] when a share exceeds one, [`ThresholdError::Misordered`] when two
    /// neighbours cross.
    pub const fn new(thresholds: Thresholds) -> Result<Self, ThresholdError> {
        if let Err(error) = check_ranges(&thresholds) {
            return Err(error);
        }
        match check_neighbours(&thresholds) {
            Ok(()) => Ok(Self { thresholds }),
            Err(error) => Err(error),
        }
    }

    /// The numbers of this policy.
    #[must_use]
    pub const fn thresholds(&self) -> &Thresholds {
        &self.thresholds
    }
}

impl Default for TopologyPolicy {
    fn default() -> Self {
        Self::DEFAULT
    }
}

const fn check_ranges(t: &Thresholds) -> Result<(), ThresholdError> {
    check_limits(&[
        (
            ("sparse_memory_min_bps", t.sparse_memory_min_bps),
            BPS_PER_ONE,
        ),
        (
            ("fused_fusion_min_bps", t.fused_fusion_min_bps),
            BPS_PER_ONE,
        ),
        (
            ("block_density_min_ppm", t.block_density_min_ppm),
            PPM_PER_ONE,
        ),
        (("density_margin_ppm", t.density_margin_ppm), PPM_PER_ONE),
    ])
}

/// Every pair that must not cross; ranges of the lower members follow from those of the upper.
const fn check_neighbours(t: &Thresholds) -> Result<(), ThresholdError> {
    let enter = ("sparse_memory_min_bps", t.sparse_memory_min_bps);
    let hold = ("fused_memory_hold_bps", t.fused_memory_hold_bps);
    let sparse = ("sparse_density_max_ppm", t.sparse_density_max_ppm);
    let dense = ("dense_density_min_ppm", t.dense_density_min_ppm);
    check_order(&[
        (("sparse_memory_hold_bps", t.sparse_memory_hold_bps), enter),
        (
            ("fused_fusion_hold_bps", t.fused_fusion_hold_bps),
            ("fused_fusion_min_bps", t.fused_fusion_min_bps),
        ),
        (
            ("fused_launch_hold_bps", t.fused_launch_hold_bps),
            ("fused_launch_min_bps", t.fused_launch_min_bps),
        ),
        (("fused_memory_max_bps", t.fused_memory_max_bps), hold),
        (hold, enter),
        (("warp_density_max_ppm", t.warp_density_max_ppm), sparse),
        (sparse, dense),
        (dense, ("block_density_min_ppm", t.block_density_min_ppm)),
    ])
}

const _: () = assert!(TopologyPolicy::new(Thresholds::DEFAULT).is_ok());
