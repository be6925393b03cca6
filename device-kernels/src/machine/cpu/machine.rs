//! The operations of a thread as those of a one-lane block.

use super::HostGrid;
use crate::machine::{Grid, Heard, LANES_MAX, PLACE, SHARED_WORDS};
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};
use seawall_core::abi::compiled::EachCode;
use seawall_core::abi::program::EachRecord;
use seawall_core::protocol::{Read, Scope, Swap, Update, Write};

impl<const ALONE: bool> HostGrid<ALONE> {
    /// Changes a word and returns its previous value: by `shared` if there are other
    /// threads, else by `own`.
    ///
    /// # Safety
    /// As for the methods of [`Grid`]: the word is valid.
    #[inline(always)]
    unsafe fn change(
        self,
        word: *mut u32,
        own: impl FnOnce(u32) -> u32,
        shared: impl FnOnce(&AtomicU32) -> u32,
    ) -> u32 {
        // SAFETY: the word is valid, by this method's contract.
        let word = unsafe { atomic(word) };
        if !ALONE {
            return shared(word);
        }
        let before = word.load(Ordering::Relaxed);
        word.store(own(before), Ordering::Relaxed);
        before
    }
}

/// Polls of a thread group between two checks whether to stop.
const POLLS_PER_LOOK: u32 = 1024;

/// Polls before a waiting thread starts to yield its processor.
const SPINS: u32 = 256;

#[inline(always)]
unsafe fn atomic<'a>(word: *const u32) -> &'a AtomicU32 {
    // SAFETY: the caller of every `Grid` method promises a valid word, words
    // are four-byte aligned, and all accesses during a run go through here.
    unsafe { AtomicU32::from_ptr(word.cast_mut()) }
}

/// Accesses to memory, an expression each.
macro_rules! accesses {
    ($this:ident $($name:ident($($of:ident: $type:ty),*) $(-> $found:ty)? = $access:expr;)*) => {$(
        #[inline(always)]
        unsafe fn $name($this $(, $of: $type)*) $(-> $found)? {
            // SAFETY: words are valid and aligned, by the method's contract, and those of shared
            // memory this thread's own.
            unsafe { $access }
        }
    )*};
}

// SAFETY: a block is one thread, whose shared memory is its own by the
// contract of `HostGrid::new`; a block barrier among one lane orders nothing
// that program order does not.
unsafe impl<const ALONE: bool> Grid for HostGrid<ALONE> {
    const WARP: u32 = 1;
    const LANES: u32 = LANES_MAX;
    const ITEMS: u32 = 2048;
    const TAKES: bool = !ALONE;

    #[inline(always)]
    fn has_thread_group(self) -> bool {
        // SAFETY: the dealer is valid, by the contract of `HostGrid::new`.
        !ALONE && unsafe { &*self.dealer }.has_thread_group()
    }
    fn disband(self) {
        // SAFETY: the same contract.
        unsafe { &*self.dealer }.disband();
    }
    #[inline(always)]
    fn confer(self, group: u32, word: u64, stops: impl Fn() -> bool) -> Option<Heard> {
        // SAFETY: the same contract.
        unsafe { &*self.dealer }.confer(self.block, group, word, |polls| {
            self.pause(polls);
            !polls.is_multiple_of(POLLS_PER_LOOK) || !stops()
        })
    }

    #[inline(always)]
    fn take(self, piece: u32) -> u32 {
        // SAFETY: the dealer is valid, by the contract of `HostGrid::new`.
        unsafe { &*self.dealer }.take(piece)
    }
    fn compiled(self, wave: EachRecord, is_listed: bool) -> Option<EachCode> {
        self.code_of(wave, is_listed)
    }
    #[inline(always)]
    fn block(self) -> u32 {
        self.block
    }
    #[inline(always)]
    fn blocks(self) -> u32 {
        self.blocks
    }
    #[inline(always)]
    fn lane(self) -> u32 {
        0
    }
    #[inline(always)]
    fn lanes(self) -> u32 {
        1
    }
    #[inline(always)]
    fn block_barrier(self) {}
    #[inline(always)]
    fn cluster(self) -> u32 {
        1
    }
    #[inline(always)]
    fn cluster_barrier(self, _wrote: bool) {}
    #[inline(always)]
    fn warp_barrier(self) {}
    #[inline(always)]
    fn block_count(self, value: bool) -> u32 {
        u32::from(value)
    }
    #[inline(always)]
    fn ballot(self, value: bool) -> u32 {
        u32::from(value)
    }
    #[inline(always)]
    fn shuffle(self, value: u32, _from: u32) -> u32 {
        value
    }
    #[inline(always)]
    fn shuffle_up(self, value: u32, _delta: u32) -> u32 {
        value
    }
    #[inline(always)]
    fn warp_sum(self, value: u32) -> u32 {
        value
    }
    #[inline(always)]
    fn warp_max(self, value: u32) -> u32 {
        value
    }
    #[inline(always)]
    fn warp_min(self, value: u32) -> u32 {
        value
    }
    accesses! { self
        shared_load(at: u32) -> u32 = self.shared.add(at as usize).read();
        shared_store(at: u32, value: u32) = self.shared.add(at as usize).write(value);
        shared_look(at: u32) -> u32 = self.shared_load(at);
        shared_show(at: u32, value: u32) = self.shared_store(at, value);
        extra_add(at: u32, value: u32) -> u32 = self.shared_add(SHARED_WORDS as u32 + at, value);
        place_load(place: u32) -> u32 = self.shared.byte_add(place as usize).read();
        place_store(place: u32, value: u32) = self.shared.byte_add(place as usize).write(value);
        place_load4(place: u32) -> [u32; 4]
            = self.shared.byte_add(place as usize).cast::<[u32; 4]>().read();
        place_store4(place: u32, values: [u32; 4])
            = self.shared.byte_add(place as usize).cast::<[u32; 4]>().write(values);
        place_add(place: u32, value: u32)
            = self.place_store(place, self.place_load(place).wrapping_add(value));
        constant(word: *const u32) -> u32 = word.read();
        constant4(word: *const u32) -> [u32; 4] = word.cast::<[u32; 4]>().read();
        constant4_kept(word: *const u32) -> [u32; 4] = self.constant4(word);
        load_weak(word: *const u32) -> u32 = atomic(word).load(Ordering::Relaxed);
        store_weak(word: *mut u32, value: u32) = atomic(word).store(value, Ordering::Relaxed);
        load_weak_wide(word: *const u32) -> u64 = self.load_wide(word);
        store_weak_wide(word: *mut u32, value: u64)
            = AtomicU64::from_ptr(word.cast()).store(value, Ordering::Relaxed);
        load_weak4(word: *const u32) -> [u32; 4]
            = [0, 1, 2, 3].map(|at| self.load_weak(word.add(at)));
        load_weak4_once(word: *const u32) -> [u32; 4] = self.load_weak4(word);
        load(word: *const u32) -> u32 = atomic(word).load(Ordering::Relaxed);
        store(word: *mut u32, value: u32) = atomic(word).store(value, Ordering::Relaxed);
        load_wide(word: *const u32) -> u64
            = AtomicU64::from_ptr(word.cast_mut().cast()).load(Ordering::Relaxed);
        min_wide(word: *mut u32, value: u64) -> u64
            = AtomicU64::from_ptr(word.cast()).fetch_min(value, Ordering::Relaxed);
        add(word: *mut u32, value: u32) -> u32
            = self.change(word, |before| before.wrapping_add(value), |word| {
                word.fetch_add(value, Ordering::Relaxed)
            });
        or(word: *mut u32, value: u32) -> u32
            = self.change(word, |before| before | value, |word| {
                word.fetch_or(value, Ordering::Relaxed)
            });
        min(word: *mut u32, value: u32) -> u32
            = self.change(word, |before| before.min(value), |word| {
                word.fetch_min(value, Ordering::Relaxed)
            });
        max(word: *mut u32, value: u32) -> u32
            = self.change(word, |before| before.max(value), |word| {
                word.fetch_max(value, Ordering::Relaxed)
            });
    }
    #[inline(always)]
    unsafe fn shared_add(self, at: u32, value: u32) -> u32 {
        // SAFETY: `at` is below `SHARED_WORDS`, and the memory is this
        // thread's own.
        unsafe {
            let word = self.shared.add(at as usize);
            let previous = word.read();
            word.write(previous.wrapping_add(value));
            previous
        }
    }
    #[inline(always)]
    fn extra_words(self) -> u32 {
        self.extra
    }
    #[inline(always)]
    fn place(self, extra: bool, at: u32) -> u32 {
        let first = if extra { SHARED_WORDS as u32 } else { 0 };
        (first + at) * PLACE
    }
    #[inline(always)]
    unsafe fn place_swap_if(self, place: u32, expected: u32, value: u32) -> u32 {
        // SAFETY: the same contract, and the memory is this thread's own.
        unsafe {
            let previous = self.place_load(place);
            if previous == expected {
                self.place_store(place, value);
            }
            previous
        }
    }
    #[inline(always)]
    unsafe fn peer_load(self, _peer: u32, at: u32) -> u32 {
        // SAFETY: a cluster has one block here, and `at` is below
        // `SHARED_WORDS`, by this method's contract.
        unsafe { self.shared_load(at) }
    }
    #[inline(always)]
    fn now_ns(self) -> u64 {
        (self.services.now_ns)()
    }
    #[inline(always)]
    fn delay(self, _cycles: u32) {}
    #[inline(always)]
    fn pause(self, polls: u32) {
        if polls < SPINS {
            core::hint::spin_loop();
        } else {
            (self.services.yield_now)();
        }
    }

    #[inline(always)]
    unsafe fn prefetch(self, word: *const u32) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: a hint for any address, on every processor of this kind.
        unsafe {
            use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            _mm_prefetch(word.cast(), _MM_HINT_T0);
        };
        #[cfg(not(target_arch = "x86_64"))]
        let _ = word;
    }
    #[inline(always)]
    unsafe fn store_weak4(self, word: *mut u32, values: [u32; 4]) {
        for (at, value) in values.into_iter().enumerate() {
            // SAFETY: four words are valid, by this method's contract.
            unsafe { self.store_weak(word.add(at), value) };
        }
    }
    #[inline(always)]
    unsafe fn add_wide(self, word: *mut u32, value: u64) -> u64 {
        // SAFETY: the pair is valid and aligned, by this method's contract.
        let pair = unsafe { AtomicU64::from_ptr(word.cast()) };
        if !ALONE {
            return pair.fetch_add(value, Ordering::Relaxed);
        }
        let before = pair.load(Ordering::Relaxed);
        pair.store(before.wrapping_add(value), Ordering::Relaxed);
        before
    }
    #[inline(always)]
    unsafe fn swap_if(self, word: *mut u32, expected: u32, value: u32) -> u32 {
        let own = |before| if before == expected { value } else { before };
        let shared = |word: &AtomicU32| {
            let (ok, not) = (Ordering::Relaxed, Ordering::Relaxed);
            match word.compare_exchange(expected, value, ok, not) {
                Ok(previous) | Err(previous) => previous,
            }
        };
        // SAFETY: the word is valid, by this method's contract.
        unsafe { self.change(word, own, shared) }
    }
    #[inline(always)]
    unsafe fn swap_wide_if(self, word: *mut u32, expected: u64, value: u64) -> u64 {
        let (ok, not) = (Ordering::Relaxed, Ordering::Relaxed);
        // SAFETY: the pair is valid and aligned, by this method's contract.
        let pair = unsafe { AtomicU64::from_ptr(word.cast()) };
        match pair.compare_exchange(expected, value, ok, not) {
            Ok(previous) | Err(previous) => previous,
        }
    }
    #[inline(always)]
    unsafe fn load_word(self, word: *const u32, order: Read, _: Scope) -> u32 {
        // SAFETY: the word is valid, by this method's contract.
        unsafe { atomic(word) }.load(order.ordering())
    }
    #[inline(always)]
    unsafe fn store_word(self, word: *mut u32, value: u32, order: Write, _: Scope) {
        // SAFETY: the word is valid, by this method's contract.
        unsafe { atomic(word) }.store(value, order.ordering());
    }
    #[inline(always)]
    unsafe fn swap_word(self, word: *mut u32, swap: Swap, order: Update, _: Scope) -> u32 {
        let (ok, not) = (order.ordering(), Ordering::Relaxed);
        // SAFETY: the word is valid, by this method's contract.
        let word = unsafe { atomic(word) };
        word.compare_exchange(swap.expected, swap.value, ok, not)
            .unwrap_or_else(|found| found)
    }
    #[inline(always)]
    unsafe fn add_word(self, word: *mut u32, value: u32, order: Update, _: Scope) -> u32 {
        // SAFETY: the word is valid, by this method's contract.
        unsafe { atomic(word) }.fetch_add(value, order.ordering())
    }
    #[inline(always)]
    fn fence_system(self) {
        fence(Ordering::AcqRel);
    }
    #[inline(always)]
    fn rest(self, _ns: u32) {
        (self.services.yield_now)();
    }
}
