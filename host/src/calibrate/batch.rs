//! Predicted times of a batch on each machine, and the choice between them.
//!
//! Threads and blocks take whole graphs, so a batch is as long as the sum of its graphs, shared
//! out, or as its largest graph. Figures are of 8192 chains of 512 nodes, a search each, on the
//! machine of `docs/performance.md`; as for single graphs, the goal is a factor of two.

use super::predict::{Forecast, MARGIN, better, run_ns, time};
use crate::analysis::AnalysisKind;
use crate::cost::{Costs, Job, LevelCost, MachineCosts, Worker};
use crate::units::counted;

/// Blocks of a multiprocessor whose waits overlap. Many more are resident; the value follows from
/// the chains (0.83 ms of device time, 150 levels each).
const BLOCKS_AT_ONCE: f64 = 7.0;

/// Work of the host for a graph of a batch after every run on a GPU, nanoseconds: its control
/// block is copied back. 1.75 ms of wall time for 0.83 ms of device time.
const CONTROL_NS: f64 = 110.0;

/// Work of a thread for a graph before and after its levels, nanoseconds: a batch of 8192 single
/// nodes, on two threads.
const TAKE_NS: f64 = 300.0;

/// Building, packing and reading a graph of a batch, for any size and machine, nanoseconds: again
/// of single nodes.
const PACK_NS: f64 = 2.5e3;

/// The same per byte of a graph, nanoseconds: between the times of the chains (86 ms from graphs
/// to results on the CPU) and 40 random graphs of a million edges (0.7 to 1).
const PACK_BYTE_NS: f64 = 1.2;

/// Opening a GPU with the kernels of a batch, nanoseconds: 259 ms from graphs to results there. A
/// batch lives for one request, so it bears this alone.
const OPEN_NS: f64 = 177e6;

/// The properties of a batch that determine its cost.
#[derive(Clone, Debug, PartialEq)]
pub struct BatchJob {
    /// The analysis of each.
    pub analysis: AnalysisKind,
    /// Its graphs.
    pub graphs: f64,
    /// Bytes of all graphs, as a job counts them.
    pub bytes: f64,
    /// The graph of most work.
    pub largest: Job,
    /// Some of the other graphs.
    pub others: Vec<Job>,
    /// Work of all other graphs as a multiple of that of [`Self::others`].
    pub scale: f64,
    /// Number of runs of the batch.
    pub repeat: f64,
}

impl BatchJob {
    fn run_ns(&self, graph: &Job, worker: &Worker) -> f64 {
        run_ns(self.analysis, graph, worker)
    }

    /// Cost of all graphs together, if each costs `cost`.
    fn sum(&self, cost: impl Fn(&Job) -> f64) -> f64 {
        let others: f64 = self.others.iter().map(&cost).sum();
        cost(&self.largest) + self.scale * others
    }
}

/// Times of a batch on a machine, nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct BatchTimes {
    /// A run of the loaded batch, wall time.
    pub run_ns: f64,
    /// Everything else from graphs to results, once.
    pub once_ns: f64,
}

/// Predicted times of a batch.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct BatchPrediction {
    /// On all CPU threads.
    pub cpu: BatchTimes,
    /// Number of threads.
    pub threads: u32,
    /// On the GPU.
    pub gpu: BatchTimes,
    /// Runs of the request.
    pub repeat: f64,
}

/// Predicts `job` on threads and on a GPU of `units` multiprocessors.
#[must_use]
pub fn predict_batch(job: &BatchJob, costs: &Costs, units: u32) -> BatchPrediction {
    let pack_ns = job.graphs * PACK_NS + job.bytes * PACK_BYTE_NS;
    BatchPrediction {
        cpu: BatchTimes {
            run_ns: on_threads_ns(job, costs),
            once_ns: pack_ns,
        },
        threads: costs.cpu.threads,
        gpu: BatchTimes {
            run_ns: on_blocks_ns(job, &costs.gpu.run, f64::from(units.max(1))),
            once_ns: pack_ns + OPEN_NS + job.bytes * costs.gpu.upload_byte_ns,
        },
        repeat: job.repeat.max(1.0),
    }
}

/// A run on threads: started once, then each takes graph after graph.
fn on_threads_ns(job: &BatchJob, costs: &Costs) -> f64 {
    let threads = f64::from(costs.cpu.threads).min(job.graphs).max(1.0);
    let alone = MachineCosts {
        start_ns: TAKE_NS,
        ..costs.cpu.one
    };
    let thread = |graph: &Job| Worker::thread(alone, threads * graph.graph_bytes());
    let graph_ns = |graph: &Job| job.run_ns(graph, &thread(graph));
    let shared_ns = job.sum(graph_ns) / threads;
    costs.cpu.all.start_ns + shared_ns.max(graph_ns(&job.largest))
}

/// A run on blocks. The waits of a level overlap with those of other blocks on the same
/// multiprocessor, the work does not.
fn on_blocks_ns(job: &BatchJob, grid: &MachineCosts, units: f64) -> f64 {
    let block = of_block(grid, units);
    let work = MachineCosts {
        levels: block.levels.map(|cost| LevelCost {
            level_ns: 0.0,
            ..cost
        }),
        ..block
    };
    let [block, work] = [block, work].map(Worker::block_of_batch);
    let alone_ns = |graph: &Job| job.run_ns(graph, &block);
    let work_ns = job.sum(|graph| job.run_ns(graph, &work));
    let wait_ns = job.sum(alone_ns) - work_ns;
    let shared_ns = (work_ns + wait_ns / BLOCKS_AT_ONCE) / units;
    grid.start_ns + shared_ns.max(alone_ns(&job.largest)) + job.graphs * CONTROL_NS
}

/// Costs of one block in a grid of `units`: levels of any width as within a block, and edges by
/// its share of the machine.
fn of_block(grid: &MachineCosts, units: f64) -> MachineCosts {
    let [narrow, block, ..] = grid.levels;
    let levels = [narrow, block, block, block];
    MachineCosts {
        start_ns: 0.0,
        levels,
        edge_ns: grid.edge_ns * units,
        gather_ns: grid.gather_ns * units,
    }
}

impl BatchPrediction {
    /// From graphs to results on a machine, with all runs, nanoseconds.
    fn total_ns(&self, on: BatchTimes) -> f64 {
        on.once_ns + self.repeat * on.run_ns
    }
}

impl Forecast for BatchPrediction {
    fn is_for_gpu(&self) -> bool {
        self.total_ns(self.gpu) * MARGIN < self.total_ns(self.cpu)
    }

    fn is_too_small_for_a_gpu(&self) -> bool {
        self.repeat * self.cpu.run_ns <= OPEN_NS
    }

    fn small_reason(&self) -> String {
        let threads = counted(u64::from(self.threads), "CPU thread");
        format!(
            "about {} on {threads}, {} a run; no GPU was looked for, as opening one takes about {}",
            time(self.total_ns(self.cpu)),
            time(self.cpu.run_ns),
            time(OPEN_NS)
        )
    }

    fn reason(&self) -> String {
        let on = |times: BatchTimes, machine: &str| {
            let (total_ns, run_ns) = (time(self.total_ns(times)), time(times.run_ns));
            format!("about {total_ns} on {machine}, {run_ns} a run")
        };
        let cpu = on(self.cpu, &counted(u64::from(self.threads), "CPU thread"));
        let gpu = on(self.gpu, "the GPU");
        let runs = format!("{} of this batch", counted(self.repeat as u64, "run"));
        better(self.is_for_gpu(), &runs, &cpu, &gpu)
    }
}

#[cfg(test)]
#[path = "batch_tests.rs"]
mod tests;
