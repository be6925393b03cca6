//! Turns unsorted edges into clean rows, within the memory of the edges.
//!
//! Edges come in any order, with duplicates and self loops. They leave as [`Csr`] rows: sorted,
//! each edge once (the lightest if weighted), no loops. The adjacency of a directed graph is
//! packed into the front of the edge buffer, so the peak is the buffer plus offsets: twice the
//! result. An undirected edge is buffered once and becomes two, so its peak is twice the result as
//! well. Reading and id mapping happen before.

use rayon::prelude::*;

use super::csr::Csr;
use super::memory::{self, Shortage};
use super::radix;

/// Most directed edges that 32-bit offsets address.
pub(super) const MAX_EDGES: u64 = u32::MAX as u64;
/// Most nodes; one id stays free, because results use the largest word for "never".
pub(super) const MAX_NODES: u64 = u32::MAX as u64 - 1;

/// Counts of dropped edges.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Cleaned {
    /// Edges from a node to itself.
    pub(super) self_loops: u64,
    /// Directed edges dropped as duplicates.
    pub(super) duplicates: u64,
}

/// Edges before they become rows; `N` is 2, or 3 with a weight.
pub(super) type Edges<const N: usize> = Vec<[u32; N]>;

/// Drops self loops and returns their number.
pub(super) fn drop_self_loops<const N: usize>(edges: &mut Edges<N>) -> u64 {
    let before = edges.len();
    edges.retain(|edge| edge[0] != edge[1]);
    (before - edges.len()) as u64
}

/// Directions that an edge represents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    /// Only the direction listed.
    Directed,
    /// The direction listed and its mirror image.
    Both,
}

impl Direction {
    /// `Both` when `undirected`.
    pub(super) fn of(undirected: bool) -> Self {
        if undirected {
            Self::Both
        } else {
            Self::Directed
        }
    }
}

/// Builds rows for `nodes` nodes from edges whose ends are all below `nodes`.
pub(super) fn rows<const N: usize>(
    mut edges: Edges<N>,
    nodes: u32,
    direction: Direction,
) -> Result<(Csr, Cleaned), Shortage>
where
    [u32; N]: bytemuck::Pod,
{
    let self_loops = drop_self_loops(&mut edges);
    if direction == Direction::Both {
        edges
            .par_iter_mut()
            .for_each(|edge| edge[..2].sort_unstable());
    }
    radix::sort(&mut edges, nodes);
    let before = edges.len();
    merge_duplicates(&mut edges);
    let duplicates = (before - edges.len()) as u64;
    edges.shrink_to_fit();
    let csr = match direction {
        Direction::Directed => directed_rows(edges, nodes)?,
        Direction::Both => mirrored_rows(&edges, nodes)?,
    };
    let cleaned = Cleaned {
        self_loops,
        duplicates,
    };
    Ok((csr, cleaned))
}

fn directed_rows<const N: usize>(edges: Edges<N>, nodes: u32) -> Result<Csr, Shortage>
where
    [u32; N]: bytemuck::Pod,
{
    let mut offsets = memory::zeroed::<u32>(nodes as usize + 1)?;
    edges
        .iter()
        .for_each(|edge| offsets[edge[0] as usize + 1] += 1);
    accumulate(&mut offsets);
    let (targets, weights) = pack(edges)?;
    Ok(Csr {
        offsets,
        targets,
        weights,
    })
}

/// Builds rows of both directions from sorted edges whose lower end comes first.
///
/// Needs no second sort: row `x` receives its lower neighbours, in order, while their rows are
/// read, and then its own higher ones.
fn mirrored_rows<const N: usize>(edges: &[[u32; N]], nodes: u32) -> Result<Csr, Shortage> {
    let mut next = memory::zeroed::<u32>(nodes as usize + 1)?;
    for edge in edges {
        next[edge[0] as usize + 1] += 1;
        next[edge[1] as usize + 1] += 1;
    }
    accumulate(&mut next);
    let mut targets = memory::zeroed::<u32>(2 * edges.len())?;
    let mut weights = memory::zeroed::<u32>(if N == 3 { targets.len() } else { 0 })?;
    for edge in edges {
        for (from, to) in [(edge[0], edge[1]), (edge[1], edge[0])] {
            let at = next[from as usize] as usize;
            next[from as usize] += 1;
            targets[at] = to;
            if N == 3 {
                weights[at] = edge[N - 1];
            }
        }
    }
    // Every cursor now points to the start of the next row; shifting by one restores the offsets.
    next.rotate_right(1);
    next[0] = 0;
    if let Some(last) = next.last_mut() {
        *last = targets.len() as u32;
    }
    let weights = (N == 3).then_some(weights);
    Ok(Csr {
        offsets: next,
        targets,
        weights,
    })
}

/// Turns counts, each one place to the right, into row starts.
fn accumulate(counts: &mut [u32]) {
    let mut sum = 0;
    for count in counts {
        sum += *count;
        *count = sum;
    }
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

/// Moves the targets to the front of the buffer and frees the rest.
fn pack<const N: usize>(edges: Edges<N>) -> Result<(Vec<u32>, Option<Vec<u32>>), Shortage>
where
    [u32; N]: bytemuck::Pod,
{
    let all = edges.iter().map(|edge| edge[N - 1]);
    let weights = (N == 3).then(|| memory::collect(edges.len(), all));
    let weights = weights.transpose()?;
    let count = edges.len();
    let mut words: Vec<u32> = bytemuck::allocation::cast_vec(edges);
    for at in 0..count {
        words[at] = words[at * N + 1];
    }
    words.truncate(count);
    words.shrink_to_fit();
    Ok((words, weights))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    #[test]
    fn loops_and_duplicates_go_and_are_counted() {
        let edges = vec![[2, 1], [0, 0], [0, 2], [2, 1], [0, 1]];
        let (csr, cleaned) = rows(edges, 3, Direction::Directed).unwrap();
        assert_eq!(csr.offsets(), [0, 2, 2, 3]);
        assert_eq!(csr.targets(), [1, 2, 1]);
        assert_eq!(
            cleaned,
            Cleaned {
                self_loops: 1,
                duplicates: 1
            }
        );
    }

    #[test]
    fn the_lightest_of_equal_edges_stays() {
        let (csr, _) = rows(
            vec![[0, 1, 9], [0, 1, 4], [1, 0, 5], [0, 1, 7]],
            2,
            Direction::Directed,
        )
        .unwrap();
        assert_eq!(csr.targets(), [1, 0]);
        assert_eq!(csr.weights(), Some(&[4u32, 5][..]));
    }

    #[test]
    fn both_directions_of_an_edge_count_once() {
        let edges = vec![[3, 1, 9], [1, 3, 4], [0, 1, 5], [2, 2, 1]];
        let (csr, cleaned) = rows(edges, 4, Direction::Both).unwrap();
        assert_eq!(csr.offsets(), [0, 1, 3, 3, 4]);
        assert_eq!(csr.targets(), [1, 0, 3, 1]);
        assert_eq!(csr.weights(), Some(&[5u32, 5, 4, 4][..]));
        assert_eq!(
            cleaned,
            Cleaned {
                self_loops: 1,
                duplicates: 1
            }
        );
    }

    proptest! {
        #[test]
        fn rows_equal_those_of_an_ordered_map(
            list in prop::collection::vec((0u32..40, 0u32..40, 0u32..9), 0..400), both: bool
        ) {
            let mut expected = BTreeMap::new();
            for &(a, b, w) in list.iter().filter(|(a, b, _)| a != b) {
                let ends = if both { vec![(a, b), (b, a)] } else { vec![(a, b)] };
                for end in ends {
                    let least = expected.entry(end).or_insert(w);
                    *least = w.min(*least);
                }
            }
            let edges = list.iter().map(|&(a, b, w)| [a, b, w]).collect();
            let (csr, _) = rows(edges, 40, Direction::of(both)).unwrap();
            let mut found = BTreeMap::new();
            for node in 0..40 {
                for edge in csr.row(node) {
                    found.insert((node, csr.targets()[edge]), csr.weights().unwrap()[edge]);
                }
                prop_assert!(csr.neighbours(node).is_sorted());
            }
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn no_edges_make_empty_rows() {
        let (csr, _) = rows(Vec::<[u32; 2]>::new(), 4, Direction::Both).unwrap();
        assert_eq!(csr.offsets(), [0; 5]);
        assert_eq!(csr.edges(), 0);
    }
}
