//! Turns unsorted edges into clean rows, on all threads and within the memory of the edges.
//!
//! Edges come in any order, with duplicates and self loops. They leave as [`Csr`] rows: sorted,
//! each edge once (the lightest if weighted), no loops. The adjacency of a directed graph is
//! packed into the front of the edge buffer, so the peak is the buffer plus offsets: twice the
//! result. An undirected edge is buffered once, with its lower end first, and becomes two
//! ([`mirrored`]), again within twice the result. The result is the same for any number of
//! threads. Reading and id mapping happen before.

mod merge;
mod mirrored;
mod parts;

use rayon::prelude::*;

use super::csr::Csr;
use super::memory::{self, Shortage};
use super::radix;
use merge::merge;
use parts::Cuts;

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
    if direction == Direction::Both {
        edges
            .par_iter_mut()
            .for_each(|edge| edge[..2].sort_unstable());
    }
    radix::sort(&mut edges, nodes);
    let cleaned = merge(&mut edges);
    let csr = match direction {
        Direction::Directed => directed_rows(edges, nodes)?,
        Direction::Both => mirrored::mirrored_rows(edges, nodes)?,
    };
    Ok((csr, cleaned))
}

/// Packs sorted edges without duplicates into rows.
fn directed_rows<const N: usize>(edges: Edges<N>, nodes: u32) -> Result<Csr, Shortage>
where
    [u32; N]: bytemuck::Pod,
{
    let cuts = Cuts::of(&edges);
    let offsets = cuts.offsets(&edges, nodes)?;
    let weights = (N == 3).then(|| column(&edges, N - 1)).transpose()?;
    let targets = pack(edges, &cuts);
    Ok(Csr {
        offsets,
        targets,
        weights,
    })
}

/// Copies one word of every edge.
fn column<const N: usize>(edges: &[[u32; N]], at: usize) -> Result<Vec<u32>, Shortage> {
    let mut words = memory::zeroed::<u32>(edges.len())?;
    words
        .par_iter_mut()
        .zip(edges)
        .for_each(|(word, edge)| *word = edge[at]);
    Ok(words)
}

/// Moves the targets to the front of the buffer and frees the rest.
fn pack<const N: usize>(edges: Edges<N>, cuts: &Cuts) -> Vec<u32>
where
    [u32; N]: bytemuck::Pod,
{
    let count = edges.len();
    let mut words: Vec<u32> = bytemuck::allocation::cast_vec(edges);
    let parts = cuts.split(&mut words, N);
    parts.into_par_iter().for_each(|part| {
        for at in 0..part.len() / N {
            part[at] = part[at * N + 1];
        }
    });
    for part in cuts.ranges() {
        words.copy_within(N * part.start..N * part.start + part.len(), part.start);
    }
    words.truncate(count);
    words.shrink_to_fit();
    words
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

    /// Draws more edges than one thread sorts alone, with loops and duplicates, some rows long.
    fn many(nodes: u32, count: usize) -> Vec<[u32; 3]> {
        let stream = crate::mix::Stream::new(5, u64::from(nodes));
        let draw = |at: usize| {
            let word = stream.word(at as u64);
            let (low, high) = (word as u32 >> 4, (word >> 32) as u32);
            let from = if word.is_multiple_of(5) { 7 } else { low };
            [from % nodes, high % nodes, (word >> 9) as u32 % 100]
        };
        (0..count).map(draw).collect()
    }

    fn expected(edges: &[[u32; 3]], both: bool) -> (BTreeMap<(u32, u32), u32>, Cleaned) {
        let (mut all, mut cleaned) = (BTreeMap::new(), Cleaned::default());
        for &[a, b, weight] in edges {
            let end = if both { (a.min(b), a.max(b)) } else { (a, b) };
            if a == b {
                cleaned.self_loops += 1;
            } else if let Some(known) = all.insert(end, weight) {
                all.insert(end, weight.min(known));
                cleaned.duplicates += 1;
            }
        }
        if both {
            let turned: Vec<_> = all.iter().map(|(&(a, b), &w)| ((b, a), w)).collect();
            all.extend(turned);
        }
        (all, cleaned)
    }

    #[test]
    fn many_edges_make_the_same_rows_on_any_number_of_threads() {
        for (nodes, both) in [(40_000, false), (40_000, true), (300, true), (70, false)] {
            let edges = many(nodes, 300_000);
            let (all, dropped) = expected(&edges, both);
            let targets: Vec<u32> = all.keys().map(|end| end.1).collect();
            let weights: Vec<u32> = all.values().copied().collect();
            let plain: Vec<[u32; 2]> = edges.iter().map(|edge| [edge[0], edge[1]]).collect();
            let direction = Direction::of(both);
            for threads in [1, 2, 3, 7] {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
                let pool = pool.build().unwrap();
                let (csr, cleaned) = pool
                    .install(|| rows(edges.clone(), nodes, direction))
                    .unwrap();
                assert_eq!(cleaned, dropped, "{nodes} nodes, {threads} threads");
                assert!(csr.targets() == targets && csr.weights() == Some(&weights));
                let (bare, cleaned) = pool
                    .install(|| rows(plain.clone(), nodes, direction))
                    .unwrap();
                assert_eq!(cleaned, dropped);
                assert!(bare.targets() == targets && bare.offsets() == csr.offsets());
                for node in 0..nodes {
                    let row = all.range((node, 0)..=(node, u32::MAX));
                    assert_eq!(csr.degree(node) as usize, row.count());
                }
            }
        }
    }

    #[test]
    fn no_edges_make_empty_rows() {
        let (csr, _) = rows(Vec::<[u32; 2]>::new(), 4, Direction::Both).unwrap();
        assert_eq!(csr.offsets(), [0; 5]);
        assert_eq!(csr.edges(), 0);
    }
}
