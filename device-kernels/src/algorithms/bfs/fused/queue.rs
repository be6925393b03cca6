//! The queues of a fused search, in the shared memory of the blocks that search together.
//! Each block appends to its own, and all read all.

use crate::collectives::block::scan_count;
use crate::collectives::queue::{FindRows, Finds, Row, SERIAL};
use crate::machine::shared::{FUSED, PARTS, fused_nodes, fused_queues};
use crate::machine::{CLUSTER_MAX, Grid};

/// Two queues in each block's shared memory, and counters that take turns: of three, one
/// is read, one added to, one cleared.
#[derive(Clone, Copy)]
pub(super) struct Queues<G> {
    /// This lane's view of the machine.
    pub(super) grid: G,
}

/// A counter that takes turns.
#[derive(Clone, Copy)]
enum Counter {
    /// Entries appended, including those that did not fit.
    Len = 0,
    /// Warps that appended an entry of many edges.
    Large = 3,
}

/// A word that one block, or its first warp, broadcasts.
#[derive(Clone, Copy)]
pub(super) enum Word {
    /// Iterations done.
    Iteration = 6,
    /// Queue that holds the frontier.
    Parity = 7,
    /// Turn of the counters.
    Turn = 8,
    /// Verdict on the iterations of a warp, or of the first block.
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
    /// Whether an entry has many edges, and whether a block ran out of space.
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
    /// Whether a block ran out of space.
    pub(super) full: bool,
}

impl<G: Grid> Queues<G> {
    #[inline(always)]
    pub(super) fn new(grid: G) -> Self {
        Self { grid }
    }

    #[inline(always)]
    fn counter(counter: Counter, turn: u32) -> u32 {
        counter as u32 + turn % 3
    }

    /// Word `at` of this block's [`FUSED`] words, that of a [`Counter`] or [`Word`].
    #[inline(always)]
    fn own_at(self, at: u32) -> u32 {
        // SAFETY: counters and words are fewer than those of the slot.
        unsafe { FUSED.area().load(self.grid, at) }
    }

    /// Sets word `at`; see [`Queues::own_at`].
    #[inline(always)]
    fn set_at(self, at: u32, value: u32) {
        // SAFETY: counters and words are fewer than those of the slot.
        unsafe { FUSED.area().store(self.grid, at, value) };
    }

    /// Word `at` of block `peer`, which takes part; see [`Queues::own_at`].
    #[inline(always)]
    fn peer_at(self, peer: u32, at: u32) -> u32 {
        // SAFETY: counters and words are fewer than those of the slot; no block that takes
        // part ends before the others have read what they need.
        unsafe { FUSED.area().peer_load(self.grid, peer, at) }
    }

    /// Clears the counters of `turn`; one lane calls this.
    #[inline(always)]
    pub(super) fn clear(self, turn: u32) {
        self.set(turn, 0, false);
    }

    /// Sets the counters of `turn`; one lane calls this.
    #[inline(always)]
    pub(super) fn set(self, turn: u32, len: u32, large: bool) {
        self.set_at(Self::counter(Counter::Len, turn), len);
        self.set_at(Self::counter(Counter::Large, turn), u32::from(large));
    }

    /// Broadcasts a word to the other lanes and blocks.
    #[inline(always)]
    pub(super) fn broadcast(self, word: Word, value: u32) {
        self.set_at(word as u32, value);
    }

    /// The word that block `peer` broadcast last.
    #[inline(always)]
    pub(super) fn word_of(self, peer: u32, word: Word) -> u32 {
        self.peer_at(peer, word as u32)
    }

    /// The word that this block broadcast last.
    #[inline(always)]
    pub(super) fn own_word(self, word: Word) -> u32 {
        self.own_at(word as u32)
    }

    /// The frontier of `turn` in the first `blocks` blocks of the cluster. A block operation: only
    /// the first warp reads and broadcasts, since peers serve one read after another.
    #[inline(always)]
    pub(super) fn held(self, turn: u32, blocks: u32) -> Held {
        let grid = self.grid;
        if grid.lane() < G::WARP {
            let (mut here, mut large) = (0, 0);
            let peer = grid.warp_lane();
            if peer < blocks {
                here = self.peer_at(peer, Self::counter(Counter::Len, turn));
                large = self.peer_at(peer, Self::counter(Counter::Large, turn));
            }
            let full = grid.ballot(here > fused_nodes::<G>()) != 0;
            let large = grid.ballot(large != 0) != 0;
            here = here.min(fused_nodes::<G>());
            if peer < CLUSTER_MAX {
                // SAFETY: there is a word for each block of a cluster.
                unsafe { PARTS.area().store(grid, peer, here) };
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

    /// The frontier of `turn`, which only this block holds.
    #[inline(always)]
    pub(super) fn held_here(self, turn: u32) -> Held {
        let len = self.own_at(Self::counter(Counter::Len, turn));
        let large = self.own_at(Self::counter(Counter::Large, turn));
        let full = len > fused_nodes::<G>();
        let len = len.min(fused_nodes::<G>());
        Held {
            len,
            most: len,
            large: large != 0,
            full,
        }
    }

    /// Entries of this block's own queue in `turn`.
    #[inline(always)]
    pub(super) fn own_len(self, turn: u32) -> u32 {
        let len = self.own_at(Self::counter(Counter::Len, turn));
        len.min(fused_nodes::<G>())
    }

    /// Word `part` of entry `index` of a queue.
    #[inline(always)]
    fn word(parity: u32, part: u32, index: u32) -> u32 {
        (parity * 3 + part) * fused_nodes::<G>() + index
    }

    /// Entry `index` of this block's own queue.
    #[inline(always)]
    pub(super) fn own(self, parity: u32, index: u32) -> Row {
        let (grid, words) = (self.grid, fused_queues::<G>());
        // SAFETY: callers stay below the length, which is at most the space.
        let (node, start, degree) = unsafe {
            (
                words.load(grid, Self::word(parity, 0, index)),
                words.load(grid, Self::word(parity, 1, index)),
                words.load(grid, Self::word(parity, 2, index)),
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

    /// Entry `index` of the frontier that [`Self::held`] returned, counted over the
    /// blocks in order, or no row unless `inside`.
    #[inline(always)]
    pub(super) fn entry(self, parity: u32, index: u32, inside: bool) -> Row {
        let (mut peer, mut below, mut sum) = (0, 0, 0);
        for number in 0..self.grid.cluster() {
            if index >= sum {
                peer = number;
                below = sum;
            }
            // SAFETY: there is a word for each block of a cluster.
            sum += unsafe { PARTS.area().load(self.grid, number) };
        }
        if !inside {
            return Row::NONE;
        }
        let (at, words) = (index - below, fused_queues::<G>());
        // SAFETY: `inside` means that `index` is below the sum of all parts, so `peer`
        // takes part and `at` is below its length.
        let (node, start, degree) = unsafe {
            (
                words.peer_load(self.grid, peer, Self::word(parity, 0, at)),
                words.peer_load(self.grid, peer, Self::word(parity, 1, at)),
                words.peer_load(self.grid, peer, Self::word(parity, 2, at)),
            )
        };
        let end = start + degree;
        Row { node, start, end }
    }

    /// Stores entry `index` of this block's own queue.
    #[inline(always)]
    pub(super) fn put(self, parity: u32, index: u32, row: Row) {
        let words = fused_queues::<G>();
        // SAFETY: callers stay below the queue's space.
        unsafe {
            words.store(self.grid, Self::word(parity, 0, index), row.node);
            words.store(self.grid, Self::word(parity, 1, index), row.start);
            words.store(self.grid, Self::word(parity, 2, index), row.degree());
        }
    }

    /// Appends every lane's finds to this block's queue `parity` and to the counters of `turn`, and
    /// returns those that did not fit. A warp operation.
    #[inline(always)]
    #[must_use]
    pub(super) fn append<const K: usize>(
        self,
        parity: u32,
        turn: u32,
        found: &FindRows<K>,
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
            // SAFETY: counters are fewer than the words of the slot.
            unsafe {
                place = FUSED
                    .area()
                    .add(grid, Self::counter(Counter::Len, turn), total);
                if large != 0 {
                    FUSED
                        .area()
                        .add(grid, Self::counter(Counter::Large, turn), 1);
                }
            }
        }
        place = grid.shuffle(place, 0) + below;
        for k in 0..K {
            if found.finds.mask >> k & 1 != 0 {
                if place < fused_nodes::<G>() {
                    self.put(parity, place, found.row(k));
                } else {
                    rest.mask |= 1 << k;
                }
                place += 1;
            }
        }
        rest
    }

    /// [`Self::append`] while only one warp appends: it keeps the length in `len` and
    /// never runs out of space.
    #[inline(always)]
    pub(super) fn append_alone<const K: usize>(
        self,
        parity: u32,
        len: &mut u32,
        found: &FindRows<K>,
    ) {
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
