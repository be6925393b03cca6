//! Carries out a request: program, plan, backend, result.

use super::choose::{Choice, choose};
use super::{BackendChoice, Executor, Phase, RunError, RunRequest, steps};
use crate::analysis::Built;
use crate::backend::cpu::CpuSession;
use crate::backend::{RunLimits, RunStats, Session, cuda};
use crate::graph::Graph;
use crate::outcome::{Column, Dropped, Event, PlanSummary, RunOutcome, Times, Track, waves};
use crate::program::{EncodedProgram, PlanRequest};
use std::num::NonZeroU32;
use std::time::Instant;

/// A backend that was opened, and why when the choice was open.
struct Opened<'g> {
    session: Box<dyn Session + 'g>,
    executor: Executor,
    reason: Option<String>,
}

/// Runs `request` on `graph`; `progress` is called at the start of each phase.
///
/// Without `repeat` the program runs once; with it, times are medians and the
/// last run's result is reported.
///
/// # Errors
/// As [`RunRequest::check_for`]; when the plan does not fit the budget, or the machine
/// fails.
pub fn execute(
    graph: &Graph,
    request: &RunRequest,
    progress: &mut dyn FnMut(Phase),
) -> Result<RunOutcome, RunError> {
    request.check_for(graph)?;
    let mut log = Log::begin();
    progress(Phase::Plan);
    let choice = choose(graph, request);
    let (built, encoded, mut plan, plan_ns) = plan_program(graph, request, &choice)?;
    log.planned(plan_ns);
    progress(Phase::Upload);
    let Opened {
        mut session,
        executor,
        reason,
    } = start((graph, request), choice, (&encoded, &mut log))?;
    let clock = log.clock;
    let mut runs = Vec::new();
    let stats = repeat(
        session.as_mut(),
        &built.inputs,
        request.repeat,
        |repetition| {
            progress(Phase::Run {
                repetition,
                of: request.repeat.get(),
            });
            nanoseconds(&clock)
        },
        |event| {
            runs.push(event.duration_ns);
            log.events.push(event);
        },
    )?;
    progress(Phase::Readback);
    let reading = nanoseconds(&clock);
    let (values, parents, readback) = read_back(session.as_mut(), &built, graph.nodes())?;
    log.host("readback", reading, readback);
    plan.topology = steps::topology_name(&stats.control);
    let end = steps::end_of(&stats.control);
    let checked = request.check.then(|| {
        progress(Phase::Check);
        let found = (&values, parents.as_deref());
        log.until_now("check", || steps::is_equal(graph, request, end, found))
    });
    Ok(RunOutcome {
        analysis: request.analysis,
        backend: executor,
        backend_reason: reason,
        device: session.device().name.clone(),
        nodes: u64::from(graph.nodes()),
        edges: u64::from(graph.edges()),
        dropped: Dropped::default(),
        sources: steps::original_ids(graph, request.sources()),
        reached: steps::reached(request.analysis, &values),
        rounds: steps::rounds(request.analysis, &values, end),
        converged: end.converged,
        plan,
        times: Times {
            load: 0,
            upload: session.upload_ns(),
            plan: plan_ns,
            run: steps::median(&mut runs),
            readback,
        },
        repeat: request.repeat.get(),
        device_barriers: barriers(&stats, executor, session.device().units),
        host: stats.host,
        checked,
        events: log.events,
        waves: waves(&encoded, &stats.control),
        values,
        parents,
    })
}

/// Runs the loaded program as often as asked; `begin` gives the time at which a
/// repetition starts and `done` takes what it cost. Gives the last run's end.
fn repeat(
    session: &mut dyn Session,
    inputs: &[u32],
    times: NonZeroU32,
    mut begin: impl FnMut(u32) -> u64,
    mut done: impl FnMut(Event),
) -> Result<RunStats, RunError> {
    let mut repetition = 1;
    loop {
        let start_ns = begin(repetition);
        let stats = session.run(inputs)?;
        done(Event {
            name: format!("run {repetition}"),
            track: Track::Device,
            start_ns,
            duration_ns: stats.run_ns,
        });
        if repetition >= times.get() {
            return Ok(stats);
        }
        repetition += 1;
    }
}

/// Time since `clock` began, nanoseconds.
fn nanoseconds(clock: &Instant) -> u64 {
    clock.elapsed().as_nanos() as u64
}

/// What happened when, for the trace.
struct Log {
    clock: Instant,
    events: Vec<Event>,
}

impl Log {
    fn begin() -> Self {
        Self {
            clock: Instant::now(),
            events: Vec::new(),
        }
    }

    /// Adds a span of the host.
    fn host(&mut self, name: &str, start_ns: u64, duration_ns: u64) {
        self.events.push(Event {
            name: name.to_owned(),
            track: Track::Host,
            start_ns,
            duration_ns,
        });
    }

    /// Adds choosing and planning, which end now.
    fn planned(&mut self, plan_ns: u64) {
        let start = nanoseconds(&self.clock).saturating_sub(plan_ns);
        self.host("choose", 0, start);
        self.host("plan", start, plan_ns);
    }

    /// Adds the span of the host in which `work` is done.
    fn until_now<T>(&mut self, name: &str, work: impl FnOnce() -> T) -> T {
        let start = nanoseconds(&self.clock);
        let done = work();
        let end = nanoseconds(&self.clock);
        self.host(name, start, end.saturating_sub(start));
        done
    }
}

/// Opens the machine, which ends with the upload of the graph, and loads the
/// program.
fn start<'g>(
    (graph, request): (&'g Graph, &RunRequest),
    choice: Choice,
    (encoded, log): (&EncodedProgram, &mut Log),
) -> Result<Opened<'g>, RunError> {
    let mut opened = log.until_now("open", || open(graph, request, choice))?;
    let upload = opened.session.upload_ns();
    let end = nanoseconds(&log.clock);
    log.host("upload", end.saturating_sub(upload), upload);
    log.until_now("load program", || opened.session.load(encoded))?;
    Ok(opened)
}

/// Builds, plans and encodes the program for the machine that was chosen.
fn plan_program(
    graph: &Graph,
    request: &RunRequest,
    choice: &Choice,
) -> Result<(Built, EncodedProgram, PlanSummary, u64), RunError> {
    let start = Instant::now();
    let built = steps::build(graph, request)?;
    let plan = PlanRequest {
        resident_bytes: graph.memory_bytes() as u64,
        budget_bytes: request.budget_bytes,
        ..PlanRequest::default()
    };
    let (mut encoded, summary) = built.program.encode(&plan)?;
    if let Some(narrow) = choice.narrow {
        encoded.search.narrow_nodes = narrow.enter;
        encoded.search.narrow_exit_nodes = narrow.leave;
    }
    let plan = PlanSummary {
        groups: summary.groups,
        global_barriers: summary.global_barriers,
        lower_bound: summary.lower_bound,
        peak_group_bytes: summary.peak_group_bytes,
        arena_bytes: summary.arena_bytes,
        topology: String::new(),
    };
    Ok((built, encoded, plan, start.elapsed().as_nanos() as u64))
}

/// Opens the backend that was chosen.
fn open<'g>(
    graph: &'g Graph,
    request: &RunRequest,
    choice: Choice,
) -> Result<Opened<'g>, RunError> {
    let limits = RunLimits {
        time_budget_ns: request.time_budget_ns,
    };
    let gpu = |executor| {
        let options = cuda::CudaOptions {
            device: request.device,
            limits,
            budget_bytes: request.budget_bytes,
            tiles: choice.tiles,
            ..cuda::CudaOptions::default()
        };
        cuda::open(executor, graph, options)
    };
    let cpu = |threads, reason| -> Result<Opened<'g>, RunError> {
        Ok(Opened {
            session: Box::new(CpuSession::open(graph, threads, limits)?),
            executor: Executor::Cpu,
            reason,
        })
    };
    let on_gpu = |executor, kind, reason| -> Result<Opened<'g>, RunError> {
        Ok(Opened {
            session: gpu(kind)?,
            executor,
            reason,
        })
    };
    let Choice {
        backend,
        threads,
        reason,
        ..
    } = choice;
    match backend {
        BackendChoice::Cpu => cpu(threads, reason),
        BackendChoice::Launches => on_gpu(Executor::Launches, cuda::Executor::Launches, reason),
        BackendChoice::Graph => on_gpu(Executor::Graph, cuda::Executor::Graph, reason),
        BackendChoice::Mega => on_gpu(Executor::Mega, cuda::Executor::Mega, reason),
        BackendChoice::Auto => match gpu(cuda::Executor::Mega) {
            Ok(session) => Ok(Opened {
                session,
                executor: Executor::Mega,
                reason,
            }),
            Err(error) => cpu(threads, Some(error.to_string())),
        },
    }
}

/// Copies the result back; gives the column, the parents where asked, and the
/// nanoseconds it took.
fn read_back(
    session: &mut dyn Session,
    built: &Built,
    nodes: u32,
) -> Result<(Column, Option<Vec<u32>>, u64), RunError> {
    let start = Instant::now();
    let mut words = Vec::new();
    session.read(built.result, &mut words)?;
    let mut parents = None;
    if let Some(register) = built.parents {
        session.read(register, parents.insert(Vec::new()))?;
    }
    let readback = start.elapsed().as_nanos() as u64;
    Ok((built.reading.column(nodes, words), parents, readback))
}

/// Grid barriers that the run crossed: tickets over blocks. Launch boundaries
/// are not barriers, so executors that launch each group cross none.
fn barriers(stats: &RunStats, executor: Executor, units: u32) -> u64 {
    match executor {
        Executor::Launches | Executor::Graph => 0,
        Executor::Cpu | Executor::Mega => u64::from(stats.control.ticket / units.max(1)),
    }
}
