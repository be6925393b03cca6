//! Time budgets, cancels and the check of facts act on machine code as on the interpreter.

use seawall::backend::cpu::CpuSession;
use seawall::backend::{BackendError, Canceller, RunLimits, Session};
use seawall::executor::Jit;
use seawall::graph::Graph;
use seawall::program::{Edges, EncodedProgram, Join, Kind, Over, ProgramBuilder};
use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

const THREADS: [usize; 2] = [1, 2];
const POLICIES: [Jit; 2] = [Jit::Never, Jit::Always];

/// A star of edges in both directions.
fn star() -> Graph {
    let edges: Vec<(u32, u32)> = (1..2000).map(|leaf| (0, leaf)).collect();
    Graph::from_edges(2000, &edges, true).unwrap()
}

/// Sums over neighbours, `rounds` times.
fn sums(graph: &Graph, rounds: u32) -> EncodedProgram {
    let mut program = ProgramBuilder::new(graph.nodes());
    let [old, new] = ["old", "new"].map(|name| program.per_node(name, Kind::U32).unwrap());
    program.iota("number", old);
    program.fixpoint("again", rounds, |body| {
        body.each("sum", Over::Nodes, |node| {
            let sum = node.gather(Edges::Out, Join::Sum, |edge| edge.there(old));
            node.store(new, sum);
            node.changed(1);
        });
        body.each("take over", Over::Nodes, |node| {
            node.store(old, node.load(new))
        });
    });
    program.keep(old);
    program.encode(&Default::default()).unwrap().0
}

fn session(graph: &Graph, threads: usize, jit: Jit, limits: RunLimits) -> CpuSession<'_> {
    let session = CpuSession::open(graph, NonZeroUsize::new(threads), limits);
    session.unwrap().with_jit(jit)
}

#[test]
fn a_time_budget_ends_rounds_of_code_with_the_same_fault() {
    let (graph, limits) = (
        star(),
        RunLimits {
            time_budget_ns: 50_000_000,
        },
    );
    let program = sums(&graph, u32::MAX);
    for threads in THREADS {
        for jit in POLICIES {
            let mut session = session(&graph, threads, jit, limits);
            session.load(&program).unwrap();
            let started = Instant::now();
            let error = session.run(&[]).unwrap_err();
            assert!(matches!(error, BackendError::Fault { .. }), "{error}");
            assert!(error.to_string().contains("time budget"), "{error}");
            assert!(started.elapsed() < Duration::from_secs(20));
            let compiled = session.code_report().unwrap().compiled;
            assert_eq!(compiled > 0, jit == Jit::Always);
        }
    }
}

#[test]
fn a_cancel_ends_rounds_of_code() {
    let (graph, limits) = (
        star(),
        RunLimits {
            time_budget_ns: u64::MAX,
        },
    );
    let program = sums(&graph, u32::MAX);
    for threads in THREADS {
        for jit in POLICIES {
            let mut session = session(&graph, threads, jit, limits);
            let canceller = Canceller::default();
            session.cancel_by(canceller.clone());
            session.load(&program).unwrap();
            let other = std::thread::spawn(move || {
                std::thread::sleep(Duration::from_millis(50));
                canceller.cancel();
            });
            let error = session.run(&[]).unwrap_err();
            other.join().unwrap();
            assert!(matches!(error, BackendError::Cancelled), "{error}");
        }
    }
}

#[test]
fn facts_hold_and_the_words_are_the_same_where_they_are_checked() {
    let graph = star();
    let program = sums(&graph, 5);
    let run = |mut session: CpuSession<'_>| {
        session.load(&program).unwrap();
        session.run(&[]).unwrap();
        let mut words = Vec::new();
        session
            .read(program.register(0).unwrap(), &mut words)
            .unwrap();
        words
    };
    let of = |jit| session(&graph, 2, jit, RunLimits::default());
    let expected = run(of(Jit::Never));
    assert!(expected.iter().any(|word| *word > 0));
    for jit in POLICIES {
        assert_eq!(run(of(jit)), expected, "{jit:?}");
        assert_eq!(run(of(jit).checking_facts()), expected, "{jit:?}");
    }
}
