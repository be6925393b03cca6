//! Passes over the edges: windows flow from the file through a reader to threads that compute.
//!
//! Buffers circulate: the reader fills one while threads compute with others; the last thread of a
//! pass to finish ends it. A pass skips windows that its kernel does not want.

use super::consumer::{Done, Kernel, Setup, Threads, WindowConsumer};
use super::machine::Machine;
use super::read::{self, Caching, Fill, Reader, Source};
use super::windows::{WORD, Windows};
use crate::graph::disk::SwgFile;
use crate::run::RunError;
use crate::stream::report::{PassSummary, Tally};
use crate::units::elapsed_ns;
use std::fs::File;
use std::io;
use std::time::Instant;

/// Returns whether reads should go around the page cache.
pub(super) fn direct(file: &SwgFile, caching: Caching) -> Option<File> {
    let edges = file.targets();
    let bytes = edges.end - edges.start;
    let memory_plan = crate::graph::memory::physical();
    let is_wanted = match caching {
        Caching::Direct => true,
        Caching::Cached => false,
        Caching::Auto => memory_plan.is_some_and(|memory_plan| bytes > memory_plan),
    };
    is_wanted
        .then(|| read::open_direct(file.path(), file.file()))
        .flatten()
}

/// The consumer of a run.
pub(super) enum Hands<'m> {
    Threads(usize),
    /// A persistent kernel on a machine.
    Machine(&'m Machine<'m>),
}

/// The machinery of passes while it runs.
pub(super) struct Sweep<'s, 'b, 'a> {
    setup: &'s Setup<'a>,
    kernel: &'s dyn Kernel,
    reader: Box<dyn Reader<'b> + 's>,
    buffers: Vec<Option<&'b mut [u8]>>,
    /// Numbers of free buffers; none if each window has its own.
    free: Vec<usize>,
    /// Windows that the reader has.
    reading: usize,
    consumer: Box<dyn WindowConsumer<'b> + 's>,
    tally: &'s mut Tally,
}

/// Starts a reader and a consumer, and calls `drive`, which makes passes of `kernel`.
pub(super) fn sweep<'b, R>(
    setup: &Setup<'_>,
    kernel: &dyn Kernel,
    hands: &Hands<'_>,
    mut buffers: Vec<&'b mut [u8]>,
    tally: &mut Tally,
    drive: impl FnOnce(&mut Sweep<'_, 'b, '_>) -> Result<R, RunError>,
) -> Result<R, RunError> {
    std::thread::scope(|scope| {
        let source = Source {
            file: setup.file.file(),
            direct: setup.direct.as_ref(),
        };
        // A machine takes windows faster than one thread copies them from the page cache, and the
        // first fill of a buffer also maps its pages.
        let spreads = (setup.keeps || matches!(hands, Hands::Machine(_))) && setup.direct.is_none();
        let (reader, name) = read::start(scope, source, setup.reader, spreads, &mut buffers)
            .map_err(|error| setup.file.unread(error))?;
        tally.reader = name;
        tally.direct = setup.direct.is_some();
        tally.keeps = setup.keeps || matches!(hands, Hands::Machine(machine) if machine.keeps());
        let consumer: Box<dyn WindowConsumer<'b> + '_> = match hands {
            Hands::Threads(threads) => Box::new(Threads::start(scope, setup, kernel, *threads)?),
            Hands::Machine(machine) => Box::new(machine.consumer(setup)),
        };
        let mut sweep = Sweep {
            setup,
            kernel,
            reader,
            free: if setup.keeps {
                Vec::new()
            } else {
                (0..buffers.len()).collect()
            },
            buffers: buffers.into_iter().map(Some).collect(),
            reading: 0,
            consumer,
            tally,
        };
        drive(&mut sweep)
    })
}

impl<'b> Sweep<'_, 'b, '_> {
    /// Passes over all windows that the kernel wants, in order.
    ///
    /// # Errors
    /// If the file changed or cannot be read, an edge is invalid, the time is over, or the run was
    /// cancelled.
    pub(super) fn pass(&mut self) -> Result<(), RunError> {
        let started = Instant::now();
        let mut pass = PassSummary::default();
        let mut next = 0;
        loop {
            self.setup.limits.check(self.tally.passes)?;
            self.collect()?;
            next = self.submit(next, &mut pass)?;
            match self.reader.reap() {
                Some(filled) => {
                    self.reading -= 1;
                    filled.end.map_err(|error| self.unread(error))?;
                    self.consumer.send(filled.fill)?;
                }
                None if self.consumer.computing() > 0 => {
                    if let Some(done) = self.consumer.take(true)? {
                        self.take(done)?;
                    }
                }
                None if next < self.setup.windows.len() => {}
                None => break,
            }
        }
        if pass.windows_read > 0 {
            self.setup.file.check_unchanged()?;
        }
        pass.duration_ns = elapsed_ns(started);
        self.tally.add(pass);
        Ok(())
    }

    /// Hands free buffers to the reader, for the windows from `next` on that have work, and those
    /// that are in memory to the consumer.
    fn submit(&mut self, mut next: usize, pass: &mut PassSummary) -> Result<usize, RunError> {
        let windows = self.setup.windows;
        while next < windows.len() {
            if !self.kernel.wants(next) {
                pass.skip(edge_bytes(windows, next));
                next += 1;
                continue;
            }
            if self.reading + self.consumer.computing() >= self.setup.flight {
                break;
            }
            if self.consumer.again(next) {
                pass.keep(edge_bytes(windows, next));
                next += 1;
                continue;
            }
            let Some((slot, bytes)) = self.buffer(next) else {
                break;
            };
            let parts = windows.parts(next);
            let fill = Fill {
                slot,
                window: next,
                bytes,
                parts,
            };
            if self.setup.keeps && self.setup.checked.has(next) {
                pass.keep(edge_bytes(windows, next));
                self.consumer.send(fill)?;
            } else {
                pass.read(edge_bytes(windows, next));
                self.reading += 1;
                self.reader.submit(fill);
            }
            next += 1;
        }
        Ok(next)
    }

    fn buffer(&mut self, window: usize) -> Option<(usize, &'b mut [u8])> {
        let slot = if self.setup.keeps {
            window
        } else {
            self.free.pop()?
        };
        Some((slot, self.buffers.get_mut(slot)?.take()?))
    }

    /// Work of the consumer between two passes.
    pub(super) fn step(&mut self) -> Result<(), RunError> {
        self.setup.limits.check(self.tally.passes)?;
        self.consumer.step(self.tally.passes)
    }

    /// Takes the buffers that the consumer has finished.
    fn collect(&mut self) -> Result<(), RunError> {
        while let Some(done) = self.consumer.take(false)? {
            self.take(done)?;
        }
        Ok(())
    }

    fn take(&mut self, done: Done<'b>) -> Result<(), RunError> {
        if let Some((slot, bytes)) = done.buffer {
            if let Some(place) = self.buffers.get_mut(slot) {
                *place = Some(bytes);
            }
            if !self.setup.keeps {
                self.free.push(slot);
            }
        }
        done.end
            .map_err(|problem| self.setup.file.bad(problem).into())
    }

    fn unread(&self, error: io::Error) -> RunError {
        let file = self.setup.file;
        if let Err(changed) = file.check_unchanged() {
            return changed.into();
        }
        file.unread(error).into()
    }
}

fn edge_bytes(windows: &Windows, window: usize) -> u64 {
    let edges = windows.edges(window);
    let each = windows.parts(window).iter().flatten().count() as u64;
    (edges.end - edges.start) * WORD * each
}
