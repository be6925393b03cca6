//! Incoming edges by slices of their sources, so that the shares of a slice stay in a cache of the
//! device while its edges are gathered (Beamer, Asanović, Patterson: "Reducing Pagerank Communication
//! via Propagation Blocking", IPDPS 2017).

use crate::backend::multi::DeviceEdges;
use crate::graph::memory::{Shortage, zeroed};
use rayon::prelude::*;
use std::borrow::Cow;
use std::cmp::Reverse;
use std::mem::take;

/// Nodes of a slice as a power of two: their shares take 16 MB, of a second-level cache of 50 MB on an
/// H100 or H200.
pub(super) const WIDTH_LOG2: u32 = 22;

/// Fewest nodes for which slices pay: the shares of fewer fit the cache.
const NODES_LEAST: u32 = 1 << 24;

/// Rows that a thread takes at a time.
const ROWS: usize = 1 << 14;

/// Whether slices pay for `edges` edges from `nodes` nodes to `own` of them: a row of a slice has one
/// edge at least, on average over all.
pub(super) fn pay(nodes: u32, own: u32, edges: u64) -> bool {
    let slices = u64::from(nodes >> WIDTH_LOG2) + 1;
    nodes >= NODES_LEAST && edges >= slices * u64::from(own)
}

/// The rows and edges of some own nodes in one slice, to be filled.
struct Piece<'a> {
    starts: &'a mut [u32],
    nodes: &'a mut [u32],
    sources: &'a mut [u32],
    /// Edges before them.
    before: u32,
}

/// Nodes of a slice for each of its places of frequent sources, as a power of two: 8,192 places, as on
/// one GPU, where more and fewer were slower. Their shares take 32 KB.
const PLACE_LOG2: u32 = 9;

/// Puts `edges` into slices of `2^width_log2` sources. Rows without edges are left out; each other
/// row has its node beside it. The sources of most edges of a slice get places, if they have a good part
/// of them. Rows must ascend. Work O(m + n s) for s slices, in parallel.
pub(super) fn slice(
    edges: &mut DeviceEdges<'_>,
    nodes: u32,
    width_log2: u32,
) -> Result<(), Shortage> {
    let slices = (nodes >> width_log2) as usize + 1;
    let own = edges.in_offsets.len() - 1;
    let (offsets, from) = (take(&mut edges.in_offsets), take(&mut edges.in_sources));
    let row = |at: usize| &from[offsets[at] as usize..offsets[at + 1] as usize];
    // The parts of a row, one for each slice.
    let parts = |at: usize| {
        let mut rest = row(at);
        (0..slices).map(move |slice| {
            let end = ((slice as u64) + 1) << width_log2;
            let count = rest.partition_point(|source| u64::from(*source) < end);
            rest.split_off(..count).unwrap_or_default()
        })
    };
    let chunks: Vec<_> = (0..own)
        .step_by(ROWS)
        .map(|first| first..own.min(first + ROWS))
        .collect();
    let count = |chunk: &std::ops::Range<usize>| {
        let mut counts = vec![[0_usize; 2]; slices];
        for at in chunk.clone() {
            for (count, part) in counts.iter_mut().zip(parts(at)) {
                count[0] += usize::from(!part.is_empty());
                count[1] += part.len();
            }
        }
        counts
    };
    let counts: Vec<Vec<[usize; 2]>> = chunks.par_iter().map(count).collect();
    let rows: usize = counts.iter().flatten().map(|[rows, _]| rows).sum();
    let mut starts: Vec<u32> = zeroed(rows + 1)?;
    let mut row_nodes: Vec<u32> = zeroed(rows)?;
    let mut sources: Vec<u32> = zeroed(from.len())?;
    let mut slice_edges: Vec<usize> = vec![0; slices];
    for counts in &counts {
        let all = slice_edges.iter_mut().zip(counts);
        all.for_each(|(sum, [_, edges])| *sum += edges);
    }
    let mut pieces: Vec<Vec<Piece<'_>>> = chunks.iter().map(|_| Vec::new()).collect();
    let (mut starts_left, mut nodes_left) = (&mut starts[..rows], &mut row_nodes[..]);
    let (mut sources_left, mut before) = (&mut sources[..], 0);
    for slice in 0..slices {
        for (pieces, counts) in pieces.iter_mut().zip(&counts) {
            let [rows, edges] = counts[slice];
            pieces.push(Piece {
                starts: starts_left.split_off_mut(..rows).unwrap_or_default(),
                nodes: nodes_left.split_off_mut(..rows).unwrap_or_default(),
                sources: sources_left.split_off_mut(..edges).unwrap_or_default(),
                before,
            });
            before += edges as u32;
        }
    }
    let fill = |(chunk, mut pieces): (&std::ops::Range<usize>, Vec<Piece<'_>>)| {
        let mut filled = vec![[0_usize; 2]; slices];
        for at in chunk.clone() {
            let all = pieces.iter_mut().zip(&mut filled).zip(parts(at));
            for ((piece, [rows, edges]), part) in all {
                if part.is_empty() {
                    continue;
                }
                piece.starts[*rows] = piece.before + *edges as u32;
                piece.nodes[*rows] = at as u32;
                piece.sources[*edges..*edges + part.len()].copy_from_slice(part);
                *rows += 1;
                *edges += part.len();
            }
        }
    };
    chunks.par_iter().zip(pieces).for_each(fill);
    starts[rows] = from.len() as u32;
    edges.frequent = place_frequent(&mut sources, &slice_edges, nodes, width_log2)?;
    edges.in_offsets = starts;
    edges.row_nodes = row_nodes;
    edges.in_sources = Cow::Owned(sources);
    Ok(())
}

/// Most edges of a slice that are counted, evenly spread.
const SAMPLE: usize = 1 << 23;

/// Least part of the counted edges of a slice that its frequent sources have: fewer save less than
/// their places cost.
const PART_LEAST: f64 = 1.0 / 8.0;

/// Edges that a thread takes at a time.
const EDGES: usize = 1 << 20;

/// Places of a slice's frequent sources: for each 64 nodes a bit for each that is frequent, and the
/// number of those before them.
struct Places(Vec<[u64; 2]>);

impl Places {
    /// The places of `known`, ascending nodes counted from the slice's first, of `width` ones.
    fn of(known: &[u32], width: usize) -> Result<Self, Shortage> {
        let mut words: Vec<[u64; 2]> = zeroed(width.div_ceil(64))?;
        for at in known {
            words[*at as usize / 64][0] |= 1 << (at % 64);
        }
        let mut sum = 0;
        for [bits, before] in &mut words {
            *before = sum;
            sum += u64::from(bits.count_ones());
        }
        Ok(Self(words))
    }

    /// The place of a node, counted from `base`, or `node` itself; without a branch, since which edges
    /// have one follows no order.
    fn name(&self, node: u32, first: u32, base: u32) -> u32 {
        let at = node - first;
        let [bits, before] = self.0[at as usize / 64];
        let bit = 1_u64 << (at % 64);
        let place = base + before as u32 + (bits & (bit - 1)).count_ones();
        let mask = u32::from(bits & bit != 0).wrapping_neg();
        place & mask | node & !mask
    }
}

/// The sources of most edges of a slice, counted from its first node and ascending: `most` of them,
/// or none if they have too few edges.
fn frequent(sources: &[u32], first: u32, width: usize, most: usize) -> Result<Vec<u32>, Shortage> {
    let mut counts: Vec<u32> = zeroed(width)?;
    let step = sources.len().div_ceil(SAMPLE).max(1);
    let sample = sources.iter().step_by(step);
    let total = sample.len();
    sample.for_each(|source| counts[(source - first) as usize] += 1);
    let mut known: Vec<u32> = (0..width as u32).collect();
    if known.len() > most {
        known.select_nth_unstable_by_key(most, |at| Reverse(counts[*at as usize]));
        known.truncate(most);
    }
    let part: u64 = known.iter().map(|at| u64::from(counts[*at as usize])).sum();
    if part as f64 <= total as f64 * PART_LEAST {
        known.clear();
    }
    known.sort_unstable();
    Ok(known)
}

/// Gives the sources of most edges of each slice a place, and names it in their edges instead of the
/// node; returns the node of each place. There are as many places for graphs of as many nodes: those
/// that no source has are of a node of the slice or the last one. `edges` has the number of edges of
/// each slice, of which `sources` are. Work O(m + n), in parallel.
fn place_frequent(
    sources: &mut [u32],
    edges: &[usize],
    nodes: u32,
    width_log2: u32,
) -> Result<Vec<u32>, Shortage> {
    let places = 1_usize << width_log2.saturating_sub(PLACE_LOG2);
    let all = places * edges.len();
    if nodes == 0 || u64::from(nodes) + all as u64 > u64::from(u32::MAX) {
        return Ok(Vec::new());
    }
    let mut of_place: Vec<u32> = zeroed(all)?;
    let mut left = sources;
    let slices: Vec<(&mut [u32], &mut [u32])> = edges
        .iter()
        .zip(of_place.chunks_exact_mut(places))
        .map(|(count, of_place)| {
            let sources = left.split_off_mut(..*count).unwrap_or_default();
            (sources, of_place)
        })
        .collect();
    let place = |(slice, (sources, of_place)): (usize, (&mut [u32], &mut [u32]))| {
        let first = (slice as u32) << width_log2;
        let width = (nodes - first).min(1 << width_log2) as usize;
        let known = frequent(sources, first, width, places)?;
        of_place.fill(first.min(nodes - 1));
        for (node, at) in of_place.iter_mut().zip(&known) {
            *node = first + at;
        }
        if known.is_empty() {
            return Ok(());
        }
        let of_node = Places::of(&known, width)?;
        let base = nodes + (slice * places) as u32;
        sources.par_chunks_mut(EDGES).for_each(|chunk| {
            for source in chunk {
                *source = of_node.name(*source, first, base);
            }
        });
        Ok(())
    };
    slices.into_par_iter().enumerate().try_for_each(place)?;
    Ok(of_place)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]

        #[test]
        fn slices_have_each_edge_once_and_ascend(
            mut rows in prop::collection::vec(prop::collection::vec(0..900_u32, 0..30), 0..60),
            width_log2 in 5..11_u32,
        ) {
            rows.iter_mut().for_each(|row| row.sort_unstable());
            let from: Vec<u32> = rows.concat();
            let mut end = 0;
            let mut offsets = vec![0];
            offsets.extend(rows.iter().map(|row| {
                end += row.len() as u32;
                end
            }));
            let mut edges = DeviceEdges {
                in_offsets: offsets,
                in_sources: Cow::Borrowed(&from),
                ..DeviceEdges::default()
            };
            slice(&mut edges, 900, width_log2).unwrap();
            let nodes = |named: &[u32]| -> Vec<u32> {
                let node = |at: &u32| match at.checked_sub(900) {
                    None => *at,
                    Some(place) => edges.frequent[place as usize],
                };
                named.iter().map(node).collect()
            };
            let places = 1 << width_log2.saturating_sub(PLACE_LOG2);
            prop_assert_eq!(edges.frequent.len(), places * ((900 >> width_log2) + 1));
            prop_assert_eq!(edges.in_offsets.len(), edges.row_nodes.len() + 1);
            let mut found: Vec<Vec<u32>> = vec![Vec::new(); rows.len()];
            let mut last = 0;
            for (ends, node) in edges.in_offsets.windows(2).zip(&edges.row_nodes) {
                let row = nodes(&edges.in_sources[ends[0] as usize..ends[1] as usize]);
                let slice = row[0] >> width_log2;
                prop_assert!(row.iter().all(|source| source >> width_log2 == slice));
                prop_assert!(slice >= last);
                last = slice;
                found[*node as usize].extend(row);
            }
            // Where sources have places, they have as many edges as any other of their slice, and
            // none by their number.
            let count = |node: u32| from.iter().filter(|from| **from == node).count();
            let slice_of = |source: u32| match source.checked_sub(900) {
                None => (source >> width_log2) as usize,
                Some(place) => place as usize / places,
            };
            let placed = edges.in_sources.iter().filter(|source| **source >= 900);
            let placed: BTreeSet<usize> = placed.map(|source| slice_of(*source)).collect();
            for source in edges.in_sources.iter().filter(|source| **source < 900) {
                let slice = slice_of(*source);
                if placed.contains(&slice) {
                    for frequent in &edges.frequent[slice * places..(slice + 1) * places] {
                        prop_assert!(frequent != source && count(*frequent) >= count(*source));
                    }
                }
            }
            prop_assert_eq!(found, rows);
        }
    }

    #[test]
    fn large_graphs_of_many_edges_have_slices() {
        // Half of gen:rmat:26:16.
        assert!(pay(1 << 26, 1 << 25, 1 << 30));
        // Roads, and a graph whose shares the cache holds.
        assert!(!pay(1 << 26, 1 << 25, 1 << 27));
        assert!(!pay(1 << 22, 1 << 21, 1 << 27));
    }
}
