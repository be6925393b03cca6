//! The node from which components begin to search.

use crate::graph::{Csr, Graph};
use std::collections::HashSet;

/// Fewest edges of a graph on which a search pays.
const EDGES_LEAST: f64 = 1e6;

/// Edges whose ends are sampled. A random edge ends at a node with a probability in proportion to
/// its degree.
const LOOKS: u64 = 64;

/// Levels around the node that are searched.
const LEVELS: usize = 3;

/// Number of nodes around it from which paths certainly are short, and most edges that are visited.
const AROUND: usize = 4096;
const EDGES_MOST: usize = 1 << 16;

/// Least growth from the second-last level to the last. It is some 1.6 on a mesh of a surface, 2.4
/// on one of a body, 3.3 in four dimensions, and the mean degree on random graphs.
const GROWTH: usize = 4;

/// Whether a search pays: not on small graphs, nor on graphs of low degree, whose paths are long.
pub(super) fn is_rich(nodes: f64, edges: f64) -> bool {
    edges >= EDGES_LEAST && !super::is_lean(nodes, edges)
}

/// A node of many edges, which most likely is in the largest component; `None` if a search would
/// not pay. Visits some 65 000 edges at most.
pub(super) fn of(graph: &Graph) -> Option<u32> {
    if !is_rich(graph.nodes().into(), graph.edges().into()) {
        return None;
    }
    let rows = graph.outgoing();
    let at = |look: u64| (u64::from(graph.edges()) * look / LOOKS) as usize;
    let ends = (0..LOOKS).filter_map(|look| rows.targets().get(at(look)));
    let node = ends.copied().max_by_key(|node| rows.degree(*node))?;
    has_short_paths(rows, node).then_some(node)
}

/// Whether levels around `node` grow fast. If they end, there is a larger component elsewhere.
fn has_short_paths(rows: &Csr, node: u32) -> bool {
    let mut seen = HashSet::from([node]);
    let (mut level, mut before, mut edges) = (vec![node], 0, 0);
    for _ in 0..LEVELS {
        let mut next = Vec::new();
        for node in &level {
            for &to in rows.neighbours(*node) {
                edges += 1;
                if seen.insert(to) {
                    next.push(to);
                }
                if seen.len() >= AROUND || edges >= EDGES_MOST {
                    return true;
                }
            }
        }
        before = level.len();
        level = next;
    }
    level.len() >= GROWTH * before.max(1)
}
