//! The reads of a streamed run.

use super::windows::Windows;
use serde::Serialize;

/// Passes that a report keeps one by one; later ones are in the sums.
pub const PASSES_KEPT: usize = 4096;

/// A pass over the edges.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct PassSummary {
    /// Windows that were read.
    pub windows_read: u64,
    /// Windows that were in memory, since an earlier pass had read them.
    pub windows_kept: u64,
    /// Windows that were skipped, since they had no work.
    pub windows_skipped: u64,
    /// Bytes of edges that were read.
    pub read_bytes: u64,
    /// Bytes of edges that were in memory.
    pub kept_bytes: u64,
    /// Bytes of edges that were skipped.
    pub skipped_bytes: u64,
    /// Time of the pass, nanoseconds.
    pub duration_ns: u64,
}

impl PassSummary {
    pub(super) const fn read(&mut self, bytes: u64) {
        self.windows_read += 1;
        self.read_bytes += bytes;
    }

    pub(super) const fn keep(&mut self, bytes: u64) {
        self.windows_kept += 1;
        self.kept_bytes += bytes;
    }

    pub(super) const fn skip(&mut self, bytes: u64) {
        self.windows_skipped += 1;
        self.skipped_bytes += bytes;
    }
}

/// The reads of all passes so far, and their method.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    pub(super) reader: &'static str,
    pub(super) direct: bool,
    /// Whether windows stay in memory.
    pub(super) keeps: bool,
    /// The machine that computed, if not CPU threads.
    pub(super) machine: String,
    pub(super) passes: u64,
    pub(super) streamed_bytes: u64,
    pub(super) kept_bytes: u64,
    pub(super) skipped_bytes: u64,
    /// The first passes.
    pub(super) listed: Vec<PassSummary>,
}

impl Tally {
    pub(super) fn add(&mut self, pass: PassSummary) {
        self.passes += 1;
        self.streamed_bytes = self.streamed_bytes.saturating_add(pass.read_bytes);
        self.kept_bytes = self.kept_bytes.saturating_add(pass.kept_bytes);
        self.skipped_bytes = self.skipped_bytes.saturating_add(pass.skipped_bytes);
        if self.listed.len() < PASSES_KEPT {
            self.listed.push(pass);
        }
    }

    pub(super) fn report(&self, windows: &Windows, buffers: u64) -> StreamReport {
        StreamReport {
            streamed_bytes: self.streamed_bytes,
            kept_bytes: self.kept_bytes,
            skipped_bytes: self.skipped_bytes,
            edge_bytes: windows.edge_bytes(),
            passes: self.passes,
            window_bytes: windows.bytes(),
            windows: windows.len() as u64,
            buffers,
            keeps: self.keeps,
            reader: self.reader,
            direct: self.direct,
            pass_list: self.listed.clone(),
        }
    }
}

/// Edges that came from a file while a run needed them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct StreamReport {
    /// Bytes of edges that were read, in all passes.
    pub streamed_bytes: u64,
    /// Bytes of edges that passes found in memory, since an earlier one had read them.
    pub kept_bytes: u64,
    /// Bytes of edges that passes skipped, since no row there had work.
    pub skipped_bytes: u64,
    /// Bytes of the edges in the sections of the file that are read.
    pub edge_bytes: u64,
    /// Passes over the edges.
    pub passes: u64,
    /// Bytes of a window.
    pub window_bytes: u64,
    /// Windows of the file.
    pub windows: u64,
    /// Buffers: windows that are read or computed with at a time, or all of them.
    pub buffers: u64,
    /// Whether windows stay in memory once they were read.
    pub keeps: bool,
    /// The reader.
    pub reader: &'static str,
    /// Whether reads went around the page cache.
    pub direct: bool,
    /// The first [`PASSES_KEPT`] passes; in JSON with `--explain`.
    #[serde(skip)]
    pub pass_list: Vec<PassSummary>,
}
