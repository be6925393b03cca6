//! Properties of launch plans.

use proptest::prelude::*;
use seawall_core::launch::{
    AdapterLimits, LaunchMode, LaunchPolicy, LaunchRequest, LaunchThresholds, LaunchTopology,
    QueuePressure, RequeueAccount,
};
use seawall_core::ratio::Bps;

const LIMITS: AdapterLimits = AdapterLimits {
    max_workgroup_size_x: 1_024,
    max_compute_workgroups_per_dimension: 65_535,
    max_compute_invocations_per_workgroup: 1_024,
};

fn any_topology() -> impl Strategy<Value = Option<LaunchTopology>> {
    prop::sample::select(
        &[
            None,
            Some(LaunchTopology::Empty),
            Some(LaunchTopology::Sparse),
            Some(LaunchTopology::Hybrid),
            Some(LaunchTopology::Dense),
            Some(LaunchTopology::FusedDense),
            Some(LaunchTopology::MemoryConstrained),
        ][..],
    )
}

prop_compose! {
    fn any_request()(
        sizes in any::<[u32; 9]>(),
        ages in any::<(u64, u32)>(),
        graph in any::<(u32, u32)>(),
        density in any::<Option<u32>>(),
        pressure in any::<Option<u32>>(),
        bytes in any::<(u64, u64)>(),
        shift in 0..32u32,
    ) -> LaunchRequest {
        LaunchRequest {
            queue_len: sizes[0] >> shift,
            requested_worker_groups: sizes[1] >> shift,
            limits: AdapterLimits {
                max_workgroup_size_x: sizes[2] >> shift,
                max_compute_workgroups_per_dimension: sizes[3] >> shift,
                max_compute_invocations_per_workgroup: sizes[4] >> shift,
            },
            requested_hit_capacity: sizes[5] >> shift,
            expected_hits_per_item: sizes[6] >> shift,
            hot_opcode_count: sizes[7] >> 28,
            hot_window_count: sizes[8] >> 28,
            requeue_count: ages.0 >> shift,
            max_priority_age: ages.1 >> shift,
            graph_node_count: graph.0,
            graph_edge_count: graph.1,
            frontier_density: density.map(|density| Bps(density >> 18)),
            memory_pressure: pressure.map(|pressure| Bps(pressure >> 18)),
            resident_device_bytes: bytes.0 >> shift,
            device_memory_budget_bytes: bytes.1,
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]

    #[test]
    fn a_plan_covers_its_queue_within_its_limits(
        request in any_request(), previous in any_topology(),
    ) {
        let Ok(plan) = LaunchPolicy::STANDARD.plan(&request, previous) else { return Ok(()) };
        let limits = &request.limits;
        prop_assert!(plan.lanes_per_group <= limits.max_workgroup_size_x.min(256));
        prop_assert!(plan.lanes_per_group <= limits.max_compute_invocations_per_workgroup);
        prop_assert!(plan.worker_groups <= limits.max_compute_workgroups_per_dimension);
        prop_assert!(plan.grid_groups <= plan.worker_groups);
        let budget = request.device_memory_budget_bytes;
        prop_assert!(budget == 0 || plan.estimated_peak_bytes <= budget);
        if request.queue_len == 0 {
            prop_assert_eq!(plan.topology, LaunchTopology::Empty);
            prop_assert_eq!((plan.grid_groups, plan.slot_count), (0, 0));
        } else {
            prop_assert!(plan.grid_groups >= 1 && plan.hit_capacity >= 1);
            prop_assert!(plan.slot_count >= request.queue_len);
            prop_assert!(plan.slot_count - request.queue_len < plan.lanes_per_group);
            prop_assert_eq!(plan.slot_count % plan.lanes_per_group, 0);
        }
    }

    #[test]
    fn any_thresholds_plan_without_harm(
        request in any_request(), previous in any_topology(), words in any::<[u32; 15]>(),
    ) {
        let [
            hit_capacity_min, hit_multiplier, saturated_waves, hot_opcode_min, hot_window_min,
            fused_queue_min, priority_age_min, sparse, dense, memory, fusion_edges_min,
            bytes_per_hit, density_hysteresis_bps, memory_hysteresis_bps, lanes_max,
        ] = words;
        let dense_density_min_bps = dense % 10_001;
        let policy = LaunchPolicy::new(LaunchThresholds {
            hit_capacity_min, hit_multiplier, saturated_waves, hot_opcode_min, hot_window_min,
            fused_queue_min, priority_age_min,
            sparse_density_max_bps: sparse % (dense_density_min_bps + 1),
            dense_density_min_bps,
            memory_pressure_min_bps: memory % 10_001,
            fusion_edges_min, bytes_per_hit, density_hysteresis_bps, memory_hysteresis_bps,
            lanes_max,
        });
        let Ok(plan) = policy.unwrap().plan(&request, previous) else { return Ok(()) };
        prop_assert!(plan.lanes_per_group > 0 && plan.lanes_per_group <= lanes_max.max(1));
    }

    #[test]
    fn an_unknown_density_is_not_a_sparse_one(queue_len in 1..10_000u32) {
        let request = LaunchRequest { queue_len, limits: LIMITS, ..LaunchRequest::default() };
        let unknown = LaunchPolicy::STANDARD.plan(&request, None).unwrap();
        prop_assert_eq!(unknown.topology, LaunchTopology::Hybrid);
        let given = LaunchRequest { frontier_density: Some(Bps(0)), ..request };
        let zero = LaunchPolicy::STANDARD.plan(&given, None).unwrap();
        prop_assert_eq!(zero.topology, LaunchTopology::Sparse);
    }

    #[test]
    fn more_pressure_never_launches_more_groups(
        queue_len in 1..1_000_000u32, pressure in 8_500..10_000u32,
    ) {
        let groups = |pressure| {
            let memory_pressure = Some(Bps(pressure));
            let request =
                LaunchRequest { queue_len, limits: LIMITS, memory_pressure, ..Default::default() };
            LaunchPolicy::STANDARD.plan(&request, None).unwrap().worker_groups
        };
        prop_assert!(groups(pressure + 1) <= groups(pressure));
    }
}

#[test]
fn requeued_items_saturate_and_age_the_next_launch() {
    let mut account = RequeueAccount {
        requeues: u64::MAX - 1,
        ..RequeueAccount::default()
    };
    for age in [1, 40, 7] {
        account.record(&LaunchPolicy::STANDARD, age);
    }
    assert_eq!(account.requeues, u64::MAX, "counters saturate");
    assert_eq!((account.aged_promotions, account.max_age), (1, 40));
    let request = LaunchRequest {
        queue_len: 10,
        limits: LIMITS,
        ..LaunchRequest::default()
    };
    let plan = LaunchPolicy::STANDARD
        .plan(&account.apply(request), None)
        .unwrap();
    assert_eq!(plan.pressure, QueuePressure::Saturated);
    assert_eq!(plan.mode, LaunchMode::Interpreter);
    assert!(plan.age_priority_work);
}
