//! Properties of the choice; the conformance vectors cover the numbers of single cases.

use seawall_core::topology::{MetricClass, Metrics, Reason, Thresholds, Topology, TopologyPolicy};
use std::collections::HashMap;

const POLICY: TopologyPolicy = TopologyPolicy::DEFAULT;

/// Metrics on both sides of every threshold, in all combinations.
fn all_metrics() -> Vec<Metrics> {
    let mut all = vec![Metrics::default()];
    spread(
        &mut all,
        &[0, 8_500, 8_501, 8_749, 8_750, 8_751, 8_999, 9_000],
        |m, v| {
            m.memory_pressure_bps = v;
        },
    );
    spread(&mut all, &[5_999, 6_000, 6_999, 7_000], |m, v| {
        m.fusion_pressure_bps = v
    });
    spread(&mut all, &[1_249, 1_250, 1_499, 1_500], |m, v| {
        m.launch_pressure_bps = v
    });
    spread(&mut all, &[4_095, 4_096], |m, v| {
        m.readback_bytes = v.into()
    });
    spread(&mut all, &[19_999, 20_000, 80_000, 80_001], |m, v| {
        m.average_degree_bps = v.into()
    });
    let mut densities = vec![0, 1_000_000];
    for boundary in [31_250u32, 125_000, 700_000, 850_000] {
        for at in [boundary - 25_000, boundary, boundary + 25_000] {
            densities.extend([at.saturating_sub(1), at, at + 1]);
        }
    }
    spread(&mut all, &densities, |m, v| m.density_ppm = v);
    all
}

fn spread(all: &mut Vec<Metrics>, values: &[u32], set: impl Fn(&mut Metrics, u32)) {
    let old = std::mem::take(all);
    for metrics in &old {
        for &value in values {
            let mut metrics = *metrics;
            set(&mut metrics, value);
            all.push(metrics);
        }
    }
}

#[test]
fn a_class_has_one_raw_topology() {
    let mut raw_of: HashMap<MetricClass, Topology> = HashMap::new();
    for metrics in all_metrics() {
        let raw = POLICY.raw(&metrics);
        let known = raw_of.entry(POLICY.class(&metrics)).or_insert(raw);
        assert_eq!(*known, raw, "{metrics:?}");
    }
    assert!(raw_of.len() > 100, "the classes are distinguished");
}

#[test]
fn steady_metrics_settle_within_two_steps() {
    for metrics in all_metrics() {
        for previous in Topology::ALL {
            let first = POLICY.decide(&metrics, Some(previous)).0;
            let second = POLICY.decide(&metrics, Some(first)).0;
            let third = POLICY.decide(&metrics, Some(second)).0;
            assert_eq!(second, third, "{metrics:?} after {previous}");
        }
    }
}

#[test]
fn a_kept_topology_is_never_the_raw_one_and_always_says_so() {
    for metrics in all_metrics() {
        let raw = POLICY.raw(&metrics);
        assert_eq!(POLICY.decide(&metrics, None).0, raw);
        for previous in Topology::ALL {
            let (topology, reason) = POLICY.decide(&metrics, Some(previous));
            let held = reason == Reason::HeldByHysteresis;
            let memory = reason == Reason::MemoryHysteresisSparse;
            assert_eq!(
                topology != raw,
                held || memory,
                "{metrics:?} after {previous}"
            );
            assert!(
                !held || topology == previous,
                "{metrics:?} after {previous}"
            );
            assert!(
                !memory || topology == Topology::Sparse,
                "{metrics:?} after {previous}"
            );
        }
    }
}

/// Metrics of a calm machine at this density.
fn at(density_ppm: u32) -> Metrics {
    Metrics {
        density_ppm,
        average_degree_bps: 40_000,
        ..Metrics::default()
    }
}

#[test]
fn a_denser_frontier_never_steps_down_the_ladder() {
    let mut last = Topology::WarpSparse;
    for density in 0..=1_000_000 {
        let raw = POLICY.raw(&at(density));
        assert!(raw >= last, "{density} ppm: {raw} after {last}");
        last = raw;
    }
    assert_eq!(last, Topology::BlockDense);
}

#[test]
fn a_rising_and_falling_density_turns_with_the_full_margin() {
    let thresholds = Thresholds::DEFAULT;
    let boundaries = [
        (
            Topology::WarpSparse,
            Topology::Sparse,
            thresholds.warp_density_max_ppm,
        ),
        (
            Topology::Sparse,
            Topology::Hybrid,
            thresholds.sparse_density_max_ppm,
        ),
        (
            Topology::Hybrid,
            Topology::Dense,
            thresholds.dense_density_min_ppm,
        ),
        (
            Topology::Dense,
            Topology::BlockDense,
            thresholds.block_density_min_ppm,
        ),
    ];
    for (below, above, boundary) in boundaries {
        let high = boundary + thresholds.density_margin_ppm;
        let low = boundary - thresholds.density_margin_ppm;
        assert_eq!(POLICY.decide(&at(high), Some(below)).0, below);
        assert_eq!(POLICY.decide(&at(high + 1), Some(below)).0, above);
        assert_eq!(POLICY.decide(&at(low), Some(above)).0, above);
        assert_eq!(POLICY.decide(&at(low - 1), Some(above)).0, below);
    }
}

#[test]
fn every_discriminant_reads_back() {
    for topology in Topology::ALL {
        assert_eq!(Topology::from_u32(topology as u32), Some(topology));
    }
    assert_eq!(Topology::from_u32(6), None);
}
