//! Waits of Python's thread for the answer of another one.

use crate::error::ended;
use crate::forked::{detached, here};
use pyo3::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

/// Time between two looks for Ctrl-C, and between two reports of progress.
const LOOK: Duration = Duration::from_millis(50);

/// Waits for an answer, without the interpreter's lock; `progress` is called with the phase and the
/// seconds so far. `None` if the other thread ended without one.
///
/// # Errors
/// An interrupt, or what `progress` raised.
pub(crate) fn wait<T: Send>(
    py: Python<'_>,
    answer: &mut Receiver<T>,
    progress: Option<&Bound<'_, PyAny>>,
    phase: impl Fn() -> String,
) -> PyResult<Option<T>> {
    let clock = Instant::now();
    loop {
        // A receiver goes to one thread at a time.
        let waiting = &mut *answer;
        match py.detach(move || waiting.recv_timeout(LOOK)) {
            Ok(found) => return Ok(Some(found)),
            Err(RecvTimeoutError::Disconnected) => return Ok(None),
            Err(RecvTimeoutError::Timeout) => {
                py.check_signals()?;
                if let Some(progress) = progress {
                    progress.call1((phase(), clock.elapsed().as_secs_f64()))?;
                }
            }
        }
    }
}

/// Fewest sources for which a thread is started: fewer end soon without one.
const SOURCES: usize = 64;

/// Does work on many sources without the interpreter's lock, on a thread of its own. After an
/// interrupt its flag is set, and the work ends before the next source.
///
/// # Errors
/// An interrupt.
pub(crate) fn on_sources<T: Send>(
    py: Python<'_>,
    sources: usize,
    work: impl FnOnce(&AtomicBool) -> T + Send,
) -> PyResult<T> {
    let stop = AtomicBool::new(false);
    if sources < SOURCES {
        return Ok(detached(py, || work(&stop)));
    }
    std::thread::scope(|scope| {
        let (reply, mut answer) = sync_channel(1);
        let flag = &stop;
        scope.spawn(move || {
            let _unheard = reply.send(here(|| work(flag)));
        });
        let found = wait(py, &mut answer, None, String::new);
        if found.is_err() {
            stop.store(true, Ordering::Relaxed);
            let _late = py.detach(move || answer.recv());
        }
        found?.ok_or_else(ended)
    })
}
