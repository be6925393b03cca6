//! Few threads for the readers, because many fuzzers share a machine.

use std::sync::Once;

static STARTED: Once = Once::new();

/// Sets two threads for the parallel parts of the readers, on any machine.
pub fn start() {
    STARTED.call_once(|| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2);
        pool.build_global().expect("nothing has started a pool");
    });
}
