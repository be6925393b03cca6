//! Wave programs on the CPU backend: random ones against an interpreter, wrong
//! ones against the error that they must end with.

use proptest::prelude::*;
use seawall::backend::cpu::CpuSession;
use seawall::backend::{BackendError, RunLimits, RunStats, Session};
use seawall::graph::Graph;
use seawall::program::{
    EncodedProgram, Meet, PlanRequest, ProgramBuilder, ProgramError, RegisterId,
};
use seawall_core::abi::control::{FaultCode, FaultRecord};
use seawall_core::abi::program::{NO_REGISTER, Opcode, RegisterRecord, WaveRecord};
use seawall_tests::draw::{self, Limits};
use seawall_tests::faulty;
use seawall_tests::graphs::{self, EdgeList, SHAPES, Shape};
use seawall_tests::harness::run_script;
use seawall_tests::random::Random;
use seawall_tests::script::{Register, Script, Wave};
use std::num::NonZeroUsize;
use std::sync::mpsc;
use std::time::Duration;

const BUDGET: RunLimits = RunLimits {
    time_budget_ns: 100_000_000,
};

/// Runs `job` and fails when it takes so long that it can only hang.
fn within<T: Send + 'static>(seconds: u64, job: impl FnOnce() -> T + Send + 'static) -> T {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || sender.send(job()));
    receiver
        .recv_timeout(Duration::from_secs(seconds))
        .expect("the job should end, and not by a panic")
}

fn bare(nodes: u32) -> Graph {
    Graph::from_edges(nodes, &[], false).unwrap()
}

fn plan(program: &ProgramBuilder) -> EncodedProgram {
    program.encode(&PlanRequest::default()).unwrap().0
}

/// Runs `program` on a graph without edges, under a small time budget and
/// watched for a hang.
fn run_watched(program: EncodedProgram, threads: usize) -> Result<RunStats, BackendError> {
    within(60, move || {
        let graph = bare(100);
        let mut session = CpuSession::open(&graph, NonZeroUsize::new(threads), BUDGET)?;
        session.load(&program)?;
        session.run(&vec![0; program.input_bytes as usize / 4])
    })
}

fn fault_of(result: Result<RunStats, BackendError>) -> (FaultRecord, String) {
    match result {
        Err(BackendError::Fault { record, wave_name }) => (record, wave_name),
        other => panic!("expected a fault, got {other:?}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 120, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_programs_leave_what_the_interpreter_leaves(
        shape in proptest::sample::select(&SHAPES[..]),
        nodes in 0_u32..300,
        waves in 1_u32..24,
        words in 1_u32..9000,
        threads in proptest::sample::select(vec![1_usize, 2, 3, 8]),
        seed in any::<u64>(),
    ) {
        let mut random = Random::new(seed);
        let list = graphs::draw(shape, nodes, seed % 2 == 0, &mut random);
        let limits = Limits { nodes: list.nodes, waves, words };
        let script = draw::draw(limits, &mut random);
        let graph = list.graph().unwrap();
        let mut session = CpuSession::open(&graph, NonZeroUsize::new(threads), RunLimits::default()).unwrap();
        run_script(&mut session, &list, &script, 2)
            .map_err(|error| TestCaseError::fail(format!("{error}\n{:#?}", script.waves)))?;
    }
}

/// A path along which facts travel a node an iteration, and beside the loop,
/// in the same group, a long transfer that is no part of it.
fn loop_beside_a_transfer() -> (EdgeList, Script) {
    const NODES: u32 = 40;
    let register = |words, input: Option<Vec<u32>>| Register {
        words,
        input,
        keep: true,
    };
    let first = (0..NODES).map(|node| u32::from(node == 0)).collect();
    let sizes = [NODES, NODES, NODES, NODES, 50_000, 50_000];
    let mut registers: Vec<Register> = sizes
        .into_iter()
        .map(|words| register(words, None))
        .collect();
    registers[0].input = Some(first);
    let fill = |to| Wave::Fill { to, value: 0 };
    let meet = Meet {
        facts: 1,
        intersect: false,
    };
    let body = vec![
        Wave::Meet {
            to: 2,
            from: 3,
            meet,
        },
        Wave::GenKill {
            to: 3,
            from: [2, 0, 1],
        },
    ];
    let mut waves: Vec<Wave> = (1..4).map(fill).collect();
    waves.extend([Wave::Iota { to: 4 }, fill(5)]);
    waves.push(Wave::Loop {
        max: draw::UNLIMITED,
        body,
    });
    waves.push(Wave::GenKill {
        to: 5,
        from: [4, 4, 4],
    });
    let list = graphs::draw(Shape::Path, NODES, false, &mut Random::new(1));
    (list, Script { registers, waves })
}

#[test]
fn a_transfer_beside_a_loop_does_not_end_it() {
    let (list, script) = loop_beside_a_transfer();
    let graph = list.graph().unwrap();
    for threads in [2, 5] {
        let threads = NonZeroUsize::new(threads);
        let mut session = CpuSession::open(&graph, threads, RunLimits::default()).unwrap();
        run_script(&mut session, &list, &script, 60).unwrap();
    }
}

/// A chain of registers of which each is needed once, and the last one kept.
fn chain(links: u32, words: u64) -> (ProgramBuilder, RegisterId) {
    let mut program = ProgramBuilder::new(100);
    let mut last = program.words("first", words).unwrap();
    program.iota("number", last);
    for _ in 0..links {
        let ones = program.words("ones", words).unwrap();
        let next = program.words("next", words).unwrap();
        program.fill("ones", ones, 1);
        program.combine("flip", Opcode::Xor, next, [last, ones]);
        last = next;
    }
    program.keep(last);
    (program, last)
}

#[test]
fn memory_of_dead_registers_is_used_again_without_harm() {
    let (program, last) = chain(40, 3000);
    let (encoded, summary) = program.encode(&PlanRequest::default()).unwrap();
    let all = encoded
        .registers
        .iter()
        .map(|register| u64::from(register.words) * 4)
        .sum::<u64>();
    assert!(
        summary.arena_bytes < all,
        "{} of {all} bytes",
        summary.arena_bytes
    );
    let graph = bare(100);
    for threads in [1, 3] {
        let mut session =
            CpuSession::open(&graph, NonZeroUsize::new(threads), RunLimits::default()).unwrap();
        session.load(&encoded).unwrap();
        for _ in 0..3 {
            session.run(&[]).unwrap();
            let mut words = Vec::new();
            session.read(last, &mut words).unwrap();
            assert!(
                words
                    .iter()
                    .enumerate()
                    .all(|(at, word)| *word == at as u32)
            );
        }
    }
}

#[test]
fn a_budget_below_the_arena_is_refused_with_the_bytes_that_it_needs() {
    let (program, _) = chain(6, 3000);
    let needed = program
        .encode(&PlanRequest::default())
        .unwrap()
        .1
        .arena_bytes;
    let with = |budget_bytes| PlanRequest {
        resident_bytes: 1000,
        budget_bytes: Some(budget_bytes),
        ..PlanRequest::default()
    };
    assert!(program.encode(&with(needed + 1000)).is_ok());
    for budget in [0, 999, 1000, 1001, 2000] {
        let error = program.encode(&with(budget)).unwrap_err();
        let is_typed = matches!(
            error,
            ProgramError::Groups(_) | ProgramError::ArenaOverBudget { .. }
        );
        assert!(is_typed, "{budget}: {error:?}");
    }
    // Each wave fits by itself, all that must live together does not.
    let mut wide = ProgramBuilder::new(100);
    let registers: Vec<_> = (0..4).map(|_| wide.words("wide", 64).unwrap()).collect();
    for register in &registers {
        wide.fill("fill", *register, 1);
        wide.keep(*register);
    }
    match wide.encode(&PlanRequest {
        budget_bytes: Some(600),
        ..PlanRequest::default()
    }) {
        Err(ProgramError::ArenaOverBudget {
            needed_bytes: 1024,
            available_bytes: 600,
        }) => {}
        other => panic!("{other:?}"),
    }
}

#[test]
fn reading_what_nobody_wrote_is_refused() {
    let mut program = ProgramBuilder::new(10);
    let [a, b] = ["a", "b"].map(|name| program.words(name, 10).unwrap());
    program.fill("fill", a, 1);
    program.combine("join", Opcode::Or, a, [a, b]);
    let error = program.encode(&PlanRequest::default()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "wave 1 (join) reads register b, which no earlier wave writes; fill it first"
    );
}

#[test]
fn a_loop_that_reads_before_it_writes_is_refused_and_the_reverse_is_not() {
    let mut program = ProgramBuilder::new(10);
    let [a, b] = ["a", "b"].map(|name| program.words(name, 10).unwrap());
    program.fixpoint("bad", 3, |program| {
        program.copy("copy", b, a);
        program.fill("fill", a, 1);
    });
    let error = program.encode(&PlanRequest::default()).unwrap_err();
    assert!(
        matches!(error, ProgramError::UnwrittenRegister { register: "a", .. }),
        "{error}"
    );
    let mut program = ProgramBuilder::new(10);
    let [a, b] = ["a", "b"].map(|name| program.words(name, 10).unwrap());
    program.fixpoint("good", 3, |program| {
        program.fill("fill", a, 1);
        program.copy("copy", b, a);
    });
    assert!(program.encode(&PlanRequest::default()).is_ok());
}

#[test]
fn loops_without_a_body_and_in_a_body_are_refused_by_name() {
    let mut program = ProgramBuilder::new(10);
    program.fixpoint("hollow", 3, |_| {});
    let error = program.encode(&PlanRequest::default()).unwrap_err();
    assert!(
        matches!(&error, ProgramError::EmptyBody { name } if name == "hollow"),
        "{error}"
    );
    let mut program = ProgramBuilder::new(10);
    let a = program.words("a", 10).unwrap();
    program.fixpoint("outer", 3, |program| {
        program.fixpoint("inner", 3, |program| program.fill("fill", a, 1));
    });
    let error = program.encode(&PlanRequest::default()).unwrap_err();
    assert!(
        matches!(error, ProgramError::NestedFixpoint { .. }),
        "{error}"
    );
}

#[test]
fn registers_beyond_32_bits_are_refused() {
    let mut program = ProgramBuilder::new(10);
    assert!(program.words("longest", u64::from(u32::MAX)).is_ok());
    let error = program.words("too long", 1 << 32).unwrap_err();
    assert!(
        matches!(
            error,
            ProgramError::RegisterTooLong {
                words: 0x1_0000_0000,
                ..
            }
        ),
        "{error}"
    );
}

#[test]
fn the_watchdog_names_who_is_missing_and_where() {
    for threads in [2, 3, 8] {
        let (record, wave_name) = fault_of(run_watched(faulty::stalled(1).unwrap(), threads));
        assert_eq!(FaultCode::from_word(record.code), FaultCode::Watchdog);
        assert_eq!(
            (record.arrived, record.expected),
            (threads as u32 - 1, threads as u32)
        );
        assert_eq!(
            (wave_name.as_str(), record.opcode),
            (faulty::STALL, Opcode::Stall as u32)
        );
        assert_ne!(record.block, 1, "the block that is held back cannot report");
        let error = BackendError::Fault { record, wave_name };
        let text = error.to_string();
        assert!(
            text.contains(&format!("{} of {threads} blocks", threads - 1)),
            "{text}"
        );
        assert!(
            text.contains(&format!("barrier epoch {}", record.epoch)),
            "{text}"
        );
    }
}

#[test]
fn a_block_that_nobody_waits_for_reports_itself() {
    let (record, wave_name) = fault_of(run_watched(faulty::stalled(0).unwrap(), 1));
    assert_eq!(FaultCode::from_word(record.code), FaultCode::TimeBudget);
    assert_eq!(
        (wave_name.as_str(), record.opcode),
        (faulty::STALL, Opcode::Stall as u32)
    );
}

#[test]
fn a_stall_in_a_loop_is_reported_with_its_iteration() {
    let mut program = ProgramBuilder::new(100);
    let a = program.words("a", 100).unwrap();
    program.fill("fill", a, 1);
    program.fixpoint("round and round", 9, |program| program.stall("hold", 0));
    let (record, wave_name) = fault_of(run_watched(plan(&program), 3));
    assert_eq!(FaultCode::from_word(record.code), FaultCode::Watchdog);
    assert_eq!(
        (record.iteration, record.arrived, record.expected),
        (0, 2, 3)
    );
    assert!(wave_name.starts_with("round and round"), "{wave_name}");
}

#[test]
fn a_loop_that_never_converges_ends_with_the_time_budget() {
    for threads in [1, 2, 3] {
        let (record, wave_name) = fault_of(run_watched(faulty::endless().unwrap(), threads));
        let code = FaultCode::from_word(record.code);
        assert!(
            matches!(code, FaultCode::TimeBudget | FaultCode::Watchdog),
            "{code:?}"
        );
        assert_eq!(
            (wave_name.as_str(), record.opcode),
            (faulty::ENDLESS, Opcode::Fixpoint as u32)
        );
        assert!(record.iteration > 0);
    }
}

#[test]
fn an_opcode_that_no_kernel_knows_is_a_fault_of_its_wave() {
    for threads in [1, 2, 3] {
        for opcode in [Opcode::ALL.len() as u32, 1000, u32::MAX] {
            let program = faulty::broken(Some(opcode), None).unwrap();
            let (record, wave_name) = fault_of(run_watched(program, threads));
            assert_eq!(FaultCode::from_word(record.code), FaultCode::UnknownOpcode);
            assert_eq!((record.opcode, wave_name.as_str()), (opcode, faulty::COPY));
        }
    }
}

#[test]
fn a_register_that_is_missing_or_too_short_is_a_fault_of_its_wave() {
    for threads in [1, 2, 3] {
        for source in [3, 1000, NO_REGISTER, 2] {
            let program = faulty::broken(None, Some(source)).unwrap();
            let (record, wave_name) = fault_of(run_watched(program, threads));
            assert_eq!(
                FaultCode::from_word(record.code),
                FaultCode::BadRegister,
                "register {source}"
            );
            assert_eq!(wave_name, faulty::COPY);
        }
    }
}

#[test]
fn any_word_of_the_wave_table_may_be_wrong() {
    for seed in 0..150 {
        let mut random = Random::new(seed);
        let mut program = if random.once_in(4) {
            faulty::endless().unwrap()
        } else {
            faulty::plain().unwrap()
        };
        let wave = random.below(program.waves.len() as u32) as usize;
        let word = if random.once_in(2) {
            random.below(30)
        } else {
            random.word()
        };
        set_word(&mut program.waves[wave], random.below(12) as usize, word);
        // Any end is right but a hang or a crash.
        let _ = run_watched(program, 2);
    }
}

/// Replaces one word of a wave's record.
fn set_word(wave: &mut WaveRecord, at: usize, word: u32) {
    match at {
        0 => wave.opcode = word,
        1 => wave.wave = word,
        2 => wave.destination = word,
        3..=6 => wave.sources[at - 3] = word,
        _ => wave.parameters[at - 7] = word,
    }
}

#[test]
fn tables_that_contradict_each_other_are_refused_at_load() {
    let broken: [fn(&mut EncodedProgram); 6] = [
        |program| program.registers[0].words = u32::MAX,
        |program| program.registers[0].offset_bytes = u64::MAX - 3,
        |program| program.registers[0].region = 7,
        |program| program.top_groups = 900,
        |program| program.groups[0].waves = u32::MAX,
        |program| {
            program.registers.push(RegisterRecord {
                region: 1,
                words: 1,
                offset_bytes: 0,
            })
        },
    ];
    for (which, damage) in broken.into_iter().enumerate() {
        let mut program = faulty::plain().unwrap();
        damage(&mut program);
        let result = run_watched(program, 2);
        assert!(
            matches!(result, Err(BackendError::BadProgram { .. })),
            "damage {which}: {result:?}"
        );
    }
}

#[test]
fn sessions_used_in_the_wrong_order_say_so() {
    let graph = bare(10);
    let mut session = CpuSession::open(&graph, None, RunLimits::default()).unwrap();
    assert!(matches!(session.run(&[]), Err(BackendError::NotLoaded)));
    assert!(matches!(
        session.read(RegisterId(0), &mut Vec::new()),
        Err(BackendError::NotLoaded)
    ));
    session.load(&faulty::plain().unwrap()).unwrap();
    let error = session.run(&[1]).unwrap_err();
    assert!(
        matches!(
            error,
            BackendError::InputLength {
                expected: 0,
                given: 1
            }
        ),
        "{error}"
    );
    session.run(&[]).unwrap();
    let error = session.read(RegisterId(3), &mut Vec::new()).unwrap_err();
    assert!(
        matches!(
            error,
            BackendError::NoSuchRegister {
                register: 3,
                registers: 3
            }
        ),
        "{error}"
    );
    let mut sum = Vec::new();
    session.read(faulty::TOTAL, &mut sum).unwrap();
    assert_eq!(sum, [faulty::SUM]);
}

#[test]
fn a_fault_does_not_spoil_the_next_run() {
    let graph = bare(100);
    let mut session = CpuSession::open(&graph, NonZeroUsize::new(2), BUDGET).unwrap();
    session.load(&faulty::stalled(1).unwrap()).unwrap();
    assert!(matches!(session.run(&[]), Err(BackendError::Fault { .. })));
    let (program, last) = chain(5, 500);
    session.load(&plan(&program)).unwrap();
    session.run(&[]).unwrap();
    let mut words = Vec::new();
    session.read(last, &mut words).unwrap();
    assert_eq!(words[499], 499 ^ 1);
}
