//! Reports of runs, and faults of machine code.

use seawall::backend::cpu::CpuSession;
use seawall::backend::{BackendError, RunLimits, Session};
use seawall::executor::Jit;
use seawall::graph::Graph;
use seawall::program::{EncodedProgram, Join, Kind, Over, ProgramBuilder, RegisterId};
use std::num::NonZeroUsize;

fn graph() -> Graph {
    let edges: Vec<(u32, u32)> = (0..99).map(|node| (node, node + 1)).collect();
    Graph::from_edges(100, &edges, true).unwrap()
}

/// Squares of numbers, and a value at `place` of ten.
pub(crate) fn squares(place: u32) -> (EncodedProgram, RegisterId) {
    let mut program = ProgramBuilder::new(100);
    let squares = program.per_node("squares", Kind::U32).unwrap();
    let ten = program.words("ten", 10).unwrap();
    program.fill("none", ten, 0);
    program.each("square", Over::Nodes, |node| {
        node.store(squares, node.index() * node.index());
        node.scatter(ten, node.index() % 5 + place, Join::Max, node.index());
    });
    program.keep(squares);
    program.keep(ten);
    (program.encode(&Default::default()).unwrap().0, squares)
}

fn session(graph: &Graph, threads: usize, jit: Jit) -> CpuSession<'_> {
    let session = CpuSession::open(graph, NonZeroUsize::new(threads), RunLimits::default());
    session.unwrap().with_jit(jit)
}

#[test]
fn the_report_says_what_was_compiled() {
    let (graph, (program, squares)) = (graph(), squares(0));
    for threads in [1, 2] {
        for (jit, compiled) in [(Jit::Always, 1), (Jit::Never, 0), (Jit::Auto, 0)] {
            let mut session = session(&graph, threads, jit);
            session.load(&program).unwrap();
            let code = session.run(&[]).unwrap().code.unwrap();
            assert_eq!((code.waves, code.compiled), (1, compiled), "{jit:?}");
            assert_eq!(code.compile_ns > 0, compiled > 0);
            assert_eq!(code.reason.is_some(), compiled == 0);
            let mut words = Vec::new();
            session.read(squares, &mut words).unwrap();
            assert_eq!(words[99], 99 * 99);
        }
    }
}

#[test]
fn what_runs_often_is_compiled() {
    let (graph, (program, _)) = (graph(), squares(0));
    let mut session = session(&graph, 1, Jit::Auto);
    session.load(&program).unwrap();
    let compiled = |_| session.run(&[]).unwrap().code.unwrap().compiled > 0;
    assert!((0..1_000_000).any(compiled), "it takes microseconds a run");
}

#[test]
fn an_index_out_of_range_is_the_same_fault() {
    let (graph, (program, _)) = (graph(), squares(6));
    for threads in [1, 2] {
        let faults = [Jit::Never, Jit::Always].map(|jit| {
            let mut session = session(&graph, threads, jit);
            session.load(&program).unwrap();
            match session.run(&[]) {
                Err(error @ BackendError::Fault { .. }) => error.to_string(),
                other => panic!("{other:?}"),
            }
        });
        assert_eq!(faults[0], faults[1]);
        assert!(faults[0].contains("square"), "{}", faults[0]);
    }
}

/// Memory with machine code can be read and executed, and no memory can be written and executed.
#[cfg(target_os = "linux")]
#[test]
fn no_memory_is_writable_and_executable() {
    let (graph, (program, _)) = (graph(), squares(0));
    let mut session = session(&graph, 1, Jit::Always);
    session.load(&program).unwrap();
    let anonymous = |maps: &str| {
        let is_anonymous =
            |line: &&str| line.split_whitespace().count() == 5 || line.ends_with("[heap]");
        maps.lines()
            .filter(is_anonymous)
            .filter(|line| line.contains(" r-xp "))
            .count()
    };
    let maps = || std::fs::read_to_string("/proc/self/maps").unwrap();
    session.run(&[]).unwrap();
    let during = maps();
    assert!(anonymous(&during) > 0, "{during}");
    let is_both = |line: &str| line.contains(" rwx") || line.contains(" -wx");
    assert!(!during.lines().any(is_both), "{during}");
}
