//! Resident sessions, reuse telemetry and the end of loops.

use seawall_core::convergence::{ConvergenceRequest, Outcome, changed_in, changed_tag};
use seawall_core::session::{ReadbackPolicy, ReuseTelemetry, SessionProfile};
use seawall_fuzz::draw::Draw;

/// Figures of an accepted session, in sums that cannot overflow.
pub(crate) fn session(draw: &mut Draw<'_>) {
    let profile = SessionProfile {
        graph_layout_hash: draw.long(),
        graph_bytes: draw.long(),
        run_count: draw.long(),
        per_run_frontier_bytes: draw.long(),
        reusable_scratch_bytes: draw.long(),
        per_run_output_bytes: draw.long(),
        budget_bytes: draw.long(),
        readback: if draw.byte() == 0xFF {
            ReadbackPolicy::PerRun
        } else {
            ReadbackPolicy::FinalOnly
        },
    };
    match profile.plan() {
        Ok(plan) => {
            let parts = [
                profile.graph_bytes,
                profile.per_run_frontier_bytes,
                profile.reusable_scratch_bytes,
                profile.per_run_output_bytes,
            ];
            let sum: u128 = parts.into_iter().map(u128::from).sum();
            assert_eq!(u128::from(plan.peak_resident_bytes), sum);
            assert!(plan.peak_resident_bytes <= profile.budget_bytes);
            let warm = u128::from(profile.run_count) - 1;
            let avoided = warm * u128::from(profile.graph_bytes);
            assert_eq!(u128::from(plan.avoided_graph_upload_bytes), avoided);
            check_rates(&plan.graph_reuse);
        }
        Err(error) => assert!(!error.to_string().is_empty() && !error.kind().is_empty()),
    }
    let (a, b) = (telemetry(draw), telemetry(draw));
    check_rates(&a);
    if let Ok(sum) = a.checked_add(&b) {
        assert_eq!(sum.checked_sub(&b), Ok(a));
    }
}

fn telemetry(draw: &mut Draw<'_>) -> ReuseTelemetry {
    ReuseTelemetry {
        cold_uploads: draw.long(),
        warm_reuses: draw.long(),
        upload_bytes: draw.long(),
        avoided_upload_bytes: draw.long(),
    }
}

fn check_rates(telemetry: &ReuseTelemetry) {
    for (part, rest, found) in [
        (
            telemetry.warm_reuses,
            telemetry.cold_uploads,
            telemetry.reuse_rate(),
        ),
        (
            telemetry.avoided_upload_bytes,
            telemetry.upload_bytes,
            telemetry.avoided_fraction(),
        ),
    ] {
        let whole = u128::from(part) + u128::from(rest);
        let exact = (u128::from(part) * 1_000_000).checked_div(whole);
        match (found, exact) {
            (None, None) => {}
            // Halved parts of a sum beyond 64 bits may lose one in the last digit.
            (Some(found), Some(exact)) => assert!(u128::from(found.0).abs_diff(exact) <= 1),
            (found, exact) => panic!("{found:?} instead of {exact:?}"),
        }
    }
}

/// A loop ends when nothing changed, or with its budget.
pub(crate) fn convergence(draw: &mut Draw<'_>) {
    let request = ConvergenceRequest {
        max_device_iterations: draw.word(),
        changed_flag_bytes: if draw.byte() == 0xFF { draw.word() } else { 4 },
        requested_host_iteration_polls: if draw.byte() == 0xFF { draw.word() } else { 0 },
    };
    let contract = match request.contract() {
        Ok(contract) => contract,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    let (iteration, flag) = (draw.word(), draw.word());
    let flag = if draw.flag() {
        changed_tag(iteration)
    } else {
        flag
    };
    let outcome = contract.after_iteration(iteration, flag);
    let expected = match (
        changed_in(iteration, flag),
        iteration >= request.max_device_iterations,
    ) {
        (false, _) => Some(Outcome::Converged {
            iterations: iteration,
        }),
        (true, true) => Some(Outcome::Exhausted {
            iterations: iteration,
        }),
        (true, false) => None,
    };
    assert_eq!(outcome, expected);
}
