//! The node from which components begin to search.

use crate::graph::Graph;

/// Fewest edges of a graph on which a search pays.
const EDGES_LEAST: f64 = 1e6;

/// Edges whose ends are looked at. An edge ends at a node the more often, the more edges that has.
const LOOKS: u64 = 64;

/// Whether a search pays: not on small graphs, nor on lean ones, whose paths are long.
pub(super) fn is_rich(nodes: f64, edges: f64) -> bool {
    edges >= EDGES_LEAST && !super::is_lean(nodes, edges)
}

/// A node of many edges, which is in the largest component most likely; `None` where a search would
/// not pay.
pub(super) fn of(graph: &Graph) -> Option<u32> {
    if !is_rich(graph.nodes().into(), graph.edges().into()) {
        return None;
    }
    let rows = graph.outgoing();
    let at = |look: u64| (u64::from(graph.edges()) * look / LOOKS) as usize;
    let ends = (0..LOOKS).filter_map(|look| rows.targets().get(at(look)));
    ends.copied().max_by_key(|node| rows.degree(*node))
}
