//! Triangles at one corner each, by marking the neighbours of a node at a time.

use crate::analysis::triangles::oracle::rows_above;
use crate::graph::Graph;

/// Most nodes that a corner points at without being the one that counts.
const FEW: usize = 32;

/// Counts each triangle of a symmetric graph at one corner. Its edges point from the end of lower
/// degree, or of lower number, to the other one. Two corners then point at the third, and the
/// count is at the lower one of the two, unless the other one points at more nodes than that and
/// than 32: O(edges * sqrt(edges)).
#[must_use]
pub fn triangles_once(graph: &Graph) -> Vec<u32> {
    let above = rows_above(graph);
    let mut marked_by = vec![u32::MAX; above.len()];
    let mut counts = vec![0; above.len()];
    for (low, neighbours) in (0..).zip(&above) {
        for node in neighbours {
            marked_by[*node as usize] = low;
        }
        for middle in neighbours {
            let other = &above[*middle as usize];
            let common = other
                .iter()
                .filter(|high| marked_by[**high as usize] == low);
            let is_long = other.len() > neighbours.len().max(FEW);
            let corner = if is_long { *middle } else { low };
            counts[corner as usize] += common.map(|_| 1).sum::<u32>();
        }
    }
    counts
}
