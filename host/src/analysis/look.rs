//! A look at a graph before its program is built: a search that ends early.

use crate::graph::Graph;

/// A search that may have ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Look {
    /// Edges of the nodes on the levels that were searched.
    pub(super) edges: u64,
    /// Whether the search found all that its sources reach.
    pub(super) is_whole: bool,
}

/// Searches `levels` levels from `sources`, or until it has seen more than `most_edges` edges.
pub(super) fn search(graph: &Graph, sources: &[u32], levels: u32, most_edges: u64) -> Look {
    let mut seen = vec![false; graph.nodes() as usize];
    let mut level = sources.to_vec();
    level.retain(|node| !std::mem::replace(&mut seen[*node as usize], true));
    let mut edges = 0;
    for _ in 0..levels {
        let mut next = Vec::new();
        for node in level.drain(..) {
            let row = graph.neighbours(node);
            edges += row.len() as u64;
            if edges > most_edges {
                return Look {
                    edges,
                    is_whole: false,
                };
            }
            for to in row {
                if !std::mem::replace(&mut seen[*to as usize], true) {
                    next.push(*to);
                }
            }
        }
        level = next;
        if level.is_empty() {
            break;
        }
    }
    Look {
        edges,
        is_whole: level.is_empty(),
    }
}

#[cfg(test)]
mod tests {
    use super::{Look, search};
    use crate::graph::Graph;

    #[test]
    fn a_look_ends_at_its_levels_and_edges() {
        let edges: Vec<_> = (0..9).map(|node| (node, node + 1)).collect();
        let path = Graph::from_edges(10, &edges, false).unwrap();
        let look = |edges, is_whole| Look { edges, is_whole };
        assert_eq!(search(&path, &[0, 0], 4, 100), look(4, false));
        assert_eq!(search(&path, &[0], 100, 3), look(4, false));
        assert_eq!(search(&path, &[7], 3, 2), look(2, true));
        // It ends with the last node, however many levels it may take.
        assert_eq!(search(&path, &[7], u32::MAX, 2), look(2, true));
        assert_eq!(search(&path, &[9, 3], 0, 0), look(0, false));
        assert_eq!(search(&path, &[], 1, 0), look(0, true));
    }
}
