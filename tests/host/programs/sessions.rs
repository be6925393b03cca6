//! The order of a session's calls, and sessions after a fault.

use super::{BUDGET, bare, chain, plan};
use seawall::backend::cpu::CpuSession;
use seawall::backend::{BackendError, RunLimits, Session};
use seawall::program::ProgramBuilder;
use seawall_oracles::faulty;
use std::num::NonZeroUsize;

#[test]
fn sessions_used_in_the_wrong_order_return_errors() {
    let graph = bare(faulty::NODES);
    let mut session = CpuSession::open(&graph, None, RunLimits::default()).unwrap();
    assert!(matches!(session.run(&[]), Err(BackendError::NotLoaded)));
    let program = faulty::plain().unwrap();
    assert!(matches!(
        session.read(faulty::total(&program), &mut Vec::new()),
        Err(BackendError::NotLoaded)
    ));
    session.load(&program).unwrap();
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
    let mut sum = Vec::new();
    session.read(faulty::total(&program), &mut sum).unwrap();
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

#[test]
fn registers_are_read_by_the_names_of_their_own_builder_alone() {
    let graph = bare(100);
    let mut session = CpuSession::open(&graph, NonZeroUsize::new(1), BUDGET).unwrap();
    let (mut program, last) = chain(3, 50);
    session.load(&plan(&program)).unwrap();
    session.run(&[]).unwrap();
    let mut words = Vec::new();
    session.read(last, &mut words).unwrap();
    let mut read = |register| session.read(register, &mut words).unwrap_err().to_string();
    let (_, foreign) = chain(3, 50);
    assert!(read(foreign).contains("another program"));
    let of_a_clone = program.clone().words("of a clone", 1).unwrap();
    let later = program.words("later", 1).unwrap();
    for unknown in [of_a_clone, later] {
        assert!(read(unknown).contains("number 7 is not one of them"));
    }
}

#[test]
fn a_program_for_graphs_of_another_size_is_refused_at_load() {
    let mut program = ProgramBuilder::new(100_000);
    let words = program.words("words", 6).unwrap();
    program.fill("fill", words, 1);
    program.keep(words);
    let graph = bare(4);
    let mut session = CpuSession::open(&graph, NonZeroUsize::new(1), BUDGET).unwrap();
    let error = session.load(&plan(&program)).unwrap_err();
    assert!(
        matches!(
            error,
            BackendError::OtherGraph {
                expected: 100_000,
                given: 4
            }
        ),
        "{error}"
    );
}
