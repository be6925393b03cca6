//! The queues of a narrow search: a shared part, and an overflow in the
//! resident queue that was consumed when the search narrowed.

use super::frontier::Finds;
use crate::block::scan_count;
use crate::block::shared::{NARROW, NARROW_LEN, narrow_nodes};
use crate::grid::Grid;
use crate::memory::Words;

/// Two queues in a block's shared memory and three lengths that take turns:
/// one is read, one is added to, one is cleared.
#[derive(Clone, Copy)]
pub(super) struct Queues<G> {
    /// This lane's view of the machine.
    pub(super) grid: G,
    overflow: Words,
}

/// A word by which the first warp tells the others where it got.
#[derive(Clone, Copy)]
pub(super) enum Word {
    /// Nodes of the frontier.
    Len = 4,
    /// Iterations done.
    Iteration = 5,
    /// Queue that holds the frontier.
    Parity = 6,
    /// Whether the block must help.
    Stuck = 7,
    /// Largest frontier.
    Widest = 8,
}

impl<G: Grid> Queues<G> {
    /// Queues that overflow into `overflow`, which has a word for every node.
    #[inline(always)]
    pub(super) fn new(grid: G, overflow: Words) -> Self {
        Self { grid, overflow }
    }

    /// Loads the first `len` resident nodes into queue 0. A block operation.
    #[inline(always)]
    pub(super) fn fill(self, len: u32) {
        let mut index = self.grid.lane();
        while index < len.min(narrow_nodes::<G>()) {
            self.set(0, index, self.overflow.load_weak(self.grid, index));
            index += self.grid.lanes();
        }
        if self.grid.lane() == 0 {
            self.set_len(0, len);
            self.set_len(1, 0);
        }
        self.grid.block_barrier();
    }

    #[inline(always)]
    fn turn(turn: u32) -> u32 {
        NARROW_LEN + turn % 3
    }

    /// The length whose turn it is.
    #[inline(always)]
    pub(super) fn len(self, turn: u32) -> u32 {
        // SAFETY: one of three fixed words of shared memory.
        unsafe { self.grid.shared_load(Self::turn(turn)) }
    }

    /// Sets the length whose turn it is.
    #[inline(always)]
    pub(super) fn set_len(self, turn: u32, len: u32) {
        // SAFETY: one of three fixed words of shared memory.
        unsafe { self.grid.shared_store(Self::turn(turn), len) };
    }

    /// Tells the block a word.
    #[inline(always)]
    pub(super) fn tell(self, word: Word, value: u32) {
        // SAFETY: a fixed word of shared memory.
        unsafe { self.grid.shared_store(NARROW_LEN + word as u32, value) };
    }

    /// The word that was told last.
    #[inline(always)]
    pub(super) fn told(self, word: Word) -> u32 {
        // SAFETY: a fixed word of shared memory.
        unsafe { self.grid.shared_load(NARROW_LEN + word as u32) }
    }

    /// Node `index` of a queue.
    #[inline(always)]
    pub(super) fn get(self, parity: u32, index: u32) -> u32 {
        if index >= narrow_nodes::<G>() {
            return self.overflow.load_weak(self.grid, index);
        }
        // SAFETY: the index was checked against the queue's room.
        unsafe {
            self.grid
                .shared_load(NARROW + parity * narrow_nodes::<G>() + index)
        }
    }

    #[inline(always)]
    fn set(self, parity: u32, index: u32, node: u32) {
        if index >= narrow_nodes::<G>() {
            self.overflow.store_weak(self.grid, index, node);
            return;
        }
        // SAFETY: the index was checked against the queue's room.
        unsafe {
            self.grid
                .shared_store(NARROW + parity * narrow_nodes::<G>() + index, node)
        };
    }

    /// Appends every lane's finds to the queue `parity` whose length has its
    /// `turn`; all lanes of the warp take part.
    #[inline(always)]
    pub(super) fn append<const K: usize>(self, (parity, turn): (u32, u32), finds: &Finds<K>) {
        if self.grid.ballot(finds.mask != 0) == 0 {
            return;
        }
        let (below, total) = self.scan(finds);
        let mut place = 0;
        if self.grid.warp_lane() == 0 {
            // SAFETY: one of three fixed words of shared memory.
            place = unsafe { self.grid.shared_add(Self::turn(turn), total) };
        }
        place = self.grid.shuffle(place, 0) + below;
        self.put(parity, place, finds);
    }

    /// The same while only one warp appends, which keeps the length `len`
    /// itself.
    #[inline(always)]
    pub(super) fn append_alone<const K: usize>(self, parity: u32, len: &mut u32, finds: &Finds<K>) {
        let (below, total) = self.scan(finds);
        self.put(parity, *len + below, finds);
        *len += total;
    }

    #[inline(always)]
    fn scan<const K: usize>(self, finds: &Finds<K>) -> (u32, u32) {
        scan_count::<G, K>(self.grid, finds.mask.count_ones())
    }

    #[inline(always)]
    fn put<const K: usize>(self, parity: u32, first: u32, finds: &Finds<K>) {
        let mut place = first;
        for (k, node) in finds.nodes.iter().enumerate() {
            if finds.mask >> k & 1 != 0 {
                self.set(parity, place, *node);
                place += 1;
            }
        }
    }
}
