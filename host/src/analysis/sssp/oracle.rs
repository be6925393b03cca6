//! Dijkstra's algorithm with a binary heap.

use crate::column::Column;
use crate::graph::{Graph, WeightKind};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Length of the shortest path from `sources` to every node: in whole numbers of 32 bits if all
/// are below `u32::MAX`, else of 64; along float weights in `f32`, rounded at every edge. A graph
/// without weights has weight 1 everywhere. O((nodes + edges) log nodes).
#[must_use]
pub fn distances(graph: &Graph, sources: &[u32]) -> Column {
    if graph.weight_kind() == Some(WeightKind::Float) {
        let sum = |bits, word| (f32::from_bits(bits) + f32::from_bits(word)).to_bits();
        let bits = dijkstra(graph, sources, (f32::INFINITY.to_bits(), sum));
        return Column::F32(bits.into_iter().map(f32::from_bits).collect());
    }
    // Fewer than 2^32 edges of less than 2^32 each: no sum reaches 2^64.
    let sum = |length, weight| length + u64::from(weight);
    let lengths = dijkstra(graph, sources, (u64::MAX, sum));
    let short = |length: &u64| match *length {
        u64::MAX => Some(u32::MAX),
        length => u32::try_from(length)
            .ok()
            .filter(|short| *short != u32::MAX),
    };
    match lengths.iter().map(short).collect() {
        Some(short) => Column::U32(short),
        None => Column::U64(lengths),
    }
}

/// [`distances`] along float weights in `f64`, infinite where there is no path.
#[must_use]
pub fn distances_in_doubles(graph: &Graph, sources: &[u32]) -> Vec<f64> {
    let sum = |bits, word| (f64::from_bits(bits) + f64::from(f32::from_bits(word))).to_bits();
    let bits = dijkstra(graph, sources, (f64::INFINITY.to_bits(), sum));
    bits.into_iter().map(f64::from_bits).collect()
}

/// Distances as words that order like them, the default for 0; `never` where there is no
/// path, and what a path over one more edge is by `sum`.
fn dijkstra<T: Copy + Default + Ord>(
    graph: &Graph,
    sources: &[u32],
    (never, sum): (T, impl Fn(T, u32) -> T),
) -> Vec<T> {
    let mut distances = vec![never; graph.nodes() as usize];
    let mut heap = BinaryHeap::new();
    for source in sources {
        if let Some(distance) = distances.get_mut(*source as usize) {
            *distance = T::default();
            heap.push(Reverse((T::default(), *source)));
        }
    }
    while let Some(Reverse((distance, node))) = heap.pop() {
        if distance > distances[node as usize] {
            continue;
        }
        for edge in graph.outgoing().row(node) {
            let weight = graph.weights().map_or(1, |weights| weights[edge]);
            let to = graph.targets()[edge];
            let length = sum(distance, weight);
            if length < distances[to as usize] {
                distances[to as usize] = length;
                heap.push(Reverse((length, to)));
            }
        }
    }
    distances
}
