//! Turns unsorted edges into rows, on all threads and within the memory of the edges.
//!
//! Edges come in any order, and loops and parallel edges among them stay. They leave as [`Csr`]
//! rows, sorted by target, with the number of loops and parallel edges: a graph that is simple is
//! known to be. The adjacency of a directed graph is packed into the front of the edge buffer, so
//! the peak is the buffer plus offsets: twice the result. An undirected edge is buffered once, with
//! its lower end first, and becomes two ([`mirrored`]), again within twice the result. The result
//! is the same for any number of threads. Reading and id mapping happen before.
//!
//! A list of undirected edges may name each of them from both ends. For two nodes and a weight, the
//! edges are therefore as many as the direction that lists more of them lists: `0 1` and `1 0` are
//! one edge, `0 1` twice is two, and `0 1 5` with `1 0 9` is two edges of different weight. A loop
//! has one direction: each one listed is an edge, and stands once in its row.

mod merge;
mod mirrored;
mod parts;

use rayon::prelude::*;
use std::ops::Range;

use super::csr::Csr;
use super::memory::{self, Shortage};
use super::radix;
use parts::Cuts;

/// Most directed edges that 32-bit offsets address.
pub(super) const MAX_EDGES: u64 = u32::MAX as u64;
/// Most nodes; one id stays free, because results use the largest word for "never".
pub(super) const MAX_NODES: u64 = u32::MAX as u64 - 1;

/// Loops and parallel edges of rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    /// Edges from a node to itself.
    pub(super) loops: u32,
    /// Edges beyond the first one with the same ends, in both rows of an undirected edge.
    pub(super) parallel: u32,
    /// Listed edges that are the reverse of a kept edge.
    pub(super) mirrored: u64,
}

impl Counts {
    pub(super) fn plus(self, other: Self) -> Self {
        Self {
            loops: self.loops + other.loops,
            parallel: self.parallel + other.parallel,
            mirrored: self.mirrored + other.mirrored,
        }
    }
}

/// Order of edges with the same ends, if they have weights.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Order {
    #[default]
    Weight,
    /// As listed. Takes a stable sort, which is slower and needs half the edges' memory.
    Listed,
}

impl Order {
    /// `Listed` if true, otherwise by weight.
    pub(super) fn of(is_listed: bool) -> Self {
        if is_listed {
            Self::Listed
        } else {
            Self::Weight
        }
    }
}

/// Edges before they become rows; `N` is 2, or 3 with a weight.
pub(super) type Edges<const N: usize> = Vec<[u32; N]>;

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
    order: Order,
) -> Result<(Csr, Counts), Shortage>
where
    [u32; N]: bytemuck::Pod,
{
    // Edges without weights are equal if their ends are.
    let order = if N == 3 { order } else { Order::Weight };
    if direction == Direction::Both {
        let counts = join(&mut edges, nodes, order);
        let csr = mirrored::mirrored_rows(edges, nodes, counts, order)?;
        return Ok((csr, counts));
    }
    match order {
        Order::Weight => radix::sort(&mut edges, nodes),
        Order::Listed => edges.par_sort_by_key(radix::key),
    }
    let counts = merge::settle(&mut edges, order);
    Ok((directed_rows(edges, nodes)?, counts))
}

/// Builds the rows of incoming edges of the nodes `own`, out of `nodes`, from all edges that touch them.
/// Also returns how many undirected edges have their smaller end there, of listed ones those that are
/// no reverse of another.
pub(super) fn rows_to<const N: usize>(
    mut edges: Edges<N>,
    own: Range<u32>,
    nodes: u32,
    direction: Direction,
) -> Result<(Csr, Counts, u64), Shortage>
where
    [u32; N]: bytemuck::Pod,
{
    let mut kept = 0;
    let mut into: Edges<N>;
    match direction {
        Direction::Directed => {
            edges.par_iter_mut().for_each(|edge| edge.swap(0, 1));
            into = edges;
        }
        Direction::Both => {
            join(&mut edges, nodes, Order::Weight);
            let is_low = |edge: &&[u32; N]| own.contains(&edge[0]);
            kept = edges.par_iter().filter(is_low).count() as u64;
            memory::check(2 * edges.len() as u64 * 4 * N as u64)?;
            let both = |edge: [u32; N]| {
                let mut turned = edge;
                turned.swap(0, 1);
                let ends = [Some(edge), (edge[0] != edge[1]).then_some(turned)];
                ends.into_iter()
                    .flatten()
                    .filter(|edge| own.contains(&edge[0]))
            };
            into = edges.into_par_iter().flat_map_iter(both).collect();
        }
    }
    radix::sort(&mut into, nodes);
    let counts = merge::settle(&mut into, Order::Weight);
    let mut rows = directed_rows(into, nodes)?;
    rows.offsets.truncate(own.end as usize + 1);
    rows.offsets.drain(..own.start as usize);
    rows.offsets.shrink_to_fit();
    Ok((rows, counts, kept))
}

/// Sorts undirected edges, with the smaller end first, and joins their directions.
fn join<const N: usize>(edges: &mut Edges<N>, nodes: u32, order: Order) -> Counts {
    let bits = radix::bits_of(nodes);
    if bits == u32::BITS {
        return join_wide(edges, order);
    }
    // The lowest bit of the second word is the direction.
    edges.par_iter_mut().for_each(|edge| {
        let is_turned = turn(edge);
        edge[1] = edge[1] << 1 | u32::from(is_turned);
    });
    match order {
        Order::Weight => radix::sort_words(edges, bits, bits + 1),
        Order::Listed => edges.par_sort_by_key(|edge| [edge[0], edge[1] >> 1]),
    }
    let read = |_, edge: &[u32; N]| (edge[1] >> 1, edge[1] & 1 == 1);
    merge::join_directions(edges, &read, order)
}

/// Works as [`join`] if no bit of the ends is free.
fn join_wide<const N: usize>(edges: &mut Edges<N>, order: Order) -> Counts {
    let ends = |edge: &[u32; N]| [edge[0].min(edge[1]), edge[0].max(edge[1])];
    match order {
        Order::Weight => edges.par_sort_unstable_by_key(ends),
        Order::Listed => edges.par_sort_by_key(ends),
    }
    let turned: Vec<bool> = edges.par_iter_mut().map(turn).collect();
    let read = |at: usize, edge: &[u32; N]| (edge[1], turned[at]);
    merge::join_directions(edges, &read, order)
}

/// Puts the smaller end first; returns whether it was the second one.
fn turn<const N: usize>(edge: &mut [u32; N]) -> bool {
    let is_turned = edge[0] > edge[1];
    if is_turned {
        edge.swap(0, 1);
    }
    is_turned
}

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
    fn loops_and_parallel_edges_stay_and_are_counted() {
        let edges = vec![[2, 1], [0, 0], [0, 2], [2, 1], [0, 1]];
        let (csr, counts) = rows(edges, 3, Direction::Directed, Order::Weight).unwrap();
        assert_eq!(csr.offsets(), [0, 3, 3, 5]);
        assert_eq!(csr.targets(), [0, 1, 2, 1, 1]);
        assert_eq!((counts.loops, counts.parallel, counts.mirrored), (1, 1, 0));
    }

    #[test]
    fn parallel_edges_are_in_order_of_weights_or_as_listed() {
        let edges = vec![[0, 1, 9], [0, 1, 4], [1, 0, 5], [0, 1, 7]];
        for (order, weights) in [(Order::Weight, [4, 7, 9, 5]), (Order::Listed, [9, 4, 7, 5])] {
            let (csr, _) = rows(edges.clone(), 2, Direction::Directed, order).unwrap();
            assert_eq!(csr.targets(), [1, 1, 1, 0]);
            assert_eq!(csr.weights(), Some(&weights[..]));
        }
    }

    #[test]
    fn an_edge_listed_from_both_ends_is_one_edge() {
        let edges = vec![[3, 1, 4], [1, 3, 4], [0, 1, 5], [1, 0, 9], [2, 2, 1]];
        let (csr, counts) = rows(edges, 4, Direction::Both, Order::Weight).unwrap();
        assert_eq!(csr.offsets(), [0, 2, 5, 6, 7]);
        assert_eq!(csr.targets(), [1, 1, 0, 0, 3, 2, 1]);
        assert_eq!(csr.weights(), Some(&[5u32, 9, 5, 9, 4, 1, 4][..]));
        assert_eq!((counts.loops, counts.parallel, counts.mirrored), (1, 2, 1));
    }

    /// The edges of each pair of nodes and weight, counted one by one.
    fn expected(edges: &[[u32; 3]], both: bool) -> (BTreeMap<[u32; 3], u32>, Counts) {
        let mut listed: BTreeMap<[u32; 3], u32> = BTreeMap::new();
        for &edge in edges {
            *listed.entry(edge).or_default() += 1;
        }
        let mut all = listed.clone();
        if both {
            for (&[a, b, weight], &count) in &listed {
                let turned = all.entry([b, a, weight]).or_default();
                *turned = count.max(*turned);
            }
        }
        let mut ends = BTreeMap::<[u32; 2], u32>::new();
        for (&[a, b, _], &count) in &all {
            *ends.entry([a, b]).or_default() += count;
        }
        let loops = ends.iter().filter(|(ends, _)| ends[0] == ends[1]);
        let total: u32 = all.values().sum();
        let loops: u32 = loops.map(|(_, count)| count).sum();
        let kept = if both {
            (total - loops) / 2 + loops
        } else {
            total
        };
        let counts = Counts {
            loops,
            parallel: total - ends.len() as u32,
            mirrored: edges.len() as u64 - u64::from(kept),
        };
        (all, counts)
    }

    fn found(csr: &Csr, nodes: u32) -> BTreeMap<[u32; 3], u32> {
        let mut found = BTreeMap::new();
        for node in 0..nodes {
            for edge in csr.row(node) {
                let weight = csr.weights().map_or(0, |weights| weights[edge]);
                *found
                    .entry([node, csr.targets()[edge], weight])
                    .or_default() += 1;
            }
            assert!(csr.neighbours(node).is_sorted());
        }
        found
    }

    proptest! {
        #[test]
        fn rows_hold_each_edge_as_often_as_it_is_listed(
            list in prop::collection::vec((0u32..9, 0u32..9, 0u32..4), 0..400), both: bool
        ) {
            let edges: Vec<[u32; 3]> = list.iter().map(|&(a, b, w)| [a, b, w]).collect();
            let (all, expected_counts) = expected(&edges, both);
            for order in [Order::Weight, Order::Listed] {
                let direction = Direction::of(both);
                let (csr, counts) = rows(edges.clone(), 9, direction, order).unwrap();
                prop_assert_eq!(&found(&csr, 9), &all);
                prop_assert_eq!(counts, expected_counts);
            }
            let bare: Vec<[u32; 3]> = edges.iter().map(|edge| [edge[0], edge[1], 0]).collect();
            let (all, expected_counts) = expected(&bare, both);
            let bare = edges.iter().map(|edge| [edge[0], edge[1]]).collect();
            let (csr, counts) = rows(bare, 9, Direction::of(both), Order::Listed).unwrap();
            prop_assert_eq!(&found(&csr, 9), &all);
            prop_assert_eq!(counts, expected_counts);
        }

        #[test]
        fn directions_join_alike_where_no_bit_is_free(
            list in prop::collection::vec((0u32..9, 0u32..9, 0u32..4), 0..200)
        ) {
            let edges: Vec<[u32; 3]> = list.iter().map(|&(a, b, w)| [a, b, w]).collect();
            for order in [Order::Weight, Order::Listed] {
                let (mut wide, mut narrow) = (edges.clone(), edges.clone());
                let counts = join_wide(&mut wide, order);
                prop_assert_eq!(join(&mut narrow, 9, order), counts);
                prop_assert_eq!(wide, narrow);
            }
        }

        #[test]
        fn the_first_of_parallel_edges_is_the_first_listed(
            list in prop::collection::vec((0u32..4, 0u32..4, 0u32..9), 1..60), both: bool
        ) {
            let edges: Vec<[u32; 3]> = list.iter().map(|&(a, b, w)| [a, b, w]).collect();
            let (csr, _) = rows(edges.clone(), 4, Direction::of(both), Order::Listed).unwrap();
            for &[a, b, _] in &edges {
                let joins = |edge: &&[u32; 3]| {
                    edge[..2] == [a, b] || both && edge[..2] == [b, a]
                };
                let first = edges.iter().find(joins).unwrap();
                let row = csr.row(a);
                let at = row.start + csr.targets()[row].partition_point(|target| *target < b);
                prop_assert_eq!(csr.weights().unwrap()[at], first[2]);
            }
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

    #[test]
    fn many_edges_make_the_same_rows_on_any_number_of_threads() {
        for (nodes, both) in [(40_000, true), (300, true), (70, false)] {
            let edges = many(nodes, 300_000);
            let direction = Direction::of(both);
            let (all, expected_counts) = expected(&edges, both);
            for order in [Order::Weight, Order::Listed] {
                let mut first: Option<Csr> = None;
                for threads in [1, 2, 7] {
                    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
                    let pool = pool.build().unwrap();
                    let built = pool.install(|| rows(edges.clone(), nodes, direction, order));
                    let (csr, counts) = built.unwrap();
                    assert_eq!(counts, expected_counts, "{nodes} nodes, {threads} threads");
                    match &first {
                        None => assert!(found(&csr, nodes) == all),
                        Some(first) => assert!(
                            first.targets == csr.targets
                                && first.weights == csr.weights
                                && first.offsets == csr.offsets
                        ),
                    }
                    first = Some(csr);
                }
            }
        }
    }

    #[test]
    fn no_edges_make_empty_rows() {
        let none = Vec::<[u32; 2]>::new();
        let (csr, _) = rows(none, 4, Direction::Both, Order::Weight).unwrap();
        assert_eq!(csr.offsets(), [0; 5]);
        assert_eq!(csr.edges(), 0);
    }
}
