//! From a heap of edges to clean rows, in the memory of the heap.
//!
//! Edges come in any order, with duplicates and self loops. They leave as
//! [`Csr`] rows: sorted, each edge once (the lightest when weighted), no loops.
//! The adjacency is packed into the front of the edge buffer, so the peak is the
//! buffer plus offsets: twice the result. Reading and id mapping happen before.

use super::array::Array;
use super::csr::Csr;
use super::radix;

/// Most directed edges that 32-bit offsets address.
pub(super) const MAX_EDGES: u64 = u32::MAX as u64;
/// Most nodes; one id stays free, because results use the largest word for "never".
pub(super) const MAX_NODES: u64 = u32::MAX as u64 - 1;

/// What cleaning took away.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Cleaned {
    /// Edges from a node to itself.
    pub(super) self_loops: u64,
    /// Directed edges that were there already.
    pub(super) duplicates: u64,
}

/// Edges before they are rows; `N` is 2, or 3 with a weight.
pub(super) type Edges<const N: usize> = Vec<[u32; N]>;

/// Appends the mirror image of every edge.
pub(super) fn mirror<const N: usize>(edges: &mut Edges<N>) {
    let count = edges.len();
    edges.reserve_exact(count);
    for at in 0..count {
        let mut twin = edges[at];
        twin.swap(0, 1);
        edges.push(twin);
    }
}

/// Drops self loops and says how many there were.
pub(super) fn drop_self_loops<const N: usize>(edges: &mut Edges<N>) -> u64 {
    let before = edges.len();
    edges.retain(|edge| edge[0] != edge[1]);
    (before - edges.len()) as u64
}

/// Builds rows for `nodes` nodes from edges whose ends are all below `nodes`.
pub(super) fn rows<const N: usize>(mut edges: Edges<N>, nodes: u32) -> (Csr, Cleaned)
where
    [u32; N]: bytemuck::Pod,
{
    let self_loops = drop_self_loops(&mut edges);
    radix::sort(&mut edges, nodes);
    let before = edges.len();
    merge_duplicates(&mut edges);
    let duplicates = (before - edges.len()) as u64;
    let offsets = offsets_of(&edges, nodes);
    let (targets, weights) = pack(edges);
    let csr = Csr { offsets: offsets.into(), targets: targets.into(), weights: weights.map(Array::from) };
    (csr, Cleaned { self_loops, duplicates })
}

/// Keeps the lightest of equal edges; the edges are sorted.
fn merge_duplicates<const N: usize>(edges: &mut Edges<N>) {
    edges.dedup_by(|later, kept| {
        let same = later[0] == kept[0] && later[1] == kept[1];
        if same && N == 3 {
            kept[N - 1] = kept[N - 1].min(later[N - 1]);
        }
        same
    });
}

fn offsets_of<const N: usize>(edges: &[[u32; N]], nodes: u32) -> Vec<u32> {
    let mut offsets = vec![0u32; nodes as usize + 1];
    for edge in edges {
        offsets[edge[0] as usize + 1] += 1;
    }
    for at in 1..offsets.len() {
        offsets[at] += offsets[at - 1];
    }
    offsets
}

/// Moves the targets to the front of the buffer and gives the rest back.
fn pack<const N: usize>(edges: Edges<N>) -> (Vec<u32>, Option<Vec<u32>>)
where
    [u32; N]: bytemuck::Pod,
{
    let weights = (N == 3).then(|| edges.iter().map(|edge| edge[N - 1]).collect());
    let count = edges.len();
    let mut words: Vec<u32> = bytemuck::allocation::cast_vec(edges);
    for at in 0..count {
        words[at] = words[at * N + 1];
    }
    words.truncate(count);
    words.shrink_to_fit();
    (words, weights)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_and_duplicates_go_and_are_counted() {
        let edges = vec![[2, 1], [0, 0], [0, 2], [2, 1], [0, 1]];
        let (csr, cleaned) = rows(edges, 3);
        assert_eq!(csr.offsets(), [0, 2, 2, 3]);
        assert_eq!(csr.targets(), [1, 2, 1]);
        assert_eq!(cleaned, Cleaned { self_loops: 1, duplicates: 1 });
    }

    #[test]
    fn the_lightest_of_equal_edges_stays() {
        let (csr, _) = rows(vec![[0, 1, 9], [0, 1, 4], [1, 0, 5], [0, 1, 7]], 2);
        assert_eq!(csr.targets(), [1, 0]);
        assert_eq!(csr.weights(), Some(&[4u32, 5][..]));
    }

    #[test]
    fn mirroring_doubles_the_edges_and_keeps_weights() {
        let mut edges = vec![[0, 1, 9], [2, 1, 3]];
        mirror(&mut edges);
        assert_eq!(edges, [[0, 1, 9], [2, 1, 3], [1, 0, 9], [1, 2, 3]]);
    }

    #[test]
    fn no_edges_make_empty_rows() {
        let (csr, _) = rows(Vec::<[u32; 2]>::new(), 4);
        assert_eq!(csr.offsets(), [0; 5]);
        assert_eq!(csr.edges(), 0);
    }
}
