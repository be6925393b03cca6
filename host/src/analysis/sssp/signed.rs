//! Shortest paths along weights of which some are negative.
//!
//! One thread runs a whole sequential algorithm, which stores distances and parents. If a negative
//! cycle is reached, there are no shortest paths, and the parents hold such a cycle. An undirected
//! edge of negative weight is a negative cycle of two nodes.

use crate::analysis::alone::{self, Sought};
use crate::analysis::{Built, Question, Reading};
use crate::backend::BackendError;
use crate::column::Column;
use crate::graph::{Graph, NodeName, WeightKind};
use crate::program::ProgramError;
use crate::run::RunError;
use seawall_core::abi::UNREACHED;
use seawall_core::abi::sequential::{Algorithm, Lengths, SequentialRecord};

/// Whether `graph` has negative weights.
pub(super) fn is_signed(graph: &Graph) -> bool {
    graph.weight_kind().is_some_and(WeightKind::is_signed)
}

pub(super) fn build(graph: &Graph, question: &Question) -> Result<Built, ProgramError> {
    let is_float = graph.weight_kind() == Some(WeightKind::SignedFloat);
    let record = SequentialRecord {
        lengths: match is_float {
            true => Lengths::Float,
            false => Lengths::Whole,
        },
        ..SequentialRecord::new(Algorithm::SignedPaths)
    };
    let sought = Sought {
        record,
        none: UNREACHED,
        reading: Reading::SignedPaths { is_float },
    };
    alone::build(graph, question, sought)
}

/// Refuses a result without an answer: negative cycles, and distances beyond floats.
pub(crate) fn check(
    graph: &Graph,
    (sources, column): (&[u32], &Column),
    parents: &[u32],
) -> Result<(), RunError> {
    let is_start = |node: &&u32| match column {
        Column::I64(lengths) => lengths[**node as usize] == 0,
        Column::F32(lengths) => lengths[**node as usize] == 0.0,
        _ => false,
    };
    let starts = sources.iter().filter(is_start).copied();
    if let Some(nodes) = circle(parents, starts) {
        return Err(negative_cycle(graph, &nodes));
    }
    let kind = graph.weight_kind().unwrap_or_default();
    let is_beyond = |node: &usize| {
        let float = column.floats().and_then(|floats| floats.get(*node));
        parents[*node] != UNREACHED && float.is_some_and(|float| !float.is_finite())
    };
    match (0..parents.len()).find(is_beyond) {
        None => Ok(()),
        Some(node) => Err(BackendError::PathTooLong {
            from: graph.original_id(parents[node]),
            to: graph.original_id(node as u32),
            kind,
        }
        .into()),
    }
}

fn negative_cycle(graph: &Graph, nodes: &[u32]) -> RunError {
    let kind = graph.weight_kind().unwrap_or_default();
    let weights = graph.weights().unwrap_or_default();
    let lightest = |from: u32, to: u32| {
        let edges = graph.outgoing().row(from);
        let edges = edges.filter(|edge| graph.targets()[*edge] == to);
        let numbers = edges.map(|edge| kind.number(weights[edge]));
        numbers.fold(f64::INFINITY, f64::min)
    };
    let next = nodes.iter().cycle().skip(1);
    let steps = nodes.iter().zip(next);
    RunError::NegativeCycle {
        weight: steps.map(|(from, to)| lightest(*from, *to)).sum(),
        nodes: nodes
            .iter()
            .map(|node| NodeName::from(graph.label_of(*node)))
            .collect(),
        is_undirected: graph.is_symmetric(),
    }
}

/// The nodes of a cycle of parents, in the direction of edges, the smallest first; `None` if the
/// parents of every node lead to one of `starts`. Linear in the nodes.
fn circle(parents: &[u32], starts: impl Iterator<Item = u32>) -> Option<Vec<u32>> {
    const NEW: u32 = u32::MAX;
    let mut marks = vec![NEW; parents.len()];
    let mut is_start = vec![false; parents.len()];
    for start in starts {
        is_start[start as usize] = true;
    }
    for start in 0..parents.len() as u32 {
        let mut node = start;
        while marks[node as usize] == NEW {
            marks[node as usize] = start;
            let parent = parents[node as usize];
            if parent == UNREACHED || (parent == node && is_start[node as usize]) {
                break;
            }
            if marks[parent as usize] == start {
                return Some(around(parents, parent));
            }
            node = parent;
        }
    }
    None
}

fn around(parents: &[u32], node: u32) -> Vec<u32> {
    let mut nodes = vec![node];
    let mut next = parents[node as usize];
    while next != node {
        nodes.push(next);
        next = parents[next as usize];
    }
    nodes.reverse();
    let smallest = (0..nodes.len()).min_by_key(|at| nodes[*at]);
    nodes.rotate_left(smallest.unwrap_or(0));
    nodes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn circles_are_named_along_their_edges_from_the_smallest_node() {
        let none = UNREACHED;
        assert_eq!(circle(&[0, 0, 1, none], [0].into_iter()), None);
        // Edges lead from 3 to 1, from 1 to 2 and from 2 to 3.
        assert_eq!(circle(&[0, 3, 1, 2], [0].into_iter()), Some(vec![1, 2, 3]));
        // A loop of a source that is no longer at distance 0.
        assert_eq!(circle(&[0, 1], [0].into_iter()), Some(vec![1]));
        assert_eq!(circle(&[0], [].into_iter()), Some(vec![0]));
    }
}
