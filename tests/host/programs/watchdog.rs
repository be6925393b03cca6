//! Programs that would not end, and their watchdog.

use super::{bare, fault_of, plan, run_watched};
use seawall::backend::cpu::CpuSession;
use seawall::backend::{BackendError, RunLimits, Session};
use seawall::program::ProgramBuilder;
use seawall_core::abi::control::FaultCode;
use seawall_core::abi::program::Opcode;
use seawall_oracles::faulty;
use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

#[test]
fn the_watchdog_names_the_wave_and_counts_missing_blocks() {
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
        let missing = Box::new([1]);
        let error = BackendError::Fault {
            record,
            wave_name,
            missing,
            registers: Box::default(),
        };
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
fn the_watchdog_names_the_missing_block() {
    let threads = 3;
    for held in [1, 2] {
        let missing = || match run_watched(faulty::stalled(held).unwrap(), threads) {
            Err(BackendError::Fault { missing, .. }) => missing.into_vec(),
            other => panic!("expected a fault, got {other:?}"),
        };
        // On a busy machine the block may return before the others give up; then no block is named.
        let named: Vec<Vec<u32>> = (0..5).map(|_| missing()).collect();
        let is_right = |missing: &Vec<u32>| missing.is_empty() || *missing == [held];
        assert!(named.iter().all(is_right), "{named:?}");
        assert!(named.contains(&vec![held]), "{named:?}");
    }
}

#[test]
fn a_block_without_waiting_blocks_reports_itself() {
    let (record, wave_name) = fault_of(run_watched(faulty::stalled(0).unwrap(), 1));
    assert_eq!(FaultCode::from_word(record.code), FaultCode::TimeBudget);
    assert_eq!(
        (wave_name.as_str(), record.opcode),
        (faulty::STALL, Opcode::Stall as u32)
    );
}

/// Threads leave long waves when the time is over, and know only the number of the wave.
#[test]
fn a_wave_that_threads_leave_is_named_with_its_opcode() {
    const WORDS: u64 = 1 << 20;
    let mut program = ProgramBuilder::new(100);
    let a = program.words("a", WORDS).unwrap();
    program.fill("fill for long", a, 1);
    let program = plan(&program);
    let graph = bare(100);
    let limits = RunLimits { time_budget_ns: 1 };
    for threads in [1, 2] {
        let mut session = CpuSession::open(&graph, NonZeroUsize::new(threads), limits).unwrap();
        session.load(&program).unwrap();
        let (record, wave_name) = fault_of(session.run(&[]));
        let code = FaultCode::from_word(record.code);
        assert!(matches!(code, FaultCode::TimeBudget | FaultCode::Watchdog));
        let named = (wave_name.as_str(), record.opcode);
        assert_eq!(named, ("fill for long", Opcode::Fill as u32));
    }
}

/// Mapping the pages of 16 GiB takes many seconds, and the run ends at its first wave.
#[test]
fn a_large_register_is_loaded_within_the_time_budget() {
    let mut program = ProgramBuilder::new(100);
    let large = program.words("large", u32::MAX.into()).unwrap();
    program.fill("fill for long", large, 1);
    let program = plan(&program);
    let graph = bare(100);
    let limits = RunLimits {
        time_budget_ns: 20_000_000,
    };
    let started = Instant::now();
    let mut session = CpuSession::open(&graph, NonZeroUsize::new(2), limits).unwrap();
    match session.load(&program) {
        Ok(()) => {
            let (record, _) = fault_of(session.run(&[]));
            let code = FaultCode::from_word(record.code);
            assert!(matches!(code, FaultCode::TimeBudget | FaultCode::Watchdog));
        }
        Err(BackendError::OutOfMemory { needed, .. }) => assert!(needed >= 4 * 0xFFFF_FFFF),
        Err(error) => panic!("{error}"),
    }
    let elapsed = started.elapsed();
    assert!(elapsed < Duration::from_millis(1500), "{elapsed:?}");
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
