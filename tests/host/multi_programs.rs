//! Programs that several simulated devices share have the results of one device, bit for bit.

use crate::drawn::cases;
use crate::multi_triangles::shapes;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use seawall::backend::{BackendError, ProgramSession, RunStats};
use seawall::executor::{Jit, Machine};
use seawall::graph::{Graph, LoadOptions, load};
use seawall::multi::{Devices, open_on_ranks, open_session, refusal, refuse_on_ranks};
use seawall::program::{
    EncodedProgram, Join, Kind, Mark, Over, PlanRequest, ProgramBuilder, RegisterId,
};
use seawall_oracles::carriers::{Threads, each};
use seawall_oracles::harness::run_script;
use seawall_oracles::shared::{Build, PROGRAMS, labels};
use std::num::NonZeroUsize;
use std::thread::{scope, sleep};
use std::time::Duration;

fn encoded(program: &ProgramBuilder) -> EncodedProgram {
    program.encode(&PlanRequest::default()).unwrap().0
}

/// The results of a program, and the ends of its loops.
fn run(session: &mut ProgramSession<'_>, results: &[RegisterId]) -> (Vec<Vec<u32>>, Vec<[u32; 2]>) {
    let RunStats { control, .. } = session.run().unwrap();
    let ends = control.loops.iter().take(control.loops_done as usize);
    let ends = ends.map(|end| [end.iterations, end.converged]).collect();
    let words = results.iter().map(|register| {
        let mut words = Vec::new();
        session.read(*register, &mut words).unwrap();
        words
    });
    (words.collect(), ends)
}

/// Compares a program on one to four devices with one device.
fn compare(name: &str, graph: &Graph, build: Build) {
    let (program, results) = build(graph).unwrap();
    let program = encoded(&program);
    assert_eq!(refusal(&program), None, "{name}");
    let machine = Machine::cpu(NonZeroUsize::new(1));
    let mut one = ProgramSession::open(graph, &machine).unwrap();
    one.load(&program).unwrap();
    let wanted = run(&mut one, &results);
    for (count, threads, jit) in [
        (1, 1, Jit::Never),
        (2, 2, Jit::Never),
        (3, 1, Jit::Always),
        (4, 1, Jit::Never),
    ] {
        let mut machine = machine;
        machine.jit = jit;
        let devices = Devices::simulated(count, threads);
        let session = open_session(graph, &machine, &devices).unwrap();
        let mut session = ProgramSession::over(session);
        session.load(&program).unwrap();
        for _ in 0..2 {
            let found = run(&mut session, &results);
            assert_eq!(
                found,
                wanted,
                "{name} on {count} of {} nodes",
                graph.nodes()
            );
        }
        let report = session.devices().unwrap();
        assert_eq!(report.count, count);
        assert_eq!(report.nodes.iter().sum::<u64>(), u64::from(graph.nodes()));
        if graph.nodes() > 1 {
            assert_eq!(report.exchanged_bytes > 0, count > 1, "{name}");
        }
    }
    let reports = each(Threads::all(3), |rank| {
        let session = open_on_ranks(graph, &machine, rank, 1).unwrap();
        let mut session = ProgramSession::over(session);
        session.load(&program).unwrap();
        for _ in 0..2 {
            let found = run(&mut session, &results);
            assert_eq!(found, wanted, "{name} on ranks");
        }
        session.devices().unwrap()
    });
    assert_eq!(reports[0].memory_bytes.len(), 3);
    assert!(reports.iter().all(|report| *report == reports[0]));
}

/// Each shape has a third of the programs.
#[test]
fn every_shape_has_the_results_of_one_device() {
    for (turn, (name, nodes, edges)) in shapes(70).into_iter().enumerate() {
        let graph = Graph::from_edges(nodes, &edges, turn % 2 == 0).unwrap();
        for (program, build) in PROGRAMS.into_iter().skip(turn % 3).step_by(3) {
            compare(&format!("{program} of {name}"), &graph, build);
        }
    }
    for shape in ["gen:rmat:10:8", "gen:rmat-directed:9:8", "gen:grid:25"] {
        let graph = load(shape, &LoadOptions::default(), None).unwrap().graph;
        for (program, build) in PROGRAMS {
            compare(&format!("{program} of {shape}"), &graph, build);
        }
    }
}

/// Random programs that devices share equal the interpreter.
#[test]
fn random_programs_equal_the_interpreter() {
    let mut runner = TestRunner::deterministic();
    let drawn = cases(200, 2000, &[1, 2]);
    let mut shared = 0;
    for turn in 0..2000 {
        let case = drawn.new_tree(&mut runner).unwrap().current();
        let graph = case.list.graph().unwrap();
        let program = case.script.assemble(&case.list).unwrap().program;
        if refusal(&encoded(&program)).is_some() {
            continue;
        }
        shared += 1;
        let threads = case.threads.map_or(1, NonZeroUsize::get) as u32;
        let devices = Devices::simulated(1 + turn % 4, threads);
        let mut session = open_session(&graph, &Machine::auto(), &devices).unwrap();
        run_script(session.as_mut(), &case.list, &case.script, 2)
            .unwrap_or_else(|error| panic!("{devices:?}: {error}\n{:#?}", case.script.waves));
    }
    assert!(shared >= 80, "{shared}");
}

/// The refusal of a program of one node register, a list, its length, and two floats.
fn refused(wave: impl FnOnce(&mut ProgramBuilder, [RegisterId; 4])) -> String {
    let graph = load("gen:grid:4", &LoadOptions::default(), None)
        .unwrap()
        .graph;
    let mut program = ProgramBuilder::new(16);
    let values = program.per_node("values", Kind::U32).unwrap();
    let list = program.per_node("list", Kind::U32).unwrap();
    let count = program.values("count", Kind::U32, 1).unwrap();
    let floats = program.values("floats", Kind::F32, 2).unwrap();
    for register in [values, list, count, floats] {
        program.fill("begin", register, 0);
        program.keep(register);
    }
    wave(&mut program, [values, list, count, floats]);
    let program = encoded(&program);
    let found = refusal(&program).unwrap();
    assert_eq!(found.wave_name, program.wave_names[found.wave as usize]);
    let mut session = open_session(&graph, &Machine::auto(), &Devices::simulated(2, 1)).unwrap();
    let error = session.load(&program).unwrap_err();
    let BackendError::NotShared { reason } = error else {
        panic!("{error}");
    };
    assert_eq!(reason, found.to_string());
    reason
}

#[test]
fn waves_that_depend_on_the_order_of_items_are_refused_by_number() {
    let text = refused(|program, [_, list, count, _]| {
        program.each("list all", Over::Nodes, |node| {
            node.append((list, count), node.index(), 1);
        });
    });
    assert!(
        text.starts_with("wave 4 (list all) appends to a list"),
        "{text}"
    );
    let text = refused(|program, [values, list, count, _]| {
        program.each("over a list", Over::List { list, count }, |node| {
            node.store(values, 1);
        });
    });
    assert!(
        text.starts_with("wave 4 (over a list) runs over a list"),
        "{text}"
    );
    let text = refused(|program, [values, list, ..]| {
        program.each("ask", Over::Nodes, |node| {
            let before = node.scatter(list, 0, Join::Sum, 1);
            node.store(values, before);
        });
    });
    assert!(
        text.contains("uses what a scatter found there before"),
        "{text}"
    );
    let text = refused(|program, [.., floats]| {
        program.each("float", Over::Nodes, |node| {
            node.scatter(floats, node.index() % 2, Join::Sum, 0.1_f32);
        });
    });
    assert!(text.contains("adds floats in no fixed order"), "{text}");
    let text = refused(|program, [values, list, ..]| {
        let frontier = program.frontier("frontier").unwrap();
        program.reset("reset", frontier);
        program.seed("seed", frontier, list, Mark::Levels(values));
        program.search("search", frontier, Mark::Levels(values), 100);
    });
    assert!(text.contains("one device"), "{text}");
}

#[test]
fn devices_that_cannot_share_programs_say_why() {
    let graph = load("gen:chain:300000", &LoadOptions::default(), None)
        .unwrap()
        .graph;
    let machine = Machine::auto();
    for (devices, part) in [
        (Devices::simulated(0, 1), "1 to 16 devices, not 0"),
        (Devices::simulated(17, 1), "not 17"),
        (Devices::gpus(Vec::new()), "1 to 16 devices, not 0"),
    ] {
        let Err(error) = open_session(&graph, &machine, &devices) else {
            panic!("{devices:?}");
        };
        assert!(error.to_string().contains(part), "{error}");
    }
    let (program, _) = labels(&graph).unwrap();
    let program = encoded(&program);
    let two = Devices::simulated(2, 1);
    let mut hasty = machine;
    hasty.time_budget_ns = 20_000_000;
    let mut session = open_session(&graph, &hasty, &two).unwrap();
    assert!(matches!(session.run(&[]), Err(BackendError::NotLoaded)));
    session.load(&program).unwrap();
    let error = session.run(&[]).unwrap_err();
    assert!(error.to_string().contains("time budget"), "{error}");
    let mut session = ProgramSession::over(open_session(&graph, &machine, &two).unwrap());
    session.load(&program).unwrap();
    let canceller = session.canceller();
    let error = scope(|scope| {
        scope.spawn(move || {
            sleep(Duration::from_millis(30));
            canceller.cancel();
        });
        session.run().unwrap_err()
    });
    assert!(matches!(error, BackendError::Cancelled), "{error}");
}

/// Ranks of a grid of this side, on which the program of labels runs once.
fn labels_on_ranks(
    ranks: Vec<Threads>,
    side: impl Fn(u32) -> u32 + Sync,
) -> Vec<Result<(), BackendError>> {
    each(ranks, |rank| {
        let shape = format!("gen:grid:{}", side(rank.rank));
        let graph = load(&shape, &LoadOptions::default(), None).unwrap().graph;
        let (program, _) = labels(&graph).unwrap();
        let mut session = open_on_ranks(&graph, &Machine::auto(), rank, 1)?;
        session.load(&encoded(&program))?;
        session.run(&[]).map(|_| ())
    })
}

/// All others name a rank that is lost, whatever the meeting, and nothing hangs.
#[test]
fn a_lost_rank_of_a_program_is_named_by_all_others() {
    for calls in [0, 1, 2, 3, 9, 10, 11, 12] {
        let mut ranks = Threads::all(3);
        ranks[1].calls_left = calls;
        for found in labels_on_ranks(ranks, |_| 8) {
            let error = found.unwrap_err();
            assert!(
                matches!(error, BackendError::RankLost { rank: 1, .. }),
                "{calls}: {error}"
            );
        }
    }
}

#[test]
fn a_rank_of_a_program_that_differs_or_fails_ends_all() {
    for found in labels_on_ranks(Threads::all(3), |rank| 8 + rank / 2) {
        let reason = found.unwrap_err().to_string();
        assert!(
            reason.contains("rank 2 has another graph than rank 0"),
            "{reason}"
        );
    }

    // One program with an input of another value, which the program does not have in its tables.
    let graph = Graph::from_edges(40, &[(0, 1)], true).unwrap();
    let mut program = ProgramBuilder::new(40);
    let first = program.input("first", 1).unwrap();
    let numbers = program.words("numbers", 1).unwrap();
    program.copy("first", numbers, first);
    program.keep(numbers);
    let program = encoded(&program);
    let found = each(Threads::all(3), |rank| {
        let mut inputs = vec![7; program.input_bytes as usize / 4];
        let other = rank.rank / 2;
        let mut session = open_on_ranks(&graph, &Machine::auto(), rank, 1)?;
        session.load(&program)?;
        session.run(&inputs)?;
        inputs[0] += other;
        session.run(&inputs).map(|_| ())
    });
    for found in found {
        let reason = found.unwrap_err().to_string();
        assert!(
            reason.contains("rank 2 has other inputs than rank 0"),
            "{reason}"
        );
    }

    let graph = load("gen:grid:40", &LoadOptions::default(), None)
        .unwrap()
        .graph;
    let (program, _) = labels(&graph).unwrap();
    let program = encoded(&program);
    let found = each(Threads::all(2), |rank| {
        if rank.rank == 1 {
            return refuse_on_ranks(rank)
                .map(|_| ())
                .map_err(|_| BackendError::NotLoaded);
        }
        let mut session = open_on_ranks(&graph, &Machine::auto(), rank, 1)?;
        session.load(&program)
    });
    assert!(matches!(found[0], Err(BackendError::RankEnded { rank: 1 })));

    // One rank alone runs out of time, after some iterations.
    let found = each(Threads::all(3), |rank| {
        let mut machine = Machine::auto();
        if rank.rank == 1 {
            machine.time_budget_ns = 1_000_000;
        }
        let mut session = open_on_ranks(&graph, &machine, rank, 1)?;
        session.load(&program)?;
        session.run(&[]).map(|_| ())
    });
    for (rank, found) in found.into_iter().enumerate() {
        let error = found.unwrap_err();
        match rank {
            1 => assert!(error.to_string().contains("time budget"), "{error}"),
            _ => assert!(
                matches!(error, BackendError::RankEnded { rank: 1 }),
                "{error}"
            ),
        }
    }
}
