//! Closeness by one search per source, against the edges.

use crate::graph::Graph;
use std::collections::VecDeque;

/// Closeness of every node of `sources` by the nodes within `max_levels` edges; infinite for other
/// nodes. O(sources * (nodes + edges)).
#[must_use]
pub fn closeness(graph: &Graph, sources: &[u32], max_levels: u32) -> Vec<f32> {
    let mut before = vec![Vec::new(); graph.nodes() as usize];
    for from in 0..graph.nodes() {
        for to in graph.neighbours(from) {
            before[*to as usize].push(from);
        }
    }
    let mut values = vec![f32::INFINITY; before.len()];
    for source in sources {
        if let Some(value) = values.get_mut(*source as usize) {
            *value = of_node(&before, *source, max_levels);
        }
    }
    values
}

fn of_node(before: &[Vec<u32>], node: u32, max_levels: u32) -> f32 {
    let mut distances = vec![None; before.len()];
    distances[node as usize] = Some(0_u32);
    let mut queue = VecDeque::from([node]);
    let (mut others, mut sum) = (0_u64, 0_u64);
    while let Some(node) = queue.pop_front() {
        let distance = distances[node as usize].unwrap_or(0) + 1;
        if distance > max_levels {
            break;
        }
        for from in &before[node as usize] {
            if distances[*from as usize].is_none() {
                distances[*from as usize] = Some(distance);
                queue.push_back(*from);
                others += 1;
                sum += u64::from(distance);
            }
        }
    }
    if sum == 0 {
        return 0.0;
    }
    let others = others as f64;
    (others * others / (sum as f64 * (before.len() - 1) as f64)) as f32
}
