//! Incoming edges by slices of their sources, so that the shares of a slice stay in a cache of the
//! device while its edges are gathered (Beamer, Asanović, Patterson: "Reducing Pagerank Communication
//! via Propagation Blocking", IPDPS 2017).

use crate::backend::multi::DeviceEdges;
use crate::graph::memory::{Shortage, zeroed};
use rayon::prelude::*;
use std::borrow::Cow;
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

/// Puts `edges` into slices of `2^width_log2` sources. Rows without edges are left out; each other
/// row has its node beside it. Rows must ascend. Work O(m + n s) for s slices, in parallel.
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
    edges.in_offsets = starts;
    edges.row_nodes = row_nodes;
    edges.in_sources = Cow::Owned(sources);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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
            prop_assert_eq!(edges.in_offsets.len(), edges.row_nodes.len() + 1);
            let mut found: Vec<Vec<u32>> = vec![Vec::new(); rows.len()];
            let mut last = 0;
            for (ends, node) in edges.in_offsets.windows(2).zip(&edges.row_nodes) {
                let row = &edges.in_sources[ends[0] as usize..ends[1] as usize];
                let slice = row[0] >> width_log2;
                prop_assert!(row.iter().all(|source| source >> width_log2 == slice));
                prop_assert!(slice >= last);
                last = slice;
                found[*node as usize].extend(row);
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
