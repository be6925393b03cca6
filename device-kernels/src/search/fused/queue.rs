//! The queues of a narrow search, in the shared memory of the blocks that
//! search together: each block appends to its own, all read all.

use crate::block::scan_count;
use crate::block::shared::{NARROW, NARROW_WORDS, PARTS, narrow_nodes};
use crate::grid::{CLUSTER_MAX, Grid};
use crate::queue::{Finds, Found, Row, SERIAL};

/// Two queues in each block's shared memory, and counters that take turns: of
/// three, one is read, one is added to, one is cleared.
#[derive(Clone, Copy)]
pub(super) struct Queues<G> {
    /// This lane's view of the machine.
    pub(super) grid: G,
}

/// A counter that takes turns.
#[derive(Clone, Copy)]
enum Counter {
    /// Entries appended, those without room included.
    Len = 0,
    /// Warps that appended an entry of many edges.
    Large = 3,
}

/// A word by which one block, or its first warp, tells the others something.
#[derive(Clone, Copy)]
pub(super) enum Word {
    /// Iterations done.
    Iteration = 6,
    /// Queue that holds the frontier.
    Parity = 7,
    /// Whose turn among the counters it is.
    Turn = 8,
    /// How the iterations of a warp, or of the first block, ended.
    Verdict = 9,
    /// Largest frontier.
    Widest = 10,
    /// Edges of a block's share of the frontier.
    Edges = 11,
    /// Edges that a block explored.
    Explored = 12,
    /// Whether the time is over.
    Late = 13,
    /// Entries of the frontier.
    Len = 14,
    /// Most entries of one block.
    Most = 15,
    /// Whether an entry has many edges, and whether a block ran out of room.
    Flags = 16,
}

/// The frontier of an iteration.
#[derive(Clone, Copy, Debug)]
pub(super) struct Held {
    /// Entries of all blocks.
    pub(super) len: u32,
    /// Most entries of one block.
    pub(super) most: u32,
    /// Whether an entry has many edges.
    pub(super) large: bool,
    /// Whether a block ran out of room.
    pub(super) full: bool,
}

impl<G: Grid> Queues<G> {
    #[inline(always)]
    pub(super) fn new(grid: G) -> Self {
        Self { grid }
    }

    #[inline(always)]
    fn counter(counter: Counter, turn: u32) -> u32 {
        NARROW_WORDS + counter as u32 + turn % 3
    }

    /// Clears the counters whose turn it is; one lane calls this.
    #[inline(always)]
    pub(super) fn clear(self, turn: u32) {
        // SAFETY: fixed words of shared memory.
        unsafe {
            self.grid.shared_store(Self::counter(Counter::Len, turn), 0);
            self.grid
                .shared_store(Self::counter(Counter::Large, turn), 0);
        }
    }

    /// Sets the counters whose turn it is; one lane calls this.
    #[inline(always)]
    pub(super) fn set(self, turn: u32, len: u32, large: bool) {
        // SAFETY: fixed words of shared memory.
        unsafe {
            self.grid
                .shared_store(Self::counter(Counter::Len, turn), len);
            self.grid
                .shared_store(Self::counter(Counter::Large, turn), u32::from(large));
        }
    }

    /// Tells the other lanes and blocks a word.
    #[inline(always)]
    pub(super) fn broadcast(self, word: Word, value: u32) {
        // SAFETY: a fixed word of shared memory.
        unsafe { self.grid.shared_store(NARROW_WORDS + word as u32, value) };
    }

    /// The word that block `peer` told last.
    #[inline(always)]
    pub(super) fn word_of(self, peer: u32, word: Word) -> u32 {
        // SAFETY: a fixed word of shared memory of a block that takes part.
        unsafe { self.grid.peer_load(peer, NARROW_WORDS + word as u32) }
    }

    /// The word that this block told last.
    #[inline(always)]
    pub(super) fn own_word(self, word: Word) -> u32 {
        // SAFETY: a fixed word of shared memory.
        unsafe { self.grid.shared_load(NARROW_WORDS + word as u32) }
    }

    /// What the first `blocks` blocks of the cluster hold whose turn it is. A
    /// block operation: its first warp asks, since the peers answer one
    /// question after the other, and tells the rest.
    #[inline(always)]
    pub(super) fn held(self, turn: u32, blocks: u32) -> Held {
        let grid = self.grid;
        if grid.lane() < G::WARP {
            let (mut here, mut large) = (0, 0);
            let peer = grid.warp_lane();
            if peer < blocks {
                // SAFETY: fixed words of shared memory of blocks that take part.
                unsafe {
                    here = grid.peer_load(peer, Self::counter(Counter::Len, turn));
                    large = grid.peer_load(peer, Self::counter(Counter::Large, turn));
                }
            }
            let full = grid.ballot(here > narrow_nodes::<G>()) != 0;
            let large = grid.ballot(large != 0) != 0;
            here = here.min(narrow_nodes::<G>());
            if peer < CLUSTER_MAX {
                // SAFETY: there is a word for each block of a cluster.
                unsafe { grid.shared_store(PARTS + peer, here) };
            }
            let len = grid.warp_sum(here);
            let most = grid.warp_max(here);
            if peer == 0 {
                self.broadcast(Word::Len, len);
                self.broadcast(Word::Most, most);
                self.broadcast(Word::Flags, u32::from(large) | u32::from(full) << 1);
            }
        }
        grid.block_barrier();
        let flags = self.own_word(Word::Flags);
        Held {
            len: self.own_word(Word::Len),
            most: self.own_word(Word::Most),
            large: flags & 1 != 0,
            full: flags & 2 != 0,
        }
    }

    /// The frontier that this block holds alone and whose turn it is.
    #[inline(always)]
    pub(super) fn held_here(self, turn: u32) -> Held {
        // SAFETY: fixed words of shared memory.
        let (len, large) = unsafe {
            (
                self.grid.shared_load(Self::counter(Counter::Len, turn)),
                self.grid.shared_load(Self::counter(Counter::Large, turn)),
            )
        };
        let full = len > narrow_nodes::<G>();
        let len = len.min(narrow_nodes::<G>());
        Held {
            len,
            most: len,
            large: large != 0,
            full,
        }
    }

    /// Entries of this block's own queue whose turn it is.
    #[inline(always)]
    pub(super) fn own_len(self, turn: u32) -> u32 {
        // SAFETY: a fixed word of shared memory.
        let len = unsafe { self.grid.shared_load(Self::counter(Counter::Len, turn)) };
        len.min(narrow_nodes::<G>())
    }

    /// Word `part` of entry `index` of a queue.
    #[inline(always)]
    fn word(parity: u32, part: u32, index: u32) -> u32 {
        NARROW + (parity * 3 + part) * narrow_nodes::<G>() + index
    }

    /// Entry `index` of this block's own queue.
    #[inline(always)]
    pub(super) fn own(self, parity: u32, index: u32) -> Row {
        let grid = self.grid;
        // SAFETY: callers stay below the length, which is at most the room.
        let (node, start, degree) = unsafe {
            (
                grid.shared_load(Self::word(parity, 0, index)),
                grid.shared_load(Self::word(parity, 1, index)),
                grid.shared_load(Self::word(parity, 2, index)),
            )
        };
        let end = start + degree;
        Row { node, start, end }
    }

    /// [`Self::own`], or no row unless `inside`.
    #[inline(always)]
    pub(super) fn own_or_none(self, parity: u32, index: u32, inside: bool) -> Row {
        if inside {
            self.own(parity, index)
        } else {
            Row::NONE
        }
    }

    /// Entry `index` of the frontier that [`Self::held`] told of, counted over
    /// the blocks in their order, or none unless `inside`.
    #[inline(always)]
    pub(super) fn entry(self, parity: u32, index: u32, inside: bool) -> Row {
        let (mut peer, mut below, mut sum) = (0, 0, 0);
        for number in 0..self.grid.cluster() {
            if index >= sum {
                peer = number;
                below = sum;
            }
            // SAFETY: there is a word for each block of a cluster.
            sum += unsafe { self.grid.shared_load(PARTS + number) };
        }
        if !inside {
            return Row::NONE;
        }
        let at = index - below;
        // SAFETY: `inside` says that `index` is below the sum of all parts, so
        // `peer` is a block that takes part and `at` is below its length.
        let (node, start, degree) = unsafe {
            (
                self.grid.peer_load(peer, Self::word(parity, 0, at)),
                self.grid.peer_load(peer, Self::word(parity, 1, at)),
                self.grid.peer_load(peer, Self::word(parity, 2, at)),
            )
        };
        let end = start + degree;
        Row { node, start, end }
    }

    /// Stores entry `index` of this block's own queue.
    #[inline(always)]
    pub(super) fn put(self, parity: u32, index: u32, row: Row) {
        // SAFETY: callers stay below the queue's room.
        unsafe {
            self.grid
                .shared_store(Self::word(parity, 0, index), row.node);
            self.grid
                .shared_store(Self::word(parity, 1, index), row.start);
            self.grid
                .shared_store(Self::word(parity, 2, index), row.degree());
        }
    }

    /// Appends every lane's finds to this block's queue `parity` whose counters
    /// have their `turn`; gives those that found no room. All lanes of the warp
    /// take part.
    #[inline(always)]
    #[must_use]
    pub(super) fn append<const K: usize>(
        self,
        (parity, turn): (u32, u32),
        found: &Found<K>,
    ) -> Finds<K> {
        let grid = self.grid;
        let mut rest = Finds {
            nodes: found.finds.nodes,
            mask: 0,
        };
        if grid.ballot(found.finds.mask != 0) == 0 {
            return rest;
        }
        let (below, total) = scan_count::<G, K>(grid, found.finds.mask.count_ones());
        let large = grid.ballot(found.any_above(SERIAL));
        let mut place = 0;
        if grid.warp_lane() == 0 {
            // SAFETY: fixed words of shared memory.
            unsafe {
                place = grid.shared_add(Self::counter(Counter::Len, turn), total);
                if large != 0 {
                    grid.shared_add(Self::counter(Counter::Large, turn), 1);
                }
            }
        }
        place = grid.shuffle(place, 0) + below;
        for k in 0..K {
            if found.finds.mask >> k & 1 != 0 {
                if place < narrow_nodes::<G>() {
                    self.put(parity, place, found.row(k));
                } else {
                    rest.mask |= 1 << k;
                }
                place += 1;
            }
        }
        rest
    }

    /// The same while only one warp appends, which keeps the length `len`
    /// itself and never runs out of room.
    #[inline(always)]
    pub(super) fn append_alone<const K: usize>(self, parity: u32, len: &mut u32, found: &Found<K>) {
        let (below, total) = scan_count::<G, K>(self.grid, found.finds.mask.count_ones());
        let mut place = *len + below;
        for k in 0..K {
            if found.finds.mask >> k & 1 != 0 {
                self.put(parity, place, found.row(k));
                place += 1;
            }
        }
        *len += total;
    }
}
