//! The steps of a run that a batch takes for each of its graphs too.

use super::{RunError, RunRequest};
use crate::analysis::{Built, Case, End, Found};
use crate::backend::BackendError;
use crate::graph::{Graph, WeightKind};
use seawall_core::abi::control::{ControlRecord, LoopRecord};
use seawall_core::topology::Topology;

/// Builds the program that `request` asks for, in the shape that it asks for. The
/// request is checked.
///
/// Distances take 64 bits where `wide` says so.
pub(crate) fn build(graph: &Graph, request: &RunRequest, wide: bool) -> Result<Built, RunError> {
    let question = request.question(wide);
    let mut built = request.analysis.room().build(graph, &question)?;
    force_topology(&mut built, request)?;
    Ok(built)
}

/// Gives the searches of a program the shape asked for.
fn force_topology(built: &mut Built, request: &RunRequest) -> Result<(), RunError> {
    let Some(topology) = request.topology else {
        return Ok(());
    };
    if !built.program.searches() {
        return Err(RunError::NoSearch {
            analysis: request.analysis,
            topology,
        });
    }
    built.program.force_topology(topology);
    Ok(())
}

pub(crate) fn original_ids(graph: &Graph, nodes: &[u32]) -> Vec<u64> {
    nodes.iter().map(|node| graph.original_id(*node)).collect()
}

/// The counters of the loop that ran first, the one that an analysis is about.
fn first_loop(control: &ControlRecord) -> Option<&LoopRecord> {
    (control.loops_done > 0).then_some(&control.loops[0])
}

/// How the loop that an analysis is about ended; a program without one is
/// over after an iteration.
pub(crate) fn end_of(control: &ControlRecord) -> End {
    let record = first_loop(control);
    End {
        iterations: record.map_or(1, |record| record.iterations),
        converged: record.is_none_or(|record| record.converged != 0),
    }
}

/// Name of the topology that most steps of the run had.
pub(crate) fn topology_name(control: &ControlRecord) -> String {
    let Some(record) = first_loop(control) else {
        return "none".to_owned();
    };
    let mut steps = record.steps;
    // Iterations in one block are one step each in its own count.
    steps[Topology::Fused as usize] = steps[Topology::Fused as usize].max(record.block_iterations);
    let taken = (0_u32..).zip(steps).filter(|(_, count)| *count > 0);
    let most = taken.max_by_key(|(_, count)| *count);
    most.and_then(|(word, _)| Topology::from_u32(word))
        .map_or_else(|| "none".to_owned(), |topology| topology.name().to_owned())
}

/// Whether the sequential implementation finds the same.
pub(crate) fn is_equal(graph: &Graph, request: &RunRequest, end: End, found: Found<'_>) -> bool {
    let question = &request.question(false);
    let case = Case {
        graph,
        question,
        end,
    };
    request.analysis.room().check(&case, found)
}

/// Whether whole distances outgrew 32 bits, so that they have to be found again in 64.
pub(crate) fn outgrew(error: &RunError) -> bool {
    matches!(
        error,
        RunError::Backend(BackendError::PathTooLong {
            kind: WeightKind::Integer,
            ..
        })
    )
}

pub(crate) fn median(values: &mut [u64]) -> u64 {
    values.sort_unstable();
    values.get(values.len() / 2).copied().unwrap_or(0)
}
