//! The launch policy.

use super::Outcome;
use super::read::{input, outcome};
use seawall_core::launch::{AdapterLimits, LaunchPolicy, LaunchRequest, LaunchTopology};
use seawall_core::ratio::Bps;
use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LaunchInput {
    queue_len: u32,
    requested_worker_groups: u32,
    max_workgroup_size_x: u32,
    max_compute_workgroups_per_dimension: u32,
    max_compute_invocations_per_workgroup: u32,
    requested_hit_capacity: u32,
    expected_hits_per_item: u32,
    hot_opcode_count: u32,
    hot_window_count: u32,
    requeue_count: u64,
    max_priority_age: u32,
    graph_node_count: u32,
    graph_edge_count: u32,
    frontier_density_bps: Option<u32>,
    memory_pressure_bps: Option<u32>,
    resident_device_bytes: u64,
    device_memory_budget_bytes: u64,
    previous: Option<Previous>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Previous {
    Empty,
    Sparse,
    Hybrid,
    Dense,
    FusedDense,
    MemoryConstrained,
}

impl Previous {
    const fn topology(self) -> LaunchTopology {
        match self {
            Self::Empty => LaunchTopology::Empty,
            Self::Sparse => LaunchTopology::Sparse,
            Self::Hybrid => LaunchTopology::Hybrid,
            Self::Dense => LaunchTopology::Dense,
            Self::FusedDense => LaunchTopology::FusedDense,
            Self::MemoryConstrained => LaunchTopology::MemoryConstrained,
        }
    }
}

pub(super) fn launch_policy(value: Value) -> Outcome {
    let given: LaunchInput = input(value);
    let previous = given.previous.map(Previous::topology);
    outcome(LaunchPolicy::STANDARD.plan(&request(&given), previous))
}

fn request(given: &LaunchInput) -> LaunchRequest {
    LaunchRequest {
        queue_len: given.queue_len,
        requested_worker_groups: given.requested_worker_groups,
        limits: AdapterLimits {
            max_workgroup_size_x: given.max_workgroup_size_x,
            max_compute_workgroups_per_dimension: given.max_compute_workgroups_per_dimension,
            max_compute_invocations_per_workgroup: given.max_compute_invocations_per_workgroup,
        },
        requested_hit_capacity: given.requested_hit_capacity,
        expected_hits_per_item: given.expected_hits_per_item,
        hot_opcode_count: given.hot_opcode_count,
        hot_window_count: given.hot_window_count,
        requeue_count: given.requeue_count,
        max_priority_age: given.max_priority_age,
        graph_node_count: given.graph_node_count,
        graph_edge_count: given.graph_edge_count,
        frontier_density: given.frontier_density_bps.map(Bps),
        memory_pressure: given.memory_pressure_bps.map(Bps),
        resident_device_bytes: given.resident_device_bytes,
        device_memory_budget_bytes: given.device_memory_budget_bytes,
    }
}
