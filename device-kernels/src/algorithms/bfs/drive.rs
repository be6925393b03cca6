//! The choice of the next step's shape from counters.
//!
//! It is a pure function of the drive record and of the last step's finds, so every block decides
//! alike without communication, in launched steps too.

use crate::algorithms::bfs::threads::bins;
use crate::machine::Grid;
use crate::machine::shared::fused_nodes;
use seawall_core::abi::search::{DriveRecord, FoundRecord, Holder, SearchPolicy, Step};
use seawall_core::abi::trace::StepReason;
use seawall_core::topology::{Metrics, Topology};

/// The policy when narrow frontiers may be `reach` times as wide as for one block. On a
/// GPU, `reach` blocks search them together, each as far as its memory reaches.
#[inline(always)]
#[must_use]
pub fn policy_for<G: Grid>(policy: &SearchPolicy, reach: u32) -> SearchPolicy {
    let times = |limit: u32| limit.saturating_mul(reach);
    if !G::SIMT {
        let pulls = policy.can_pull != 0;
        let edges = times(policy.narrow_edges);
        return SearchPolicy {
            narrow_nodes: times(policy.narrow_nodes),
            narrow_exit_nodes: times(policy.narrow_exit_nodes),
            // A single thread leaves its queue only where a pull may pay.
            narrow_edges: if pulls {
                edges.min(policy.pull_edges_min)
            } else {
                edges
            },
            ..*policy
        };
    }
    SearchPolicy {
        narrow_nodes: times(policy.narrow_nodes.min(fused_nodes::<G>())),
        narrow_exit_nodes: times(policy.narrow_exit_nodes),
        narrow_edges: times(policy.narrow_edges),
        ..*policy
    }
}

/// Applies the finds of the last step, and chooses the next step.
#[inline(always)]
pub fn advance<G: Grid>(drive: &mut DriveRecord, found: &FoundRecord, policy: &SearchPolicy) {
    let done = Step::from_word(drive.next).unwrap_or(Step::WarpSparse);
    drive.step = drive.step.wrapping_add(1);
    match done {
        Step::Compact => {
            if drive.holder == Holder::Next as u32 {
                count_new(drive, found.queued_nodes, found.queued_edges);
            } else {
                drive.nodes = found.queued_nodes;
                drive.edges = found.queued_edges;
            }
            drive.holder = Holder::Queue as u32;
            drive.queue ^= 1;
        }
        Step::Hybrid => {
            drive.iteration += 1;
            drive.holder = Holder::Next as u32;
        }
        Step::Dense | Step::BlockDense => {
            drive.iteration += 1;
            drive.holder = Holder::Visited as u32;
            // A pull that goes ahead leaves the new bits in place.
            drive.visited ^= 1 - drive.ahead.min(1);
            count_new(drive, found.marked_nodes, found.marked_edges);
        }
        Step::WarpSparse | Step::Sparse | Step::Fused => {
            drive.iteration += 1;
            drive.queue ^= 1;
            count_new(drive, found.queued_nodes, found.queued_edges);
        }
    }
    choose::<G>(drive, policy);
}

/// Applies a new frontier.
#[inline(always)]
pub fn count_new(drive: &mut DriveRecord, nodes: u32, edges: u32) {
    drive.nodes = nodes;
    drive.edges = edges;
    drive.unexplored_edges = drive.unexplored_edges.saturating_sub(edges);
    drive.frontier_max = drive.frontier_max.max(nodes);
}

/// Chooses the next step for the frontier that `drive` describes; a frontier
/// without edges ends the search.
#[inline(always)]
pub fn choose<G: Grid>(drive: &mut DriveRecord, policy: &SearchPolicy) {
    if drive.holder == Holder::Next as u32 {
        drive.next = Step::Compact as u32;
        return;
    }
    if drive.edges == 0 {
        drive.converged = 1;
        return;
    }
    let (topology, reason) = topology(drive, policy);
    drive.topology = topology as u32;
    drive.reason = reason.word();
    let wanted = step_of::<G>(topology, drive, policy);
    let pulls = matches!(wanted, Step::Dense | Step::BlockDense);
    drive.next = if drive.holder == Holder::Visited as u32 && !pulls {
        Step::Compact as u32
    } else {
        wanted as u32
    };
}

#[inline(always)]
fn topology(drive: &DriveRecord, policy: &SearchPolicy) -> (Topology, StepReason) {
    if let Some(forced) = Topology::from_u32(policy.forced) {
        return (forced, StepReason::Requested);
    }
    // A fused search takes only the memory of its blocks, so memory pressure does not matter.
    if drive.nodes <= policy.narrow_nodes && drive.edges <= policy.narrow_edges {
        return (Topology::Fused, StepReason::NarrowFrontier);
    }
    let thresholds = policy.topology.thresholds();
    let is_full = policy.memory_pressure_bps >= thresholds.sparse_memory_min_bps;
    if drive.edges < policy.pull_edges_min && !is_full {
        // Too few edges for a sweep over the bitset to pay, whatever their share, so only the
        // degree matters, and no division is needed.
        let low = u64::from(drive.edges) * 10_000
            <= u64::from(drive.nodes) * u64::from(thresholds.warp_degree_max_bps);
        let topology = if low {
            Topology::WarpSparse
        } else {
            Topology::Sparse
        };
        return (topology, StepReason::TooFewEdgesForASweep);
    }
    let previous = Topology::from_u32(drive.topology);
    let (topology, reason) = policy.topology.decide(&metrics(drive, policy), previous);
    (topology, StepReason::Planned(reason))
}

/// The state of the search and of its machine, as the planner's policy sees them.
#[inline(always)]
fn metrics(drive: &DriveRecord, policy: &SearchPolicy) -> Metrics {
    let left = drive.edges.saturating_add(drive.unexplored_edges);
    Metrics {
        average_degree_bps: u64::from(ratio(drive.edges, drive.nodes, 10_000.0)),
        readback_bytes: u64::from(policy.readback_bytes),
        density_ppm: ratio(drive.edges, left, 1e6),
        memory_pressure_bps: policy.memory_pressure_bps,
        launch_pressure_bps: launch_pressure(drive.edges, policy),
        fusion_pressure_bps: fusion_pressure(drive, policy),
    }
}

/// The cost of a step without its edges over that of its edges, basis points; 0 if costs
/// are unknown.
#[inline(always)]
fn launch_pressure(edges: u32, policy: &SearchPolicy) -> u32 {
    let work_ps = edges as f32 * policy.edge_ps as f32;
    if work_ps == 0.0 {
        return 0;
    }
    (policy.step_ns as f32 * 1e7 / work_ps) as u32
}

/// Share of the frontier that fits the blocks that would run it fused, in basis points.
#[inline(always)]
fn fusion_pressure(drive: &DriveRecord, policy: &SearchPolicy) -> u32 {
    let nodes = ratio(policy.narrow_nodes, drive.nodes, 10_000.0);
    let edges = ratio(policy.narrow_edges, drive.edges, 10_000.0);
    nodes.min(edges).min(10_000)
}

/// `part / whole · scale`, rounded down, at most `u32::MAX`; 0 for an empty
/// whole. Single precision is enough to choose a shape and spares the device a
/// wide division.
#[inline(always)]
fn ratio(part: u32, whole: u32, scale: f32) -> u32 {
    if whole == 0 {
        return 0;
    }
    (part as f32 / whole as f32 * scale) as u32
}

#[inline(always)]
fn step_of<G: Grid>(topology: Topology, drive: &DriveRecord, policy: &SearchPolicy) -> Step {
    let forced = policy.forced != u32::MAX;
    let space = fused_nodes::<G>().max(policy.narrow_nodes);
    let worth_a_sweep = forced || drive.edges >= policy.pull_edges_min;
    let step = match topology {
        // A fused search refuses more than these, so choosing it again would never end.
        Topology::Fused if drive.nodes <= space && drive.edges <= policy.narrow_edges => {
            Step::Fused
        }
        Topology::WarpSparse | Topology::Fused => Step::WarpSparse,
        Topology::Sparse => Step::Sparse,
        Topology::Hybrid if worth_a_sweep => Step::Hybrid,
        Topology::Dense if policy.can_pull != 0 && worth_a_sweep => Step::Dense,
        Topology::BlockDense if policy.can_pull != 0 && worth_a_sweep => Step::BlockDense,
        Topology::Hybrid | Topology::Dense | Topology::BlockDense => Step::Sparse,
    };
    // Threads that push many edges sort them into bins, which a compaction empties.
    let is_binned = G::TAKES && !forced && drive.edges >= bins::EDGES_LEAST;
    match step {
        Step::WarpSparse | Step::Sparse if is_binned => Step::Hybrid,
        _ => step,
    }
}

/// Whether the loop ends before the step that `drive` asks for. After the last iteration,
/// a compaction still brings the visited bits up to date.
#[must_use]
pub fn is_over(drive: &DriveRecord, max_iterations: u32) -> bool {
    drive.converged != 0
        || (drive.iteration >= max_iterations && drive.holder != Holder::Next as u32)
}

#[cfg(test)]
mod tests;
