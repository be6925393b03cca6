//! Reachability by one search per source.

use crate::analysis::bfs::oracle::levels;
use crate::column::SourceSets;
use crate::graph::Graph;
use seawall_core::abi::UNREACHED;

/// 1 for every node that `sources` reach within `max_levels` edges, else 0.
#[must_use]
pub fn reached(graph: &Graph, sources: &[u32], max_levels: u32) -> Vec<u32> {
    levels(graph, sources, max_levels)
        .into_iter()
        .map(|level| u32::from(level != UNREACHED))
        .collect()
}

/// For every node the words of a set: bit `k` if source number `k` reaches it within `max_levels`
/// edges, by one search per source. O(sources * (nodes + edges)).
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
