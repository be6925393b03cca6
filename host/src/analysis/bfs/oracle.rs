//! Levels by a plain queue, and parents by the levels.

use crate::graph::Graph;
use seawall_core::abi::UNREACHED;
use std::collections::VecDeque;

/// Level of every node from `sources` by a queue; nodes further than `max_levels` edges stay
/// unreached. Sources that are not nodes do not count. O(nodes + edges).
#[must_use]
pub fn levels(graph: &Graph, sources: &[u32], max_levels: u32) -> Vec<u32> {
    let row = |node| graph.neighbours(node);
    levels_along(graph.nodes(), row, sources, max_levels)
}

/// As [`levels`], along the edges to the nodes in the `row` of each of `nodes` nodes.
pub(in crate::analysis) fn levels_along<'r>(
    nodes: u32,
    row: impl Fn(u32) -> &'r [u32],
    sources: &[u32],
    max_levels: u32,
) -> Vec<u32> {
    let mut levels = vec![UNREACHED; nodes as usize];
    let mut queue = VecDeque::new();
    for source in sources {
        if let Some(level @ &mut UNREACHED) = levels.get_mut(*source as usize) {
            *level = 0;
            queue.push_back(*source);
        }
    }
    while let Some(node) = queue.pop_front() {
        let level = levels[node as usize] + 1;
        if level > max_levels {
            break;
        }
        for target in row(node) {
            if levels[*target as usize] == UNREACHED {
                levels[*target as usize] = level;
                queue.push_back(*target);
            }
        }
    }
    levels
}

/// Parent of every node by the levels of a search: the first node, in order of
/// numbers, with an edge to it and a level before its own. A node of level 0
/// is its own parent; a node without a level has none, [`UNREACHED`].
/// O(nodes + edges).
#[must_use]
pub fn parents(graph: &Graph, levels: &[u32]) -> Vec<u32> {
    let own = |(node, level): (u32, &u32)| if *level == 0 { node } else { UNREACHED };
    let mut parents: Vec<u32> = (0..).zip(levels).map(own).collect();
    for (from, level) in (0..).zip(levels) {
        if *level == UNREACHED {
            continue;
        }
        for to in graph.neighbours(from) {
            let at = *to as usize;
            if levels.get(at) == Some(&(level + 1)) && parents[at] == UNREACHED {
                parents[at] = from;
            }
        }
    }
    parents
}
