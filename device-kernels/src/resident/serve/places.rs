//! The ring's words on a separate machine: some in its memory, some in the hosts'.
//!
//! | words | where | changed by |
//! | --- | --- | --- |
//! | control block except batches, slots | this machine | its workers |
//! | counts of batches, completions, log, windows | hosts | its workers; hosts only store |
//! | a copy of each slot's status | hosts | the owner of the slot, only by stores |
//!
//! So no word is changed by read-modify-write from both sides, and polling for work costs nothing
//! on the bus.

use crate::machine::Grid;
use seawall_core::abi::ring::{BATCHES, ControlBlock, SLOT_WORDS, TENANTS, TenantRecord};
use seawall_core::protocol::{Layout, Read, Scope, Swap, Update, Words, Write, post};

/// Words of the control block.
pub(super) const CONTROL_WORDS: u32 = (size_of::<ControlBlock>() / 4) as u32;

/// First word of the counts of batches, which are the last of the control block.
pub(super) const BATCHES_AT: u32 = (core::mem::offset_of!(ControlBlock, batches) / 4) as u32;
const _: () = assert!(BATCHES_AT + BATCHES == CONTROL_WORDS);

/// First word of the records of tenants, words of one and of all.
const TENANTS_AT: u32 = (core::mem::offset_of!(ControlBlock, tenants) / 4) as u32;
const TENANT: u32 = (size_of::<TenantRecord>() / 4) as u32;
pub(super) const TENANT_WORDS: u32 = TENANT * TENANTS;
const _: () = {
    assert!(TENANT == 8 && TENANTS_AT.is_multiple_of(8));
    // Mask, quota and window, which nothing changes.
    assert!(core::mem::offset_of!(TenantRecord, quota) == 4);
    assert!(core::mem::offset_of!(TenantRecord, running) == 8);
    assert!(core::mem::offset_of!(TenantRecord, window_first) == 24);
};

/// The words of a service. `KEEPS` if the block keeps the rights of tenants in its shared memory: a
/// choice at run time would leave loads of the other kind in the code, which delay those in flight.
#[derive(Clone, Copy, Debug)]
pub(super) struct Places<G, const KEEPS: bool = false> {
    grid: G,
    device: *mut u32,
    host: *mut u32,
    layout: Layout,
    /// First word of shared memory with the records of tenants, where a block keeps them.
    kept: u32,
}

impl<G: Grid> Places<G> {
    /// The words of a ring.
    ///
    /// # Safety
    /// `host` must be valid for all words of the layout, and `device` for those before its first
    /// completion, as long as this lives.
    pub(super) unsafe fn new(grid: G, [device, host]: [*mut u32; 2], layout: Layout) -> Self {
        Self {
            grid,
            device,
            host,
            layout,
            kept: 0,
        }
    }

    /// The same, with the constant words of tenants in shared memory from word `first` on. All
    /// lanes of a warp call this, and no other warp of the block.
    #[inline(always)]
    pub(super) fn keeping_rights(self, first: u32) -> Places<G, true> {
        let mut at = self.grid.warp_lane();
        while at < TENANT_WORDS {
            let word = self.load(TENANTS_AT + at, Read::Relaxed, Scope::Device);
            // SAFETY: the caller names a place for these words in the block's memory.
            unsafe { self.grid.shared_store(first + at, word) };
            at += G::WARP;
        }
        self.grid.warp_barrier();
        Places {
            grid: self.grid,
            device: self.device,
            host: self.host,
            layout: self.layout,
            kept: first,
        }
    }
}

impl<G: Grid, const KEEPS: bool> Places<G, KEEPS> {
    /// A word of a tenant's rights that this block keeps.
    #[inline(always)]
    fn kept(&self, at: u32) -> Option<u32> {
        let is_right = matches!(at % TENANT, 0 | 1 | 6 | 7);
        if !KEEPS || !is_right || !(TENANTS_AT..TENANTS_AT + TENANT_WORDS).contains(&at) {
            return None;
        }
        // SAFETY: `keeping_rights` wrote all of these words.
        Some(unsafe { self.grid.shared_load(self.kept + at - TENANTS_AT) })
    }

    /// Orders earlier accesses before later ones, for hosts too.
    #[inline(always)]
    pub(super) fn fence(&self) {
        self.grid.fence_system();
    }

    /// The order of a read-modify-write, in the scope of this machine. Where the bus carries no
    /// atomics, atomics on the hosts' memory are atomic only among this machine's lanes, and a
    /// wider scope is an error; order towards hosts comes from fences.
    #[inline(always)]
    fn change<T>(&self, at: u32, order: Update, change: impl FnOnce(*mut u32, Update) -> T) -> T {
        let (word, scope) = self.place(at);
        if scope == Scope::Device {
            return change(word, order);
        }
        if matches!(order, Update::Release(_) | Update::Both { .. }) {
            self.fence();
        }
        let found = change(word, Update::Relaxed);
        if matches!(order, Update::Acquire(_) | Update::Both { .. }) {
            self.fence();
        }
        found
    }

    #[inline(always)]
    fn place(&self, at: u32) -> (*mut u32, Scope) {
        let is_here = at < BATCHES_AT || at >= CONTROL_WORDS && at < self.layout.completion(0);
        debug_assert!(at < self.layout.words(), "word {at} of the ring");
        if is_here {
            (self.device.wrapping_add(at as usize), Scope::Device)
        } else {
            (self.host.wrapping_add(at as usize), Scope::System)
        }
    }

    /// Writes a word of a completion, which hosts have.
    #[inline(always)]
    pub(super) fn complete(&self, at: u32, word: u32) {
        self.show(at, word, Write::Relaxed);
    }

    /// Adds to a counter of the control block, which this machine has.
    #[inline(always)]
    pub(super) fn tally(&self, at: u32, value: u32) {
        debug_assert!(at < BATCHES_AT, "word {at} is no counter");
        let word = self.device.wrapping_add(at as usize);
        // SAFETY: `new` promises the control block.
        unsafe { self.grid.tally_word(word, value) };
    }

    /// Whether a word is the status of a slot.
    #[inline(always)]
    fn is_status(&self, at: u32) -> bool {
        at >= CONTROL_WORDS
            && at < self.layout.completion(0)
            && (at - CONTROL_WORDS).is_multiple_of(SLOT_WORDS)
    }

    #[inline(always)]
    fn show(&self, at: u32, status: u32, order: Write) {
        let word = self.host.wrapping_add(at as usize);
        // SAFETY: `at` is a word of the layout, whose validity `new` promises.
        unsafe { self.grid.store_word(word, status, order, Scope::System) };
    }
}

impl<G: Grid, const KEEPS: bool> Words for Places<G, KEEPS> {
    #[inline(always)]
    fn load(&self, at: u32, order: Read, _: Scope) -> u32 {
        if let Some(word) = self.kept(at) {
            return word;
        }
        let (word, scope) = self.place(at);
        // SAFETY: the ring asks for words of the layout, whose validity `new` promises.
        unsafe { self.grid.load_word(word, order, scope) }
    }

    #[inline(always)]
    fn store(&self, at: u32, value: u32, order: Write, _: Scope) {
        if self.is_status(at) {
            if post::is_end(value) {
                // Here it stays Claimed, so that no worker claims it. The next post to the slot
                // comes after the host has seen this.
                return self.show(at, value, order);
            }
            self.show(at, value, Write::Relaxed);
        }
        let (word, scope) = self.place(at);
        // SAFETY: as in `load`.
        unsafe { self.grid.store_word(word, value, order, scope) };
    }

    #[inline(always)]
    fn swap_if(&self, at: u32, swap: Swap, order: Update, _: Scope) -> u32 {
        let found = self.change(at, order, |word, order| {
            // SAFETY: as in `load`.
            unsafe { self.grid.swap_word(word, swap, order, Scope::Device) }
        });
        if found == swap.expected && self.is_status(at) {
            self.show(at, swap.value, Write::Relaxed);
        }
        found
    }

    #[inline(always)]
    fn add(&self, at: u32, value: u32, order: Update, _: Scope) -> u32 {
        self.change(at, order, |word, order| {
            // SAFETY: as in `load`.
            unsafe { self.grid.add_word(word, value, order, Scope::Device) }
        })
    }

    #[inline(always)]
    fn add_unseen(&self, at: u32, value: u32, order: Update, scope: Scope) {
        let (word, place) = self.place(at);
        if place == Scope::Device && order == Update::Relaxed {
            // SAFETY: as in `load`.
            unsafe { self.grid.tally_word(word, value) };
        } else {
            self.add(at, value, order, scope);
        }
    }

    #[inline(always)]
    fn seals(&self) -> bool {
        true
    }

    #[inline(always)]
    fn load_run(&self, at: u32, to: &mut [u32]) {
        // The words of a record are adjacent, and none waits for the previous one.
        let (first, scope) = self.place(at);
        for (index, word) in to.iter_mut().enumerate() {
            // SAFETY: as in `load`.
            *word = unsafe {
                let from = first.wrapping_add(index);
                self.grid.load_word(from, Read::Relaxed, scope)
            };
        }
    }

    #[inline(always)]
    fn store_run(&self, at: u32, from: &[u32]) {
        let (first, scope) = self.place(at);
        debug_assert!(!self.is_status(at), "a status is stored alone");
        for (index, word) in from.iter().enumerate() {
            // SAFETY: as in `load`.
            unsafe {
                let to = first.wrapping_add(index);
                self.grid.store_word(to, *word, Write::Relaxed, scope);
            }
        }
    }
}
