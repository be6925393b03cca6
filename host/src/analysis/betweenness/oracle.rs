//! Brandes' algorithm in double precision, with a queue.

use crate::analysis::bfs;
use crate::analysis::closeness::oracle::distances;
use crate::graph::{Graph, WeightKind};
use seawall_core::abi::UNREACHED;
use seawall_core::abi::sequential::Shares;

/// A number of paths, `mantissa * 2^exponent`, since doubles end at 2^1024.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Paths {
    mantissa: f64,
    exponent: i32,
}

impl Paths {
    const NONE: Self = Self {
        mantissa: 0.0,
        exponent: 0,
    };
    const ONE: Self = Self {
        mantissa: 1.0,
        exponent: 0,
    };

    fn plus(self, other: Self) -> Self {
        if self.mantissa == 0.0 {
            return other;
        }
        let exponent = self.exponent.max(other.exponent);
        let part = |of: Self| of.mantissa * 2.0_f64.powi(of.exponent - exponent);
        let mut sum = Self {
            mantissa: part(self) + part(other),
            exponent,
        };
        while sum.mantissa >= 2.0_f64.powi(500) {
            sum.mantissa *= 0.5_f64.powi(500);
            sum.exponent += 500;
        }
        sum
    }

    fn over(self, other: Self) -> f64 {
        self.mantissa / other.mantissa * 2.0_f64.powi(self.exponent - other.exponent)
    }
}

/// Betweenness of every node for paths from `sources`; each path counts once for each source that
/// it begins at. O(sources * (nodes + edges)).
#[must_use]
pub fn scores(graph: &Graph, sources: &[u32]) -> Vec<f64> {
    let asked = OracleOptions {
        weighted: false,
        shares: Shares::Each,
        sources,
    };
    shared_scores(graph, sources, asked)
}

#[derive(Clone, Copy, Debug)]
pub(in crate::analysis) struct OracleOptions<'a> {
    pub(in crate::analysis) weighted: bool,
    pub(in crate::analysis) shares: Shares,
    pub(in crate::analysis) sources: &'a [u32],
}

/// Betweenness by paths from `counted`, the first of the sources.
pub(in crate::analysis) fn shared_scores(
    graph: &Graph,
    counted: &[u32],
    asked: OracleOptions<'_>,
) -> Vec<f64> {
    let nodes = graph.nodes() as usize;
    let mut is_source = vec![false; nodes];
    for source in asked.sources {
        is_source[*source as usize] = true;
    }
    let half = |node: usize| asked.shares == Shares::Halved && is_source[node];
    let ends: Vec<f64> = (0..nodes)
        .map(|node| if half(node) { 0.5 } else { 1.0 })
        .collect();
    let mut scores = vec![0.0; nodes];
    for source in counted {
        let found = shares(graph, *source, asked.weighted, &ends);
        for (score, share) in scores.iter_mut().zip(found) {
            *score += share;
        }
    }
    if asked.shares == Shares::Normalized && nodes > 2 {
        for (score, is_source) in scores.iter_mut().zip(is_source) {
            let starts = asked.sources.len() as f64 - if is_source { 1.0 } else { 0.0 };
            *score /= starts * (nodes as f64 - 2.0);
        }
    }
    scores
}

/// Shares of the paths from `source` that lead through each node, where a path counts as much as its
/// end says.
fn shares(graph: &Graph, source: u32, weighted: bool, ends: &[f64]) -> Vec<f64> {
    let nodes = graph.nodes() as usize;
    let distances = match weighted {
        true => distances(graph, source, false),
        false => levels(graph, source),
    };
    let length = |edge: usize| match (weighted, graph.weight_kind()) {
        (false, _) => 1.0,
        (true, Some(WeightKind::Float)) => f64::from(f32::from_bits(
            graph.weights().map_or(0, |weights| weights[edge]),
        )),
        (true, _) => f64::from(graph.weights().map_or(1, |weights| weights[edge])),
    };
    let mut order: Vec<usize> = (0..nodes)
        .filter(|node| distances[*node].is_finite())
        .collect();
    order.sort_by(|one, other| distances[*one].total_cmp(&distances[*other]));
    let on_path = |from: usize, edge: usize| {
        let to = graph.targets()[edge] as usize;
        // A loop is on no path, also where its weight is lost beside the distance.
        (from != to && distances[from] + length(edge) == distances[to]).then_some(to)
    };
    let mut paths = vec![Paths::NONE; nodes];
    paths[source as usize] = Paths::ONE;
    for node in order.iter().copied() {
        for edge in graph.outgoing().row(node as u32) {
            if let Some(to) = on_path(node, edge) {
                paths[to] = paths[to].plus(paths[node]);
            }
        }
    }
    let mut shares = vec![0.0; nodes];
    for node in order.iter().rev().copied() {
        let row = graph.outgoing().row(node as u32);
        let after = row.filter_map(|edge| on_path(node, edge));
        shares[node] = after
            .map(|to| paths[node].over(paths[to]) * (ends[to] + shares[to]))
            .sum();
    }
    shares[source as usize] = 0.0;
    shares
}

/// Levels of a search from a node; infinite for unreached nodes.
fn levels(graph: &Graph, source: u32) -> Vec<f64> {
    let levels = bfs::oracle::levels(graph, &[source], UNREACHED - 1);
    let level = |level| match level {
        UNREACHED => f64::INFINITY,
        level => f64::from(level),
    };
    levels.into_iter().map(level).collect()
}
