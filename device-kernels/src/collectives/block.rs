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
    // SAFETY: the search asks for words below `count`, which exist.
    last_by_lane(count, |at| unsafe { words.load(grid, at) } <= value)
}

/// The last of `count` entries that `is_before` accepts, by one lane. It accepts the first entry,
/// and no entry after one that it does not accept; as in the searches below.
#[inline(always)]
pub fn last_by_lane(count: u32, is_before: impl Fn(u32) -> bool) -> u32 {
    let (mut low, mut span) = (0, count);
    while span > 1 {
        let half = span / 2;
        if is_before(low + half) {
            low += half;
            span -= half;
        } else {
            span = half;
        }
    }
    low
}

/// [`last_by_lane`] by a warp: each lane probes an entry per round. A warp operation.
#[inline(always)]
pub fn last_by_warp<G: Grid>(grid: G, count: u32, is_before: impl Fn(u32) -> bool) -> u32 {
    let probes = |below| grid.ballot(below).count_ones();
    last_by_lanes(grid.warp_lane(), G::WARP, count, is_before, probes)
}

/// [`last_by_lane`] by a block: each lane probes an entry per round. A block operation.
#[inline(always)]
pub fn last_by_block<G: Grid>(grid: G, count: u32, is_before: impl Fn(u32) -> bool) -> u32 {
    let probes = |below| grid.block_count(below);
    last_by_lanes(grid.lane(), grid.lanes(), count, is_before, probes)
}

/// The search by `lanes` lanes, of which `count_of` counts those with a vote.
#[inline(always)]
fn last_by_lanes(
    lane: u32,
    lanes: u32,
    count: u32,
    is_before: impl Fn(u32) -> bool,
    count_of: impl Fn(bool) -> u32,
) -> u32 {
    let (mut low, mut span) = (0, count);
    while span > 1 {
        let stride = span.div_ceil(lanes);
        // Lanes probe the starts of their strides. Those accepted come first, and the last of them
        // has the entry.
        let probe = u64::from(lane) * u64::from(stride);
        let below = probe < u64::from(span) && is_before(low + probe as u32);
        let start = (count_of(below).max(1) - 1) * stride;
        low += start;
        span = stride.min(span - start);
    }
    low
}
