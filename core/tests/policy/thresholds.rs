//! Policies refuse thresholds that cross, and accept ones that meet.

use proptest::prelude::*;
use seawall_core::launch::{LaunchPolicy, LaunchThresholds};
use seawall_core::ratio::ThresholdError;
use seawall_core::topology::{Metrics, Thresholds, Topology, TopologyPolicy};

type Field = fn(&mut Thresholds) -> &mut u32;

/// Every pair that must not cross.
const PAIRS: [(Field, Field); 8] = [
    (
        |t| &mut t.sparse_memory_hold_bps,
        |t| &mut t.sparse_memory_min_bps,
    ),
    (
        |t| &mut t.fused_fusion_hold_bps,
        |t| &mut t.fused_fusion_min_bps,
    ),
    (
        |t| &mut t.fused_launch_hold_bps,
        |t| &mut t.fused_launch_min_bps,
    ),
    (
        |t| &mut t.fused_memory_max_bps,
        |t| &mut t.fused_memory_hold_bps,
    ),
    (
        |t| &mut t.fused_memory_hold_bps,
        |t| &mut t.sparse_memory_min_bps,
    ),
    (
        |t| &mut t.warp_density_max_ppm,
        |t| &mut t.sparse_density_max_ppm,
    ),
    (
        |t| &mut t.sparse_density_max_ppm,
        |t| &mut t.dense_density_min_ppm,
    ),
    (
        |t| &mut t.dense_density_min_ppm,
        |t| &mut t.block_density_min_ppm,
    ),
];

#[test]
fn neighbours_may_meet_but_not_cross() {
    for (index, (lower, upper)) in PAIRS.iter().enumerate() {
        let mut thresholds = Thresholds::DEFAULT;
        // Raising only the lower one keeps every other pair in order.
        let limit = *upper(&mut thresholds);
        *lower(&mut thresholds) = limit;
        assert!(
            TopologyPolicy::new(thresholds).is_ok(),
            "pair {index} meets"
        );
        *lower(&mut thresholds) = limit + 1;
        let error = TopologyPolicy::new(thresholds).unwrap_err();
        let ThresholdError::Misordered {
            lower_value,
            upper_value,
            ..
        } = error
        else {
            panic!("pair {index}: {error}");
        };
        assert_eq!(
            (lower_value, upper_value),
            (limit + 1, limit),
            "pair {index}"
        );
    }
}

#[test]
fn a_share_above_one_is_refused() {
    let mut thresholds = Thresholds::DEFAULT;
    thresholds.sparse_memory_min_bps = 10_001;
    let error = TopologyPolicy::new(thresholds).unwrap_err();
    assert_eq!(error.kind(), "out_of_range");
    assert_eq!(
        error.to_string(),
        "threshold sparse_memory_min_bps is 10001; choose at most 10000"
    );
    let launch = LaunchThresholds {
        dense_density_min_bps: 10_001,
        ..LaunchThresholds::STANDARD
    };
    assert_eq!(
        LaunchPolicy::new(launch).unwrap_err().kind(),
        "out_of_range"
    );
}

#[test]
fn an_empty_band_is_never_chosen() {
    let mut thresholds = Thresholds::DEFAULT;
    thresholds.dense_density_min_ppm = thresholds.block_density_min_ppm;
    let policy = TopologyPolicy::new(thresholds).unwrap();
    for density_ppm in (0..=1_000_000).step_by(50) {
        let metrics = Metrics {
            density_ppm,
            average_degree_bps: 40_000,
            ..Metrics::default()
        };
        assert_ne!(policy.raw(&metrics), Topology::Dense);
    }
}

proptest! {
    /// Bytes from a device table may hold any thresholds: choosing stays total and settles.
    #[test]
    fn any_thresholds_choose_without_harm(
        words in any::<[u32; 16]>(), density_ppm: u32, average_degree_bps: u64,
        memory_pressure_bps: u32, fusion_pressure_bps: u32, launch_pressure_bps: u32,
        readback_bytes: u64, previous in 0..7u32,
    ) {
        let policy: TopologyPolicy = bytemuck::cast(words);
        let metrics = Metrics {
            average_degree_bps, readback_bytes, density_ppm,
            memory_pressure_bps, launch_pressure_bps, fusion_pressure_bps,
        };
        let previous = Topology::from_u32(previous);
        let (topology, _) = policy.decide(&metrics, previous);
        let raw = policy.raw(&metrics);
        let allowed = [Some(raw), previous, Some(Topology::Sparse)];
        prop_assert!(allowed.contains(&Some(topology)));
    }
}
