//! Triangles at one corner each, by marking the neighbours of one node at a time.

use crate::analysis::triangles::oracle::rows_above;
use crate::graph::Graph;

/// Counts each triangle of a symmetric graph at one corner: the one of lowest degree, then of
/// lowest number. Edges point from that end to the other one, so two of them leave the corner:
/// O(edges * sqrt(edges)).
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
            let common = above[*middle as usize]
                .iter()
                .filter(|high| marked_by[**high as usize] == low);
            counts[low as usize] += common.map(|_| 1).sum::<u32>();
        }
    }
    counts
}
