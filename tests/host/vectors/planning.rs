//! Topology, execution, resident session and convergence.

use super::Outcome;
use super::read::{input, outcome};
use seawall_core::convergence::ConvergenceRequest;
use seawall_core::ratio::{Bps, Ppm};
use seawall_core::session::{ReadbackPolicy, SessionProfile};
use seawall_core::topology::memory::{ExecutionRequest, Footprint};
use seawall_core::topology::{Signals, Topology, TopologyPolicy};
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TopologyInput {
    dispatch_cost_ns: u64,
    frontier_density_ppm: u32,
    readback_bytes: u64,
    nodes: u64,
    edges: u64,
    required_bytes: u64,
    budget_bytes: u64,
    launch_overhead_ns: u64,
    fusion_pressure_bps: u32,
    previous: Option<String>,
}

pub(super) fn topology(value: Value) -> Outcome {
    let given: TopologyInput = input(value);
    let previous = given.previous.as_deref().map(topology_named);
    let signals = Signals {
        dispatch_cost_ns: given.dispatch_cost_ns,
        frontier_density: Ppm(given.frontier_density_ppm),
        readback_bytes: given.readback_bytes,
        nodes: given.nodes,
        edges: given.edges,
        required_bytes: given.required_bytes,
        budget_bytes: given.budget_bytes,
        launch_overhead_ns: given.launch_overhead_ns,
        fusion_pressure: Bps(given.fusion_pressure_bps),
    };
    let decision = TopologyPolicy::DEFAULT.select(&signals, previous);
    outcome(Ok::<_, ()>(decision))
}

fn topology_named(name: &str) -> Topology {
    let mut all = Topology::ALL.into_iter();
    all.find(|topology| topology.name() == name).unwrap()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ExecutionInput {
    dispatch_cost_ns: u64,
    frontier_density_ppm: u32,
    readback_bytes: u64,
    nodes: u64,
    edges: u64,
    budget_bytes: u64,
    launch_overhead_ns: u64,
    fusion_pressure_bps: u32,
    previous: Option<String>,
    bytes_per_node: u64,
    bytes_per_edge: u64,
    frontier_bytes: u64,
    scratch_bytes: u64,
    output_bytes: u64,
}

pub(super) fn execution(value: Value) -> Outcome {
    let given: ExecutionInput = input(value);
    let previous = given.previous.as_deref().map(topology_named);
    let request = ExecutionRequest {
        footprint: Footprint {
            nodes: given.nodes,
            edges: given.edges,
            bytes_per_node: given.bytes_per_node,
            bytes_per_edge: given.bytes_per_edge,
            frontier_bytes: given.frontier_bytes,
            scratch_bytes: given.scratch_bytes,
            output_bytes: given.output_bytes,
            budget_bytes: given.budget_bytes,
        },
        dispatch_cost_ns: given.dispatch_cost_ns,
        frontier_density: Ppm(given.frontier_density_ppm),
        readback_bytes: given.readback_bytes,
        launch_overhead_ns: given.launch_overhead_ns,
        fusion_pressure: Bps(given.fusion_pressure_bps),
    };
    let plan = TopologyPolicy::DEFAULT.plan_execution(&request, previous);
    outcome(plan.map(|plan| {
        let mut flat = json!(plan.memory);
        flat["downgraded"] = json!(plan.downgraded);
        flat
    }))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SessionInput {
    graph_layout_hash: u64,
    graph_bytes: u64,
    run_count: u64,
    per_run_frontier_bytes: u64,
    reusable_scratch_bytes: u64,
    per_run_output_bytes: u64,
    budget_bytes: u64,
    readback: Readback,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Readback {
    FinalOnly,
    PerRun,
}

pub(super) fn resident_session(value: Value) -> Outcome {
    let given: SessionInput = input(value);
    let profile = SessionProfile {
        graph_layout_hash: given.graph_layout_hash,
        graph_bytes: given.graph_bytes,
        run_count: given.run_count,
        per_run_frontier_bytes: given.per_run_frontier_bytes,
        reusable_scratch_bytes: given.reusable_scratch_bytes,
        per_run_output_bytes: given.per_run_output_bytes,
        budget_bytes: given.budget_bytes,
        readback: match given.readback {
            Readback::FinalOnly => ReadbackPolicy::FinalOnly,
            Readback::PerRun => ReadbackPolicy::PerRun,
        },
    };
    outcome(profile.plan())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ConvergenceInput {
    max_device_iterations: u32,
    changed_flag_bytes: u32,
    requested_host_iteration_polls: u32,
}

pub(super) fn convergence(value: Value) -> Outcome {
    let given: ConvergenceInput = input(value);
    let request = ConvergenceRequest {
        max_device_iterations: given.max_device_iterations,
        changed_flag_bytes: given.changed_flag_bytes,
        requested_host_iteration_polls: given.requested_host_iteration_polls,
    };
    outcome(request.contract())
}
