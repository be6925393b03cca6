//! The threads that load graphs, started before they are needed.
//!
//! If they were started on demand, a system that refuses threads would cause a panic.

use std::error::Error;
use std::sync::OnceLock;

use crate::GraphError;

/// Starts the shared threads unless they run already.
///
/// # Errors
/// [`GraphError::Threads`] if the system starts no more threads; also on every later call.
pub fn start() -> Result<(), GraphError> {
    if rayon::current_thread_index().is_some() {
        // The caller's own threads do the work.
        return Ok(());
    }
    static STARTED: OnceLock<Result<(), String>> = OnceLock::new();
    let started = STARTED.get_or_init(|| match rayon::ThreadPoolBuilder::new().build_global() {
        // An error without a source means that a caller started them before.
        Err(error) if error.source().is_some() => Err(error.to_string()),
        _ => Ok(()),
    });
    started
        .clone()
        .map_err(|reason| GraphError::Threads { reason })
}
