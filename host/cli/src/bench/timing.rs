//! Times of a program on a machine, by both clocks.

use super::BenchError;
use super::row::{Baseline, Clock, Figure, Timing};
use seawall::analysis::Built;
use seawall::backend::{self, BackendError, Session, Settings};
use seawall::executor::{Executor, Machine};
use seawall::graph::Graph;
use seawall::outcome::Column;
use seawall::program::{EncodedProgram, PlanRequest};
use seawall::run::RunError;
use seawall::units::counted;
use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

/// Runs per median, if they fit the time limit.
const RUNS: usize = 5;

/// Time after which no further run starts.
const LONG: Duration = Duration::from_secs(2);

/// Longest run of the CPU, nanoseconds: one thread may need minutes where a GPU needs
/// milliseconds.
const CPU_BUDGET_NS: u64 = 600_000_000_000;

pub(super) fn cpu(threads: NonZeroUsize) -> Machine {
    let mut machine = Machine::cpu(Some(threads));
    machine.time_budget_ns = CPU_BUDGET_NS;
    machine
}

pub(super) fn name(machine: &Machine) -> String {
    match (machine.executor, machine.threads) {
        (Some(Executor::Cpu), Some(threads)) => {
            format!("cpu, {}", counted(threads.get() as u64, "thread"))
        }
        (executor, _) => executor.map_or("auto", Executor::name).to_owned(),
    }
}

/// Opens `machine`, which names an executor, with `graph` resident.
pub(super) fn open<'g>(
    machine: &Machine,
    graph: &'g Graph,
) -> Result<Box<dyn Session + 'g>, BackendError> {
    let executor = machine.executor.unwrap_or(Executor::Cpu);
    backend::open(graph, executor, (machine, Settings::default()))
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Times {
    /// Between two events on a GPU; equal to the wall time on a CPU.
    pub(super) device_ns: Timing,
    /// From the call to its return.
    pub(super) wall_ns: Timing,
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
        device_ns: Timing::of(&mut device),
        wall_ns: Timing::of(&mut wall),
        iterations,
    })
}

impl Times {
    pub(super) const fn by(self, clock: Clock) -> Timing {
        match clock {
            Clock::Device => self.device_ns,
            Clock::Wall => self.wall_ns,
        }
    }

    pub(super) fn share(self, parts: u32) -> Self {
        let parts = f64::from(parts);
        Self {
            device_ns: self.device_ns.share(parts),
            wall_ns: self.wall_ns.share(parts),
            ..self
        }
    }

    /// Returns medians and ends over several sets of runs, with the iterations of the last.
    pub(super) fn over(all: &[Self]) -> Self {
        let of =
            |part: fn(&Self) -> Timing| Timing::over(&all.iter().map(part).collect::<Vec<_>>());
        Self {
            device_ns: of(|times| times.device_ns),
            wall_ns: of(|times| times.wall_ns),
            iterations: all.last().map_or(0, |times| times.iterations),
        }
    }
}

/// Results of a machine for several runs: median times and one column per run.
pub(super) struct Done {
    pub(super) name: String,
    pub(super) times: Times,
    /// Device time of the first run of a loaded program, if only that one has what depends on the
    /// graph alone.
    pub(super) first_ns: Option<Timing>,
    pub(super) columns: Vec<Column>,
}

impl Done {
    pub(super) fn figure(&self, clock: Clock) -> Figure {
        Figure::new(self.name.clone(), self.times.by(clock))
    }

    pub(super) fn beside(&self, clock: Clock) -> Baseline {
        Baseline::Measured(self.figure(clock))
    }
}

/// Times `built` on `machine`, and reads its result.
pub(super) fn one(
    machine: &Machine,
    graph: &Graph,
    quick: bool,
    built: &Built,
) -> Result<Done, BenchError> {
    each(machine, graph, quick, &[Vec::new()], |_| Ok(built.clone()))
}

/// Times programs that differ by their inputs alone on `machine`, one for each of `starts`, and
/// reads their results.
pub(super) fn each(
    machine: &Machine,
    graph: &Graph,
    quick: bool,
    starts: &[Vec<u32>],
    build: impl Fn(&[u32]) -> Result<Built, BenchError>,
) -> Result<Done, BenchError> {
    let mut session = open(machine, graph)?;
    let (mut all, mut columns) = (Vec::new(), Vec::new());
    let mut first_ns = None;
    let mut result = None;
    for start in starts {
        let built = build(start)?;
        if result.is_none() {
            let plan = PlanRequest::default();
            let (program, _) = built.program.encode(&plan).map_err(RunError::from)?;
            if !program.once.is_empty() {
                let session = session.as_mut();
                first_ns = Some(first_runs(session, &program, &built.inputs, quick)?);
            }
            session.load(&program)?;
        }
        all.push(times(session.as_mut(), &built.inputs, quick)?);
        let result = *result.get_or_insert(built.result);
        let mut words = Vec::new();
        session.read(result, &mut words)?;
        columns.push(built.reading.column(graph.nodes(), words));
    }
    Ok(Done {
        name: name(machine),
        times: Times::over(&all),
        first_ns,
        columns,
    })
}

/// Device times of the first run of `program`, loaded anew for each.
fn first_runs(
    session: &mut dyn Session,
    program: &EncodedProgram,
    inputs: &[u32],
    quick: bool,
) -> Result<Timing, BackendError> {
    let first = || {
        session.load(program)?;
        Ok((session.run(inputs)?.run_ns, 0))
    };
    Ok(calls(first, quick)?.device_ns)
}
