//! Processes that were forked off.
//!
//! Threads do not follow a fork, so that work which waits for the thread pool there never ends. What
//! needs no machine of its own goes on with one thread there; graphs with a resident machine refuse.

use crate::error;
use pyo3::prelude::*;
use rayon::ThreadPoolBuilder;
use seawall::run::Machine;
use std::cell::Cell;
use std::num::NonZeroUsize;
use std::process;
use std::sync::OnceLock;

/// Whether this process was forked off after the library was imported.
pub(crate) fn is_forked() -> bool {
    static STARTED_IN: OnceLock<u32> = OnceLock::new();
    *STARTED_IN.get_or_init(process::id) != process::id()
}

/// Refuses work on resident machines in a forked process.
///
/// # Errors
/// [`MachineError`](error), of the kind `Forked`.
pub(crate) fn check() -> PyResult<()> {
    match is_forked() {
        true => Err(error::forked()),
        false => Ok(()),
    }
}

/// The machine for work that needs none of its own: one thread in a forked process.
pub(crate) fn machine() -> Machine {
    match is_forked() {
        true => Machine::cpu(Some(NonZeroUsize::MIN)),
        false => Machine::auto(),
    }
}

/// Does work that may use all threads; in a forked process, on this one alone.
pub(crate) fn here<T>(work: impl FnOnce() -> T) -> T {
    thread_local! {
        static HAS_POOL: Cell<bool> = const { Cell::new(false) };
    }
    if is_forked() && !HAS_POOL.replace(true) {
        // From now on this thread is the only one of the pool that it asks. Nothing is started, so
        // that this fails only on a thread that has a pool of its own.
        let pool = ThreadPoolBuilder::new().num_threads(1).use_current_thread();
        std::mem::forget(pool.build());
    }
    work()
}

/// As [`here`], without the interpreter's lock.
pub(crate) fn detached<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> T {
    py.detach(|| here(work))
}
