//! The CPU as a grid of one-lane blocks, one block per thread.
//!
//! Warps are one lane wide and block barriers are empty. All words are accessed as
//! relaxed atomics, so the races that kernels allow on a GPU are allowed here too. A grid
//! of one thread has no races: it changes words by a load and a store, at a fraction of
//! the cost of a locked instruction.

mod machine;

use super::dealer::Dealer;
use core::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
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

/// Machine code of waves, which a host may add while a run goes on.
#[derive(Debug)]
pub struct CompiledWaves {
    waves: AtomicPtr<CompiledWave>,
    count: AtomicUsize,
    /// Called with this value at each wave that has to be interpreted for want of machine code.
    missing: unsafe fn(*const Self),
}

impl CompiledWaves {
    /// None yet. `missing` is called with the address that [`HostGrid::with_compiled`] got at each
    /// wave that is interpreted before [`CompiledWaves::publish`].
    #[must_use]
    pub const fn new(missing: unsafe fn(*const Self)) -> Self {
        Self {
            waves: AtomicPtr::new(core::ptr::null_mut()),
            count: AtomicUsize::new(0),
            missing,
        }
    }

    /// Has waves use this machine code from now on, once.
    ///
    /// # Safety
    /// `waves` must stay as they are as long as this value exists, and be sorted by the first
    /// instructions, of which no two are the same. Their code must have been made for the tables of
    /// every launch that views with this value run, for one thread only if these have one.
    pub unsafe fn publish(&self, waves: &[CompiledWave]) {
        self.count.store(waves.len(), Ordering::Relaxed);
        let first = waves.as_ptr().cast_mut();
        self.waves.store(first, Ordering::Release);
    }

    /// The machine code, if there is some.
    fn get(&self) -> Option<&[CompiledWave]> {
        let first = self.waves.load(Ordering::Acquire);
        let count = self.count.load(Ordering::Relaxed);
        // SAFETY: `publish` stored both, the length first, and promises that the waves stay.
        (!first.is_null()).then(|| unsafe { core::slice::from_raw_parts(first, count) })
    }
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
    compiled: *const CompiledWaves,
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
            compiled: core::ptr::null(),
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

    /// The same view with machine code of waves of the program that it runs.
    ///
    /// # Safety
    /// `compiled` must be valid as long as the view lives, and for what its function for missing
    /// code does with it.
    #[must_use]
    pub unsafe fn with_compiled(self, compiled: *const CompiledWaves) -> Self {
        Self { compiled, ..self }
    }
}

impl<const ALONE: bool> HostGrid<ALONE> {
    /// The machine code of a wave, if there is some.
    fn code_of(self, wave: EachRecord, is_listed: bool) -> Option<EachCode> {
        // SAFETY: it is valid, by the contract of `with_compiled`.
        let compiled = unsafe { self.compiled.as_ref() }?;
        let Some(waves) = compiled.get() else {
            // SAFETY: by the same contract.
            unsafe { (compiled.missing)(self.compiled) };
            return None;
        };
        let at = waves.binary_search_by_key(&wave.first, |found| found.record.first);
        let found = waves.get(at.ok()?)?;
        (found.record == wave && found.is_listed == is_listed).then_some(found.code)
    }
}
