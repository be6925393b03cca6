//! Waves of other crates: effects of facts, refusals, and detected violations.

use super::{BUDGET, plan, within};
use seawall::backend::batch::{BatchError, BatchSession, Job, cpu::CpuBatch};
use seawall::backend::cpu::CpuSession;
use seawall::backend::{BackendError, Canceller, RunLimits, Session, open_baseline};
use seawall::executor::Machine as Executors;
use seawall::graph::Graph;
use seawall::outcome::waves;
use seawall::own::{FactViolation, OwnWaves};
use seawall::program::{Call, EncodedProgram, OwnError, PlanRequest, ProgramBuilder, ProgramError};
use seawall_core::abi::control::FaultCode;
use seawall_core::abi::own::OWN_FIRST;
use seawall_device::own::{Array, Facts, Fault, Machine, Operand, Running, Wave};
use seawall_oracles::lanes;
use seawall_oracles::own::{CopyTwin, Twins};
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use Operand::{First, Second, To};

/// A wave with the facts and the code given.
macro_rules! wave {
    ($name:ident, $facts:expr, |$wave:ident| $code:block) => {
        struct $name;

        impl Wave for $name {
            const NAME: &'static str = stringify!($name);
            const FACTS: Facts = $facts;

            fn run<M: Machine>($wave: &mut Running<'_, M>) -> Result<(), Fault> {
                $code
                Ok(())
            }
        }
    };
}

const PLAIN: Facts = Facts::of(&[First], &[To]);

wave!(ReadsMore, PLAIN, |wave| {
    let _ = wave.read(Second)?;
});
wave!(WritesMore, PLAIN, |wave| {
    let _ = wave.write(First)?;
});
wave!(ReadsTo, PLAIN, |wave| {
    let _ = wave.update(To)?;
});
wave!(ReadsIncoming, PLAIN, |wave| {
    let _ = wave.incoming()?;
});
wave!(ReadsWeights, PLAIN.reading(&[Array::Incoming]), |wave| {
    let _ = wave.weights()?;
});
wave!(Outside, PLAIN, |wave| {
    let (from, to) = (wave.read(First)?, wave.write(To)?);
    wave.each(1, |item| {
        item.store(to, 0, item.load(from, from.len() + 3));
    });
});
wave!(OutOfGraph, PLAIN, |wave| {
    let (rows, to) = (wave.outgoing(), wave.write(To)?);
    wave.each(1, |item| {
        let edges = item.edges(rows, rows.nodes());
        item.store(
            to,
            0,
            edges.len() as u32 + item.neighbour(rows, rows.edges()),
        );
    });
});
wave!(LeavesOut, PLAIN, |wave| {
    let to = wave.write(To)?;
    wave.each(to.len() - 1, |item| item.store(to, item.index(), 1));
});
wave!(LooksAround, PLAIN.word_wise(), |wave| {
    let (from, to) = (wave.read(First)?, wave.write(To)?);
    wave.each(to.len(), |item| {
        let next = (item.index() + 1) % to.len();
        item.store(to, item.index(), item.load(from, next));
    });
});
wave!(Races, Facts::of(&[To], &[To]), |wave| {
    let to = wave.update(To)?;
    wave.each(to.len(), |item| {
        let next = (item.index() + 1) % to.len();
        item.store(to, item.index(), item.load(to, next));
    });
});
wave!(WorksMore, PLAIN.per_word_of(To), |wave| {
    let (from, to) = (wave.read(First)?, wave.write(To)?);
    wave.each(to.len(), |item| {
        let sum = (0..from.len()).fold(0_u32, |sum, at| sum.wrapping_add(item.load(from, at)));
        item.store(to, item.index(), sum);
    });
});
wave!(Loops, Facts::of(&[To], &[To]), |wave| {
    let to = wave.update(To)?;
    wave.each(to.len(), |item| {
        item.add(to, item.index(), 1);
        item.changed();
    });
});

type Liars = (LeavesOut, LooksAround, Races, WorksMore);
type Faulty = (
    ReadsMore,
    WritesMore,
    ReadsTo,
    ReadsIncoming,
    ReadsWeights,
    Outside,
    OutOfGraph,
    Loops,
);

/// Words of the registers.
const WORDS: u32 = 100;

fn ring() -> Graph {
    let edges: Vec<_> = (0..WORDS).map(|node| (node, (node + 1) % WORDS)).collect();
    Graph::from_edges(WORDS, &edges, false).unwrap()
}

/// A program in which `W` makes a register, from another one if it has a first source.
fn one<W: Wave>(waves: &OwnWaves) -> EncodedProgram {
    let mut program = ProgramBuilder::new(WORDS);
    program.use_waves(waves);
    let [from, to] = ["from", "to"].map(|name| program.words(name, WORDS.into()).unwrap());
    program.iota("number", from);
    program.iota("begin", to);
    let call = Call::to(to);
    let has_first = W::FACTS.reads.contains(&First);
    program.own::<W>("mine", if has_first { call.first(from) } else { call });
    program.keep(to);
    plan(&program)
}

fn run(program: &EncodedProgram, threads: usize) -> Result<(), BackendError> {
    let graph = ring();
    let mut session = CpuSession::open(&graph, NonZeroUsize::new(threads), BUDGET)?;
    session.load(program)?;
    session.run(&[]).map(drop)
}

fn violation_of<W: Wave>() -> FactViolation {
    let program = one::<W>(&OwnWaves::of::<Liars>());
    run(&program, 2).unwrap();
    let graph = ring();
    let session = CpuSession::open(&graph, None, RunLimits::default()).unwrap();
    let mut session = session.checking_facts();
    session.load(&program).unwrap();
    match session.run(&[]) {
        Err(BackendError::FalseFacts { wave_name, lie, .. }) => {
            assert_eq!(wave_name, "mine");
            lie
        }
        other => panic!("expected a lie, got {other:?}"),
    }
}

#[test]
fn every_kind_of_lie_is_found() {
    let word = WORDS - 1;
    let left_out = FactViolation::LeftOut { operand: To, word };
    assert_eq!(violation_of::<LeavesOut>(), left_out);
    let other_word = FactViolation::OtherWord {
        operand: First,
        item: 0,
        word: 1,
    };
    assert_eq!(violation_of::<LooksAround>(), other_word);
    assert!(matches!(
        violation_of::<Races>(),
        FactViolation::Race { operand: To, .. }
    ));
    let more_work = violation_of::<WorksMore>();
    let accesses = u64::from(WORDS) * u64::from(WORDS + 1);
    assert!(
        matches!(more_work, FactViolation::MoreWork { accesses: found, .. } if found == accesses)
    );
}

fn fault_of<W: Wave>() -> (FaultCode, [u32; 2]) {
    let program = one::<W>(&OwnWaves::of::<Faulty>());
    match run(&program, 2) {
        Err(BackendError::Fault {
            record, wave_name, ..
        }) => {
            assert_eq!(wave_name, "mine");
            assert!(record.opcode >= OWN_FIRST);
            (
                FaultCode::from_word(record.code),
                [record.arrived, record.expected],
            )
        }
        other => panic!("expected a fault, got {other:?}"),
    }
}

#[test]
fn what_facts_leave_out_ends_the_run() {
    for (code, _) in [
        fault_of::<ReadsMore>(),
        fault_of::<WritesMore>(),
        fault_of::<ReadsTo>(),
        fault_of::<ReadsIncoming>(),
        fault_of::<ReadsWeights>(),
    ] {
        assert_eq!(code, FaultCode::Undeclared);
    }
}

#[test]
fn indices_out_of_range_end_the_run_with_index_and_length() {
    let found = fault_of::<Outside>();
    assert_eq!(found, (FaultCode::BadIndex, [WORDS + 3, WORDS]));
    let found = fault_of::<OutOfGraph>();
    assert_eq!(found, (FaultCode::BadIndex, [WORDS, WORDS]));
}

/// Copies along a chain of registers, with waves of another crate.
fn chain(length: u64) -> EncodedProgram {
    let mut program = ProgramBuilder::new(WORDS);
    program.use_waves(&OwnWaves::of::<Twins>());
    let mut last = program.words("first", WORDS.into()).unwrap();
    program.iota("number", last);
    for _ in 0..length {
        let next = program.words("next", WORDS.into()).unwrap();
        program.own::<CopyTwin>("copy", Call::to(next).first(last));
        last = next;
    }
    program.keep(last);
    plan(&program)
}

#[test]
fn waves_that_work_by_word_are_joined_as_built_in_ones_are() {
    let program = chain(40);
    let joined = |group: &seawall_core::abi::program::GroupRecord| group.joined;
    let sum: u32 = program.groups.iter().map(joined).sum();
    assert_eq!(sum as usize, program.groups.len() - 1);
    program.check().unwrap();
    let graph = ring();
    let last = program.register(40).unwrap();
    for blocks in [lanes::run::<1, 64>, lanes::run::<2, 32>] {
        let session = CpuSession::open(&graph, None, RunLimits::default()).unwrap();
        let mut session = session.with_machine(blocks);
        session.load(&program).unwrap();
        session.run(&[]).unwrap();
        let mut words = Vec::new();
        session.read(last, &mut words).unwrap();
        assert!(words.iter().copied().eq(0..WORDS), "{words:?}");
    }
}

#[test]
fn traces_name_the_waves_of_other_crates() {
    let program = chain(2);
    let graph = ring();
    let mut session = CpuSession::open(&graph, None, RunLimits::default()).unwrap();
    session.load(&program).unwrap();
    let stats = session.run(&[]).unwrap();
    let listed = waves(&program, &stats.control);
    let names: Vec<_> = listed
        .iter()
        .map(|wave| (&wave.name[..], &wave.opcode[..]))
        .collect();
    let copy = ("copy", "CopyTwin");
    assert_eq!(names, [("number", "Iota"), copy, copy]);
}

#[test]
fn a_wave_that_vouches_for_a_forest_is_not_believed() {
    let mut program = ProgramBuilder::new(WORDS);
    program.use_waves(&OwnWaves::of::<Twins>());
    let [from, parents] = ["from", "to"].map(|name| program.words(name, WORDS.into()).unwrap());
    program.iota("number", from);
    program.iota("parents", parents);
    program.own::<CopyTwin>("mine", Call::to(parents).first(from));
    program.components("link", seawall::program::ComponentStep::Link, parents);
    program.keep(parents);
    let error = program.encode(&PlanRequest::default()).unwrap_err();
    assert!(
        matches!(&error, ProgramError::Unproven { register, .. } if register == "to"),
        "{error}"
    );
}

#[test]
fn waves_are_used_with_the_operands_that_they_declare() {
    let problem = |call: fn(&mut ProgramBuilder) -> Call, waves: Option<OwnWaves>| {
        let mut program = ProgramBuilder::new(WORDS);
        if let Some(waves) = &waves {
            program.use_waves(waves);
        }
        let call = call(&mut program);
        program.own::<CopyTwin>("mine", call);
        match program.encode(&PlanRequest::default()) {
            Err(ProgramError::Own { wave, problem }) => {
                assert_eq!(wave, "mine");
                problem
            }
            other => panic!("expected a refusal, got {other:?}"),
        }
    };
    let to = |program: &mut ProgramBuilder| Call::to(program.words("to", 4).unwrap());
    let twins = || Some(OwnWaves::of::<Twins>());
    assert_eq!(problem(to, twins()), OwnError::Missing { operand: First });
    let unused = |program: &mut ProgramBuilder| {
        let to = program.words("to", 4).unwrap();
        Call::to(to).first(to).second(to)
    };
    assert_eq!(
        problem(unused, twins()),
        OwnError::Unused { operand: Second }
    );
    let name = "CopyTwin";
    assert_eq!(problem(to, None), OwnError::NoSuchWave { name });
    let other = OwnWaves::of::<Liars>();
    assert_eq!(problem(to, Some(other)), OwnError::NoSuchWave { name });
}

#[test]
fn a_program_uses_one_set() {
    let mut program = ProgramBuilder::new(WORDS);
    program.use_waves(&OwnWaves::of::<Twins>());
    program.use_waves(&OwnWaves::of::<Twins>());
    program.use_waves(&OwnWaves::of::<Liars>());
    let error = program.encode(&PlanRequest::default()).unwrap_err();
    let two = matches!(
        &error,
        ProgramError::Own {
            problem: OwnError::TwoSets,
            ..
        }
    );
    assert!(two, "{error}");
}

#[test]
fn waves_by_word_need_as_many_words_as_they_write() {
    let mut program = ProgramBuilder::new(WORDS);
    program.use_waves(&OwnWaves::of::<Twins>());
    let [from, to] = [3, 4].map(|words| program.words("register", words).unwrap());
    program.iota("number", from);
    program.own::<CopyTwin>("mine", Call::to(to).first(from));
    let error = program.encode(&PlanRequest::default()).unwrap_err();
    let short = matches!(
        error,
        ProgramError::RegisterTooShort {
            words: 3,
            needed: 4,
            ..
        }
    );
    assert!(short, "{error}");
}

#[test]
fn batches_run_waves_of_one_set() {
    let graph = ring();
    let program = Arc::new(chain(5));
    let job = |program: &Arc<EncodedProgram>, number| Job {
        graph: &graph,
        program: Arc::clone(program),
        inputs: Vec::new(),
        result: program.register(number).unwrap(),
    };
    let open = |jobs: &[Job<'_>]| {
        let limits = (RunLimits::default(), None);
        CpuBatch::open(jobs, NonZeroUsize::new(2), limits.0, limits.1).map(|mut batch| {
            batch.run().unwrap();
            batch.read().unwrap()
        })
    };
    let results = open(&[job(&program, 5), job(&program, 5)]).unwrap();
    assert!(
        results
            .iter()
            .all(|words| words.iter().copied().eq(0..WORDS))
    );
    let other = Arc::new(one::<LeavesOut>(&OwnWaves::of::<Liars>()));
    let mixed = open(&[job(&program, 5), job(&other, 1)]).unwrap_err();
    let refused = matches!(
        mixed,
        BatchError::Job {
            index: 1,
            source: BackendError::OtherWaves
        }
    );
    assert!(refused, "{mixed}");
}

#[test]
fn a_baseline_host_loop_runs_custom_waves_too() {
    let (graph, program) = (ring(), chain(3));
    let machine = Executors::cpu(NonZeroUsize::new(2));
    let mut session = open_baseline(&graph, &machine).unwrap();
    session.load(&program).unwrap();
    session.run(&[]).unwrap();
    let mut words = Vec::new();
    session
        .read(program.register(3).unwrap(), &mut words)
        .unwrap();
    assert!(words.iter().copied().eq(0..WORDS));
}

/// A fixpoint of waves of another crate that never ends by itself.
fn endless() -> EncodedProgram {
    let mut program = ProgramBuilder::new(WORDS);
    program.use_waves(&OwnWaves::of::<Faulty>());
    let count = program.words("count", WORDS.into()).unwrap();
    program.fill("begin", count, 0);
    program.fixpoint("for ever", u32::MAX, |body| {
        body.own::<Loops>("count up", Call::to(count));
    });
    program.keep(count);
    plan(&program)
}

#[test]
fn runs_of_own_waves_are_cancelled_and_end_with_their_time() {
    let error = run(&endless(), 2).unwrap_err();
    let code = match error {
        BackendError::Fault { record, .. } => FaultCode::from_word(record.code),
        other => panic!("{other}"),
    };
    assert!(
        matches!(code, FaultCode::TimeBudget | FaultCode::Watchdog),
        "{code:?}"
    );
    let cancelled = within(60, || {
        let graph = ring();
        let threads = NonZeroUsize::new(2);
        let mut session = CpuSession::open(&graph, threads, RunLimits::default()).unwrap();
        let canceller = Canceller::default();
        session.cancel_by(canceller.clone());
        session.load(&endless()).unwrap();
        std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(50));
            canceller.cancel();
        });
        session.run(&[]).unwrap_err()
    });
    assert!(matches!(cancelled, BackendError::Cancelled), "{cancelled}");
}

wave!(Panics, PLAIN, |wave| {
    let to = wave.write(To)?;
    wave.each(to.len(), |item| {
        assert!(item.index() + 1 < to.len(), "the wave's own panic");
        item.store(to, item.index(), 0);
    });
});

/// The other threads would wait at the next barrier until the time budget ends.
#[test]
fn a_wave_that_panics_ends_the_run_at_once_on_all_threads() {
    const MANY: u32 = 100_000;
    let mut program = ProgramBuilder::new(WORDS);
    program.use_waves(&OwnWaves::of::<(Panics,)>());
    let [from, to] = ["from", "to"].map(|name| program.words(name, MANY.into()).unwrap());
    program.iota("number", from);
    program.own::<Panics>("panic", Call::to(to).first(from));
    program.copy("copy", from, to);
    program.keep(from);
    let (program, _) = program.encode(&PlanRequest::default()).unwrap();
    let (sound, graph) = (chain(2), ring());
    for threads in [1, 2, 3] {
        let limits = RunLimits {
            time_budget_ns: 60_000_000_000,
        };
        let threads = NonZeroUsize::new(threads);
        let mut session = CpuSession::open(&graph, threads, limits).unwrap();
        session.load(&program).unwrap();
        let started = Instant::now();
        let ended = catch_unwind(AssertUnwindSafe(|| session.run(&[])));
        let panic = ended.unwrap_err();
        let message = panic.downcast_ref::<&str>().copied();
        assert_eq!(message, Some("the wave's own panic"));
        assert!(started.elapsed() < Duration::from_secs(20), "{threads:?}");
        session.load(&sound).unwrap();
        session.run(&[]).unwrap();
    }
}
