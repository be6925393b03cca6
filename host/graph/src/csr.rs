//! Compressed sparse rows: the form in which every backend takes a graph.
//!
//! Node ids and offsets are 32 bits wide, and rows ascend; a target occurs as often as there are
//! edges to it, and a row may hold its own node. This module keeps and transposes such arrays; it
//! does not sort edges ([`super::build`] does) and knows nothing of original ids.

use rayon::prelude::*;

use super::generate::transposed;
use super::memory::{self, Shortage};

/// With fewer edges, a transpose on one thread is faster than starting others.
const PARALLEL_EDGES: usize = 1 << 18;

/// Edges and nodes from which on a transpose sorts edges into parts that a cache holds, if they lead
/// further than to the next nodes.
const SORTED_EDGES: usize = 1 << 22;
const SORTED_NODES: u32 = 1 << 21;
const NEAR: u32 = 1 << 17;

/// Rows that are looked at to see how far edges lead.
const SAMPLES: u32 = 1 << 10;

/// Adjacency in compressed sparse rows.
#[derive(Clone, Debug, Default)]
pub struct Csr {
    pub(super) offsets: Vec<u32>,
    pub(super) targets: Vec<u32>,
    pub(super) weights: Option<Vec<u32>>,
}

impl Csr {
    /// Row offsets: `nodes + 1` ascending indices into [`targets`](Self::targets).
    pub fn offsets(&self) -> &[u32] {
        &self.offsets
    }

    /// Ends of the edges, row after row, ascending within a row.
    pub fn targets(&self) -> &[u32] {
        &self.targets
    }

    /// One weight per edge, in the order of [`targets`](Self::targets), if the graph has weights.
    pub fn weights(&self) -> Option<&[u32]> {
        self.weights.as_deref()
    }

    /// Row offsets, targets and weights.
    #[must_use]
    pub fn into_arrays(self) -> (Vec<u32>, Vec<u32>, Option<Vec<u32>>) {
        (self.offsets, self.targets, self.weights)
    }

    /// Number of nodes.
    pub fn nodes(&self) -> u32 {
        u32::try_from(self.offsets.len().saturating_sub(1)).unwrap_or(u32::MAX)
    }

    /// Number of directed edges.
    pub fn edges(&self) -> u32 {
        u32::try_from(self.targets.len()).unwrap_or(u32::MAX)
    }

    /// The edges of one node as a range into [`targets`](Self::targets); empty if there is no such
    /// node.
    pub fn row(&self, node: u32) -> std::ops::Range<usize> {
        let at = node as usize;
        match (self.offsets.get(at), self.offsets.get(at + 1)) {
            (Some(&from), Some(&to)) => from as usize..to as usize,
            _ => 0..0,
        }
    }

    /// Targets of one node, ascending; empty if there is no such node.
    pub fn neighbours(&self, node: u32) -> &[u32] {
        self.targets.get(self.row(node)).unwrap_or(&[])
    }

    /// Edges from one node to another, as a range into [`targets`](Self::targets); several if they
    /// are parallel.
    pub(super) fn edges_between(&self, from: u32, to: u32) -> std::ops::Range<usize> {
        let row = self.row(from);
        let targets = &self.targets[row.clone()];
        let start = row.start + targets.partition_point(|target| *target < to);
        start..row.start + targets.partition_point(|target| *target <= to)
    }

    /// Number of edges of one node.
    pub fn degree(&self, node: u32) -> u32 {
        let row = self.row(node);
        (row.end - row.start) as u32
    }

    /// Most edges of a node. Takes one pass over the row offsets.
    pub fn longest_row(&self) -> u32 {
        let rows = self.offsets.windows(2).map(|row| row[1] - row[0]);
        rows.max().unwrap_or(0)
    }

    /// Rows of as many nodes, without edges.
    pub(super) fn without_edges(nodes: u32) -> Result<Self, Shortage> {
        Ok(Self {
            offsets: memory::zeroed(nodes as usize + 1)?,
            ..Self::default()
        })
    }

    /// Bytes in memory.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        let words =
            self.offsets.len() + self.targets.len() + self.weights().map_or(0, <[u32]>::len);
        words * size_of::<u32>()
    }

    /// Returns the transpose: row `v` of the result holds each `u` with an edge `u` to `v`.
    ///
    /// Each thread owns a range of result rows, so that it writes one contiguous part of the
    /// arrays and needs neither atomics nor a sort: rows ascend because sources are visited in
    /// order. Parallel edges keep theirs. Time is linear in edges, plus one binary search per row and thread.
    pub(super) fn transpose(&self) -> Result<Csr, Shortage> {
        self.transpose_part(0, self.nodes(), true)
    }

    /// Returns the transpose of the rows of some nodes, which are numbered from `first` on: `nodes`
    /// rows, of which row `v` holds each of them whose row holds `v`, with its weights if `weighted`.
    /// Targets have to be below `nodes`. Work O(n + m).
    ///
    /// # Errors
    /// [`Shortage`].
    #[doc(hidden)]
    pub fn transpose_part(&self, first: u32, nodes: u32, weighted: bool) -> Result<Csr, Shortage> {
        let has_weights = weighted && self.weights.is_some();
        if !has_weights && self.leads_far(first, nodes) {
            return transposed(self, first, nodes);
        }
        self.scattered(first, nodes, has_weights)
    }

    /// Whether most edges lead so far that a cache holds neither counters nor rows of where they lead to:
    /// then sorting them first takes half the time on one thread, and a quarter on two. By a sample.
    fn leads_far(&self, first: u32, nodes: u32) -> bool {
        if nodes < SORTED_NODES || self.targets.len() < SORTED_EDGES {
            return false;
        }
        let step = (self.nodes() / SAMPLES).max(1);
        let rows = (0..self.nodes()).step_by(step as usize);
        let sample = rows.filter_map(|row| Some((first + row, *self.neighbours(row).first()?)));
        let [mut all, mut far] = [0_u32; 2];
        for (from, to) in sample {
            all += 1;
            far += u32::from(from.abs_diff(to) > NEAR);
        }
        2 * far > all
    }

    /// Transposes without a buffer: each edge goes to its place at once, wherever in memory that is.
    fn scattered(&self, first: u32, nodes: u32, weighted: bool) -> Result<Csr, Shortage> {
        let mut offsets = memory::zeroed::<u32>(nodes as usize + 1)?;
        self.count_targets(&mut offsets[1..]);
        for at in 1..offsets.len() {
            offsets[at] += offsets[at - 1];
        }
        let mut targets = memory::zeroed::<u32>(self.targets.len())?;
        let weights = self.weights.as_ref().filter(|_| weighted);
        let mut weights = weights.map(|w| memory::zeroed(w.len())).transpose()?;
        let parts = split_rows(&offsets, parts_for(self.targets.len()));
        let slots = Slots::cut(&parts, &offsets, &mut targets, weights.as_deref_mut());
        let scatter = |slot| self.scatter(first, slot, &offsets);
        // A small graph of a batch has one part, and the other threads have other graphs.
        if slots.len() == 1 {
            slots.into_iter().for_each(scatter);
        } else {
            slots.into_par_iter().for_each(scatter);
        }
        Ok(Csr {
            offsets,
            targets,
            weights,
        })
    }

    /// Returns non-empty ranges of rows with about the same number of edges, one per thread.
    pub(super) fn parts(&self) -> Vec<std::ops::Range<u32>> {
        if self.nodes() == 0 {
            return Vec::new();
        }
        let mut parts = split_rows(&self.offsets, parts_for(self.targets.len()));
        parts.retain(|rows| !rows.is_empty());
        parts
    }

    /// Adds to each of `counts` the edges that lead there. Targets have to be below their number.
    #[doc(hidden)]
    pub fn count_targets(&self, counts: &mut [u32]) {
        let threads = parts_for(self.targets.len());
        if threads == 1 {
            for target in &self.targets {
                counts[*target as usize] += 1;
            }
            return;
        }
        // Each thread counts in a range of its own, and rows ascend.
        let columns = counts.len().div_ceil(threads).max(1);
        let ranges = counts.par_chunks_mut(columns).enumerate();
        ranges.for_each(|(at, counts)| {
            let first = (at * columns) as u32;
            for row in 0..self.nodes() {
                let row = self.neighbours(row);
                let from = row.partition_point(|target| *target < first);
                for target in &row[from..] {
                    match counts.get_mut((target - first) as usize) {
                        Some(count) => *count += 1,
                        None => break,
                    }
                }
            }
        });
    }

    /// Fills a range of rows of the transpose of rows whose nodes are numbered from `start` on.
    fn scatter(&self, start: u32, slot: Slots<'_>, offsets: &[u32]) {
        let first = slot.rows.start;
        let base = offsets[first as usize];
        let mut next: Vec<u32> = offsets[first as usize..slot.rows.end as usize]
            .iter()
            .map(|o| o - base)
            .collect();
        let mut weights = slot.weights;
        for source in 0..self.nodes() {
            let row = self.row(source);
            let from = row.start + self.targets[row.clone()].partition_point(|&t| t < first);
            for edge in from..row.end {
                let target = self.targets[edge];
                if target >= slot.rows.end {
                    break;
                }
                let cursor = &mut next[(target - first) as usize];
                let at = *cursor as usize;
                *cursor += 1;
                slot.targets[at] = start + source;
                if let (Some(out), Some(all)) = (weights.as_deref_mut(), self.weights()) {
                    out[at] = all[edge];
                }
            }
        }
    }
}

/// The part of a transpose that one thread writes.
struct Slots<'a> {
    rows: std::ops::Range<u32>,
    targets: &'a mut [u32],
    weights: Option<&'a mut [u32]>,
}

impl<'a> Slots<'a> {
    fn cut(
        parts: &[std::ops::Range<u32>],
        offsets: &[u32],
        mut targets: &'a mut [u32],
        mut weights: Option<&'a mut [u32]>,
    ) -> Vec<Self> {
        let mut slots = Vec::with_capacity(parts.len());
        for rows in parts {
            let len = (offsets[rows.end as usize] - offsets[rows.start as usize]) as usize;
            let weights = weights.as_mut();
            slots.push(Slots {
                rows: rows.clone(),
                targets: targets.split_off_mut(..len).unwrap_or_default(),
                weights: weights.and_then(|left| left.split_off_mut(..len)),
            });
        }
        slots
    }
}

fn parts_for(edges: usize) -> usize {
    if edges < PARALLEL_EDGES {
        1
    } else {
        rayon::current_num_threads().clamp(1, 64)
    }
}

/// Cuts all rows into consecutive ranges with about the same number of edges.
pub(super) fn split_rows(offsets: &[u32], parts: usize) -> Vec<std::ops::Range<u32>> {
    let nodes = offsets.len() - 1;
    let edges = u64::from(offsets[nodes]);
    let mut cuts: Vec<u32> = (0..=parts as u64)
        .map(|part| {
            let goal = edges * part / parts as u64;
            offsets[..nodes].partition_point(|&o| u64::from(o) < goal) as u32
        })
        .collect();
    cuts[0] = 0;
    cuts[parts] = nodes as u32;
    cuts.windows(2).map(|pair| pair[0]..pair[1]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn csr(offsets: &[u32], targets: &[u32], weights: Option<&[u32]>) -> Csr {
        Csr {
            offsets: offsets.to_vec(),
            targets: targets.to_vec(),
            weights: weights.map(<[u32]>::to_vec),
        }
    }

    #[test]
    fn a_transpose_turns_every_edge_around_and_keeps_its_weight() {
        let forward = csr(&[0, 2, 3, 3], &[1, 2, 2], Some(&[7, 8, 9]));
        let reverse = forward.transpose().unwrap();
        assert_eq!(reverse.offsets(), [0, 0, 1, 3]);
        assert_eq!(reverse.targets(), [0, 0, 1]);
        assert_eq!(reverse.weights(), Some(&[7u32, 8, 9][..]));
    }

    /// Rows of `nodes` nodes, with loops and parallel edges.
    fn drawn(nodes: u32, edges: u32) -> Csr {
        let stream = crate::mix::Stream::new(3, 9);
        let ends = |at: u32| {
            let word = stream.word(u64::from(at));
            let skewed = (word as u32 % nodes) & (word >> 40) as u32;
            [skewed % nodes, (word >> 32) as u32 % nodes]
        };
        let mut all: Vec<[u32; 2]> = (0..edges).map(ends).collect();
        all.sort_unstable();
        let mut offsets = vec![0; nodes as usize + 1];
        all.iter()
            .for_each(|edge| offsets[edge[0] as usize + 1] += 1);
        for at in 1..offsets.len() {
            offsets[at] += offsets[at - 1];
        }
        let targets: Vec<u32> = all.iter().map(|edge| edge[1]).collect();
        csr(&offsets, &targets, None)
    }

    #[test]
    fn sorted_edges_make_the_same_transpose() {
        for (nodes, edges) in [(70_000, 400_000), (300, 300_000), (1, 9), (5, 0)] {
            let rows = drawn(nodes, edges);
            let wanted = rows.transpose().unwrap();
            for threads in [1, 2, 5] {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
                let pool = pool.build().unwrap();
                let found = pool.install(|| transposed(&rows, 0, nodes)).unwrap();
                assert!(found.offsets == wanted.offsets && found.targets == wanted.targets);
            }
        }
        // The rows of nodes 40 and 41 of 50.
        let part = csr(&[0, 2, 5], &[3, 49, 3, 3, 40], None);
        let found = transposed(&part, 40, 50).unwrap();
        assert_eq!(found.targets, [40, 41, 41, 41, 40]);
        assert_eq!(found.neighbours(3), [40, 41, 41]);
        assert_eq!(found.neighbours(49), [40]);
        let found = part.transpose_part(40, 50, true).unwrap();
        assert_eq!(found.neighbours(3), [40, 41, 41]);
    }

    #[test]
    fn an_empty_graph_has_an_empty_transpose() {
        let reverse = csr(&[0], &[], None).transpose().unwrap();
        assert_eq!(reverse.offsets(), [0]);
        assert_eq!(reverse.nodes(), 0);
    }

    #[test]
    fn row_ranges_cover_all_rows_once() {
        let offsets = [0, 5, 5, 5, 6, 20, 20];
        for parts in 1..9 {
            let cuts = split_rows(&offsets, parts);
            assert_eq!(cuts.len(), parts);
            assert_eq!(cuts[0].start, 0);
            assert_eq!(cuts[parts - 1].end, 6);
            assert!(cuts.windows(2).all(|w| w[0].end == w[1].start));
        }
    }

    #[test]
    fn the_row_of_an_unknown_node_is_empty() {
        let graph = csr(&[0, 1, 1], &[1], None);
        assert_eq!(graph.neighbours(0), [1]);
        assert!(graph.neighbours(2).is_empty());
        assert!(graph.neighbours(u32::MAX).is_empty());
        assert_eq!(graph.degree(0), 1);
    }
}
