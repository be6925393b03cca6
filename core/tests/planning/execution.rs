//! Executions: accepted plans fit, and a refusal names the least budget that works.

use crate::arena::assert_sound;
use crate::support::*;
use proptest::prelude::*;
use seawall_core::cache::{AnalysisKind, DeviceKey, Identity, PlanCache, Subject};
use seawall_core::error::GroupError;
use seawall_core::launch::{AdapterLimits, LaunchPolicy, LaunchRequest};
use seawall_core::plan::execution::{Chooser, Dispatch, Leeway, OverBudget, Request, least_budget};
use seawall_core::plan::{
    ArenaOptions, Budget, Dag, Dependency, Execution, ExecutionError, Requirements, Results,
    Strategy as Grouping, Wave, execution,
};
use seawall_core::ratio::{Bps, Ppm};
use seawall_core::scratch::ExecutionScratch;
use seawall_core::topology::{Signals, Topology, TopologyPolicy};

const POLICY: TopologyPolicy = TopologyPolicy::DEFAULT;

fn subject() -> Subject {
    Subject::new(Identity {
        graph_layout_hash: 1,
        analysis: AnalysisKind::Dataflow,
        device: DeviceKey {
            grid_sync: true,
            ..DeviceKey::default()
        },
    })
}

fn plan<'a>(
    request: &Request<'a>,
    buffers: &'a mut Buffers,
) -> Result<Execution<'a>, ExecutionError> {
    execution(
        request,
        Chooser::plain(&POLICY, &mut subject()),
        buffers.execution(),
    )
}

fn outputs(bytes: &[u64]) -> Vec<Wave> {
    let wave = |bytes: &u64| Wave {
        output_bytes: *bytes,
        ..Wave::default()
    };
    bytes.iter().map(wave).collect()
}

fn chain(waves: u32) -> Vec<Dependency> {
    let link = |before| Dependency {
        before,
        after: before + 1,
    };
    (0..waves.saturating_sub(1)).map(link).collect()
}

fn budget(budget_bytes: u64) -> Budget {
    Budget {
        budget_bytes,
        ..Budget::default()
    }
}

const KIB: u64 = 1024;

#[test]
fn results_that_do_not_fit_together_are_refused_with_the_budget_that_works() {
    let waves = outputs(&[60 * KIB, 60 * KIB, 40 * KIB]);
    let dag = Dag {
        waves: &waves,
        dependencies: &[],
    };
    let mut scratch = ExecutionScratch::<3, 0>::new();
    let request = Request::new(dag, budget(100 * KIB));
    let mut subject = subject();
    let refused = execution(
        &request,
        Chooser::plain(&POLICY, &mut subject),
        &mut scratch,
    );
    let least = OverBudget {
        required_bytes: 160 * KIB,
        budget_bytes: 100 * KIB,
    };
    assert_eq!(refused.unwrap_err(), ExecutionError::OverBudget(least));
    assert_eq!(subject.latest(), None);
    // Results that are read after their group can share memory.
    let leeway = Leeway {
        early_results: true,
        ..Leeway::default()
    };
    let request = Request { leeway, ..request };
    let plan = execution(
        &request,
        Chooser::plain(&POLICY, &mut subject),
        &mut scratch,
    )
    .unwrap();
    assert_eq!((plan.arena.bytes(), plan.results_stay), (100 * KIB, false));
    assert_eq!(plan.groups.len(), 2);
}

#[test]
fn a_chain_is_followed_to_its_end_where_memory_is_short() {
    // Four chains of three waves; layer by layer four large outputs are alive.
    let waves = outputs(&[256, 1024, 256].repeat(4));
    let dependencies: Vec<_> = (0..4)
        .flat_map(|chain| {
            let first = 3 * chain;
            [(first, first + 1), (first + 1, first + 2)]
        })
        .map(|(before, after)| Dependency { before, after })
        .collect();
    let dag = Dag {
        waves: &waves,
        dependencies: &dependencies,
    };
    let (groups, arena): (Vec<_>, Vec<_>) = [u64::MAX, 4096, 3072, 2048]
        .into_iter()
        .map(|bytes| {
            let mut scratch = ExecutionScratch::<12, 8>::new();
            let request = Request::new(dag, budget(bytes));
            let mut subject = subject();
            let plan = execution(
                &request,
                Chooser::plain(&POLICY, &mut subject),
                &mut scratch,
            )
            .unwrap();
            assert!(plan.arena.bytes() <= bytes);
            (plan.groups.len(), plan.arena.bytes())
        })
        .unzip();
    assert!(groups.is_sorted() && groups[0] < groups[3], "{groups:?}");
    assert!(arena.is_sorted_by(|a, b| a >= b), "{arena:?}");
    let mut scratch = ExecutionScratch::<12, 8>::new();
    assert_eq!(
        least_budget(&Request::new(dag, budget(0)), &mut scratch),
        Ok(2048)
    );
}

#[test]
fn the_arena_holds_as_many_copies_of_scratch_as_the_topology() {
    let wave = Wave {
        frontier_bytes: 0,
        scratch_bytes: 2048,
        output_bytes: 0,
    };
    let dag = Dag {
        waves: &[wave],
        dependencies: &[],
    };
    for (density, topology, copies) in [
        (500_000, Topology::Hybrid, 3),
        (750_000, Topology::Dense, 2),
        (900_000, Topology::BlockDense, 2),
        (100_000, Topology::Sparse, 1),
    ] {
        let signals = Signals {
            nodes: 10,
            edges: 40,
            frontier_density: Ppm(density),
            ..Signals::default()
        };
        let mut scratch = ExecutionScratch::<1, 0>::new();
        let request = Request {
            signals,
            ..Request::new(dag, budget(1 << 20))
        };
        let mut subject = subject();
        let plan = execution(
            &request,
            Chooser::plain(&POLICY, &mut subject),
            &mut scratch,
        )
        .unwrap();
        assert_eq!(plan.memory.topology, topology);
        assert_eq!(plan.arena.bytes(), copies * 2048);
        assert_eq!(plan.required_bytes, copies * 2048);
        assert_eq!(subject.latest(), Some(topology));
    }
}

#[test]
fn a_dispatch_is_sized_beside_the_plan() {
    let waves = outputs(&[4096]);
    let dag = Dag {
        waves: &waves,
        dependencies: &[],
    };
    let launches = LaunchPolicy::STANDARD;
    let request = |budget_bytes| Request {
        dispatch: Some(Dispatch {
            policy: &launches,
            request: LaunchRequest {
                queue_len: 1000,
                limits: AdapterLimits {
                    max_workgroup_size_x: 256,
                    max_compute_workgroups_per_dimension: 1024,
                    max_compute_invocations_per_workgroup: 256,
                },
                ..LaunchRequest::default()
            },
        }),
        ..Request::new(dag, budget(budget_bytes))
    };
    let mut buffers = Buffers::sized(Requirements::for_dag(1, 0));
    let plan = self::plan(&request(1 << 20), &mut buffers).unwrap();
    let launch = plan.launch.expect("a dispatch was asked for");
    assert_eq!(launch.estimated_peak_bytes, plan.required_bytes + 16 * 2000);
    let error = self::plan(&request(5000), &mut buffers).unwrap_err();
    assert_eq!(error.kind(), "out_of_memory");
}

fn any_request_bytes() -> impl Strategy<Value = (u64, u64, bool, bool, bool)> {
    (
        0u64..=120,
        0u64..1000,
        any::<bool>(),
        any::<bool>(),
        any::<bool>(),
    )
}

fn request<'a>(
    program: &'a Program,
    (share, resident_bytes, packed, early_results, fine): (u64, u64, bool, bool, bool),
) -> Request<'a> {
    let whole: u64 = program.fused().iter().sum();
    let dag = program.dag();
    Request {
        strategy: if packed {
            Grouping::Packed
        } else {
            Grouping::InOrder
        },
        arena: ArenaOptions {
            alignment_bytes: 16,
            ..ArenaOptions::default()
        },
        leeway: Leeway {
            least_alignment_bytes: u64::from(fine),
            early_results,
            fixed_groups: false,
        },
        ..Request::new(
            dag,
            Budget {
                resident_bytes,
                budget_bytes: resident_bytes + whole * share / 100,
                readback_bytes: 0,
            },
        )
    }
}

fn with_budget<'a>(request: &Request<'a>, budget_bytes: u64) -> Request<'a> {
    Request {
        budget: Budget {
            budget_bytes,
            ..request.budget
        },
        ..*request
    }
}

proptest! {
    #[test]
    fn an_accepted_plan_fits_and_is_sound(
        program in any_program(24),
        bytes in any_request_bytes(),
        density in 0u32..=1_000_000,
        fusion in 0u32..=10_000,
    ) {
        let signals = Signals {
            nodes: 100,
            edges: 400,
            frontier_density: Ppm(density),
            fusion_pressure: Bps(fusion),
            readback_bytes: 4096,
            dispatch_cost_ns: 10,
            launch_overhead_ns: 10,
            ..Signals::default()
        };
        let request = Request { signals, ..request(&program, bytes) };
        let mut buffers = Buffers::for_program(&program);
        if let Ok(plan) = plan(&request, &mut buffers) {
            let Budget { resident_bytes, budget_bytes, .. } = request.budget;
            let most = budget_bytes - resident_bytes;
            prop_assert!(plan.arena.bytes() <= most);
            prop_assert!(plan.groups.summary().peak_group_bytes <= most);
            prop_assert!(plan.memory.required_bytes <= plan.required_bytes);
            prop_assert!(plan.required_bytes <= budget_bytes);
            prop_assert!(plan.required_bytes >= resident_bytes + plan.arena.bytes());
            prop_assert_eq!(
                plan.downgraded,
                plan.decision.topology != plan.memory.topology
            );
            let groups: Vec<Vec<u32>> = plan.groups.iter().map(|group| ids(group.waves)).collect();
            for Dependency { before, after } in &program.dependencies {
                let of = |wave| groups.iter().position(|group| group.contains(wave));
                prop_assert!(of(before) < of(after));
            }
            let results = if plan.results_stay { Results::Sinks } else { Results::None };
            let layout = Layout {
                bytes: plan.arena.bytes(),
                lower_bound: plan.arena.lower_bound(),
                offsets: plan.arena.iter().collect(),
                groups,
            };
            assert_sound(&program, &layout, &ArenaOptions {
                alignment_bytes: plan.arena.alignment_bytes(),
                results,
                topology: plan.memory.topology,
            });
        }
    }

    #[test]
    fn a_refusal_names_the_least_budget_that_works(
        program in any_program(20),
        bytes in any_request_bytes(),
    ) {
        let request = request(&program, bytes);
        let mut buffers = Buffers::for_program(&program);
        let least = least_budget(&request, buffers.execution()).unwrap();
        match plan(&request, &mut buffers) {
            Ok(_) => prop_assert!(request.budget.budget_bytes >= least),
            Err(ExecutionError::OverBudget(refused)) => {
                prop_assert_eq!(refused.required_bytes, least);
                prop_assert_eq!(refused.budget_bytes, request.budget.budget_bytes);
            }
            Err(ExecutionError::Groups(
                GroupError::WaveOverBudget { .. } | GroupError::ResidentOverBudget { .. },
            )) => prop_assert!(request.budget.budget_bytes < least),
            Err(other) => prop_assert!(false, "{}", other),
        }
        prop_assert!(plan(&with_budget(&request, least), &mut buffers).is_ok());
        if let Some(less) = least.checked_sub(1) {
            prop_assert!(plan(&with_budget(&request, less), &mut buffers).is_err());
        }
    }

    #[test]
    fn a_cache_changes_no_plan(
        program in any_program(12),
        densities in prop::collection::vec(0u32..=1_000_000, 1..12),
        bytes in any_request_bytes(),
    ) {
        let request = request(&program, bytes);
        let mut cache = PlanCache::<2>::new(POLICY);
        let (mut plain, mut cached) = (subject(), subject());
        for density in densities {
            let signals = Signals { nodes: 9, edges: 70, frontier_density: Ppm(density), ..Signals::default() };
            let request = Request { signals, ..request };
            let mut buffers = Buffers::for_program(&program);
            let expected = execution(&request, Chooser::plain(&POLICY, &mut plain), buffers.execution())
                .map(|plan| (plan.decision, plan.memory, plan.arena.bytes()));
            let found = execution(&request, Chooser::cached(&mut cache, &mut cached), buffers.execution())
                .map(|plan| (plan.decision, plan.memory, plan.arena.bytes()));
            prop_assert_eq!(found, expected);
            prop_assert_eq!(cached, plain);
        }
    }

    #[test]
    fn every_buffer_that_is_one_entry_short_is_refused(
        program in any_program(8),
        which in 0usize..6,
    ) {
        let mut needs = Requirements::for_dag(program.waves.len(), program.dependencies.len());
        let field = [
            &mut needs.layer_words,
            &mut needs.dependency_words,
            &mut needs.pack_words,
            &mut needs.pack_bytes,
            &mut needs.arena_words,
            &mut needs.arena_offsets,
        ];
        let field = field.into_iter().nth(which).unwrap();
        prop_assume!(*field > 0);
        *field -= 1;
        let mut buffers = Buffers::sized(needs);
        let request = Request::new(program.dag(), budget(u64::MAX));
        let refused = plan(&request, &mut buffers);
        prop_assert_eq!(refused.unwrap_err().kind(), "scratch_too_small");
    }
}

#[test]
fn groups_that_are_fixed_are_those_of_the_strategy_or_none() {
    let mut random = Random(7);
    let mut kept = 0;
    for _ in 0..400 {
        let program = random.program(12, 20, 1000);
        let budget = random.budget(&program);
        let request = Request {
            strategy: Grouping::InOrder,
            arena: ArenaOptions {
                alignment_bytes: 1,
                ..ArenaOptions::default()
            },
            leeway: Leeway {
                fixed_groups: true,
                ..Leeway::default()
            },
            ..Request::new(program.dag(), budget)
        };
        let mut buffers = Buffers::for_program(&program);
        let asked = plan_groups(&program, &budget, Grouping::InOrder).unwrap();
        match plan(&request, &mut buffers) {
            Ok(plan) => {
                let found: Vec<_> = plan.groups.iter().map(|group| ids(group.waves)).collect();
                assert_eq!(found, asked.groups);
                kept += 1;
            }
            Err(ExecutionError::OverBudget(refused)) => {
                let works = with_budget(&request, refused.required_bytes);
                assert!(plan(&works, &mut buffers).is_ok());
            }
            Err(other) => panic!("{other}"),
        }
    }
    assert!((50..350).contains(&kept), "{kept} of 400 kept");
}

#[test]
fn a_chain_needs_what_two_neighbours_take() {
    let waves = outputs(&[60, 60, 40]);
    let dependencies = chain(3);
    let dag = Dag {
        waves: &waves,
        dependencies: &dependencies,
    };
    let mut buffers = Buffers::sized(Requirements::for_dag(3, 2));
    let request = |bytes| Request {
        arena: ArenaOptions {
            alignment_bytes: 4,
            ..ArenaOptions::default()
        },
        ..Request::new(dag, budget(bytes))
    };
    let refused = plan(&request(100), &mut buffers).unwrap_err();
    assert!(
        refused.to_string().contains("takes 120 of 100"),
        "{refused}"
    );
    assert_eq!(plan(&request(120), &mut buffers).unwrap().groups.len(), 3);
}
