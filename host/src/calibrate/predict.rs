//! Predicted times of a job on each machine, and the choice between them.
//!
//! A pure function of an analysis, a job and costs; the cost of an analysis is in its own module.
//! It is a rough model: within a factor of two for searches, coarser for analyses whose rounds
//! cannot be predicted. That is sufficient, because the machines differ by more than that wherever
//! the choice matters.

use crate::analysis::AnalysisKind;
use crate::cost::{Costs, Job, Worker};
use crate::units::{Nanoseconds, counted};
use std::num::NonZeroUsize;

/// Margin of the GPU: a prediction is not more precise.
pub(super) const MARGIN: f64 = 1.25;

/// Margin of more threads over one: ties go to fewer.
const THREADS_MARGIN: f64 = 1.1;

/// Start of a process's first run on a GPU, for any graph: the driver, a context and the kernels.
/// A command on a small graph took 157 to 260 ms longer on an H200 than on the CPU, where the
/// library brings machine code for the device. Elsewhere the driver compiles a first run.
pub const GPU_OPEN_NS: f64 = 250e6;

/// A machine that predictions compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Candidate {
    /// One CPU thread.
    OneThread,
    /// All CPU threads.
    AllThreads,
    /// The GPU.
    Gpu,
}

/// Predicted times of one run, nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Prediction {
    /// On one CPU thread.
    pub one_ns: f64,
    /// On all CPU threads.
    pub all_ns: f64,
    /// Number of threads.
    pub threads: u32,
    /// On the GPU, after the upload.
    pub gpu_ns: f64,
    /// The graph's upload to the GPU.
    pub upload_ns: f64,
    /// Opening the GPU, once per command.
    pub open_ns: f64,
    /// Runs of the request.
    pub repeat: f64,
}

/// Predicts one run of `job`, of `analysis`, on each machine.
#[must_use]
pub fn predict(analysis: AnalysisKind, job: &Job, costs: &Costs) -> Prediction {
    let bytes = job.graph_bytes();
    let run_ns = |worker| run_ns(analysis, job, &worker);
    Prediction {
        one_ns: run_ns(Worker::thread(costs.cpu.one, bytes)),
        all_ns: run_ns(Worker::threads(&costs.cpu, bytes)),
        threads: costs.cpu.threads,
        gpu_ns: run_ns(Worker::that_hides_misses(costs.gpu.run)),
        upload_ns: bytes * costs.gpu.upload_byte_ns,
        open_ns: GPU_OPEN_NS,
        repeat: job.repeat.max(1.0),
    }
}

pub(super) fn run_ns(analysis: AnalysisKind, job: &Job, worker: &Worker) -> f64 {
    worker.start_ns() + analysis.definition().cost_ns(job, worker)
}

impl Prediction {
    /// The faster number of CPU threads.
    #[must_use]
    pub fn best_cpu(&self) -> Candidate {
        if self.threads <= 1 || self.one_ns < self.all_ns * THREADS_MARGIN {
            Candidate::OneThread
        } else {
            Candidate::AllThreads
        }
    }

    /// Time on that number of CPU threads, nanoseconds.
    #[must_use]
    pub fn cpu_ns(&self) -> f64 {
        match self.best_cpu() {
            Candidate::AllThreads => self.all_ns,
            _ => self.one_ns,
        }
    }

    /// All runs on the CPU, nanoseconds.
    #[must_use]
    pub fn cpu_total_ns(&self) -> f64 {
        self.repeat * self.cpu_ns()
    }

    /// Opening the GPU, the upload and all runs there, nanoseconds.
    #[must_use]
    pub fn gpu_total_ns(&self) -> f64 {
        self.open_ns + self.upload_ns + self.repeat * self.gpu_ns
    }

    /// Returns the better machine for the job, given a usable GPU.
    #[must_use]
    pub fn best(&self) -> Candidate {
        if self.gpu_total_ns() * MARGIN < self.cpu_total_ns() {
            Candidate::Gpu
        } else {
            self.best_cpu()
        }
    }

    /// The faster number of CPU threads, in words.
    pub(crate) fn threads_text(&self) -> String {
        match self.best_cpu() {
            Candidate::OneThread => "one thread".to_owned(),
            _ => counted(u64::from(self.threads), "CPU thread"),
        }
    }
}

/// Predicted times of a job on CPU threads and on a GPU.
pub(crate) trait Forecast {
    /// Whether a usable GPU is the better machine.
    fn is_for_gpu(&self) -> bool;

    /// Whether a GPU is not worth opening: the CPU ends all runs in the time to open one.
    fn is_too_small_for_a_gpu(&self) -> bool;

    /// The better number of CPU threads, unless it is that of the machine.
    fn threads(&self) -> Option<NonZeroUsize> {
        None
    }

    /// Reason of the number of threads, in one line, where it is a choice.
    fn threads_reason(&self) -> Option<String> {
        None
    }

    /// Reason why no GPU was looked for, in one line.
    fn small_reason(&self) -> String;

    /// Reason of the choice, in one line.
    fn reason(&self) -> String;
}

impl Forecast for Prediction {
    fn is_for_gpu(&self) -> bool {
        self.best() == Candidate::Gpu
    }

    fn is_too_small_for_a_gpu(&self) -> bool {
        self.cpu_total_ns() <= self.open_ns
    }

    /// One thread, if more would only wait at barriers.
    fn threads(&self) -> Option<NonZeroUsize> {
        (self.best_cpu() == Candidate::OneThread).then_some(NonZeroUsize::MIN)
    }

    fn threads_reason(&self) -> Option<String> {
        let all = counted(u64::from(self.threads), "thread");
        let (one_ns, all_ns) = (time(self.one_ns), time(self.all_ns));
        Some(match self.best_cpu() {
            _ if self.threads <= 1 => format!("one thread is all there is, about {one_ns} a run"),
            Candidate::OneThread => format!(
                "one thread is the better choice for this job: about {one_ns} a run, {all_ns} on {all}"
            ),
            _ => format!("{all}: about {all_ns} a run, {one_ns} on one"),
        })
    }

    fn small_reason(&self) -> String {
        format!(
            "{}; no GPU was looked for, as opening one takes about {}",
            self.threads_reason().unwrap_or_default(),
            time(self.open_ns)
        )
    }

    fn reason(&self) -> String {
        let cpu = format!(
            "about {} a run on {}",
            time(self.cpu_ns()),
            self.threads_text()
        );
        let gpu = format!(
            "about {} on the GPU, which takes {} to open and {} to upload to",
            time(self.gpu_ns),
            time(self.open_ns),
            time(self.upload_ns)
        );
        let runs = format!("{} of this job", counted(self.repeat as u64, "run"));
        better(self.is_for_gpu(), &runs, &cpu, &gpu)
    }
}

/// The better machine for these runs, with what they take on both.
pub(super) fn better(is_gpu: bool, runs: &str, cpu: &str, gpu: &str) -> String {
    let (best, [first, second]) = match is_gpu {
        true => ("GPU", [gpu, cpu]),
        false => ("CPU", [cpu, gpu]),
    };
    format!("the {best} is the better machine for {runs}: {first}; {second}")
}

/// Formats a predicted time, with few digits.
pub(crate) fn time(ns: f64) -> String {
    let digit = 10_f64.powf(ns.max(1.0).log10().floor() - 1.0);
    let rounded = (ns / digit.max(1.0)).round() * digit.max(1.0);
    Nanoseconds(rounded as u64).to_string()
}

#[cfg(test)]
#[path = "predict_tests.rs"]
mod tests;
