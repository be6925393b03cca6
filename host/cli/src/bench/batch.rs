//! Thousands of small searches in one submission, each by one block or thread.
//!
//! Both machines are timed from the call that runs the loaded batch to its return, and also from
//! graphs to results, which adds packing, copies and reading back; rows of its parts follow.

use super::BenchError;
use super::row::{Baseline, Clock, Figure, Floor, Row, Timing, Unit};
use super::setting::Setting;
use super::timing::{self, Times, calls};
use rayon::prelude::*;
use seawall::analysis::oracle;
use seawall::backend::RunLimits;
use seawall::backend::batch::{BatchSession, cpu::CpuBatch};
use seawall::backend::cuda::{self, CudaOptions};
use seawall::batch::{self, BatchControl, BatchGraph, BatchOutcome, NamedGraph, Prepared};
use seawall::executor::{Executor, Machine};
use seawall::graph::LoadOptions;
use seawall::outcome::Column;
use seawall::run::{AnalysisKind, RunRequest};
use seawall::units::elapsed_ns;
use std::num::NonZeroUsize;
use std::time::Instant;

/// The graphs: full size, and with `--quick`.
const GRAPHS: [&str; 2] = ["gen:batch:8192:chain:512", "gen:batch:64:chain:64"];

/// Largest share of the time of the CPU backend, both by wall time.
const FLOOR: Floor = Floor::Ratio(0.5);

/// Longest time from graphs to results, that of 16 threads.
const WHOLE: Floor = Floor::Ns(100e6);

const PARTS: [&str; 5] = [
    "planning",
    "opening the machine",
    "packing and upload",
    "run",
    "results and release",
];

/// Adds one row for the loaded batch, one for the whole work and one for each of its parts, all by
/// wall time, and on a GPU the device time.
pub(super) fn rows(setting: &mut Setting<'_>) -> Result<(), BenchError> {
    let spec = GRAPHS[usize::from(setting.quick)];
    setting.say(format!("making {spec}"));
    let specs = batch::expand(&[spec.to_owned()])?;
    let graphs = batch::load(specs, &LoadOptions::default())?;
    let work = Work::new(spec, &graphs);
    let all = timing::cpu(setting.threads);
    let Some(device) = setting.gpu.as_ref().map(|limits| limits.ordinal) else {
        let cpu = work.run(setting, all)?;
        let one = work.run(setting, timing::cpu(NonZeroUsize::MIN))?;
        let rows = work.rows(&cpu, &one).into_iter();
        rows.chain(work.parts(&cpu, &one))
            .for_each(|row| setting.push(row));
        return Ok(());
    };
    let mega = work.run(setting, Machine::gpu(Executor::Mega, device))?;
    let cpu = work.run(setting, all)?;
    let [loaded, whole] = work.rows(&mega, &cpu);
    setting.push(loaded.with_floor(Some(FLOOR)));
    setting.push(whole.with_floor(Some(WHOLE)));
    for row in work.parts(&mega, &cpu) {
        setting.push(row);
    }
    let ours = Figure::new(mega.name, mega.loaded.device_ns);
    let launches = Baseline::Missing {
        name: "launches".to_owned(),
        why: "runs one graph at a time".to_owned(),
    };
    let row = Row::new(work.what, Clock::Device, ours, launches);
    setting.push(row.shown_in(Unit::Milliseconds));
    Ok(())
}

/// A search from the first node of every graph.
struct Work<'g> {
    what: String,
    graphs: Vec<BatchGraph<'g>>,
    expected: Vec<Column>,
}

/// Times of a machine.
struct Done {
    name: String,
    /// The run call of a loaded batch.
    loaded: Times,
    /// From graphs to results.
    whole: Times,
    parts: [Timing; PARTS.len()],
}

/// Clock of the parts of one submission.
struct Parts {
    started: Instant,
    /// Time from the start to each phase that has begun.
    marks: Vec<u64>,
}

impl Parts {
    fn start() -> Self {
        Self {
            started: Instant::now(),
            marks: Vec::new(),
        }
    }

    /// Notes that the next phase begins.
    fn mark(&mut self) {
        self.marks.push(elapsed_ns(self.started));
    }

    /// Returns the times of [`PARTS`], of which packing took `packed_ns`; `None` if there were
    /// other phases, as after distances that exceed 32 bits.
    fn times(mut self, packed_ns: u64) -> Option<[f64; PARTS.len()]> {
        self.mark();
        let [plan, upload, run, readback, end] = self.marks.try_into().ok()?;
        let opened = run - upload;
        let packed = packed_ns.min(opened);
        let parts = [
            upload - plan,
            opened - packed,
            packed,
            readback - run,
            end - readback,
        ];
        Some(parts.map(|ns| ns as f64))
    }
}

impl<'g> Work<'g> {
    fn new(spec: &str, graphs: &'g [NamedGraph]) -> Self {
        let member = |NamedGraph { name, graph, .. }: &'g NamedGraph| {
            BatchGraph::new(name.clone(), graph, vec![0])
        };
        let levels = |NamedGraph { graph, .. }: &NamedGraph| {
            Column::U32(oracle::levels(graph, &[0], u32::MAX - 1))
        };
        Self {
            what: format!("{} {spec}, from 0", AnalysisKind::Bfs),
            graphs: graphs.iter().map(member).collect(),
            expected: graphs.par_iter().map(levels).collect(),
        }
    }

    /// Compares our times with another machine's, loaded and whole.
    fn rows(&self, ours: &Done, other: &Done) -> [Row; 2] {
        let both = [ours, other];
        [
            self.row("", both, |done| done.loaded.wall_ns),
            self.row(", graphs to results", both, |done| done.whole.wall_ns),
        ]
    }

    fn parts(&self, ours: &Done, other: &Done) -> Vec<Row> {
        let row = |(at, part)| self.row(&format!(", {part}"), [ours, other], |done| done.parts[at]);
        PARTS.into_iter().enumerate().map(row).collect()
    }

    /// Compares a wall time of ours with another machine's.
    fn row(&self, what: &str, [ours, other]: [&Done; 2], read: impl Fn(&Done) -> Timing) -> Row {
        let figure = |done: &Done| Figure::new(done.name.clone(), read(done));
        let baseline = Baseline::Measured(figure(other));
        let what = format!("{}{what}", self.what);
        Row::new(what, Clock::Wall, figure(ours), baseline).shown_in(Unit::Milliseconds)
    }

    fn run(&self, setting: &mut Setting<'_>, machine: Machine) -> Result<Done, BenchError> {
        let name = timing::name(&machine);
        setting.say(format!("{}: {name}", self.what));
        let request = RunRequest::new(AnalysisKind::Bfs, Vec::new()).on(machine);
        let (loaded, right) = self.loaded(&request, setting.quick)?;
        let mut last = None;
        let mut all = Vec::new();
        let whole = || {
            let mut parts = Parts::start();
            let control = BatchControl {
                progress: Some(&mut |_| parts.mark()),
                ..BatchControl::default()
            };
            let outcome = batch::execute_with(&self.graphs, &request, control)?;
            let run_ns = outcome.times.run;
            all.extend(parts.times(outcome.times.upload));
            last = Some(outcome);
            Ok::<_, BenchError>((run_ns, 0))
        };
        let whole = calls(whole, setting.quick)?;
        // The first submission is not counted.
        let counted = all.get(1..).unwrap_or_default();
        let of = |at| Timing::of(&mut counted.iter().map(|parts| parts[at]).collect::<Vec<_>>());
        if !right || !last.is_some_and(|outcome| self.is_right(&outcome)) {
            setting.differs(format!("{}: {name} returns wrong levels", self.what));
        }
        Ok(Done {
            name,
            loaded,
            whole,
            parts: std::array::from_fn(of),
        })
    }

    /// Times the run call of a loaded batch; returns whether its results are correct.
    fn loaded(&self, request: &RunRequest, quick: bool) -> Result<(Times, bool), BenchError> {
        let requests = batch::requests(&self.graphs, request);
        let Prepared { jobs, readings, .. } = batch::prepare(&self.graphs, &requests)?;
        let machine = &request.machine;
        let mut session: Box<dyn BatchSession> = match machine.executor {
            Some(Executor::Cpu) => {
                let limits = RunLimits {
                    time_budget_ns: machine.time_budget_ns,
                };
                Box::new(CpuBatch::open(&jobs, machine.threads, limits, None)?)
            }
            _ => {
                let options = CudaOptions {
                    device: machine.device,
                    ..CudaOptions::default()
                };
                cuda::open_batch(&jobs, options)?
            }
        };
        let times = calls(|| session.run().map(|stats| (stats.run_ns, 0)), quick)?;
        let words = session.read()?;
        let found = words.into_iter().zip(readings).zip(&self.graphs);
        let found = found.map(|((words, reading), of)| reading.column(of.graph.nodes(), words));
        Ok((times, found.eq(self.expected.iter().cloned())))
    }

    fn is_right(&self, outcome: &BatchOutcome) -> bool {
        let found = outcome.graphs.iter().map(|graph| &graph.run.values);
        found.eq(&self.expected)
    }
}
