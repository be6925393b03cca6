//! The layout of a block's shared memory.
//!
//! Slots have fixed lengths. They lie one after another: each begins where the one before it ends.
//! No word is numbered by hand, and access to slots is safe. The words after the last slot are the
//! scratch space. Overlays share it, since a block runs no two of their users at the same time.
//! Indices into an overlay are known at run time only, so its users limit them.

use super::{CLUSTER_MAX, COMPACT_LANES, Grid, LANES_MAX, shared_words};
use seawall_core::abi::code::TEMPS;
use seawall_core::abi::multi::DEVICES_MAX;
use seawall_core::abi::program::{GroupRecord, LaunchRecord, RegisterRecord, WaveRecord};
use seawall_core::abi::search::{DriveRecord, Step};

/// First groups of their table that each block copies.
pub const GROUPS_HELD: usize = 24;
/// First waves of their table that each block copies.
pub const WAVES_HELD: usize = 24;
/// First registers of their table that each block copies.
pub const REGISTERS_HELD: usize = 32;

const fn words_of<T>() -> usize {
    size_of::<T>() / 4
}

/// Partial results of a scan, one word per warp.
pub const SCAN: Slot<32> = Slot::at(0);
/// Entries that each block of a cluster holds.
pub const PARTS: Slot<{ CLUSTER_MAX as usize }> = Slot::after(SCAN);
/// The word that one lane broadcasts.
pub const BROADCAST: Slot<1> = Slot::after(PARTS);
/// Whether the first lane found at a barrier that the run has ended.
pub const STOPPED: Slot<1> = Slot::after(BROADCAST);
/// Grid barriers that the block crossed.
pub const EPOCH: Slot<1> = Slot::after(STOPPED);
/// Address of the block's barriers in a trace, low word first; 0 without a trace. Only the block's
/// first lane uses it.
pub const BARRIERS_TRACED: Slot<2> = Slot::after(EPOCH);
/// Pieces of work of which the block took shares.
pub const PIECES: Slot<1> = Slot::after(BARRIERS_TRACED);
/// Uses of an index out of range in this block.
pub const MISSES: Slot<1> = Slot::after(PIECES);
/// The first of these indices, and the length of its array.
pub const MISSED: Slot<2> = Slot::after(MISSES);
/// Time at which blocks stop themselves, low word first.
pub const DEADLINE: Slot<2> = Slot::after(MISSED);
/// Number of the running iteration.
pub const TAG: Slot<1> = Slot::after(DEADLINE);
/// The counters of a round of work.
pub const ROUND: Slot<6> = Slot::after(TAG);
/// Grid barriers before the running loop; for the leader only.
pub const BARRIERS_BEFORE: Slot<1> = Slot::after(ROUND);
/// Steps of each shape in the running loop; for the leader only.
pub const STEPS_TAKEN: Slot<{ Step::COUNT as usize }> = Slot::after(BARRIERS_BEFORE);
/// Limits of the running search: iterations, and whether its body only expands.
pub const BOUNDS: Slot<2> = Slot::after(STEPS_TAKEN);
/// The drive record of the running search.
pub const DRIVE: Slot<{ words_of::<DriveRecord>() }> = Slot::after(BOUNDS);
/// The arrays of the running search: address and length of each.
pub const SEARCH_ARRAYS: Slot<18> = Slot::after(DRIVE);
/// Nodes of the running search's graph.
pub const SEARCH_NODES: Slot<1> = Slot::after(SEARCH_ARRAYS);
/// Flags of the running search's marker.
pub const SEARCH_FLAGS: Slot<1> = Slot::after(SEARCH_NODES);
/// Counters and broadcast words of the blocks that search together.
pub const FUSED: Slot<17> = Slot::after(SEARCH_FLAGS);
/// The launch record.
pub const LAUNCH: Slot<{ words_of::<LaunchRecord>() }> = Slot::after(FUSED);
/// The first groups of their table.
pub const GROUPS: Slot<{ GROUPS_HELD * words_of::<GroupRecord>() }> = Slot::after(LAUNCH);
/// The first waves of their table.
pub const WAVES: Slot<{ WAVES_HELD * words_of::<WaveRecord>() }> = Slot::after(GROUPS);
/// The first registers of their table.
pub const REGISTERS: Slot<{ REGISTERS_HELD * words_of::<RegisterRecord>() }> = Slot::after(WAVES);

/// Whether the first block of a device waited for another in vain.
pub const NARROW_FAILED: Slot<1> = Slot::after(REGISTERS);

/// First word of the scratch space, a multiple of four.
const SCRATCH: u32 = NARROW_FAILED.end().next_multiple_of(4);

/// Overlay of full blocks: nodes of long rows that blocks share.
pub const LONG_ROW_NODES: Area = Area::scratch(LANES_MAX);
/// Pieces before each of them.
pub const LONG_ROW_STARTS: Area = Area::after(LONG_ROW_NODES, LANES_MAX);

/// Overlay: what the first block of a device counts in a narrow step, of an even or an odd one.
pub const NARROW_COUNTS: Area = Area::scratch(2 * 3);
/// The same words that each device said last.
pub const NARROW_MAIL: Area = Area::after(NARROW_COUNTS, DEVICES_MAX as u32 * 3);

/// Operations found in one pass ahead.
pub const STEPS_AHEAD: u32 = 64;
/// Words of an operation that is ready to run.
pub const STEP_WORDS: u32 = 8;
/// Overlay: operations that are ready to run, and a place after the last one.
pub const STEPS: Area = Area::scratch((STEPS_AHEAD + 1) * STEP_WORDS);
/// Numbers of the operations' waves; for the leader only.
pub const STEP_WAVES: Area = Area::after(STEPS, STEPS_AHEAD);

/// Rows of a share of a round's edges.
pub const ROUND_ROWS: u32 = 2560;
/// Overlay of full blocks: offset of each row of a share in the share.
pub const ROUND_STARTS: Area = Area::scratch(ROUND_ROWS);
/// The difference between an edge of the queue and the same edge of the graph, per row.
pub const ROUND_SHIFTS: Area = Area::after(ROUND_STARTS, ROUND_ROWS);
/// The word that the row's visitor returned.
pub const ROUND_VALUES: Area = Area::after(ROUND_SHIFTS, ROUND_ROWS);

/// Finds of a warp that wait to be appended to a round's queue.
pub const WARP_FINDS_EACH: u32 = 5 * 32;
/// Overlay of full blocks: finds of each warp that wait.
pub const WARP_FINDS: Area = Area::scratch(WARP_FINDS_EACH * LANES_MAX / 32);

/// Overlay of full blocks: number of nodes of a tile that are left to the block, in the first word.
/// The other words align the next overlay to four words.
pub const LEFT_COUNT: Area = Area::scratch(4);
/// These nodes.
pub const LEFT_NODES: Area = Area::after(LEFT_COUNT, LANES_MAX);
/// Rows of triangles' lowest corners, with counters and hash tables.
pub const HELD_ROWS: Area = Area::after(LEFT_NODES, 4 * 2048);

/// Overlay of full blocks: number of long rows that are left to the block that pulls.
pub const LONG_COUNT: Area = Area::scratch(1);
/// Their nodes.
pub const LONG_NODES: Area = Area::after(LONG_COUNT, LANES_MAX);

/// Overlay: partial totals of a ranking by the warps of a block, four words each.
pub const TALLIES: Area = Area::scratch(4 * LANES_MAX / 32);
/// Values that its lanes look up again for each row.
pub const MAKING: Area = Area::after(TALLIES, 6);

/// Overlay of full blocks: a sample of labels.
pub const SAMPLE: Area = Area::scratch(256);

/// Overlay of full blocks that run code: the item whose edges a block visits together, and the first
/// instruction of the wave.
pub const EACH_ITEM: Area = Area::scratch(4);
/// Items that a lane runs code for at a time, on machines with warps.
pub const EACH_SLOTS: u32 = 4;
/// Lanes with these items, one vote per warp and slot.
pub const EACH_VOTES: Area = Area::after(EACH_ITEM, EACH_SLOTS * LANES_MAX / 32);
/// Instructions of a wave that a block holds.
pub const EACH_HELD: u32 = 96;
/// Words of one of these instructions: itself, and the array of its register.
pub const EACH_STEP: u32 = 8;
/// The first instructions of the wave, and a mark after them.
pub const EACH_CODE: Area = Area::after(EACH_VOTES, (EACH_HELD + 1) * EACH_STEP);
/// Lanes of a block that run code in the memory that every block has; the others wait.
pub const EACH_LANES: u32 = 192;
/// Words for the rows that a warp visits at a time.
pub const EACH_WARP_ROWS: u32 = 32;
/// Rows that each warp visits at a time.
pub const EACH_ROWS: Area = Area::after(EACH_CODE, EACH_WARP_ROWS * EACH_LANES / 32);
/// Words of temporaries of a lane: one per slot each.
pub const EACH_LANE: u32 = TEMPS as u32 * EACH_SLOTS;
/// Temporaries of code, or the rows of all warps where a launch asked for space for temporaries.
pub const EACH_TEMPS: Area = Area::after(EACH_ROWS, EACH_LANE * EACH_LANES);
const _: () = assert!(EACH_TEMPS.words >= EACH_WARP_ROWS * LANES_MAX / 32);

/// Entries that each of the two queues of a fused search can hold, in blocks of at most
/// `lanes` lanes.
const fn fused_entries(lanes: u32) -> u32 {
    lanes * 5 / 4
}

/// Entries that each of the two queues of a fused search can hold.
#[must_use]
pub const fn fused_nodes<G: Grid>() -> u32 {
    fused_entries(G::LANES)
}

/// Overlay: the two queues of a fused search, three words per entry.
#[must_use]
pub const fn fused_queues<G: Grid>() -> Area {
    Area::scratch(6 * fused_nodes::<G>())
}

/// Rows of a tile of nodes after the queues of a fused search: the offset of each in the tile, the
/// difference to its offset in the graph, and its node.
#[must_use]
pub const fn tile_rows<G: Grid>() -> [Area; 3] {
    let starts = Area::after(fused_queues::<G>(), G::LANES);
    let shifts = Area::after(starts, G::LANES);
    [starts, shifts, Area::after(shifts, G::LANES)]
}

/// Rows that a tile of edges can hold.
#[must_use]
pub const fn share_rows<G: Grid>() -> u32 {
    4 * G::LANES
}

/// Overlay: rows of a tile of edges: the offset of each in the tile, and the difference to its
/// offset in the graph.
#[must_use]
pub const fn share_tile<G: Grid>() -> [Area; 2] {
    let starts = Area::scratch(share_rows::<G>());
    [starts, Area::after(starts, share_rows::<G>())]
}

/// Overlay: unvisited nodes that a pull gathers from a tile of the bitset.
#[must_use]
pub const fn gathered_nodes<G: Grid>() -> Area {
    Area::scratch(4 * G::LANES)
}

/// Overlay: low and high words of the nodes that a block settles together, one for each lane.
#[must_use]
pub const fn settled_words<G: Grid>() -> [Area; 2] {
    let low = Area::scratch(G::LANES);
    [low, Area::after(low, G::LANES)]
}

/// Whether the slots, and the overlays of blocks of at most `lanes` lanes, fit their
/// shared memory.
const fn fits(lanes: u32) -> bool {
    let fused = SCRATCH + 6 * fused_entries(lanes) + 3 * lanes;
    let shares = SCRATCH + 2 * 4 * lanes;
    let full = [ROUND_VALUES.end(), HELD_ROWS.end(), EACH_TEMPS.end()];
    let words = shared_words(lanes) as u32;
    let fits_full = full[0] <= words && full[1] <= words && full[2] <= words;
    let fits_full = fits_full && SAMPLE.end() <= words && LONG_NODES.end() <= words;
    let fits_full = fits_full && WARP_FINDS.end() <= words;
    fused <= words
        && shares <= words
        && STEP_WAVES.end() <= words
        && MAKING.end() <= words
        && (lanes < LANES_MAX || fits_full)
}
const _: () = assert!(fits(LANES_MAX) && fits(COMPACT_LANES));

/// `WORDS` adjacent words of every block's shared memory.
#[derive(Clone, Copy, Debug)]
pub struct Slot<const WORDS: usize> {
    first: u32,
}

impl<const WORDS: usize> Slot<WORDS> {
    const fn at(first: u32) -> Self {
        Self { first }
    }

    /// The slot that begins where `before` ends.
    const fn after<const BEFORE: usize>(before: Slot<BEFORE>) -> Self {
        Self::at(before.end())
    }

    const fn end(self) -> u32 {
        self.first + WORDS as u32
    }

    /// Part `index` of the equal parts that the slot consists of.
    #[inline(always)]
    #[must_use]
    pub const fn part<const PART: usize>(self, index: usize) -> Slot<PART> {
        assert!((index + 1) * PART <= WORDS, "no such part");
        Slot::at(self.first + (index * PART) as u32)
    }

    /// The slot for accesses whose index is known at run time only.
    #[inline(always)]
    #[must_use]
    pub const fn area(self) -> Area {
        Area {
            first: self.first,
            words: WORDS as u32,
        }
    }

    /// Word `at`, where every block has shared memory.
    #[inline(always)]
    const fn place<G: Grid>(self, at: usize) -> u32 {
        const { assert!(SCRATCH as usize <= shared_words(G::LANES)) };
        assert!(at < WORDS, "no such word");
        self.first + at as u32
    }

    /// Reads all words.
    #[inline(always)]
    pub fn load_all<G: Grid>(self, grid: G) -> [u32; WORDS] {
        // SAFETY: `place` returns words of the slot, which lie in shared memory.
        core::array::from_fn(|at| unsafe { grid.shared_load(self.place::<G>(at)) })
    }

    /// Writes all words.
    #[inline(always)]
    pub fn store_all<G: Grid>(self, grid: G, words: [u32; WORDS]) {
        let mut at = 0;
        while at < WORDS {
            // SAFETY: `place` returns words of the slot, which lie in shared memory.
            unsafe { grid.shared_store(self.place::<G>(at), words[at]) };
            at += 1;
        }
    }
}

impl Slot<1> {
    /// Reads the word.
    #[inline(always)]
    pub fn load<G: Grid>(self, grid: G) -> u32 {
        // SAFETY: `place` returns the slot's word, which lies in shared memory.
        unsafe { grid.shared_load(self.place::<G>(0)) }
    }

    /// Writes the word.
    #[inline(always)]
    pub fn store<G: Grid>(self, grid: G, word: u32) {
        // SAFETY: `place` returns the slot's word, which lies in shared memory.
        unsafe { grid.shared_store(self.place::<G>(0), word) };
    }

    /// Adds to the word, atomically, and returns the previous value.
    #[inline(always)]
    pub fn add<G: Grid>(self, grid: G, value: u32) -> u32 {
        // SAFETY: `place` returns the slot's word, which lies in shared memory.
        unsafe { grid.shared_add(self.place::<G>(0), value) }
    }
}

impl Slot<2> {
    /// Reads both words as one, the low one first.
    #[inline(always)]
    pub fn load_wide<G: Grid>(self, grid: G) -> u64 {
        let [low, high] = self.load_all(grid);
        u64::from(low) | u64::from(high) << 32
    }

    /// Writes both words, the low one first.
    #[inline(always)]
    pub fn store_wide<G: Grid>(self, grid: G, value: u64) {
        self.store_all(grid, [value as u32, (value >> 32) as u32]);
    }
}

/// Adjacent words of shared memory whose index is known at run time only.
#[derive(Clone, Copy, Debug)]
pub struct Area {
    first: u32,
    words: u32,
}

impl Area {
    /// The first `words` words of the scratch space.
    const fn scratch(words: u32) -> Self {
        Self {
            first: SCRATCH,
            words,
        }
    }

    /// The `words` words that begin where `before` ends.
    const fn after(before: Self, words: u32) -> Self {
        Self {
            first: before.end(),
            words,
        }
    }

    pub(crate) const fn end(self) -> u32 {
        self.first + self.words
    }

    /// Its first word.
    #[inline(always)]
    #[must_use]
    pub const fn first(self) -> u32 {
        self.first
    }

    /// Its length in words.
    #[inline(always)]
    #[must_use]
    pub const fn words(self) -> u32 {
        self.words
    }

    /// The `words` words from word `from` on.
    #[inline(always)]
    #[must_use]
    pub fn part(self, from: u32, words: u32) -> Self {
        debug_assert!(from + words <= self.words, "part {from}+{words}");
        Self {
            first: self.first + from,
            words,
        }
    }

    #[inline(always)]
    fn at(self, index: u32, words: u32) -> u32 {
        debug_assert!(
            index + words <= self.words,
            "word {index} of {}",
            self.words
        );
        self.first + index
    }

    /// Reads word `index`.
    ///
    /// # Safety
    /// The index must be below the area's length, and the area that of a block of `G`.
    #[inline(always)]
    pub unsafe fn load<G: Grid>(self, grid: G, index: u32) -> u32 {
        // SAFETY: by this function's contract.
        unsafe { grid.shared_load(self.at(index, 1)) }
    }

    /// Reads four words from word `index` on.
    ///
    /// # Safety
    /// As [`Area::load`] for the four; the first must be a multiple of four from the start
    /// of shared memory.
    #[inline(always)]
    pub unsafe fn load4<G: Grid>(self, grid: G, index: u32) -> [u32; 4] {
        // SAFETY: by this function's contract.
        unsafe { grid.place_load4(grid.place(false, self.at(index, 4))) }
    }

    /// Writes word `index`.
    ///
    /// # Safety
    /// As [`Area::load`].
    #[inline(always)]
    pub unsafe fn store<G: Grid>(self, grid: G, index: u32, value: u32) {
        // SAFETY: by this function's contract.
        unsafe { grid.shared_store(self.at(index, 1), value) }
    }

    /// Adds to word `index`, atomically, and returns the previous value.
    ///
    /// # Safety
    /// As [`Area::load`].
    #[inline(always)]
    pub unsafe fn add<G: Grid>(self, grid: G, index: u32, value: u32) -> u32 {
        // SAFETY: by this function's contract.
        unsafe { grid.shared_add(self.at(index, 1), value) }
    }

    /// Reads word `index` of block `peer` of the cluster.
    ///
    /// # Safety
    /// As [`Area::load`]; the block must be one of the cluster that has not ended.
    #[inline(always)]
    pub unsafe fn peer_load<G: Grid>(self, grid: G, peer: u32, index: u32) -> u32 {
        // SAFETY: by this function's contract.
        unsafe { grid.peer_load(peer, self.at(index, 1)) }
    }
}
