//! Requests on a resident graph for several devices, and their outcome.

use super::DevicesReport;
use super::cut::{Sizes, Walks, cuts, edges_of};
use super::sliced::{self, WIDTH_LOG2};
use super::{centers, dealt, price};
use crate::analysis::{AnalysisKind, Detail, End, ranking_iterations_max};
use crate::backend::cpu::multi::Blocks;
use crate::backend::multi::{DeviceEdges, DeviceFound, Meeting, MultiJob, MultiRun};
use crate::backend::{BackendError, Canceller, cpu, cuda};
use crate::column::Column;
use crate::executor::Executor;
use crate::graph::disk::SwgFile;
use crate::graph::memory::Shortage;
use crate::graph::{Graph, LoadOptions, WeightChoice, WeightKind, load};
use crate::job::{self, Found, Job, drive, first_and_median};
use crate::outcome::{Memory, RunOutcome, Times};
use crate::run::{Phase, RunError, RunRequest};
use crate::spans;
use crate::units::counted;
use seawall_core::abi::UNREACHED;
use seawall_core::abi::multi::{DEVICES_MAX, MultiKind, MultiRecord};
use seawall_core::abi::rank::unit_exponent;
use seawall_device::algorithms::rank::scale::{Scale, units};
use std::num::NonZeroU32;

/// Devices of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Devices {
    /// GPUs of this host, by their numbers, each once.
    Gpus(Vec<u32>),
    /// Devices that CPU threads simulate, with this many threads each.
    Simulated {
        /// Devices.
        count: u32,
        /// Threads of each.
        threads: u32,
    },
}

impl Devices {
    /// GPUs of this host, by their numbers.
    #[must_use]
    pub const fn gpus(numbers: Vec<u32>) -> Self {
        Self::Gpus(numbers)
    }

    /// Devices that CPU threads simulate.
    #[must_use]
    pub const fn simulated(count: u32, threads: u32) -> Self {
        Self::Simulated { count, threads }
    }

    /// All GPUs of this host.
    ///
    /// # Errors
    /// As [`cuda::probe`].
    pub fn all_gpus() -> Result<Self, BackendError> {
        let found = cuda::probe()?.len().min(DEVICES_MAX) as u32;
        Ok(Self::Gpus((0..found).collect()))
    }

    /// Their number.
    #[must_use]
    pub fn count(&self) -> u32 {
        match self {
            Self::Gpus(numbers) => numbers.len() as u32,
            Self::Simulated { count, .. } => *count,
        }
    }

    pub(super) const fn executor(&self) -> Executor {
        match self {
            Self::Gpus(_) => Executor::Mega,
            Self::Simulated { .. } => Executor::Cpu,
        }
    }

    pub(super) fn numbers(&self) -> Vec<u32> {
        match self {
            Self::Gpus(numbers) => numbers.clone(),
            Self::Simulated { .. } => Vec::new(),
        }
    }
}

/// The work of an analysis on several devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Work {
    Levels,
    Reached,
    Lengths,
    Components,
    Ranks,
    Cores,
}

/// How an analysis is shared out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// Each device has a part of the nodes.
    Cut(Work),
    /// Each device has a part of the sources.
    Dealt,
    /// Each device has a part of the nodes from which triangles are looked for.
    Centers,
}

/// Why one device is faster than `devices` for `request`, if that is so for any graph of this size.
///
/// # Errors
/// [`RunError::CannotSplit`].
pub fn reason_for_one(
    graph: &Graph,
    request: &RunRequest,
    devices: &Devices,
) -> Result<Option<String>, RunError> {
    Ok(match way_of(request, devices)? {
        Way::Cut(work) => price::reason_for_one(graph, work, devices),
        Way::Dealt => dealt::reason_for_one(graph, request, devices.count()),
        Way::Centers => centers::reason_for_one(graph, request, devices.count())?,
    })
}

/// Analyses that run on several devices.
pub const ANALYSES: [AnalysisKind; 10] = [
    AnalysisKind::Bfs,
    AnalysisKind::Reach,
    AnalysisKind::Cc,
    AnalysisKind::Sssp,
    AnalysisKind::Pagerank,
    AnalysisKind::Kcore,
    AnalysisKind::Closeness,
    AnalysisKind::Eccentricity,
    AnalysisKind::Triangles,
    AnalysisKind::TriangleTotal,
];

/// The names of [`ANALYSES`], for messages.
fn names() -> String {
    let [first @ .., last] = ANALYSES.map(AnalysisKind::name);
    format!("{} and {last}", first.join(", "))
}

/// How `request` is shared out to several devices.
pub(super) fn way_of(request: &RunRequest, devices: &Devices) -> Result<Way, RunError> {
    let analysis = request.analysis;
    let refuse = |what: String| RunError::CannotSplit { analysis, what };
    let way = match analysis {
        AnalysisKind::Bfs => Way::Cut(Work::Levels),
        AnalysisKind::Reach => Way::Cut(Work::Reached),
        AnalysisKind::Cc => Way::Cut(Work::Components),
        AnalysisKind::Sssp => Way::Cut(Work::Lengths),
        AnalysisKind::Pagerank => Way::Cut(Work::Ranks),
        AnalysisKind::Kcore => Way::Cut(Work::Cores),
        AnalysisKind::Closeness | AnalysisKind::Eccentricity => Way::Dealt,
        AnalysisKind::Triangles | AnalysisKind::TriangleTotal => Way::Centers,
        _ => {
            return Err(refuse(format!(
                "{analysis} runs on one device; {} run on several",
                names()
            )));
        }
    };
    if request.detail != Detail::Plain {
        return Err(refuse(
            "parents and sets of sources are found on one device".to_owned(),
        ));
    }
    if request.topology.is_some() {
        return Err(refuse(
            "a search on several devices has no topology to choose".to_owned(),
        ));
    }
    let has_other_rounds = matches!(way, Way::Cut(Work::Lengths | Work::Cores));
    if request.max_iterations.is_some() && has_other_rounds {
        return Err(refuse(
            "the rounds of several devices are not those of one, so they have no limit".to_owned(),
        ));
    }
    let count = devices.count();
    if count == 0 || count as usize > DEVICES_MAX {
        return Err(refuse(format!(
            "a run has 1 to {DEVICES_MAX} devices, not {count}"
        )));
    }
    let mut numbers = devices.numbers();
    numbers.sort_unstable();
    if let Some(pair) = numbers.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(refuse(format!("device {} is named twice", pair[0])));
    }
    Ok(way)
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
/// As [`execute`]; [`BackendError::Cancelled`].
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
    /// The file from which a check reads the graph instead, without weights or with them.
    pub(super) file: Option<(&'a SwgFile, WeightChoice)>,
    pub(super) run: Box<SplitRun<'a>>,
}

/// A run on all devices, with its repetitions.
type SplitRun<'a> = dyn FnMut(&mut Job<'_>) -> Result<(RunOutcome, End), RunError> + 'a;

impl job::Work for Split<'_> {
    type Answer = (RunOutcome, End);
    type Outcome = RunOutcome;
    type Error = RunError;

    fn answer(&mut self, job: &mut Job<'_>) -> Result<Self::Answer, RunError> {
        (self.run)(job)
    }

    fn finish(self, job: &mut Job<'_>, answer: Self::Answer) -> Result<RunOutcome, RunError> {
        let (mut outcome, end) = answer;
        match self.file {
            None => job.check(&mut outcome, end, || Ok::<_, RunError>(self.graph))?,
            Some((file, weights)) => job.check(&mut outcome, end, || {
                let options = LoadOptions {
                    weights,
                    ..LoadOptions::default()
                };
                Ok::<_, RunError>(load(file.path(), &options, None)?.graph)
            })?,
        }
        Ok(outcome)
    }
}

/// Checks the request, and cuts the graph or deals out the sources.
fn prepare<'a>(
    graph: &'a Graph,
    job: &mut Job<'_>,
    devices: &'a Devices,
    tried: Option<Tried>,
    canceller: &'a Canceller,
) -> Result<Split<'a>, RunError> {
    let request = job.request;
    let way = way_of(request, devices)?;
    check(graph, request)?;
    let work = match way {
        Way::Cut(work) => work,
        Way::Dealt => {
            let run = Box::new(|job: &mut Job<'_>| dealt::run(graph, job, devices, canceller));
            return Ok(Split {
                graph,
                file: None,
                run,
            });
        }
        Way::Centers => {
            let run = Box::new(|job: &mut Job<'_>| centers::run(graph, job, devices, canceller));
            return Ok(Split {
                graph,
                file: None,
                run,
            });
        }
    };
    let start = job.now();
    job.phase(Phase::Plan);
    let cut = Cut::of(graph, request, work, devices.count())?;
    let slices = match devices {
        Devices::Gpus(_) => Some(WIDTH_LOG2).filter(|_| cut.has_slices()),
        Devices::Simulated { .. } => tried.and_then(|tried| tried.slices),
    };
    let parts = cut.parts(slices)?;
    cut.jobs(&parts)
        .iter()
        .try_for_each(|job| check_budget(request, job))?;
    let plan_ns = job.since(start);
    let run = move |job: &mut Job<'_>| {
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
        let device = name(devices, &found);
        let (mut outcome, end) = cut.outcome(job, devices, device, &found, plan_ns)?;
        outcome.backend_reason = price::reason_for_one(cut.form, work, devices);
        Ok((outcome, end))
    };
    Ok(Split {
        graph,
        file: None,
        run: Box::new(run),
    })
}

/// Refuses what no part of a graph can answer.
pub(super) fn check(graph: &Graph, request: &RunRequest) -> Result<(), RunError> {
    request.check_for(graph)?;
    if request.needs_signed_paths(graph) {
        let (analysis, what) = (
            request.analysis,
            "paths along negative weights are found on one device".to_owned(),
        );
        return Err(RunError::CannotSplit { analysis, what });
    }
    Ok(())
}

/// A graph that is cut for an analysis.
pub(super) struct Cut<'g> {
    graph: &'g Graph,
    /// The graph as the analysis takes it.
    pub(super) form: &'g Graph,
    sizes: Sizes<'g>,
    work: Work,
    run: MultiRun,
}

impl<'g> Cut<'g> {
    /// Cuts `graph` for `devices`.
    pub(super) fn of(
        graph: &'g Graph,
        request: &RunRequest,
        work: Work,
        devices: u32,
    ) -> Result<Self, RunError> {
        let form = graph.form(request.form_of(graph)?)?;
        request.check_form(form)?;
        if work == Work::Ranks && request.weighted && form.steering_weights().is_some() {
            let (analysis, what) = (
                request.analysis,
                "ranks that follow weights are found on one device; ignore them (--unit-weights)"
                    .to_owned(),
            );
            return Err(RunError::CannotSplit { analysis, what });
        }
        let sizes = Sizes::Graph(form, form.try_incoming().map_err(short)?);
        let run = describe(sizes, request, work, devices, mean_weight(form))?;
        Ok(Self {
            graph,
            form,
            sizes,
            work,
            run,
        })
    }

    /// Cuts a file of these nodes and rows for `devices`.
    pub(super) fn of_rows(
        nodes: &'g Graph,
        sizes: Sizes<'g>,
        request: &RunRequest,
        work: Work,
        devices: u32,
        mean_weight: f64,
    ) -> Result<Self, RunError> {
        let run = describe(sizes, request, work, devices, mean_weight)?;
        Ok(Self {
            graph: nodes,
            form: nodes,
            sizes,
            work,
            run,
        })
    }

    /// Whether slices of edges pay on GPUs.
    fn has_slices(&self) -> bool {
        let (nodes, devices) = (self.form.nodes(), self.run.devices());
        sliced::pay(nodes, nodes / devices, self.run.edges / u64::from(devices))
    }

    /// The edges of one device; those of a ranking in slices of as many sources, as a power of two.
    pub(super) fn part(
        &self,
        device: u32,
        slices: Option<u32>,
    ) -> Result<DeviceEdges<'g>, RunError> {
        let incoming = self.form.try_incoming().map_err(short)?;
        let range = [device, device + 1].map(|at| self.run.cuts[at as usize]);
        let walks = Walks {
            slices: slices.filter(|_| self.work == Work::Ranks),
            ..walks(self.sizes, self.work)
        };
        edges_of(self.form, incoming, range, walks).map_err(short)
    }

    /// The edges of all devices.
    fn parts(&self, slices: Option<u32>) -> Result<Vec<DeviceEdges<'g>>, RunError> {
        let devices = 0..self.run.devices();
        devices.map(|device| self.part(device, slices)).collect()
    }

    /// The work of each device.
    fn jobs<'a>(&'a self, parts: &'a [DeviceEdges<'g>]) -> Vec<MultiJob<'a>> {
        (0..)
            .zip(parts)
            .map(|(own, edges)| self.job(own, edges))
            .collect()
    }

    /// The work of device `own`.
    pub(super) const fn job<'a>(&'a self, own: u32, edges: &'a DeviceEdges<'g>) -> MultiJob<'a> {
        MultiJob {
            run: &self.run,
            own,
            edges,
        }
    }

    /// The outcome and the end, by what all devices found.
    pub(super) fn outcome(
        &self,
        job: &mut Job<'_>,
        devices: &Devices,
        device: String,
        found: &[DeviceFound],
        plan_ns: u64,
    ) -> Result<(RunOutcome, End), RunError> {
        let (values, end) = result(self.sizes, job.request, self.work, &self.run, found)?;
        let report = report(&self.run, devices, found);
        let bytes = report.memory_bytes.iter().sum();
        add_runs(job, found);
        let answer = Found {
            backend: devices.executor(),
            reason: None,
            device,
            values,
            parents: None,
            end,
            times: times(found, plan_ns),
            memory: Memory {
                predicted_bytes: bytes,
                allocated_bytes: bytes,
                tiles_bytes: 0,
                budget_bytes: job.request.machine.budget_bytes,
            },
        };
        let mut outcome = RunOutcome {
            device_barriers: found.iter().map(|found| found.barriers).max().unwrap_or(0),
            devices: Some(report),
            ..job.outcome(self.graph, self.form, answer)
        };
        if matches!(self.sizes, Sizes::File { .. }) {
            outcome.edges = self.sizes.edges();
        }
        Ok((outcome, end))
    }
}

pub(super) fn short(short: Shortage) -> RunError {
    RunError::Backend(BackendError::OutOfMemory {
        what: "the parts of a graph",
        needed: short.needed,
        available: short.available,
    })
}

/// Directions in which the work walks edges.
pub(super) fn walks(sizes: Sizes<'_>, work: Work) -> Walks {
    Walks {
        back: matches!(
            work,
            Work::Levels | Work::Reached | Work::Ranks | Work::Components
        ),
        forth: !matches!(work, Work::Ranks | Work::Components),
        weights: work == Work::Lengths && sizes.weight_kind().is_some(),
        slices: None,
    }
}

/// Inputs that all devices share.
fn describe(
    sizes: Sizes<'_>,
    request: &RunRequest,
    work: Work,
    devices: u32,
    mean_weight: f64,
) -> Result<MultiRun, RunError> {
    let cuts = cuts(sizes, devices);
    let is_float = sizes.weight_kind() == Some(WeightKind::Float);
    let kind = match work {
        Work::Levels | Work::Reached => MultiKind::Levels,
        Work::Lengths if is_float => MultiKind::Float,
        Work::Lengths => MultiKind::Whole,
        Work::Components => MultiKind::Components,
        Work::Ranks => MultiKind::Ranks,
        Work::Cores => MultiKind::Cores,
    };
    let asked = request.max_iterations.map(NonZeroU32::get);
    let ranking = request.ranking;
    let limit = match work {
        Work::Ranks => {
            let most = ranking_iterations_max(ranking.damping);
            asked.map_or(most, |asked| asked.min(most))
        }
        _ => asked.unwrap_or(UNREACHED - 1).min(UNREACHED - 1),
    };
    // The unit is no finer for more.
    let edges = u32::try_from(sizes.edges()).unwrap_or(u32::MAX);
    let mut run = MultiRun {
        kind,
        nodes: sizes.nodes(),
        edges: sizes.edges(),
        source_counts: vec![0; devices as usize],
        cuts,
        limit,
        ranking: (ranking.damping, unit_exponent(edges)),
        masses: [0, units(ranking.tolerance)],
        width: width(sizes, mean_weight),
        symmetric: sizes.is_symmetric(),
        sources: (0, 0),
        source_bits: Vec::new(),
        first_shares: Vec::new(),
        time_ns: request.machine.time_budget_ns,
        repeat: request.repeat.get(),
    };
    if matches!(work, Work::Levels | Work::Reached | Work::Lengths) {
        sources(sizes, request.sources(), &mut run);
    }
    if work == Work::Ranks {
        first_shares(sizes, &mut run)?;
    }
    Ok(run)
}

/// Marks the sources.
fn sources(sizes: Sizes<'_>, sources: &[u32], run: &mut MultiRun) {
    run.source_bits = vec![0; sizes.nodes().div_ceil(32) as usize];
    for source in sources {
        let (word, bit) = (&mut run.source_bits[*source as usize / 32], source % 32);
        if *word >> bit & 1 != 0 {
            continue;
        }
        *word |= 1 << bit;
        let device = run.cuts.partition_point(|cut| cut <= source) - 1;
        run.source_counts[device] += 1;
        run.sources.0 += 1;
        run.sources.1 += u64::from(sizes.degree(*source));
    }
}

/// The shares of nodes at the start, and the mass of those without edges.
fn first_shares(sizes: Sizes<'_>, run: &mut MultiRun) -> Result<(), RunError> {
    let rank = 1.0 / sizes.nodes() as f32;
    let scale = Scale::of(run.ranking.1);
    run.first_shares = crate::graph::memory::zeroed(sizes.nodes() as usize).map_err(short)?;
    for (node, share) in (0..).zip(&mut run.first_shares) {
        match sizes.degree(node) {
            0 => run.masses[0] = run.masses[0].wrapping_add(units(rank)),
            degree => *share = scale.whole(rank / degree as f32).to_bits(),
        }
    }
    Ok(())
}

/// The sum of weights, as numbers.
pub(super) fn sum_of_weights(weights: &[u32], kind: Option<WeightKind>) -> f64 {
    let number = |word: &u32| match kind {
        Some(WeightKind::Float) => f64::from(f32::from_bits(*word)),
        _ => f64::from(*word),
    };
    weights.iter().map(number).sum()
}

/// The mean weight of a graph's edges, 1 without weights.
fn mean_weight(graph: &Graph) -> f64 {
    match graph.weights() {
        None | Some([]) => 1.0,
        Some(weights) => sum_of_weights(weights, graph.weight_kind()) / weights.len() as f64,
    }
}

/// Width of a bucket of distances: the mean weight, and more where few edges leave a node, so that
/// a bucket has work for many lanes.
fn width(sizes: Sizes<'_>, mean_weight: f64) -> u32 {
    const EDGES: f64 = 32.0;
    let is_float = sizes.weight_kind() == Some(WeightKind::Float);
    let degree = sizes.edges() as f64 / f64::from(sizes.nodes().max(1));
    let width = mean_weight * (EDGES / degree.max(1.0)).max(1.0);
    if is_float {
        let width = width as f32;
        if width > 0.0 { width } else { 1.0 }.to_bits()
    } else {
        (width as u32).max(1)
    }
}

/// Refuses a part that exceeds the byte budget of a device.
pub(super) fn check_budget(request: &RunRequest, job: &MultiJob<'_>) -> Result<(), RunError> {
    let (needed, budget) = (job.bytes(), request.machine.budget_bytes);
    match budget {
        Some(budget) if budget < needed => Err(RunError::over_budget(request, needed, budget)),
        _ => Ok(()),
    }
}

/// The column of all devices, and how the run ended.
fn result(
    sizes: Sizes<'_>,
    request: &RunRequest,
    work: Work,
    run: &MultiRun,
    found: &[DeviceFound],
) -> Result<(Column, End), RunError> {
    let mut words = Vec::with_capacity(sizes.nodes() as usize);
    for found in found {
        words.extend_from_slice(&found.values);
    }
    let state = &found[0].state;
    let mut end = End {
        iterations: state.rounds,
        converged: state.converged != 0,
    };
    let column = match work {
        Work::Levels | Work::Reached => {
            end = End::of_levels(&words, run.limit, |node| sizes.degree(node));
            if work == Work::Reached {
                for word in &mut words {
                    *word = u32::from(*word != UNREACHED);
                }
            }
            Column::U32(words)
        }
        Work::Lengths => {
            if found.iter().any(|found| found.state.overflow != 0) {
                return Err(RunError::CannotSplit {
                    analysis: request.analysis,
                    what: "a distance exceeds 32 bits, which one device finds".to_owned(),
                });
            }
            match run.kind {
                MultiKind::Float => Column::F32(words.into_iter().map(f32::from_bits).collect()),
                _ => Column::U32(words),
            }
        }
        Work::Ranks => Column::F32(words.into_iter().map(f32::from_bits).collect()),
        Work::Components | Work::Cores => Column::U32(words),
    };
    Ok((column, end))
}

/// How the graph was cut, and what devices told each other.
fn report(run: &MultiRun, devices: &Devices, found: &[DeviceFound]) -> DevicesReport {
    let ranges = run.cuts.windows(2);
    DevicesReport {
        count: run.devices(),
        numbers: devices.numbers(),
        nodes: ranges.map(|range| u64::from(range[1] - range[0])).collect(),
        edges: found.iter().map(|found| found.edges).collect(),
        sources: Vec::new(),
        centers: Vec::new(),
        memory_bytes: found.iter().map(|found| found.bytes).collect(),
        graph_bytes: Vec::new(),
        barriers: u64::from(found[0].state.meetings),
        lists: found.iter().map(|found| u64::from(found.state.lists)).sum(),
        pulls: u64::from(found[0].state.pulls),
        exchanged_bytes: found.iter().map(|found| found.state.sent).sum(),
    }
}

/// Times of the phases: the run is the longest of its devices.
fn times(found: &[DeviceFound], plan_ns: u64) -> Times {
    let longest = |at: usize| found.iter().map(|found| found.times_ns[at]).max();
    let runs: Vec<u64> = (0..found[0].times_ns.len()).filter_map(longest).collect();
    let [first, run] = first_and_median(runs);
    let most = |of: fn(&DeviceFound) -> u64| found.iter().map(of).max().unwrap_or(0);
    Times {
        upload: most(|found| found.upload_ns),
        plan: plan_ns,
        run,
        first_run: first,
        readback: most(|found| found.readback_ns),
        ..Times::default()
    }
}

fn name(devices: &Devices, found: &[DeviceFound]) -> String {
    let count = found.len();
    match devices {
        Devices::Gpus(_) => format!("{count} x {}", found[0].name),
        Devices::Simulated { .. } => {
            let devices = counted(count as u64, "simulated device");
            format!("CPU, {devices} of {}", found[0].name)
        }
    }
}

/// Adds the runs of each device, one after another.
fn add_runs(job: &mut Job<'_>, found: &[DeviceFound]) {
    let end_ns = job.now();
    for (device, found) in found.iter().enumerate() {
        let all: u64 = found.times_ns.iter().sum();
        let mut start_ns = end_ns.saturating_sub(all);
        for (run, duration_ns) in (1..).zip(&found.times_ns) {
            let name = format!("run {run} on device {device}");
            job.device(name, start_ns, *duration_ns);
            start_ns += duration_ns;
        }
    }
}
