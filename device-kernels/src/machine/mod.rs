//! The machine: a grid of blocks of lanes over words of memory. No other module names an
//! architecture.
//!
//! Kernels are generic over [`Grid`]. There are two machines: an NVIDIA GPU, and a grid
//! of one-lane blocks on CPU threads, where a warp is one lane wide and every block
//! operation is trivial.
//!
//! # Memory
//! Words that change during a run are read and written through the methods here. A `weak` access
//! may use a cache that only a barrier refreshes; the others are relaxed accesses at device scope.
//! Only [`Grid::signal`], [`Grid::arrive`] and [`Grid::poll`] order accesses between blocks.

#[cfg(target_arch = "nvptx64")]
pub mod gpu;

#[cfg(not(target_arch = "nvptx64"))]
pub mod dealer;
#[cfg(not(target_arch = "nvptx64"))]
pub mod cpu;

pub mod memory;
pub mod shared;

#[cfg(not(target_arch = "nvptx64"))]
use seawall_core::abi::compiled::EachCode;
#[cfg(not(target_arch = "nvptx64"))]
use seawall_core::abi::program::EachRecord;
use seawall_core::protocol::{Read, Scope, Site, Swap, Update, Write};

/// Largest number of lanes of a block.
pub const LANES_MAX: u32 = 1024;

/// Largest number of lanes of a small block. Its shared memory is laid out so that many
/// such blocks fit a multiprocessor.
pub const COMPACT_LANES: u32 = 128;

/// Words of block-shared memory that a kernel may use in blocks of at most
/// `lanes` lanes.
#[must_use]
pub const fn shared_words(lanes: u32) -> usize {
    let words = lanes as usize * 12;
    // Slots take as much memory in small blocks as in large ones, and only large ones have enough.
    if lanes < LANES_MAX {
        words + 640
    } else {
        words
    }
}

/// [`shared_words`] of the largest blocks.
pub const SHARED_WORDS: usize = shared_words(LANES_MAX);

/// Distance of adjacent words' places: see [`Grid::place`].
pub const PLACE: u32 = 4;

/// Most blocks of a cluster.
pub const CLUSTER_MAX: u32 = 16;

/// Most blocks of a small thread group; see [`Grid::confer`].
pub const THREAD_GROUP_SMALL: u32 = 4;

/// Most blocks that confer.
pub const THREAD_GROUP_MAX: usize = 16;

/// Words of a thread group, as a block received them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Heard {
    /// The words of all blocks.
    pub words: [u64; THREAD_GROUP_MAX],
    /// Most polls that it waited for any of them.
    pub polls: u32,
}

/// One lane's view of the machine that it runs on.
///
/// # Safety
/// An implementation must give every lane of a block the same shared memory of
/// [`shared_words`] of [`Grid::LANES`], unique ids, and barriers that order the memory
/// accesses of the lanes that cross them.
pub unsafe trait Grid: Copy {
    /// Lanes of a warp: 32 on a GPU, 1 on a CPU.
    const WARP: u32;

    /// Whether the lanes of a warp run together (SIMT) and share out work. Otherwise a block is one
    /// thread. An algorithm that has a way of its own for threads chooses by it, in one place.
    const SIMT: bool = Self::WARP > 1;

    /// Most lanes of a block; the layout of shared memory follows from it.
    const LANES: u32;

    /// Adjacent items that one lane takes before the next block's share begins: 1 on
    /// a GPU, where adjacent lanes share a cache line; many on a CPU, where they must
    /// not.
    const ITEMS: u32;

    /// Whether blocks take shares of long work on demand, by [`Grid::take`].
    const TAKES: bool = false;

    /// Takes the next share of `piece` and returns its number, or [`u32::MAX`] if blocks
    /// are at a later piece. All blocks ask for shares of the same pieces, in order from
    /// 1 on, each until there are none.
    fn take(self, piece: u32) -> u32 {
        let _ = piece;
        u32::MAX
    }
    /// Whether the first blocks of the grid, at most [`THREAD_GROUP_MAX`], may form a thread group, which
    /// confers by [`Grid::confer`].
    #[inline(always)]
    fn has_thread_group(self) -> bool {
        false
    }

    /// Forbids thread groups for the rest of the run.
    fn disband(self) {}

    /// Publishes `word` to the first `group` blocks, of which this is one, and returns the words of
    /// all of them, by block, once all have published theirs. It orders the memory accesses of the
    /// thread group as a barrier does. In a run, thread groups of up to [`THREAD_GROUP_SMALL`]
    /// blocks are all of one size, and so are larger ones. `None` if `stops` said so while others
    /// were missing, after which no block may confer again.
    fn confer(self, group: u32, word: u64, stops: impl Fn() -> bool) -> Option<Heard> {
        let _ = (group, stops);
        let mut heard = Heard::default();
        heard.words[0] = word;
        Some(heard)
    }
    /// Machine code that the host made of a wave of code, over the items of a list or not.
    #[cfg(not(target_arch = "nvptx64"))]
    #[inline(always)]
    fn compiled(self, wave: EachRecord, is_listed: bool) -> Option<EachCode> {
        let _ = (wave, is_listed);
        None
    }
    /// Number of this lane's block.
    fn block(self) -> u32;
    /// Blocks of the grid.
    fn blocks(self) -> u32;
    /// Number of this lane in its block.
    fn lane(self) -> u32;
    /// Lanes of a block.
    fn lanes(self) -> u32;
    /// Waits for all lanes of the block and orders their memory accesses.
    fn block_barrier(self);
    /// A block barrier that returns the number of lanes for which `value` holds.
    fn block_count(self, value: bool) -> u32;
    /// Blocks of this block's cluster, a power of two up to [`CLUSTER_MAX`]. They read each other's
    /// shared memory and have a cluster barrier. 1 if the launch or the machine has no clusters.
    fn cluster(self) -> u32;
    /// Waits for all lanes of the cluster and orders the memory accesses of those that
    /// `wrote`, on which the lanes of a warp agree. A warp that wrote nothing need not
    /// wait for its writes.
    fn cluster_barrier(self, wrote: bool);
    /// Waits for all lanes of the warp and orders their memory accesses.
    fn warp_barrier(self);
    /// The lanes of the warp for which `value` holds; all lanes take part.
    fn ballot(self, value: bool) -> u32;
    /// The `value` of lane `from` of the warp; all lanes take part.
    fn shuffle(self, value: u32, from: u32) -> u32;
    /// The `value` of the lane `delta` below, or this lane's if there is none; all lanes
    /// take part.
    fn shuffle_up(self, value: u32, delta: u32) -> u32;
    /// Sum of the `value`s of the warp; all lanes take part.
    fn warp_sum(self, value: u32) -> u32;
    /// Largest `value` of the warp; all lanes take part.
    fn warp_max(self, value: u32) -> u32;
    /// Least `value` of the warp; all lanes take part.
    fn warp_min(self, value: u32) -> u32;
    /// Returns the same word, opaque to the compiler, so that it does not specialise loops for its
    /// values.
    #[inline(always)]
    fn opaque(self, word: u32) -> u32 {
        word
    }
    /// Reads word `at` of the block's shared memory.
    ///
    /// # Safety
    /// `at` must be below [`shared_words`] of [`Grid::LANES`].
    unsafe fn shared_load(self, at: u32) -> u32;
    /// Writes word `at` of the block's shared memory.
    ///
    /// # Safety
    /// `at` must be below [`shared_words`] of [`Grid::LANES`].
    unsafe fn shared_store(self, at: u32, value: u32);
    /// Adds to word `at` of the block's shared memory, atomically, and
    /// returns the previous value.
    ///
    /// # Safety
    /// `at` must be below [`shared_words`] of [`Grid::LANES`].
    unsafe fn shared_add(self, at: u32, value: u32) -> u32;
    /// Reads word `at` of the block's shared memory as it is now; later accesses come after it.
    ///
    /// # Safety
    /// `at` must be below [`shared_words`] of [`Grid::LANES`].
    unsafe fn shared_look(self, at: u32) -> u32;
    /// Writes word `at` of the block's shared memory for lanes that read it; earlier accesses of
    /// this lane, and of others before a barrier with it, come before.
    ///
    /// # Safety
    /// `at` must be below [`shared_words`] of [`Grid::LANES`].
    unsafe fn shared_show(self, at: u32, value: u32);
    /// Words of shared memory that the launch requested, besides [`shared_words`] of
    /// [`Grid::LANES`].
    fn extra_words(self) -> u32;
    /// Adds to word `at` of the shared memory that the launch requested, atomically, and returns
    /// the previous value.
    ///
    /// # Safety
    /// `at` must be below [`Grid::extra_words`].
    unsafe fn extra_add(self, at: u32, value: u32) -> u32;
    /// Place of word `at` of the shared memory that the launch requested, if `extra`, else of
    /// [`shared_words`]. Adjacent words are [`PLACE`] apart.
    fn place(self, extra: bool, at: u32) -> u32;
    /// Reads the word of shared memory at `place`.
    ///
    /// # Safety
    /// `place` must be that of a word of shared memory, below [`shared_words`] or
    /// [`Grid::extra_words`].
    unsafe fn place_load(self, place: u32) -> u32;
    /// Reads the four adjacent words of shared memory from `place` on.
    ///
    /// # Safety
    /// As [`Grid::place_load`] for each; the first word's number is a multiple of four.
    unsafe fn place_load4(self, place: u32) -> [u32; 4];
    /// Writes the word of shared memory at `place`.
    ///
    /// # Safety
    /// As [`Grid::place_load`].
    unsafe fn place_store(self, place: u32, value: u32);
    /// Writes the four adjacent words of shared memory from `place` on.
    ///
    /// # Safety
    /// As [`Grid::place_load4`].
    unsafe fn place_store4(self, place: u32, values: [u32; 4]);
    /// Adds to the word of shared memory at `place`, atomically.
    ///
    /// # Safety
    /// As [`Grid::place_load`].
    unsafe fn place_add(self, place: u32, value: u32);
    /// Replaces `expected` by `value` at `place` and returns the previous value.
    ///
    /// # Safety
    /// As [`Grid::place_load`].
    unsafe fn place_swap_if(self, place: u32, expected: u32, value: u32) -> u32;
    /// Reads word `at` of the shared memory of block `peer` of the cluster.
    ///
    /// # Safety
    /// `at` must be below [`shared_words`] of [`Grid::LANES`] and `peer` a block of the cluster
    /// that has not ended.
    unsafe fn peer_load(self, peer: u32, at: u32) -> u32;
    /// A clock in nanoseconds that never runs backwards.
    fn now_ns(self) -> u64;
    /// Passes about `cycles` clock cycles on a GPU; nothing on a CPU.
    fn delay(self, cycles: u32);
    /// Passes time while polling; `polls` counts the polls so far.
    fn pause(self, polls: u32);

    /// Reads a word that nothing writes during the run.
    ///
    /// # Safety
    /// `word` must be valid for reads and constant during the run.
    unsafe fn constant(self, word: *const u32) -> u32;
    /// Reads four adjacent words that nothing writes during the run.
    ///
    /// # Safety
    /// `word` must be aligned to 16 bytes, and four words from it on valid for
    /// reads and constant during the run.
    unsafe fn constant4(self, word: *const u32) -> [u32; 4];
    /// Reads four adjacent words that nothing writes during the run and that many lanes
    /// read: they stay in the first-level cache, where there is one.
    ///
    /// # Safety
    /// As for [`Grid::constant4`].
    unsafe fn constant4_kept(self, word: *const u32) -> [u32; 4];
    /// Fetches a word that nothing writes into a cache, without waiting for it.
    ///
    /// # Safety
    /// `word` must be valid for reads, or directly after such words.
    unsafe fn prefetch(self, word: *const u32);
    /// Reads a word; sees at least what was written before the last barrier.
    ///
    /// # Safety
    /// `word` must be valid for reads.
    unsafe fn load_weak(self, word: *const u32) -> u32;
    /// Writes a word; seen by other lanes after the next barrier.
    ///
    /// # Safety
    /// `word` must be valid for writes.
    unsafe fn store_weak(self, word: *mut u32, value: u32);
    /// [`Grid::load_weak`] of an aligned pair of words.
    ///
    /// # Safety
    /// `word` must be aligned to eight bytes and valid for reads of two words.
    unsafe fn load_weak_wide(self, word: *const u32) -> u64;
    /// [`Grid::store_weak`] of an aligned pair of words.
    ///
    /// # Safety
    /// `word` must be aligned to eight bytes and valid for writes of two words.
    unsafe fn store_weak_wide(self, word: *mut u32, value: u64);
    /// [`Grid::load_weak`] of four adjacent words.
    ///
    /// # Safety
    /// `word` must be aligned to 16 bytes, and four words from it on valid for reads.
    unsafe fn load_weak4(self, word: *const u32) -> [u32; 4];
    /// [`Grid::load_weak4`] of words that are read once: the first-level cache keeps none.
    ///
    /// # Safety
    /// As for [`Grid::load_weak4`].
    unsafe fn load_weak4_once(self, word: *const u32) -> [u32; 4];
    /// [`Grid::store_weak`] of four adjacent words.
    ///
    /// # Safety
    /// `word` must be aligned to 16 bytes, and four words from it on valid for writes.
    unsafe fn store_weak4(self, word: *mut u32, values: [u32; 4]);
    /// Reads a word as the device sees it now.
    ///
    /// # Safety
    /// `word` must be valid for reads.
    unsafe fn load(self, word: *const u32) -> u32;
    /// Writes a word for the device to see.
    ///
    /// # Safety
    /// `word` must be valid for writes.
    unsafe fn store(self, word: *mut u32, value: u32);
    /// Adds and returns the previous value.
    ///
    /// # Safety
    /// `word` must be valid for reads and writes.
    unsafe fn add(self, word: *mut u32, value: u32) -> u32;
    /// Adds to an aligned pair of words and returns its previous value.
    ///
    /// # Safety
    /// `word` must be aligned to eight bytes and valid for reads and writes
    /// of two words.
    unsafe fn add_wide(self, word: *mut u32, value: u64) -> u64;
    /// Reads an aligned pair of words as the device sees it now.
    ///
    /// # Safety
    /// `word` must be aligned to eight bytes and valid for reads of two words.
    unsafe fn load_wide(self, word: *const u32) -> u64;
    /// Lowers an aligned pair of words to the minimum and returns its previous value.
    ///
    /// # Safety
    /// As [`Grid::add_wide`].
    unsafe fn min_wide(self, word: *mut u32, value: u64) -> u64;
    /// Sets bits and returns the previous value.
    ///
    /// # Safety
    /// `word` must be valid for reads and writes.
    unsafe fn or(self, word: *mut u32, value: u32) -> u32;
    /// Lowers to the minimum and returns the previous value.
    ///
    /// # Safety
    /// `word` must be valid for reads and writes.
    unsafe fn min(self, word: *mut u32, value: u32) -> u32;
    /// Raises to the maximum and returns the previous value.
    ///
    /// # Safety
    /// `word` must be valid for reads and writes.
    unsafe fn max(self, word: *mut u32, value: u32) -> u32;
    /// Replaces `expected` by `value` and returns the previous value.
    ///
    /// # Safety
    /// `word` must be valid for reads and writes.
    unsafe fn swap_if(self, word: *mut u32, expected: u32, value: u32) -> u32;
    /// Replaces an aligned pair of words if it is `expected` and returns its previous value.
    ///
    /// # Safety
    /// As [`Grid::add_wide`].
    unsafe fn swap_wide_if(self, word: *mut u32, expected: u64, value: u64) -> u64;
    /// Adds 1 with release order; nothing waits for the result. Pairs with
    /// [`Grid::poll`].
    ///
    /// # Safety
    /// `word` must be valid for reads and writes.
    #[inline(always)]
    unsafe fn signal(self, word: *mut u32) {
        let order = Update::Release(Site::Arrive);
        // SAFETY: by this method's contract.
        unsafe { self.add_word(word, 1, order, Scope::Device) };
    }
    /// Adds 1 with acquire and release order and returns the previous value.
    /// Pairs with [`Grid::poll`].
    ///
    /// # Safety
    /// `word` must be valid for reads and writes.
    #[inline(always)]
    unsafe fn arrive(self, word: *mut u32) -> u32 {
        let order = Update::Both {
            acquire: Site::LastArrival,
            release: Site::OtherArrival,
        };
        // SAFETY: by this method's contract.
        unsafe { self.add_word(word, 1, order, Scope::Device) }
    }
    /// Reads with acquire order. Pairs with [`Grid::arrive`].
    ///
    /// # Safety
    /// `word` must be valid for reads.
    #[inline(always)]
    unsafe fn poll(self, word: *const u32) -> u32 {
        let order = Read::Acquire(Site::Arrivals);
        // SAFETY: by this method's contract.
        unsafe { self.load_word(word, order, Scope::Device) }
    }

    /// [`Grid::constant`] if `wanted`, else `otherwise`; a branch only where branches are
    /// cheap: codegen rule `PREDICATED`.
    ///
    /// # Safety
    /// As [`Grid::constant`] if `wanted`.
    #[inline(always)]
    unsafe fn constant_if(self, wanted: bool, word: *const u32, otherwise: u32) -> u32 {
        if wanted {
            // SAFETY: by this method's contract.
            unsafe { self.constant(word) }
        } else {
            otherwise
        }
    }
    /// [`Grid::load_weak`] as [`Grid::constant_if`].
    ///
    /// # Safety
    /// As [`Grid::load_weak`] if `wanted`.
    #[inline(always)]
    unsafe fn load_weak_if(self, wanted: bool, word: *const u32, otherwise: u32) -> u32 {
        if wanted {
            // SAFETY: by this method's contract.
            unsafe { self.load_weak(word) }
        } else {
            otherwise
        }
    }
    /// [`Grid::min`] of `values[0]`, as [`Grid::constant_if`] with `values[1]` otherwise.
    ///
    /// # Safety
    /// As [`Grid::min`] if `wanted`.
    #[inline(always)]
    unsafe fn min_if(self, wanted: bool, word: *mut u32, values: [u32; 2]) -> u32 {
        let [value, otherwise] = values;
        if wanted {
            // SAFETY: by this method's contract.
            unsafe { self.min(word, value) }
        } else {
            otherwise
        }
    }
    /// [`Grid::or`] of `values[0]`, as [`Grid::constant_if`] with `values[1]` otherwise.
    ///
    /// # Safety
    /// As [`Grid::or`] if `wanted`.
    #[inline(always)]
    unsafe fn or_if(self, wanted: bool, word: *mut u32, values: [u32; 2]) -> u32 {
        let [value, otherwise] = values;
        if wanted {
            // SAFETY: by this method's contract.
            unsafe { self.or(word, value) }
        } else {
            otherwise
        }
    }

    /// Reads a word that a host may write, or that only this machine's workers share, in this
    /// order.
    ///
    /// # Safety
    /// `word` must be valid for reads.
    unsafe fn load_word(self, word: *const u32, order: Read, scope: Scope) -> u32;
    /// Writes a word that a host may read, in this order.
    ///
    /// # Safety
    /// `word` must be valid for writes.
    unsafe fn store_word(self, word: *mut u32, value: u32, order: Write, scope: Scope);
    /// Swaps a word if it is as expected and returns the previous value; no host may change the
    /// word at the same time.
    ///
    /// # Safety
    /// `word` must be valid for reads and writes.
    unsafe fn swap_word(self, word: *mut u32, swap: Swap, order: Update, scope: Scope) -> u32;
    /// Adds to a word and returns the previous value; no host may change the word at the same
    /// time.
    ///
    /// # Safety
    /// `word` must be valid for reads and writes.
    unsafe fn add_word(self, word: *mut u32, value: u32, order: Update, scope: Scope) -> u32;
    /// Adds to a word of this machine, in no order, without waiting for the previous value.
    ///
    /// # Safety
    /// `word` must be valid for reads and writes.
    #[inline(always)]
    unsafe fn tally_word(self, word: *mut u32, value: u32) {
        // SAFETY: by this method's contract.
        unsafe { self.add_word(word, value, Update::Relaxed, Scope::Device) };
    }
    /// Orders all earlier accesses of this lane before all later ones, for hosts too.
    fn fence_system(self);
    /// Passes about `ns` nanoseconds and leaves the machine to others meanwhile.
    fn rest(self, ns: u32);

    /// Number of this lane in its warp.
    #[inline(always)]
    fn warp_lane(self) -> u32 {
        self.lane() & (Self::WARP - 1)
    }

    /// The lanes of the warp below this one, a bit each.
    #[inline(always)]
    fn lanes_below(self) -> u32 {
        (1 << self.warp_lane()) - 1
    }

    /// Whether `value` holds for any lane of the block; a block barrier.
    #[inline(always)]
    fn block_any(self, value: bool) -> bool {
        self.block_count(value) != 0
    }
}
