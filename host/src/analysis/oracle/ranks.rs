//! Power iteration in double precision, and how far floats may be from it.

use crate::graph::Graph;
use crate::run::Ranking;

/// Ranks after a number of iterations.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranked {
    /// Rank of every node.
    pub ranks: Vec<f64>,
    /// Sum of the changes of the last iteration.
    pub change: f64,
}

/// Ranks after `iterations` iterations from an even start. Nodes without
/// outgoing edges pass their rank on to all nodes alike.
/// O(iterations * (nodes + edges)).
#[must_use]
pub fn ranks(graph: &Graph, damping: f32, iterations: u32) -> Ranked {
    let nodes = graph.nodes() as usize;
    let damping = f64::from(damping);
    let mut ranked = Ranked {
        ranks: vec![1.0 / nodes as f64; nodes],
        change: 0.0,
    };
    for _ in 0..iterations {
        let mut sums = vec![0.0; nodes];
        let mut lost = 0.0;
        for (node, rank) in (0..).zip(&ranked.ranks) {
            let targets = graph.neighbours(node);
            if targets.is_empty() {
                lost += rank;
            }
            for target in targets {
                sums[*target as usize] += rank / targets.len() as f64;
            }
        }
        let base = (1.0 - damping + damping * lost) / nodes as f64;
        let next: Vec<f64> = sums.into_iter().map(|sum| base + damping * sum).collect();
        ranked.change = next
            .iter()
            .zip(&ranked.ranks)
            .map(|(new, old)| (new - old).abs())
            .sum();
        ranked.ranks = next;
    }
    ranked
}

/// Whether `ranks`, made by `iterations` iterations in single precision that
/// ended converged or not, are right.
///
/// An iteration makes at most eight roundings behind each other on the way to
/// a rank, and since nothing is subtracted, relative errors add up at most:
/// `8 * 2^-24` an iteration. Sums are in units of `2^-60`, of which each edge
/// and node loses less than one an iteration.
#[must_use]
pub fn agrees(graph: &Graph, ranking: Ranking, ranks: &[f32], end: (u32, bool)) -> bool {
    let (iterations, converged) = end;
    let exact = self::ranks(graph, ranking.damping, iterations);
    let rounds = f64::from(iterations) + 1.0;
    let relative = rounds * 8.0 * f64::from(f32::EPSILON) / 2.0;
    let lost = (f64::from(graph.edges()) + f64::from(graph.nodes())) / (1_u64 << 60) as f64;
    let near = |(rank, exact): (&f32, &f64)| {
        (f64::from(*rank) - exact).abs() <= relative * exact + rounds * lost
    };
    let settled = exact.change <= f64::from(ranking.tolerance) + 2.0 * relative + lost;
    ranks.len() == exact.ranks.len()
        && ranks.iter().zip(&exact.ranks).all(near)
        && (settled || !converged)
}
