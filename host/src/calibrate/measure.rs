//! Measurement of this machine's costs: about a second for a CPU and a GPU.
//!
//! Times of searches come from the executors of a run, so improvements of those show here. The
//! cost of a GPU's edges is derived from its memory's speed instead, because no graph made within
//! a second is large enough to show it.

pub use super::probe::ProbeError as MeasureError;
use super::probe::{self, Open};
use super::store::Key;
use crate::backend::cpu::{CpuSession, available_threads};
use crate::backend::cuda::measure::Meter;
use crate::backend::cuda::{self, CudaOptions};
use crate::backend::{BackendError, RunLimits, Session};
use crate::cost::{CLASSES, CpuCosts, GpuCosts, MachineCosts};
use crate::graph::Graph;
use crate::program::{BitOp, PlanRequest, ProgramBuilder};
use std::num::NonZeroUsize;

/// Memory traffic of an edge in a search that pulls, bytes: a search of
/// `gen:rmat:22:16` on an H200 took 0.54 ms at 4.24 TB/s.
const EDGE_BYTES: f64 = 18.0;

/// Memory traffic of an edge in a pass over all edges, bytes: an iteration of a
/// ranking there took 1.19 ms.
const GATHER_BYTES: f64 = 40.0;

/// Waves of the program that times a barrier of threads.
const BARRIER_WAVES: usize = 200;

/// Words that such a wave handles: too many for one block alone.
const BARRIER_WORDS: u64 = 1 << 14;

/// Measures the CPU backend, on one thread and on all.
///
/// # Errors
/// [`MeasureError`] if a probe does not run.
pub fn cpu() -> Result<CpuCosts, MeasureError> {
    let threads = available_threads();
    let one = probe::costs(&|graph| open_on(graph, NonZeroUsize::MIN))?;
    let count = u32::try_from(threads.get()).unwrap_or(u32::MAX);
    if count <= 1 {
        return Ok(CpuCosts {
            threads: 1,
            barrier_ns: 0.0,
            one,
            all: one,
            ahead: one.levels[1],
        });
    }
    let open: &Open<'_> = &|graph| open_on(graph, threads);
    let all = probe::costs(open)?;
    Ok(CpuCosts {
        threads: count,
        barrier_ns: barrier_ns(threads)?,
        one,
        ahead: probe::ahead(open, &all)?,
        all: no_faster_when_narrow(all, &one),
    })
}

/// Returns `all` with narrow levels at least as expensive as on one thread: a single thread
/// searches those, so lower measurements are noise.
fn no_faster_when_narrow(mut all: MachineCosts, one: &MachineCosts) -> MachineCosts {
    let narrow = all.levels.iter_mut().zip(&one.levels).take(CLASSES - 1);
    for (all, one) in narrow {
        if all.level_ns + all.node_ns < one.level_ns + one.node_ns {
            *all = *one;
        }
    }
    all
}

fn open_on(graph: &Graph, threads: NonZeroUsize) -> Result<Box<dyn Session + '_>, BackendError> {
    let session = CpuSession::open(graph, Some(threads), RunLimits::default())?;
    Ok(Box::new(session))
}

/// Cost of a barrier of `threads` threads: the time of a wave beyond its share of the work.
fn barrier_ns(threads: NonZeroUsize) -> Result<f64, MeasureError> {
    let one = wave_ns(NonZeroUsize::MIN)?;
    let all = wave_ns(threads)?;
    Ok((all - one / threads.get() as f64).max(0.0))
}

/// Time of a wave among many that wait for each other, nanoseconds.
fn wave_ns(threads: NonZeroUsize) -> Result<f64, MeasureError> {
    let program = wide_chain()?;
    let (encoded, _) = program.encode(&PlanRequest::default())?;
    let graph = Graph::from_edges(1, &[], false)?;
    let mut session = CpuSession::open(&graph, Some(threads), RunLimits::default())?;
    session.load(&encoded)?;
    let mut best = u64::MAX;
    for _ in 0..3 {
        best = best.min(session.run(&[])?.run_ns);
    }
    Ok(best as f64 / BARRIER_WAVES as f64)
}

/// Builds waves that each read the result of the previous one.
fn wide_chain() -> Result<ProgramBuilder, crate::program::ProgramError> {
    let mut program = ProgramBuilder::new(1);
    let pair = [
        program.words("even", BARRIER_WORDS)?,
        program.words("odd", BARRIER_WORDS)?,
    ];
    let mask = program.words("mask", BARRIER_WORDS)?;
    program.iota("mask", mask);
    program.fill("start", pair[0], 0);
    for wave in 0..BARRIER_WAVES {
        let (from, to) = (pair[wave % 2], pair[1 - wave % 2]);
        program.combine("link", BitOp::Xor, to, [from, mask]);
    }
    program.keep(pair[BARRIER_WAVES % 2]);
    Ok(program)
}

/// Measures GPU `ordinal`; also returns its name and driver.
///
/// # Errors
/// [`MeasureError::Backend`] with [`crate::backend::BackendError::Unavailable`] without such a
/// GPU; otherwise if a probe does not run.
pub fn gpu(ordinal: u32) -> Result<(Key, GpuCosts), MeasureError> {
    let mut meter = Meter::open(ordinal)?;
    let key = Key::of_device(meter.device());
    let memory_bytes_per_s = meter.memory_bytes_per_s()?;
    let open: &Open<'_> = &|graph| {
        let options = CudaOptions {
            device: ordinal,
            ..CudaOptions::default()
        };
        cuda::open(cuda::Executor::Mega, graph, options)
    };
    let byte_ns = 1e9 / memory_bytes_per_s;
    let run = MachineCosts {
        edge_ns: EDGE_BYTES * byte_ns,
        gather_ns: GATHER_BYTES * byte_ns,
        ..probe::costs(open)?
    };
    let costs = GpuCosts {
        run,
        upload_byte_ns: 1e9 / meter.upload_bytes_per_s()?,
        barrier_ns: meter.barrier_ns(None, None)?.0,
        launch_ns: meter.launch_ns()?,
        launch_sync_ns: meter.launch_sync_ns()?,
        readback_ns: meter.readback_ns()?,
        graph_node_ns: meter.graph_node_ns()?,
        memory_bytes_per_s,
    };
    Ok((key, costs))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cpu_is_measured_with_plausible_times() {
        let costs = cpu().unwrap();
        assert!(costs.is_sane(), "{costs:?}");
        assert_eq!(costs.threads as usize, available_threads().get());
        let [narrow, ..] = costs.one.levels;
        assert!(narrow.level_ns + narrow.node_ns > 0.0, "{costs:?}");
        assert!(costs.one.edge_ns > 0.0, "{costs:?}");
    }

    #[test]
    fn threads_do_not_make_narrow_levels_cheaper() {
        let CpuCosts { one, mut all, .. } = CpuCosts::default_for(8);
        all.levels[0].node_ns = 0.5;
        all.levels[CLASSES - 1].node_ns = 0.5;
        let all = no_faster_when_narrow(all, &one);
        assert_eq!(all.levels[0], one.levels[0]);
        assert_eq!(all.levels[CLASSES - 1].node_ns, 0.5);
    }

    #[test]
    fn a_missing_gpu_is_an_error() {
        assert!(matches!(gpu(u32::MAX), Err(MeasureError::Backend(_))));
    }
}
