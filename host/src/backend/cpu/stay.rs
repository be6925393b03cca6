//! Blocks of persistent kernels, one per thread.

use super::SERVICES;
use crate::backend::BackendError;
use crate::backend::threads::run_blocks;
use seawall_device::machine::SHARED_WORDS;
use seawall_device::machine::cpu::{HostGrid, Services};
use seawall_device::machine::dealer::Dealer;
use std::time::Duration;

/// Calls `kernel` once for each of `blocks` blocks, all concurrently; returns after all have.
///
/// # Errors
/// [`BackendError::Threads`] if the system starts no more; no block ran.
pub(super) fn stay(blocks: u32, kernel: impl Fn(HostGrid) + Sync) -> Result<(), BackendError> {
    let dealer = Dealer::new();
    run_blocks(blocks, |block| {
        let mut shared = vec![0_u32; SHARED_WORDS];
        let services = Services {
            // These blocks wait for hosts most of the time.
            yield_now: || std::thread::sleep(Duration::from_micros(20)),
            ..SERVICES
        };
        // SAFETY: `shared` belongs to this thread and outlives the call, as does the dealer.
        let grid = unsafe { HostGrid::new(block, blocks, shared.as_mut_ptr(), &dealer, services) };
        kernel(grid);
    })
}
