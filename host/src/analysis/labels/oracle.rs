//! Label propagation, a node after the other, with a map of counts.

use crate::graph::Graph;
use std::collections::BTreeMap;

/// Labels after `rounds` rounds, each from those of the round before. O(rounds * edges), and a
/// logarithm.
#[must_use]
pub fn labels(graph: &Graph, rounds: u32) -> Vec<u32> {
    let mut labels: Vec<u32> = (0..graph.nodes()).collect();
    for _ in 0..rounds {
        let next: Vec<u32> = (0..graph.nodes())
            .map(|node| most_frequent(graph.neighbours(node), &labels, node))
            .collect();
        if next == labels {
            break;
        }
        labels = next;
    }
    labels
}

/// The label that most nodes of `row` have, the least of many; that of `node` if there are none.
fn most_frequent(row: &[u32], labels: &[u32], node: u32) -> u32 {
    let mut counts = BTreeMap::new();
    for other in row.iter().filter(|other| **other != node) {
        *counts.entry(labels[*other as usize]).or_insert(0_u32) += 1;
    }
    let most = counts.values().max();
    let best = counts.iter().find(|(_, count)| Some(*count) == most);
    best.map_or(labels[node as usize], |(label, _)| *label)
}
