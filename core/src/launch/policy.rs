//! All thresholds of a launch in one validated value.

use crate::ratio::threshold::{check_limits, check_order};
use crate::ratio::{BPS_PER_ONE, ThresholdError};

/// The numbers that a launch is sized by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct LaunchThresholds {
    /// Smallest derived hit capacity.
    pub hit_capacity_min: u32,
    /// Derived hit entries per expected hit, unless memory is short.
    pub hit_multiplier: u32,
    /// Queue lengths, in grids, from which a launch counts as saturated.
    pub saturated_waves: u32,
    /// Hot opcodes from which they are promoted.
    pub hot_opcode_min: u32,
    /// Hot windows from which they are promoted.
    pub hot_window_min: u32,
    /// Queue length from which items are fused.
    pub fused_queue_min: u32,
    /// Age from which priority items are aged.
    pub priority_age_min: u32,
    /// Density up to which a frontier is sparse.
    pub sparse_density_max_bps: u32,
    /// Density from which a frontier is dense.
    pub dense_density_min_bps: u32,
    /// Memory pressure from which a launch is constrained.
    pub memory_pressure_min_bps: u32,
    /// Edges from which a dense launch may fuse steps.
    pub fusion_edges_min: u32,
    /// Most lanes of a group; where groups share a multiprocessor, more lower occupancy.
    pub lanes_max: u32,
    /// Bytes of one hit.
    pub bytes_per_hit: u32,
    /// Overshoot of the density at which the previous topology is still kept.
    pub density_hysteresis_bps: u32,
    /// Fall of the memory pressure that lifts the constraint.
    pub memory_hysteresis_bps: u32,
}

impl LaunchThresholds {
    /// The product's thresholds.
    pub const STANDARD: Self = Self {
        hit_capacity_min: 1_024,
        hit_multiplier: 2,
        saturated_waves: 4,
        hot_opcode_min: 8,
        hot_window_min: 4,
        fused_queue_min: 4_096,
        priority_age_min: 32,
        sparse_density_max_bps: 500,
        dense_density_min_bps: 4_000,
        memory_pressure_min_bps: 8_500,
        fusion_edges_min: 65_536,
        lanes_max: 256,
        bytes_per_hit: 16,
        density_hysteresis_bps: 250,
        memory_hysteresis_bps: 250,
    };
}

impl Default for LaunchThresholds {
    fn default() -> Self {
        Self::STANDARD
    }
}

/// Launch thresholds whose order has been checked.
///
/// ```
/// use seawall_core::launch::{LaunchPolicy, LaunchThresholds};
/// let crossed = LaunchThresholds { sparse_density_max_bps: 4_001, ..LaunchThresholds::STANDARD };
/// assert_eq!(LaunchPolicy::new(crossed).unwrap_err().kind(), "misordered");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct LaunchPolicy {
    thresholds: LaunchThresholds,
}

impl LaunchPolicy {
    /// The product's policy.
    pub const STANDARD: Self = Self {
        thresholds: LaunchThresholds::STANDARD,
    };

    /// A policy of these thresholds.
    ///
    /// # Errors
    /// [`ThresholdError`] when a share exceeds one or sparse and dense densities cross.
    pub const fn new(thresholds: LaunchThresholds) -> Result<Self, ThresholdError> {
        let t = &thresholds;
        let dense = ("dense_density_min_bps", t.dense_density_min_bps);
        let memory = ("memory_pressure_min_bps", t.memory_pressure_min_bps);
        if let Err(error) = check_limits(&[(dense, BPS_PER_ONE), (memory, BPS_PER_ONE)]) {
            return Err(error);
        }
        let sparse = ("sparse_density_max_bps", t.sparse_density_max_bps);
        match check_order(&[(sparse, dense)]) {
            Ok(()) => Ok(Self { thresholds }),
            Err(error) => Err(error),
        }
    }

    /// The numbers of this policy.
    #[must_use]
    pub const fn thresholds(&self) -> &LaunchThresholds {
        &self.thresholds
    }
}

impl Default for LaunchPolicy {
    fn default() -> Self {
        Self::STANDARD
    }
}
