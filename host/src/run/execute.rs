//! Carries out a request: program, plan, backend, result.

use super::check::{End, check};
use super::choose::{Choice, choose};
use super::{AnalysisKind, BackendChoice, Executor, Phase, RunError, RunRequest};
use crate::analysis::{self, Built, Question};
use crate::backend::cpu::CpuSession;
use crate::backend::{RunLimits, RunStats, Session, cuda};
use crate::graph::Graph;
use crate::outcome::{Column, Event, PlanSummary, Rounds, RunOutcome, Times, Track};
use crate::program::{EncodedProgram, PlanRequest};
use seawall_core::abi::UNREACHED;
use seawall_core::abi::control::LoopRecord;
use seawall_core::topology::Topology;
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
/// When the analysis has no program, the plan does not fit the budget, or the
/// machine fails.
pub fn execute(
    graph: &Graph,
    request: &RunRequest,
    progress: &mut dyn FnMut(Phase),
) -> Result<RunOutcome, RunError> {
    let clock = Instant::now();
    let mut events = Vec::new();
    progress(Phase::Plan);
    let choice = choose(graph, request);
    let (built, encoded, mut plan, plan_ns) = plan_program(graph, request, &choice)?;
    events.push(host_event("plan", 0, plan_ns));
    progress(Phase::Upload);
    let Opened {
        mut session,
        executor,
        reason,
    } = open(graph, request, choice)?;
    session.load(&encoded)?;
    let upload = session.upload_ns();
    events.push(host_event("upload", plan_ns, upload));
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
            clock.elapsed().as_nanos() as u64
        },
        |event| {
            runs.push(event.duration_ns);
            events.push(event);
        },
    )?;
    progress(Phase::Readback);
    let (values, readback) = read_back(session.as_mut(), &built, graph.nodes())?;
    plan.topology = topology_name(&stats);
    if request.check {
        progress(Phase::Check);
    }
    let end = end_of(&stats);
    let limit = max_iterations(request);
    let checked = request
        .check
        .then(|| check((graph, request), (limit, end), &values));
    Ok(RunOutcome {
        analysis: request.analysis,
        backend: executor,
        backend_reason: reason,
        device: session.device().name.clone(),
        nodes: u64::from(graph.nodes()),
        edges: u64::from(graph.edges()),
        sources: original_ids(graph, &request.sources),
        reached: reached(request.analysis, &values),
        rounds: rounds(request.analysis, &values, end),
        converged: end.converged,
        plan,
        times: Times {
            load: 0,
            upload,
            plan: plan_ns,
            run: median(&mut runs),
            readback,
        },
        repeat: request.repeat.get(),
        device_barriers: barriers(&stats, executor, session.device().units),
        checked,
        events,
        values,
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

fn original_ids(graph: &Graph, nodes: &[u32]) -> Vec<u64> {
    nodes.iter().map(|node| graph.original_id(*node)).collect()
}

fn host_event(name: &str, start_ns: u64, duration_ns: u64) -> Event {
    Event {
        name: name.to_owned(),
        track: Track::Host,
        start_ns,
        duration_ns,
    }
}

/// Builds, plans and encodes the program for the machine that was chosen.
fn plan_program(
    graph: &Graph,
    request: &RunRequest,
    choice: &Choice,
) -> Result<(Built, EncodedProgram, PlanSummary, u64), RunError> {
    let start = Instant::now();
    let question = Question {
        sources: request.sources.clone(),
        max_iterations: max_iterations(request),
        ranking: request.ranking,
    };
    check_graph(graph, request.analysis)?;
    let built =
        analysis::build(request.analysis, graph, &question)?.ok_or(RunError::NoProgram {
            analysis: request.analysis,
        })?;
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

/// Refuses what the graph cannot answer.
fn check_graph(graph: &Graph, analysis: AnalysisKind) -> Result<(), RunError> {
    if analysis.reads_weights() && graph.weights().is_none() {
        return Err(RunError::NoWeights { analysis });
    }
    if analysis == AnalysisKind::Kcore && !graph.is_symmetric() {
        return Err(RunError::Directed { analysis });
    }
    Ok(())
}

fn max_iterations(request: &RunRequest) -> u32 {
    request
        .max_iterations
        .map_or(u32::MAX - 1, std::num::NonZero::get)
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

/// Copies the result back; gives the column and the nanoseconds it took.
fn read_back(
    session: &mut dyn Session,
    built: &Built,
    nodes: u32,
) -> Result<(Column, u64), RunError> {
    let start = Instant::now();
    let mut words = Vec::new();
    session.read(built.result, &mut words)?;
    let readback = start.elapsed().as_nanos() as u64;
    Ok((built.reading.column(nodes, words), readback))
}

fn reached(analysis: AnalysisKind, values: &Column) -> u64 {
    match (analysis, values) {
        (AnalysisKind::Reach, Column::U32(flags)) => {
            flags.iter().filter(|flag| **flag != 0).count() as u64
        }
        (_, Column::U32(words)) => words.iter().filter(|word| **word != UNREACHED).count() as u64,
        (_, Column::F32(ranks)) => ranks.len() as u64,
    }
}

/// The counters of the loop that ran first, the one that an analysis is about.
fn first_loop(stats: &RunStats) -> Option<&LoopRecord> {
    (stats.control.loops_done > 0).then_some(&stats.control.loops[0])
}

/// How the loop that an analysis is about ended; a program without one is
/// over after an iteration.
fn end_of(stats: &RunStats) -> End {
    let record = first_loop(stats);
    End {
        iterations: record.map_or(1, |record| record.iterations),
        converged: record.is_none_or(|record| record.converged != 0),
    }
}

fn rounds(analysis: AnalysisKind, values: &Column, end: End) -> Rounds {
    match (analysis, values) {
        (AnalysisKind::Bfs, Column::U32(levels)) => {
            let deepest = levels.iter().filter(|level| **level != UNREACHED).max();
            Rounds::Levels(deepest.map_or(0, |level| level + 1))
        }
        _ => Rounds::Iterations(end.iterations),
    }
}

/// Name of the topology that most steps of the run had.
fn topology_name(stats: &RunStats) -> String {
    let Some(record) = first_loop(stats) else {
        return "none".to_owned();
    };
    let mut steps = record.steps;
    // Iterations in one block are one step each in its own count.
    steps[Topology::Fused as usize] = steps[Topology::Fused as usize].max(record.block_iterations);
    let most = (0_u32..).zip(steps).max_by_key(|(_, count)| *count);
    most.and_then(|(word, _)| Topology::from_u32(word))
        .map_or_else(|| "none".to_owned(), |topology| topology.name().to_owned())
}

/// Grid barriers that the run crossed: tickets over blocks. Launch boundaries
/// are not barriers, so executors that launch each group cross none.
fn barriers(stats: &RunStats, executor: Executor, units: u32) -> u64 {
    match executor {
        Executor::Launches | Executor::Graph => 0,
        Executor::Cpu | Executor::Mega => u64::from(stats.control.ticket / units.max(1)),
    }
}

fn median(values: &mut [u64]) -> u64 {
    values.sort_unstable();
    values.get(values.len() / 2).copied().unwrap_or(0)
}
