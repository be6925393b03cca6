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

/// Tells whether `parents` are a tree of lightest paths of these lengths: each leads to a source,
/// over edges that take no detour, and is the smallest of the nodes nearer to the source that such
/// an edge leaves, if there are any. O(nodes + edges).
pub(crate) fn is_tree(
    graph: &Graph,
    (sources, lengths): (&[u32], &Column),
    parents: &[u32],
) -> bool {
    let nodes = graph.nodes() as usize;
    let order = |node: usize| match lengths {
        Column::U32(words) => (words[node] != u32::MAX).then(|| u64::from(words[node])),
        Column::U64(words) => (words[node] != u64::MAX).then(|| words[node]),
        // Floats that are not negative order like their bits.
        Column::F32(floats) => floats[node]
            .is_finite()
            .then(|| u64::from(floats[node].to_bits())),
        Column::Sets(_) => None,
    };
    let longer = |node: usize, word: u32| {
        let from = order(node)?;
        Some(match lengths {
            Column::F32(_) => {
                u64::from((f32::from_bits(from as u32) + f32::from_bits(word)).to_bits())
            }
            _ => from + u64::from(word),
        })
    };
    if parents.len() != nodes || lengths.len() != nodes {
        return false;
    }
    // For each node: whether its parent has such an edge, and the smallest nearer one that has.
    let mut is_lightest = vec![false; nodes];
    let mut nearest = vec![None; nodes];
    for from in 0..nodes {
        for edge in graph.outgoing().row(from as u32) {
            let to = graph.targets()[edge] as usize;
            let word = graph.weights().map_or(1, |weights| weights[edge]);
            if order(to).is_some() && longer(from, word) == order(to) {
                is_lightest[to] |= parents[to] as usize == from;
                if order(from) < order(to) {
                    nearest[to] = nearest[to].or(Some(from as u32));
                }
            }
        }
    }
    let mut is_source = vec![false; nodes];
    sources
        .iter()
        .for_each(|source| is_source[*source as usize] = true);
    let has_own = (0..nodes).all(|node| match (order(node), is_source[node], nearest[node]) {
        (None, ..) => parents[node] == u32::MAX,
        (_, true, _) => parents[node] as usize == node,
        (_, _, Some(least)) => parents[node] == least,
        _ => is_lightest[node],
    });
    has_own && leads_to_sources(parents, &is_source)
}

/// Tells whether every node with a parent comes to a source by parents.
fn leads_to_sources(parents: &[u32], is_source: &[bool]) -> bool {
    let mut known = is_source.to_vec();
    for start in 0..parents.len() {
        let mut way = Vec::new();
        let mut node = start;
        while !known[node] && parents[node] != u32::MAX {
            way.push(node);
            node = parents[node] as usize;
            if way.len() > parents.len() || node >= parents.len() {
                return false;
            }
        }
        if !way.is_empty() && !known[node] {
            return false;
        }
        way.into_iter().for_each(|node| known[node] = true);
    }
    true
}
