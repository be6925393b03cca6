//! Analyses that are dealt out: each device has the whole graph, and a part of the sources
//! ([`Sources`]) or of the nodes from which triangles are looked for ([`super::centers`]).
//!
//! Searches from different sources tell each other nothing, so devices do not meet: each answers as
//! one device does, with its own kernels, and the values of its sources are put together. Work is
//! that of one device, divided by sources; memory is that of one device, on each.

use super::carrier::{gather, gather_alike, split};
use super::ranks::meet;
use super::{Carrier, Devices, DevicesReport};
use crate::analysis::{End, sources_at_once};
use crate::backend::threads::join_all;
use crate::backend::{BackendError, Canceller};
use crate::column::Column;
use crate::executor::Machine;
use crate::graph::Graph;
use crate::job::{Job, names, original_ids};
use crate::outcome::{Event, Rounds, RunOutcome};
use crate::run::{Analyzer, Phase, RunError, RunRequest};
use crate::units::counted;
use bytemuck::{Pod, Zeroable, bytes_of, cast_slice, pod_read_unaligned};
use std::mem::take;
use std::num::NonZeroUsize;
use std::sync::mpsc;
use std::time::Duration;

/// Sources of a word of a search: a bit each.
const WORD: usize = 32;

/// Time between two looks at whether the run is to end.
const LOOK: Duration = Duration::from_millis(2);

/// How a request is dealt out to devices that each have the whole graph.
pub(super) trait Deal: Sized {
    /// Whether GPUs and threads answer parts of one request alike.
    const MIXES: bool;

    /// Deals `request` out.
    fn of(graph: &Graph, request: &RunRequest, devices: u32) -> Result<Self, RunError>;

    /// The number of devices that have a part, which come first: at least 1.
    fn parts(&self) -> usize;

    /// The request for the part of a device; for a device without one, any whose outcome is of the
    /// graph.
    fn request(&self, request: &RunRequest, device: usize) -> RunRequest;

    /// The number of words that [`take`](Self::take) returns for a device.
    fn words(&self, device: usize) -> usize;

    /// Takes what a device found for its part.
    fn take(&self, device: usize, found: &mut RunOutcome) -> Vec<u32>;

    /// Puts together what all devices with a part found, and returns a report of their parts alone.
    fn join(self, found: Vec<Vec<u32>>, all: &mut RunOutcome) -> DevicesReport;

    /// Why one device is the better choice, if it is.
    fn reason_for_one(&self) -> Option<String>;
}

/// The sources of each device: whole words of them where there are enough.
pub(super) struct Sources {
    /// Some may have none.
    parts: Vec<Vec<u32>>,
    /// Sources that one search answers.
    at_once: usize,
}

impl Deal for Sources {
    const MIXES: bool = true;

    fn of(graph: &Graph, request: &RunRequest, devices: u32) -> Result<Self, RunError> {
        let (sources, devices) = (request.sources(), devices.max(1) as usize);
        let even = sources.len().div_ceil(devices);
        let part = match sources.len() >= WORD * devices {
            true => even.next_multiple_of(WORD),
            false => even.max(1),
        };
        let mut parts: Vec<Vec<u32>> = sources.chunks(part).map(<[u32]>::to_vec).collect();
        parts.resize(devices, Vec::new());
        let at_once = sources_at_once(graph.nodes(), sources.len());
        Ok(Self { parts, at_once })
    }

    fn parts(&self) -> usize {
        let parts = self.parts.iter().filter(|part| !part.is_empty());
        parts.count().max(1)
    }

    fn request(&self, request: &RunRequest, device: usize) -> RunRequest {
        let sources = match &self.parts[device][..] {
            [] => request.sources.get(..1).unwrap_or_default(),
            part => part,
        };
        RunRequest {
            sources: sources.to_vec(),
            ..request.clone()
        }
    }

    fn words(&self, device: usize) -> usize {
        2 * self.parts[device].len()
    }

    /// Whole numbers, or the bits of floats, of its sources in their order.
    fn take(&self, device: usize, found: &mut RunOutcome) -> Vec<u32> {
        let value = |source: &u32| match &found.values {
            Column::U32(column) => [column[*source as usize], 0],
            Column::U64(column) => bytemuck::cast(column[*source as usize]),
            Column::F32(column) => [column[*source as usize].to_bits(), 0],
            // No analysis of many sources has one.
            Column::I64(_) | Column::Sets(_) => [0, 0],
        };
        self.parts[device].iter().flat_map(value).collect()
    }

    fn join(self, found: Vec<Vec<u32>>, all: &mut RunOutcome) -> DevicesReport {
        let sources = self.parts.iter().flatten();
        for (source, words) in sources.zip(found.concat().chunks_exact(2)) {
            let at = *source as usize;
            match &mut all.values {
                Column::U32(column) => column[at] = words[0],
                Column::U64(column) => column[at] = bytemuck::cast([words[0], words[1]]),
                Column::F32(column) => column[at] = f32::from_bits(words[0]),
                Column::I64(_) | Column::Sets(_) => {}
            }
        }
        DevicesReport {
            sources: self.parts.iter().map(|part| part.len() as u64).collect(),
            ..DevicesReport::default()
        }
    }

    /// One search answers all sources there, and parts of them take a search on each.
    fn reason_for_one(&self) -> Option<String> {
        let (at_once, sources) = (self.at_once, self.parts.iter().map(Vec::len).sum::<usize>());
        (self.parts.len() < 2 || sources <= at_once).then(|| {
            format!(
                "one device is the better choice: one search there answers {at_once} sources, and there are {sources}"
            )
        })
    }
}

/// Runs a job that is dealt out to devices, or this rank's part of one on the ranks that `carrier`
/// joins.
///
/// # Errors
/// As [`super::execute_with`] and [`super::execute_on_ranks`].
pub(super) fn run<D: Deal>(
    graph: &Graph,
    job: &mut Job<'_>,
    devices: &Devices,
    carrier: Option<&mut dyn Carrier>,
    canceller: &Canceller,
) -> Result<(RunOutcome, End), RunError> {
    let request = job.request;
    job.phase(Phase::Plan);
    let deal = D::of(graph, request, devices.count());
    let asked = |deal: &D, device| RunRequest {
        machine: machine(request.machine, devices, device),
        check: false,
        explain: false,
        ..deal.request(request, device)
    };
    let Some(carrier) = carrier else {
        let deal = deal?;
        let requests: Vec<_> = (0..deal.parts()).map(|at| asked(&deal, at)).collect();
        job.phase(Phase::Upload);
        let mut found = on_each(graph, &requests, canceller)?;
        let shares = found.iter_mut().enumerate();
        let shares = shares.map(|(at, found)| (Figures::of(found), deal.take(at, found)));
        let shares = shares.collect();
        let others = found.iter_mut().skip(1);
        let events: Vec<Event> = others.flat_map(|other| take(&mut other.events)).collect();
        let mut one = found.swap_remove(0);
        one.device = devices.name(&one.device);
        one.events.extend(events);
        one.backend_reason = deal.reason_for_one();
        return whole(graph, request, one, devices, deal, shares);
    };
    let deal = meet(carrier, deal)?;
    if !D::MIXES {
        let kinds = gather_alike(carrier, &[u32::from(devices.executor().is_on_gpu())])?;
        if kinds.iter().any(|kind| *kind != kinds[0]) {
            // All ranks say so.
            return Err(RunError::CannotSplit {
                analysis: request.analysis,
                what: "ranks on GPUs look for triangles from other nodes than those on threads; give all ranks one --backend".to_owned(),
            });
        }
    }
    job.phase(Phase::Upload);
    let own = carrier.rank() as usize;
    let found = on_each(graph, &[asked(&deal, own)], canceller);
    let mut one = meet(carrier, found)?.swap_remove(0);
    let figures = Figures::of(&mut one);
    let words = [cast_slice(bytes_of(&figures)), &deal.take(own, &mut one)].concat();
    let counts = (0..devices.count() as usize).map(|at| FIGURES + deal.words(at));
    let counts: Vec<usize> = counts.collect();
    let all = gather(carrier, &words, &counts)?;
    let share = |words: &[u32]| {
        let (figures, found) = words.split_at(FIGURES);
        (pod_read_unaligned(cast_slice(figures)), found.to_vec())
    };
    let shares = split(&all, &counts).take(deal.parts()).map(share).collect();
    let ranks = counted(carrier.ranks().into(), "rank");
    one.device = format!("{ranks} of {}", one.device);
    whole(graph, request, one, devices, deal, shares)
}

/// The outcome of all devices and its end, by that of one of them, whose plan and session it shows.
fn whole(
    graph: &Graph,
    request: &RunRequest,
    one: RunOutcome,
    devices: &Devices,
    deal: impl Deal,
    shares: Vec<(Figures, Vec<u32>)>,
) -> Result<(RunOutcome, End), RunError> {
    let (figures, found): (Vec<Figures>, Vec<_>) = shares.into_iter().unzip();
    let mut all = together(one, &figures);
    all.sources = original_ids(graph, request.sources());
    all.source_names = names(graph, request.sources());
    let count = devices.count() as usize;
    let mut memory_bytes: Vec<u64> = figures.iter().map(|figures| figures.sums[0]).collect();
    memory_bytes.resize(count, 0);
    all.devices = Some(DevicesReport {
        count: devices.count(),
        numbers: devices.numbers(),
        nodes: vec![all.nodes; count],
        edges: vec![all.edges; count],
        memory_bytes,
        ..deal.join(found, &mut all)
    });
    let form = graph.form(request.form_of(graph)?)?;
    let analysis = request.analysis.definition();
    all.reached = analysis.reached(&all.values);
    all.answer = analysis.answer(form, &all.values);
    let end = End::of(&all);
    Ok((all, end))
}

/// The outcome of `one` of the devices with the figures of all.
fn together(mut one: RunOutcome, figures: &[Figures]) -> RunOutcome {
    let most = |of: &dyn Fn(&Figures) -> u64| figures.iter().map(of).max().unwrap_or(0);
    let sum = |of: &dyn Fn(&Figures) -> u64| figures.iter().map(of).fold(0, u64::saturating_add);
    let rounds = most(&|figures| figures.rounds) as u32;
    one.rounds = match one.rounds {
        Rounds::Levels(_) => Rounds::Levels(rounds),
        Rounds::Iterations(_) => Rounds::Iterations(rounds),
    };
    one.converged = figures.iter().all(|figures| figures.converged != 0);
    let examined = sum(&|figures| figures.edges_examined);
    one.edges_examined = one.edges_examined.map(|_| examined);
    for (at, place) in MOST.iter().enumerate() {
        *place(&mut one) = most(&|figures| figures.most[at]);
    }
    for (at, place) in SUMS.iter().enumerate() {
        *place(&mut one) = sum(&|figures| figures.sums[at]);
    }
    one
}

/// A figure of an outcome.
type Place = fn(&mut RunOutcome) -> &mut u64;

/// Figures of which the outcome of all devices has the most of any.
const MOST: [Place; 6] = [
    |outcome| &mut outcome.times.upload,
    |outcome| &mut outcome.times.plan,
    |outcome| &mut outcome.times.run,
    |outcome| &mut outcome.times.first_run,
    |outcome| &mut outcome.times.readback,
    |outcome| &mut outcome.device_barriers,
];

/// Figures of which it has the sum, first the bytes of a device.
const SUMS: [Place; 3] = [
    |outcome| &mut outcome.memory.allocated_bytes,
    |outcome| &mut outcome.memory.predicted_bytes,
    |outcome| &mut outcome.memory.tiles_bytes,
];

/// Figures of a device, in words that a carrier takes.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
struct Figures {
    rounds: u64,
    converged: u64,
    edges_examined: u64,
    most: [u64; MOST.len()],
    sums: [u64; SUMS.len()],
}

/// Words of [`Figures`].
const FIGURES: usize = size_of::<Figures>() / 4;

impl Figures {
    fn of(outcome: &mut RunOutcome) -> Self {
        Self {
            rounds: outcome.rounds.count().into(),
            converged: outcome.converged.into(),
            edges_examined: outcome.edges_examined.unwrap_or(0),
            most: MOST.map(|place| *place(outcome)),
            sums: SUMS.map(|place| *place(outcome)),
        }
    }
}

/// The machine of one device.
pub(super) fn machine(mut machine: Machine, devices: &Devices, at: usize) -> Machine {
    machine.executor = Some(devices.executor());
    match devices {
        Devices::Gpus(numbers) => machine.device = numbers.get(at).copied().unwrap_or(0),
        Devices::Simulated { threads, .. } => {
            machine.threads = NonZeroUsize::new((*threads).max(1) as usize);
        }
    }
    machine
}

/// Runs each request on a thread of its own. The first error, or `canceller`, ends all.
fn on_each(
    graph: &Graph,
    requests: &[RunRequest],
    canceller: &Canceller,
) -> Result<Vec<RunOutcome>, RunError> {
    std::thread::scope(|scope| {
        let (ended, ends) = mpsc::channel();
        let mut cancellers = Vec::new();
        let mut threads = Vec::new();
        for request in requests {
            let mut analyzer = Analyzer::new(graph);
            cancellers.push(analyzer.canceller());
            let ended = ended.clone();
            threads.push(scope.spawn(move || {
                let outcome = analyzer.run(request);
                // A receiver that is gone has seen an error of another device.
                let _ = ended.send(outcome.is_err());
                outcome
            }));
        }
        drop(ended);
        loop {
            match ends.recv_timeout(LOOK) {
                Ok(false) => {}
                Err(mpsc::RecvTimeoutError::Timeout) if !canceller.is_asked() => {}
                Err(mpsc::RecvTimeoutError::Disconnected) => break,
                Ok(true) | Err(mpsc::RecvTimeoutError::Timeout) => {
                    cancellers.iter().for_each(Canceller::cancel);
                    break;
                }
            }
        }
        let mut outcomes = Vec::new();
        let mut failed = None;
        for outcome in join_all(threads) {
            match outcome {
                Ok(outcome) => outcomes.push(outcome),
                // The one that ended the others says more than that it was ended.
                Err(error) => {
                    let is_echo = matches!(error, RunError::Backend(BackendError::Cancelled));
                    if failed.is_none() || !is_echo {
                        failed = Some(error);
                    }
                }
            }
        }
        failed.map_or(Ok(outcomes), Err)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::AnalysisKind;

    #[test]
    fn sources_are_dealt_in_whole_words_where_there_are_enough() {
        let graph = Graph::from_edges(1000, &[], false).unwrap();
        let sizes = |count: u32, devices| -> Vec<usize> {
            let sources: Vec<u32> = (0..count).collect();
            let request = RunRequest::new(AnalysisKind::Closeness, sources.clone());
            let Sources { parts, .. } = Sources::of(&graph, &request, devices).unwrap();
            assert_eq!(parts.concat(), sources);
            parts.iter().map(Vec::len).collect()
        };
        assert_eq!(sizes(1000, 3), [352, 352, 296]);
        assert_eq!(sizes(256, 4), [64; 4]);
        assert_eq!(sizes(100, 4), [25; 4]);
        assert_eq!(sizes(3, 5), [1, 1, 1, 0, 0]);
        assert_eq!(sizes(0, 2), [0, 0]);
        assert_eq!(sizes(9, 1), [9]);
    }
}
