//! Comparisons of the resident kernel with orchestrating hosts, and their counters.

use crate::tally::Tally;
use seawall::backend::cuda::Executor;
use seawall::backend::{self, Session, Settings};
use seawall::evidence::{EvidenceRequest, Measurement, Orchestration, compare, measure};
use seawall::executor::Machine;
use seawall::graph::Graph;
use seawall_core::evidence::{EvidenceError, verify};
use std::cell::Cell;
use std::num::NonZeroU32;

/// Nodes and edges above the floors of the gate.
const NODES: u32 = 20_000;

/// Each host finds the same levels, and only a resident kernel passes the gate.
pub(crate) fn run(tally: &mut Tally) {
    for against in [
        Orchestration::Baseline,
        Orchestration::Launches,
        Orchestration::Graph,
    ] {
        let name = match against {
            Orchestration::Baseline => "naive",
            Orchestration::Launches => "launches",
            Orchestration::Graph => "graph",
        };
        tally.check("evidence", name, "no seed", || accepted(against));
    }
    tally.check("evidence with an upload", "naive", "no seed", refused);
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// A ring with chords: few levels, and more edges than the gate requires.
fn graph(chords: u32) -> Result<Graph, String> {
    let steps = |node: u32| (1..=chords).map(move |step| (node, (node + step * step) % NODES));
    let edges: Vec<(u32, u32)> = (0..NODES).flat_map(steps).collect();
    Graph::from_edges(NODES, &edges, true).map_err(text)
}

/// Calls `job` with a request whose counter of allocations moves once, for the probe.
fn with_request<T>(against: Orchestration, job: impl FnOnce(&EvidenceRequest<'_>) -> T) -> T {
    let calls = Cell::new(0);
    let allocations = || {
        calls.set(calls.get() + 1);
        u64::from(calls.get() > 1)
    };
    job(&EvidenceRequest {
        machine: Machine::gpu(Executor::Mega, 0),
        settings: Settings::default(),
        against,
        repetitions: NonZeroU32::new(64).unwrap_or(NonZeroU32::MIN),
        allocations: &allocations,
    })
}

fn accepted(against: Orchestration) -> Result<(), String> {
    let measured = |chords| {
        let graph = graph(chords)?;
        with_request(against, |request| measure(&graph, request).map_err(text))
    };
    let samples: [Measurement; 2] = [measured(5)?, measured(6)?];
    let samples = samples.each_ref().map(Measurement::sample);
    match verify(&samples, 1e-6) {
        // A small device is refused for its memory, after its counters were checked.
        Ok(_) | Err(EvidenceError::InsufficientCudaDevice { .. }) => Ok(()),
        Err(error) => Err(format!("{error}: {samples:?}")),
    }
}

fn refused() -> Result<(), String> {
    let graph = graph(5)?;
    let machine = Machine::gpu(Executor::Mega, 0);
    let open = || backend::open_baseline(&graph, &machine).map_err(text);
    let (mut host, mut resident) = (open()?, open()?);
    let sides: [&mut dyn Session; 2] = [host.as_mut(), resident.as_mut()];
    let measured = with_request(Orchestration::Baseline, |request| {
        compare(&graph, sides, request).map_err(text)
    })?;
    match verify(&[measured.sample(); 2], 1e-6) {
        Err(
            EvidenceError::PollutedTimedRegion { .. }
            | EvidenceError::InsufficientCudaDevice { .. },
        ) => Ok(()),
        other => Err(format!("{other:?}: {measured:?}")),
    }
}
