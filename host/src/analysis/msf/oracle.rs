//! The minimum spanning forest by Kruskal's algorithm.

use super::NONE;
use crate::analysis::{Number, Question};
use crate::graph::{Graph, WeightKind};

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    LightestFirst,
    HeaviestFirst,
}

impl Order {
    pub(super) const fn of(question: &Question) -> Self {
        match question.maximum {
            true => Self::HeaviestFirst,
            false => Self::LightestFirst,
        }
    }
}

/// Whether `edges` holds each edge of the forest once, or some of them if it is not
/// `whole`.
pub(super) fn is_forest(graph: &Graph, order: Order, edges: &[u64], whole: bool) -> bool {
    let mut found: Vec<u64> = edges.iter().copied().filter(|edge| *edge != NONE).collect();
    let count = found.len();
    found.sort_unstable();
    found.dedup();
    let mut expected = forest(graph, order);
    expected.sort_unstable();
    let is_part = || {
        found
            .iter()
            .all(|edge| expected.binary_search(edge).is_ok())
    };
    edges.len() == graph.nodes() as usize
        && count == found.len()
        && if whole { found == expected } else { is_part() }
}

/// The edges of the forest, the smaller end in the high word: by their weights, then by
/// their ends. O(edges log edges).
fn forest(graph: &Graph, order: Order) -> Vec<u64> {
    let mut edges = Vec::new();
    for node in 0..graph.nodes() {
        for edge in graph.outgoing().row(node) {
            let to = graph.targets()[edge];
            if node < to {
                // Words of weights order like them.
                let weight = graph.weights().map_or(1, |weights| weights[edge]);
                edges.push((weight, u64::from(node) << 32 | u64::from(to)));
            }
        }
    }
    match order {
        Order::LightestFirst => edges.sort_unstable(),
        Order::HeaviestFirst => {
            edges.sort_unstable_by_key(|(weight, ends)| (std::cmp::Reverse(*weight), *ends));
        }
    }
    let mut parents: Vec<u32> = (0..graph.nodes()).collect();
    edges.retain(|(_, edge)| {
        let [one, other] = [(edge >> 32) as u32, *edge as u32].map(|node| root(&mut parents, node));
        parents[one as usize] = other;
        one != other
    });
    edges.into_iter().map(|(_, edge)| edge).collect()
}

/// The root of `node`, halving the path to it.
fn root(parents: &mut [u32], mut node: u32) -> u32 {
    while parents[node as usize] != node {
        let next = parents[parents[node as usize] as usize];
        parents[node as usize] = next;
        node = next;
    }
    node
}

pub(super) fn weight<'e>(graph: &Graph, edges: impl Iterator<Item = &'e u64>) -> Number {
    let of = |edge: &u64| {
        let (from, to) = ((edge >> 32) as u32, *edge as u32);
        if from >= graph.nodes() {
            return None;
        }
        let row = graph.outgoing().row(from);
        let at = graph.neighbours(from).binary_search(&to).ok()?;
        Some(graph.weights().map_or(1, |weights| weights[row.start + at]))
    };
    let words = edges.filter_map(of);
    let kind = graph.weight_kind().unwrap_or_default();
    match kind {
        WeightKind::Integer => Number::Whole(words.map(u64::from).sum()),
        WeightKind::Signed => Number::Signed(words.map(|word| kind.number(word) as i64).sum()),
        WeightKind::Float | WeightKind::SignedFloat => {
            Number::Double(words.map(|word| kind.number(word)).sum())
        }
    }
}
