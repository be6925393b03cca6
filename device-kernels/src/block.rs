//! What the lanes of one block compute together.
//!
//! Every function here is a block operation: all lanes of the block call it
//! with the same arguments where the documentation does not say otherwise.

use crate::grid::Grid;

/// Where a block keeps what in its shared memory, in words.
pub mod shared {
    use crate::grid::{COMPACT_LANES, Grid, LANES_MAX, shared_words};

    /// Partial results of a scan, one word a warp.
    pub const SCAN: u32 = 0;
    /// Entries that each block of a cluster holds, one word a block.
    pub const PARTS: u32 = 40;
    /// Words that one lane tells the others.
    pub const BROADCAST: u32 = 64;
    /// The drive record of a search, 16 words.
    pub const DRIVE: u32 = 100;
    /// The counters of a round of work, 4 words.
    pub const ROUND: u32 = 116;
    /// What every call finds here of its context, 2 words.
    pub const CONTEXT: u32 = 120;
    /// Number of the running iteration.
    pub const TAG: u32 = 122;
    /// The running search, 20 words.
    pub const SEARCH: u32 = 128;
    /// What the leader counts of a loop, 8 words that only it looks at.
    pub const BOOKS: u32 = 148;
    /// What bounds the running search, 2 words.
    pub const BOUNDS: u32 = 156;
    /// The launch record, 68 words.
    pub const LAUNCH: u32 = 160;
    /// The first groups of the table, 4 words each.
    pub const GROUPS: u32 = 228;
    /// How many of them.
    pub const GROUPS_HELD: u32 = 24;
    /// The first waves of the table, 12 words each.
    pub const WAVES: u32 = 324;
    /// How many of them.
    pub const WAVES_HELD: u32 = 24;
    /// The first registers of the table, 4 words each.
    pub const REGISTERS: u32 = 612;
    /// How many of them.
    pub const REGISTERS_HELD: u32 = 32;
    /// Whether the first lane found at a barrier that the run has ended.
    pub const STOPPED: u32 = 72;
    /// Grid barriers that the block crossed.
    pub const EPOCH: u32 = 73;
    /// Pieces of work that the block took shares of as it got to them.
    pub const PIECES: u32 = 74;
    /// How often the block used an index out of range, the first such index, and the
    /// length that it was not below.
    pub const MISSED: u32 = 75;
    /// What the blocks of a narrow search tell each other: six words that
    /// take turns, then eleven that one lane tells the others.
    pub const NARROW_WORDS: u32 = 80;
    /// The two queues of a narrow search, three words an entry.
    pub const NARROW: u32 = 740;
    /// Operations that are ready to run; shares words with the rest, as no
    /// operation uses any.
    pub const STEPS: u32 = 740;
    /// Rows of a tile of edges, two words a row; shares words with the rest,
    /// as no step uses both.
    pub const SHARES: u32 = 740;

    /// Entries that each of the two queues of a narrow search can hold, in
    /// blocks of at most `lanes` lanes.
    const fn entries(lanes: u32) -> u32 {
        lanes * 5 / 4
    }

    /// Entries that each of the two queues of a narrow search can hold.
    #[must_use]
    pub const fn narrow_nodes<G: Grid>() -> u32 {
        entries(G::LANES)
    }

    /// Rows of a tile of nodes, three words a lane, behind the queues of a
    /// narrow search.
    #[must_use]
    pub const fn rows<G: Grid>() -> u32 {
        NARROW + 6 * narrow_nodes::<G>()
    }

    /// Rows that a tile of edges can hold.
    #[must_use]
    pub const fn share_rows<G: Grid>() -> u32 {
        G::LANES * 4
    }

    /// Words up to the end of each part, for blocks of at most `lanes` lanes.
    const fn fits(lanes: u32) -> bool {
        let words = shared_words(lanes) as u32;
        let queues_and_rows = NARROW + 6 * entries(lanes) + 3 * lanes;
        let shares = SHARES + 2 * 4 * lanes;
        queues_and_rows <= words && shares <= words
    }
    const _: () = assert!(fits(LANES_MAX) && fits(COMPACT_LANES));
}

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

/// [`warp_scan`] of counts that are at most `K`: a vote a bit, which overlap,
/// instead of five shuffles that wait for each other.
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
        unsafe { grid.shared_store(shared::SCAN + warp, total) };
    }
    grid.block_barrier();
    let warps = grid.lanes() / G::WARP;
    let partial = if grid.warp_lane() < warps {
        // SAFETY: a block has at most 32 warps.
        unsafe { grid.shared_load(shared::SCAN + grid.warp_lane()) }
    } else {
        0
    };
    let (warps_below, block_total) = warp_scan(grid, partial);
    let base = grid.shuffle(warps_below, warp);
    (base.wrapping_add(below), block_total)
}

/// Tells the block a word; one lane calls this, and a block barrier follows
/// before anyone reads.
#[inline(always)]
pub fn set_broadcast<G: Grid>(grid: G, value: u32) {
    // SAFETY: a fixed word of shared memory.
    unsafe { grid.shared_store(shared::BROADCAST, value) };
}

/// The word told last.
#[inline(always)]
pub fn broadcast_word<G: Grid>(grid: G) -> u32 {
    // SAFETY: a fixed word of shared memory.
    unsafe { grid.shared_load(shared::BROADCAST) }
}

/// Tells all lanes the `value` of lane 0. Contains block barriers.
#[inline(always)]
pub fn broadcast<G: Grid>(grid: G, value: u32) -> u32 {
    if G::WARP == 1 {
        return value;
    }
    grid.block_barrier();
    if grid.lane() == 0 {
        set_broadcast(grid, value);
    }
    grid.block_barrier();
    broadcast_word(grid)
}

/// The last of `count` ascending shared words from `first` on that is not
/// above `value`; the first word must not be above it.
#[inline(always)]
pub fn owner<G: Grid>(grid: G, first: u32, count: u32, value: u32) -> u32 {
    let (mut low, mut span) = (0, count);
    while span > 1 {
        let half = span / 2;
        // SAFETY: `low + half` stays below `count`, whose words exist.
        let word = unsafe { grid.shared_load(first + low + half) };
        if word <= value {
            low += half;
            span -= half;
        } else {
            span = half;
        }
    }
    low
}
