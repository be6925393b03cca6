//! Triangles at one corner each, by marking the neighbours of a node at a time.

use crate::graph::Graph;

/// Counts each triangle of a symmetric graph at one corner. Its edges point from the end of lower
/// degree, or of lower number, to the other one. Two corners then point at the third: the count is
/// at that of the two that points at more nodes, or has the higher number: O(edges * sqrt(edges)).
#[must_use]
pub fn triangles_once(graph: &Graph) -> Vec<u32> {
    let place = |node: u32| (graph.neighbours(node).len(), node);
    let above = |node: u32| -> Vec<u32> {
        let neighbours = graph.neighbours(node).iter().copied();
        neighbours.filter(|to| place(*to) > place(node)).collect()
    };
    let above: Vec<Vec<u32>> = (0..graph.nodes()).map(above).collect();
    let mut marked_by = vec![u32::MAX; above.len()];
    let mut counts = vec![0; above.len()];
    for (low, neighbours) in (0..).zip(&above) {
        for node in neighbours {
            marked_by[*node as usize] = low;
        }
        for middle in neighbours {
            let other = &above[*middle as usize];
            let common = other.iter().filter(|high| marked_by[**high as usize] == low);
            let corner = (other.len(), *middle).max((neighbours.len(), low)).1;
            counts[corner as usize] += common.count() as u32;
        }
    }
    counts
}
