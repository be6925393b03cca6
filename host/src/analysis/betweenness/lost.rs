//! Weights that are lost in sums: beside a long distance, a positive float adds nothing to it, so
//! that no rounding tells a path with its edge from one without.

use crate::graph::{Graph, WeightKind};
use crate::run::RunError;
use rayon::prelude::*;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Refuses an edge of a shortest path from one of `sources` whose weight is lost in doubles, as
/// distances are summed. One pass over the weights, and a search from each source only where some
/// weight is below 2^-52 of the longest possible distance.
pub(super) fn refuse(graph: &Graph, sources: &[u32]) -> Result<(), RunError> {
    if graph.weight_kind() != Some(WeightKind::Float) {
        return Ok(());
    }
    let weights = graph.weights().unwrap_or_default();
    let numbers = || weights.iter().map(|word| f64::from(f32::from_bits(*word)));
    let longest = numbers().fold(0.0, f64::max) * f64::from(graph.nodes());
    if numbers().all(|weight| weight > longest * f64::EPSILON) {
        return Ok(());
    }
    let lost = |source: &u32| lost_from(graph, weights, *source);
    sources.par_iter().find_map_first(lost).map_or(Ok(()), Err)
}

/// Shortest paths from a node by a heap, up to the first such edge.
fn lost_from(graph: &Graph, weights: &[u32], source: u32) -> Option<RunError> {
    let mut distances = vec![f64::INFINITY; graph.nodes() as usize];
    // The bits of doubles that are not negative are in the order of their values.
    let mut heap = BinaryHeap::from([Reverse((0_u64, source))]);
    distances[source as usize] = 0.0;
    while let Some(Reverse((bits, from))) = heap.pop() {
        let distance = f64::from_bits(bits);
        if distance > distances[from as usize] {
            continue;
        }
        for edge in graph.outgoing().row(from) {
            let to = graph.targets()[edge];
            let weight = f64::from(f32::from_bits(weights[edge]));
            let longer = distance + weight;
            if longer == distance && to != from && distances[to as usize] >= distance {
                return Some(RunError::WeightLost {
                    analysis: super::super::AnalysisKind::Betweenness,
                    from: graph.label_of(from).into(),
                    to: graph.label_of(to).into(),
                    weight,
                    distance,
                });
            }
            if longer < distances[to as usize] {
                distances[to as usize] = longer;
                heap.push(Reverse((longer.to_bits(), to)));
            }
        }
    }
    None
}
