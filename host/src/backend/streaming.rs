//! Streams to a persistent kernel: the inputs of a machine.
//!
//! ```text
//! starts of rows | rows of high halves | state and turns | values | sums | shares | work | seen
//! '------------------------------ one block of the machine's memory ------------------------'
//! ```

use super::BackendError;
use super::pages::Pages;
use bytemuck::bytes_of;
use seawall_core::abi::VERSION;
use seawall_core::abi::stream::{
    MAGIC, POST_WORDS, StreamBoard, StreamKind, StreamRecord, StreamState, TURN_WORDS,
};
use seawall_graph::disk::Rows;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::mem::offset_of;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Words at multiples of which parts begin.
const ALIGN: u64 = 64;

/// Words of the board, before its posts.
const BOARD_WORDS: u32 = (size_of::<StreamBoard>() / 4) as u32;

/// A stream before it starts.
pub(crate) struct StreamJob<'a> {
    /// The work on each edge.
    pub(crate) kind: StreamKind,
    pub(crate) rows: &'a Rows,
    pub(crate) windows: u32,
    /// Bytes of a window, as a power of two.
    pub(crate) shift: u32,
    /// Bytes of the first window before the first edge.
    pub(crate) skew: u32,
    /// Most posts in flight.
    pub(crate) posts: u32,
    /// Level at which a search ends.
    pub(crate) limit: u32,
    /// Damping factor of ranks, and units of shares in 1 as a power of two.
    pub(crate) ranking: (f32, u32),
    /// Mass of nodes without edges at the start, in units of a total.
    pub(crate) dangling: u64,
    /// Board, posts and a word for each window.
    pub(crate) board: Arc<Pages>,
    /// Address and bytes of the memory for windows.
    pub(crate) buffers: (usize, usize),
    /// Shares of nodes at the start, where they are pulled.
    pub(crate) shares: &'a [u32],
    /// Values of nodes at the start.
    pub(crate) values: &'a [u32],
    /// Bits of the rows that have work first; none if the kind needs none.
    pub(crate) work: &'a [u32],
    /// Time after which the kernel ends by itself, nanoseconds.
    pub(crate) time_ns: u64,
    /// Bytes of the machine's memory for each window, if windows stay there after their first use,
    /// and whether the stream is refused if they do not fit.
    pub(crate) kept: Option<(u64, bool)>,
}

/// Memory of a machine in which windows stay.
pub(crate) trait Keep {
    /// Begins to copy the buffer of a window to its place, once.
    fn copy(&self, window: u32, buffer: &[u8]) -> Result<(), BackendError>;

    /// Whether that copy has ended.
    fn has(&self, window: u32) -> Result<bool, BackendError>;

    /// Address of the place of a window, as the machine sees it.
    fn address(&self, window: u32) -> u64;
}

pub(crate) struct Open<'m> {
    /// Address of the memory for windows, as the machine sees it.
    pub(crate) buffers: u64,
    /// Memory for windows that stay.
    pub(crate) keep: Option<&'m dyn Keep>,
    /// Whether the kernel runs.
    pub(crate) health: &'m dyn Fn() -> Result<(), BackendError>,
    pub(crate) name: &'m str,
}

/// First words of the parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Layout {
    wraps: u64,
    state: u64,
    values: u64,
    sums: u64,
    shares: u64,
    work: u64,
    seen: u64,
    words: u64,
}

pub(crate) fn board_words(posts: u32, windows: u32) -> u32 {
    posts
        .saturating_mul(POST_WORDS)
        .saturating_add(BOARD_WORDS)
        .saturating_add(windows)
}

/// First word of the post of a ticket.
pub(crate) const fn post_at(ticket: u32, posts: u32) -> u32 {
    BOARD_WORDS + (ticket - 1) % posts * POST_WORDS
}

pub(crate) const fn window_at(window: u32, posts: u32) -> u32 {
    BOARD_WORDS + posts * POST_WORDS + window
}

impl StreamJob<'_> {
    fn nodes(&self) -> u32 {
        self.rows.len()
    }

    /// Words of the bits of a pass.
    fn work_words(&self) -> u64 {
        u64::from(self.nodes().div_ceil(32))
    }

    fn layout(&self) -> Layout {
        let mut end = 0_u64;
        let mut take = |words: u64| {
            let start = end;
            end += words.next_multiple_of(ALIGN);
            start
        };
        let nodes = u64::from(self.nodes());
        take(nodes + 1);
        let pulls = self.kind == StreamKind::Pull;
        let has_sums = pulls || self.kind == StreamKind::Push;
        let state = (size_of::<StreamState>() / 4) as u64;
        Layout {
            wraps: take(self.rows.halves().1.len() as u64),
            state: take(state + u64::from(self.posts * TURN_WORDS)),
            values: take(nodes),
            sums: take(if has_sums { 2 * nodes } else { 0 }),
            shares: take(if pulls { nodes } else { 0 }),
            work: take(2 * self.work_words()),
            seen: take(3 * u64::from(self.windows)),
            words: take(0),
        }
    }

    /// Words of the machine's memory.
    pub(super) fn words(&self) -> u64 {
        self.layout().words
    }

    /// Parts of that memory that do not begin with zeros, each with its first word.
    pub(super) fn parts(&self) -> [(u64, Vec<u8>); 2] {
        let layout = self.layout();
        let mut totals = StreamState::default();
        // Bits of the step before the first one.
        totals.totals[0] = self.dangling as u32;
        totals.totals[1] = (self.dangling >> 32) as u32;
        let work = bytemuck::cast_slice(self.work).to_vec();
        [
            (layout.state, bytes_of(&totals).to_vec()),
            (layout.work + self.work_words(), work),
        ]
    }

    /// Arrays of that memory that do not begin with zeros, each with its first word.
    pub(super) fn arrays(&self) -> [(u64, &[u32]); 4] {
        let layout = self.layout();
        let (lows, wraps) = self.rows.halves();
        [
            (0, lows),
            (layout.wraps, wraps),
            (layout.values, self.values),
            (layout.shares, self.shares),
        ]
    }

    /// First word of the values, and their number.
    pub(super) fn values_at(&self) -> (u64, usize) {
        (self.layout().values, self.nodes() as usize)
    }

    pub(super) fn record(&self, base: u64, board: u64) -> StreamRecord {
        let layout = self.layout();
        let at = |word: u64| base + 4 * word;
        let (damping, exponent) = self.ranking;
        StreamRecord {
            magic: MAGIC,
            version: VERSION,
            kind: self.kind as u32,
            nodes: self.nodes(),
            wraps: self.rows.halves().1.len() as u32,
            windows: self.windows,
            posts: self.posts,
            shift: self.shift,
            skew: self.skew,
            limit: self.limit,
            damping: damping.to_bits(),
            exponent,
            starts: base,
            wrap_rows: at(layout.wraps),
            board,
            state: at(layout.state),
            values: at(layout.values),
            sums: at(layout.sums),
            shares: at(layout.shares),
            work: at(layout.work),
            seen: at(layout.seen),
            time_ns: self.time_ns,
            seed: RandomState::new().build_hasher().finish(),
        }
    }

    /// Bytes of the memory for windows that stay, of `each` bytes.
    pub(super) fn kept_bytes(&self, each: u64) -> u64 {
        each.saturating_mul(u64::from(self.windows))
    }

    pub(super) fn end(&self) {
        let at = (offset_of!(StreamBoard, end) / 4) as u32;
        if let Some(word) = self.board.get(at) {
            word.store(1, Ordering::Release);
        }
    }
}
