//! The record of a service, and the memory that it names.

use crate::machine::Grid;
use crate::machine::memory::{Csr, Proven, word_of};
use seawall_core::abi::VERSION;
use seawall_core::abi::ring::PRIORITIES;
use seawall_core::abi::serve::{MAGIC, POST_WORDS, ServeProgram, ServeRecord, ServeState};
use seawall_core::protocol::Layout;

const RECORD_WORDS: u32 = (size_of::<ServeRecord>() / 4) as u32;
const PROGRAM_WORDS: u32 = (size_of::<ServeProgram>() / 4) as u32;
const STATE_WORDS: u32 = (size_of::<ServeState>() / 4) as u32;

/// Words of a search's own counters, before its arrays.
pub(super) const COUNTERS: u32 = 32;

/// Arrays of a search, each with a word for every node.
const ARRAYS: u64 = 6;

/// Words that an array of a search takes: an even number, so that pairs of words are aligned.
pub(super) const fn array_words(nodes: u32) -> u32 {
    nodes + (nodes & 1)
}

/// Words of memory that a worker's searches take.
#[must_use]
pub const fn scratch_words(nodes: u32) -> u64 {
    COUNTERS as u64 + ARRAYS * array_words(nodes) as u64
}

/// A serve record with its memory.
#[derive(Clone, Copy, Debug)]
pub struct Serve {
    record: Proven,
}

/// The work of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Empties the queue of posts with this number.
    Dispatcher(u32),
    /// Carries orders and counters.
    Housekeeper,
    /// Claims slots.
    Worker(u32),
}

impl Serve {
    /// The service that `record` describes.
    ///
    /// # Safety
    /// `record` must point to a [`ServeRecord`] whose addresses are valid on the machine that runs
    /// this for the lengths that its sizes give, until all blocks have ended. Hosts may access the
    /// ring and the posts meanwhile, by atomic operations; nothing else may access the rest.
    #[must_use]
    pub unsafe fn new(record: *const ServeRecord) -> Self {
        // SAFETY: the record is valid, by this function's contract.
        let record = unsafe { Proven::trusted(record.cast_mut().cast(), RECORD_WORDS) };
        Self { record }
    }

    #[inline(always)]
    fn word<G: Grid>(self, grid: G, at: u32) -> u32 {
        self.record.constant(grid, at)
    }

    #[inline(always)]
    fn address<G: Grid>(self, grid: G, at: u32) -> *mut u32 {
        self.record.constant_wide(grid, at) as *mut u32
    }

    /// The layout of the ring; `None` if the record is of another version.
    pub(super) fn layout<G: Grid>(self, grid: G) -> Option<Layout> {
        let is_current = self.word(grid, word_of!(ServeRecord, magic)) == MAGIC
            && self.word(grid, word_of!(ServeRecord, version)) == VERSION;
        if !is_current {
            return None;
        }
        let mut levels = [0; PRIORITIES as usize];
        for (at, slots) in (word_of!(ServeRecord, levels)..).zip(&mut levels) {
            *slots = self.word(grid, at);
        }
        let prints = self.word(grid, word_of!(ServeRecord, prints));
        let window_words = self.word(grid, word_of!(ServeRecord, window_words));
        Layout::new(levels, prints, window_words).ok()
    }

    /// The work of this lane's block.
    pub(super) fn role<G: Grid>(self, grid: G) -> Role {
        let dispatchers = self.word(grid, word_of!(ServeRecord, dispatchers));
        let block = grid.block();
        if block < dispatchers {
            Role::Dispatcher(block)
        } else if block == dispatchers {
            Role::Housekeeper
        } else {
            Role::Worker(block - dispatchers - 1)
        }
    }

    /// First word of the part of the ring that hosts see.
    pub(super) fn host<G: Grid>(self, grid: G) -> *mut u32 {
        self.address(grid, word_of!(ServeRecord, host))
    }

    /// First word of the part of the ring that only this machine sees.
    pub(super) fn device<G: Grid>(self, grid: G) -> *mut u32 {
        self.address(grid, word_of!(ServeRecord, device))
    }

    /// The state behind the device's slots.
    pub(super) fn state<G: Grid>(self, grid: G, layout: Layout) -> Proven {
        let first = self
            .device(grid)
            .wrapping_add(layout.completion(0) as usize);
        // SAFETY: `new` promises the state behind the slots.
        unsafe { Proven::trusted(first, STATE_WORDS) }
    }

    /// Counts this block among those that have ended; one lane calls this.
    pub(super) fn leave<G: Grid>(self, grid: G, layout: Layout) {
        let state = self.state(grid, layout);
        state.signal(grid, word_of!(ServeState, ended));
    }

    /// The first word of a dispatcher's queue, and the mask of its posts' numbers.
    pub(super) fn queue<G: Grid>(self, grid: G, dispatcher: u32) -> (*mut u32, u32) {
        let posts = self.word(grid, word_of!(ServeRecord, posts_each));
        let before = dispatcher as usize * posts as usize * POST_WORDS as usize;
        let first = self.address(grid, word_of!(ServeRecord, posts));
        (first.wrapping_add(before), posts - 1)
    }

    /// Nodes of the graph.
    pub(super) fn nodes<G: Grid>(self, grid: G) -> u32 {
        self.word(grid, word_of!(ServeRecord, nodes))
    }

    /// Rows of outgoing edges.
    pub(super) fn outgoing<G: Grid>(self, grid: G) -> Csr {
        let offsets = word_of!(ServeRecord, offsets);
        self.rows(grid, [offsets, word_of!(ServeRecord, targets)])
    }

    /// Rows of incoming edges.
    pub(super) fn incoming<G: Grid>(self, grid: G) -> Csr {
        let offsets = word_of!(ServeRecord, incoming_offsets);
        self.rows(grid, [offsets, word_of!(ServeRecord, incoming_targets)])
    }

    fn rows<G: Grid>(self, grid: G, [offsets, targets]: [u32; 2]) -> Csr {
        let edges = self.word(grid, word_of!(ServeRecord, edges));
        // SAFETY: `new` promises a row offset for each node and the end, and all edges; the graph's
        // checks made all of them indices of nodes and edges.
        unsafe {
            Csr::new(
                Proven::trusted(self.address(grid, offsets), self.nodes(grid) + 1),
                Proven::trusted(self.address(grid, targets), edges),
            )
        }
    }

    /// Whole weights of the edges, if there are any.
    pub(super) fn weights<G: Grid>(self, grid: G) -> Option<Proven> {
        if self.word(grid, word_of!(ServeRecord, is_weighted)) == 0 {
            return None;
        }
        let edges = self.word(grid, word_of!(ServeRecord, edges));
        let first = self.address(grid, word_of!(ServeRecord, weights));
        // SAFETY: `new` promises a weight for each edge.
        Some(unsafe { Proven::trusted(first, edges) })
    }

    /// The memory of a worker's searches.
    pub(super) fn scratch<G: Grid>(self, grid: G, worker: u32) -> Proven {
        let stride = self
            .record
            .constant_wide(grid, word_of!(ServeRecord, scratch_stride));
        let first = self
            .record
            .constant_wide(grid, word_of!(ServeRecord, scratch));
        let first = (first + stride * u64::from(worker)) as *mut u32;
        let words = scratch_words(self.nodes(grid));
        // SAFETY: `new` promises this memory for each worker.
        unsafe { Proven::trusted(first, words as u32) }
    }

    /// Program `number` of a worker, the words of a [`ServeProgram`]; `None` if there is none.
    pub(super) fn program<G: Grid>(self, grid: G, worker: u32, number: u32) -> Option<Proven> {
        let programs = self.word(grid, word_of!(ServeRecord, programs));
        if number >= programs {
            return None;
        }
        let before = worker as usize * programs as usize + number as usize;
        let table = self.address(grid, word_of!(ServeRecord, program_table));
        let first = table.wrapping_add(before * PROGRAM_WORDS as usize);
        // SAFETY: `new` promises an entry for each program of each worker.
        Some(unsafe { Proven::trusted(first, PROGRAM_WORDS) })
    }

    /// Time that a slot may take, nanoseconds.
    pub(super) fn slot_budget_ns<G: Grid>(self, grid: G) -> u64 {
        let at = word_of!(ServeRecord, slot_budget_ns);
        self.record.constant_wide(grid, at)
    }
}
