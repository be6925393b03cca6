//! The order of a session's calls, and what a fault leaves behind.

use super::{BUDGET, bare, chain, plan};
use seawall::backend::cpu::CpuSession;
use seawall::backend::{BackendError, RunLimits, Session};
use seawall::program::RegisterId;
use seawall_tests::faulty;
use std::num::NonZeroUsize;

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
