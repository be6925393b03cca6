//! Compares a result with the sequential implementation of its analysis.

use super::{AnalysisKind, Detail, RunRequest};
use crate::analysis::oracle;
use crate::graph::Graph;
use crate::outcome::Column;

/// How a run's loop ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct End {
    /// Iterations that it took.
    pub(crate) iterations: u32,
    /// Whether it ended by itself.
    pub(crate) converged: bool,
}

/// Whether the sequential implementation gives the same column: exactly, but
/// for ranks, which may differ by their roundings.
///
/// Distances and core numbers come down from above, so a run that a limit
/// ended is right when no value is too low.
pub(crate) fn check(
    (graph, request): (&Graph, &RunRequest),
    (max_iterations, end): (u32, End),
    (values, parents): (&Column, Option<&[u32]>),
) -> bool {
    let expected = match request.analysis {
        AnalysisKind::Bfs => {
            let levels = oracle::levels(graph, &request.sources, max_iterations);
            if parents.is_some_and(|parents| parents != oracle::parents(graph, &levels)) {
                return false;
            }
            levels
        }
        AnalysisKind::Reach if request.detail == Detail::EachSource => {
            let Column::Sets(sets) = values else {
                return false;
            };
            return sets.words() == oracle::reached_from(graph, &request.sources, max_iterations);
        }
        AnalysisKind::Reach => oracle::reached(graph, &request.sources, max_iterations),
        AnalysisKind::Cc => oracle::components(graph),
        AnalysisKind::Sssp => {
            return settled(&oracle::distances(graph, &request.sources), values, end);
        }
        AnalysisKind::Kcore => return settled(&oracle::cores(graph), values, end),
        AnalysisKind::Pagerank => {
            let Column::F32(ranks) = values else {
                return false;
            };
            let end = (end.iterations, end.converged);
            return oracle::agrees(graph, request.ranking, ranks, end);
        }
        AnalysisKind::Triangles => oracle::triangles(graph),
    };
    *values == Column::U32(expected)
}

/// Whether values that only fall have come down to `expected`, or would have.
fn settled(expected: &[u32], values: &Column, end: End) -> bool {
    let Column::U32(values) = values else {
        return false;
    };
    if end.converged {
        return values == expected;
    }
    values.len() == expected.len()
        && values
            .iter()
            .zip(expected)
            .all(|(value, least)| value >= least)
}
