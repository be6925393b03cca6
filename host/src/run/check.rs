//! Compares a result with the sequential implementation of its analysis.

use super::{AnalysisKind, Detail, RunRequest};
use crate::analysis::oracle;
use crate::graph::Graph;
use crate::outcome::Column;
use seawall_core::abi::UNREACHED;

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
            let levels = oracle::levels(graph, request.sources(), max_iterations);
            if parents.is_some_and(|parents| parents != oracle::parents(graph, &levels)) {
                return false;
            }
            levels
        }
        AnalysisKind::Reach if request.detail == Detail::EachSource => {
            let Column::Sets(sets) = values else {
                return false;
            };
            return sets.words() == oracle::reached_from(graph, request.sources(), max_iterations);
        }
        AnalysisKind::Reach => oracle::reached(graph, request.sources(), max_iterations),
        AnalysisKind::Cc => oracle::components(graph),
        AnalysisKind::Sssp => {
            let expected = oracle::distances(graph, request.sources());
            let exact = || oracle::distances_in_doubles(graph, request.sources());
            return settled(&expected, values, end)
                && values
                    .floats()
                    .is_none_or(|floats| is_near(floats, &exact()) || !end.converged);
        }
        AnalysisKind::Kcore => return settled(&Column::U32(oracle::cores(graph)), values, end),
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
fn settled(expected: &Column, values: &Column, end: End) -> bool {
    if end.converged {
        return values == expected;
    }
    let not_below = |(value, least): (f64, f64)| value >= least;
    values.len() == expected.len() && heights(values).zip(heights(expected)).all(not_below)
}

/// The values in order, as numbers that are exact below 2^53 and else in order; what
/// nothing reaches is infinite.
fn heights(column: &Column) -> Box<dyn Iterator<Item = f64> + '_> {
    let whole = |value: u64, never: u64| match value == never {
        true => f64::INFINITY,
        false => value as f64,
    };
    match column {
        Column::U32(words) => Box::new(
            words
                .iter()
                .map(move |word| whole(u64::from(*word), u64::from(UNREACHED))),
        ),
        Column::U64(words) => Box::new(words.iter().map(move |word| whole(*word, u64::MAX))),
        Column::F32(floats) => Box::new(floats.iter().map(|float| f64::from(*float))),
        Column::Sets(_) => Box::new(std::iter::empty()),
    }
}

/// Share of itself by which a float distance may differ from the one in doubles: a sum of
/// a path's weights is off by at most 2^-24 of itself for each of its edges, of which
/// there are fewer than nodes, and twice that covers its own rounding.
pub(crate) fn distance_tolerance(nodes: usize) -> f64 {
    nodes as f64 * 2_f64.powi(-23)
}

/// Whether distances in floats are those in doubles but for their roundings.
fn is_near(floats: &[f32], doubles: &[f64]) -> bool {
    let share = distance_tolerance(floats.len());
    floats.iter().zip(doubles).all(|(float, double)| {
        let float = f64::from(*float);
        float == *double || (float - double).abs() <= share * double
    })
}
