//! Wave programs on the CPU backend: random ones against an interpreter, wrong ones against the
//! expected error.

mod against_interpreter;
mod broken_tables;
mod code;
mod hostile;
mod once;
mod own;
mod proofs;
mod planning;
mod sessions;
mod stale;
mod stuck;
mod sums;
mod weights;
mod writes;
mod sources;
mod watchdog;

use seawall::backend::cpu::CpuSession;
use seawall::backend::{BackendError, RunLimits, RunStats, Session};
use seawall::graph::Graph;
use seawall::program::{BitOp, EncodedProgram, PlanRequest, ProgramBuilder, RegisterId};
use seawall_core::abi::control::FaultRecord;
use std::num::NonZeroUsize;
use std::sync::mpsc;
use std::time::Duration;

const BUDGET: RunLimits = RunLimits {
    time_budget_ns: 100_000_000,
};

/// Runs `job` and fails if it takes so long that it must hang.
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
        Err(BackendError::Fault {
            record, wave_name, ..
        }) => (record, wave_name),
        other => panic!("expected a fault, got {other:?}"),
    }
}

/// A chain of registers, each needed once; the last one is kept.
fn chain(links: u32, words: u64) -> (ProgramBuilder, RegisterId) {
    let mut program = ProgramBuilder::new(100);
    let mut last = program.words("first", words).unwrap();
    program.iota("number", last);
    for _ in 0..links {
        let ones = program.words("ones", words).unwrap();
        let next = program.words("next", words).unwrap();
        program.fill("ones", ones, 1);
        program.combine("flip", BitOp::Xor, next, [last, ones]);
        last = next;
    }
    program.keep(last);
    (program, last)
}
