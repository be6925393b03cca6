//! Waves that run once for a loaded program: the same results in every run, and refusals of waves
//! whose results would change.

use super::{BUDGET, bare, plan};
use proptest::prelude::*;
use seawall::analysis::{self, Question};
use seawall::backend::cpu::CpuSession;
use seawall::backend::{BackendError, RunLimits, Session, open_baseline};
use seawall::executor::Machine;
use seawall::graph::Graph;
use seawall::own::OwnWaves;
use seawall::program::{
    BitOp, Call, EncodedProgram, PlanRequest, ProgramBuilder, ProgramError, RegisterId, TableError,
};
use seawall::run::AnalysisKind;
use seawall_core::abi::program::{GroupRecord, NO_REGISTER, Opcode, WaveRecord};
use seawall_device::own::{Facts, Fault, Machine as Lanes, Operand, Running, Wave};
use seawall_oracles::graphs::EdgeList;
use seawall_oracles::oracle;
use seawall_oracles::random::Random;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicU32, Ordering};

const NODES: u32 = 100;

/// The triangles of a graph by a program that orients edges once, and the register of the result.
fn triangles(graph: &Graph, warps: bool) -> (EncodedProgram, RegisterId) {
    let mut question = Question::new(Vec::new());
    question.warps = warps;
    let built = analysis::build(AnalysisKind::Triangles, graph, &question).unwrap();
    (plan(&built.program), built.result)
}

fn words(session: &mut dyn Session, register: RegisterId) -> Vec<u32> {
    let mut words = Vec::new();
    session.read(register, &mut words).unwrap();
    words
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn every_run_counts_the_same_triangles(
        nodes in 3..400_u32, degree in 1..20_u32, seed in any::<u64>(),
        threads in 1..5_usize, warps in any::<bool>(), fails_first in any::<bool>(),
    ) {
        let random = &mut Random::new(seed);
        let edge = |_| (random.below(nodes), random.below(nodes));
        let edges = (0..nodes * degree).map(edge).collect();
        let list = EdgeList { nodes, edges, undirected: true };
        let graph = list.graph().unwrap();
        let (program, result) = triangles(&graph, warps);
        prop_assert!(!program.once.is_empty());
        let expected = oracle::triangles(&list);
        let mut session =
            CpuSession::open(&graph, NonZeroUsize::new(threads), RunLimits::default()).unwrap();
        session.load(&program).unwrap();
        if fails_first {
            session.set_limits(RunLimits { time_budget_ns: 1 });
            // A run this short may succeed.
            let _ = session.run(&[]);
            session.set_limits(RunLimits::default());
        }
        for _ in 0..3 {
            session.run(&[]).unwrap();
            prop_assert_eq!(&words(&mut session, result), &expected);
        }
        // A program that is loaded again starts anew.
        session.load(&program).unwrap();
        session.run(&[]).unwrap();
        prop_assert_eq!(&words(&mut session, result), &expected);
        let mut baseline = open_baseline(&graph, &Machine::cpu(None)).unwrap();
        baseline.load(&program).unwrap();
        for _ in 0..2 {
            baseline.run(&[]).unwrap();
            prop_assert_eq!(&words(baseline.as_mut(), result), &expected);
        }
    }
}

/// Runs of [`Counted`].
static RUNS: AtomicU32 = AtomicU32::new(0);

/// A wave that counts its runs and stores ones.
struct Counted;

impl Wave for Counted {
    const NAME: &'static str = "Counted";
    const FACTS: Facts = Facts::of(&[], &[Operand::To]);

    fn run<M: Lanes>(wave: &mut Running<'_, M>) -> Result<(), Fault> {
        RUNS.fetch_add(1, Ordering::Relaxed);
        let to = wave.write(Operand::To)?;
        wave.each(to.len(), |item| item.store(to, item.index(), 1));
        Ok(())
    }
}

#[test]
fn later_runs_leave_out_waves_that_run_once() {
    let mut program = ProgramBuilder::new(NODES);
    program.use_waves(&OwnWaves::of::<(Counted,)>());
    let [ones, copy] = ["ones", "copy"].map(|name| program.words(name, 100).unwrap());
    program.once(|once| once.own::<Counted>("count", Call::to(ones)));
    program.copy("copy", copy, ones);
    program.keep(copy);
    let graph = bare(NODES);
    let mut session = CpuSession::open(&graph, NonZeroUsize::new(1), BUDGET).unwrap();
    session.load(&plan(&program)).unwrap();
    for _ in 0..3 {
        session.run(&[]).unwrap();
        assert_eq!(words(&mut session, copy), [1; 100]);
    }
    assert_eq!(RUNS.load(Ordering::Relaxed), 1);
}

#[test]
fn later_runs_find_what_the_first_one_left() {
    let mut program = ProgramBuilder::new(NODES);
    let [numbers, copy] =
        ["numbers", "copy"].map(|name| program.words(name, u64::from(NODES)).unwrap());
    program.once(|once| once.iota("number", numbers));
    program.copy("copy", copy, numbers);
    program.keep(copy);
    let encoded = plan(&program);
    assert_eq!(encoded.once, [0]);
    let graph = bare(NODES);
    let mut session = CpuSession::open(&graph, NonZeroUsize::new(2), BUDGET).unwrap();
    session.trace_runs(true);
    session.load(&encoded).unwrap();
    for _ in 0..3 {
        session.run(&[]).unwrap();
        let expected: Vec<u32> = (0..NODES).collect();
        assert_eq!(words(&mut session, copy), expected);
        assert_eq!(words(&mut session, numbers), expected);
    }
}

#[test]
fn registers_that_share_memory_with_others_are_filled_in_every_run() {
    let mut program = ProgramBuilder::new(NODES);
    let register = |program: &mut ProgramBuilder, name| program.words(name, 5000).unwrap();
    let [short, long] = ["short", "long"].map(|name| register(&mut program, name));
    let chain = ["a", "b", "c", "d"].map(|name| register(&mut program, name));
    // The last of the chain is stored after the last use of `short`, whose place it may get.
    program.fill("fill", short, u32::MAX);
    program.copy("copy", long, short);
    program.once(|once| {
        once.iota("number", chain[0]);
        for pair in chain.windows(2) {
            once.copy("hand on", pair[1], pair[0]);
        }
    });
    program.combine("join", BitOp::And, long, [long, chain[3]]);
    program.keep(long);
    let encoded = plan(&program);
    let place = |register: RegisterId| {
        let record = encoded.registers[register.number() as usize];
        record.offset_bytes
    };
    assert!(
        chain
            .iter()
            .any(|register| place(*register) == place(short))
    );
    assert!(encoded.once.is_empty());
    let graph = bare(NODES);
    let mut session = CpuSession::open(&graph, None, BUDGET).unwrap();
    session.load(&encoded).unwrap();
    for _ in 0..3 {
        session.run(&[]).unwrap();
        let expected: Vec<u32> = (0..5000).collect();
        assert_eq!(words(&mut session, long), expected);
    }
}

/// The error of a program to which `add` adds waves, with an input and two registers, the second of
/// which it fills once.
fn refused(add: impl FnOnce(&mut ProgramBuilder, [RegisterId; 3])) -> ProgramError {
    let mut program = ProgramBuilder::new(NODES);
    let input = program.input("input", 100).unwrap();
    let [other, fixed] = ["other", "fixed"].map(|name| program.words(name, 100).unwrap());
    program.fill("fill", other, 0);
    program.once(|once| once.iota("number", fixed));
    add(&mut program, [input, other, fixed]);
    program.encode(&PlanRequest::default()).unwrap_err()
}

#[test]
fn what_changes_between_runs_is_refused() {
    let changes: [fn(&mut ProgramBuilder, [RegisterId; 3]); 5] = [
        |program, [input, _, fixed]| program.once(|once| once.copy("wave", fixed, input)),
        |program, [_, other, fixed]| program.once(|once| once.copy("wave", fixed, other)),
        |program, [input, _, fixed]| program.copy("wave", fixed, input),
        |program, [.., fixed]| program.fill("wave", fixed, 1),
        |program, [_, other, fixed]| {
            program.fixpoint("wave", 3, |body| {
                body.copy("inner", other, fixed);
                body.fill("change", fixed, 2);
            });
        },
    ];
    for change in changes {
        let error = refused(change);
        assert!(
            matches!(&error, ProgramError::ChangesBetweenRuns { wave, .. } if wave == "wave"),
            "{error}"
        );
    }
    // A later run would find the result of the last one.
    let error = refused(|program, [_, other, fixed]| {
        program.copy("copy", other, fixed);
        program.once(|once| once.fill("wave", fixed, 1));
    });
    assert!(
        matches!(&error, ProgramError::ChangesBetweenRuns { wave, .. } if wave == "wave"),
        "{error}"
    );
    let loops: [fn(&mut ProgramBuilder, [RegisterId; 3]); 2] = [
        |program, [_, other, fixed]| {
            program.once(|once| {
                once.fixpoint("loop", 3, |body| body.copy("inner", other, fixed));
            });
        },
        |program, [_, other, fixed]| {
            program.fixpoint("loop", 3, |body| {
                body.once(|once| once.copy("inner", other, fixed));
            });
        },
    ];
    for within in loops {
        let error = refused(within);
        assert!(matches!(error, ProgramError::LoopOnce { .. }), "{error}");
    }
}

/// Kernels use oriented rows unchecked, so tables that skip the waves that make them must be
/// refused if other waves overwrite them.
#[test]
fn tables_whose_later_runs_would_miss_something_are_refused() {
    let list = EdgeList {
        nodes: 40,
        edges: (0..40)
            .flat_map(|node| [(node, (node + 1) % 40), (node, (node + 2) % 40)])
            .collect(),
        undirected: true,
    };
    let graph = list.graph().unwrap();
    let (program, _) = triangles(&graph, false);
    let load = |program: &EncodedProgram| {
        let mut session = CpuSession::open(&graph, NonZeroUsize::new(1), BUDGET).unwrap();
        session.load(program)?;
        session.run(&[])?;
        session.run(&[]).map(drop)
    };
    load(&program).unwrap();
    let waves = program.waves.len() as u32;
    let mut beyond = program.clone();
    beyond.once.push(waves);
    let error = load(&beyond).unwrap_err().to_string();
    assert!(error.contains("is to run once"), "{error}");
    // A wave after the count that overwrites the rows, in every run or only in the first one.
    let orient = program.once[0] as usize;
    let mut spoiled = program.clone();
    let name = spoiled.wave_names.len() as u32;
    spoiled.wave_names.push("spoil".to_owned());
    spoiled.waves.push(WaveRecord {
        opcode: Opcode::Fill as u32,
        wave: name,
        destination: program.waves[orient].destination,
        sources: [NO_REGISTER; 4],
        parameters: [u32::MAX, 0, 0, 0, 0],
    });
    let at = spoiled.top_groups as usize;
    let group = GroupRecord {
        first_wave: waves,
        waves: 1,
        narrow: 0,
        joined: 0,
    };
    spoiled.groups.insert(at, group);
    spoiled.top_groups += 1;
    let unproven = |program: &EncodedProgram| {
        let error = load(program).unwrap_err();
        let is_unproven = |problem: &TableError| matches!(problem, TableError::Unproven { .. });
        assert!(
            matches!(&error, BackendError::BadProgram { problem } if is_unproven(problem)),
            "{error}"
        );
    };
    unproven(&spoiled);
    spoiled.once.push(waves);
    unproven(&spoiled);
    spoiled.once.clear();
    load(&spoiled).unwrap();
}

/// An aborted run leaves a frontier in any state, on which a later one would rely.
#[test]
fn what_every_run_changes_is_made_in_every_run() {
    let graph = bare(NODES);
    let built = analysis::build(AnalysisKind::Bfs, &graph, &Question::new(vec![0])).unwrap();
    let mut program = plan(&built.program);
    let is_reset = |wave: &WaveRecord| wave.opcode == Opcode::Reset as u32;
    let reset = program.waves.iter().position(is_reset).unwrap();
    program.once.push(reset as u32);
    let mut session = CpuSession::open(&graph, NonZeroUsize::new(1), BUDGET).unwrap();
    let error = session.load(&program).unwrap_err();
    assert!(
        matches!(
            &error,
            BackendError::BadProgram {
                problem: TableError::Unproven { .. }
            }
        ),
        "{error}"
    );
}
