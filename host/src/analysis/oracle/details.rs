//! Parents, and which source reaches what, each in the plainest way.

use super::levels;
use crate::graph::Graph;
use crate::outcome::SourceSets;
use seawall_core::abi::UNREACHED;

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

/// For every node the words of a set: bit `k` when source number `k` reaches it
/// within `max_levels` edges, by one search a source.
/// O(sources * (nodes + edges)).
#[must_use]
pub fn reached_from(graph: &Graph, sources: &[u32], max_levels: u32) -> Vec<u64> {
    let words = SourceSets::words_for(sources.len());
    let mut sets = vec![0; graph.nodes() as usize * words];
    for (number, source) in sources.iter().enumerate() {
        for (node, level) in levels(graph, &[*source], max_levels).iter().enumerate() {
            if *level != UNREACHED {
                sets[node * words + number / 64] |= 1 << (number % 64);
            }
        }
    }
    sets
}
