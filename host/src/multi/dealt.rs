//! Analyses of many sources: each device has the whole graph, and a part of the sources.
//!
//! Searches from different sources tell each other nothing, so devices do not meet: each answers as
//! one device does, with its own kernels, and the values of its sources are put together. Work is
//! that of one device, divided by sources; memory is that of one device, on each.

use super::ranks::meet;
use super::{Carrier, Devices, DevicesReport};
use crate::analysis::{End, sources_at_once};
use crate::backend::cpu::processes::{lost, split};
use crate::backend::{BackendError, Canceller};
use crate::column::Column;
use crate::executor::Machine;
use crate::graph::Graph;
use crate::job::{Job, names, original_ids};
use crate::outcome::{Event, Rounds, RunOutcome, Times};
use crate::run::{Analyzer, Phase, RunError, RunRequest};
use crate::units::counted;
use bytemuck::{Pod, Zeroable, bytes_of, cast_slice, pod_collect_to_vec, pod_read_unaligned};
use std::mem::take;
use std::num::NonZeroUsize;
use std::panic::resume_unwind;
use std::sync::mpsc;
use std::time::Duration;

/// Sources of a word of a search: a bit each.
const WORD: usize = 32;

/// Time between two looks at whether the run is to end.
const LOOK: Duration = Duration::from_millis(2);

/// Why one device is the better choice, if one search answers all sources there: parts of them take a
/// search on each.
pub(super) fn reason_for_one(graph: &Graph, request: &RunRequest, devices: u32) -> Option<String> {
    let sources = request.sources().len();
    let at_once = sources_at_once(graph.nodes(), sources);
    (devices < 2 || sources <= at_once).then(|| {
        format!(
            "one device is the better choice: one search there answers {at_once} sources, and there are {sources}"
        )
    })
}

/// The sources of each device: whole words of them where there are enough. Some may have none.
fn deal(sources: &[u32], devices: u32) -> Vec<&[u32]> {
    let devices = devices.max(1) as usize;
    let even = sources.len().div_ceil(devices);
    let part = match sources.len() >= WORD * devices {
        true => even.next_multiple_of(WORD),
        false => even.max(1),
    };
    let mut parts: Vec<&[u32]> = sources.chunks(part).collect();
    parts.resize(devices, &[]);
    parts
}

/// Runs a job whose sources are shared out.
///
/// # Errors
/// As [`super::execute_with`].
pub(super) fn run(
    graph: &Graph,
    job: &mut Job<'_>,
    devices: &Devices,
    canceller: &Canceller,
) -> Result<(RunOutcome, End), RunError> {
    let request = job.request;
    let parts = deal(request.sources(), devices.count());
    let requests: Vec<Option<RunRequest>> = (0..)
        .zip(&parts)
        .map(|(device, part)| {
            (!part.is_empty()).then(|| request_of(request, part, devices, device))
        })
        .collect();
    job.phase(Phase::Upload);
    let mut found = on_each(graph, &requests, canceller)?;
    let shares = found.iter().zip(&parts);
    let shares = shares.map(|(found, part)| Some(Share::of(found.as_ref()?, part)));
    let shares: Vec<Option<Share>> = shares.collect();
    let others = found.iter_mut().skip(1).flatten();
    let events: Vec<Event> = others.flat_map(|found| take(&mut found.events)).collect();
    let first = found.into_iter().next().flatten();
    let first = first.ok_or(RunError::NoSource {
        analysis: request.analysis,
    })?;
    let name = name(devices, &first);
    let (mut outcome, end) = whole(graph, request, first, devices, &parts, &shares)?;
    outcome.device = name;
    outcome.events.extend(events);
    outcome.backend_reason = reason_for_one(graph, request, devices.count());
    Ok((outcome, end))
}

/// Runs this rank's part of the sources of a job, and returns the values of all.
///
/// # Errors
/// As [`super::execute_on_ranks`].
pub(super) fn run_on_ranks(
    graph: &Graph,
    job: &mut Job<'_>,
    devices: &Devices,
    carrier: &mut dyn Carrier,
    canceller: &Canceller,
) -> Result<(RunOutcome, End), RunError> {
    job.phase(Phase::Upload);
    let (request, own) = (job.request, carrier.rank() as usize);
    let parts = deal(request.sources(), devices.count());
    // A rank without sources answers the first, so that it has an outcome of this graph.
    let sources = match parts[own] {
        [] => request.sources.get(..1).unwrap_or_default(),
        part => part,
    };
    let asked = request_of(request, sources, devices, own);
    let counts: Vec<usize> = parts.iter().map(|part| FIGURES + 2 * part.len()).collect();
    let words = |found: &mut RunOutcome| Share::of(found, parts[own]).words();
    let (first, all) = gather(graph, Some(asked), carrier, canceller, &counts, words)?;
    let shares = split(&all, &counts).zip(&parts);
    let shares = shares.map(|(words, part)| (!part.is_empty()).then(|| Share::from_words(words)));
    let shares: Vec<Option<Share>> = shares.collect();
    whole(graph, request, first, devices, &parts, &shares)
}

/// Runs the request of this rank, `None` if it has failed before, and gathers `words` of what each
/// rank found, as many of each as `counts` says. Returns the outcome of this rank and all words.
pub(super) fn gather(
    graph: &Graph,
    asked: Option<RunRequest>,
    carrier: &mut dyn Carrier,
    canceller: &Canceller,
    counts: &[usize],
    words: impl FnOnce(&mut RunOutcome) -> Vec<u32>,
) -> Result<(RunOutcome, Vec<u32>), RunError> {
    let (own, ranks) = (carrier.rank(), carrier.ranks() as usize);
    let found = on_each(graph, &[asked], canceller);
    let found = found.map(|found| found.into_iter().flatten().next());
    let found = found.and_then(|found| Ok(found.ok_or(BackendError::RankEnded { rank: own })?));
    let mut found = meet(carrier, found)?;
    let all = carrier.all_gather(&words(&mut found), counts);
    let all = all.map_err(lost)?;
    found.device = format!("{} of {}", counted(ranks as u64, "rank"), found.device);
    Ok((found, all))
}

/// The outcome of all devices and its end, by that of one of them, whose plan and session it shows.
fn whole(
    graph: &Graph,
    request: &RunRequest,
    one: RunOutcome,
    devices: &Devices,
    parts: &[&[u32]],
    shares: &[Option<Share>],
) -> Result<(RunOutcome, End), RunError> {
    let figures = shares.iter().map(|share| Some(share.as_ref()?.figures));
    let figures: Vec<Option<Figures>> = figures.collect();
    let mut all = RunOutcome {
        sources: original_ids(graph, request.sources()),
        source_names: names(graph, request.sources()),
        ..together(one, devices, &figures)
    };
    if let Some(report) = &mut all.devices {
        report.sources = parts.iter().map(|part| part.len() as u64).collect();
    }
    for (part, share) in parts.iter().zip(shares) {
        let values = share.iter().flat_map(|share| &share.values);
        for (source, value) in part.iter().zip(values) {
            let at = *source as usize;
            match &mut all.values {
                Column::U32(column) => column[at] = *value as u32,
                Column::U64(column) => column[at] = *value,
                Column::F32(column) => column[at] = f32::from_bits(*value as u32),
                // No analysis of many sources has one.
                Column::I64(_) | Column::Sets(_) => {}
            }
        }
    }
    let end = answer(graph, request, &mut all)?;
    Ok((all, end))
}

/// Finds what the values of all devices say, and returns the end of the run.
pub(super) fn answer(
    graph: &Graph,
    request: &RunRequest,
    all: &mut RunOutcome,
) -> Result<End, RunError> {
    let form = graph.form(request.form_of(graph)?)?;
    let analysis = request.analysis.definition();
    all.reached = analysis.reached(&all.values);
    all.answer = analysis.answer(form, &all.values);
    let (Rounds::Levels(iterations) | Rounds::Iterations(iterations)) = all.rounds;
    Ok(End {
        iterations,
        converged: all.converged,
    })
}

/// The outcome of `one` of the devices with the figures of all; some may have had nothing to do.
pub(super) fn together(
    one: RunOutcome,
    devices: &Devices,
    figures: &[Option<Figures>],
) -> RunOutcome {
    let mut all = one;
    let known: Vec<Figures> = figures.iter().flatten().copied().collect();
    let most = |of: fn(&Figures) -> u64| known.iter().map(of).max().unwrap_or(0);
    let sum = |of: fn(&Figures) -> u64| {
        known
            .iter()
            .fold(0_u64, |sum, figures| sum.saturating_add(of(figures)))
    };
    let rounds = most(|figures| figures.rounds) as u32;
    all.rounds = match all.rounds {
        Rounds::Levels(_) => Rounds::Levels(rounds),
        Rounds::Iterations(_) => Rounds::Iterations(rounds),
    };
    all.converged = known.iter().all(|figures| figures.converged != 0);
    all.times = Times {
        load: all.times.load,
        upload: most(|figures| figures.upload),
        plan: most(|figures| figures.plan),
        run: most(|figures| figures.run),
        first_run: most(|figures| figures.first_run),
        readback: most(|figures| figures.readback),
    };
    all.edges_examined = all
        .edges_examined
        .map(|_| sum(|figures| figures.edges_examined));
    all.device_barriers = most(|figures| figures.device_barriers);
    all.memory.predicted_bytes = sum(|figures| figures.predicted_bytes);
    all.memory.allocated_bytes = sum(|figures| figures.allocated_bytes);
    all.memory.tiles_bytes = sum(|figures| figures.tiles_bytes);
    let bytes = |figures: &Option<Figures>| figures.map_or(0, |figures| figures.allocated_bytes);
    all.devices = Some(DevicesReport {
        count: figures.len() as u32,
        numbers: devices.numbers(),
        nodes: vec![all.nodes; figures.len()],
        edges: vec![all.edges; figures.len()],
        memory_bytes: figures.iter().map(bytes).collect(),
        ..DevicesReport::default()
    });
    all
}

/// The findings of one device for its sources.
#[derive(Debug)]
struct Share {
    figures: Figures,
    /// Values of its sources, in their order: whole numbers, or the bits of floats.
    values: Vec<u64>,
}

/// Figures of a device, in words that a carrier takes.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Figures {
    rounds: u64,
    converged: u64,
    upload: u64,
    plan: u64,
    run: u64,
    first_run: u64,
    readback: u64,
    edges_examined: u64,
    device_barriers: u64,
    predicted_bytes: u64,
    allocated_bytes: u64,
    tiles_bytes: u64,
}

/// Words of [`Figures`].
pub(super) const FIGURES: usize = size_of::<Figures>() / 4;

impl Figures {
    pub(super) fn of(outcome: &RunOutcome) -> Self {
        let (Rounds::Levels(rounds) | Rounds::Iterations(rounds)) = outcome.rounds;
        let (times, memory) = (outcome.times, outcome.memory);
        Self {
            rounds: u64::from(rounds),
            converged: u64::from(outcome.converged),
            upload: times.upload,
            plan: times.plan,
            run: times.run,
            first_run: times.first_run,
            readback: times.readback,
            edges_examined: outcome.edges_examined.unwrap_or(0),
            device_barriers: outcome.device_barriers,
            predicted_bytes: memory.predicted_bytes,
            allocated_bytes: memory.allocated_bytes,
            tiles_bytes: memory.tiles_bytes,
        }
    }
}

impl Share {
    fn of(outcome: &RunOutcome, sources: &[u32]) -> Self {
        let value = |source: &u32| match &outcome.values {
            Column::U32(column) => u64::from(column[*source as usize]),
            Column::U64(column) => column[*source as usize],
            Column::F32(column) => u64::from(column[*source as usize].to_bits()),
            Column::I64(_) | Column::Sets(_) => 0,
        };
        Self {
            figures: Figures::of(outcome),
            values: sources.iter().map(value).collect(),
        }
    }

    fn words(&self) -> Vec<u32> {
        let values: &[u32] = cast_slice(&self.values);
        [cast_slice(bytes_of(&self.figures)), values].concat()
    }

    fn from_words(words: &[u32]) -> Self {
        let (figures, values) = words.split_at(FIGURES);
        Self {
            figures: pod_read_unaligned(cast_slice(figures)),
            values: pod_collect_to_vec(values),
        }
    }
}

/// The name of all devices, by the outcome of one.
pub(super) fn name(devices: &Devices, one: &RunOutcome) -> String {
    match devices {
        Devices::Gpus(numbers) => format!("{} x {}", numbers.len(), one.device),
        Devices::Simulated { count, .. } => {
            let devices = counted(u64::from(*count), "simulated device");
            format!("{devices} of {}", one.device)
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

/// The request for one device, which answers for `sources`.
fn request_of(request: &RunRequest, sources: &[u32], devices: &Devices, at: usize) -> RunRequest {
    RunRequest {
        sources: sources.to_vec(),
        machine: machine(request.machine, devices, at),
        check: false,
        explain: false,
        ..request.clone()
    }
}

/// Runs each request on a thread of its own. The first error, or `canceller`, ends all.
pub(super) fn on_each(
    graph: &Graph,
    requests: &[Option<RunRequest>],
    canceller: &Canceller,
) -> Result<Vec<Option<RunOutcome>>, RunError> {
    std::thread::scope(|scope| {
        let (ended, ends) = mpsc::channel();
        let mut cancellers = Vec::new();
        let mut threads = Vec::new();
        for request in requests.iter().flatten() {
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
        // All are joined before any panic goes on.
        let joined: Vec<_> = threads.into_iter().map(|thread| thread.join()).collect();
        let mut outcomes = Vec::new();
        let mut failed = None;
        for outcome in joined {
            match outcome.unwrap_or_else(|panic| resume_unwind(panic)) {
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
        match failed {
            Some(error) => Err(error),
            None => {
                let mut outcomes = outcomes.into_iter();
                let of =
                    |request: &Option<RunRequest>| request.as_ref().and_then(|_| outcomes.next());
                Ok(requests.iter().map(of).collect())
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_dealt_in_whole_words_where_there_are_enough() {
        let sources: Vec<u32> = (0..1000).collect();
        let sizes = |count: usize, devices| -> Vec<usize> {
            let parts = deal(&sources[..count], devices);
            assert_eq!(parts.concat(), &sources[..count]);
            parts.iter().map(|part| part.len()).collect()
        };
        assert_eq!(sizes(1000, 3), [352, 352, 296]);
        assert_eq!(sizes(256, 4), [64; 4]);
        assert_eq!(sizes(100, 4), [25; 4]);
        assert_eq!(sizes(3, 5), [1, 1, 1, 0, 0]);
        assert_eq!(sizes(0, 2), [0, 0]);
        assert_eq!(sizes(9, 1), [9]);
    }
}
