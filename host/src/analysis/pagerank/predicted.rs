//! Prediction of a ranking's iterations from a sample of its first two.
//!
//! Ranks start equal, so the first iteration changes a node's rank by the excess of its neighbours'
//! contributions over an equal share, and the second by the contributions of its neighbours'
//! changes. The two changes, summed over sampled nodes and the neighbours of their neighbours, show
//! how fast changes shrink at first. They shrink more slowly later, as the slowest components
//! remain: on the graphs that were measured (Kronecker and random graphs, grids, chains, a road
//! network, a network of mails) the ratio of a change to the one before rises to 1.3 to 1.9 times
//! the first ratio, or to the damping.

use super::Ranking;
use crate::graph::{Csr, Graph};

/// The last ratio of two changes, as a multiple of the first one.
const LATER: f64 = 1.55;

/// Least ratio of two changes: below it a sample is too small to be reliable.
const RATIO_LEAST: f64 = 0.05;

/// Edges that are visited for each one that a search would be sampled for, within limits: with
/// fewer than some hundred nodes and their predecessors, chance inflates the second change.
const EDGES_EACH: u64 = 50;
const EDGES_LEAST: u64 = 8192;
const EDGES_MOST: u64 = 32_768;

const NODES: usize = 256;

/// Neighbours of a sampled node that are visited, and of each of these.
const LOOKED_AT: [usize; 2] = [128, 64];

/// The iterations of a ranking of `graph`, by a sample in proportion to `edges`, the sample size of
/// a search. `None` if there is nothing to sample, or no memory for the incoming rows, which a run
/// needs as well.
pub(super) fn iterations(graph: &Graph, ranking: Ranking, edges: u64) -> Option<f64> {
    let incoming = graph.try_incoming().ok()?;
    let edges = edges.saturating_mul(EDGES_EACH);
    let edges = edges.clamp(EDGES_LEAST, EDGES_MOST);
    let sample = Sample::of(graph.outgoing(), incoming, edges)?;
    let damping = f64::from(ranking.damping).clamp(0.0, 1.0);
    let tolerance = f64::from(ranking.tolerance).max(1e-7);
    let [first, second] = sample.changes(damping);
    // A sample that finds almost nothing may have missed a few nodes at a border.
    let missed = damping * 0.5 / sample.nodes.len() as f64;
    let (mut change, ratio) = if first > missed {
        (
            first,
            (second / first).clamp(RATIO_LEAST, damping.max(RATIO_LEAST)),
        )
    } else {
        (missed, damping / 2.0)
    };
    let mut iterations = 1.0;
    let later = (LATER * ratio).min(damping);
    // With a damping of 1 a ranking may not end.
    while change > tolerance && iterations < 1000.0 {
        change *= later + (ratio - later) / iterations;
        iterations += 1.0;
    }
    Some(iterations)
}

/// The gains of a sampled node, as multiples of an equal rank.
#[derive(Clone, Copy)]
struct Node {
    /// Sum of the neighbours' shares in the first iteration, minus an equal share.
    gain: f64,
    /// Sum of the shares of the neighbours' gains, in the second.
    passed: f64,
    /// Sum of the shares along one edge of each neighbour.
    spread: f64,
    /// Whether it has no outgoing edges.
    dangling: bool,
}

struct Sample {
    nodes: Vec<Node>,
}

impl Sample {
    fn of(outgoing: &Csr, incoming: &Csr, edges: u64) -> Option<Self> {
        let count = outgoing.nodes();
        let rows = Rows { outgoing, incoming };
        let mut nodes = Vec::new();
        let mut looked_at = 0;
        while count > 0 && looked_at < edges && nodes.len() < NODES {
            // Multiples of the golden ratio, which fill the range evenly.
            let at = (nodes.len() as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            let node = ((u128::from(at) * u128::from(count)) >> 64) as u32;
            let (found, edges) = rows.node(node);
            nodes.push(found);
            looked_at += edges + 1;
        }
        (!nodes.is_empty()).then_some(Self { nodes })
    }

    /// The sums of all changes of ranks in the first two iterations.
    fn changes(&self, damping: f64) -> [f64; 2] {
        let count = self.nodes.len() as f64;
        let dangling = || self.nodes.iter().filter(|node| node.dangling);
        // Nodes without edges contribute to all nodes equally.
        let lost = dangling().count() as f64 / count;
        let moved = dangling().map(|node| node.gain + lost).sum::<f64>() / count;
        // Losses and gains cancel out. Losses are bounded, so a sample finds them.
        let losses = |change: &dyn Fn(&Node) -> f64| {
            let losses = self.nodes.iter().map(|node| (-change(node)).max(0.0));
            2.0 * losses.sum::<f64>() / count
        };
        [
            damping * losses(&|node| node.gain + lost),
            damping * damping * losses(&|node| node.passed + lost * node.spread + moved),
        ]
    }
}

struct Rows<'g> {
    outgoing: &'g Csr,
    incoming: &'g Csr,
}

impl Rows<'_> {
    /// Gains of a node, and the number of edges visited.
    fn node(&self, node: u32) -> (Node, u64) {
        let (neighbours, each) = some(self.incoming.neighbours(node), LOOKED_AT[0]);
        let mut edges = 0;
        let (mut passed, mut spread) = (0.0, 0.0);
        for neighbour in neighbours {
            let share = each * self.share(*neighbour);
            let (gain, looked_at) = self.gain(*neighbour);
            passed += share * gain;
            spread += share;
            edges += looked_at;
        }
        let found = Node {
            gain: spread - 1.0,
            passed,
            spread,
            dangling: self.outgoing.degree(node) == 0,
        };
        (found, edges)
    }

    fn gain(&self, node: u32) -> (f64, u64) {
        let (neighbours, each) = some(self.incoming.neighbours(node), LOOKED_AT[1]);
        let (mut sum, mut edges) = (0.0, 0);
        for neighbour in neighbours {
            sum += each * self.share(*neighbour);
            edges += 1;
        }
        (sum - 1.0, edges)
    }

    /// The share of a node's rank that goes along each of its edges.
    fn share(&self, node: u32) -> f64 {
        1.0 / f64::from(self.outgoing.degree(node).max(1))
    }
}

/// At most `most` evenly spaced entries of `row`, and the number of entries that each represents.
fn some(row: &[u32], most: usize) -> (impl Iterator<Item = &u32>, f64) {
    let step = row.len().div_ceil(most).max(1);
    let looked_at = row.len().div_ceil(step).max(1);
    let each = row.len() as f64 / looked_at as f64;
    (row.iter().step_by(step), each)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::oracle::ranks;
    use crate::graph::{LoadOptions, load};

    #[test]
    fn iterations_are_predicted_within_a_factor_of_two() {
        for spec in [
            "gen:grid:256",
            "gen:grid:400",
            "gen:chain:20000",
            "gen:rmat:12:16",
            "gen:rmat:15:8",
            "gen:uniform:14:16",
            "gen:uniform:15:4",
            "gen:uniform:14:1",
        ] {
            let graph = load(spec, &LoadOptions::default(), None).unwrap().graph;
            let ranking = Ranking::default();
            let has_settled = |iterations: u32| {
                ranks(&graph, ranking.damping, iterations).change <= f64::from(ranking.tolerance)
            };
            let predicted = iterations(&graph, ranking, u64::from(graph.edges()) / 400).unwrap();
            // Changes shrink from iteration to iteration, so these two tell of all others.
            let too_early = ((predicted / 2.0).ceil() as u32).saturating_sub(1);
            assert!(
                too_early == 0 || !has_settled(too_early),
                "{spec}: {predicted}"
            );
            assert!(has_settled((predicted * 2.0) as u32), "{spec}: {predicted}");
        }
    }

    #[test]
    fn nothing_and_nodes_without_edges_have_a_prediction() {
        let none = Graph::from_edges(0, &[], false).unwrap();
        assert_eq!(iterations(&none, Ranking::default(), 9), None);
        let bare = Graph::from_edges(9, &[], false).unwrap();
        assert!(iterations(&bare, Ranking::default(), 9).unwrap() < 10.0);
        let endless = Ranking {
            damping: 1.0,
            tolerance: 0.0,
        };
        let pair = Graph::from_edges(3, &[(0, 1), (1, 2)], false).unwrap();
        assert!(iterations(&pair, endless, 9).unwrap() <= 1000.0);
    }
}
