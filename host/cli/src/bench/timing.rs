//! Times of a program on a machine, by both clocks.

use seawall::backend::cpu::CpuSession;
use seawall::backend::cuda::{self, CudaOptions};
use seawall::backend::{BackendError, RunLimits, Session};
use seawall::graph::Graph;
use seawall::units::counted;
use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

/// Runs per median, if they fit the time limit.
const RUNS: usize = 5;

/// Time after which no further run starts.
const LONG: Duration = Duration::from_secs(2);

/// Longest run of the CPU: one thread may need minutes where a GPU needs
/// milliseconds.
pub(super) const CPU_LIMITS: RunLimits = RunLimits {
    time_budget_ns: 600_000_000_000,
};

/// A machine that runs a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Machine {
    /// An executor of a GPU.
    Gpu(cuda::Executor, u32),
    /// Threads.
    Cpu(NonZeroUsize),
}

impl Machine {
    /// Returns the name in the table.
    pub(super) fn name(self) -> String {
        match self {
            Self::Gpu(cuda::Executor::Mega, _) => "mega".to_owned(),
            Self::Gpu(cuda::Executor::Launches, _) => "launches".to_owned(),
            Self::Gpu(cuda::Executor::Graph, _) => "graph".to_owned(),
            Self::Cpu(threads) => format!("cpu, {}", counted(threads.get() as u64, "thread")),
        }
    }

    /// Opens the machine with `graph` resident.
    pub(super) fn open(self, graph: &Graph) -> Result<Box<dyn Session + '_>, BackendError> {
        match self {
            Self::Gpu(executor, device) => {
                let options = CudaOptions {
                    device,
                    ..CudaOptions::default()
                };
                cuda::open(executor, graph, options)
            }
            Self::Cpu(threads) => {
                let session = CpuSession::open(graph, Some(threads), CPU_LIMITS)?;
                Ok(Box::new(session))
            }
        }
    }
}

/// Median times of a program, nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Times {
    /// Between two events on a GPU; equal to the wall time on a CPU.
    pub(super) device_ns: f64,
    /// From the call to its return.
    pub(super) wall_ns: f64,
    /// Iterations of the program's first loop.
    pub(super) iterations: u32,
}

/// Runs the loaded program once without counting it and then, unless `quick`,
/// several times.
pub(super) fn times(
    session: &mut dyn Session,
    inputs: &[u32],
    quick: bool,
) -> Result<Times, BackendError> {
    let run = || {
        let stats = session.run(inputs)?;
        Ok((stats.run_ns, stats.control.loops[0].iterations))
    };
    calls(run, quick)
}

/// Works as [`times`], for any call that returns its device time and its iterations.
pub(super) fn calls<E>(
    mut run: impl FnMut() -> Result<(u64, u32), E>,
    quick: bool,
) -> Result<Times, E> {
    run()?;
    let started = Instant::now();
    let (mut device, mut wall) = (Vec::new(), Vec::new());
    let iterations = loop {
        let call = Instant::now();
        let (run_ns, iterations) = run()?;
        wall.push(call.elapsed().as_nanos() as f64);
        device.push(run_ns as f64);
        if quick || wall.len() >= RUNS || started.elapsed() > LONG {
            break iterations;
        }
    };
    Ok(Times {
        device_ns: median(&mut device),
        wall_ns: median(&mut wall),
        iterations,
    })
}

/// Returns the median of `values`, 0 if there are none.
pub(super) fn median(values: &mut [f64]) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle_of_the_sorted_values() {
        assert_eq!(median(&mut [9.0, 1.0, 5.0]), 5.0);
        assert_eq!(median(&mut []), 0.0);
    }
}
