//! The C interface returns the plans of the Rust interface, and refuses bad pointers with a code.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs, ptr};

use seawall_capi as c;
use seawall_core::plan::{self, Budget, Dag, Dependency, Wave};
use seawall_core::scratch::{ExecutionScratch, Scratch};
use seawall_oracles::random::Random;

/// The program of `core/capi/examples/plan.c`.
const WAVES: [(u64, u64, u64); 6] = [
    (64, 16, 256),
    (64, 16, 256),
    (128, 32, 512),
    (64, 16, 256),
    (128, 32, 512),
    (64, 16, 64),
];
const DEPENDENCIES: [(u32, u32); 6] = [(0, 2), (1, 2), (1, 3), (2, 4), (3, 4), (4, 5)];

fn expected_of_the_example() -> String {
    let waves = WAVES.map(|(frontier_bytes, scratch_bytes, output_bytes)| Wave {
        frontier_bytes,
        scratch_bytes,
        output_bytes,
    });
    let dependencies = DEPENDENCIES.map(|(before, after)| Dependency { before, after });
    let dag = Dag {
        waves: &waves,
        dependencies: &dependencies,
    };
    let budget = Budget {
        resident_bytes: 4096,
        budget_bytes: 6144,
        readback_bytes: 0,
    };
    let (mut layers, mut space) = (Scratch::<6, 6>::new(), ExecutionScratch::<6, 6>::new());
    let layers = plan::layers(&dag, &mut layers).unwrap();
    let request = plan::execution::Request::new(dag, budget);
    let (groups, arena) = plan::execution::layout(&request, &mut space).unwrap();
    assert!(arena.bytes() <= budget.budget_bytes - budget.resident_bytes);
    let mut text = format!("{} layers\n", layers.len());
    for (index, group) in groups.iter().enumerate() {
        let waves: String = group.waves.iter().map(|wave| format!(" {wave}")).collect();
        text += &format!("group {index}:{waves}\n");
    }
    let summary = groups.summary();
    text += &format!(
        "{} barriers, at most {} bytes per group\narena of {} bytes, at least {}\n",
        summary.global_barriers,
        summary.peak_group_bytes,
        arena.bytes(),
        arena.lower_bound()
    );
    for (wave, at) in arena.iter().enumerate() {
        let (frontier, scratch, output) = (at.frontier, at.scratch, at.output);
        text += &format!("wave {wave} at {frontier} {scratch} {output}\n");
    }
    text + "at most 64 iterations, 0 reads of the flag between them\n"
}

#[test]
fn the_c_example_prints_the_plan_of_rust() {
    let Some(compiler) = c_compiler() else {
        eprintln!("skipped: there is no C compiler `cc` (CC names another)");
        return;
    };
    let capi = Path::new(env!("CARGO_MANIFEST_DIR")).join("../core/capi");
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("plan");
    let status = Command::new(compiler)
        .args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-pedantic"])
        .arg("-I")
        .arg(capi.join("include"))
        .arg(capi.join("examples/plan.c"))
        .arg(static_library())
        .args(["-lpthread", "-ldl", "-lm", "-o"])
        .arg(&program)
        .status()
        .unwrap();
    assert!(status.success(), "the example does not compile");
    let output = Command::new(program).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        expected_of_the_example()
    );
}

/// Finds a working compiler.
fn c_compiler() -> Option<String> {
    let name = env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    let mut command = Command::new(&name);
    command.arg("--version").stdout(Stdio::null());
    command.status().ok()?.success().then_some(name)
}

/// The library for C, which Cargo has built beside this test for its dependence on the crate.
fn static_library() -> PathBuf {
    let this = env::current_exe().unwrap();
    let files = fs::read_dir(this.parent().unwrap()).unwrap();
    let libraries = files.map(|file| file.unwrap().path()).filter(|path| {
        let name = path.file_name().unwrap().to_string_lossy();
        name.starts_with("libseawall_capi-") && name.ends_with(".a")
    });
    let built = |path: &PathBuf| path.metadata().unwrap().modified().unwrap();
    libraries.max_by_key(built).expect("a static library")
}

/// Space for a program of four waves, as C would hold it.
struct Room {
    words: [Vec<u32>; 4],
    longs: [Vec<u64>; 2],
    lengths: c::Requirements,
}

impl Room {
    fn new() -> Self {
        let mut lengths = c::Requirements::default();
        // SAFETY: the record is valid for the call.
        let status = unsafe { c::seawall_requirements(4, 4, &mut lengths) };
        assert_eq!(status, c::Status::Ok);
        let words = [
            lengths.layer_words,
            lengths.dependency_words,
            lengths.pack_words,
            lengths.arena_words,
        ];
        Self {
            words: words.map(|length| vec![0; length]),
            longs: [lengths.pack_bytes, lengths.arena_offsets].map(|length| vec![0; length]),
            lengths,
        }
    }

    fn buffers(&mut self) -> c::Buffers {
        let [layers, dependencies, pack, arena] = &mut self.words;
        let [pack_bytes, arena_offsets] = &mut self.longs;
        c::Buffers {
            layer_words: layers.as_mut_ptr(),
            dependency_words: dependencies.as_mut_ptr(),
            pack_words: pack.as_mut_ptr(),
            pack_bytes: pack_bytes.as_mut_ptr(),
            arena_words: arena.as_mut_ptr(),
            arena_offsets: arena_offsets.as_mut_ptr(),
            lengths: self.lengths,
        }
    }
}

/// Plans the layers of a program, with the given buffers.
fn layers(dag: &c::Dag, buffers: &c::Buffers) -> (c::Status, [u64; 3]) {
    let mut problem = c::Problem::default();
    let mut layers = c::Layers {
        order: ptr::null(),
        wave_count: 0,
        ends: ptr::null(),
        layer_count: 0,
    };
    // SAFETY: the records are valid, and the callers' tables are as long as they say.
    let status = unsafe { c::seawall_plan_layers(dag, buffers, &mut layers, &mut problem) };
    assert_eq!(layers.order.is_null(), status != c::Status::Ok);
    (status, problem.numbers)
}

fn program(waves: &[c::Wave], dependencies: &[c::Dependency]) -> c::Dag {
    c::Dag {
        waves: waves.as_ptr(),
        wave_count: waves.len(),
        dependencies: dependencies.as_ptr(),
        dependency_count: dependencies.len(),
    }
}

const WAVE: c::Wave = c::Wave {
    frontier_bytes: 1,
    scratch_bytes: 1,
    output_bytes: 1,
};

#[test]
fn every_refusal_has_its_code_and_its_numbers() {
    let (mut space, waves) = (Room::new(), [WAVE; 5]);
    let buffers = space.buffers();
    let edge = |before, after| [c::Dependency { before, after }];
    let verdict =
        |waves: &[c::Wave], edges: &[c::Dependency]| layers(&program(waves, edges), &buffers);
    assert_eq!(verdict(&waves[..4], &edge(0, 1)).0, c::Status::Ok);
    assert_eq!(verdict(&[], &[]).0, c::Status::Ok);
    let outside = verdict(&waves[..2], &edge(0, 9));
    assert_eq!(outside, (c::Status::InvalidWave, [2, 0, 9]));
    let itself = verdict(&waves[..2], &edge(1, 1));
    assert_eq!(itself, (c::Status::SelfDependency, [1, 0, 0]));
    let small = verdict(&waves, &[]);
    assert_eq!(small, (c::Status::ScratchTooSmall, [5, 4, 0]));
    let circle = [edge(0, 1), edge(1, 0)].concat();
    let (status, [unscheduled, wave, _]) = verdict(&waves[..3], &circle);
    assert_eq!((status, unscheduled), (c::Status::Cycle, 2));
    assert!(wave < 2);
}

#[test]
fn bad_pointers_and_lengths_are_refused_before_anything_is_read() {
    let (mut space, waves) = (Room::new(), [WAVE; 2]);
    let buffers = space.buffers();
    let dag = program(&waves, &[]);
    let verdict = |dag: c::Dag, buffers: c::Buffers| layers(&dag, &buffers).0;
    let no_waves = c::Dag {
        waves: ptr::null(),
        ..dag
    };
    assert_eq!(verdict(no_waves, buffers), c::Status::NullPointer);
    let odd = c::Dag {
        waves: dag.waves.wrapping_byte_add(1),
        ..dag
    };
    assert_eq!(verdict(odd, buffers), c::Status::Misaligned);
    let endless = c::Dag {
        wave_count: usize::MAX,
        ..dag
    };
    assert_eq!(verdict(endless, buffers), c::Status::InvalidLength);
    let no_space = c::Buffers {
        layer_words: ptr::null_mut(),
        ..buffers
    };
    assert_eq!(verdict(dag, no_space), c::Status::NullPointer);
    let (mut problem, nothing) = (c::Problem::default(), ptr::null_mut());
    // SAFETY: null results are refused before anything is written.
    let status = unsafe { c::seawall_plan_layers(&dag, &buffers, nothing, &mut problem) };
    assert_eq!(status, c::Status::NullPointer);
}

/// Returns the contract of a request, or the refusal with its first number.
fn contract([most, bytes, polls]: [u32; 3]) -> Result<c::Convergence, (c::Status, u64)> {
    let request = c::ConvergenceRequest {
        max_device_iterations: most,
        changed_flag_bytes: bytes,
        requested_host_iteration_polls: polls,
    };
    let (mut contract, mut problem) = (c::Convergence::default(), c::Problem::default());
    // SAFETY: the pointers come from references to different values.
    match unsafe { c::seawall_convergence(&request, &mut contract, &mut problem) } {
        c::Status::Ok => Ok(contract),
        refused => Err((refused, problem.numbers[0])),
    }
}

#[test]
fn a_convergence_contract_is_made_or_refused_with_a_code() {
    let made = contract([64, 4, 0]).unwrap();
    let expected = c::Convergence {
        max_device_iterations: 64,
        host_sync_points: 1,
        changed_flag_readback_bytes: 4,
        host_iteration_polls: 0,
    };
    assert_eq!(made, expected);
    for (request, status, number) in [
        ([0, 8, 3], c::Status::EmptyIterationBudget, 0),
        ([1, 8, 3], c::Status::InvalidChangedFlagWidth, 8),
        ([1, 4, 3], c::Status::HostPolledConvergence, 3),
    ] {
        assert_eq!(contract(request), Err((status, number)));
    }
    // SAFETY: null records are refused before anything is read or written.
    let status = unsafe { c::seawall_convergence(ptr::null(), ptr::null_mut(), ptr::null_mut()) };
    assert_eq!(status, c::Status::NullPointer);
}

#[test]
fn a_fixpoint_continues_until_nothing_changes_or_the_limit() {
    let contract = contract([5, 4, 0]).unwrap();
    let after = |contract: &c::Convergence, iteration, flag| {
        let (mut progress, problem) = (c::Progress::Running, ptr::null_mut());
        // SAFETY: the pointers come from references to different values, or are null.
        let status = unsafe {
            c::seawall_convergence_after(contract, iteration, flag, &mut progress, problem)
        };
        (status, progress)
    };
    for (iteration, flag, progress) in [
        (1, 1, c::Progress::Running),
        (2, 1, c::Progress::Converged),
        (5, 5, c::Progress::Exhausted),
        (5, 4, c::Progress::Converged),
    ] {
        assert_eq!(after(&contract, iteration, flag), (c::Status::Ok, progress));
    }
    let endless = c::Convergence::default();
    assert_eq!(after(&endless, 1, 1).0, c::Status::EmptyIterationBudget);
}

#[test]
fn codes_and_names_of_outcomes_match() {
    for number in 0..64 {
        let Some(status) = c::Status::from_number(number) else {
            continue;
        };
        assert_eq!(status as u32, number);
        // SAFETY: the function returns static, zero-terminated strings.
        let name = unsafe { std::ffi::CStr::from_ptr(c::seawall_status_name(number)) };
        assert_eq!(name, status.name());
    }
    assert_eq!(c::Status::from_number(5), None);
}

/// A request for two chained waves under a budget.
fn execution_request(dag: c::Dag, budget_bytes: u64) -> c::ExecutionRequest {
    c::ExecutionRequest {
        dag,
        budget: c::Budget {
            resident_bytes: 20,
            budget_bytes,
            readback_bytes: 0,
        },
        arena: c::ArenaOptions {
            alignment_bytes: 1,
            result_words: ptr::null(),
            result_word_count: 0,
        },
        least_alignment_bytes: 0,
        strategy: c::Strategy::Packed as u32,
        early_results: 0,
        fixed_groups: 0,
        grid_sync: 1,
        previous: u32::MAX,
        signals: c::Signals {
            nodes: 10,
            edges: 40,
            frontier_density_ppm: 500_000,
            ..c::Signals::default()
        },
        launch: ptr::null(),
    }
}

/// The outcome of one request, in separate buffers.
fn execution(request: &c::ExecutionRequest) -> (c::Status, [u64; 3], Option<c::Execution>) {
    let mut space = Room::new();
    let mut problem = c::Problem::default();
    let mut found = std::mem::MaybeUninit::uninit();
    let mut offsets = [c::Offsets {
        frontier: 0,
        scratch: 0,
        output: 0,
    }; 4];
    // SAFETY: the records are valid, and tables and buffers are as long as they say.
    let status = unsafe {
        c::seawall_plan_execution(
            request,
            &space.buffers(),
            found.as_mut_ptr(),
            offsets.as_mut_ptr(),
            &mut problem,
        )
    };
    // SAFETY: a call that succeeds has written its result.
    let found = (status == c::Status::Ok).then(|| unsafe { found.assume_init() });
    (status, problem.numbers, found)
}

/// Plans groups and arena; returns the status, the numbers and the arena's bytes.
fn planned(dag: &c::Dag, budget_bytes: u64) -> (c::Status, [u64; 3], u64) {
    let budget = c::Budget {
        resident_bytes: 100,
        budget_bytes,
        readback_bytes: 0,
    };
    let options = c::ArenaOptions {
        alignment_bytes: 8,
        result_words: ptr::null(),
        result_word_count: 0,
    };
    let mut space = Room::new();
    let mut groups = std::mem::MaybeUninit::<c::Groups>::uninit();
    let mut arena = c::Arena {
        bytes: 0,
        lower_bound: 0,
    };
    let mut offsets = [c::Offsets {
        frontier: 0,
        scratch: 0,
        output: 0,
    }; 4];
    let mut problem = c::Problem::default();
    // SAFETY: the records are valid, and there is space for the offsets of four waves.
    let status = unsafe {
        c::seawall_plan(
            dag,
            &budget,
            &options,
            &space.buffers(),
            groups.as_mut_ptr(),
            &mut arena,
            offsets.as_mut_ptr(),
            &mut problem,
        )
    };
    (status, problem.numbers, arena.bytes)
}

#[test]
fn no_arena_exceeds_its_budget_and_any_refusal_names_the_least() {
    let mut random = Random::new(5);
    for _ in 0..100 {
        let waves: Vec<c::Wave> = (0..4)
            .map(|_| c::Wave {
                frontier_bytes: u64::from(random.below(64)),
                scratch_bytes: u64::from(random.below(16)),
                output_bytes: u64::from(random.below(128)),
            })
            .collect();
        let pairs = (0..4).flat_map(|before| (before + 1..4).map(move |after| (before, after)));
        let pairs = pairs.filter(|_| random.below(2) == 0).take(4);
        let edges: Vec<_> = pairs
            .map(|(before, after)| c::Dependency { before, after })
            .collect();
        let dag = program(&waves, &edges);
        // Below the graph.
        let (status, [least, budget, _], _) = planned(&dag, 50);
        assert_eq!((status, budget), (c::Status::ArenaOverBudget, 50));
        let mut budgets = vec![least - 1, least, least + 1];
        budgets.extend((0..8).map(|_| 50 + u64::from(random.below(500))));
        for budget in budgets {
            let (status, numbers, bytes) = planned(&dag, budget);
            if budget < least {
                assert_eq!(status, c::Status::ArenaOverBudget);
                assert_eq!(numbers, [least, budget, 0]);
            } else {
                assert_eq!(status, c::Status::Ok);
                assert!(bytes + 100 <= budget, "{bytes} of {budget}");
            }
        }
    }
}

#[test]
fn an_execution_is_planned_in_one_call() {
    let wave = |frontier_bytes, output_bytes| c::Wave {
        frontier_bytes,
        scratch_bytes: 0,
        output_bytes,
    };
    let waves = [wave(80, 10), wave(0, 88)];
    let edges = [c::Dependency {
        before: 0,
        after: 1,
    }];
    let dag = program(&waves, &edges);
    let (status, _, found) = execution(&execution_request(dag, 120));
    let found = found.unwrap();
    assert_eq!((status, found.groups.group_count), (c::Status::Ok, 2));
    assert_eq!(found.groups.summary.peak_group_bytes, 90);
    assert_eq!((found.arena.bytes, found.required_bytes), (98, 118));
    // 118 of 120 bytes: Sparse is the safe choice.
    assert_eq!(found.topology, c::ExecutionTopology::Sparse as u32);
    assert_eq!(
        (found.pressure_bps, found.launch),
        (9833, c::Launch::default())
    );
    let roomy = execution(&execution_request(dag, 1 << 20)).2.unwrap();
    assert_eq!(roomy.topology, c::ExecutionTopology::Hybrid as u32);

    let (status, numbers, _) = execution(&execution_request(dag, 110));
    assert_eq!(
        (status, numbers),
        (c::Status::ArenaOverBudget, [118, 110, 0])
    );
    let launch = c::LaunchRequest {
        queue_len: 100,
        max_workgroup_size_x: 64,
        max_compute_workgroups_per_dimension: 8,
        max_compute_invocations_per_workgroup: 64,
        ..c::LaunchRequest::default()
    };
    let with_launch = |launch: &c::LaunchRequest, budget| c::ExecutionRequest {
        launch,
        ..execution_request(dag, budget)
    };
    let sized = execution(&with_launch(&launch, 1 << 20)).2.unwrap().launch;
    assert_eq!((sized.lanes_per_group, sized.hit_capacity), (64, 1024));
    let (status, numbers, _) = execution(&with_launch(&launch, 500));
    assert_eq!(status, c::Status::OutOfMemory);
    assert_eq!(numbers, [118 + 16 * 1024, 500, 0]);
    let none = c::LaunchRequest::default();
    assert_eq!(execution(&with_launch(&none, 500)).0, c::Status::ZeroLimit);
    let mut odd = execution_request(dag, 120);
    odd.strategy = 7;
    assert_eq!(execution(&odd).0, c::Status::InvalidStrategy);
}

/// The plan of three chained waves on several devices: the status, the summary, the exchanges and the
/// first number of a refusal.
fn on_devices(
    count: u32,
    cuts: *const u32,
    budget_bytes: u64,
) -> (c::Status, c::DevicesSummary, Vec<c::Exchange>, u64) {
    let waves = [c::Wave {
        frontier_bytes: 40,
        scratch_bytes: 0,
        output_bytes: 400,
    }; 3];
    let edges = [(0, 1), (1, 2)].map(|(before, after)| c::Dependency { before, after });
    let mut request = execution_request(program(&waves, &edges), budget_bytes);
    request.budget.resident_bytes = 4000;
    let (mut space, mut problem) = (Room::new(), c::Problem::default());
    let (mut shares, mut words) = (waves, [0; 12]);
    let (mut bytes, mut targets) = ([0; 3], [0; 2]);
    let mut exchanges = [c::Exchange::default(); 3];
    let devices = c::Devices {
        count,
        cuts,
        waves: shares.as_mut_ptr(),
        exchanges: exchanges.as_mut_ptr(),
        words: words.as_mut_ptr(),
        bytes: bytes.as_mut_ptr(),
        targets: targets.as_mut_ptr(),
    };
    let mut found = std::mem::MaybeUninit::uninit();
    let mut summary = c::DevicesSummary::default();
    let mut offsets = [c::Offsets {
        frontier: 0,
        scratch: 0,
        output: 0,
    }; 3];
    // SAFETY: the records are valid, and tables and buffers are as long as they say.
    let status = unsafe {
        c::seawall_plan_devices(
            &request,
            &devices,
            &space.buffers(),
            found.as_mut_ptr(),
            offsets.as_mut_ptr(),
            &mut summary,
            &mut problem,
        )
    };
    if status == c::Status::Ok {
        // SAFETY: a call that succeeds has written its result.
        let plan: c::Execution = unsafe { found.assume_init() };
        assert!(plan.required_bytes <= budget_bytes);
        assert_eq!(shares[0].frontier_bytes, 40_u64.div_ceil(u64::from(count)));
    }
    exchanges
        .get_mut(..summary.exchange_count as usize)
        .map(|found| (status, summary, found.to_vec(), problem.numbers[0]))
        .unwrap()
}

#[test]
fn several_devices_are_planned_for_c_as_for_rust() {
    let own = c::WaveFlag::OwnNodes as u32;
    let total = c::WaveFlag::Total as u32;
    let (status, summary, exchanges, _) = on_devices(4, [own, 0, own].as_ptr(), 10_000);
    assert_eq!(status, c::Status::Ok);
    let one = c::Exchange {
        received_bytes: 300,
        after_group: 0,
    };
    assert_eq!(exchanges, [one]);
    assert_eq!(
        (summary.exchanges_lower_bound, summary.received_bytes),
        (1, 300)
    );
    assert!(summary.one_ns > 0 && summary.all_ns > summary.one_ns);
    let (_, _, exchanges, _) = on_devices(4, [own, own | total, own].as_ptr(), 10_000);
    assert_eq!(
        (exchanges[0].after_group, exchanges[0].received_bytes),
        (1, 1200)
    );
    let (status, summary, ..) = on_devices(1, [0; 3].as_ptr(), 10_000);
    assert_eq!((status, summary.exchange_count), (c::Status::Ok, 0));
    // A thousand bytes of graph are on each of four.
    assert_eq!(on_devices(4, [own; 3].as_ptr(), 2_000).0, c::Status::Ok);
    let (status, _, _, least) = on_devices(2, [own; 3].as_ptr(), 2_000);
    assert_eq!(status, c::Status::ArenaOverBudget);
    // Half of the graph, and of two outputs and a frontier.
    assert!((2_000..4_000).contains(&least), "{least}");
    assert_eq!(on_devices(2, [own; 3].as_ptr(), least).0, c::Status::Ok);
    let less = on_devices(2, [own; 3].as_ptr(), least - 1);
    assert_eq!((less.0, less.3), (c::Status::ArenaOverBudget, least));
    assert_eq!(
        on_devices(0, [own; 3].as_ptr(), 10_000).0,
        c::Status::InvalidDeviceCount
    );
    assert_eq!(on_devices(4, ptr::null(), 10_000).0, c::Status::NullPointer);
}
