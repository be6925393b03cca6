//! Graphs of the comparisons, and the sources of their searches.

use super::BenchError;
use seawall::graph::{Graph, LoadOptions, WeightChoice, load};

/// Sources of a median, before nodes without edges and numbers out of range are replaced.
const FIVE: [u32; 5] = [1000, 77_777, 1_234_567, 500_000, 2_000_001];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Spec {
    pub(super) full: &'static str,
    pub(super) quick: &'static str,
}

/// Skewed degrees.
pub(super) const RMAT: Spec = Spec::new("gen:rmat:22:16", "gen:rmat:11:8");
/// The same, each edge in one direction.
pub(super) const DIRECTED_RMAT: Spec =
    Spec::new("gen:rmat-directed:22:16", "gen:rmat-directed:11:8");
/// Skewed degrees, few enough that their wedges can be counted by one thread.
pub(super) const SMALL_RMAT: Spec = Spec::new("gen:rmat:18:16", "gen:rmat:9:8");
/// The same, smaller.
pub(super) const LESSER_RMAT: Spec = Spec::new("gen:rmat:16:16", "gen:rmat:8:8");
/// Even degrees.
pub(super) const UNIFORM: Spec = Spec::new("gen:uniform:22:16", "gen:uniform:11:8");
/// Deep and wide.
pub(super) const GRID: Spec = Spec::new("gen:grid:2048", "gen:grid:48");
/// Deep and narrow.
pub(super) const SMALL_GRID: Spec = Spec::new("gen:grid:512", "gen:grid:24");
/// Deeper and narrower.
pub(super) const CHAIN: Spec = Spec::new("gen:chain:262144", "gen:chain:2048");

impl Spec {
    const fn new(full: &'static str, quick: &'static str) -> Self {
        Self { full, quick }
    }

    pub(super) const fn text(self, quick: bool) -> &'static str {
        if quick { self.quick } else { self.full }
    }

    pub(super) fn load(self, quick: bool, weights: bool) -> Result<Graph, BenchError> {
        let options = LoadOptions {
            undirected: false,
            weights: if weights {
                WeightChoice::Given
            } else {
                WeightChoice::Ignored
            },
            ..LoadOptions::default()
        };
        Ok(load(self.text(quick), &options, None)?.graph)
    }

    /// Tells whether searches of it are also measured from node 0.
    pub(super) fn is_deep(self) -> bool {
        [GRID, SMALL_GRID, CHAIN].contains(&self)
    }
}

/// Returns the sources of a median in `graph`: every one has edges, unless no node has.
pub(super) fn five_sources(graph: &Graph) -> Vec<u32> {
    let nodes = graph.nodes().max(1);
    FIVE.iter()
        .map(|node| with_edges(graph, node % nodes))
        .collect()
}

/// Returns `count` sources spread evenly over `graph`, each with edges unless no node has.
pub(super) fn many_sources(graph: &Graph, count: u32) -> Vec<u32> {
    let step = (graph.nodes() / count.max(1)).max(1);
    let spread = (0..count).map(|number| number.wrapping_mul(step) % graph.nodes().max(1));
    spread.map(|node| with_edges(graph, node)).collect()
}

/// Returns the first node from `node` on that has edges, wrapping around.
fn with_edges(graph: &Graph, node: u32) -> u32 {
    let mut rest = (node..graph.nodes()).chain(0..node);
    rest.find(|node| !graph.neighbours(*node).is_empty())
        .unwrap_or(node)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_lie_in_the_graph_and_have_edges() {
        let graph = Graph::from_edges(10, &[(3, 4), (9, 1)], false).unwrap();
        assert_eq!(five_sources(&graph), [3, 9, 9, 3, 3]);
        let empty = Graph::from_edges(2, &[], false).unwrap();
        assert_eq!(five_sources(&empty), [0, 1, 1, 0, 1]);
    }
}
