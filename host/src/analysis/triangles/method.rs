//! The method of counting a graph's triangles, by the degrees of its nodes.

use super::Counts;
use crate::graph::Graph;
use seawall_core::abi::hubs::{HUBS_LEAST, HUBS_MOST};

/// Fewest nodes for which methods other than rows pay.
const NODES_LEAST: u32 = 1 << 14;

/// Rows of bits pay if the last hub has edges to one in this many of them, since this many
/// contiguous bits take as long as a lookup of one entry. At all corners whole rows are read, not
/// only up to the hub itself.
const BITS_OF_A_LOOKUP: [u64; 2] = [64, 128];

/// Largest share of nodes that may be hubs: one in this many.
const HUBS_SHARE: u32 = 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Method {
    /// Rows of higher degrees, kept as hash tables in shared memory and looked up in each other.
    Rows,
    /// The same, but triangles with two corners among hubs, the nodes of `least` edges or more, by
    /// rows of bits with space for `space` hubs.
    Hubs {
        space: u32,
        /// Fewest edges of a hub.
        least: u32,
    },
}

impl Method {
    /// Chooses the method for `graph`. Rows of higher degrees save nothing if all degrees are about
    /// the same.
    pub(super) fn of(graph: &Graph, counts: Counts) -> Self {
        if graph.nodes() < NODES_LEAST {
            return Self::Rows;
        }
        let degrees = Degrees::of(graph);
        let edges = u64::from(graph.edges());
        let (mut space, bits) = match counts {
            Counts::Corners => (HUBS_MOST / 2, BITS_OF_A_LOOKUP[0]),
            Counts::Once => (HUBS_MOST, BITS_OF_A_LOOKUP[1]),
        };
        while space >= HUBS_LEAST {
            let (least, hubs, sum) = degrees.highest(space);
            let likely = u64::from(least) * sum / edges.max(1);
            let is_dense = likely * bits >= u64::from(hubs);
            if hubs > 0 && space <= graph.nodes() / HUBS_SHARE && is_dense {
                return Self::Hubs { space, least };
            }
            space /= 2;
        }
        Self::Rows
    }
}

/// Numbers of nodes by degree.
struct Degrees {
    counts: Vec<u32>,
}

impl Degrees {
    fn of(graph: &Graph) -> Self {
        let mut counts = vec![0; 1];
        for node in 0..graph.nodes() {
            let degree = graph.neighbours(node).len();
            if degree >= counts.len() {
                counts.resize(degree + 1, 0);
            }
            counts[degree] += 1;
        }
        Self { counts }
    }

    /// The least degree that at most `space` nodes reach, the number of these nodes, and the sum of
    /// their degrees.
    fn highest(&self, space: u32) -> (u32, u32, u64) {
        let (mut nodes, mut sum, mut least) = (0, 0, self.counts.len() as u32);
        for (degree, count) in self.counts.iter().enumerate().rev() {
            if nodes + count > space {
                break;
            }
            nodes += count;
            sum += u64::from(*count) * degree as u64;
            least = degree as u32;
        }
        (least, nodes, sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{LoadOptions, load};

    fn method(name: &str, counts: Counts) -> Method {
        let options = LoadOptions {
            undirected: true,
            ..LoadOptions::default()
        };
        let loaded = load(name, &options, None).unwrap();
        Method::of(&loaded.graph, counts)
    }

    #[test]
    fn skewed_graphs_have_hubs() {
        for counts in [Counts::Corners, Counts::Once] {
            assert!(matches!(
                method("gen:rmat:15:16", counts),
                Method::Hubs { .. }
            ));
            assert_eq!(method("gen:uniform:15:8", counts), Method::Rows);
            assert_eq!(method("gen:grid:200", counts), Method::Rows);
            assert_eq!(method("gen:rmat:13:8", counts), Method::Rows);
        }
    }
}
