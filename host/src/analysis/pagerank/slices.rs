//! The choice of graphs that are ranked along edges in slices.
//!
//! On graphs of many nodes, the contribution along nearly every edge comes from memory: a read of
//! 64 bytes for four. In slices it comes from the second-level cache, for a copy of the edges and
//! two words for each row of a slice that has any, which are read once an iteration. Contributions
//! of frequent sources come from the first-level cache.

use crate::graph::Graph;
use crate::program::{FrequentSources, SliceShape};
use crate::tiles::Tiles;
use rayon::prelude::*;
use seawall_core::abi::slices::list_words;

/// Fewest nodes whose contributions, four bytes each, exceed the second-level cache of a large GPU
/// (50 MB on an H100 or H200) enough for slices to pay.
const NODES_LEAST: u32 = 1 << 24;

/// Sizes of slices: contributions of 2^22 nodes take 16 MB of the cache, besides streamed data.
const SHAPE: SliceShape = SliceShape {
    width_log2: 22,
    part_log2: 13,
};

/// Fewest edges of a row in a slice, on average over all nodes. With shorter rows, the row offsets
/// would take a considerable share of the traffic.
const EDGES_LEAST: u64 = 1;

/// Most frequent sources of a slice, on average. Their words take 32 KB of the first-level cache of
/// a multiprocessor (256 KB with its shared memory on an H100 or H200), which other data also
/// passes through.
const FREQUENT_MOST: u64 = 1 << 13;

/// Least share of the edges that frequent sources have, as a divisor: a copy of edges looks up the
/// place of each source.
const FREQUENT_SHARE: u64 = 8;

/// Degrees that are distinguished; higher ones count as the last.
const DEGREES: usize = 1 << 16;

/// Nodes that a thread counts at a time.
const STRIDE: usize = 1 << 18;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slicing {
    pub(super) shape: SliceShape,
    pub(super) frequent: Option<FrequentSources>,
}

/// The slices for `graph`; `None` if it is as fast without, or by tiles. Takes a pass over the row
/// offsets of large graphs in each direction.
pub(super) fn slicing_for(graph: &Graph) -> Option<Slicing> {
    let shape = shape_of(graph.nodes(), graph.edges());
    let shape = shape.filter(|_| !Tiles::pay(graph))?;
    let slices = u64::from(graph.nodes() >> shape.width_log2) + 1;
    let frequent = frequent_of(graph.offsets(), slices * FREQUENT_MOST);
    Some(Slicing { shape, frequent })
}

/// At most `most` nodes of most edges, if they have a considerable share of all edges.
fn frequent_of(offsets: &[u32], most: u64) -> Option<FrequentSources> {
    let degrees = degrees_of(offsets);
    let (mut count, mut edges, mut least) = (0, 0, None);
    for (degree, [nodes, of_them]) in degrees.into_iter().enumerate().rev() {
        if count + nodes > most {
            break;
        }
        count += nodes;
        edges += of_them;
        least = Some(degree);
    }
    let all = u64::from(offsets.last().copied().unwrap_or(0));
    (edges * FREQUENT_SHARE >= all && count > 0).then_some(FrequentSources {
        least_edges: u32::try_from(least?).ok()?,
        count: u32::try_from(count).ok()?,
    })
}

/// Nodes of each degree, and their edges.
fn degrees_of(offsets: &[u32]) -> Vec<[u64; 2]> {
    let none = || vec![[0; 2]; DEGREES];
    let nodes = offsets.len().saturating_sub(1);
    let count = |mut degrees: Vec<[u64; 2]>, first: usize| {
        let end = nodes.min(first + STRIDE);
        for row in offsets[first..=end].windows(2) {
            let edges = row[1] - row[0];
            let [nodes, of_them] = &mut degrees[(edges as usize).min(DEGREES - 1)];
            *nodes += 1;
            *of_them += u64::from(edges);
        }
        degrees
    };
    let join = |mut all: Vec<[u64; 2]>, some: Vec<[u64; 2]>| {
        for (all, some) in all.iter_mut().flatten().zip(some.into_iter().flatten()) {
            *all += some;
        }
        all
    };
    let strides = (0..nodes).into_par_iter().step_by(STRIDE);
    strides.fold(none, count).reduce(none, join)
}

/// The slices for a graph of `nodes` nodes and `edges` edges that has no tiles.
fn shape_of(nodes: u32, edges: u32) -> Option<SliceShape> {
    if nodes < NODES_LEAST {
        return None;
    }
    let rows = SHAPE.rows(nodes)?;
    let fills = u64::from(edges) >= EDGES_LEAST * u64::from(rows);
    let is_list = list_words(rows.min(edges)) <= u64::from(u32::MAX);
    (fills && is_list).then_some(SHAPE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_of_most_edges_are_frequent() {
        // Degrees 3, 1, 0, 5, 3 and 70 000.
        let offsets = [0, 3, 4, 4, 9, 12, 70_012];
        let frequent = |most| frequent_of(&offsets, most);
        let found = |least_edges, count| Some(FrequentSources { least_edges, count });
        assert_eq!(frequent(0), None);
        assert_eq!(frequent(1), found(6, 1));
        assert_eq!(frequent(2), found(4, 2));
        assert_eq!(frequent(3), found(4, 2));
        assert_eq!(frequent(4), found(2, 4));
        assert_eq!(frequent(6), found(0, 6));
        // All nodes are alike.
        let even: Vec<u32> = (0..100).map(|node| 2 * node).collect();
        assert_eq!(frequent_of(&even, 98), None);
        assert_eq!(frequent_of(&even, 99), found(0, 99));
        assert_eq!(frequent_of(&[0], 9), None);
        assert_eq!(frequent_of(&[], 9), None);
    }

    #[test]
    fn strides_of_nodes_count_as_all() {
        let offsets: Vec<u32> = (0..=2 * STRIDE as u32 + 5).map(|node| node / 3).collect();
        let degrees = degrees_of(&offsets);
        let ones = u64::from(*offsets.last().unwrap());
        assert_eq!(degrees[1], [ones, ones]);
        assert_eq!(degrees[0][0] + ones, offsets.len() as u64 - 1);
    }

    #[test]
    fn graphs_of_many_nodes_and_edges_have_slices() {
        // Sizes of gen:rmat:26:32 and gen:uniform:26:32.
        assert_eq!(shape_of(1 << 26, 2_100_000_000), Some(SHAPE));
        // The size of gen:rmat:22:32: the cache holds all contributions.
        assert_eq!(shape_of(1 << 22, 130_000_000), None);
        assert_eq!(shape_of(NODES_LEAST - 1, u32::MAX), None);
        // Few edges per node, as on roads.
        assert_eq!(shape_of(1 << 26, 1 << 28), None);
        // More rows than words can count.
        assert_eq!(shape_of(u32::MAX, u32::MAX), None);
    }
}
