//! The time until which a worker searches, and the end of the service.

use crate::machine::Grid;
use crate::machine::memory::word_of;
use seawall_core::abi::ring::{ControlBlock, FaultCode, Shutdown};
use seawall_core::protocol::{Read, Refusal, Scope};

/// Whether workers and dispatchers end now. An orderly end comes when all tickets have their
/// answers, which only the host knows, so it does not count here.
pub(super) const fn is_over(shutdown: u32) -> bool {
    shutdown == Shutdown::Now as u32
}

/// The time until which a search may continue.
#[derive(Clone, Copy, Debug)]
pub(super) struct Deadline<G> {
    grid: G,
    at_ns: u64,
    shutdown: *const u32,
}

impl<G: Grid> Deadline<G> {
    /// The time `at_ns` of this grid's clock, in the service whose device ring begins at `ring`.
    #[inline(always)]
    pub(super) fn new(grid: G, at_ns: u64, ring: *const u32) -> Self {
        Self {
            grid,
            at_ns,
            shutdown: ring.wrapping_add(word_of!(ControlBlock, shutdown) as usize),
        }
    }

    /// Returns that time.
    pub(super) const fn at_ns(&self) -> u64 {
        self.at_ns
    }

    /// Whether the time is over, or the service ends by force.
    #[inline(always)]
    pub(super) fn is_over(&self) -> bool {
        // SAFETY: the word is that of the device's control block.
        let shutdown = unsafe {
            self.grid
                .load_word(self.shutdown, Read::Relaxed, Scope::Device)
        };
        is_over(shutdown) || self.grid.now_ns() >= self.at_ns
    }
}

/// The refusal of a slot that takes too long.
pub(super) const LATE: Refusal = Refusal::new(FaultCode::TimeBudget, 0);
