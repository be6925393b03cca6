//! The threads that load graphs, started before they are needed.
//!
//! If they were started on demand, a system that refuses threads would cause a panic.

use std::error::Error;
use std::io;
use std::num::NonZeroUsize;
use std::sync::OnceLock;

use crate::{GraphError, memory};

/// Most threads that the environment may ask for, unless the machine runs more at once. Idle ones
/// steal work from each other, so thousands are busy with that alone.
const ASKED_MAX: usize = 256;

/// The threads that the environment asks for; 0 leaves their number to the machine.
fn asked() -> usize {
    let asked = std::env::var("RAYON_NUM_THREADS").ok();
    let asked = asked.and_then(|text| text.parse::<usize>().ok());
    let machine = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    asked.unwrap_or(0).min(machine.max(ASKED_MAX))
}

/// Memory reserved for the start of a thread: its stack of 2 MiB, and some for allocations of the C
/// library, which ends the process if it finds none.
const START_BYTES: u64 = 16 << 20;

/// Checks that the address space has space for a thread to start. Takes none, as threads that
/// are starting need it.
///
/// # Errors
/// [`io::ErrorKind::OutOfMemory`] if there is none.
pub fn check_start() -> io::Result<()> {
    match memory::address_space() {
        Some(left) if left < START_BYTES => {
            let message = format!("a thread needs {START_BYTES} bytes of memory, {left} are left");
            Err(io::Error::new(io::ErrorKind::OutOfMemory, message))
        }
        _ => Ok(()),
    }
}

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
    let started = STARTED.get_or_init(|| {
        check_start().map_err(|error| error.to_string())?;
        let pool = rayon::ThreadPoolBuilder::new().num_threads(asked());
        match pool.build_global() {
            // An error without a source means that a caller started them before.
            Err(error) if error.source().is_some() => Err(error.to_string()),
            _ => Ok(()),
        }
    });
    started
        .clone()
        .map_err(|reason| GraphError::Threads { reason })
}
