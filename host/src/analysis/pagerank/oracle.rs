//! Power iteration in double precision, and the tolerance of floats.

use crate::analysis::{End, Ranking};
use crate::graph::Graph;
use seawall_core::abi::rank::unit_exponent;

/// Ranks after a number of iterations.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranked {
    /// Rank of every node.
    pub ranks: Vec<f64>,
    /// Sum of the changes of the last iteration.
    pub change: f64,
    /// Largest loss of each rank, because contributions are rounded down to units of their sums,
    /// and those of nodes without edges to units of the totals.
    pub lost: Vec<f64>,
}

/// Ranks after `iterations` iterations from an even start. Nodes without
/// outgoing edges pass their rank on to all nodes alike.
/// O(iterations * (nodes + edges)).
#[must_use]
pub fn ranks(graph: &Graph, damping: f32, iterations: u32) -> Ranked {
    let nodes = graph.nodes() as usize;
    ranks_from(
        graph,
        (&vec![1.0 / nodes as f64; nodes], damping),
        iterations,
    )
}

/// [`ranks`] of a walker who starts at each node with the chance in `starts`, anew too.
pub(crate) fn ranks_from(
    graph: &Graph,
    (starts, damping): (&[f64], f32),
    iterations: u32,
) -> Ranked {
    let nodes = starts.len();
    let damping = f64::from(damping);
    let mut ranked = Ranked {
        ranks: starts.to_vec(),
        change: 0.0,
        lost: vec![0.0; nodes],
    };
    let unit = 0.5_f64.powi(unit_exponent(graph.edges()) as i32);
    let total_unit = 0.5_f64.powi(60);
    for _ in 0..iterations {
        let mut sums = vec![0.0; nodes];
        let mut losses = vec![0.0; nodes];
        let (mut jumping, mut jumping_lost) = (0.0, 0.0);
        for (node, (rank, lost)) in (0..).zip(ranked.ranks.iter().zip(&ranked.lost)) {
            let targets = graph.neighbours(node);
            if targets.is_empty() {
                jumping += rank;
                jumping_lost += lost + total_unit;
            }
            for target in targets {
                let at = *target as usize;
                sums[at] += rank / targets.len() as f64;
                losses[at] += lost / targets.len() as f64 + unit;
            }
        }
        let anew = 1.0 - damping + damping * jumping;
        let each = starts.iter().zip(sums);
        let next: Vec<f64> = each
            .map(|(start, sum)| anew * start + damping * sum)
            .collect();
        let each = starts.iter().zip(losses);
        ranked.lost = each
            .map(|(start, lost)| damping * (jumping_lost * start + lost))
            .collect();
        ranked.change = next
            .iter()
            .zip(&ranked.ranks)
            .map(|(new, old)| (new - old).abs())
            .sum();
        ranked.ranks = next;
    }
    ranked
}

/// Relative tolerance of a rank after `iterations` iterations, apart from the loss to units.
#[must_use]
pub fn rank_tolerance(iterations: u32) -> f64 {
    let rounds = f64::from(iterations) + 1.0;
    rounds * 8.0 * f64::from(f32::EPSILON) / 2.0
}

/// Tells whether `ranks`, after `iterations` iterations in single precision, converged or not, are
/// correct.
///
/// An iteration makes at most eight successive roundings on the way to a rank. Since nothing is
/// subtracted, relative errors add up at most: `8 * 2^-24` per iteration. The loss to units is
/// tracked from node to node.
#[must_use]
pub fn agrees(graph: &Graph, ranking: Ranking, ranks: &[f32], end: (u32, bool)) -> bool {
    let (iterations, converged) = end;
    let exact = self::ranks(graph, ranking.damping, iterations);
    let end = End {
        iterations,
        converged,
    };
    is_near(&exact, ranking, ranks, end)
}

/// [`agrees`], with the exact ranks after as many iterations.
pub(crate) fn is_near(exact: &Ranked, ranking: Ranking, ranks: &[f32], end: End) -> bool {
    let relative = rank_tolerance(end.iterations);
    let near = |(rank, (exact, lost)): (&f32, (&f64, &f64))| {
        (f64::from(*rank) - exact).abs() <= relative * exact + 2.0 * lost
    };
    let lost: f64 = exact.lost.iter().sum();
    let settled = exact.change <= f64::from(ranking.tolerance) + 2.0 * (relative + lost);
    let expected = exact.ranks.iter().zip(&exact.lost);
    ranks.len() == exact.ranks.len()
        && ranks.iter().zip(expected).all(near)
        && (settled || !end.converged)
}
