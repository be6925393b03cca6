//! Runs that another thread ends.

use crate::tally::Tally;
use seawall::backend::batch::{BatchError, BatchSession, Job};
use seawall::backend::cuda::{CudaBatch, CudaOptions, CudaSession, Executor, LoopNodes};
use seawall::backend::{BackendError, Canceller, RunLimits, Session};
use seawall::graph::Graph;
use seawall_oracles::faulty;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Time that the loop would run without a cancellation.
const BUDGET: Duration = Duration::from_secs(20);
/// Time after which the other thread cancels.
const ASKED_AFTER: Duration = Duration::from_millis(50);
/// Latest end of a cancelled run.
const ENDED_WITHIN: Duration = Duration::from_secs(5);

/// Cancels an endless loop on `executor` and then runs a sound program in the same session. Under
/// a checker graphs are unrolled: `compute-sanitizer` does not follow conditional nodes.
pub(crate) fn run(executor: Executor, name: &'static str, quick: bool, tally: &mut Tally) {
    let loops = quick.then_some(LoopNodes::Unrolled);
    let options = CudaOptions { loops, ..options() };
    tally.check("cancelled run", name, "no seed", || {
        session(executor, options)
    });
}

/// Cancels a batch, one of whose graphs loops without an end.
pub(crate) fn batches(tally: &mut Tally) {
    tally.check("cancelled batch", "mega", "no seed", batch);
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

fn options() -> CudaOptions {
    CudaOptions {
        limits: RunLimits {
            time_budget_ns: BUDGET.as_nanos() as u64,
        },
        ..CudaOptions::default()
    }
}

/// The result of `run` and its time, with a thread that cancels a little later.
fn cancelled<T>(canceller: Canceller, run: impl FnOnce() -> T) -> Result<T, String> {
    let other = std::thread::spawn(move || {
        std::thread::sleep(ASKED_AFTER);
        canceller.cancel();
    });
    let start = Instant::now();
    let result = run();
    let took = start.elapsed();
    other.join().map_err(|_| "the other thread panicked")?;
    if took < ASKED_AFTER || took > ENDED_WITHIN {
        return Err(format!("the run ended after {took:?}"));
    }
    Ok(result)
}

fn session(executor: Executor, options: CudaOptions) -> Result<(), String> {
    let graph = Graph::from_edges(faulty::NODES, &[], false).map_err(text)?;
    let mut session = CudaSession::open(executor, &graph, options).map_err(text)?;
    session
        .load(&faulty::endless().map_err(text)?)
        .map_err(text)?;
    let canceller = Canceller::default();
    session.cancel_by(canceller.clone());
    match cancelled(canceller, || session.run(&[]))? {
        Err(BackendError::Cancelled) => {}
        other => return Err(format!("expected Cancelled, got {other:?}")),
    }
    session.cancel_by(Canceller::default());
    let plain = faulty::plain().map_err(text)?;
    session.load(&plain).map_err(text)?;
    session.run(&[]).map_err(text)?;
    let mut words = Vec::new();
    session
        .read(faulty::total(&plain), &mut words)
        .map_err(text)?;
    if words != [faulty::SUM] {
        return Err(format!("the run after it added up to {words:?}"));
    }
    Ok(())
}

fn batch() -> Result<(), String> {
    let graph = Graph::from_edges(faulty::NODES, &[], false).map_err(text)?;
    let programs = [
        faulty::plain().map_err(text)?,
        faulty::endless().map_err(text)?,
    ];
    let jobs = programs.map(|program| Job {
        graph: &graph,
        result: faulty::total(&program),
        program: Arc::new(program),
        inputs: Vec::new(),
    });
    let mut batch = CudaBatch::open(&jobs, options()).map_err(text)?;
    let canceller = Canceller::default();
    batch.cancel_by(canceller.clone());
    match cancelled(canceller, || batch.run().map(|_| ()))? {
        Err(BatchError::Backend(BackendError::Cancelled)) => Ok(()),
        other => Err(format!("expected Cancelled, got {other:?}")),
    }
}
