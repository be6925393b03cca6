//! Properties of resident sessions, their telemetry, and fixpoints on the device.

use proptest::prelude::*;
use seawall_core::convergence::{ConvergenceContract, Outcome, changed_tag};
use seawall_core::ratio::Ppm;
use seawall_core::session::{ReuseTelemetry, SessionProfile, TelemetryError};

fn telemetry() -> impl Strategy<Value = ReuseTelemetry> {
    any::<[u64; 4]>().prop_map(
        |[
            cold_uploads,
            warm_reuses,
            upload_bytes,
            avoided_upload_bytes,
        ]| ReuseTelemetry {
            cold_uploads,
            warm_reuses,
            upload_bytes,
            avoided_upload_bytes,
        },
    )
}

proptest! {
    #[test]
    fn uploads_done_and_avoided_are_one_a_run(
        graph_bytes in 1..1u64 << 30, run_count in 1..1u64 << 30, budget_bytes in 1..1u64 << 40,
    ) {
        let profile = SessionProfile {
            graph_layout_hash: 1, graph_bytes, run_count, budget_bytes,
            ..SessionProfile::default()
        };
        prop_assume!(graph_bytes <= budget_bytes);
        let plan = profile.plan().unwrap();
        let baseline = graph_bytes * run_count;
        prop_assert_eq!(plan.graph_reuse.upload_bytes + plan.avoided_graph_upload_bytes, baseline);
        prop_assert_eq!(plan.graph_reuse.cold_uploads + plan.graph_reuse.warm_reuses, run_count);
    }

    #[test]
    fn any_profile_is_planned_or_refused(words in any::<[u64; 7]>()) {
        let [hash, graph, runs, frontier, scratch, output, budget] = words;
        let profile = SessionProfile {
            graph_layout_hash: hash, graph_bytes: graph, run_count: runs >> 32,
            per_run_frontier_bytes: frontier >> 40, reusable_scratch_bytes: scratch >> 40,
            per_run_output_bytes: output >> 40, budget_bytes: budget,
            ..SessionProfile::default()
        };
        if let Ok(plan) = profile.plan() {
            prop_assert!(plan.peak_resident_bytes <= budget);
        }
    }

    #[test]
    fn what_was_added_can_be_taken_away(a in telemetry(), b in telemetry()) {
        match a.checked_add(&b) {
            Ok(sum) => prop_assert_eq!(sum.checked_sub(&b), Ok(a)),
            Err(error) => prop_assert_eq!(error.kind(), "overflow"),
        }
    }

    #[test]
    fn rates_lie_between_none_and_all(a in telemetry()) {
        for rate in [a.reuse_rate(), a.avoided_fraction()] {
            prop_assert!(rate.is_none_or(|rate| rate <= Ppm::ONE));
        }
    }

    /// A device that changes something in the first `changing` iterations.
    #[test]
    fn a_fixpoint_ends_where_nothing_changes(changing in 0..50u32, limit in 1..50u32) {
        let contract = ConvergenceContract::device_resident(limit).unwrap();
        let mut flag = 0;
        let outcome = (1..).find_map(|iteration| {
            if iteration <= changing {
                flag = changed_tag(iteration);
            }
            contract.after_iteration(iteration, flag)
        });
        let expected = if changing < limit {
            Outcome::Converged { iterations: changing + 1 }
        } else {
            Outcome::Exhausted { iterations: limit }
        };
        prop_assert_eq!(outcome, Some(expected));
    }
}

#[test]
fn a_snapshot_of_another_counter_is_refused() {
    let older = ReuseTelemetry {
        warm_reuses: 3,
        ..ReuseTelemetry::default()
    };
    let error = ReuseTelemetry::default().checked_sub(&older).unwrap_err();
    let expected = TelemetryError::Underflow {
        field: "warm_reuses",
        minuend: 0,
        subtrahend: 3,
    };
    assert_eq!(error, expected);
}

#[test]
fn rates_without_a_denominator_are_unknown() {
    assert_eq!(ReuseTelemetry::default().reuse_rate(), None);
    let full = ReuseTelemetry {
        upload_bytes: u64::MAX,
        avoided_upload_bytes: u64::MAX,
        ..ReuseTelemetry::default()
    };
    assert_eq!(full.avoided_fraction(), Some(Ppm(500_000)));
}
