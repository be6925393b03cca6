//! What analyses must find, worked out from the drawn edges.
//!
//! Nothing here is shared with the programs or with the sequential
//! implementations that `--check` uses: searches advance whole levels over
//! plain adjacency lists, components are sets that edges join.

use crate::graphs::EdgeList;
use seawall::outcome::Column;

/// Edges from the nearest source to each node; [`Column::UNREACHED`] where
/// there is no path or more than `max_levels` edges are needed.
#[must_use]
pub fn levels(list: &EdgeList, sources: &[u32], max_levels: u32) -> Vec<u32> {
    let rows = list.adjacency(false);
    let mut levels = vec![Column::UNREACHED; list.nodes as usize];
    let mut frontier = sources.to_vec();
    let mut level = 0;
    while !frontier.is_empty() {
        let mut next = Vec::new();
        for node in frontier {
            if levels[node as usize] == Column::UNREACHED {
                levels[node as usize] = level;
                next.extend(&rows[node as usize]);
            }
        }
        frontier = if level < max_levels { next } else { Vec::new() };
        level += 1;
    }
    levels
}

/// 1 at each node within `max_levels` edges of a source, 0 elsewhere.
#[must_use]
pub fn reached(list: &EdgeList, sources: &[u32], max_levels: u32) -> Vec<u32> {
    let levels = levels(list, sources, max_levels);
    levels
        .iter()
        .map(|level| u32::from(*level != Column::UNREACHED))
        .collect()
}

/// Smallest node of each node's component, directions ignored.
#[must_use]
pub fn components(list: &EdgeList) -> Vec<u32> {
    let mut parents: Vec<u32> = (0..list.nodes).collect();
    for &(from, to) in &list.edges {
        let (a, b) = (root(&mut parents, from), root(&mut parents, to));
        parents[a.max(b) as usize] = a.min(b);
    }
    (0..list.nodes)
        .map(|node| root(&mut parents, node))
        .collect()
}

fn root(parents: &mut [u32], mut node: u32) -> u32 {
    while parents[node as usize] != node {
        parents[node as usize] = parents[parents[node as usize] as usize];
        node = parents[node as usize];
    }
    node
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 0 to 1 to 2, 3 to 2, and 4 alone.
    fn list(undirected: bool) -> EdgeList {
        EdgeList {
            nodes: 5,
            edges: vec![(0, 1), (1, 2), (3, 2), (1, 1)],
            undirected,
        }
    }

    #[test]
    fn levels_follow_directions_and_stop_at_the_limit() {
        const NO: u32 = Column::UNREACHED;
        assert_eq!(levels(&list(false), &[0], 9), [0, 1, 2, NO, NO]);
        assert_eq!(levels(&list(true), &[0, 0], 9), [0, 1, 2, 3, NO]);
        assert_eq!(levels(&list(true), &[0], 2), [0, 1, 2, NO, NO]);
        assert_eq!(levels(&list(true), &[4, 3], 0), [NO, NO, NO, 0, 0]);
        assert_eq!(reached(&list(false), &[3], 9), [0, 0, 1, 1, 0]);
    }

    #[test]
    fn components_ignore_directions_and_take_their_smallest_node() {
        assert_eq!(components(&list(false)), [0, 0, 0, 0, 4]);
    }
}
