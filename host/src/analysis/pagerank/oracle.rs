//! Power iteration in double precision, and the tolerance of floats.

use crate::analysis::{End, Question, Ranking};
use crate::graph::{Graph, WeightKind};
use seawall_core::abi::rank::unit_exponent;

/// Ranks after a number of iterations.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranked {
    /// Rank of every node.
    pub ranks: Vec<f64>,
    /// Sum of the changes of the last iteration.
    pub change: f64,
    /// Largest loss of each rank by rounding contributions down to units of their sums, and the
    /// ranks of nodes without edges to units of the totals.
    pub lost: Vec<f64>,
}

/// Ranks after `iterations` iterations from equal ranks. Nodes without outgoing edges pass their
/// rank on to all nodes alike. O(iterations * (nodes + edges)).
#[must_use]
pub fn ranks(graph: &Graph, damping: f32, iterations: u32) -> Ranked {
    let starts = even(graph);
    let walk = Walk {
        starts: &starts,
        damping,
        weighted: false,
    };
    ranks_from(graph, walk, iterations)
}

/// The same chance for each node.
pub(crate) fn even(graph: &Graph) -> Vec<f64> {
    let nodes = graph.nodes() as usize;
    vec![1.0 / nodes as f64; nodes]
}

#[derive(Clone, Copy)]
pub(crate) struct Walk<'a> {
    /// The chance to start, or restart, at each node.
    pub(crate) starts: &'a [f64],
    pub(crate) damping: f32,
    /// Whether the weights of the graph count.
    pub(crate) weighted: bool,
}

impl<'a> Walk<'a> {
    pub(crate) const fn of(starts: &'a [f64], question: &Question) -> Self {
        Self {
            starts,
            damping: question.ranking.damping,
            weighted: question.weighted,
        }
    }
}

/// The share of a walk along each edge of `node`, with the node at its other end; empty if all
/// shares are 0.
fn shares(graph: &Graph, node: u32, weighted: bool) -> Vec<(usize, f64)> {
    let weights = graph.weights().filter(|_| weighted);
    let weight = |edge: usize| match (weights, graph.weight_kind()) {
        (None, _) => 1.0,
        (Some(words), Some(WeightKind::Float)) => f64::from(f32::from_bits(words[edge])),
        (Some(words), _) => f64::from(words[edge]),
    };
    let row = graph.outgoing().row(node);
    let sum: f64 = row.clone().map(weight).sum();
    let edges = row.filter(|_| sum > 0.0);
    edges
        .map(|edge| (graph.targets()[edge] as usize, weight(edge) / sum))
        .collect()
}

pub(crate) fn ranks_from(graph: &Graph, walk: Walk<'_>, iterations: u32) -> Ranked {
    let Walk {
        starts, weighted, ..
    } = walk;
    let nodes = starts.len();
    let damping = f64::from(walk.damping);
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
            let shares = shares(graph, node, weighted);
            if shares.is_empty() {
                jumping += rank;
                jumping_lost += lost + total_unit;
            }
            for (at, share) in shares {
                sums[at] += rank * share;
                losses[at] += lost * share + unit;
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

/// Returns whether `ranks`, after `iterations` iterations in single precision, converged or not,
/// are correct.
///
/// An iteration makes at most eight successive roundings per rank. Since nothing is subtracted,
/// relative errors add up at most: `8 * 2^-24` per iteration. The loss to units is tracked from
/// node to node.
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
