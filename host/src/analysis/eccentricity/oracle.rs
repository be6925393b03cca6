//! Eccentricities by one search per source.

use crate::analysis::bfs::oracle::levels;
use crate::graph::Graph;
use seawall_core::abi::UNREACHED;

/// Largest level of a search from each of `sources`, at most `max_levels`; [`UNREACHED`] for other
/// nodes. O(sources * (nodes + edges)).
#[must_use]
pub fn eccentricities(graph: &Graph, sources: &[u32], max_levels: u32) -> Vec<u32> {
    let mut values = vec![UNREACHED; graph.nodes() as usize];
    for source in sources {
        if let Some(value) = values.get_mut(*source as usize) {
            let levels = levels(graph, &[*source], max_levels);
            let known = levels.into_iter().filter(|level| *level != UNREACHED);
            *value = known.max().unwrap_or(0);
        }
    }
    values
}
