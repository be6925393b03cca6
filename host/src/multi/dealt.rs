//! Analyses of many sources: each device has the whole graph, and a part of the sources.
//!
//! Searches from different sources tell each other nothing, so devices do not meet: each answers as
//! one device does, with its own kernels, and the values of its sources are put together. Work is
//! that of one device, divided by sources; memory is that of one device, on each.

use super::{Devices, DevicesReport};
use crate::analysis::{End, sources_at_once};
use crate::backend::{BackendError, Canceller};
use crate::column::Column;
use crate::executor::{Executor, Machine};
use crate::graph::Graph;
use crate::outcome::{Rounds, RunOutcome, Times};
use crate::run::{Analyzer, Phase, RunError, RunRequest, steps};
use crate::units::counted;
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

/// Runs `request`, whose sources are shared out.
///
/// # Errors
/// As [`super::execute_with`].
pub(super) fn execute(
    graph: &Graph,
    request: &RunRequest,
    devices: &Devices,
    canceller: &Canceller,
    progress: &mut dyn FnMut(Phase),
) -> Result<RunOutcome, RunError> {
    let parts = deal(request.sources(), devices.count());
    let requests: Vec<Option<RunRequest>> = (0..)
        .zip(&parts)
        .map(|(device, part)| {
            (!part.is_empty()).then(|| RunRequest {
                sources: part.to_vec(),
                machine: machine(request.machine, devices, device),
                check: false,
                explain: false,
                ..request.clone()
            })
        })
        .collect();
    progress(Phase::Upload);
    let mut found = on_each(graph, &requests, canceller)?.into_iter();
    let first = found.next().flatten().ok_or(RunError::NoSource {
        analysis: request.analysis,
    })?;
    // Figures of the plan and of the session stay those of the first device.
    let mut outcome = RunOutcome {
        devices: Some(report(devices, &parts, &first)),
        device: match devices {
            Devices::Gpus(numbers) => format!("{} x {}", numbers.len(), first.device),
            Devices::Simulated { count, .. } => {
                format!(
                    "{} of {}",
                    counted(u64::from(*count), "simulated device"),
                    first.device
                )
            }
        },
        backend_reason: reason_for_one(graph, request, devices.count()),
        sources: steps::original_ids(graph, request.sources()),
        source_names: steps::names(graph, request.sources()),
        ..first
    };
    for (device, (other, part)) in (1..).zip(found.zip(parts.iter().skip(1))) {
        if let Some(other) = other {
            join(&mut outcome, device, other, part);
        }
    }
    let form = graph.form(request.form_of(graph)?)?;
    let analysis = request.analysis.definition();
    outcome.reached = analysis.reached(&outcome.values);
    outcome.answer = analysis.answer(form, &outcome.values);
    if request.check {
        progress(Phase::Check);
        let (Rounds::Levels(iterations) | Rounds::Iterations(iterations)) = outcome.rounds;
        let end = End {
            iterations,
            converged: outcome.converged,
        };
        steps::check(graph, request, end, &mut outcome);
    }
    Ok(outcome)
}

/// The machine of one device.
fn machine(asked: Machine, devices: &Devices, at: usize) -> Machine {
    match devices {
        Devices::Gpus(numbers) => Machine {
            executor: Some(Executor::Mega),
            device: numbers.get(at).copied().unwrap_or(0),
            ..asked
        },
        Devices::Simulated { threads, .. } => Machine {
            executor: Some(Executor::Cpu),
            threads: NonZeroUsize::new((*threads).max(1) as usize),
            ..asked
        },
    }
}

/// Runs each request on a thread of its own. The first error, or `canceller`, ends all.
fn on_each(
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

/// Adds what device `device` found for its sources.
fn join(all: &mut RunOutcome, device: usize, other: RunOutcome, sources: &[u32]) {
    for source in sources {
        let at = *source as usize;
        match (&mut all.values, &other.values) {
            (Column::U32(to), Column::U32(from)) => to[at] = from[at],
            (Column::U64(to), Column::U64(from)) => to[at] = from[at],
            (Column::F32(to), Column::F32(from)) => to[at] = from[at],
            // All devices answer one analysis.
            _ => {}
        }
    }
    all.rounds = all.rounds.max(other.rounds);
    all.converged &= other.converged;
    let (own, their) = (&mut all.times, other.times);
    *own = Times {
        load: own.load,
        upload: own.upload.max(their.upload),
        plan: own.plan.max(their.plan),
        run: own.run.max(their.run),
        first_run: own.first_run.max(their.first_run),
        readback: own.readback.max(their.readback),
    };
    all.edges_examined = match (all.edges_examined, other.edges_examined) {
        (Some(own), Some(their)) => Some(own.saturating_add(their)),
        (own, their) => own.or(their),
    };
    all.device_barriers = all.device_barriers.max(other.device_barriers);
    all.memory.predicted_bytes += other.memory.predicted_bytes;
    all.memory.allocated_bytes += other.memory.allocated_bytes;
    all.memory.tiles_bytes += other.memory.tiles_bytes;
    if let Some(devices) = &mut all.devices {
        devices.memory_bytes[device] = other.memory.allocated_bytes;
    }
    all.events.extend(other.events);
}

/// The part of each device. The memory of all but the first follows as they are joined.
fn report(devices: &Devices, parts: &[&[u32]], first: &RunOutcome) -> DevicesReport {
    let count = devices.count() as usize;
    let mut memory_bytes = vec![0; count];
    memory_bytes[0] = first.memory.allocated_bytes;
    DevicesReport {
        count: devices.count(),
        numbers: devices.numbers(),
        nodes: vec![first.nodes; count],
        edges: vec![first.edges; count],
        sources: parts.iter().map(|part| part.len() as u64).collect(),
        memory_bytes,
        barriers: 0,
        lists: 0,
        pulls: 0,
        exchanged_bytes: 0,
    }
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
