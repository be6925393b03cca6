//! Blocks of one lane, each a thread of the checker, over words that a test models or not.

use super::words::{Owned, Weakened};
use loom::sync::atomic::AtomicU32 as Modelled;
use seawall_core::protocol::{Read, Scope, Swap, Update, Write};
use seawall_device::machine::{Grid, LANES_MAX};
use std::sync::atomic::{AtomicU32, Ordering};

/// A word, by what the checker has to know of it.
pub(crate) enum Word<'m> {
    /// Threads change it at the same time: the checker returns every value that a load may.
    Modelled(&'m Modelled),
    /// It belongs to one thread at a time: the checker fails on two accesses without an order.
    Owned(&'m Owned),
    /// It belongs to one thread.
    Plain(&'m AtomicU32),
}

/// The memory of a test.
pub(crate) trait Model {
    fn blocks(&self) -> u32;
    fn now_ns(&self) -> u64;
    fn weakened(&self) -> Weakened;
    /// A word of the memory that a block has for itself.
    fn shared(&self, block: u32, at: u32) -> &AtomicU32;
    fn word(&self, word: *const u32) -> Word<'_>;
}

/// A block.
pub(crate) struct Lane<'m, M> {
    pub(crate) model: &'m M,
    pub(crate) block: u32,
}

impl<M> Clone for Lane<'_, M> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<M> Copy for Lane<'_, M> {}

impl<M: Model> Lane<'_, M> {
    fn get(self, word: *const u32, order: Ordering) -> u32 {
        match self.model.word(word) {
            Word::Modelled(word) => word.load(order),
            Word::Owned(word) => word.get(),
            Word::Plain(word) => word.load(Ordering::Relaxed),
        }
    }

    fn set(self, word: *mut u32, value: u32, order: Ordering) {
        match self.model.word(word) {
            Word::Modelled(word) => word.store(value, order),
            Word::Owned(word) => word.set(value),
            Word::Plain(word) => word.store(value, Ordering::Relaxed),
        }
    }
}

/// Operations that no test uses.
macro_rules! unused {
    ($($(@$unsafe:ident)? fn $name:ident(self $(, $argument:ident: $type:ty)*) $(-> $result:ty)?;)+) => {$(
        $($unsafe)? fn $name(self $(, $argument: $type)*) $(-> $result)? {
            unreachable!("{:?}", ($($argument,)*))
        }
    )+};
}

// SAFETY: words are atomic; a block's words are private; a block has one lane.
unsafe impl<M: Model> Grid for Lane<'_, M> {
    const WARP: u32 = 1;
    const LANES: u32 = LANES_MAX;
    const ITEMS: u32 = 2;

    fn block(self) -> u32 {
        self.block
    }
    fn blocks(self) -> u32 {
        self.model.blocks()
    }
    fn lane(self) -> u32 {
        0
    }
    fn lanes(self) -> u32 {
        1
    }
    fn block_barrier(self) {}
    fn block_count(self, value: bool) -> u32 {
        value.into()
    }
    unsafe fn shared_load(self, at: u32) -> u32 {
        self.model.shared(self.block, at).load(Ordering::Relaxed)
    }
    unsafe fn shared_store(self, at: u32, value: u32) {
        self.model
            .shared(self.block, at)
            .store(value, Ordering::Relaxed);
    }
    fn now_ns(self) -> u64 {
        self.model.now_ns()
    }
    fn delay(self, _: u32) {}
    fn pause(self, _: u32) {
        loom::thread::yield_now();
    }
    unsafe fn constant(self, word: *const u32) -> u32 {
        self.get(word, Ordering::Relaxed)
    }
    unsafe fn load(self, word: *const u32) -> u32 {
        self.get(word, Ordering::Relaxed)
    }
    unsafe fn store(self, word: *mut u32, value: u32) {
        self.set(word, value, Ordering::Relaxed);
    }
    unsafe fn or(self, word: *mut u32, value: u32) -> u32 {
        let before = self.get(word, Ordering::Relaxed);
        match self.model.word(word) {
            Word::Modelled(word) => word.fetch_or(value, Ordering::Relaxed),
            _ => {
                self.set(word, before | value, Ordering::Relaxed);
                before
            }
        }
    }
    unsafe fn add(self, word: *mut u32, value: u32) -> u32 {
        match self.model.word(word) {
            Word::Modelled(word) => word.fetch_add(value, Ordering::Relaxed),
            _ => {
                let before = self.get(word, Ordering::Relaxed);
                self.set(word, before.wrapping_add(value), Ordering::Relaxed);
                before
            }
        }
    }
    unsafe fn load_wide(self, word: *const u32) -> u64 {
        let [low, high] = [0, 1].map(|half| self.get(word.wrapping_add(half), Ordering::Relaxed));
        u64::from(low) | u64::from(high) << 32
    }
    unsafe fn add_wide(self, word: *mut u32, value: u64) -> u64 {
        let halves = [0, 1].map(|half| word.wrapping_add(half));
        let [low, high] = halves.map(|half| u64::from(self.get(half, Ordering::Relaxed)));
        let before = low | high << 32;
        let sum = before.wrapping_add(value);
        self.set(halves[0], sum as u32, Ordering::Relaxed);
        self.set(halves[1], (sum >> 32) as u32, Ordering::Relaxed);
        before
    }
    unsafe fn swap_if(self, word: *mut u32, expected: u32, value: u32) -> u32 {
        let order = Ordering::Relaxed;
        match self.model.word(word) {
            Word::Modelled(word) => {
                let swapped = word.compare_exchange(expected, value, order, order);
                swapped.unwrap_or_else(|found| found)
            }
            _ => {
                let found = self.get(word, order);
                if found == expected {
                    self.set(word, value, order);
                }
                found
            }
        }
    }
    // The barrier's operations are the default ones, as for CPU threads: they use these, with the
    // stated orders.
    unsafe fn load_word(self, word: *const u32, order: Read, _: Scope) -> u32 {
        self.get(word, self.model.weakened().read(order))
    }
    unsafe fn store_word(self, word: *mut u32, value: u32, order: Write, _: Scope) {
        self.set(word, value, self.model.weakened().write(order));
    }
    unsafe fn add_word(self, word: *mut u32, value: u32, order: Update, _: Scope) -> u32 {
        let order = self.model.weakened().update(order);
        match self.model.word(word) {
            Word::Modelled(word) => word.fetch_add(value, order),
            _ => unreachable!("only modelled words are counted"),
        }
    }
    /// Nothing: the orders of words have to do without it.
    fn fence_system(self) {}

    unused! {
        fn cluster(self) -> u32;
        fn cluster_barrier(self, wrote: bool);
        fn warp_barrier(self);
        fn ballot(self, value: bool) -> u32;
        fn shuffle(self, value: u32, from: u32) -> u32;
        fn shuffle_up(self, value: u32, delta: u32) -> u32;
        fn warp_sum(self, value: u32) -> u32;
        fn warp_max(self, value: u32) -> u32;
        fn warp_min(self, value: u32) -> u32;
        @unsafe fn shared_add(self, at: u32, value: u32) -> u32;
        @unsafe fn shared_look(self, at: u32) -> u32;
        @unsafe fn shared_show(self, at: u32, value: u32);
        fn extra_words(self) -> u32;
        @unsafe fn extra_add(self, at: u32, value: u32) -> u32;
        fn place(self, extra: bool, at: u32) -> u32;
        @unsafe fn place_load(self, place: u32) -> u32;
        @unsafe fn place_load4(self, place: u32) -> [u32; 4];
        @unsafe fn place_store(self, place: u32, value: u32);
        @unsafe fn place_store4(self, place: u32, values: [u32; 4]);
        @unsafe fn place_add(self, place: u32, value: u32);
        @unsafe fn place_swap_if(self, place: u32, expected: u32, value: u32) -> u32;
        @unsafe fn peer_load(self, peer: u32, at: u32) -> u32;
        @unsafe fn constant4(self, word: *const u32) -> [u32; 4];
        @unsafe fn constant4_kept(self, word: *const u32) -> [u32; 4];
        @unsafe fn prefetch(self, word: *const u32);
        @unsafe fn load_weak(self, word: *const u32) -> u32;
        @unsafe fn store_weak(self, word: *mut u32, value: u32);
        @unsafe fn load_weak_wide(self, word: *const u32) -> u64;
        @unsafe fn store_weak_wide(self, word: *mut u32, value: u64);
        @unsafe fn load_weak4(self, word: *const u32) -> [u32; 4];
        @unsafe fn load_weak4_once(self, word: *const u32) -> [u32; 4];
        @unsafe fn store_weak4(self, word: *mut u32, values: [u32; 4]);
        @unsafe fn min_wide(self, word: *mut u32, value: u64) -> u64;
        @unsafe fn min(self, word: *mut u32, value: u32) -> u32;
        @unsafe fn max(self, word: *mut u32, value: u32) -> u32;
        @unsafe fn swap_wide_if(self, word: *mut u32, expected: u64, value: u64) -> u64;
        @unsafe fn swap_word(self, word: *mut u32, swap: Swap, order: Update, scope: Scope) -> u32;
        fn rest(self, ns: u32);
    }
}
