//! Carries out a request: program, plan, backend, result.

use super::choose::{Choice, Narrow, choose};
use super::weigh::Found;
use super::{BackendChoice, Executor, Phase, RunError, RunRequest, steps};
use crate::analysis::{self, Built, End};
use crate::backend::cpu::{CpuSession, prepare_threads};
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

/// Makes ready what `request` will want whatever its graph is: threads, and the costs
/// that `auto` weighs. A command calls it while its graph is read; without it the first
/// run pays. A failure shows in that run.
pub fn prepare(request: &RunRequest) {
    if !matches!(request.backend, BackendChoice::Auto | BackendChoice::Cpu) {
        return;
    }
    Found::get();
    let _ = prepare_threads(request.threads);
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
    let mut submission = Submission {
        graph,
        request,
        progress,
        log: Log::begin(),
    };
    (submission.progress)(Phase::Plan);
    let choice = choose(graph, request);
    let narrow = choice.narrow;
    let planned = submission.plan(narrow, false)?;
    (submission.progress)(Phase::Upload);
    let Opened {
        mut session,
        executor,
        reason,
    } = submission.open(choice)?;
    let (planned, answer) = submission.settle(session.as_mut(), planned, narrow)?;
    let end = steps::end_of(&answer.stats.control);
    let checked = request.check.then(|| submission.is_equal(end, &answer));
    let Answer {
        values,
        parents,
        stats,
        spent,
    } = answer;
    let mut plan = planned.summary;
    plan.topology = steps::topology_name(&stats.control);
    let analysis = request.analysis.room();
    Ok(RunOutcome {
        analysis: request.analysis,
        backend: executor,
        backend_reason: reason,
        device: session.device().name.clone(),
        nodes: u64::from(graph.nodes()),
        edges: u64::from(graph.edges()),
        dropped: Dropped::default(),
        weights: None,
        sources: steps::original_ids(graph, request.sources()),
        reached: analysis.reached(&values),
        rounds: analysis.rounds(&values, end.iterations),
        converged: end.converged,
        plan,
        times: Times {
            load: 0,
            upload: session.upload_ns(),
            plan: planned.plan_ns,
            run: spent.run_ns,
            readback: spent.readback_ns,
        },
        repeat: request.repeat.get(),
        device_barriers: barriers(&stats, executor, session.device().units),
        host: stats.host,
        checked,
        check_tolerance: checked.and_then(|_| analysis.tolerance(&values, end)),
        answer: analysis.answer(graph, &values),
        events: submission.log.events,
        waves: waves(&planned.encoded, &stats.control),
        values,
        parents,
    })
}

/// A request under way.
struct Submission<'a, 'p> {
    graph: &'a Graph,
    request: &'a RunRequest,
    progress: &'p mut dyn FnMut(Phase),
    log: Log,
}

/// A program that was planned, and what that took.
struct Planned {
    built: Built,
    encoded: EncodedProgram,
    summary: PlanSummary,
    plan_ns: u64,
}

/// What a program found, and what that took.
struct Answer {
    values: Column,
    parents: Option<Vec<u32>>,
    stats: RunStats,
    spent: Spent,
}

/// Time of all runs so far.
#[derive(Clone, Copy, Debug, Default)]
struct Spent {
    run_ns: u64,
    readback_ns: u64,
}

impl<'a> Submission<'a, '_> {
    /// Builds, plans and encodes the program, with distances of 64 bits where `wide` says so.
    fn plan(&mut self, narrow: Option<Narrow>, wide: bool) -> Result<Planned, RunError> {
        let start = Instant::now();
        let built = steps::build(self.graph, self.request, wide)?;
        let (encoded, summary) = plan_program((self.graph, self.request), &built, narrow)?;
        let plan_ns = nanoseconds(&start);
        self.log.planned(plan_ns);
        Ok(Planned {
            built,
            encoded,
            summary,
            plan_ns,
        })
    }

    /// Opens the machine, which ends with the upload of the graph.
    fn open(&mut self, choice: Choice) -> Result<Opened<'a>, RunError> {
        let (graph, request) = (self.graph, self.request);
        let opened = self
            .log
            .until_now("open", || open(graph, request, choice))?;
        let upload = opened.session.upload_ns();
        let end = nanoseconds(&self.log.clock);
        self.log.host("upload", end.saturating_sub(upload), upload);
        Ok(opened)
    }

    /// Answers, and answers again in 64 bits where distances outgrew 32; times are those
    /// of both.
    fn settle(
        &mut self,
        session: &mut dyn Session,
        planned: Planned,
        narrow: Option<Narrow>,
    ) -> Result<(Planned, Answer), RunError> {
        let mut spent = Spent::default();
        match self.answer(session, &planned, &mut spent) {
            Err(error) if steps::outgrew(&error) => {}
            answer => return Ok((planned, answer?)),
        }
        let mut wide = self.plan(narrow, true)?;
        wide.plan_ns += planned.plan_ns;
        let again = self.answer(session, &wide, &mut spent)?;
        Ok((wide, again))
    }

    /// Whether the sequential implementation finds the same.
    fn is_equal(&mut self, end: End, answer: &Answer) -> bool {
        (self.progress)(Phase::Check);
        let (graph, request) = (self.graph, self.request);
        let found = analysis::Found {
            values: &answer.values,
            parents: answer.parents.as_deref(),
        };
        self.log
            .until_now("check", || steps::is_equal(graph, request, end, found))
    }

    /// Loads a program, runs it as often as asked and reads its result.
    fn answer(
        &mut self,
        session: &mut dyn Session,
        planned: &Planned,
        spent: &mut Spent,
    ) -> Result<Answer, RunError> {
        self.log
            .until_now("load program", || session.load(&planned.encoded))?;
        let (stats, run_ns) = self.repeat(session, &planned.built.inputs)?;
        (self.progress)(Phase::Readback);
        let reading = nanoseconds(&self.log.clock);
        let read = read_back(session, &planned.built, self.graph.nodes());
        let readback_ns = nanoseconds(&self.log.clock).saturating_sub(reading);
        self.log.host("readback", reading, readback_ns);
        spent.run_ns += run_ns;
        spent.readback_ns += readback_ns;
        let (values, parents) = read?;
        Ok(Answer {
            values,
            parents,
            stats,
            spent: *spent,
        })
    }

    /// Runs the loaded program as often as asked; returns the last run's end and the
    /// median of the times.
    fn repeat(
        &mut self,
        session: &mut dyn Session,
        inputs: &[u32],
    ) -> Result<(RunStats, u64), RunError> {
        let clock = self.log.clock;
        let of = self.request.repeat;
        let mut runs = Vec::new();
        let stats = repeat(
            session,
            inputs,
            of,
            |repetition| {
                let of = of.get();
                (self.progress)(Phase::Run { repetition, of });
                nanoseconds(&clock)
            },
            |event| {
                runs.push(event.duration_ns);
                self.log.events.push(event);
            },
        )?;
        Ok((stats, steps::median(&mut runs)))
    }
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

    /// Adds planning, which ends now, and before the first plan the choice.
    fn planned(&mut self, plan_ns: u64) {
        let start = nanoseconds(&self.clock).saturating_sub(plan_ns);
        if self.events.is_empty() {
            self.host("choose", 0, start);
        }
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

/// Plans and encodes a program for the machine that was chosen.
fn plan_program(
    (graph, request): (&Graph, &RunRequest),
    built: &Built,
    narrow: Option<Narrow>,
) -> Result<(EncodedProgram, PlanSummary), RunError> {
    let plan = PlanRequest {
        resident_bytes: graph.memory_bytes() as u64,
        budget_bytes: request.budget_bytes,
        ..PlanRequest::default()
    };
    let (mut encoded, summary) = built.program.encode(&plan)?;
    if let Some(narrow) = narrow {
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
    Ok((encoded, plan))
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

/// Copies the result back; returns the column, and the parents where asked.
fn read_back(
    session: &mut dyn Session,
    built: &Built,
    nodes: u32,
) -> Result<(Column, Option<Vec<u32>>), RunError> {
    let mut words = Vec::new();
    session.read(built.result, &mut words)?;
    let mut parents = None;
    if let Some(register) = built.parents {
        session.read(register, parents.insert(Vec::new()))?;
    }
    Ok((built.reading.column(nodes, words), parents))
}

/// Grid barriers that the run crossed: tickets over blocks. Launch boundaries
/// are not barriers, so executors that launch each group cross none.
fn barriers(stats: &RunStats, executor: Executor, units: u32) -> u64 {
    match executor {
        Executor::Launches | Executor::Graph => 0,
        Executor::Cpu | Executor::Mega => u64::from(stats.control.ticket / units.max(1)),
    }
}
