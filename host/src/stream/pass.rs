//! A pass for a caller's own work on windows, in the caller's own buffers.
//!
//! It serves other machines that take edges from the host's memory, such as a GPU from pinned
//! memory: the reader fills the buffers in place, without a copy.

use super::checks::Checked;
use super::consumer::{Kernel, Limits, Setup};
use super::read::{Caching, ReaderChoice};
use super::report::{StreamReport, Tally};
use super::sweep::{Hands, direct, sweep};
use super::view::View;
use super::windows::{SECTOR, Windows};
use super::{StreamOptions, Streamed};
use crate::backend::{BackendError, Canceller};
use crate::executor::TIME_BUDGET_NS;
use crate::graph::BinaryProblem;
use crate::run::RunError;
use std::num::NonZeroUsize;
use std::time::Instant;

/// A pass over all windows.
pub struct Pass<'b> {
    /// Memory for windows, one window per buffer; each must have at least [`Windows::buffer_bytes`]
    /// from a multiple of 4096 bytes on. Two or more let reads and work overlap.
    pub buffers: Vec<&'b mut [u8]>,
    /// Threads that do the work.
    pub threads: NonZeroUsize,
    /// The reader.
    pub reader: ReaderChoice,
    /// Whether reads go around the page cache.
    pub caching: Caching,
    /// Time of the pass, nanoseconds.
    pub time_budget_ns: u64,
    /// Ends the pass from another thread.
    pub canceller: Canceller,
}

impl<'b> Pass<'b> {
    /// A pass through `buffers` with one thread.
    #[must_use]
    pub fn new(buffers: Vec<&'b mut [u8]>) -> Self {
        let StreamOptions {
            reader, caching, ..
        } = StreamOptions::default();
        Self {
            buffers,
            threads: NonZeroUsize::MIN,
            reader,
            caching,
            time_budget_ns: TIME_BUDGET_NS,
            canceller: Canceller::default(),
        }
    }
}

/// Work that a caller does on windows.
struct Given<'a>(&'a (dyn Fn(&View<'_>) + Sync));

impl Kernel for Given<'_> {
    fn take(&self, view: &View<'_>, _: &dyn Fn() -> bool) -> Result<(), BinaryProblem> {
        self.0(view);
        Ok(())
    }
}

impl Streamed {
    /// Divides the edges into windows of `bytes` bytes, rounded up to a power of two from 64 to
    /// 2^30; with weights if `weighted` and the file has some.
    #[must_use]
    pub fn windows(&self, bytes: u64, weighted: bool) -> Windows {
        Windows::new(&self.file, &self.rows, bytes, weighted)
    }

    /// Reads all windows once and calls `take` with each, on the threads of the pass, in any
    /// order. Edges are checked first: targets are nodes, and rows ascend.
    ///
    /// ```
    /// use seawall::graph::{LoadOptions, load, save};
    /// use seawall::stream::{Pass, Streamed};
    /// use std::sync::atomic::{AtomicU64, Ordering};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("grid.swg");
    /// save(&load("gen:grid:50", &LoadOptions::default(), None)?.graph, &path, None)?;
    ///
    /// let streamed = Streamed::open(&path)?.expect("a .swg file");
    /// let windows = streamed.windows(8192, false);
    /// let each = windows.buffer_bytes() as usize + 4096;
    /// let mut memory = vec![0; 3 * each];
    /// let sum = AtomicU64::new(0);
    /// let pass = Pass::new(memory.chunks_exact_mut(each).collect());
    /// streamed.pass(&windows, pass, &|window| {
    ///     let targets = window.targets.iter().map(|to| u64::from(*to));
    ///     sum.fetch_add(targets.sum(), Ordering::Relaxed);
    /// })?;
    /// assert_eq!(sum.into_inner(), 4 * 2500 * 2499 / 2 - 2 * 50 * 2499);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`BackendError::OutOfMemory`] if a buffer is too short or there is none; otherwise as
    /// [`Self::run`].
    pub fn pass(
        &self,
        windows: &Windows,
        pass: Pass<'_>,
        take: &(dyn Fn(&View<'_>) + Sync),
    ) -> Result<StreamReport, RunError> {
        let buffers = aligned(pass.buffers, windows.buffer_bytes())?;
        let count = buffers.len() as u64;
        let checked = Checked::new(windows.len(), &self.file);
        let setup = Setup {
            file: &self.file,
            rows: &self.rows,
            windows,
            checked: &checked,
            reader: pass.reader,
            flight: buffers.len(),
            keeps: false,
            direct: direct(&self.file, pass.caching),
            limits: Limits {
                started: Instant::now(),
                time_budget_ns: pass.time_budget_ns,
                canceller: &pass.canceller,
            },
        };
        let mut tally = Tally::default();
        let hands = Hands::Threads(pass.threads.get());
        let given = Given(take);
        sweep(&setup, &given, &hands, buffers, &mut tally, |sweep| {
            sweep.pass()
        })?;
        Ok(tally.report(windows, count))
    }
}

/// The parts of `buffers` that start at a sector.
fn aligned(buffers: Vec<&mut [u8]>, bytes: u64) -> Result<Vec<&mut [u8]>, RunError> {
    let short = |available| BackendError::OutOfMemory {
        what: "the buffer of a window, at a multiple of 4096 bytes,",
        needed: bytes,
        available,
    };
    if buffers.is_empty() {
        return Err(short(0).into());
    }
    let each = buffers.into_iter().map(|buffer| {
        let skip = buffer.as_ptr().align_offset(SECTOR as usize);
        let available = buffer.len().saturating_sub(skip) as u64;
        let memory_plan = buffer.get_mut(skip..).filter(|_| available >= bytes);
        memory_plan.ok_or_else(|| short(available).into())
    });
    each.collect()
}
