//! Runs on a graph that is cut into ranges of nodes: the inputs of all devices, and their outcome.

use super::cut::{Sizes, Walks, cuts, edges_of};
use super::sliced;
use super::way::Work;
use super::{Devices, DevicesReport};
use crate::analysis::{End, ranking_iterations_max};
use crate::backend::BackendError;
use crate::backend::multi::{DeviceEdges, DeviceFound, MultiJob, MultiRun};
use crate::column::Column;
use crate::graph::memory::Shortage;
use crate::graph::{Graph, WeightKind};
use crate::job::{Found, Job, first_and_median};
use crate::outcome::{Memory, RunOutcome, Times};
use crate::run::{RunError, RunRequest};
use seawall_core::abi::UNREACHED;
use seawall_core::abi::multi::MultiKind;
use seawall_core::abi::rank::unit_exponent;
use seawall_device::algorithms::rank::scale::{Scale, units};
use std::num::NonZeroU32;

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
    pub(super) const fn sizes(&self) -> Sizes<'g> {
        self.sizes
    }

    /// Cuts `graph` for `devices`.
    pub(super) fn of(
        graph: &'g Graph,
        request: &RunRequest,
        work: Work,
        devices: u32,
    ) -> Result<Self, RunError> {
        let form = graph.form(request.form_of(graph)?)?;
        request.check_form(form)?;
        let sizes = Sizes::Graph(form, form.try_incoming().map_err(short)?);
        let cuts = cuts(sizes, devices);
        let run = describe(sizes, request, work, cuts, mean_weight(form))?;
        Ok(Self {
            graph,
            form,
            sizes,
            work,
            run,
        })
    }

    /// A graph of these nodes and rows, whose parts begin at `cuts`.
    pub(super) fn of_rows(
        nodes: &'g Graph,
        sizes: Sizes<'g>,
        request: &RunRequest,
        work: Work,
        cuts: Vec<u32>,
        mean_weight: f64,
    ) -> Result<Self, RunError> {
        let run = describe(sizes, request, work, cuts, mean_weight)?;
        Ok(Self {
            graph: nodes,
            form: nodes,
            sizes,
            work,
            run,
        })
    }

    /// The edges of one device, in slices of as many sources, as a power of two.
    pub(super) fn part(
        &self,
        device: u32,
        slices: Option<u32>,
    ) -> Result<DeviceEdges<'g>, RunError> {
        let incoming = self.form.try_incoming().map_err(short)?;
        let range = [device, device + 1].map(|at| self.run.cuts[at as usize]);
        let walks = Walks {
            slices,
            ..walks(self.sizes, self.work)
        };
        edges_of(self.form, incoming, range, walks).map_err(short)
    }

    /// The edges of all devices.
    pub(super) fn parts(&self, slices: Option<u32>) -> Result<Vec<DeviceEdges<'g>>, RunError> {
        let devices = 0..self.run.devices();
        devices.map(|device| self.part(device, slices)).collect()
    }

    /// The work of each device.
    pub(super) fn jobs<'a>(&'a self, parts: &'a [DeviceEdges<'g>]) -> Vec<MultiJob<'a>> {
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
            device_barriers: found
                .iter()
                .map(|found| found.figures.barriers)
                .max()
                .unwrap_or(0),
            devices: Some(report),
            ..job.outcome(self.graph, self.form, answer)
        };
        if matches!(self.sizes, Sizes::Rows { .. }) {
            outcome.edges = self.sizes.edges();
        }
        Ok((outcome, end))
    }
}

pub(super) fn short(short: Shortage) -> RunError {
    BackendError::short("the parts of a graph")(short).into()
}

/// Sources of a slice of edges, as a power of two, where slices pay: for rankings on GPUs.
pub(super) fn slices(sizes: Sizes<'_>, work: Work, devices: &Devices) -> Option<u32> {
    let (nodes, count) = (sizes.nodes(), devices.count());
    let pays = work == Work::Ranks
        && devices.executor().is_on_gpu()
        && sliced::pay(nodes, nodes / count, sizes.edges() / u64::from(count));
    pays.then_some(sliced::WIDTH_LOG2)
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
    cuts: Vec<u32>,
    mean_weight: f64,
) -> Result<MultiRun, RunError> {
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
        source_counts: vec![0; cuts.len() - 1],
        cuts,
        limit,
        ranking: (ranking.damping, unit_exponent(edges)),
        masses: [0, units(ranking.tolerance)],
        width: width(sizes, mean_weight),
        // Components of a symmetric graph are sampled, of which one without nodes has none.
        symmetric: sizes.is_symmetric() && sizes.nodes() > 0,
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
    let state = &found[0].figures.state;
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
            if found.iter().any(|found| found.figures.state.overflow != 0) {
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
        edges: found.iter().map(|found| found.figures.edges).collect(),
        memory_bytes: found.iter().map(|found| found.figures.bytes).collect(),
        barriers: u64::from(found[0].figures.state.meetings),
        lists: found
            .iter()
            .map(|found| u64::from(found.figures.state.lists))
            .sum(),
        pulls: u64::from(found[0].figures.state.pulls),
        exchanged_bytes: found.iter().map(|found| found.figures.state.sent).sum(),
        ..DevicesReport::default()
    }
}

/// Times of the phases: the run is the longest of its devices.
fn times(found: &[DeviceFound], plan_ns: u64) -> Times {
    let longest = |at: usize| found.iter().map(|found| found.times_ns[at]).max();
    let runs: Vec<u64> = (0..found[0].times_ns.len()).filter_map(longest).collect();
    let [first, run] = first_and_median(runs);
    let most = |of: fn(&DeviceFound) -> u64| found.iter().map(of).max().unwrap_or(0);
    Times {
        upload: most(|found| found.figures.upload_ns),
        plan: plan_ns,
        run,
        first_run: first,
        readback: most(|found| found.figures.readback_ns),
        ..Times::default()
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
