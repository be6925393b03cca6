//! The operations of a GPU's lane.

use super::Lane;
use super::assembly::{
    add_as, atomic, atomic_if, load, load_as, load_if, load_now, load4, special_register, store,
    store_as, store4, streaming, swap,
};
use super::intrinsics::*;
use super::{ALL_LANES, extra_address};
use crate::machine::Grid;
use core::arch::asm;
use seawall_core::protocol::{Read, Scope, Swap, Update, Write};

/// Accesses to memory, an instruction each.
macro_rules! accesses {
    ($($name:ident($($of:ident: $type:ty),*) $(-> $found:ty)? = $access:expr;)*) => {$(
        #[inline(always)]
        unsafe fn $name(self $(, $of: $type)*) $(-> $found)? {
            $access
        }
    )*};
}

// SAFETY: ids come from the hardware, `bar.sync` orders the block's accesses, and each
// block has an array of shared memory, as long as `LANES` asks.
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
        unsafe { block_sync(0) };
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
    // Older machines have no clusters: each block is a cluster.
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
    fn opaque(self, word: u32) -> u32 {
        let same: u32;
        // SAFETY: copying a register has no effect.
        unsafe {
            asm!("mov.u32 {}, {};", out(reg32) same, in(reg32) word, options(nomem, nostack))
        };
        same
    }
    accesses! {
        shared_load(at: u32) -> u32 = load!("ld.shared.u32", reg32 Self::shared_address(at));
        shared_store(at: u32, value: u32)
            = store!("st.shared.u32", reg32 Self::shared_address(at), value);
        shared_add(at: u32, value: u32) -> u32
            = atomic!("shared.add.u32", reg32 Self::shared_address(at), reg32 value);
        shared_show(at: u32, value: u32)
            = store!("st.release.cta.shared.u32", reg32 Self::shared_address(at), value);
        extra_add(at: u32, value: u32) -> u32
            = atomic!("shared.add.u32", reg32 extra_address(at), reg32 value);
        place_load(place: u32) -> u32 = load!("ld.shared.u32", reg32 place);
        place_store(place: u32, value: u32) = store!("st.shared.u32", reg32 place, value);
        place_load4(place: u32) -> [u32; 4] = load4!("ld.shared.v4.u32", reg32 place, readonly);
        place_store4(place: u32, values: [u32; 4])
            = store4!("st.shared.v4.u32", reg32 place, values);
        place_add(place: u32, value: u32) = store!("red.shared.add.u32", reg32 place, value);
        constant(word: *const u32) -> u32 = load!("ld.global.nc.u32", reg64 word);
        constant4(word: *const u32) -> [u32; 4]
            = load4!(concat!("ld.global.nc", streaming!(), ".v4.u32"), reg64 word, nomem);
        constant4_kept(word: *const u32) -> [u32; 4]
            = load4!("ld.global.nc.v4.u32", reg64 word, nomem);
        load_weak(word: *const u32) -> u32 = load!("ld.global.u32", reg64 word);
        store_weak(word: *mut u32, value: u32) = store!("st.global.u32", reg64 word, value);
        load_weak_wide(word: *const u32) -> u64 = load!("ld.global.u64", reg64 word);
        store_weak_wide(word: *mut u32, value: u64)
            = store!("st.global.u64", reg64 word, reg64 value);
        load_weak4(word: *const u32) -> [u32; 4] = load4!("ld.global.v4.u32", reg64 word, readonly);
        load_weak4_once(word: *const u32) -> [u32; 4]
            = load4!(concat!("ld.global", streaming!(), ".v4.u32"), reg64 word, readonly);
        store_weak4(word: *mut u32, values: [u32; 4])
            = store4!("st.global.v4.u32", reg64 word, values);
        load(word: *const u32) -> u32 = load_now!("ld.relaxed.gpu.global.u32", reg32 word);
        store(word: *mut u32, value: u32) = store!("st.relaxed.gpu.global.u32", reg64 word, value);
        add(word: *mut u32, value: u32) -> u32
            = atomic!("relaxed.gpu.global.add.u32", reg64 word, reg32 value);
        add_wide(word: *mut u32, value: u64) -> u64
            = atomic!("relaxed.gpu.global.add.u64", reg64 word, reg64 value);
        load_wide(word: *const u32) -> u64 = load_now!("ld.relaxed.gpu.global.u64", reg64 word);
        min_wide(word: *mut u32, value: u64) -> u64
            = atomic!("relaxed.gpu.global.min.u64", reg64 word, reg64 value);
        or(word: *mut u32, value: u32) -> u32
            = atomic!("relaxed.gpu.global.or.b32", reg64 word, reg32 value);
        min(word: *mut u32, value: u32) -> u32
            = atomic!("relaxed.gpu.global.min.u32", reg64 word, reg32 value);
        max(word: *mut u32, value: u32) -> u32
            = atomic!("relaxed.gpu.global.max.u32", reg64 word, reg32 value);
        poll(word: *const u32) -> u32 = load_now!("ld.acquire.gpu.global.u32", reg32 word);
        constant_if(wanted: bool, word: *const u32, otherwise: u32) -> u32
            = load_if!("ld.global.nc.u32", wanted, word, otherwise);
        load_weak_if(wanted: bool, word: *const u32, otherwise: u32) -> u32
            = load_if!("ld.global.u32", wanted, word, otherwise);
        min_if(wanted: bool, word: *mut u32, values: [u32; 2]) -> u32
            = atomic_if!("relaxed.gpu.global.min.u32", wanted, word, values);
        or_if(wanted: bool, word: *mut u32, values: [u32; 2]) -> u32
            = atomic_if!("relaxed.gpu.global.or.b32", wanted, word, values);
        tally_word(word: *mut u32, value: u32)
            = store!("red.relaxed.gpu.global.add.u32", reg64 word, value);
    }
    #[inline(always)]
    unsafe fn shared_look(self, at: u32) -> u32 {
        let value;
        // SAFETY: the word is valid, by this method's contract.
        unsafe {
            asm!("ld.acquire.cta.shared.u32 {}, [{}];", out(reg32) value, in(reg32) Self::shared_address(at), options(nostack));
        }
        value
    }
    #[inline(always)]
    fn extra_words(self) -> u32 {
        special_register!("%dynamic_smem_size") / 4
    }
    #[inline(always)]
    fn place(self, extra: bool, at: u32) -> u32 {
        if extra {
            extra_address(at)
        } else {
            Self::shared_address(at)
        }
    }
    #[inline(always)]
    unsafe fn place_swap_if(self, place: u32, expected: u32, value: u32) -> u32 {
        let previous: u32;
        // SAFETY: the word is in shared memory, by this method's contract.
        unsafe {
            asm!("atom.shared.cas.b32 {}, [{}], {}, {};", out(reg32) previous, in(reg32) place, in(reg32) expected, in(reg32) value, options(nostack))
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
    unsafe fn prefetch(self, word: *const u32) {
        // SAFETY: a prefetch changes no memory.
        unsafe { asm!("prefetch.global.L2 [{}];", in(reg64) word, options(nostack)) };
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
    unsafe fn swap_wide_if(self, word: *mut u32, expected: u64, value: u64) -> u64 {
        let previous: u64;
        // SAFETY: the pair is valid and aligned, by this method's contract.
        unsafe {
            asm!("atom.relaxed.gpu.global.cas.b64 {}, [{}], {}, {};", out(reg64) previous, in(reg64) word, in(reg64) expected, in(reg64) value, options(nostack))
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
    unsafe fn load_word(self, word: *const u32, order: Read, scope: Scope) -> u32 {
        match (order, scope) {
            (Read::Relaxed, Scope::Device) => load_as!("relaxed.gpu", word),
            (Read::Relaxed, Scope::System) => load_as!("relaxed.sys", word),
            (Read::Acquire(_), Scope::Device) => load_as!("acquire.gpu", word),
            (Read::Acquire(_), Scope::System) => load_as!("acquire.sys", word),
        }
    }
    #[inline(always)]
    unsafe fn store_word(self, word: *mut u32, value: u32, order: Write, scope: Scope) {
        match (order, scope) {
            (Write::Relaxed, Scope::Device) => store_as!("relaxed.gpu", word, value),
            (Write::Relaxed, Scope::System) => store_as!("relaxed.sys", word, value),
            (Write::Release(_), Scope::Device) => store_as!("release.gpu", word, value),
            (Write::Release(_), Scope::System) => store_as!("release.sys", word, value),
        }
    }
    #[inline(always)]
    unsafe fn swap_word(self, word: *mut u32, swap: Swap, order: Update, scope: Scope) -> u32 {
        match (order, scope) {
            (Update::Relaxed, Scope::Device) => swap!("relaxed.gpu", word, swap),
            (Update::Relaxed, Scope::System) => swap!("relaxed.sys", word, swap),
            (Update::Acquire(_), Scope::Device) => swap!("acquire.gpu", word, swap),
            (Update::Acquire(_), Scope::System) => swap!("acquire.sys", word, swap),
            (Update::Release(_), Scope::Device) => swap!("release.gpu", word, swap),
            (Update::Release(_), Scope::System) => swap!("release.sys", word, swap),
            (Update::Both { .. }, Scope::Device) => swap!("acq_rel.gpu", word, swap),
            (Update::Both { .. }, Scope::System) => swap!("acq_rel.sys", word, swap),
        }
    }
    #[inline(always)]
    unsafe fn add_word(self, word: *mut u32, value: u32, order: Update, scope: Scope) -> u32 {
        match (order, scope) {
            (Update::Relaxed, Scope::Device) => add_as!("relaxed.gpu", word, value),
            (Update::Relaxed, Scope::System) => add_as!("relaxed.sys", word, value),
            (Update::Acquire(_), Scope::Device) => add_as!("acquire.gpu", word, value),
            (Update::Acquire(_), Scope::System) => add_as!("acquire.sys", word, value),
            (Update::Release(_), Scope::Device) => add_as!("release.gpu", word, value),
            (Update::Release(_), Scope::System) => add_as!("release.sys", word, value),
            (Update::Both { .. }, Scope::Device) => add_as!("acq_rel.gpu", word, value),
            (Update::Both { .. }, Scope::System) => add_as!("acq_rel.sys", word, value),
        }
    }
    #[inline(always)]
    fn fence_system(self) {
        // SAFETY: a fence changes no memory.
        unsafe { asm!("fence.acq_rel.sys;", options(nostack)) };
    }
    #[inline(always)]
    fn rest(self, ns: u32) {
        // SAFETY: sleeping changes no memory.
        unsafe { asm!("nanosleep.u32 {};", in(reg32) ns, options(nostack)) };
    }
}

/// Joins the `value`s of a warp, for machines without an instruction for it.
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
