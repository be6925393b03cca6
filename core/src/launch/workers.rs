//! Worker groups and the grid that they form.
//!
//! Groups and lanes are different things: groups come from the request and the adapter and are
//! scaled by pressure, lanes only from the adapter. Kernels stride, so too few groups are slow but
//! never wrong.

use super::known::Known;
use super::{AdapterLimits, LaunchError, LaunchTopology};
use crate::ratio::BPS_PER_ONE;

/// Lanes of a warp; a group holds whole warps when it can.
const WARP_LANES: u32 = 32;

/// Most groups of a grid, and most that are derived.
const GROUPS_MAX: u32 = 1024;

/// The derived count is the largest grid dimension divided by this.
const GROUPS_DERIVED_DIVISOR: u32 = 256;

/// Adapters whose groups hold this many lanes are large enough for the larger floor.
const LARGE_ADAPTER_INVOCATIONS: u32 = 4096;

/// Least derived groups on a large adapter.
const LARGE_ADAPTER_GROUPS: u32 = 64;

/// Floor of sparse scaling, if that many groups were resolved.
const SPARSE_GROUPS_MIN: u32 = 32;

/// Share of workers that a constrained launch drops at the threshold, and again at full pressure.
const CONSTRAINED_CUT_BPS: u32 = 2_500;

/// Slots and grid of one launch.
#[derive(Clone, Copy)]
pub(super) struct Geometry {
    pub(super) lanes_per_group: u32,
    pub(super) slot_count: u32,
    pub(super) grid_groups: u32,
}

pub(super) fn check_limits(limits: &AdapterLimits) -> Result<(), LaunchError> {
    let zero = |field| Err(LaunchError::ZeroLimit { field });
    if limits.max_workgroup_size_x == 0 {
        zero("max_workgroup_size_x")
    } else if limits.max_compute_workgroups_per_dimension == 0 {
        zero("max_compute_workgroups_per_dimension")
    } else if limits.max_compute_invocations_per_workgroup == 0 {
        zero("max_compute_invocations_per_workgroup")
    } else {
        Ok(())
    }
}

/// Groups as requested or derived, then scaled to the topology.
pub(super) fn worker_groups(known: &Known<'_>, topology: LaunchTopology) -> u32 {
    let groups = resolve(known);
    match topology {
        _ if groups <= 1 => groups,
        LaunchTopology::MemoryConstrained => constrained(known, groups),
        LaunchTopology::Sparse => sparse(known, groups),
        _ => groups,
    }
}

fn resolve(known: &Known<'_>) -> u32 {
    let limits = &known.request.limits;
    let dimension = limits.max_compute_workgroups_per_dimension;
    let wanted = match known.request.requested_worker_groups {
        0 => derived(limits),
        requested => requested,
    };
    wanted.min(dimension).max(1)
}

fn derived(limits: &AdapterLimits) -> u32 {
    let by_grid = limits
        .max_compute_workgroups_per_dimension
        .wrapping_div(GROUPS_DERIVED_DIVISOR)
        .clamp(1, GROUPS_MAX);
    let large = limits.max_compute_invocations_per_workgroup >= LARGE_ADAPTER_INVOCATIONS;
    by_grid.max(if large { LARGE_ADAPTER_GROUPS } else { 1 })
}

fn constrained(known: &Known<'_>, groups: u32) -> u32 {
    let threshold = known.thresholds.memory_pressure_min_bps;
    let span = BPS_PER_ONE.saturating_sub(threshold);
    let over = known.pressure.0.saturating_sub(threshold).min(span);
    let extra = scale(over, CONSTRAINED_CUT_BPS, span);
    let keep = BPS_PER_ONE
        .saturating_sub(CONSTRAINED_CUT_BPS)
        .saturating_sub(extra);
    scale(groups, keep, BPS_PER_ONE).max(1)
}

fn sparse(known: &Known<'_>, groups: u32) -> u32 {
    let Some(density) = known.density else {
        return groups;
    };
    if known.request.graph_node_count == 0 {
        return groups;
    }
    let full = known.thresholds.sparse_density_max_bps.max(1);
    let scaled = scale(groups, density.0.max(1).min(full), full);
    scaled.max(groups.min(SPARSE_GROUPS_MIN)).min(groups)
}

/// `⌊value·part/whole⌋` for a part that is at most the whole; 0 when the whole is.
fn scale(value: u32, part: u32, whole: u32) -> u32 {
    let product = u64::from(value).wrapping_mul(u64::from(part));
    let quotient = product.checked_div(u64::from(whole)).unwrap_or(0);
    u32::try_from(quotient).unwrap_or(value)
}

pub(super) fn geometry(
    queue_len: u32,
    limits: &AdapterLimits,
    lanes_max: u32,
    workers: u32,
) -> Result<Geometry, LaunchError> {
    let lanes_per_group = lanes_per_group(limits, lanes_max);
    let too_long = LaunchError::QueueTooLong {
        queue_len,
        lanes_per_group,
    };
    let slot_count = queue_len
        .max(1)
        .checked_next_multiple_of(lanes_per_group)
        .ok_or(too_long)?;
    let whole_groups = slot_count.checked_div(lanes_per_group).unwrap_or(1);
    Ok(Geometry {
        lanes_per_group,
        slot_count,
        grid_groups: workers.min(whole_groups).clamp(1, GROUPS_MAX),
    })
}

fn lanes_per_group(limits: &AdapterLimits, lanes_max: u32) -> u32 {
    let lanes = limits
        .max_workgroup_size_x
        .min(limits.max_compute_invocations_per_workgroup)
        .min(lanes_max);
    if lanes < WARP_LANES {
        lanes.max(1)
    } else {
        lanes & !(WARP_LANES.wrapping_sub(1))
    }
}
