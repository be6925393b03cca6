//! A filled window: a sub-graph of some edges, with the rows that they are in.

use super::windows::Windows;
use crate::graph::disk::Rows;
use std::ops::Range;

/// The edges of a window.
#[derive(Clone, Debug)]
pub struct View<'a> {
    /// Number of the window.
    pub window: usize,
    /// The edges, by their numbers in the graph.
    pub edges: Range<u64>,
    /// Rows that may have edges here: the first one may continue from an earlier window, the last
    /// one may continue in a later window, or have no edges here.
    pub rows: Range<u32>,
    /// Offsets of all rows of the graph.
    pub starts: &'a Rows,
    /// Targets of the edges.
    pub targets: &'a [u32],
    /// Weights of the edges, if they are read.
    pub weights: Option<&'a [u32]>,
}

impl<'a> View<'a> {
    /// The window of a filled buffer. `None` if the buffer has another number of edges.
    pub(super) fn of(
        windows: &Windows,
        starts: &'a Rows,
        window: usize,
        buffer: &'a [u8],
    ) -> Option<Self> {
        let edges = windows.edges(window);
        let count = edges.end - edges.start;
        let [targets, weights] = windows
            .parts(window)
            .map(|part| part.map(|part| part.words(buffer)));
        let is_whole = |words: &[u32]| words.len() as u64 == count;
        let targets = targets.filter(|words| is_whole(words))?;
        if !weights.is_none_or(is_whole) {
            return None;
        }
        let mut rows = windows.rows(window);
        rows.end = rows.end.min(starts.len());
        Some(Self {
            window,
            edges,
            rows,
            starts,
            targets,
            weights,
        })
    }

    /// The edges of a row that are in the window, as indices into [`Self::targets`].
    #[inline]
    #[must_use]
    pub fn row(&self, row: u32) -> Range<usize> {
        let all = self.starts.row(row);
        let inside =
            |edge: u64| (edge.clamp(self.edges.start, self.edges.end) - self.edges.start) as usize;
        inside(all.start)..inside(all.end)
    }

    /// Calls `take` with each row that has edges here, and their indices.
    #[inline]
    pub(super) fn each_row<E>(
        &self,
        mut take: impl FnMut(u32, Range<usize>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut start = 0;
        for row in self.rows.clone() {
            let end = self.starts.start(row + 1).min(self.edges.end) - self.edges.start;
            let end = end as usize;
            if start < end {
                take(row, start..end)?;
            }
            start = end;
        }
        Ok(())
    }
}
