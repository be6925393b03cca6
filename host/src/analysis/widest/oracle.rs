//! Widest paths by Dijkstra's algorithm with the largest width first.

use super::UNBOUNDED;
use crate::analysis::Number;
use crate::column::Column;
use crate::graph::{Graph, WeightKind};
use seawall_core::abi::UNREACHED;
use std::collections::BinaryHeap;

/// Width of the widest path from `sources` to every node. Floats of at least 0 order like
/// their bits. O((nodes + edges) log nodes).
pub(super) fn widths(graph: &Graph, sources: &[u32]) -> Column {
    if graph.weight_kind() == Some(WeightKind::Float) {
        let bits = widest(graph, sources, f32::MAX.to_bits());
        let float = |width: Option<u32>| width.map_or(f32::INFINITY, f32::from_bits);
        return Column::F32(bits.into_iter().map(float).collect());
    }
    let words = widest(graph, sources, UNBOUNDED);
    let word = |width: Option<u32>| width.unwrap_or(UNREACHED);
    Column::U32(words.into_iter().map(word).collect())
}

fn widest(graph: &Graph, sources: &[u32], start: u32) -> Vec<Option<u32>> {
    let mut widths = vec![None; graph.nodes() as usize];
    let mut heap = BinaryHeap::new();
    for source in sources {
        if let Some(width) = widths.get_mut(*source as usize) {
            *width = Some(start);
            heap.push((start, *source));
        }
    }
    while let Some((width, node)) = heap.pop() {
        if Some(width) != widths[node as usize] {
            continue;
        }
        for edge in graph.outgoing().row(node) {
            let weight = graph.weights().map_or(1, |weights| weights[edge]);
            let through = width.min(weight);
            let to = graph.targets()[edge];
            if Some(through) > widths[to as usize] {
                widths[to as usize] = Some(through);
                heap.push((through, to));
            }
        }
    }
    widths
}

/// Whether no width is larger than in `expected`.
pub(super) fn are_not_above(found: &Column, expected: &Column) -> bool {
    match (found, expected) {
        (Column::U32(found), Column::U32(expected)) => {
            let one_more = |word: &u32| word.wrapping_add(1);
            found.len() == expected.len()
                && found
                    .iter()
                    .zip(expected)
                    .all(|(a, b)| one_more(a) <= one_more(b))
        }
        (Column::F32(found), Column::F32(expected)) => {
            let width = |float: &f32| if float.is_finite() { *float } else { -1.0 };
            found.len() == expected.len()
                && found
                    .iter()
                    .zip(expected)
                    .all(|(a, b)| width(a) <= width(b))
        }
        _ => false,
    }
}

pub(super) fn least(column: &Column) -> Option<Number> {
    match column {
        Column::U32(words) => {
            let reached = words.iter().filter(|word| **word < UNBOUNDED);
            reached.min().map(|least| Number::Whole(u64::from(*least)))
        }
        Column::F32(floats) => {
            let reached = floats.iter().filter(|float| **float < f32::MAX);
            reached.copied().reduce(f32::min).map(Number::Real)
        }
        _ => None,
    }
}
