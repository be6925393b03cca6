//! Loads of graphs on a thread of their own, so that Ctrl-C ends them.

use crate::error;
use crate::waiting::wait;
use pyo3::prelude::*;
use seawall::graph::{GraphError, LoadOptions, Loaded, load};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::sync_channel;
use std::thread::Builder;

/// How far a load is.
#[derive(Debug, Default)]
struct Reading {
    bytes: AtomicU64,
    /// Bytes in all; 0 if they are not known.
    total: AtomicU64,
    is_cancelled: AtomicBool,
}

impl Reading {
    fn hear(&self, bytes: u64, total: Option<u64>) {
        if cfg!(panic = "unwind") && self.is_cancelled.load(Ordering::Relaxed) {
            // Nobody hears of it: the thread of Python has gone on.
            resume_unwind(Box::new(()));
        }
        self.bytes.store(bytes, Ordering::Relaxed);
        self.total.store(total.unwrap_or(0), Ordering::Relaxed);
    }

    fn phase(&self) -> String {
        let bytes = self.bytes.load(Ordering::Relaxed);
        match self.total.load(Ordering::Relaxed) {
            _ if bytes == 0 => "loading".to_owned(),
            0 => format!("reading, {} MB", bytes / 1_000_000),
            total if bytes >= total => "building".to_owned(),
            total => format!("reading, {} %", u128::from(bytes) * 100 / u128::from(total)),
        }
    }
}

/// Loads a file or a generator. After an interrupt, the thread ends by itself, once it has read the
/// next piece of the file.
pub(crate) fn loaded(
    py: Python<'_>,
    path: PathBuf,
    options: LoadOptions,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<Loaded> {
    let (reply, mut answer) = sync_channel::<Result<Loaded, GraphError>>(1);
    let reading = Arc::<Reading>::default();
    let own = Arc::clone(&reading);
    let work = move || {
        let hear = |bytes, total| own.hear(bytes, total);
        let found = catch_unwind(AssertUnwindSafe(|| load(&path, &options, Some(&hear))));
        if let Ok(found) = found {
            let _unheard = reply.send(found);
        }
    };
    Builder::new().name("seawall".to_owned()).spawn(work)?;
    let found = wait(py, &mut answer, progress, || reading.phase());
    let found = found.inspect_err(|_| reading.is_cancelled.store(true, Ordering::Relaxed))?;
    let found = found.ok_or_else(error::ended)?;
    found.map_err(|problem| error::of_graph(py, &problem))
}
