//! Eccentricities by one search per source.

use crate::analysis::bfs::oracle::levels;
use crate::analysis::closeness::oracle::distances;
use crate::column::Column;
use crate::graph::{Graph, WeightKind};
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

/// The same along weights: whole numbers in 64 bits, floats as sums in doubles, rounded once.
pub(in crate::analysis) fn weighted_eccentricities(graph: &Graph, sources: &[u32]) -> Column {
    let farthest = |source: &u32| {
        let known = distances(graph, *source, false).into_iter();
        known.filter(|far| far.is_finite()).fold(0.0, f64::max)
    };
    let nodes = graph.nodes() as usize;
    if graph.weight_kind() == Some(WeightKind::Float) {
        let mut values = vec![f32::INFINITY; nodes];
        for source in sources {
            values[*source as usize] = farthest(source) as f32;
        }
        return Column::F32(values);
    }
    let mut values = vec![u64::MAX; nodes];
    for source in sources {
        // Sums below 2^53 are exact in doubles.
        values[*source as usize] = farthest(source) as u64;
    }
    Column::U64(values)
}
