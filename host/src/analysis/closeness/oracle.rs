//! Closeness by one reverse search per source.

use crate::analysis::bfs::oracle::levels_along;
use crate::graph::{Graph, WeightKind};
use seawall_core::abi::UNREACHED;

/// Closeness of every node of `sources` by the nodes within `max_levels` edges; infinite for other
/// nodes. O(sources * (nodes + edges)).
#[must_use]
pub fn closeness(graph: &Graph, sources: &[u32], max_levels: u32) -> Vec<f32> {
    closeness_along(graph, sources, true, max_levels)
}

/// As [`closeness`], with paths from the nodes if they are not inward.
pub(in crate::analysis) fn closeness_along(
    graph: &Graph,
    sources: &[u32],
    inward: bool,
    max_levels: u32,
) -> Vec<f32> {
    let mut before = vec![Vec::new(); graph.nodes() as usize];
    for from in 0..graph.nodes() {
        for to in graph.neighbours(from) {
            match inward {
                true => before[*to as usize].push(from),
                false => before[from as usize].push(*to),
            }
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

/// Closeness along weights, in doubles; infinite for other nodes. It repeats rounds over all edges
/// until no distance falls: O(sources * nodes * edges) at worst.
pub(in crate::analysis) fn weighted_closeness(
    graph: &Graph,
    sources: &[u32],
    inward: bool,
) -> Vec<f64> {
    let nodes = graph.nodes() as usize;
    let mut values = vec![f64::INFINITY; nodes];
    for source in sources {
        let known = distances(graph, *source, inward);
        let known: Vec<f64> = known.into_iter().filter(|far| far.is_finite()).collect();
        let (others, sum) = (known.len() as f64 - 1.0, known.iter().sum::<f64>());
        values[*source as usize] = match sum > 0.0 {
            true => others * others / (sum * (nodes as f64 - 1.0)),
            false => 0.0,
        };
    }
    values
}

/// Distances from a node along weights, or to it, in doubles; infinite where there is no path.
pub(in crate::analysis) fn distances(graph: &Graph, source: u32, inward: bool) -> Vec<f64> {
    let weight = |edge: usize| {
        let word = graph.weights().map_or(1, |weights| weights[edge]);
        match graph.weight_kind() {
            Some(WeightKind::Float) => f64::from(f32::from_bits(word)),
            _ => f64::from(word),
        }
    };
    let mut distances = vec![f64::INFINITY; graph.nodes() as usize];
    distances[source as usize] = 0.0;
    let mut changes = true;
    while changes {
        changes = false;
        for node in 0..graph.nodes() {
            for edge in graph.outgoing().row(node) {
                let (one, other) = (node as usize, graph.targets()[edge] as usize);
                let (from, to) = if inward { (other, one) } else { (one, other) };
                let longer = distances[from] + weight(edge);
                if longer < distances[to] {
                    distances[to] = longer;
                    changes = true;
                }
            }
        }
    }
    distances
}

fn of_node(before: &[Vec<u32>], node: u32, max_levels: u32) -> f32 {
    let (nodes, row) = (before.len() as u32, |node| &*before[node as usize]);
    let levels = levels_along(nodes, row, &[node], max_levels);
    let known = levels.into_iter().filter(|level| *level != UNREACHED);
    let (others, sum) = known.fold((-1.0, 0_u64), |(others, sum), level| {
        (others + 1.0, sum + u64::from(level))
    });
    match sum {
        0 => 0.0,
        _ => (others * others / (sum as f64 * f64::from(nodes - 1))) as f32,
    }
}
