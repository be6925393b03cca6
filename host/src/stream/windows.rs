//! Windows: the pieces of a file's edges that are read at a time.
//!
//! All windows have the same number of bytes, a power of two, and begin at multiples of it from an
//! aligned place on, so that a disk reads whole sectors. A window may begin and end inside a row,
//! and a row may be longer than many windows. Only the first and the last row of a window can
//! continue in another one.

use crate::graph::disk::{Rows, SwgFile};
use std::ops::Range;

/// Bytes of a word of an edge.
pub(super) const WORD: u64 = 4;

/// Alignment of reads that go around the page cache, and of buffers.
pub(super) const SECTOR: u64 = 4096;

/// Smallest and largest windows. Sections of a file are aligned to the smallest, and one read has
/// fewer than 2^31 bytes.
const SMALLEST: u64 = 64;
const LARGEST: u64 = 1 << 30;

/// Places of the windows of a file.
#[derive(Clone, Debug)]
pub struct Windows {
    /// Place of the targets in the file.
    targets: Range<u64>,
    /// Place of the weights, if they are read.
    weights: Option<Range<u64>>,
    /// Place of the first window, at most that of the targets.
    base: u64,
    /// Bytes of a window, as a power of two.
    shift: u32,
    first_rows: Vec<u32>,
}

/// A piece of the file, and its place in a buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Part {
    /// Place in the file, a multiple of the sector.
    pub(super) file_at: u64,
    /// Place in the buffer, likewise.
    pub(super) at: usize,
    /// Bytes to request: whole sectors.
    pub(super) len: usize,
    /// Bytes that must arrive; the file may end after them.
    pub(super) need: usize,
    /// Bytes before the first edge of the window.
    pub(super) skip: usize,
}

impl Part {
    /// A piece that reads `wanted` of the file to `at` in the buffer.
    fn of(wanted: &Range<u64>, at: u64) -> Self {
        let file_at = wanted.start - wanted.start % SECTOR;
        let len = wanted.end.next_multiple_of(SECTOR) - file_at;
        Self {
            file_at,
            at: at as usize,
            len: len as usize,
            need: (wanted.end - file_at) as usize,
            skip: (wanted.start - file_at) as usize,
        }
    }

    pub(super) fn words<'b>(&self, buffer: &'b [u8]) -> &'b [u32] {
        let bytes = buffer.get(self.at + self.skip..self.at + self.need);
        let words = bytes.map(bytemuck::try_cast_slice);
        words.and_then(Result::ok).unwrap_or(&[])
    }
}

impl Windows {
    /// Divides the edges of `file`, whose rows are `rows`, into windows of `bytes` bytes, rounded
    /// up to a power of two; weights are read too if they are `weighted`.
    pub(super) fn new(file: &SwgFile, rows: &Rows, bytes: u64, weighted: bool) -> Self {
        let targets = file.targets();
        let shift = Self::rounded(bytes).ilog2();
        let mut windows = Self {
            base: targets.start - targets.start % SECTOR.min(1 << shift),
            weights: file.weights().filter(|_| weighted),
            targets,
            shift,
            first_rows: Vec::new(),
        };
        let count = Self::count_of(windows.targets.end - windows.base, shift);
        let count = if rows.edges() == 0 { 0 } else { count };
        let first = |window| rows.row_of(windows.edges(window).start);
        let mut first_rows: Vec<u32> = (0..count).map(first).collect();
        first_rows.push(rows.len());
        windows.first_rows = first_rows;
        windows
    }

    /// The size of a window of about `bytes` bytes.
    pub(super) fn rounded(bytes: u64) -> u64 {
        bytes.clamp(SMALLEST, LARGEST).next_power_of_two()
    }

    /// Bytes that the buffer of a window takes.
    #[must_use]
    pub fn buffer_bytes(&self) -> u64 {
        Self::buffer_bytes_of(self.bytes(), self.weights.is_some())
    }

    fn count_of(bytes: u64, shift: u32) -> usize {
        usize::try_from(bytes.div_ceil(1 << shift)).unwrap_or(usize::MAX)
    }

    /// Number of windows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.first_rows.len() - 1
    }

    /// Returns whether there are none, because there are no edges.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of a window.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        1 << self.shift
    }

    /// Bytes of the first window before the first edge.
    pub(super) const fn skew(&self) -> u64 {
        self.targets.start - self.base
    }

    /// Bytes of all edges, of the sections that are read.
    #[must_use]
    pub fn edge_bytes(&self) -> u64 {
        let sections = 1 + u64::from(self.weights.is_some());
        (self.targets.end - self.targets.start) * sections
    }

    /// The edges of a window.
    #[must_use]
    pub fn edges(&self, window: usize) -> Range<u64> {
        let at = |window: u64| {
            let place = self.base + (window << self.shift);
            place.clamp(self.targets.start, self.targets.end) - self.targets.start
        };
        let window = window as u64;
        at(window) / WORD..at(window + 1) / WORD
    }

    #[inline]
    pub(super) fn of_edge(&self, edge: u64) -> usize {
        let place = self.targets.start - self.base + edge * WORD;
        (place >> self.shift) as usize
    }

    /// The rows that have edges in a window, and the empty ones between them.
    pub(super) fn rows(&self, window: usize) -> Range<u32> {
        let first = self.first_rows[window];
        let after = self.first_rows[window + 1];
        // The first row of the next window has edges in this one, or begins there.
        first..after.saturating_add(1)
    }

    /// The windows that hold the edges of a row, which has some.
    #[inline]
    pub(super) fn of_row(&self, row: &Range<u64>) -> Range<usize> {
        self.of_edge(row.start)..self.of_edge(row.end - 1) + 1
    }

    /// Bytes of a buffer for windows of `bytes` bytes.
    pub(super) fn buffer_bytes_of(bytes: u64, weighted: bool) -> u64 {
        let targets = bytes.max(SECTOR) + SECTOR;
        if weighted {
            2 * targets + SECTOR
        } else {
            targets
        }
    }

    pub(super) fn list_bytes(edges: u64, bytes: u64) -> u64 {
        (edges.saturating_mul(WORD) / bytes + 3) * WORD
    }

    /// The pieces of the file that fill a buffer for a window.
    pub(super) fn parts(&self, window: usize) -> [Option<Part>; 2] {
        let edges = self.edges(window);
        let place = |start: u64| start + WORD * edges.start..start + WORD * edges.end;
        let targets = Part::of(&place(self.targets.start), 0);
        let at = targets.len as u64;
        let weights = self.weights.as_ref();
        [
            Some(targets),
            weights.map(|weights| Part::of(&place(weights.start), at)),
        ]
    }
}
