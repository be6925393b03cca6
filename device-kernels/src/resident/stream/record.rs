//! The record of a stream, and the memory that it names.

use crate::machine::Grid;
use crate::machine::memory::{Proven, word_of};
use core::ops::Range;
use seawall_core::abi::VERSION;
use seawall_core::abi::stream::{
    MAGIC, POST_WORDS, StreamBoard, StreamKind, StreamPost, StreamRecord, StreamState, TURN_WORDS,
};
use seawall_core::protocol::{Read, Scope, Write};

const RECORD_WORDS: u32 = (size_of::<StreamRecord>() / 4) as u32;
const BOARD_WORDS: u32 = (size_of::<StreamBoard>() / 4) as u32;
const STATE_WORDS: u32 = (size_of::<StreamState>() / 4) as u32;

/// A stream record with its memory.
#[derive(Clone, Copy, Debug)]
pub struct Stream {
    record: Proven,
}

/// A post as all lanes of a block see it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Post(Proven);

impl Post {
    #[inline(always)]
    pub(super) fn word<G: Grid>(self, grid: G, at: u32) -> u32 {
        self.0.load(grid, at)
    }

    #[inline(always)]
    fn wide<G: Grid>(self, grid: G, at: u32) -> u64 {
        u64::from(self.word(grid, at)) | u64::from(self.word(grid, at + 1)) << 32
    }

    /// The number of the window's first edge.
    #[inline(always)]
    pub(super) fn first_edge<G: Grid>(self, grid: G) -> u64 {
        self.wide(grid, word_of!(StreamPost, first_edge))
    }

    /// Targets and weights of the window's edges.
    #[inline(always)]
    pub(super) fn edges<G: Grid>(self, grid: G) -> [HostWords; 2] {
        let [targets, weights] = [word_of!(StreamPost, targets), word_of!(StreamPost, weights)];
        let count = self.word(grid, word_of!(StreamPost, edges));
        [targets, weights].map(|at| HostWords {
            first: self.wide(grid, at) as *mut u32,
            count,
        })
    }

    /// Counter `number` of the post's turn.
    #[inline(always)]
    pub(super) const fn counter(number: u32) -> u32 {
        POST_WORDS + number
    }

    #[inline(always)]
    pub(super) const fn words(self) -> Proven {
        self.0
    }
}

/// Words of the host's memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct HostWords {
    first: *mut u32,
    count: u32,
}

impl HostWords {
    #[inline(always)]
    pub(super) fn exist(self) -> bool {
        !self.first.is_null()
    }

    #[inline(always)]
    pub(super) fn load<G: Grid>(self, grid: G, at: u32) -> u32 {
        debug_assert!(at < self.count);
        // SAFETY: `Stream::new` promises windows of as many words as their posts say.
        unsafe {
            grid.load_word(
                self.first.wrapping_add(at as usize),
                Read::Relaxed,
                Scope::System,
            )
        }
    }
}

impl Stream {
    /// The stream that `record` describes.
    ///
    /// # Safety
    /// `record` must point to a [`StreamRecord`] whose addresses are valid on the machine that runs
    /// this for the lengths that its sizes give, until all blocks have ended, and so must the
    /// windows of each post until its ticket is done. Hosts may access the board and its posts
    /// meanwhile, by atomic operations, and windows that are not posted; nothing else may access
    /// the rest.
    #[must_use]
    pub unsafe fn new(record: *const StreamRecord) -> Self {
        // SAFETY: the record is valid, by this function's contract.
        let record = unsafe { Proven::trusted(record.cast_mut().cast(), RECORD_WORDS) };
        Self { record }
    }

    #[inline(always)]
    pub(super) fn word<G: Grid>(self, grid: G, at: u32) -> u32 {
        self.record.constant(grid, at)
    }

    #[inline(always)]
    pub(super) fn wide<G: Grid>(self, grid: G, at: u32) -> u64 {
        self.record.constant_wide(grid, at)
    }

    /// Whether the record is of this version.
    #[inline(always)]
    pub(super) fn is_current<G: Grid>(self, grid: G) -> bool {
        self.word(grid, word_of!(StreamRecord, magic)) == MAGIC
            && self.word(grid, word_of!(StreamRecord, version)) == VERSION
    }

    #[inline(always)]
    pub(super) fn nodes<G: Grid>(self, grid: G) -> u32 {
        self.word(grid, word_of!(StreamRecord, nodes))
    }

    #[inline(always)]
    pub(super) fn windows<G: Grid>(self, grid: G) -> u32 {
        self.word(grid, word_of!(StreamRecord, windows))
    }

    /// Whether the work on edges is of this kind.
    #[inline(always)]
    pub(super) fn is_for<G: Grid>(self, grid: G, kind: StreamKind) -> bool {
        self.word(grid, word_of!(StreamRecord, kind)) == kind as u32
    }

    /// The array of `words` words whose address lies at word `at` of the record.
    #[inline(always)]
    fn array<G: Grid>(self, grid: G, at: u32, words: u32) -> Proven {
        let first = self.wide(grid, at) as *mut u32;
        // SAFETY: `new` promises arrays of these lengths.
        unsafe { Proven::trusted(first, words) }
    }

    /// A word for each node.
    #[inline(always)]
    pub(super) fn values<G: Grid>(self, grid: G) -> Proven {
        self.array(grid, word_of!(StreamRecord, values), self.nodes(grid))
    }

    /// A pair of words for each node.
    #[inline(always)]
    pub(super) fn sums<G: Grid>(self, grid: G) -> Proven {
        let words = self.nodes(grid).saturating_mul(2);
        self.array(grid, word_of!(StreamRecord, sums), words)
    }

    /// A word for each node, where shares are pulled.
    #[inline(always)]
    pub(super) fn shares<G: Grid>(self, grid: G) -> Proven {
        self.array(grid, word_of!(StreamRecord, shares), self.nodes(grid))
    }

    /// Words of the bits of this pass, before those of the next one.
    #[inline(always)]
    pub(super) fn work_words<G: Grid>(self, grid: G) -> u32 {
        self.nodes(grid).div_ceil(32)
    }

    /// Bits of rows with work in this pass, and as many words for the next one.
    #[inline(always)]
    pub(super) fn work<G: Grid>(self, grid: G) -> Proven {
        let words = self.work_words(grid) * 2;
        self.array(grid, word_of!(StreamRecord, work), words)
    }

    /// First and last target of each window, then the last step that found work in each.
    #[inline(always)]
    pub(super) fn seen<G: Grid>(self, grid: G) -> Proven {
        let words = self.windows(grid).saturating_mul(3);
        self.array(grid, word_of!(StreamRecord, seen), words)
    }

    /// A [`StreamState`].
    #[inline(always)]
    pub(super) fn state<G: Grid>(self, grid: G) -> Proven {
        self.array(grid, word_of!(StreamRecord, state), STATE_WORDS)
    }

    /// Number of posts.
    #[inline(always)]
    fn posts<G: Grid>(self, grid: G) -> u32 {
        self.word(grid, word_of!(StreamRecord, posts)).max(1)
    }

    /// The machine's copy of the post of a ticket, and its counters.
    #[inline(always)]
    pub(super) fn post<G: Grid>(self, grid: G, ticket: u32) -> Post {
        let turn = (ticket - 1) % self.posts(grid);
        let before = STATE_WORDS as usize + turn as usize * TURN_WORDS as usize;
        let state = self.wide(grid, word_of!(StreamRecord, state)) as *mut u32;
        // SAFETY: `new` promises these words for each post.
        Post(unsafe { Proven::trusted(state.wrapping_add(before), TURN_WORDS) })
    }

    /// The host's post of a ticket.
    #[inline(always)]
    pub(super) fn host_post<G: Grid>(self, grid: G, ticket: u32) -> *mut u32 {
        let turn = (ticket - 1) % self.posts(grid);
        let before = BOARD_WORDS as usize + turn as usize * POST_WORDS as usize;
        self.board(grid).wrapping_add(before)
    }

    /// The first word of the board.
    #[inline(always)]
    pub(super) fn board<G: Grid>(self, grid: G) -> *mut u32 {
        self.wide(grid, word_of!(StreamRecord, board)) as *mut u32
    }

    /// Notifies the host that a window has work in the step `step`.
    #[inline(always)]
    pub(super) fn show_busy<G: Grid>(self, grid: G, window: u32, step: u32) {
        let posts = self.posts(grid) as usize * POST_WORDS as usize;
        let at = BOARD_WORDS as usize + posts + window as usize;
        let word = self.board(grid).wrapping_add(at);
        // SAFETY: `new` promises a word for each window behind the posts.
        unsafe { grid.store_word(word, step, Write::Relaxed, Scope::System) };
    }

    /// Writes a word of the board.
    #[inline(always)]
    pub(super) fn show<G: Grid>(self, grid: G, at: u32, value: u32, order: Write) {
        let word = self.board(grid).wrapping_add(at as usize);
        // SAFETY: callers name words of the board, which the machine writes.
        unsafe { grid.store_word(word, value, order, Scope::System) };
    }

    /// The number of the first edge of a row, and of the end of the last row.
    #[inline(always)]
    pub(super) fn start<G: Grid>(self, grid: G, row: u32) -> u64 {
        let starts = self.array(
            grid,
            word_of!(StreamRecord, starts),
            self.nodes(grid).saturating_add(1),
        );
        let low = starts.constant(grid, row);
        let wraps = self.word(grid, word_of!(StreamRecord, wraps));
        if wraps == 0 {
            return u64::from(low);
        }
        let rows = self.array(grid, word_of!(StreamRecord, wrap_rows), wraps);
        let mut high = 0;
        while high < wraps && rows.constant(grid, high) <= row {
            high += 1;
        }
        u64::from(low) | u64::from(high) << 32
    }

    /// The row that holds an edge, of the rows in a range that holds it.
    #[inline(always)]
    pub(super) fn row_of<G: Grid>(self, grid: G, edge: u64, rows: Range<u32>) -> u32 {
        let (mut low, mut high) = (rows.start, rows.end);
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if self.start(grid, middle) <= edge {
                low = middle;
            } else {
                high = middle;
            }
        }
        low
    }

    /// The window that holds an edge.
    #[inline(always)]
    pub(super) fn window_of<G: Grid>(self, grid: G, edge: u64) -> u32 {
        let skew = self.word(grid, word_of!(StreamRecord, skew));
        let shift = self.word(grid, word_of!(StreamRecord, shift));
        ((u64::from(skew) + edge * 4) >> (shift & 63)) as u32
    }
}
