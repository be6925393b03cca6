//! The steps of a run that a batch takes for each of its graphs too.

use super::check::{End, check, distance_tolerance};
use super::{AnalysisKind, RunError, RunRequest};
use crate::analysis::oracle::rank_tolerance;
use crate::analysis::sssp::outgrown;
use crate::analysis::{self, Built, Question};
use crate::graph::Graph;
use crate::outcome::{Column, Rounds};
use seawall_core::abi::UNREACHED;
use seawall_core::abi::control::{ControlRecord, LoopRecord};
use seawall_core::topology::Topology;

/// Builds the program that `request` asks for, in the shape that it asks for. The
/// request is checked.
///
/// Distances take 64 bits where `wide` says so.
pub(crate) fn build(graph: &Graph, request: &RunRequest, wide: bool) -> Result<Built, RunError> {
    let question = Question {
        sources: request.sources().to_vec(),
        max_iterations: max_iterations(request),
        ranking: request.ranking,
        detail: request.detail,
        wide,
    };
    let mut built = analysis::build(request.analysis, graph, &question)?;
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

fn max_iterations(request: &RunRequest) -> u32 {
    request
        .max_iterations
        .map_or(u32::MAX - 1, std::num::NonZero::get)
}

pub(crate) fn original_ids(graph: &Graph, nodes: &[u32]) -> Vec<u64> {
    nodes.iter().map(|node| graph.original_id(*node)).collect()
}

pub(crate) fn reached(analysis: AnalysisKind, values: &Column) -> u64 {
    match (analysis, values) {
        (AnalysisKind::Reach, Column::U32(flags)) => {
            flags.iter().filter(|flag| **flag != 0).count() as u64
        }
        (_, Column::U32(words)) => words.iter().filter(|word| **word != UNREACHED).count() as u64,
        (_, Column::U64(words)) => words.iter().filter(|word| **word != u64::MAX).count() as u64,
        (_, Column::F32(values)) => values.iter().filter(|value| value.is_finite()).count() as u64,
        (_, Column::Sets(sets)) => {
            let is_reached = |set: &&[u64]| set.iter().any(|word| *word != 0);
            sets.iter().filter(is_reached).count() as u64
        }
    }
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

pub(crate) fn rounds(analysis: AnalysisKind, values: &Column, end: End) -> Rounds {
    match (analysis, values) {
        (AnalysisKind::Bfs, Column::U32(levels)) => {
            let deepest = levels.iter().filter(|level| **level != UNREACHED).max();
            Rounds::Levels(deepest.map_or(0, |level| level + 1))
        }
        _ => Rounds::Iterations(end.iterations),
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

/// Whether the sequential implementation gives the same column, and the same
/// parents where there are any.
pub(crate) fn is_equal(
    graph: &Graph,
    request: &RunRequest,
    end: End,
    found: (&Column, Option<&[u32]>),
) -> bool {
    check((graph, request), (max_iterations(request), end), found)
}

/// Share of itself by which a value may differ in that check; nothing where values have
/// to be equal.
pub(crate) fn tolerance(analysis: AnalysisKind, values: &Column, end: End) -> Option<f64> {
    let floats = values.floats()?;
    Some(match analysis {
        AnalysisKind::Pagerank => rank_tolerance(end.iterations),
        _ => distance_tolerance(floats.len()),
    })
}

/// Whether whole distances have to be found again in 64 bits.
///
/// # Errors
/// [`RunError::PathTooLong`] for a float distance that passed the largest float.
pub(crate) fn outgrew(
    graph: &Graph,
    request: &RunRequest,
    values: &Column,
) -> Result<bool, RunError> {
    if request.analysis != AnalysisKind::Sssp {
        return Ok(false);
    }
    match (outgrown(graph, values), values) {
        (None, _) => Ok(false),
        (Some(edge), Column::F32(_)) => Err(RunError::PathTooLong {
            from: graph.original_id(edge.from),
            to: graph.original_id(edge.to),
        }),
        (Some(_), _) => Ok(true),
    }
}

pub(crate) fn median(values: &mut [u64]) -> u64 {
    values.sort_unstable();
    values.get(values.len() / 2).copied().unwrap_or(0)
}
