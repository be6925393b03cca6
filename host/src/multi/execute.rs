//! Requests on a resident graph for several devices, and their outcome.

use super::Devices;
use super::centers::Centers;
use super::dealt::{Deal, Sources};
use super::ranges::{Cut, check_budget, slices};
use super::way::{Way, Whole, Work, check, way_on};
use super::{price, shared};
use crate::analysis::End;
use crate::backend::cpu::multi::Blocks;
use crate::backend::multi::{DeviceEdges, Meeting};
use crate::backend::{Canceller, cpu, cuda};
use crate::graph::{Graph, LoadOptions, load};
use crate::job::{self, Job, drive};
use crate::outcome::RunOutcome;
use crate::run::{Phase, RunError, RunRequest};
use crate::spans;
use seawall_core::abi::multi::MultiRecord;
use std::ffi::OsStr;

/// Why one device is faster than `devices` for `request`, if that is so for any graph of this size.
///
/// # Errors
/// [`RunError::CannotSplit`].
pub fn reason_for_one(
    graph: &Graph,
    request: &RunRequest,
    devices: &Devices,
) -> Result<Option<String>, RunError> {
    Ok(match way_on(graph, request, devices)? {
        Way::Cut(work) => price::reason_for_one(graph, work, devices),
        Way::Whole(Whole::Shared) => shared::reason_for_one(devices),
        Way::Whole(Whole::Sources) => {
            Sources::of(graph, request, devices.count())?.reason_for_one()
        }
        Way::Whole(Whole::Centers) => {
            Centers::of(graph, request, devices.count())?.reason_for_one()
        }
    })
}

/// Runs `request` on `graph`, cut for `devices`.
///
/// The machine of the request gives the time budget and the byte budget of each device; its
/// executor and threads are those of `devices`.
///
/// ```
/// use seawall::graph::{LoadOptions, load};
/// use seawall::multi::{self, Devices};
/// use seawall::run::{AnalysisKind, RunRequest, execute};
///
/// let graph = load("gen:grid:100", &LoadOptions::default(), None)?.graph;
/// let request = RunRequest::new(AnalysisKind::Bfs, vec![0]);
/// let three = Devices::Simulated { count: 3, threads: 1 };
/// let outcome = multi::execute(&graph, &request, &three)?;
/// assert_eq!(outcome.values, execute(&graph, &request)?.values);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// As [`RunRequest::check_for`]; [`RunError::CannotSplit`]; [`RunError::OverBudget`] if a device's
/// part exceeds the budget; [`RunError::Backend`] if a device fails, which ends all.
pub fn execute(
    graph: &Graph,
    request: &RunRequest,
    devices: &Devices,
) -> Result<RunOutcome, RunError> {
    execute_with(graph, request, devices, &Canceller::default(), &mut |_| ())
}

/// Runs `request` as [`execute`], until `canceller` ends it; calls `progress` at the start of each
/// phase.
///
/// # Errors
/// As [`execute`]; [`BackendError::Cancelled`](crate::backend::BackendError::Cancelled).
pub fn execute_with(
    graph: &Graph,
    request: &RunRequest,
    devices: &Devices,
    canceller: &Canceller,
    progress: &mut dyn FnMut(Phase),
) -> Result<RunOutcome, RunError> {
    let span = spans::run("devices", graph, request);
    let outcome = drive(span, request, progress, |job| {
        prepare(graph, job, devices, None, canceller)
    });
    canceller.settle()?;
    outcome
}

/// The machine and the edges of [`execute_by`].
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Tried {
    /// Runs the kernel of a device: every lane of its grid calls
    /// [`multi`](seawall_device::multi::multi) with the record.
    pub kernel: fn(&MultiRecord),
    /// Sources of a slice of edges, as a power of two.
    pub slices: Option<u32>,
}

/// Runs `request` as [`execute`] on devices of this process, for tests on machines of several lanes.
///
/// # Errors
/// As [`execute`].
#[doc(hidden)]
pub fn execute_by(
    graph: &Graph,
    request: &RunRequest,
    count: u32,
    tried: Tried,
) -> Result<RunOutcome, RunError> {
    let devices = Devices::simulated(count, 1);
    let canceller = Canceller::default();
    let span = spans::run("devices", graph, request);
    drive(span, request, &mut |_| (), |job| {
        prepare(graph, job, &devices, Some(tried), &canceller)
    })
}

/// A request that is planned for several devices.
pub(super) struct Split<'a> {
    /// The graph as it was read, or its nodes alone.
    pub(super) graph: &'a Graph,
    /// The file or generator from which a check loads the graph instead, and how.
    pub(super) whole: Option<(&'a OsStr, LoadOptions)>,
    pub(super) run: Box<SplitRun<'a>>,
}

/// A run on all devices, with its repetitions.
type SplitRun<'a> = dyn FnMut(&mut Job<'_>) -> Result<(RunOutcome, End), RunError> + 'a;

impl<'a> Split<'a> {
    /// A run on a graph that was read as a whole.
    pub(super) fn of(
        graph: &'a Graph,
        run: impl FnMut(&mut Job<'_>) -> Result<(RunOutcome, End), RunError> + 'a,
    ) -> Self {
        Self {
            graph,
            whole: None,
            run: Box::new(run),
        }
    }
}

impl job::Work for Split<'_> {
    type Answer = (RunOutcome, End);
    type Outcome = RunOutcome;
    type Error = RunError;

    fn answer(&mut self, job: &mut Job<'_>) -> Result<Self::Answer, RunError> {
        (self.run)(job)
    }

    fn finish(self, job: &mut Job<'_>, answer: Self::Answer) -> Result<RunOutcome, RunError> {
        let (mut outcome, end) = answer;
        match self.whole {
            None => job.check(&mut outcome, end, || Ok::<_, RunError>(self.graph))?,
            Some((name, options)) => job.check(&mut outcome, end, || {
                Ok::<_, RunError>(load(name, &options, None)?.graph)
            })?,
        }
        Ok(outcome)
    }
}

/// Checks the request, and cuts the graph or shares the work out otherwise.
fn prepare<'a>(
    graph: &'a Graph,
    job: &mut Job<'_>,
    devices: &'a Devices,
    tried: Option<Tried>,
    canceller: &'a Canceller,
) -> Result<Split<'a>, RunError> {
    let way = way_on(graph, job.request, devices)?;
    check_numbers(job.request, devices)?;
    check(graph, job.request)?;
    match way {
        Way::Cut(work) => prepare_cut(graph, job, work, devices, tried, canceller),
        Way::Whole(whole) => {
            let run = move |job: &mut Job<'_>| whole.run(graph, job, devices, None, canceller);
            Ok(Split::of(graph, run))
        }
    }
}

/// Refuses devices of which one is named twice.
pub(super) fn check_numbers(request: &RunRequest, devices: &Devices) -> Result<(), RunError> {
    let mut numbers = devices.numbers();
    numbers.sort_unstable();
    match numbers.windows(2).find(|pair| pair[0] == pair[1]) {
        None => Ok(()),
        Some(pair) => Err(RunError::CannotSplit {
            analysis: request.analysis,
            what: format!("device {} is named twice", pair[0]),
        }),
    }
}

fn prepare_cut<'a>(
    graph: &'a Graph,
    job: &mut Job<'_>,
    work: Work,
    devices: &'a Devices,
    tried: Option<Tried>,
    canceller: &'a Canceller,
) -> Result<Split<'a>, RunError> {
    let request = job.request;
    let start = job.now();
    job.phase(Phase::Plan);
    let cut = Cut::of(graph, request, work, devices.count())?;
    let tried_slices = tried.and_then(|tried| tried.slices);
    let tried_slices = tried_slices.filter(|_| work == Work::Ranks);
    let slices = tried_slices.or_else(|| slices(cut.sizes(), work, devices));
    let parts = cut.parts(slices)?;
    check_budgets(request, &cut, &parts)?;
    let one = price::reason_for_one(cut.form, work, devices);
    let plan_ns = job.since(start);
    let mut run = run_cut(cut, parts, devices, tried, canceller, plan_ns);
    let run = move |job: &mut Job<'_>| {
        let (mut outcome, end) = run(job)?;
        outcome.backend_reason.clone_from(&one);
        Ok((outcome, end))
    };
    Ok(Split::of(graph, run))
}

/// Refuses parts of which one exceeds the byte budget of a device.
pub(super) fn check_budgets(
    request: &RunRequest,
    cut: &Cut<'_>,
    parts: &[DeviceEdges<'_>],
) -> Result<(), RunError> {
    let jobs = cut.jobs(parts);
    jobs.iter().try_for_each(|job| check_budget(request, job))
}

/// Runs all parts of a cut, and returns the outcome of all.
pub(super) fn run_cut<'a>(
    cut: Cut<'a>,
    parts: Vec<DeviceEdges<'a>>,
    devices: &'a Devices,
    tried: Option<Tried>,
    canceller: &'a Canceller,
    plan_ns: u64,
) -> impl FnMut(&mut Job<'_>) -> Result<(RunOutcome, End), RunError> + use<'a> {
    move |job: &mut Job<'_>| {
        job.phase(Phase::Upload);
        let jobs = cut.jobs(&parts);
        let meeting = Meeting::new(devices.count(), canceller);
        let found = match devices {
            Devices::Gpus(numbers) => cuda::multi::run(&jobs, numbers, meeting)?,
            Devices::Simulated { threads, .. } => {
                let threads = Blocks::Threads((*threads).max(1));
                let blocks = tried.map_or(threads, |tried| Blocks::By(tried.kernel));
                cpu::multi::run(&jobs, blocks, meeting)?
            }
        };
        let name = devices.name(&found[0].name);
        let device = match devices {
            Devices::Gpus(_) => name,
            Devices::Simulated { .. } => format!("CPU, {name}"),
        };
        cut.outcome(job, devices, device, &found, plan_ns)
    }
}
