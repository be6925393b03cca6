//! An NVIDIA GPU as a grid.
//!
//! Scoped accesses are inline assembly, since the language's atomics are
//! system-scoped on this target and their orderings are not to be relied on
//! (rust-lang/rust#136480). All pointers are in the global window; block-shared
//! memory is reached by word number only.

mod intrinsics;

use super::{COMPACT_LANES, Grid, LANES_MAX, shared_words};
use core::arch::{asm, global_asm, nvptx};
use intrinsics::*;

const _: () = assert!(
    shared_words(LANES_MAX) * 4 == 49152 && shared_words(COMPACT_LANES) * 4 == 8704,
    "the sizes in the assembly below"
);

global_asm!(".shared .align 16 .b8 seawall_shared[49152];");
global_asm!(".shared .align 16 .b8 seawall_shared_compact[8704];");
global_asm!(".extern .shared .align 16 .b8 seawall_extra[];");

/// The mask of a full warp.
const ALL_LANES: u32 = u32::MAX;

/// A lane of the running kernel, in a block of at most `LANES` lanes:
/// [`LANES_MAX`] or [`COMPACT_LANES`].
#[derive(Clone, Copy)]
pub struct Lane<const LANES: u32>;

/// A lane of a block of any size.
pub type Device = Lane<LANES_MAX>;

/// A lane of a small block.
pub type CompactDevice = Lane<COMPACT_LANES>;

/// Address of word `at` of the shared memory that a launch asked for.
#[inline(always)]
fn extra_address(at: u32) -> u32 {
    let base: u32;
    // SAFETY: taking an address has no effect.
    unsafe {
        asm!("mov.u32 {}, seawall_extra;", out(reg32) base, options(pure, nomem, nostack));
    }
    base + at * 4
}

impl<const LANES: u32> Lane<LANES> {
    #[inline(always)]
    fn shared_address(at: u32) -> u32 {
        const { assert!(LANES == LANES_MAX || LANES == COMPACT_LANES) };
        let base: u32;
        // SAFETY: taking an address has no effect.
        unsafe {
            if LANES == COMPACT_LANES {
                asm!("mov.u32 {}, seawall_shared_compact;", out(reg32) base, options(pure, nomem, nostack));
            } else {
                asm!("mov.u32 {}, seawall_shared;", out(reg32) base, options(pure, nomem, nostack));
            }
        }
        base + at * 4
    }
}

/// How a load says that its line will not be wanted again, where it can.
#[cfg(seawall_sm = "90")]
macro_rules! streaming {
    () => {
        ".L1::no_allocate"
    };
}
#[cfg(not(seawall_sm = "90"))]
macro_rules! streaming {
    () => {
        ""
    };
}

macro_rules! special_register {
    ($name:literal) => {{
        let value: u32;
        // SAFETY: reading a special register has no effect.
        unsafe { asm!(concat!("mov.u32 {}, ", $name, ";"), out(reg32) value, options(pure, nomem, nostack)) };
        value
    }};
}

macro_rules! atomic {
    ($operation:literal, $word:expr, $value:expr) => {{
        let previous: u32;
        // SAFETY: the word is valid, by the method's contract.
        unsafe { asm!(concat!("atom.relaxed.gpu.", $operation, " {}, [{}], {};"), out(reg32) previous, in(reg64) $word, in(reg32) $value, options(nostack)) };
        previous
    }};
}

// SAFETY: ids come from the hardware, `bar.sync` orders the block's accesses,
// and each array of shared memory is one a block, as long as `LANES` asks.
unsafe impl<const LANES: u32> Grid for Lane<LANES> {
    const WARP: u32 = 32;
    const LANES: u32 = LANES;
    const ITEMS: u32 = 1;

    #[inline(always)]
    fn block(self) -> u32 {
        special_register!("%ctaid.x")
    }
    #[inline(always)]
    fn blocks(self) -> u32 {
        special_register!("%nctaid.x")
    }
    #[inline(always)]
    fn lane(self) -> u32 {
        special_register!("%tid.x")
    }
    #[inline(always)]
    fn lanes(self) -> u32 {
        special_register!("%ntid.x")
    }
    #[inline(always)]
    fn lanes_below(self) -> u32 {
        special_register!("%lanemask_lt")
    }
    #[inline(always)]
    fn block_barrier(self) {
        // SAFETY: kernels reach every block barrier with all lanes.
        unsafe { nvptx::_syncthreads() };
    }
    #[cfg(seawall_sm = "90")]
    #[inline(always)]
    fn cluster(self) -> u32 {
        special_register!("%cluster_nctarank")
    }
    #[cfg(seawall_sm = "90")]
    #[inline(always)]
    fn cluster_barrier(self, wrote: bool) {
        // SAFETY: kernels reach every cluster barrier with all lanes, and those
        // of a warp agree on `wrote`.
        unsafe {
            if wrote {
                cluster_arrive();
            } else {
                cluster_arrive_relaxed();
            }
            cluster_wait();
        }
    }
    // Older machines have no clusters: a block is alone in its own.
    #[cfg(not(seawall_sm = "90"))]
    #[inline(always)]
    fn cluster(self) -> u32 {
        1
    }
    #[cfg(not(seawall_sm = "90"))]
    #[inline(always)]
    fn cluster_barrier(self, _wrote: bool) {
        self.block_barrier();
    }
    #[inline(always)]
    fn warp_barrier(self) {
        // SAFETY: kernels reach every warp barrier with all lanes of the warp.
        unsafe { warp_sync(ALL_LANES) };
    }
    #[inline(always)]
    fn block_count(self, value: bool) -> u32 {
        // SAFETY: kernels reach every block barrier with all lanes.
        unsafe { barrier_count(0, value) }
    }
    #[inline(always)]
    fn ballot(self, value: bool) -> u32 {
        // SAFETY: kernels vote with all lanes of the warp.
        unsafe { vote_ballot(ALL_LANES, value) }
    }
    #[inline(always)]
    fn shuffle(self, value: u32, from: u32) -> u32 {
        // SAFETY: kernels shuffle with all lanes of the warp.
        unsafe { shuffle_index(ALL_LANES, value, from, 31) }
    }
    #[inline(always)]
    fn shuffle_up(self, value: u32, delta: u32) -> u32 {
        // SAFETY: kernels shuffle with all lanes of the warp.
        unsafe { shuffle_below(ALL_LANES, value, delta, 0) }
    }
    #[cfg(seawall_sm = "90")]
    #[inline(always)]
    fn warp_sum(self, value: u32) -> u32 {
        // SAFETY: kernels reduce with all lanes of the warp.
        unsafe { reduce_add(value, ALL_LANES) }
    }
    #[cfg(seawall_sm = "90")]
    #[inline(always)]
    fn warp_max(self, value: u32) -> u32 {
        // SAFETY: kernels reduce with all lanes of the warp.
        unsafe { reduce_max(value, ALL_LANES) }
    }
    #[cfg(seawall_sm = "90")]
    #[inline(always)]
    fn warp_min(self, value: u32) -> u32 {
        // SAFETY: kernels reduce with all lanes of the warp.
        unsafe { reduce_min(value, ALL_LANES) }
    }
    #[cfg(not(seawall_sm = "90"))]
    #[inline(always)]
    fn warp_min(self, value: u32) -> u32 {
        butterfly(self, value, u32::min)
    }
    #[cfg(not(seawall_sm = "90"))]
    #[inline(always)]
    fn warp_sum(self, value: u32) -> u32 {
        butterfly(self, value, u32::wrapping_add)
    }
    #[cfg(not(seawall_sm = "90"))]
    #[inline(always)]
    fn warp_max(self, value: u32) -> u32 {
        butterfly(self, value, u32::max)
    }
    #[inline(always)]
    unsafe fn shared_load(self, at: u32) -> u32 {
        let value: u32;
        // SAFETY: `at` is in shared memory, by this method's contract.
        unsafe {
            asm!("ld.shared.u32 {}, [{}];", out(reg32) value, in(reg32) Self::shared_address(at), options(pure, readonly, nostack))
        };
        value
    }
    #[inline(always)]
    unsafe fn shared_load4(self, at: u32) -> [u32; 4] {
        let (first, second, third, fourth): (u32, u32, u32, u32);
        // SAFETY: the words are in shared memory, whose arrays are aligned, by
        // this method's contract.
        unsafe {
            asm!(
                "ld.shared.v4.u32 {{{}, {}, {}, {}}}, [{}];",
                out(reg32) first, out(reg32) second, out(reg32) third, out(reg32) fourth,
                in(reg32) Self::shared_address(at), options(pure, readonly, nostack)
            );
        }
        [first, second, third, fourth]
    }
    #[inline(always)]
    unsafe fn shared_store(self, at: u32, value: u32) {
        // SAFETY: `at` is in shared memory, by this method's contract.
        unsafe {
            asm!("st.shared.u32 [{}], {};", in(reg32) Self::shared_address(at), in(reg32) value, options(nostack))
        };
    }
    #[inline(always)]
    unsafe fn shared_add(self, at: u32, value: u32) -> u32 {
        let previous: u32;
        // SAFETY: `at` is in shared memory, by this method's contract.
        unsafe {
            asm!("atom.shared.add.u32 {}, [{}], {};", out(reg32) previous, in(reg32) Self::shared_address(at), in(reg32) value, options(nostack))
        };
        previous
    }
    #[inline(always)]
    fn extra_words(self) -> u32 {
        special_register!("%dynamic_smem_size") / 4
    }
    #[inline(always)]
    unsafe fn extra_load(self, at: u32) -> u32 {
        let value: u32;
        // SAFETY: `at` is in what was asked for, by this method's contract.
        unsafe {
            asm!("ld.shared.u32 {}, [{}];", out(reg32) value, in(reg32) extra_address(at), options(pure, readonly, nostack))
        };
        value
    }
    #[inline(always)]
    unsafe fn extra_store(self, at: u32, value: u32) {
        // SAFETY: `at` is in what was asked for, by this method's contract.
        unsafe {
            asm!("st.shared.u32 [{}], {};", in(reg32) extra_address(at), in(reg32) value, options(nostack))
        };
    }
    #[inline(always)]
    unsafe fn extra_add(self, at: u32, value: u32) -> u32 {
        let previous: u32;
        // SAFETY: `at` is in what was asked for, by this method's contract.
        unsafe {
            asm!("atom.shared.add.u32 {}, [{}], {};", out(reg32) previous, in(reg32) extra_address(at), in(reg32) value, options(nostack))
        };
        previous
    }
    #[cfg(seawall_sm = "90")]
    #[inline(always)]
    unsafe fn peer_load(self, peer: u32, at: u32) -> u32 {
        let value: u32;
        // SAFETY: `at` is below `SHARED_WORDS` and the peer's shared memory
        // exists, by this method's contract.
        unsafe {
            asm!(
                "{{ .reg .b32 %peer_word; mapa.shared::cluster.u32 %peer_word, {}, {}; ld.shared::cluster.u32 {}, [%peer_word]; }}",
                in(reg32) Self::shared_address(at), in(reg32) peer, out(reg32) value,
                options(pure, readonly, nostack)
            );
        }
        value
    }
    #[cfg(not(seawall_sm = "90"))]
    #[inline(always)]
    unsafe fn peer_load(self, _peer: u32, at: u32) -> u32 {
        // SAFETY: a cluster has one block, and `at` is below `SHARED_WORDS`,
        // by this method's contract.
        unsafe { self.shared_load(at) }
    }
    #[inline(always)]
    fn now_ns(self) -> u64 {
        let now: u64;
        // SAFETY: reading the clock has no effect.
        unsafe { asm!("mov.u64 {}, %globaltimer;", out(reg64) now, options(nomem, nostack)) };
        now
    }
    #[inline(always)]
    fn delay(self, cycles: u32) {
        let clock = || {
            let now: u32;
            // SAFETY: reading the clock has no effect.
            unsafe { asm!("mov.u32 {}, %clock;", out(reg32) now, options(nomem, nostack)) };
            now
        };
        let start = clock();
        while clock().wrapping_sub(start) < cycles {}
    }
    #[inline(always)]
    fn pause(self, _polls: u32) {}

    #[inline(always)]
    unsafe fn constant(self, word: *const u32) -> u32 {
        let value: u32;
        // SAFETY: the word is valid and constant, by this method's contract.
        unsafe {
            asm!("ld.global.nc.u32 {}, [{}];", out(reg32) value, in(reg64) word, options(pure, readonly, nostack))
        };
        value
    }
    #[inline(always)]
    unsafe fn constant4(self, word: *const u32) -> [u32; 4] {
        let (first, second, third, fourth): (u32, u32, u32, u32);
        // SAFETY: the words are valid, constant and aligned, by this method's
        // contract.
        unsafe {
            asm!(
                concat!("ld.global.nc", streaming!(), ".v4.u32 {{{}, {}, {}, {}}}, [{}];"),
                out(reg32) first, out(reg32) second, out(reg32) third, out(reg32) fourth,
                in(reg64) word, options(pure, nomem, nostack)
            );
        }
        [first, second, third, fourth]
    }
    #[inline(always)]
    unsafe fn prefetch(self, word: *const u32) {
        // SAFETY: a prefetch changes no memory.
        unsafe { asm!("prefetch.global.L2 [{}];", in(reg64) word, options(nostack)) };
    }
    #[inline(always)]
    unsafe fn load_weak(self, word: *const u32) -> u32 {
        let value: u32;
        // SAFETY: the word is valid, by this method's contract.
        unsafe {
            asm!("ld.global.u32 {}, [{}];", out(reg32) value, in(reg64) word, options(pure, readonly, nostack))
        };
        value
    }
    #[inline(always)]
    unsafe fn store_weak(self, word: *mut u32, value: u32) {
        // SAFETY: the word is valid, by this method's contract.
        unsafe {
            asm!("st.global.u32 [{}], {};", in(reg64) word, in(reg32) value, options(nostack))
        };
    }
    #[inline(always)]
    unsafe fn load_weak4(self, word: *const u32) -> [u32; 4] {
        let (first, second, third, fourth): (u32, u32, u32, u32);
        // SAFETY: the words are valid and aligned, by this method's contract.
        unsafe {
            asm!(
                "ld.global.v4.u32 {{{}, {}, {}, {}}}, [{}];",
                out(reg32) first, out(reg32) second, out(reg32) third, out(reg32) fourth,
                in(reg64) word, options(pure, readonly, nostack)
            );
        }
        [first, second, third, fourth]
    }
    #[inline(always)]
    unsafe fn store_weak4(self, word: *mut u32, [first, second, third, fourth]: [u32; 4]) {
        // SAFETY: the words are valid and aligned, by this method's contract.
        unsafe {
            asm!(
                "st.global.v4.u32 [{}], {{{}, {}, {}, {}}};",
                in(reg64) word, in(reg32) first, in(reg32) second, in(reg32) third, in(reg32) fourth,
                options(nostack)
            );
        }
    }
    #[inline(always)]
    unsafe fn load(self, word: *const u32) -> u32 {
        let value: u32;
        // SAFETY: the word is valid, by this method's contract.
        unsafe {
            asm!("ld.relaxed.gpu.global.u32 {}, [{}];", out(reg32) value, in(reg64) word, options(nostack))
        };
        value
    }
    #[inline(always)]
    unsafe fn store(self, word: *mut u32, value: u32) {
        // SAFETY: the word is valid, by this method's contract.
        unsafe {
            asm!("st.relaxed.gpu.global.u32 [{}], {};", in(reg64) word, in(reg32) value, options(nostack))
        };
    }
    #[inline(always)]
    unsafe fn add(self, word: *mut u32, value: u32) -> u32 {
        atomic!("global.add.u32", word, value)
    }
    #[inline(always)]
    unsafe fn add_wide(self, word: *mut u32, value: u64) -> u64 {
        let previous: u64;
        // SAFETY: the pair is valid and aligned, by this method's contract.
        unsafe {
            asm!("atom.relaxed.gpu.global.add.u64 {}, [{}], {};", out(reg64) previous, in(reg64) word, in(reg64) value, options(nostack))
        };
        previous
    }
    #[inline(always)]
    unsafe fn load_wide(self, word: *const u32) -> u64 {
        let value: u64;
        // SAFETY: the pair is valid and aligned, by this method's contract.
        unsafe {
            asm!("ld.relaxed.gpu.global.u64 {}, [{}];", out(reg64) value, in(reg64) word, options(nostack))
        };
        value
    }
    #[inline(always)]
    unsafe fn min_wide(self, word: *mut u32, value: u64) -> u64 {
        let previous: u64;
        // SAFETY: the pair is valid and aligned, by this method's contract.
        unsafe {
            asm!("atom.relaxed.gpu.global.min.u64 {}, [{}], {};", out(reg64) previous, in(reg64) word, in(reg64) value, options(nostack))
        };
        previous
    }
    #[inline(always)]
    unsafe fn or(self, word: *mut u32, value: u32) -> u32 {
        atomic!("global.or.b32", word, value)
    }
    #[inline(always)]
    unsafe fn min(self, word: *mut u32, value: u32) -> u32 {
        atomic!("global.min.u32", word, value)
    }
    #[inline(always)]
    unsafe fn max(self, word: *mut u32, value: u32) -> u32 {
        atomic!("global.max.u32", word, value)
    }
    #[inline(always)]
    unsafe fn swap_if(self, word: *mut u32, expected: u32, value: u32) -> u32 {
        let previous: u32;
        // SAFETY: the word is valid, by this method's contract.
        unsafe {
            asm!("atom.relaxed.gpu.global.cas.b32 {}, [{}], {}, {};", out(reg32) previous, in(reg64) word, in(reg32) expected, in(reg32) value, options(nostack))
        };
        previous
    }
    #[inline(always)]
    unsafe fn signal(self, word: *mut u32) {
        // SAFETY: the word is valid, by this method's contract.
        unsafe {
            asm!("red.release.gpu.global.add.u32 [{}], 1;", in(reg64) word, options(nostack))
        };
    }
    #[inline(always)]
    unsafe fn arrive(self, word: *mut u32) -> u32 {
        let previous: u32;
        // SAFETY: the word is valid, by this method's contract.
        unsafe {
            asm!("atom.acq_rel.gpu.global.add.u32 {}, [{}], 1;", out(reg32) previous, in(reg64) word, options(nostack))
        };
        previous
    }
    #[inline(always)]
    unsafe fn poll(self, word: *const u32) -> u32 {
        let value: u32;
        // SAFETY: the word is valid, by this method's contract.
        unsafe {
            asm!("ld.acquire.gpu.global.u32 {}, [{}];", out(reg32) value, in(reg64) word, options(nostack))
        };
        value
    }
}

/// What `join` makes of the `value`s of a warp, for machines that cannot do it
/// at once.
#[cfg(not(seawall_sm = "90"))]
#[inline(always)]
fn butterfly<G: Grid>(grid: G, value: u32, join: impl Fn(u32, u32) -> u32) -> u32 {
    let mut joined = value;
    let mut delta = G::WARP / 2;
    while delta > 0 {
        joined = join(joined, grid.shuffle(joined, grid.warp_lane() ^ delta));
        delta /= 2;
    }
    joined
}

/// Ends the kernel: nothing that runs on a GPU can unwind.
pub fn trap() -> ! {
    // SAFETY: `trap` ends the kernel and reports to the host.
    unsafe { nvptx::trap() }
}
