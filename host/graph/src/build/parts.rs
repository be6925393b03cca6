//! Cuts of sorted edges into parts for threads.
//!
//! A cut never divides a row. So a part owns its rows, and parts need no reconciliation.

use std::ops::Range;

use rayon::prelude::*;

use crate::memory::{self, Shortage, cut};

/// Parts per thread, as threads differ in speed.
const PARTS: usize = 8;
/// With fewer edges, a part is not worth a thread.
const PART_EDGES: usize = 1 << 14;

pub(super) fn parts_of(edges: usize) -> usize {
    (edges / PART_EDGES).clamp(1, PARTS * rayon::current_num_threads())
}

/// Ends of consecutive parts of sorted edges; the first one starts at 0.
pub(super) struct Cuts(Vec<usize>);

impl Cuts {
    /// Cuts sorted edges where a row starts.
    pub(super) fn of<const N: usize>(edges: &[[u32; N]]) -> Self {
        let parts = parts_of(edges.len());
        let end = |part: usize| {
            let near = (edges.len() as u128 * part as u128 / parts as u128) as usize;
            let row = edges.get(near).map_or(u32::MAX, |edge| edge[0]);
            edges.partition_point(|edge| edge[0] < row)
        };
        let mut ends: Vec<usize> = (1..parts).map(end).collect();
        ends.push(edges.len());
        Self(ends)
    }

    /// The parts as ranges of edges; some may be empty.
    pub(super) fn ranges(&self) -> impl Iterator<Item = Range<usize>> {
        let starts = std::iter::once(0).chain(self.0.iter().copied());
        starts.zip(&self.0).map(|(start, &end)| start..end)
    }

    /// Splits an array with `width` items per edge.
    pub(super) fn split<'a, T>(&self, items: &'a mut [T], width: usize) -> Vec<&'a mut [T]> {
        cut(items, self.ranges().map(|range| width * range.len())).collect()
    }

    /// Returns the row offsets of sorted edges that were cut here.
    pub(super) fn offsets<const N: usize>(
        &self,
        edges: &[[u32; N]],
        nodes: u32,
    ) -> Result<Vec<u32>, Shortage> {
        let mut offsets = memory::zeroed::<u32>(nodes as usize + 1)?;
        let mut rest = &mut offsets[1..];
        let (mut first, mut parts) = (0, Vec::new());
        for range in self.ranges() {
            // A part fills the words up to the first row of the next one.
            let next = edges.get(range.end).map_or(nodes, |edge| edge[0]);
            let own = rest.split_off_mut(..(next - first) as usize);
            parts.push((range, first, own.unwrap_or_default()));
            first = next;
        }
        parts.into_par_iter().for_each(|(range, first, ends)| {
            let mut at = range.start;
            for (node, end) in (first..).zip(ends) {
                at += edges[at..range.end]
                    .iter()
                    .take_while(|edge| edge[0] == node)
                    .count();
                *end = at as u32;
            }
        });
        Ok(offsets)
    }
}
