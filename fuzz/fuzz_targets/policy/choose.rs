//! Ratios, topologies with their memory, and launch sizes.

use seawall_core::launch::{
    AdapterLimits, LaunchPolicy, LaunchRequest, LaunchThresholds, LaunchTopology, RequeueAccount,
};
use seawall_core::ratio::{Bps, Ppm, scaled_floor, scaled_nearest};
use seawall_core::topology::memory::{ExecutionRequest, Footprint, MemoryError};
use seawall_core::topology::{Signals, Thresholds, Topology, TopologyPolicy};
use seawall_fuzz::draw::Draw;

/// Both roundings against 256-bit-safe arithmetic: numerators are below 2^64, scales below 2^32.
pub(crate) fn ratios(draw: &mut Draw<'_>) {
    let (part, scale, whole) = (draw.long(), draw.word(), draw.long());
    let product = u128::from(part) * u128::from(scale);
    let capped = |value: u128| u64::try_from(value).unwrap_or(u64::MAX);
    let floor = product.checked_div(u128::from(whole)).map(capped);
    assert_eq!(scaled_floor(part, scale, whole), floor);
    let nearest = floor.map(|_| {
        let (quotient, rest) = (product / u128::from(whole), product % u128::from(whole));
        capped(quotient + u128::from(2 * rest >= u128::from(whole)))
    });
    assert_eq!(scaled_nearest(part, scale, whole), nearest);
    assert!(Bps::share(part, whole).is_none_or(|share| share <= Bps::ONE));
    assert!(Ppm::share(part, whole).is_none_or(|share| share <= Ppm::ONE));
    assert!(Bps(scale).clamped() <= Bps::ONE);
}

pub(crate) fn signals(draw: &mut Draw<'_>) -> Signals {
    Signals {
        dispatch_cost_ns: draw.long(),
        frontier_density: Ppm(near(draw, &[31_250, 56_250, 125_000, 700_000, 850_000])),
        readback_bytes: near(draw, &[4_096]).into(),
        nodes: draw.long(),
        edges: draw.long(),
        required_bytes: draw.long(),
        budget_bytes: draw.long(),
        launch_overhead_ns: draw.long(),
        fusion_pressure: Bps(near(draw, &[6_000, 7_000])),
    }
}

/// One of these, a neighbour of one, or anything.
fn near(draw: &mut Draw<'_>, values: &[u32]) -> u32 {
    match draw.byte() {
        byte @ 0..192 => {
            let value = values[usize::from(byte / 3) % values.len()];
            value + u32::from(byte % 3) - 1
        }
        _ => draw.word(),
    }
}

pub(crate) fn request(draw: &mut Draw<'_>) -> ExecutionRequest {
    let signals = signals(draw);
    ExecutionRequest {
        footprint: Footprint {
            nodes: signals.nodes,
            edges: signals.edges,
            bytes_per_node: draw.long(),
            bytes_per_edge: draw.long(),
            frontier_bytes: draw.long(),
            scratch_bytes: draw.long(),
            output_bytes: draw.long(),
            budget_bytes: signals.budget_bytes,
        },
        dispatch_cost_ns: signals.dispatch_cost_ns,
        frontier_density: signals.frontier_density,
        readback_bytes: signals.readback_bytes,
        launch_overhead_ns: signals.launch_overhead_ns,
        fusion_pressure: signals.fusion_pressure,
    }
}

pub(crate) fn previous(draw: &mut Draw<'_>) -> Option<Topology> {
    Topology::from_u32(draw.below(8))
}

/// The defaults, or any set that its own validation accepts.
pub(crate) fn policy(draw: &mut Draw<'_>) -> TopologyPolicy {
    if draw.flag() {
        return TopologyPolicy::DEFAULT;
    }
    let words: [u32; 16] = std::array::from_fn(|_| draw.below(1 << 21));
    let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = words;
    let thresholds = Thresholds {
        sparse_memory_min_bps: a,
        sparse_memory_hold_bps: b,
        fused_fusion_min_bps: c,
        fused_fusion_hold_bps: d,
        fused_launch_min_bps: e,
        fused_launch_hold_bps: f,
        fused_readback_min_bytes: g,
        fused_memory_max_bps: h,
        fused_memory_hold_bps: i,
        warp_density_max_ppm: j,
        sparse_density_max_ppm: k,
        dense_density_min_ppm: l,
        block_density_min_ppm: m,
        density_margin_ppm: n,
        warp_degree_max_bps: o,
        dense_degree_min_bps: p,
    };
    match TopologyPolicy::new(thresholds) {
        Ok(policy) => policy,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            TopologyPolicy::DEFAULT
        }
    }
}

/// The choice fits the budget, and is stable under the same signals.
pub(crate) fn topology(draw: &mut Draw<'_>) {
    let policy = policy(draw);
    let request = request(draw);
    let before = previous(draw);
    let signals = request.signals(draw.long());
    let decision = policy.select(&signals, before);
    // A first choice may still be inside the bands of hysteresis; the next one is stable.
    let settled = policy.select(&signals, Some(decision.topology)).topology;
    let again = policy.select(&signals, Some(settled)).topology;
    assert_eq!(again, settled, "{signals:?} flaps");
    assert!(!decision.to_string().is_empty());
    let t = policy.thresholds();
    if decision.memory_pressure_bps >= t.sparse_memory_min_bps {
        assert_eq!(decision.topology, Topology::Sparse);
    }
    let sparse = request.footprint.plan(Topology::Sparse);
    match policy.plan_execution(&request, before) {
        Ok(plan) => {
            let memory = plan.memory;
            let sum = [
                memory.graph_bytes,
                memory.frontier_bytes,
                memory.scratch_bytes,
                memory.output_bytes,
            ];
            let sum: u128 = sum.into_iter().map(u128::from).sum();
            assert_eq!(u128::from(memory.required_bytes), sum);
            assert!(memory.required_bytes <= request.footprint.budget_bytes);
            assert!(memory.memory_pressure_bps <= 10_000);
            assert!(!plan.downgraded || memory.topology == Topology::Sparse);
        }
        Err(error) => {
            assert_eq!(sparse, Err(error));
            if let MemoryError::OverBudget {
                required_bytes,
                budget_bytes,
                ..
            } = error
            {
                assert!(required_bytes > budget_bytes);
            }
        }
    }
}

/// Sizes stay within the adapter, slots cover the queue, an empty queue launches nothing.
pub(crate) fn launch(draw: &mut Draw<'_>) {
    let policy = launch_policy(draw);
    let request = launch_request(draw);
    let mut account = RequeueAccount::default();
    for _ in 0..draw.below(4) {
        account.record(&policy, draw.word());
    }
    let request = if draw.flag() {
        account.apply(request)
    } else {
        request
    };
    let topologies = [
        LaunchTopology::Empty,
        LaunchTopology::Sparse,
        LaunchTopology::Hybrid,
        LaunchTopology::Dense,
        LaunchTopology::FusedDense,
        LaunchTopology::MemoryConstrained,
    ];
    let before = topologies.get(draw.below(8) as usize).copied();
    let plan = match policy.plan(&request, before) {
        Ok(plan) => plan,
        Err(error) => return assert!(!error.to_string().is_empty() && !error.kind().is_empty()),
    };
    let limits = request.limits;
    let is_empty = request.queue_len == 0;
    assert_eq!(plan.topology == LaunchTopology::Empty, is_empty);
    assert!(plan.worker_groups <= limits.max_compute_workgroups_per_dimension);
    assert!((1..=policy.thresholds().lanes_max.max(1)).contains(&plan.lanes_per_group));
    assert!(plan.lanes_per_group <= limits.max_workgroup_size_x);
    assert!(plan.lanes_per_group <= limits.max_compute_invocations_per_workgroup);
    assert!(plan.slot_count >= request.queue_len);
    assert!(plan.slot_count.is_multiple_of(plan.lanes_per_group));
    assert!(plan.grid_groups <= plan.worker_groups && plan.grid_groups <= 1024);
    assert_eq!((plan.slot_count, plan.grid_groups) == (0, 0), is_empty);
    let budget = request.device_memory_budget_bytes;
    assert!(budget == 0 || plan.estimated_peak_bytes <= budget);
    assert!(plan.estimated_peak_bytes >= request.resident_device_bytes);
}

fn launch_policy(draw: &mut Draw<'_>) -> LaunchPolicy {
    if draw.flag() {
        return LaunchPolicy::STANDARD;
    }
    let thresholds = LaunchThresholds {
        hit_capacity_min: draw.word(),
        hit_multiplier: draw.word(),
        saturated_waves: draw.word(),
        hot_opcode_min: draw.word(),
        hot_window_min: draw.word(),
        fused_queue_min: draw.word(),
        priority_age_min: draw.word(),
        sparse_density_max_bps: draw.below(11_000),
        dense_density_min_bps: draw.below(11_000),
        memory_pressure_min_bps: draw.below(11_000),
        fusion_edges_min: draw.word(),
        lanes_max: draw.word(),
        bytes_per_hit: draw.word(),
        density_hysteresis_bps: draw.word(),
        memory_hysteresis_bps: draw.word(),
    };
    LaunchPolicy::new(thresholds).unwrap_or_default()
}

fn launch_request(draw: &mut Draw<'_>) -> LaunchRequest {
    LaunchRequest {
        queue_len: draw.word(),
        requested_worker_groups: draw.word(),
        limits: AdapterLimits {
            max_workgroup_size_x: draw.word(),
            max_compute_workgroups_per_dimension: draw.word(),
            max_compute_invocations_per_workgroup: draw.word(),
        },
        requested_hit_capacity: draw.word(),
        expected_hits_per_item: draw.word(),
        hot_opcode_count: draw.word(),
        hot_window_count: draw.word(),
        requeue_count: draw.long(),
        max_priority_age: draw.word(),
        graph_node_count: draw.word(),
        graph_edge_count: draw.word(),
        frontier_density: draw.flag().then(|| Bps(draw.word())),
        memory_pressure: draw.flag().then(|| Bps(draw.word())),
        resident_device_bytes: draw.long(),
        device_memory_budget_bytes: draw.long(),
    }
}
