//! Consumers of windows: the interface, and the threads that compute.

use super::checks::Checked;
use super::read::{Fill, ReaderChoice};
use super::view::View;
use super::windows::Windows;
use crate::backend::{BackendError, Canceller};
use crate::graph::BinaryProblem;
use crate::graph::disk::{Rows, SwgFile};
use crate::run::RunError;
use std::fs::File;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, Scope};
use std::time::{Duration, Instant};

/// Work on the edges of a window, by several threads on several windows at a time.
pub(super) trait Kernel: Sync {
    /// Returns whether the window has work. Called before it is read.
    fn wants(&self, _window: usize) -> bool {
        true
    }

    /// Does the work of a window; may leave some of it for a later pass once the run `is_over`.
    fn take(&self, view: &View<'_>, is_over: &dyn Fn() -> bool) -> Result<(), BinaryProblem>;
}

/// State that passes have in common.
pub(super) struct Setup<'a> {
    pub(super) file: &'a SwgFile,
    pub(super) rows: &'a Rows,
    pub(super) windows: &'a Windows,
    pub(super) checked: &'a Checked,
    pub(super) reader: ReaderChoice,
    /// Most windows that are read or computed with at a time.
    pub(super) flight: usize,
    /// Whether each window has its own buffer, in which it stays.
    pub(super) keeps: bool,
    /// The file, read around the page cache.
    pub(super) direct: Option<File>,
    pub(super) limits: Limits<'a>,
}

/// Limits of a run, checked between windows.
pub(super) struct Limits<'a> {
    pub(super) started: Instant,
    pub(super) time_budget_ns: u64,
    pub(super) canceller: &'a Canceller,
}

impl Limits<'_> {
    /// Returns whether the run has to end.
    fn are_over(&self) -> bool {
        self.canceller.is_asked() || self.started.elapsed() >= self.budget()
    }

    fn budget(&self) -> Duration {
        Duration::from_nanos(self.time_budget_ns)
    }

    pub(super) fn check(&self, passes: u64) -> Result<(), RunError> {
        if self.canceller.is_asked() {
            self.canceller.settle()?;
        }
        if self.started.elapsed() < self.budget() {
            return Ok(());
        }
        Err(RunError::StreamTime {
            pass: passes + 1,
            time_budget_ns: self.time_budget_ns,
        })
    }
}

/// A finished window, and its buffer with its number.
pub(super) struct Done<'b> {
    /// `None` if the window was in the consumer's own memory.
    pub(super) buffer: Option<(usize, &'b mut [u8])>,
    pub(super) end: Result<(), BinaryProblem>,
}

pub(super) trait WindowConsumer<'b> {
    fn computing(&self) -> usize;
    /// Passes it a window.
    fn send(&mut self, fill: Fill<'b>) -> Result<(), RunError>;
    /// Makes it compute with a window that it has kept; returns `false` if it has not.
    fn again(&mut self, window: usize) -> bool {
        let _ = window;
        false
    }
    /// Returns a finished window; may wait some time for one.
    fn take(&mut self, waits: bool) -> Result<Option<Done<'b>>, RunError>;
    /// Does the work after `passes` passes, while it has no window.
    fn step(&mut self, passes: u64) -> Result<(), RunError> {
        let _ = passes;
        Ok(())
    }
}

pub(super) struct Threads<'b> {
    to: Sender<Fill<'b>>,
    from: Receiver<Done<'b>>,
    computing: usize,
}

impl<'b> Threads<'b> {
    pub(super) fn start<'s>(
        scope: &'s Scope<'s, '_>,
        setup: &'s Setup<'_>,
        kernel: &'s dyn Kernel,
        threads: usize,
    ) -> Result<Self, RunError>
    where
        'b: 's,
    {
        let (to, work) = channel();
        let (done, from) = channel();
        let work = Arc::new(Mutex::new(work));
        for _ in 0..threads {
            let worker = Worker {
                setup,
                kernel,
                work: Arc::clone(&work),
                done: done.clone(),
            };
            worker.start(scope, threads)?;
        }
        // Only threads hold the other end from here on, so that their end is noticed.
        Ok(Self {
            to,
            from,
            computing: 0,
        })
    }
}

impl<'b> WindowConsumer<'b> for Threads<'b> {
    fn computing(&self) -> usize {
        self.computing
    }

    fn send(&mut self, fill: Fill<'b>) -> Result<(), RunError> {
        self.computing += 1;
        // Threads end only after the sender is dropped.
        let _ = self.to.send(fill);
        Ok(())
    }

    fn take(&mut self, waits: bool) -> Result<Option<Done<'b>>, RunError> {
        let done = if waits {
            // All threads panicked, which the end of the scope passes on.
            let ended = |_| BackendError::Cancelled;
            Some(self.from.recv().map_err(ended)?)
        } else {
            self.from.try_recv().ok()
        };
        self.computing -= usize::from(done.is_some());
        Ok(done)
    }
}

struct Worker<'s, 'b, 'a> {
    setup: &'s Setup<'a>,
    kernel: &'s dyn Kernel,
    work: Arc<Mutex<Receiver<Fill<'b>>>>,
    done: Sender<Done<'b>>,
}

impl<'s, 'b: 's> Worker<'s, 'b, '_> {
    fn start(self, scope: &'s Scope<'s, '_>, threads: usize) -> Result<(), RunError>
    where
        Self: 's,
    {
        let thread = Builder::new().name("seawall-stream".to_owned());
        let started = thread.spawn_scoped(scope, move || while self.next().is_some() {});
        started.map_err(|error| BackendError::Threads {
            threads,
            reason: error.to_string(),
        })?;
        Ok(())
    }

    /// Takes a window; `None` after the last one.
    fn next(&self) -> Option<()> {
        let next = self
            .work
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .recv();
        let fill = next.ok()?;
        let end = self.take(&fill);
        let buffer = Some((fill.slot, fill.bytes));
        self.done.send(Done { buffer, end }).ok()
    }

    fn take(&self, fill: &Fill<'_>) -> Result<(), BinaryProblem> {
        let Setup {
            windows,
            rows,
            checked,
            limits,
            ..
        } = self.setup;
        let Some(view) = View::of(windows, rows, fill.window, fill.bytes) else {
            return Ok(());
        };
        checked.check(&view)?;
        self.kernel.take(&view, &|| limits.are_over())
    }
}
