//! Waves of other crates that do not end: the caller continues, and the memory of their threads
//! stays.

use super::{plan, within};
use seawall::backend::batch::{BatchError, BatchSession, Job, cpu::CpuBatch};
use seawall::backend::cpu::CpuSession;
use seawall::backend::{BackendError, Canceller, RunLimits, Session};
use seawall::graph::Graph;
use seawall::own::OwnWaves;
use seawall::program::{Call, EncodedProgram, ProgramBuilder};
use seawall_device::own::{Facts, Fault, Machine, Operand, Running, Wave};
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// Waves whose first item runs until the number that their parameter selects is not 0.
static GO_ON: [AtomicU32; 4] = [const { AtomicU32::new(0) }; 4];
/// Number of items that have ended this way, and the sum of the words that they read meanwhile.
static ENDED: [AtomicU32; 4] = [const { AtomicU32::new(0) }; 4];

/// Reads and stores words of the arena and the graph until it is asked to end.
struct Spins;

impl Wave for Spins {
    const NAME: &'static str = "Spins";
    const FACTS: Facts = Facts::of(&[Operand::To], &[Operand::To]);

    fn run<M: Machine>(wave: &mut Running<'_, M>) -> Result<(), Fault> {
        let (to, rows) = (wave.update(Operand::To)?, wave.outgoing());
        let [which, ..] = wave.parameters();
        wave.each(to.len(), |item| {
            if item.index() != 0 {
                return;
            }
            let mut right = true;
            while GO_ON[which as usize].load(Ordering::Acquire) == 0 {
                for edge in 0..rows.edges() {
                    right &= item.neighbour(rows, edge) == edge + 1;
                }
                item.store(to, 0, item.load(to, 0) ^ 1);
                right &= item.load(to, 1) == 7;
                std::thread::yield_now();
            }
            // Freed memory would sooner or later have other content.
            let added = if right { 1 } else { 1000 };
            ENDED[which as usize].fetch_add(added, Ordering::AcqRel);
        });
        Ok(())
    }
}

const NODES: u32 = 3000;

fn path() -> Graph {
    let edges: Vec<(u32, u32)> = (1..NODES).map(|node| (node - 1, node)).collect();
    Graph::from_edges(NODES, &edges, false).unwrap()
}

fn program(which: u32) -> (EncodedProgram, seawall::program::RegisterId) {
    let mut program = ProgramBuilder::new(NODES);
    program.use_waves(&OwnWaves::of::<(Spins,)>());
    let to = program.words("to", NODES.into()).unwrap();
    program.fill("seven", to, 7);
    program.own::<Spins>("spin", Call::to(to).with([which]));
    program.copy("copy", to, to);
    program.keep(to);
    (plan(&program), to)
}

const LIMITS: RunLimits = RunLimits {
    time_budget_ns: 300_000_000,
};

/// Ends the waves of a test, and waits for them.
fn end(which: usize, items: u32) {
    GO_ON[which].store(1, Ordering::Release);
    let started = Instant::now();
    while ENDED[which].load(Ordering::Acquire) < items {
        assert!(
            started.elapsed() < Duration::from_secs(30),
            "threads are lost"
        );
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(ENDED[which].load(Ordering::Acquire), items);
}

#[test]
fn a_wave_without_an_end_does_not_keep_its_caller() {
    for (which, threads) in [(0, 1), (1, 2)] {
        within(60, move || {
            let graph = path();
            let threads = NonZeroUsize::new(threads);
            let mut session = CpuSession::open(&graph, threads, LIMITS).unwrap();
            let (program, to) = program(which);
            session.load(&program).unwrap();
            let started = Instant::now();
            let stuck = session.run(&[]).unwrap_err();
            assert!(started.elapsed() < Duration::from_secs(20));
            let message = stuck.to_string();
            assert!(message.contains("(spin) does not end"), "{message}");
            assert!(
                matches!(&stuck, BackendError::Stuck { threads: 1, waves, .. } if waves == &["spin"]),
                "{message}"
            );
            let closed = |error: BackendError| {
                assert!(matches!(error, BackendError::Closed { .. }), "{error}");
            };
            closed(session.run(&[]).unwrap_err());
            closed(session.load(&program).unwrap_err());
            closed(session.read(to, &mut Vec::new()).unwrap_err());
            // Another session runs beside the abandoned thread.
            let mut other = CpuSession::open(&graph, threads, LIMITS).unwrap();
            let mut simple = ProgramBuilder::new(NODES);
            let ones = simple.words("ones", 5).unwrap();
            simple.fill("ones", ones, 1);
            simple.keep(ones);
            other.load(&plan(&simple)).unwrap();
            other.run(&[]).unwrap();
            // The graph and the session are dropped here, and the thread continues with both.
        });
        // If the memory were free, the thread would see its reuse.
        let filler: Vec<Vec<u32>> = (0..200).map(|number| vec![number; 3000]).collect();
        std::thread::sleep(Duration::from_millis(100));
        end(which as usize, 1);
        drop(filler);
    }
}

#[test]
fn a_cancelled_wave_without_an_end_does_not_keep_its_caller() {
    within(60, || {
        let graph = path();
        let limits = RunLimits {
            time_budget_ns: 3_600_000_000_000,
        };
        let mut session = CpuSession::open(&graph, NonZeroUsize::new(2), limits).unwrap();
        let canceller = Canceller::default();
        session.cancel_by(canceller.clone());
        session.load(&program(2).0).unwrap();
        std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(50));
            canceller.cancel();
        });
        let stuck = session.run(&[]).unwrap_err();
        assert!(matches!(stuck, BackendError::Stuck { .. }), "{stuck}");
    });
    end(2, 1);
}

#[test]
fn a_batch_is_left_by_its_caller_too() {
    within(60, || {
        let graph = path();
        let (program, result) = program(3);
        let program = Arc::new(program);
        let job = |_| Job {
            graph: &graph,
            inputs: Vec::new(),
            result,
            program: Arc::clone(&program),
        };
        let jobs = [0, 1].map(job);
        let mut batch = CpuBatch::open(&jobs, NonZeroUsize::new(2), LIMITS, None).unwrap();
        let stuck = batch.run().unwrap_err();
        assert!(
            matches!(
                &stuck,
                BatchError::Backend(BackendError::Stuck { threads: 2, .. })
            ),
            "{stuck}"
        );
        let closed = batch.run().unwrap_err();
        assert!(
            matches!(&closed, BatchError::Backend(BackendError::Closed { .. })),
            "{closed}"
        );
    });
    end(3, 2);
}
