//! Dijkstra's algorithm with a binary heap.

use crate::graph::Graph;
use seawall_core::abi::UNREACHED;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Length of the shortest path from `sources` to every node; [`UNREACHED`]
/// where there is none shorter than `u32::MAX`. A graph without weights has
/// weight 1 everywhere. O((nodes + edges) log nodes).
#[must_use]
pub fn distances(graph: &Graph, sources: &[u32]) -> Vec<u32> {
    let mut distances = vec![UNREACHED; graph.nodes() as usize];
    let mut heap = BinaryHeap::new();
    for source in sources {
        if let Some(distance) = distances.get_mut(*source as usize) {
            *distance = 0;
            heap.push(Reverse((0_u32, *source)));
        }
    }
    while let Some(Reverse((distance, node))) = heap.pop() {
        if distance > distances[node as usize] {
            continue;
        }
        for edge in graph.outgoing().row(node) {
            let weight = graph.weights().map_or(1, |weights| weights[edge]);
            let to = graph.targets()[edge];
            let length = distance.saturating_add(weight);
            if length < distances[to as usize] {
                distances[to as usize] = length;
                heap.push(Reverse((length, to)));
            }
        }
    }
    distances
}
