//! Batches: many independent graphs, each with its program, in one run.
//!
//! A batch is packed into one block of memory with a launch record for every graph. It goes to its
//! machine in one upload and runs in one launch (or on threads started once), and its results come
//! back in one copy. Workers, which are blocks of a GPU or CPU threads, take graphs one after the
//! other and run each whole program alone, so graphs never wait for each other.

mod place;
mod piece;
mod pack;
pub mod cpu;

pub(crate) use pack::Pack;
pub(crate) use place::BatchLimits;

use super::overflow::{self, Overflowing};
use super::{BackendError, Canceller, CodeReport, DeviceInfo, HostWork, SessionWork};
use crate::Cause;
use crate::graph::Graph;
use crate::own::OwnWaves;
use crate::program::encoded::common_waves;
use crate::program::{EncodedProgram, RegisterId};
use rayon::prelude::*;
use seawall_core::abi::control::ControlRecord;
use std::sync::Arc;

/// One graph of a batch, and the program that runs on it.
#[derive(Clone, Debug)]
pub struct Job<'g> {
    /// The graph; copied when a session opens.
    pub graph: &'g Graph,
    /// The program. Graphs that share a program share its tables too. It must write a register
    /// before it reads it, as every program of a builder does: an arena may hold data of the
    /// previous graph.
    pub program: Arc<EncodedProgram>,
    /// Words of the input region. They are uploaded once, when a session opens: a program that
    /// writes to its inputs finds the written words in the next run.
    pub inputs: Vec<u32>,
    /// The register to read afterwards.
    pub result: RegisterId,
}

/// Cost of one run of a batch, and the final state of each graph.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct BatchStats {
    /// Time of the run: device time between two events for a GPU, wall time
    /// for the CPU backend, nanoseconds.
    pub run_ns: u64,
    /// Work of the host for the run.
    pub host: HostWork,
    /// The control block of every graph after the run, in the order of the
    /// jobs.
    pub controls: Vec<ControlRecord>,
    /// How waves of code of all programs ran, if they have some.
    pub code: Option<CodeReport>,
}

/// Time from a graph's first wave to its last on the worker that ran it, nanoseconds.
pub(crate) const fn took_ns(control: &ControlRecord) -> u64 {
    clock(control.ended_ns).saturating_sub(clock(control.started_ns))
}

/// A time of a control block.
pub(crate) const fn clock([low, high]: [u32; 2]) -> u64 {
    low as u64 | (high as u64) << 32
}

/// A packed batch on one machine.
pub trait BatchSession {
    /// The machine.
    fn device(&self) -> &DeviceInfo;

    /// Blocks or threads that take graphs.
    fn workers(&self) -> u32;

    /// Bytes that the batch takes on the machine: graphs, registers, tables.
    fn memory_bytes(&self) -> u64;

    /// Returns what the batch moved, allocated and waited for since it was opened.
    fn work(&self) -> SessionWork;

    /// Nanoseconds that packing and uploading took.
    fn upload_ns(&self) -> u64;

    /// Lets `canceller` end the runs of this session: on a CPU where a program checks its time
    /// budget, on a GPU after the graphs that its blocks have taken.
    fn cancel_by(&mut self, canceller: Canceller);

    /// Runs every program once. Nothing is allocated on the machine, and no graph costs host work
    /// before the run has ended.
    ///
    /// # Errors
    /// [`BatchError::Job`] for the first graph that faults; no further graph starts then, and
    /// results are incomplete. [`BackendError::Cancelled`] if the [`Canceller`] ended the run.
    fn run(&mut self) -> Result<BatchStats, BatchError>;

    /// Returns the words of every graph's result register, in the order of the jobs, or
    /// [`BackendError::PathTooLong`] for a graph whose paths exceed the distances of its program.
    ///
    /// # Errors
    /// If the machine fails.
    fn read_each(&mut self) -> Result<Vec<Result<Vec<u32>, BackendError>>, BatchError>;

    /// Returns the words of every graph's result register, in the order of the jobs.
    ///
    /// # Errors
    /// If the machine fails; [`BatchError::Job`] with the first graph whose paths exceed the
    /// distances of its program.
    fn read(&mut self) -> Result<Vec<Vec<u32>>, BatchError> {
        let each = (0..).zip(self.read_each()?);
        each.map(|(index, words)| words.map_err(|source| BatchError::Job { index, source }))
            .collect()
    }
}

/// Returns the waves of another crate that programs of `jobs` use, of one set for all.
///
/// # Errors
/// [`BackendError::OtherWaves`] for the first program that uses another set.
pub(crate) fn own_of<'j>(jobs: &'j [Job<'_>]) -> Result<Option<&'j OwnWaves>, BatchError> {
    let programs = jobs.iter().map(|job| &*job.program);
    common_waves(programs).map_err(|index| BatchError::Job {
        index: index as usize,
        source: BackendError::OtherWaves,
    })
}

/// The searches of a batch's programs, for the graphs that they run on.
#[derive(Debug)]
pub(crate) struct Searches<'g>(Vec<(&'g Graph, Overflowing)>);

impl<'g> Searches<'g> {
    /// Returns the searches of `jobs`.
    ///
    /// # Errors
    /// [`BatchError::Job`] as [`Overflowing::of_result`].
    pub(crate) fn of(jobs: &[Job<'g>]) -> Result<Self, BatchError> {
        let search = |(index, job): (usize, &Job<'g>)| {
            let outgrowing = Overflowing::of_result(&job.program, job.graph, job.result);
            let outgrowing = outgrowing.map_err(|source| BatchError::Job { index, source })?;
            Ok((job.graph, outgrowing))
        };
        jobs.iter()
            .enumerate()
            .map(search)
            .collect::<Result<_, _>>()
            .map(Self)
    }

    /// Returns the words of each graph, or the error for a path that exceeds them.
    pub(crate) fn check(&self, words: Vec<Vec<u32>>) -> Vec<Result<Vec<u32>, BackendError>> {
        let check = |((graph, outgrowing), words): (&(&Graph, Overflowing), Vec<u32>)| {
            let mut searches = outgrowing.due().into_iter();
            searches.try_for_each(|search| overflow::check(&search, graph, &words))?;
            Ok(words)
        };
        self.0.par_iter().zip(words).map(check).collect()
    }
}

/// A batch could not open, run or be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BatchError {
    /// One graph is the cause.
    #[error("graph {index} of the batch: {source}")]
    Job {
        /// Its number, from 0.
        index: usize,
        /// The error of this graph.
        source: BackendError,
    },
    /// There are no graphs, or more than tickets can number.
    #[error("a batch of {jobs} graphs; from 1 to {most} run at once")]
    Size {
        /// Graphs given.
        jobs: usize,
        /// Most graphs of a batch.
        most: u32,
    },
    /// The machine is the cause.
    #[error(transparent)]
    Backend(#[from] BackendError),
}

impl BatchError {
    /// Returns the cause: the request or the machine.
    #[must_use]
    pub fn cause(&self) -> Cause {
        match self {
            Self::Job { source, .. } | Self::Backend(source) => source.cause(),
            Self::Size { .. } => Cause::Request,
        }
    }
}
