//! Graphs from two columns of numbers, as arrays and data frames keep edges.
//!
//! Every chunk of the columns sorts its edges into buckets of sources side by side; then the edges
//! of each bucket, which fit a second-level cache, become its rows. An undirected edge goes to the
//! bucket of either end, so that each row joins the directions of its own edges. Two passes over
//! the columns and two over 8 bytes an entry replace the passes of [`super::radix`], which needs no
//! second buffer.

use rayon::prelude::*;

use super::build::{self, Counts, Direction, Order};
use super::csr::Csr;
use super::ids::Ids;
use super::memory::{self, Shortage};
use super::model::{IN_MEMORY, check_counts, too_large};
use super::radix;
use super::{BinaryProblem, Graph, GraphError};

/// Listed edges of a chunk, at most.
const CHUNK: usize = 1 << 20;
/// Entries of a bucket, about: with their targets they fit a second-level cache.
const BUCKET: usize = 1 << 14;
/// Most buckets, as bits: a chunk writes to all of them alternately.
const BUCKET_BITS: u32 = 10;
/// Entries of a row from which all threads sort it.
const LONG_ROW: usize = 1 << 17;

/// A whole number in a column of nodes.
pub trait NodeNumber: Copy + Send + Sync {
    /// Returns the number in 64 bits; a negative one becomes larger than every node.
    fn wide(self) -> u64;
}

macro_rules! node_numbers {
    ($($kind:ty => $wide:expr),*) => {
        $(impl NodeNumber for $kind {
            #[inline]
            fn wide(self) -> u64 {
                let wide: fn($kind) -> u64 = $wide;
                wide(self)
            }
        })*
    };
}

node_numbers!(
    u32 => u64::from,
    u64 => |number| number,
    i32 => |number| i64::from(number).cast_unsigned(),
    i64 => i64::cast_unsigned
);

impl Graph {
    /// Builds a graph of edges from `sources[i]` to `targets[i]`, as
    /// [`from_edges`](Self::from_edges) does of pairs. Without `nodes`, there are as many nodes as
    /// the largest number requires.
    ///
    /// Time is linear in nodes and edges, on all threads. Memory beyond the columns is the graph and
    /// 8 bytes for each of its edges.
    ///
    /// ```
    /// use seawall_graph::Graph;
    ///
    /// let graph = Graph::from_columns(None, &[0_i64, 1, 0], &[1, 2, 2], false)?;
    /// assert_eq!(graph.neighbours(0), [1, 2]);
    /// # Ok::<(), seawall_graph::GraphError>(())
    /// ```
    ///
    /// # Errors
    /// [`GraphError::BadArrays`] for columns of different lengths; [`GraphError::EdgeOutOfRange`]
    /// for a number that is not below `nodes` (one beyond 32 bits, or below 0, is shown as
    /// `u32::MAX`); otherwise as for [`from_edges`](Self::from_edges).
    pub fn from_columns<A: NodeNumber, B: NodeNumber>(
        nodes: Option<u32>,
        sources: &[A],
        targets: &[B],
        undirected: bool,
    ) -> Result<Self, GraphError> {
        if sources.len() != targets.len() {
            return Err(GraphError::BadArrays {
                problem: BinaryProblem::ColumnLengths {
                    sources: sources.len() as u64,
                    targets: targets.len() as u64,
                },
            });
        }
        let most = largest(sources).max(largest(targets));
        let required = most.map_or(0, |most| most.saturating_add(1));
        let found = nodes.map_or(required, u64::from);
        check_counts(IN_MEMORY, found, sources.len() as u64, undirected)?;
        // Checked above to fit.
        let nodes = u32::try_from(found).unwrap_or(u32::MAX);
        if required > found {
            return Err(out_of_range(sources, targets, nodes));
        }
        let direction = Direction::of(undirected);
        let built = rows(sources, targets, nodes, direction);
        let (csr, counts) = built.map_err(too_large)?;
        let graph = Self::from_parts(csr, undirected, Ids::Offset(0));
        Ok(graph.with_counts(counts, Order::Weight))
    }
}

fn largest<A: NodeNumber>(column: &[A]) -> Option<u64> {
    let chunks = column.par_chunks(CHUNK);
    let most = |chunk: &[A]| chunk.iter().map(|number| number.wide()).max();
    chunks.map(most).reduce(|| None, Option::max)
}

/// The first edge with an end that is not below `nodes`.
fn out_of_range<A: NodeNumber, B: NodeNumber>(
    sources: &[A],
    targets: &[B],
    nodes: u32,
) -> GraphError {
    let ends = sources.iter().zip(targets);
    let most = |(source, target): (&A, &B)| {
        let (source, target) = (source.wide(), target.wide());
        if source < u64::from(nodes) {
            target
        } else {
            source
        }
    };
    let mut wrong = ends.map(most).enumerate();
    let wrong = wrong.find(|(_, end)| *end >= u64::from(nodes));
    let (index, end) = wrong.unwrap_or_default();
    GraphError::EdgeOutOfRange {
        index,
        node: u32::try_from(end).unwrap_or(u32::MAX),
        nodes,
    }
}

/// Builds rows of columns whose numbers are below `nodes`.
fn rows<A: NodeNumber, B: NodeNumber>(
    sources: &[A],
    targets: &[B],
    nodes: u32,
    direction: Direction,
) -> Result<(Csr, Counts), Shortage> {
    let buckets = Buckets::of(nodes, sources.len(), direction);
    let ends = |(source, target): (&A, &B)| [source.wide() as u32, target.wide() as u32];
    if direction == Direction::Both && nodes > 1 << 31 {
        // No bit of an end is free for the direction.
        let edges = memory::collect(sources.len(), sources.iter().zip(targets).map(ends))?;
        return build::rows(edges, nodes, direction, Order::Weight);
    }
    let columns = sources.par_chunks(CHUNK).zip(targets.par_chunks(CHUNK));
    let sort =
        |(sources, targets): (&[A], &[B])| buckets.sort(&|| sources.iter().zip(targets).map(ends));
    let chunks: Result<Vec<Chunk>, Shortage> = columns.map(sort).collect();
    buckets.rows(&chunks?, nodes)
}

/// Nodes in equal parts that follow each other.
#[derive(Clone, Copy)]
struct Buckets {
    count: usize,
    /// Bits that number the nodes of a bucket.
    bits: u32,
    direction: Direction,
}

/// Entries of some edges, by bucket: a source and a target, which has the direction in its lowest
/// bit where edges are undirected.
struct Chunk {
    entries: Vec<[u32; 2]>,
    ends: Vec<usize>,
}

impl Chunk {
    fn of(&self, bucket: usize) -> &[[u32; 2]] {
        let start = bucket.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.entries[start..self.ends[bucket]]
    }
}

impl Buckets {
    fn of(nodes: u32, edges: usize, direction: Direction) -> Self {
        let node_bits = radix::bits_of(nodes);
        let bits = (edges / BUCKET).max(1).ilog2() + u32::from(direction == Direction::Both);
        let bits = node_bits - bits.min(BUCKET_BITS).min(node_bits);
        let last = u64::from(nodes.saturating_sub(1)) >> bits;
        Self {
            count: last as usize + 1,
            bits,
            direction,
        }
    }

    /// Nodes of a bucket, the last one excepted.
    fn width(self) -> usize {
        1_usize.checked_shl(self.bits).unwrap_or(usize::MAX)
    }

    #[inline]
    fn index(self, node: u32) -> usize {
        (u64::from(node) >> self.bits) as usize
    }

    /// Sorts edges into buckets; `edges` lists them as often as it is called.
    fn sort<E: Iterator<Item = [u32; 2]>>(self, edges: &impl Fn() -> E) -> Result<Chunk, Shortage> {
        let mut ends = memory::zeroed::<usize>(self.count)?;
        let is_both = self.direction == Direction::Both;
        for [from, to] in edges() {
            ends[self.index(from)] += 1;
            if is_both && from != to {
                ends[self.index(to)] += 1;
            }
        }
        let mut sum = 0;
        for end in &mut ends {
            sum += std::mem::replace(end, sum);
        }
        let mut entries = memory::zeroed::<[u32; 2]>(sum)?;
        memory::prepare(&mut entries);
        let mut put = |bucket: usize, entry: [u32; 2]| {
            let end = &mut ends[bucket];
            entries[*end] = entry;
            *end += 1;
        };
        if is_both {
            for [from, to] in edges() {
                put(self.index(from), [from, to << 1]);
                if from != to {
                    put(self.index(to), [to, from << 1 | 1]);
                }
            }
        } else {
            edges().for_each(|edge| put(self.index(edge[0]), edge));
        }
        Ok(Chunk { entries, ends })
    }

    /// Makes rows of the entries of all chunks.
    fn rows(self, chunks: &[Chunk], nodes: u32) -> Result<(Csr, Counts), Shortage> {
        let mut offsets = memory::zeroed::<u32>(nodes as usize + 1)?;
        let total = chunks.iter().map(|chunk| chunk.entries.len()).sum();
        let mut targets = memory::zeroed::<u32>(total)?;
        let mut rest = targets.as_mut_slice();
        let starts = offsets[..nodes as usize].chunks_mut(self.width());
        let mut parts = Vec::with_capacity(self.count);
        for (bucket, starts) in starts.enumerate() {
            let size: usize = chunks.iter().map(|chunk| chunk.of(bucket).len()).sum();
            let own = rest.split_off_mut(..size).unwrap_or_default();
            parts.push((bucket, starts, own));
        }
        let sizes: Vec<usize> = parts.iter().map(|(_, _, own)| own.len()).collect();
        let made = parts.into_par_iter().map(|(bucket, starts, own)| {
            let first = (bucket as u64) << self.bits;
            let entries = chunks.iter().flat_map(|chunk| chunk.of(bucket));
            self.rows_of(first as u32, entries, starts, own)
        });
        let kept: Vec<(usize, Counts)> = made.collect();
        let (mut place, mut end, mut counts) = (0, 0, Counts::default());
        let mut bases = Vec::with_capacity(kept.len());
        for (size, (kept, found)) in sizes.into_iter().zip(kept) {
            if end < place {
                targets.copy_within(place..place + kept, end);
            }
            bases.push(end as u32);
            place += size;
            end += kept;
            counts = counts.plus(found);
        }
        memory::shorten(&mut targets, end);
        let starts = offsets[..nodes as usize].par_chunks_mut(self.width());
        starts.zip(bases).for_each(|(starts, base)| {
            starts.iter_mut().for_each(|start| *start += base);
        });
        offsets[nodes as usize] = end as u32;
        let csr = Csr {
            offsets,
            targets,
            weights: None,
        };
        Ok((csr, counts))
    }

    /// Makes the rows of a bucket whose first node is `first`: starts of rows, from 0, and targets.
    /// Returns the number of edges that stay, at the front of the targets.
    fn rows_of<'c>(
        self,
        first: u32,
        entries: impl Iterator<Item = &'c [u32; 2]> + Clone,
        starts: &mut [u32],
        targets: &mut [u32],
    ) -> (usize, Counts) {
        for [source, _] in entries.clone() {
            starts[(source - first) as usize] += 1;
        }
        let mut sum = 0;
        for start in starts.iter_mut() {
            sum += std::mem::replace(start, sum);
        }
        for &[source, target] in entries {
            let end = &mut starts[(source - first) as usize];
            targets[*end as usize] = target;
            *end += 1;
        }
        let (mut place, mut kept, mut counts) = (0, 0, Counts::default());
        for (node, start) in (first..).zip(starts) {
            let end = *start as usize;
            let row = &mut targets[place..end];
            if row.len() < LONG_ROW {
                row.sort_unstable();
            } else {
                row.par_sort_unstable();
            }
            *start = kept as u32;
            match self.direction {
                Direction::Directed => {
                    let repeats = row.windows(2).filter(|pair| pair[0] == pair[1]).count();
                    counts.parallel += repeats as u32;
                    counts.loops += loops(row, node);
                    kept = end;
                }
                Direction::Both => kept = join(targets, place..end, kept, node, &mut counts),
            }
            place = end;
        }
        (kept, counts)
    }
}

/// Entries of a sorted row that end at its own node.
fn loops(row: &[u32], node: u32) -> u32 {
    let start = row.partition_point(|target| *target < node);
    let own = row[start..].iter().take_while(|target| **target == node);
    own.count() as u32
}

/// Joins the directions of the edges of a sorted row, and moves them down to `kept`; returns the
/// place after them. Of the edges to a node, as many stay as the direction that lists more lists.
fn join(
    targets: &mut [u32],
    row: std::ops::Range<usize>,
    mut kept: usize,
    node: u32,
    counts: &mut Counts,
) -> usize {
    let mut at = row.start;
    while at < row.end {
        let target = targets[at] >> 1;
        let mut listed = [0_usize; 2];
        while at < row.end && targets[at] >> 1 == target {
            listed[(targets[at] & 1) as usize] += 1;
            at += 1;
        }
        let count = listed[0].max(listed[1]);
        targets[kept..kept + count].fill(target);
        kept += count;
        counts.parallel += (count - 1) as u32;
        if target == node {
            counts.loops += count as u32;
        } else if node < target {
            counts.mirrored += listed[0].min(listed[1]) as u64;
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Rows as the builder of pairs makes them.
    fn expected(nodes: u32, edges: &[[u32; 2]], direction: Direction) -> (Csr, Counts) {
        build::rows(edges.to_vec(), nodes, direction, Order::Weight).unwrap()
    }

    fn found(nodes: u32, edges: &[[u32; 2]], direction: Direction) -> (Csr, Counts) {
        let (sources, targets): (Vec<i64>, Vec<u32>) = edges
            .iter()
            .map(|[source, target]| (i64::from(*source), *target))
            .unzip();
        rows(&sources, &targets, nodes, direction).unwrap()
    }

    fn assert_same(nodes: u32, edges: &[[u32; 2]]) {
        for direction in [Direction::Directed, Direction::Both] {
            let (theirs, their_counts) = expected(nodes, edges, direction);
            let (ours, our_counts) = found(nodes, edges, direction);
            assert!(ours.offsets == theirs.offsets, "{direction:?}");
            assert!(ours.targets == theirs.targets, "{direction:?}");
            assert_eq!(our_counts, their_counts, "{direction:?}");
        }
    }

    proptest! {
        #[test]
        fn columns_make_the_rows_of_pairs(
            ends in prop::collection::vec((0u32..40, 0u32..40), 0..300), more in 1u32..1000
        ) {
            let edges: Vec<[u32; 2]> = ends.iter().map(|&(a, b)| [a, b]).collect();
            assert_same(39 + more, &edges);
        }

        #[test]
        fn numbers_out_of_range_are_errors(ends in prop::collection::vec(-2i64..6, 1..9)) {
            let found = Graph::from_columns(Some(4), &ends, &ends, false);
            let wrong = ends.iter().position(|end| !(0..4).contains(end));
            match (found, wrong) {
                (Ok(graph), None) => prop_assert_eq!(graph.edges() as usize, ends.len()),
                (Err(GraphError::EdgeOutOfRange { index, .. }), Some(wrong)) => {
                    prop_assert_eq!(index, wrong);
                }
                (found, wrong) => prop_assert!(false, "{found:?} where {wrong:?} is wrong"),
            }
        }
    }

    #[test]
    fn many_edges_make_the_rows_of_pairs() {
        let mut state = 5_u64;
        let mut draw = |below: u32| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            ((state >> 33) % u64::from(below)) as u32
        };
        for nodes in [1, 1000, 3_000_000] {
            let mut edges: Vec<[u32; 2]> = (0..CHUNK + 99_999)
                .map(|_| [draw(nodes), draw(nodes)])
                .collect();
            assert_same(nodes, &edges);
            // One row has nearly all edges.
            edges
                .iter_mut()
                .skip(9)
                .for_each(|edge| edge[0] = nodes / 2);
            assert_same(nodes, &edges);
        }
    }

    #[test]
    fn columns_need_equal_lengths_and_few_nodes() {
        let lengths = Graph::from_columns(None, &[1_u32, 2], &[1_u32], true);
        assert!(matches!(lengths, Err(GraphError::BadArrays { .. })));
        let negative = Graph::from_columns(None, &[-1_i32], &[1_i32], true);
        assert!(matches!(negative, Err(GraphError::TooManyNodes { .. })));
        let empty: [u64; 0] = [];
        let none = Graph::from_columns(None, &empty, &empty, true).unwrap();
        assert_eq!((none.nodes(), none.edges()), (0, 0));
        let lone = Graph::from_columns(Some(3), &empty, &empty, false).unwrap();
        assert_eq!(lone.offsets(), [0; 4]);
    }
}
