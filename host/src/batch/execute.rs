//! Execution of a batch: programs, one session, one result per graph.

use super::choose::choose;
use super::outcome::dropped;
use super::{BatchError, BatchOutcome, GraphOutcome, forecast};
use crate::analysis::{AnalysisOutput, Reading};
use crate::backend::batch::cpu::CpuBatch;
use crate::backend::batch::{self as backend, BatchSession, Job};
use crate::backend::{BackendError, Canceller, RunLimits, SessionWork, cuda};
use crate::graph::Graph;
use crate::job::choose::{Choice, Opened};
use crate::job::{self, BuildOptions, Found, build, drive, encode, outgrew};
use crate::outcome::{Memory, SessionReport, Times};
use crate::program::{PlanCache, PlanRequest};
use crate::run::{Detail, Executor, Phase, RunError, RunRequest};
use crate::spans;
use rayon::prelude::*;
use seawall_core::abi::control::ControlRecord;
use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

/// A graph of a batch.
#[derive(Clone, Debug)]
pub struct BatchGraph<'g> {
    /// Name for errors and reports.
    pub name: String,
    /// The graph.
    pub graph: &'g Graph,
    /// Node numbers to start from, each below the graph's nodes; empty if the analysis takes none.
    pub sources: Vec<u32>,
}

impl<'g> BatchGraph<'g> {
    /// Returns a graph with its name and its sources.
    #[must_use]
    pub fn new(name: impl Into<String>, graph: &'g Graph, sources: Vec<u32>) -> Self {
        Self {
            name: name.into(),
            graph,
            sources,
        }
    }
}

/// Optional companions of a batch.
#[derive(Default)]
pub struct BatchControl<'a> {
    /// Ends the batch from another thread, by a clone.
    ///
    /// On a CPU every thread stops where its program checks the time budget. On a GPU no further
    /// graph begins; the graphs that blocks have taken run to their ends.
    pub canceller: Canceller,
    /// Plans that were made before, and those for later batches.
    pub plans: Option<&'a mut PlanCache>,
    /// Is called at the start of each phase.
    pub progress: Option<&'a mut dyn FnMut(Phase)>,
}

impl fmt::Debug for BatchControl<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BatchControl")
            .field("canceller", &self.canceller)
            .field("plans", &self.plans)
            .field("progress", &self.progress.is_some())
            .finish()
    }
}

/// Runs `request` on every graph, all in one launch or on threads started once.
///
/// Sources come from the graphs; those of the request are ignored. The time budget applies to the
/// whole batch, and `budget_bytes` limits the memory of all graphs together. Memory: a copy of the
/// graphs, an arena for every worker, and the results.
///
/// # Errors
/// [`BatchError::Graph`] with the first graph that is refused or faults;
/// [`BatchError::OneAtATime`] for executors that launch each group; [`BatchError::DetailOfOne`]
/// for a detail. One bad graph ends the batch: nothing is reported for the others.
pub fn execute(
    graphs: &[BatchGraph<'_>],
    request: &RunRequest,
) -> Result<BatchOutcome, BatchError> {
    execute_with(graphs, request, BatchControl::default())
}

/// Most plans that a batch keeps for its graphs by default.
const PLANS_MAX: u16 = 4096;

fn plans_of(graphs: usize) -> u16 {
    u16::try_from(graphs).map_or(PLANS_MAX, |graphs| graphs.min(PLANS_MAX))
}

/// Runs as [`execute`], with a canceller, plans of another batch, or progress.
///
/// ```
/// use seawall::backend::Canceller;
/// use seawall::batch::{self, BatchControl, BatchGraph};
/// use seawall::graph::Graph;
/// use seawall::run::{AnalysisKind, Machine, RunRequest};
///
/// let path = Graph::from_edges(3, &[(0, 1), (1, 2)], false)?;
/// let graphs = [BatchGraph::new("path", &path, vec![0])];
/// let request = RunRequest::new(AnalysisKind::Bfs, Vec::new()).on(Machine::cpu(None));
/// let canceller = Canceller::default();
/// let elsewhere = canceller.clone();
/// std::thread::spawn(move || elsewhere.cancel()).join().unwrap();
/// let control = BatchControl { canceller, ..BatchControl::default() };
/// let ended = batch::execute_with(&graphs, &request, control).unwrap_err();
/// assert_eq!(ended.to_string(), "the run was cancelled before it was done");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// As [`execute`]; [`BackendError::Cancelled`] if the canceller ended it.
pub fn execute_with(
    graphs: &[BatchGraph<'_>],
    request: &RunRequest,
    control: BatchControl<'_>,
) -> Result<BatchOutcome, BatchError> {
    let mut own = PlanCache::new(plans_of(graphs.len()));
    let mut silent = |_| ();
    let plans = control.plans.unwrap_or(&mut own);
    let progress = control.progress.unwrap_or(&mut silent);
    let span = spans::batch(graphs.len(), request);
    drive(span, request, progress, |job| {
        check_detail(request.detail)?;
        Batch::prepare(Cow::Borrowed(graphs), job, plans, control.canceller, false)
    })
}

struct Batch<'a, 'g> {
    graphs: Cow<'a, [BatchGraph<'g>]>,
    requests: Vec<RunRequest>,
    readings: Vec<Reading>,
    opened: Opened<Box<dyn BatchSession + 'g>>,
    plans: &'a mut PlanCache,
    canceller: Canceller,
    programs: u64,
    predicted: SessionWork,
    plan_ns: u64,
}

impl<'a, 'g> Batch<'a, 'g> {
    /// Chooses a machine, plans with 64-bit distances if `wide`, and opens the machine.
    fn prepare(
        graphs: Cow<'a, [BatchGraph<'g>]>,
        job: &mut job::Job<'_>,
        plans: &'a mut PlanCache,
        canceller: Canceller,
        wide: bool,
    ) -> Result<Self, BatchError> {
        job.phase(Phase::Plan);
        let start = job.now();
        let requests = requests(&graphs, job.request);
        let choice = choose(&graphs, &requests);
        let build_options = BuildOptions {
            // A thread takes whole graphs.
            threads: (choice.executor == Some(Executor::Cpu)).then_some(1),
            wide,
            ..BuildOptions::default()
        };
        let prepared = prepare_as(&graphs, &requests, plans, build_options)?;
        let plan_ns = job.since(start);
        job.phase(Phase::Upload);
        let mut opened = open(&graphs, &prepared.jobs, job.request, &choice)?;
        opened.session.cancel_by(canceller.of_session());
        Ok(Self {
            graphs,
            requests,
            opened,
            programs: prepared.programs(),
            predicted: forecast::predict(&prepared.jobs, job.request.repeat),
            readings: prepared.readings,
            plans,
            canceller,
            plan_ns,
        })
    }

    /// The outcomes of all graphs, computed on all threads.
    fn outcomes(
        &self,
        controls: &[ControlRecord],
        words: Vec<Vec<u32>>,
    ) -> Result<Vec<GraphOutcome>, BatchError> {
        let backend = self.opened.executor;
        let graphs = self.graphs.par_iter().zip(&self.requests);
        let ends = self.readings.par_iter().zip(controls).zip(words);
        let outcomes = graphs.zip(ends).map(|((named, request), end)| {
            let ((reading, control), words) = end;
            let read = named.graph;
            // The form was made before the run.
            let form = form_of(named, request).unwrap_or(read);
            let end = job::end_of(request.analysis, control);
            let values = reading.column(form.nodes(), words);
            let found = AnalysisOutput {
                values: &values,
                parents: None,
            };
            let case = (form, &request.question(false));
            let accepted = request.analysis.definition().accept(case, found);
            accepted.map_err(|error| self::named(named, error))?;
            let found = Found {
                backend,
                reason: None,
                device: String::new(),
                values,
                parents: None,
                end,
                times: Times::default(),
                memory: Memory::default(),
            };
            let mut outcome = job::outcome(read, form, request, found);
            if request.check {
                job::check(read, request, end, &mut outcome);
            }
            Ok(GraphOutcome::of(named.name.clone(), control, outcome))
        });
        // The first graph of the batch that has none, whichever thread is first.
        let outcomes: Vec<Result<GraphOutcome, BatchError>> = outcomes.collect();
        outcomes.into_iter().collect()
    }
}

impl job::Work for Batch<'_, '_> {
    /// The outcome, and the numbers of the graphs whose distances exceeded 32 bits; those have no
    /// values yet.
    type Answer = (BatchOutcome, Vec<usize>);
    type Outcome = BatchOutcome;
    type Error = BatchError;

    fn answer(&mut self, job: &mut job::Job<'_>) -> Result<Self::Answer, BatchError> {
        let request = job.request;
        let session = &mut self.opened.session;
        let explained = |error| explain(&self.graphs, request, error);
        let runs = job.repeat(|_| {
            let stats = session.run()?;
            let run_ns = stats.run_ns;
            Ok((stats, run_ns))
        });
        let (stats, [first_run, run]) = runs.map_err(explained)?;
        job.phase(Phase::Readback);
        let start = job.now();
        let words = session.read_each().map_err(explained)?;
        let (words, overflowed) = sort_out(&self.graphs, words)?;
        let readback = job.since(start);
        if request.check {
            job.phase(Phase::Check);
        }
        let graphs = self.outcomes(&stats.controls, words)?;
        let Opened {
            session,
            executor,
            reason,
        } = &self.opened;
        let work = session.work();
        let outcome = BatchOutcome {
            analysis: request.analysis,
            backend: *executor,
            backend_reason: reason.clone(),
            device: session.device().name.clone(),
            workers: session.workers(),
            programs: self.programs,
            plans: self.plans.counters(),
            memory_bytes: session.memory_bytes(),
            session: SessionReport::of(self.predicted, work, work, session.memory_bytes()),
            dropped: dropped(&graphs),
            graphs,
            times: Times {
                load: 0,
                upload: session.upload_ns(),
                plan: self.plan_ns,
                run,
                first_run,
                readback,
            },
            repeat: request.repeat.get(),
            host: stats.host,
            code: stats.code,
        };
        Ok((outcome, overflowed))
    }

    /// Answers for the graphs without values in 64 bits.
    fn finish(
        self,
        job: &mut job::Job<'_>,
        answer: Self::Answer,
    ) -> Result<BatchOutcome, BatchError> {
        let (mut outcome, overflowed) = answer;
        if overflowed.is_empty() {
            return Ok(outcome);
        }
        let graphs = overflowed.iter().map(|at| self.graphs[*at].clone());
        let graphs = Cow::Owned(graphs.collect());
        // Its memory is free before that of the others is taken.
        drop(self.opened);
        let mut wide = Batch::prepare(graphs, job, self.plans, self.canceller, true)?;
        let (again, _) = wide.answer(job)?;
        outcome.replace(overflowed.into_iter(), again);
        Ok(outcome)
    }
}

/// Returns the words of each graph, none if its distances exceeded 32 bits, and the numbers of
/// those graphs.
fn sort_out(
    graphs: &[BatchGraph<'_>],
    words: Vec<Result<Vec<u32>, BackendError>>,
) -> Result<(Vec<Vec<u32>>, Vec<usize>), BatchError> {
    let (mut sorted, mut overflowed) = (Vec::with_capacity(words.len()), Vec::new());
    for (at, (graph, words)) in graphs.iter().zip(words).enumerate() {
        match words.map_err(RunError::from) {
            Ok(words) => sorted.push(words),
            Err(error) if outgrew(&error) => {
                overflowed.push(at);
                sorted.push(Vec::new());
            }
            Err(error) => return Err(named(graph, error)),
        }
    }
    Ok((sorted, overflowed))
}

/// Refuses details, which a batch does not support.
///
/// # Errors
/// [`BatchError::DetailOfOne`] for anything but [`Detail::Plain`].
pub const fn check_detail(detail: Detail) -> Result<(), BatchError> {
    match detail {
        Detail::Plain => Ok(()),
        detail => Err(BatchError::DetailOfOne { detail }),
    }
}

/// The jobs of a batch, and the readings of their results.
#[derive(Debug)]
pub struct Prepared<'g> {
    /// One job per graph, in the order given.
    pub jobs: Vec<Job<'g>>,
    /// Reading of the result of each job.
    pub readings: Vec<Reading>,
}

impl Prepared<'_> {
    fn programs(&self) -> u64 {
        let tables = self.jobs.iter().map(|job| Arc::as_ptr(&job.program));
        tables.collect::<HashSet<_>>().len() as u64
    }
}

/// Builds and plans the program of every graph.
///
/// # Errors
/// The first graph whose program cannot be built or planned.
pub fn prepare<'g>(
    graphs: &[BatchGraph<'g>],
    requests: &[RunRequest],
) -> Result<Prepared<'g>, BatchError> {
    let plans = &mut PlanCache::new(plans_of(graphs.len()));
    prepare_as(graphs, requests, plans, BuildOptions::default())
}

/// Works as [`prepare`], with given options.
fn prepare_as<'g>(
    graphs: &[BatchGraph<'g>],
    requests: &[RunRequest],
    plans: &mut PlanCache,
    build_options: BuildOptions,
) -> Result<Prepared<'g>, BatchError> {
    let plan = PlanRequest::default();
    let mut jobs = Vec::with_capacity(graphs.len());
    let mut readings = Vec::with_capacity(graphs.len());
    for (graph, request) in graphs.iter().zip(requests) {
        let named = |source| named(graph, source);
        request.check_for(graph.graph).map_err(named)?;
        if request.needs_signed_paths(graph.graph) {
            let analysis = request.analysis;
            return Err(named(RunError::SignedBatch { analysis }));
        }
        let form = form_of(graph, request).map_err(named)?;
        request.check_form(form).map_err(named)?;
        let built = build(form, request, build_options).map_err(named)?;
        let planned = encode(plans, request, built, &plan);
        let (built, program, _) = planned.map_err(|error| named(error.into()))?;
        readings.push(built.reading);
        jobs.push(Job {
            graph: form,
            program,
            inputs: built.inputs,
            result: built.result,
        });
    }
    Ok(Prepared { jobs, readings })
}

/// Returns the form in which the analysis takes a graph.
fn form_of<'g>(graph: &BatchGraph<'g>, request: &RunRequest) -> Result<&'g Graph, RunError> {
    Ok(graph.graph.form(request.form()?)?)
}

/// Returns the request for each single graph.
#[must_use]
pub fn requests(graphs: &[BatchGraph<'_>], request: &RunRequest) -> Vec<RunRequest> {
    let alone = |graph: &BatchGraph<'_>| RunRequest {
        sources: graph.sources.clone(),
        ..request.clone()
    };
    graphs.iter().map(alone).collect()
}

fn named(graph: &BatchGraph<'_>, source: RunError) -> BatchError {
    BatchError::Graph {
        name: graph.name.clone(),
        source,
    }
}

fn open<'g>(
    graphs: &[BatchGraph<'_>],
    jobs: &[Job<'g>],
    request: &RunRequest,
    choice: &Choice,
) -> Result<Opened<Box<dyn BatchSession + 'g>>, BatchError> {
    if let Some(backend @ (Executor::Launches | Executor::Graph)) = choice.executor {
        return Err(BatchError::OneAtATime { backend });
    }
    let machine = &request.machine;
    let opened = choice.open(|executor| -> Result<Box<dyn BatchSession + 'g>, _> {
        if executor == Executor::Cpu {
            let (limits, budget) = (RunLimits::of(machine), machine.budget_bytes);
            let session = CpuBatch::open(jobs, machine.threads, limits, budget)?;
            return Ok(Box::new(session.with_jit(machine.jit)));
        }
        let options = cuda::CudaOptions::of(machine);
        cuda::open_batch(jobs, options)
    });
    opened.map_err(|error| explain(graphs, request, error))
}

/// Converts the error, replacing numbers of graphs by names.
fn explain(
    graphs: &[BatchGraph<'_>],
    request: &RunRequest,
    error: backend::BatchError,
) -> BatchError {
    match error {
        backend::BatchError::Size { jobs: 0, .. } => BatchError::Empty,
        backend::BatchError::Size { jobs, most } => BatchError::TooMany { graphs: jobs, most },
        backend::BatchError::Job { index, source } => match graphs.get(index) {
            Some(graph) => named(graph, source.into()),
            None => source.into(),
        },
        backend::BatchError::Backend(BackendError::OutOfMemory { needed, .. })
            if request
                .machine
                .budget_bytes
                .is_some_and(|budget| needed > budget) =>
        {
            let budget = request.machine.budget_bytes.unwrap_or(0);
            RunError::over_budget(request, needed, budget).into()
        }
        backend::BatchError::Backend(error) => error.into(),
    }
}
