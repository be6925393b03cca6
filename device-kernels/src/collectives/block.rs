//! Scans, broadcasts and searches by the lanes of one block.
//!
//! A block operation is called by all lanes of the block, a warp operation by all lanes
//! of the warp.

use crate::machine::Grid;
use crate::machine::shared::{Area, BROADCAST, SCAN};

/// Sum of the `value`s of the lanes below this one, and of all lanes of the
/// warp.
#[inline(always)]
pub fn warp_scan<G: Grid>(grid: G, value: u32) -> (u32, u32) {
    if G::WARP == 1 {
        return (0, value);
    }
    let mut sum = value;
    let mut delta = 1;
    while delta < G::WARP {
        let below = grid.shuffle_up(sum, delta);
        if grid.warp_lane() >= delta {
            sum = sum.wrapping_add(below);
        }
        delta <<= 1;
    }
    let total = grid.shuffle(sum, G::WARP - 1);
    (sum.wrapping_sub(value), total)
}

/// Sum of the `own`s of the warp. A warp operation.
#[inline(always)]
pub fn warp_sum_wide<G: Grid>(grid: G, own: u64) -> u64 {
    let mut sum = own;
    let mut delta = G::WARP / 2;
    while delta > 0 {
        let from = grid.warp_lane() ^ delta;
        let [low, high] = [sum as u32, (sum >> 32) as u32].map(|word| grid.shuffle(word, from));
        sum = sum.wrapping_add(u64::from(low) | u64::from(high) << 32);
        delta /= 2;
    }
    sum
}

/// [`warp_scan`] of counts up to `K`: one vote per bit. Votes overlap, while five
/// shuffles would wait for each other.
#[inline(always)]
pub fn scan_count<G: Grid, const K: usize>(grid: G, count: u32) -> (u32, u32) {
    if G::WARP == 1 {
        return (0, count);
    }
    let (mut below, mut total) = (0, 0);
    let mut bit = 0;
    while K >> bit != 0 {
        let lanes = grid.ballot(count >> bit & 1 != 0);
        below += (lanes & grid.lanes_below()).count_ones() << bit;
        total += lanes.count_ones() << bit;
        bit += 1;
    }
    (below, total)
}

/// Sum of the `value`s of the lanes below this one, and of all lanes of the
/// block. Contains block barriers.
#[inline(always)]
pub fn block_scan<G: Grid>(grid: G, value: u32) -> (u32, u32) {
    if G::WARP == 1 {
        return (0, value);
    }
    let (below, total) = warp_scan(grid, value);
    let warp = grid.lane() / G::WARP;
    grid.block_barrier();
    if grid.warp_lane() == 0 {
        // SAFETY: a block has at most 32 warps.
        unsafe { SCAN.area().store(grid, warp, total) };
    }
    grid.block_barrier();
    let warps = grid.lanes() / G::WARP;
    let partial = if grid.warp_lane() < warps {
        // SAFETY: a block has at most 32 warps.
        unsafe { SCAN.area().load(grid, grid.warp_lane()) }
    } else {
        0
    };
    let (warps_below, block_total) = warp_scan(grid, partial);
    let base = grid.shuffle(warps_below, warp);
    (base.wrapping_add(below), block_total)
}

/// Broadcasts the `value` of lane 0 to all lanes. Contains block barriers.
#[inline(always)]
pub fn broadcast<G: Grid>(grid: G, value: u32) -> u32 {
    if G::WARP == 1 {
        return value;
    }
    grid.block_barrier();
    if grid.lane() == 0 {
        BROADCAST.store(grid, value);
    }
    grid.block_barrier();
    BROADCAST.load(grid)
}

/// The last of the `count` ascending shared `words` that is not above `value`; the first
/// word must not be above it.
#[inline(always)]
pub fn owner<G: Grid>(grid: G, words: Area, count: u32, value: u32) -> u32 {
    let (mut low, mut span) = (0, count);
    while span > 1 {
        let half = span / 2;
        // SAFETY: `low + half` stays below `count`, whose words exist.
        let word = unsafe { words.load(grid, low + half) };
        if word <= value {
            low += half;
            span -= half;
        } else {
            span = half;
        }
    }
    low
}
