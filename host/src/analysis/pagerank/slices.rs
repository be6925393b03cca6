//! Which graphs are ranked along edges in slices.
//!
//! On graphs of many nodes, the contribution along nearly every edge comes from memory: a read of
//! 64 bytes for four. In slices it comes from the second-level cache, for a copy of the edges and a
//! word for each node and slice, which is read once an iteration.

use crate::graph::Graph;
use crate::program::SliceShape;
use crate::tiles::Tiles;

/// Fewest nodes whose contributions, four bytes each, exceed the second-level cache of a large GPU
/// (50 MB on an H100 or H200) by so much that slices pay.
const NODES_LEAST: u32 = 1 << 24;

/// Sizes of slices: contributions of 2^22 nodes take 16 MB of the cache, beside what passes through
/// it.
const SHAPE: SliceShape = SliceShape {
    width_log2: 22,
    part_log2: 13,
};

/// Fewest edges of a row in a slice, on average over all nodes. Of shorter rows, what the starts
/// take would be no longer small beside the edges.
const EDGES_LEAST: u64 = 1;

/// The slices for `graph`; `None` if it is as fast without, or by tiles. Takes one pass over the
/// row starts of large graphs.
pub(super) fn shape_for(graph: &Graph) -> Option<SliceShape> {
    let shape = shape_of(graph.nodes(), graph.edges());
    shape.filter(|_| !Tiles::pay(graph))
}

/// The slices for a graph of `nodes` nodes and `edges` edges that has no tiles.
fn shape_of(nodes: u32, edges: u32) -> Option<SliceShape> {
    if nodes < NODES_LEAST {
        return None;
    }
    let rows = SHAPE.rows(nodes)?;
    let fills = u64::from(edges) >= EDGES_LEAST * u64::from(rows);
    fills.then_some(SHAPE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn graphs_of_many_nodes_and_edges_have_slices() {
        // As gen:rmat:26:32 and gen:uniform:26:32.
        assert_eq!(shape_of(1 << 26, 2_100_000_000), Some(SHAPE));
        // As gen:rmat:22:32: the cache holds all contributions.
        assert_eq!(shape_of(1 << 22, 130_000_000), None);
        assert_eq!(shape_of(NODES_LEAST - 1, u32::MAX), None);
        // Few edges a node, as on roads.
        assert_eq!(shape_of(1 << 26, 1 << 28), None);
        // More rows than words can count.
        assert_eq!(shape_of(u32::MAX, u32::MAX), None);
    }
}
