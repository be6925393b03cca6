//! Triangles by marking the neighbours of a node at a time.

use crate::analysis::kcore::oracle::others;
use crate::graph::Graph;

/// Returns the neighbours of each node that come after it by degree, then by number.
pub(in crate::analysis) fn rows_above(graph: &Graph) -> Vec<Vec<u32>> {
    let place = |node: u32| (others(graph, node).count(), node);
    let places: Vec<_> = (0..graph.nodes()).map(place).collect();
    let above = |node: u32| {
        let neighbours = others(graph, node);
        neighbours
            .filter(|to| places[*to as usize] > places[node as usize])
            .collect()
    };
    (0..graph.nodes()).map(above).collect()
}

/// Counts the triangles of a symmetric graph at each corner. Each is found from its corner of
/// least degree: O(edges * sqrt(edges)).
#[must_use]
pub fn triangles(graph: &Graph) -> Vec<u32> {
    let above = rows_above(graph);
    let mut marked_by = vec![u32::MAX; above.len()];
    let mut corners = vec![0; above.len()];
    for (low, neighbours) in (0..).zip(&above) {
        for node in neighbours {
            marked_by[*node as usize] = low;
        }
        for middle in neighbours {
            for high in &above[*middle as usize] {
                if marked_by[*high as usize] == low {
                    for corner in [low, *middle, *high] {
                        corners[corner as usize] += 1;
                    }
                }
            }
        }
    }
    corners
}
