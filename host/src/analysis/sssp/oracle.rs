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
        let bits = dijkstra(graph, sources, f32::INFINITY.to_bits(), sum);
        return Column::F32(bits.into_iter().map(f32::from_bits).collect());
    }
    // Fewer than 2^32 edges of less than 2^32 each: no sum reaches 2^64.
    let sum = |length, weight| length + u64::from(weight);
    let lengths = dijkstra(graph, sources, u64::MAX, sum);
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
    let bits = dijkstra(graph, sources, f64::INFINITY.to_bits(), sum);
    bits.into_iter().map(f64::from_bits).collect()
}

/// Distances as words that order like them, with the default for 0 and `never` for no path; `sum`
/// extends a path by an edge.
fn dijkstra<T: Copy + Default + Ord>(
    graph: &Graph,
    sources: &[u32],
    never: T,
    sum: impl Fn(T, u32) -> T,
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

/// Distances along weights of which some are negative, by the Bellman-Ford method: whole numbers, or
/// doubles. O(nodes * edges).
#[derive(Clone, Debug, PartialEq)]
pub enum SignedDistances {
    /// Whole numbers; `None` where there is no path.
    Whole(Vec<Option<i64>>),
    /// Doubles; `None` where there is no path.
    Float(Vec<Option<f64>>),
}

/// The distances from `sources`; `None` if there is a negative cycle.
#[must_use]
pub fn signed_distances(graph: &Graph, sources: &[u32]) -> Option<SignedDistances> {
    let kind = graph.weight_kind().unwrap_or_default();
    if kind.is_float() {
        let found = bellman_ford(graph, sources, |length: f64, word| {
            length + kind.number(word)
        });
        return found.map(SignedDistances::Float);
    }
    let sum = |length: i64, word| length + kind.number(word) as i64;
    bellman_ford(graph, sources, sum).map(SignedDistances::Whole)
}

fn bellman_ford<T: Copy + Default + PartialOrd>(
    graph: &Graph,
    sources: &[u32],
    sum: impl Fn(T, u32) -> T,
) -> Option<Vec<Option<T>>> {
    let mut distances = vec![None; graph.nodes() as usize];
    for source in sources {
        distances[*source as usize] = Some(T::default());
    }
    // A path has fewer edges than nodes; the last round finds nothing.
    for _ in 0..=graph.nodes() {
        let mut has_changed = false;
        for from in 0..graph.nodes() {
            let Some(length) = distances[from as usize] else {
                continue;
            };
            for edge in graph.outgoing().row(from) {
                let word = graph.weights().map_or(1, |weights| weights[edge]);
                let to = graph.targets()[edge] as usize;
                let longer = sum(length, word);
                if distances[to].is_none_or(|known| longer < known) {
                    distances[to] = Some(longer);
                    has_changed = true;
                }
            }
        }
        if !has_changed {
            return Some(distances);
        }
    }
    None
}

impl SignedDistances {
    /// The column of an answer.
    #[must_use]
    pub fn column(&self) -> Column {
        match self {
            Self::Whole(all) => {
                Column::I64(all.iter().map(|found| found.unwrap_or(i64::MAX)).collect())
            }
            Self::Float(all) => {
                let float = |found: &Option<f64>| found.map_or(f32::INFINITY, |sum| sum as f32);
                Column::F32(all.iter().map(float).collect())
            }
        }
    }

    /// Returns whether `parents` are a tree of lightest paths: each parent is the node itself, a
    /// source of distance 0, or leads over a tight edge.
    pub(crate) fn has_tree(&self, graph: &Graph, sources: &[u32], parents: &[u32]) -> bool {
        let kind = graph.weight_kind().unwrap_or_default();
        let is_tight = |from: u32, to: u32, word: u32| match self {
            Self::Whole(all) => {
                let longer = all[from as usize].map(|length| length + kind.number(word) as i64);
                longer == all[to as usize]
            }
            Self::Float(all) => {
                let longer = all[from as usize].map(|length| length + kind.number(word));
                longer == all[to as usize]
            }
        };
        let is_reached = |node: u32| match self {
            Self::Whole(all) => all[node as usize].is_some(),
            Self::Float(all) => all[node as usize].is_some(),
        };
        let is_start = |node: u32| {
            let is_near = match self {
                Self::Whole(all) => all[node as usize] == Some(0),
                Self::Float(all) => all[node as usize] == Some(0.0),
            };
            is_near && sources.contains(&node)
        };
        let has_own = |node: u32| match parents[node as usize] {
            u32::MAX => !is_reached(node),
            parent if parent == node => is_start(node),
            parent => {
                is_reached(node)
                    && graph.outgoing().row(parent).any(|edge| {
                        let word = graph.weights().map_or(1, |weights| weights[edge]);
                        graph.targets()[edge] == node && is_tight(parent, node, word)
                    })
            }
        };
        let mut starts = vec![false; parents.len()];
        for node in 0..graph.nodes() {
            starts[node as usize] = parents[node as usize] == node;
        }
        parents.len() == graph.nodes() as usize
            && (0..graph.nodes()).all(has_own)
            && leads_to_sources(parents, &starts)
    }
}

/// Tells whether `parents` are a tree of lightest paths of these lengths: each leads to a source,
/// over edges that take no detour, and is the smallest of the nodes nearer to the source that such
/// an edge leaves, if there are any. O(nodes + edges).
pub(crate) fn is_tree(graph: &Graph, sources: &[u32], lengths: &Column, parents: &[u32]) -> bool {
    let nodes = graph.nodes() as usize;
    let order = |node: usize| match lengths {
        Column::U32(words) => (words[node] != u32::MAX).then(|| u64::from(words[node])),
        Column::U64(words) => (words[node] != u64::MAX).then(|| words[node]),
        // Floats that are not negative order like their bits.
        Column::F32(floats) => floats[node]
            .is_finite()
            .then(|| u64::from(floats[node].to_bits())),
        Column::I64(_) | Column::Sets(_) => None,
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
    // For each node: whether its parent has a tight edge to it, and the smallest nearer node that
    // has one.
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

/// Returns whether the parents of every node lead to a source.
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
