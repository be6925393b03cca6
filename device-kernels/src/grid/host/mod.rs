//! The CPU as a grid of one-lane blocks, one block per thread.
//!
//! Warps are one lane wide and block barriers are empty. All words are accessed as
//! relaxed atomics, so the races that kernels allow on a GPU are allowed here too. A grid
//! of one thread has no races: it changes words by a load and a store, at a fraction of
//! the cost of a locked instruction.

mod machine;

use super::dealer::Dealer;
use seawall_core::abi::compiled::EachCode;
use seawall_core::abi::program::EachRecord;

/// Services of the operating system for the CPU grid.
#[derive(Clone, Copy, Debug)]
pub struct Services {
    /// A clock in nanoseconds that never runs backwards.
    pub now_ns: fn() -> u64,
    /// Yields the processor for a moment; called after many polls.
    pub yield_now: fn(),
}

/// Machine code of a wave.
#[derive(Clone, Copy, Debug)]
pub struct CompiledWave {
    /// The parameters of the wave.
    pub record: EachRecord,
    /// Whether its items are the entries of a list.
    pub is_listed: bool,
    /// The machine code.
    pub code: EachCode,
}

/// One thread's view of the CPU grid; `ALONE` if it is the only one.
#[derive(Clone, Copy, Debug)]
pub struct HostGrid<const ALONE: bool = false> {
    block: u32,
    blocks: u32,
    shared: *mut u32,
    extra: u32,
    dealer: *const Dealer,
    services: Services,
    compiled: *const [CompiledWave],
}

impl HostGrid {
    /// The view of thread `block` of `blocks`.
    ///
    /// # Safety
    /// `shared` must be this thread's own, valid for
    /// [`SHARED_WORDS`](super::SHARED_WORDS) words as long as the view lives. All threads of the grid must
    /// have the same `dealer`, valid as long, that no other run has used.
    #[must_use]
    pub unsafe fn new(
        block: u32,
        blocks: u32,
        shared: *mut u32,
        dealer: *const Dealer,
        services: Services,
    ) -> Self {
        Self {
            block,
            blocks,
            shared,
            extra: 0,
            dealer,
            services,
            compiled: &[],
        }
    }

    /// The same view, if its thread is the only one of the grid.
    #[must_use]
    pub fn alone(self) -> Option<HostGrid<true>> {
        (self.blocks == 1).then_some(HostGrid {
            block: self.block,
            blocks: self.blocks,
            shared: self.shared,
            extra: self.extra,
            dealer: self.dealer,
            services: self.services,
            compiled: self.compiled,
        })
    }

    /// The same view with `words` more words of shared memory.
    ///
    /// # Safety
    /// The memory given to [`HostGrid::new`] must be valid for as many words more.
    #[must_use]
    pub unsafe fn with_extra(self, words: u32) -> Self {
        Self {
            extra: words,
            ..self
        }
    }

    /// The same view with the machine code of waves of the program that it runs.
    ///
    /// # Safety
    /// `compiled` must be valid as long as the view lives, and sorted by the first instructions,
    /// of which no two are the same. Its code must have been made for the
    /// tables of the launch that the view runs, for one thread only if the grid has one.
    #[must_use]
    pub unsafe fn with_compiled(self, compiled: *const [CompiledWave]) -> Self {
        Self { compiled, ..self }
    }
}
