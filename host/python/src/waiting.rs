//! Waits of Python's thread for the answer of another one.

use pyo3::prelude::*;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
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
