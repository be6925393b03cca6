//! Promises of planning about runs on a GPU: rules that decide, bytes and work as predicted, and
//! times of groups.

use crate::tally::Tally;
use seawall::backend::cuda::{CudaOptions, CudaSession};
use seawall::executor::{Executor, Machine};
use seawall::graph::Graph;
use seawall::outcome::RunOutcome;
use seawall::run::{AnalysisKind, Analyzer, RunError, RunRequest};
use seawall_oracles::graphs::{self, SHAPES};
use seawall_oracles::ladder;
use seawall_oracles::random::Random;
use std::num::NonZeroU32;

/// Graphs whose memory is compared; fewer under a checker.
const GRAPHS: usize = 100;

/// Bytes of a line of memory, to which tables of tiny graphs are rounded up.
const LINE: u64 = 128;

/// Runs all checks.
pub(crate) fn run(seed: u64, quick: bool, tally: &mut Tally) {
    let repeat = format!("SEED={seed}");
    tally.check("every rule of the ladder", "mega", "no seed", || {
        ladder::check(&|graph| {
            let session = CudaSession::open(Executor::Mega, graph, CudaOptions::default())?;
            Ok(Box::new(session))
        })
    });
    tally.check("bytes and work as predicted", "mega", repeat, || {
        let graphs = if quick { 2 } else { GRAPHS };
        // The device stays open from one session to the next.
        let none = Graph::from_edges(1, &[], false).map_err(text)?;
        let open = CudaSession::open(Executor::Mega, &none, CudaOptions::default());
        let _open = open.map_err(text)?;
        (0..graphs).try_for_each(|number| compare(number, seed))
    });
    for executor in [Executor::Mega, Executor::Launches] {
        let name = executor.name();
        tally.check("times of groups", name, "no seed", || timed(executor));
    }
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// Runs an analysis twice in one session and compares it with its prediction; then within the
/// least budget that a refusal names, and one byte below. The graphs take the analyses in turn.
fn compare(number: usize, seed: u64) -> Result<(), String> {
    let mut random = Random::new(seed ^ number as u64);
    let shape = SHAPES[number % SHAPES.len()];
    let list = graphs::draw(shape, 1 + random.below(3_000), true, &mut random);
    let graph = list.graph().map_err(text)?;
    let graph = graph.with_drawn_weights(seed).map_err(text)?;
    if graph.nodes() == 0 {
        return Ok(());
    }
    let kind = AnalysisKind::ALL[number % AnalysisKind::ALL.len()];
    let mut request = RunRequest::new(kind, vec![0]).on(Machine::gpu(Executor::Mega, 0));
    request.repeat = NonZeroU32::MIN.saturating_add(1);
    request.check = true;
    let what = |problem: String| format!("{kind} on graph {number}: {problem}");
    let run = |request: &RunRequest| Analyzer::new(&graph).run(request);
    let free = run(&request).map_err(|error| what(text(error)))?;
    as_predicted(&free).map_err(what)?;
    request.machine.budget_bytes = Some(0);
    let least = match run(&request) {
        Err(RunError::OverBudget { needed_bytes, .. }) => needed_bytes,
        other => return Err(what(format!("{:?} within no memory", other.map(drop)))),
    };
    request.machine.budget_bytes = Some(least);
    let tight = run(&request).map_err(|error| what(format!("within {least} bytes: {error}")))?;
    as_predicted(&tight).map_err(what)?;
    request.machine.budget_bytes = Some(least - 1);
    match run(&request) {
        Err(RunError::OverBudget { .. }) => Ok(()),
        other => Err(what(format!("{:?} below {least} bytes", other.map(drop)))),
    }
}

/// Bytes within 2 % and a line of memory, and never too few, and the session's work.
fn as_predicted(outcome: &RunOutcome) -> Result<(), String> {
    let (predicted, allocated) = (
        outcome.memory.predicted_bytes,
        outcome.memory.allocated_bytes,
    );
    if predicted < allocated || predicted > allocated + allocated / 50 + LINE {
        return Err(format!("{predicted} bytes predicted, {allocated} taken"));
    }
    if outcome.checked != Some(true) {
        return Err("the result is wrong".to_owned());
    }
    let session = outcome.session;
    if session.predicted != session.counted {
        return Err(format!("{session:?}"));
    }
    Ok(())
}

/// Every top-level group has a time, and all together take no longer than the run.
fn timed(executor: Executor) -> Result<(), String> {
    let edges: Vec<_> = (1..500).map(|node| (node - 1, node)).collect();
    let graph = Graph::from_edges(500, &edges, true).map_err(text)?;
    for kind in [AnalysisKind::Bfs, AnalysisKind::Cc, AnalysisKind::Mis] {
        let mut request = RunRequest::new(kind, vec![0]).on(Machine::gpu(executor, 0));
        request.explain = true;
        let outcome = Analyzer::new(&graph).run(&request);
        let outcome = outcome.map_err(text)?;
        let top = || {
            outcome
                .groups
                .iter()
                .filter(|group| group.body_of.is_none())
        };
        let unmeasured =
            top().find(|group| group.measured_ns.is_none() && group.measured_with.is_none());
        if let Some(group) = unmeasured {
            return Err(format!("{kind}: no time of {group:?}"));
        }
        let sum: u64 = top().filter_map(|group| group.measured_ns).sum();
        // Each time has the resolution of an event.
        let most = outcome.times.run + 1_000 * outcome.groups.len() as u64;
        if sum == 0 || sum > most {
            return Err(format!("{kind}: groups of {sum} ns in {most} ns"));
        }
    }
    Ok(())
}
