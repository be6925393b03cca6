//! A cache never changes an answer, and behaves like a baseline list.

use proptest::prelude::*;
use seawall_core::cache::{AnalysisKind, CacheCounters, DeviceKey, Identity, PlanCache, Subject};
use seawall_core::ratio::{Bps, Ppm};
use seawall_core::topology::memory::{ExecutionRequest, Footprint};
use seawall_core::topology::{Metrics, Signals, Topology, TopologyPolicy};

const POLICY: TopologyPolicy = TopologyPolicy::DEFAULT;

/// One call of a cache, about one of a few identities.
#[derive(Clone, Debug)]
enum Call {
    Select(usize, Signals),
    Plan(usize, ExecutionRequest),
    Clear,
}

fn identities() -> [Identity; 6] {
    let device = DeviceKey {
        grid_sync: true,
        warp_size: 32,
        ..DeviceKey::default()
    };
    let identity = Identity {
        graph_layout_hash: 1,
        analysis: AnalysisKind::Custom(0),
        device,
    };
    let no_grid_sync = DeviceKey {
        grid_sync: false,
        ..device
    };
    [
        identity,
        Identity {
            graph_layout_hash: 2,
            ..identity
        },
        Identity {
            graph_layout_hash: 1 << 63,
            ..identity
        },
        Identity {
            analysis: AnalysisKind::Custom(1),
            ..identity
        },
        Identity {
            analysis: AnalysisKind::Dataflow,
            ..identity
        },
        Identity {
            device: no_grid_sync,
            ..identity
        },
    ]
}

/// Values on both sides of each of these, and sometimes any others.
fn around(thresholds: &'static [u32], max: u32) -> impl Strategy<Value = u32> {
    let near = prop::sample::select(thresholds)
        .prop_flat_map(move |t| t.saturating_sub(2)..=t.saturating_add(2).min(max));
    prop_oneof![4 => near, 1 => 0..=max]
}

fn density() -> impl Strategy<Value = Ppm> {
    around(&[31_250, 56_250, 125_000, 700_000, 850_000], 1_000_000).prop_map(Ppm)
}

prop_compose! {
    fn signals()(
        frontier_density in density(),
        readback in around(&[4_096], 9_000),
        degree in around(&[2, 8], 40),
        memory in around(&[8_500, 8_750, 9_000], 10_000),
        launch in around(&[1_250, 1_500], 9_000),
        fusion in around(&[6_000, 7_000], 10_000),
    ) -> Signals {
        Signals {
            dispatch_cost_ns: 10_000,
            frontier_density,
            readback_bytes: readback.into(),
            nodes: 100,
            edges: u64::from(degree) * 100,
            required_bytes: memory.into(),
            budget_bytes: 10_000,
            launch_overhead_ns: launch.into(),
            fusion_pressure: Bps(fusion),
        }
    }
}

prop_compose! {
    fn request()(signals in signals(), scratch_bytes in 0..4_000u64) -> ExecutionRequest {
        ExecutionRequest {
            footprint: Footprint {
                nodes: signals.nodes,
                edges: signals.edges,
                bytes_per_node: 8,
                bytes_per_edge: 4,
                frontier_bytes: signals.required_bytes / 2,
                scratch_bytes,
                output_bytes: 100,
                budget_bytes: 12_000,
            },
            dispatch_cost_ns: signals.dispatch_cost_ns,
            frontier_density: signals.frontier_density,
            readback_bytes: signals.readback_bytes,
            launch_overhead_ns: signals.launch_overhead_ns,
            fusion_pressure: signals.fusion_pressure,
        }
    }
}

fn calls() -> impl Strategy<Value = Vec<Call>> {
    let call = prop_oneof![
        30 => (0..6usize, signals()).prop_map(|(who, signals)| Call::Select(who, signals)),
        30 => (0..6usize, request()).prop_map(|(who, request)| Call::Plan(who, request)),
        1 => Just(Call::Clear),
    ];
    prop::collection::vec(call, 1..200)
}

/// Interval of thresholds in which each metric lies, from the numbers of the rules.
type Sides = (bool, bool, bool, bool, bool, usize, usize);

fn sides(m: &Metrics) -> Sides {
    let passed = |value: u64, firsts: &[u64]| firsts.iter().filter(|&&t| value >= t).count();
    (
        m.memory_pressure_bps > 8_500,
        m.memory_pressure_bps >= 9_000,
        m.fusion_pressure_bps >= 7_000,
        m.launch_pressure_bps >= 1_500,
        m.readback_bytes >= 4_096,
        passed(m.density_ppm.into(), &[31_251, 125_001, 700_000, 850_000]),
        passed(m.average_degree_bps, &[20_000, 80_001]),
    )
}

/// A bounded list, most recently used last, with the topology each identity used last.
struct Baseline {
    capacity: usize,
    keys: Vec<(usize, Sides)>,
    counters: CacheCounters,
    latest: [Option<Topology>; 6],
}

impl Baseline {
    fn look_up(&mut self, key: (usize, Sides)) {
        if let Some(at) = self.keys.iter().position(|stored| *stored == key) {
            self.keys.remove(at);
            self.keys.push(key);
            self.counters.hits += 1;
            return;
        }
        self.counters.misses += 1;
        if self.capacity == 0 {
            return;
        }
        if self.keys.len() == self.capacity {
            self.keys.remove(0);
            self.counters.evictions += 1;
        }
        self.keys.push(key);
        self.counters.insertions += 1;
    }

    /// The signals as the identity's device sees them; the last one cannot fuse.
    fn admit(who: usize, signals: &Signals) -> Signals {
        let mut seen = *signals;
        if who == 5 {
            seen.fusion_pressure = Bps(0);
        }
        seen
    }
}

fn run<const N: usize>(calls: &[Call]) -> Result<(), TestCaseError> {
    let mut cache = PlanCache::<N>::new(POLICY);
    let mut subjects = identities().map(Subject::new);
    let mut baseline = Baseline {
        capacity: N,
        keys: Vec::new(),
        counters: CacheCounters::default(),
        latest: [None; 6],
    };
    for call in calls {
        match call {
            Call::Select(who, signals) => {
                let seen = Baseline::admit(*who, signals);
                baseline.look_up((*who, sides(&seen.metrics())));
                let expected = POLICY.select(&seen, baseline.latest[*who]);
                baseline.latest[*who] = Some(expected.topology);
                prop_assert_eq!(cache.select(&mut subjects[*who], signals), expected);
            }
            Call::Plan(who, request) => {
                let mut seen = *request;
                seen.fusion_pressure = Baseline::admit(*who, &request.signals(0)).fusion_pressure;
                if let Ok(sparse) = request.footprint.plan(Topology::Sparse) {
                    let metrics = seen.signals(sparse.required_bytes).metrics();
                    baseline.look_up((*who, sides(&metrics)));
                }
                let expected = POLICY.plan_execution(&seen, baseline.latest[*who]);
                if let Ok(plan) = expected {
                    baseline.latest[*who] = Some(plan.memory.topology);
                }
                prop_assert_eq!(cache.plan(&mut subjects[*who], request), expected);
            }
            Call::Clear => {
                baseline.keys.clear();
                cache.clear();
            }
        }
        prop_assert_eq!(cache.counters(), baseline.counters);
        prop_assert_eq!(cache.len(), baseline.keys.len());
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn a_cached_answer_equals_the_uncached_one(calls in calls()) {
        run::<0>(&calls)?;
        run::<1>(&calls)?;
        run::<2>(&calls)?;
        run::<7>(&calls)?;
        run::<64>(&calls)?;
    }

    #[test]
    fn a_subject_answers_like_the_policy(
        signals in prop::collection::vec(signals(), 1..40),
        request in request(),
    ) {
        let mut subject = Subject::new(identities()[0]);
        let mut latest = None;
        for signals in &signals {
            let expected = POLICY.select(signals, latest);
            latest = Some(expected.topology);
            prop_assert_eq!(subject.select(&POLICY, signals), expected);
        }
        let expected = POLICY.plan_execution(&request, latest);
        prop_assert_eq!(subject.plan(&POLICY, &request), expected);
    }
}

#[test]
fn a_downgrade_is_what_hysteresis_sees_next() {
    let mut subject = Subject::new(identities()[0]);
    let mut cache = PlanCache::<4>::new(POLICY);
    let request = ExecutionRequest {
        footprint: Footprint {
            nodes: 100,
            edges: 400,
            scratch_bytes: 800,
            budget_bytes: 1_000,
            ..Footprint::default()
        },
        frontier_density: Ppm(500_000),
        ..ExecutionRequest::default()
    };
    let plan = cache.plan(&mut subject, &request).unwrap();
    assert!(
        plan.downgraded,
        "three times 800 bytes of scratch exceed the budget"
    );
    assert_eq!(subject.latest(), Some(Topology::Sparse));
}

#[test]
fn many_keys_fill_a_large_cache_exactly() {
    let mut cache = PlanCache::<1000>::new(POLICY);
    let signals = Signals::default();
    let subject = |hash| {
        Subject::new(Identity {
            graph_layout_hash: hash,
            ..identities()[0]
        })
    };
    for round in 0..3 {
        for hash in 0..1000 {
            cache.select(&mut subject(hash), &signals);
        }
        assert_eq!(cache.counters().hits, round * 1000);
    }
    assert_eq!((cache.len(), cache.counters().evictions), (1000, 0));
    cache.select(&mut subject(1000), &signals);
    cache.select(&mut subject(0), &signals);
    assert_eq!(cache.counters().evictions, 2, "the oldest key went first");
}
