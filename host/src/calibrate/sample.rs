//! Estimated depth and widths of a search, from a bounded part of it.
//!
//! A plain queue runs until it has visited a fixed number of edges. If the search ends within them
//! its levels are known; otherwise the growth of the reached nodes predicts the rest. A search of
//! a graph that changes its structure further out is misjudged, which only costs time.

use crate::cost::Tally;
use crate::graph::Graph;

/// Edges in a sample of one graph.
pub const SAMPLE_EDGES: u64 = 200_000;

/// Growth above which a search counts as exploding: a few wide levels.
const EXPLOSION: f64 = 4.0;

/// Levels of an exploding search beyond the sampled ones.
const REST_LEVELS: f64 = 3.0;

/// Levels and widths of the search of `graph` from `sources`.
///
/// Visits `edges` edges, plus those of one node, and takes one bit per node.
#[must_use]
pub fn sample(graph: &Graph, sources: &[u32], edges: u64) -> Tally {
    let mut walk = Walk::new(graph, sources);
    while !walk.frontier.is_empty() {
        if !walk.level(edges) {
            return extrapolate(&walk.reached, f64::from(graph.nodes()));
        }
    }
    let mut tally = Tally::default();
    for width in widths(&walk.reached) {
        tally.count(width);
    }
    tally
}

/// A search in progress.
struct Walk<'g> {
    graph: &'g Graph,
    seen: Vec<u64>,
    frontier: Vec<u32>,
    next: Vec<u32>,
    edges: u64,
    /// Nodes reached up to and with each level.
    reached: Vec<f64>,
}

impl<'g> Walk<'g> {
    fn new(graph: &'g Graph, sources: &[u32]) -> Self {
        let mut walk = Self {
            graph,
            seen: vec![0; graph.nodes().div_ceil(64) as usize],
            frontier: Vec::new(),
            next: Vec::new(),
            edges: 0,
            reached: Vec::new(),
        };
        for source in sources {
            walk.visit(*source);
        }
        walk.finish_level();
        walk
    }

    fn visit(&mut self, node: u32) {
        let bit = 1 << (node % 64);
        if let Some(word) = self.seen.get_mut(node as usize / 64)
            && *word & bit == 0
        {
            *word |= bit;
            self.next.push(node);
        }
    }

    fn finish_level(&mut self) {
        self.frontier.clear();
        std::mem::swap(&mut self.frontier, &mut self.next);
        if !self.frontier.is_empty() {
            let before = self.reached.last().copied().unwrap_or(0.0);
            self.reached.push(before + self.frontier.len() as f64);
        }
    }

    /// Expands one level; returns false if it has visited more than `most` edges in total.
    fn level(&mut self, most: u64) -> bool {
        let frontier = std::mem::take(&mut self.frontier);
        for node in &frontier {
            for target in self.graph.neighbours(*node) {
                self.edges += 1;
                self.visit(*target);
            }
            if self.edges > most {
                return false;
            }
        }
        self.frontier = frontier;
        self.finish_level();
        true
    }
}

fn widths(reached: &[f64]) -> impl Iterator<Item = f64> {
    let before = std::iter::once(0.0).chain(reached.iter().copied());
    reached
        .iter()
        .zip(before)
        .map(|(after, before)| after - before)
}

/// The whole search, from the nodes `reached` after each complete level.
fn extrapolate(reached: &[f64], nodes: f64) -> Tally {
    let levels = reached.len() as f64;
    let last = reached.last().copied().unwrap_or(1.0).max(1.0);
    let growth = growth(reached);
    if growth < EXPLOSION {
        let depth = levels * (nodes / last).powf(1.0 / growth);
        return Tally::of_growth(nodes, depth, growth);
    }
    let mut tally = Tally::default();
    for width in widths(reached) {
        tally.count(width);
    }
    tally.add((nodes - last).max(0.0) / REST_LEVELS, REST_LEVELS);
    tally
}

/// The power with which `reached` grows, from its second half; too few levels count as an
/// explosion.
fn growth(reached: &[f64]) -> f64 {
    let [.., last] = reached else {
        return f64::INFINITY;
    };
    if reached.len() < 8 {
        return f64::INFINITY;
    }
    let half = reached.len() / 2;
    let halfway = reached.get(half - 1).copied().unwrap_or(*last);
    let levels = reached.len() as f64 / half as f64;
    ((last / halfway).ln() / levels.ln()).max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{LoadOptions, load};

    fn sampled(spec: &str, source: u32) -> Tally {
        let graph = load(spec, &LoadOptions::default(), None).unwrap().graph;
        sample(&graph, &[source], SAMPLE_EDGES)
    }

    /// Depth by the plain queue.
    fn depth(spec: &str) -> f64 {
        let graph = load(spec, &LoadOptions::default(), None).unwrap().graph;
        let levels = crate::analysis::oracle::levels(&graph, &[0], u32::MAX - 1);
        let reached = levels.iter().filter(|level| **level != u32::MAX);
        f64::from(reached.max().unwrap() + 1)
    }

    #[test]
    fn a_search_that_ends_within_the_sample_is_known_exactly() {
        assert_eq!(sampled("gen:grid:32", 0).depth(), depth("gen:grid:32"));
        assert_eq!(sampled("gen:chain:1", 0).depth(), 1.0);
    }

    #[test]
    fn deep_searches_are_predicted_within_half_of_their_depth() {
        for spec in ["gen:grid:400", "gen:chain:300000"] {
            let (predicted, real) = (sampled(spec, 0).depth(), depth(spec));
            assert!(
                predicted > 0.5 * real && predicted < 1.5 * real,
                "{spec}: {predicted}, {real}"
            );
        }
    }

    #[test]
    fn a_random_graph_explodes_in_a_few_wide_levels() {
        let tally = sampled("gen:uniform:16:16", 1);
        assert!(tally.depth() < 12.0, "{tally:?}");
        assert!(tally.nodes[3] > 55_000.0, "{tally:?}");
    }

    #[test]
    fn no_source_and_no_node_are_no_levels() {
        let graph = Graph::from_edges(0, &[], false).unwrap();
        assert_eq!(sample(&graph, &[], SAMPLE_EDGES), Tally::default());
        assert_eq!(sample(&graph, &[7], SAMPLE_EDGES), Tally::default());
    }
}
