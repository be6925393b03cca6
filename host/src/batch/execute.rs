//! Execution of a batch: programs, one session, one result per graph.

use super::choose::{Choice, choose};
use super::{BatchError, BatchOutcome, GraphOutcome, forecast};
use crate::analysis::{AnalysisOutput, Reading};
use crate::backend::batch::cpu::CpuBatch;
use crate::backend::batch::{self as backend, BatchSession, BatchStats, Job};
use crate::backend::{BackendError, Canceller, RunLimits, cuda};
use crate::graph::Graph;
use crate::outcome::{Dropped, Taken, Times};
use crate::program::{PlanCache, PlanRequest};
use crate::run::{Detail, Executor, Phase, RunError, RunRequest, steps};
use crate::spans;
use crate::units::elapsed_ns;
use rayon::prelude::*;
use seawall_core::abi::control::ControlRecord;
use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;
use std::time::Instant;

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

/// An open backend, and the reason of an open choice.
struct Opened<'g> {
    session: Box<dyn BatchSession + 'g>,
    executor: Executor,
    reason: Option<String>,
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

/// Number of plans that a batch keeps for `graphs` graphs.
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
    let analysis = request.analysis;
    let _entered = tracing::info_span!("batch", %analysis, graphs = graphs.len()).entered();
    let outcome = execute_in_span(graphs, request, control);
    match &outcome {
        Ok(outcome) => tracing::info!(
            backend = %outcome.backend,
            device = outcome.device,
            reason = outcome.backend_reason,
            run_ms = spans::ms(outcome.times.run),
            "answered"
        ),
        Err(error) => spans::failed(error, error.cause()),
    }
    outcome
}

fn execute_in_span(
    graphs: &[BatchGraph<'_>],
    request: &RunRequest,
    control: BatchControl<'_>,
) -> Result<BatchOutcome, BatchError> {
    let mut own = PlanCache::new(plans_of(graphs.len()));
    let mut silent = |_| ();
    let BatchControl {
        canceller,
        plans,
        progress,
    } = control;
    let plans = plans.unwrap_or(&mut own);
    let progress = &mut spans::phases(progress.unwrap_or(&mut silent));
    check_detail(request.detail)?;
    let mut submission = Submission {
        canceller,
        plans,
        progress,
        wide: false,
    };
    let (mut outcome, overflowed) = submission.submit((graphs, request))?;
    let long: Vec<_> = overflowed.iter().map(|at| graphs[*at].clone()).collect();
    if !long.is_empty() {
        submission.wide = true;
        let (again, _) = submission.submit((&long, request))?;
        outcome.replace(overflowed.into_iter(), again);
    }
    Ok(outcome)
}

/// A batch in progress.
struct Submission<'p> {
    canceller: Canceller,
    plans: &'p mut PlanCache,
    progress: &'p mut dyn FnMut(Phase),
    /// Whether distances have 64 bits.
    wide: bool,
}

impl Submission<'_> {
    /// Runs `request` on every graph once. Also returns the numbers of the graphs whose distances
    /// exceeded 32 bits; those have no values yet.
    fn submit(
        &mut self,
        (graphs, request): (&[BatchGraph<'_>], &RunRequest),
    ) -> Result<(BatchOutcome, Vec<usize>), BatchError> {
        (self.progress)(Phase::Plan);
        let started = Instant::now();
        let requests = requests(graphs, request);
        let choice = choose(graphs, &requests);
        let build_options = steps::BuildOptions {
            // A thread takes whole graphs.
            threads: (choice.executor == Some(Executor::Cpu)).then_some(1),
            ..steps::BuildOptions::of_threads(self.wide)
        };
        let prepared = prepare_as(graphs, &requests, self.plans, build_options)?;
        let plan = elapsed_ns(started);
        let programs = prepared.programs();
        let predicted = forecast::predict(&prepared.jobs, request.repeat);
        (self.progress)(Phase::Upload);
        let Opened {
            mut session,
            executor,
            reason,
        } = open(&prepared.jobs, request, choice)
            .map_err(|error| explain(graphs, request, error))?;
        session.cancel_by(self.canceller.of_session());
        let ([first_run, run], stats) = repeat(session.as_mut(), request, self.progress)
            .map_err(|error| explain(graphs, request, error))?;
        (self.progress)(Phase::Readback);
        let started = Instant::now();
        let words = session
            .read_each()
            .map_err(|error| explain(graphs, request, error))?;
        let (words, overflowed) = sort_out(graphs, words)?;
        let readback = elapsed_ns(started);
        if request.check {
            (self.progress)(Phase::Check);
        }
        let ends = prepared
            .readings
            .into_iter()
            .zip(&stats.controls)
            .zip(words);
        let graphs = outcomes(graphs, &requests, ends);
        let mut dropped = Dropped::default();
        graphs.iter().for_each(|graph| dropped += graph.dropped);
        let outcome = BatchOutcome {
            analysis: request.analysis,
            backend: executor,
            backend_reason: reason,
            device: session.device().name.clone(),
            workers: session.workers(),
            programs,
            plans: self.plans.counters(),
            memory_bytes: session.memory_bytes(),
            session: forecast::report(predicted, (session.work(), session.memory_bytes())),
            graphs,
            dropped,
            times: Times {
                load: 0,
                upload: session.upload_ns(),
                plan,
                run,
                first_run,
                readback,
            },
            repeat: request.repeat.get(),
            host: stats.host,
        };
        Ok((outcome, overflowed))
    }
}

/// Returns the words of each graph, none if its distances exceeded 32 bits, and the numbers of
/// those graphs.
fn sort_out(
    graphs: &[BatchGraph<'_>],
    words: Vec<Result<Vec<u32>, BackendError>>,
) -> Result<(Vec<Vec<u32>>, Vec<usize>), BatchError> {
    let mut overflowed = Vec::new();
    let pairs = graphs.iter().zip(words).enumerate();
    let sort =
        |(at, (graph, words)): (usize, (&BatchGraph<'_>, Result<_, BackendError>))| match words
            .map_err(RunError::from)
        {
            Ok(words) => Ok(words),
            Err(error) if steps::outgrew(&error) => {
                overflowed.push(at);
                Ok(Vec::new())
            }
            Err(error) => Err(named(graph, error)),
        };
    let words = pairs.map(sort).collect::<Result<_, _>>()?;
    Ok((words, overflowed))
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
    /// Number of distinct programs.
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
    prepare_as(
        graphs,
        requests,
        plans,
        steps::BuildOptions::of_threads(false),
    )
}

/// Works as [`prepare`], with given options.
fn prepare_as<'g>(
    graphs: &[BatchGraph<'g>],
    requests: &[RunRequest],
    plans: &mut PlanCache,
    build_options: steps::BuildOptions,
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
        let built = steps::build(form, request, build_options).map_err(named)?;
        let planned = if request.reuse_plans {
            plans.encode(&built.program, &plan)
        } else {
            plans.encode_anew(&built.program, &plan)
        };
        let (program, _) = planned.map_err(|error| named(error.into()))?;
        jobs.push(Job {
            graph: form,
            // An equal program numbers its registers in the same way.
            result: program
                .register(built.result.number())
                .unwrap_or(built.result),
            program,
            inputs: built.inputs,
        });
        readings.push(built.reading);
    }
    Ok(Prepared { jobs, readings })
}

/// Returns the form in which the analysis takes a graph.
fn form_of<'g>(graph: &BatchGraph<'g>, request: &RunRequest) -> Result<&'g Graph, RunError> {
    Ok(graph.graph.form(request.form()?)?)
}

/// Computes the outcomes of all graphs, on all threads.
fn outcomes<'a>(
    graphs: &[BatchGraph<'_>],
    requests: &[RunRequest],
    ends: impl Iterator<Item = ((Reading, &'a ControlRecord), Vec<u32>)>,
) -> Vec<GraphOutcome> {
    let ends: Vec<End<'_>> = ends
        .map(|((reading, control), words)| End {
            reading,
            control,
            words,
        })
        .collect();
    graphs
        .par_iter()
        .zip(requests)
        .zip(ends)
        .map(|((graph, request), end)| outcome_of(graph, request, end))
        .collect()
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

/// Runs the batch as often as requested; returns the first and the median time, and the last end.
fn repeat(
    session: &mut dyn BatchSession,
    request: &RunRequest,
    progress: &mut dyn FnMut(Phase),
) -> Result<([u64; 2], BatchStats), backend::BatchError> {
    let of = request.repeat.get();
    let mut times = Vec::new();
    let mut repetition = 1;
    loop {
        progress(Phase::Run { repetition, of });
        let stats = session.run()?;
        times.push(stats.run_ns);
        if repetition >= of {
            return Ok((steps::first_and_median(times), stats));
        }
        repetition += 1;
    }
}

/// Opens the chosen executor.
fn open<'g>(
    jobs: &[Job<'g>],
    request: &RunRequest,
    choice: Choice,
) -> Result<Opened<'g>, OpenError> {
    let limits = RunLimits {
        time_budget_ns: request.machine.time_budget_ns,
    };
    let budget_bytes = request.machine.budget_bytes;
    let gpu = || {
        let options = cuda::CudaOptions {
            device: request.machine.device,
            limits,
            budget_bytes,
            ..cuda::CudaOptions::default()
        };
        cuda::CudaBatch::open(jobs, options)
    };
    let cpu = |reason| -> Result<Opened<'g>, OpenError> {
        let session = CpuBatch::open(jobs, request.machine.threads, limits, budget_bytes)?;
        Ok(Opened {
            session: Box::new(session),
            executor: Executor::Cpu,
            reason,
        })
    };
    let mega = |session, reason| Opened {
        session: Box::new(session),
        executor: Executor::Mega,
        reason,
    };
    let Choice { executor, reason } = choice;
    match executor {
        Some(Executor::Cpu) => cpu(reason),
        Some(executor @ (Executor::Launches | Executor::Graph)) => {
            Err(OpenError::OneAtATime(executor))
        }
        Some(Executor::Mega) => Ok(mega(gpu()?, reason)),
        None => match gpu() {
            Ok(session) => Ok(mega(session, reason)),
            Err(error) => cpu(Some(error.to_string())),
        },
    }
}

/// Converts the error of opening a backend.
enum OpenError {
    OneAtATime(Executor),
    Backend(backend::BatchError),
}

impl From<backend::BatchError> for OpenError {
    fn from(error: backend::BatchError) -> Self {
        Self::Backend(error)
    }
}

/// Converts the error, replacing numbers of graphs by names.
fn explain(
    graphs: &[BatchGraph<'_>],
    request: &RunRequest,
    error: impl Into<OpenError>,
) -> BatchError {
    let error = match error.into() {
        OpenError::OneAtATime(backend) => return BatchError::OneAtATime { backend },
        OpenError::Backend(error) => error,
    };
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
            BatchError::Run(RunError::OverBudget {
                analysis: request.analysis,
                needed_bytes: needed,
                budget_bytes: request.machine.budget_bytes.unwrap_or(0),
            })
        }
        backend::BatchError::Backend(error) => error.into(),
    }
}

/// State of one graph after the run.
struct End<'a> {
    reading: Reading,
    control: &'a ControlRecord,
    words: Vec<u32>,
}

/// Returns the outcome of one graph of the batch.
fn outcome_of(named: &BatchGraph<'_>, request: &RunRequest, left: End<'_>) -> GraphOutcome {
    let (read, control) = (named.graph, left.control);
    // The form was made before the run.
    let graph = form_of(named, request).unwrap_or(read);
    let values = left.reading.column(graph.nodes(), left.words);
    let end = steps::end_of(request.analysis, control);
    let analysis = request.analysis.definition();
    let found = AnalysisOutput {
        values: &values,
        parents: None,
    };
    let checked = request
        .check
        .then(|| steps::is_equal(read, request, end, found));
    GraphOutcome {
        name: named.name.clone(),
        nodes: u64::from(graph.nodes()),
        edges: u64::from(read.edges()),
        taken: Taken::of(read, graph, request),
        dropped: Dropped::between(read, graph),
        sources: steps::original_ids(graph, request.sources()),
        source_names: steps::names(graph, request.sources()),
        reached: analysis.reached(&values),
        rounds: analysis.rounds(&values, end.iterations),
        converged: end.converged,
        topology: steps::topology_name(control),
        started_ns: clock(control.started_ns),
        run_ns: clock(control.ended_ns).saturating_sub(clock(control.started_ns)),
        checked,
        check_tolerance: checked.and_then(|_| analysis.tolerance(&values, end)),
        weights: None,
        answer: analysis.answer(graph, &values),
        values,
    }
}

fn clock([low, high]: [u32; 2]) -> u64 {
    u64::from(low) | u64::from(high) << 32
}
