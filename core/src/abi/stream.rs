//! Streams: edges that flow window by window through memory of the host to a persistent kernel.
//!
//! A host fills a window, writes a [`StreamPost`] and its ticket last, with release. Tickets count
//! from 1; ticket `t` lies in post `(t - 1) % posts`. The machine takes tickets in order, and
//! writes the last one that it has finished to [`StreamBoard::consumed`], with release. Each word
//! of the board is written by one side.

use super::assert_words;
use bytemuck::{Pod, Zeroable};

/// First word of a stream record: `SWT1` in little-endian ASCII.
pub const MAGIC: u32 = 0x3154_5753;

/// Words of a post: a line of 64 bytes.
pub const POST_WORDS: u32 = 16;

/// Words of device memory for each post: a copy of it, and counters.
pub const TURN_WORDS: u32 = 32;

/// Bit of [`StreamBoard::fault`] for a row whose targets do not ascend from one window to the next.
pub const BETWEEN: u32 = 1 << 31;

/// The work on each edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(u32)]
pub enum StreamKind {
    /// Links the trees of its ends.
    Link = 1,
    /// Lowers levels, up to a limit.
    Levels = 2,
    /// Lowers whole distances.
    Whole = 3,
    /// Lowers distances along float weights, by their bits.
    Float = 4,
    /// Adds shares of ranks to the ends of edges.
    Push = 5,
    /// Adds shares of ranks of the ends of edges, each of which has its mirror image.
    Pull = 6,
}

/// Order of a post.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(u32)]
pub enum StreamOrder {
    /// The work of a window.
    Window = 1,
    /// A step between passes, after all windows before it.
    Step = 2,
}

/// Record of a kernel of streams; addresses are those of its machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(C)]
pub struct StreamRecord {
    /// [`MAGIC`].
    pub magic: u32,
    /// [`VERSION`](super::VERSION).
    pub version: u32,
    /// A [`StreamKind`].
    pub kind: u32,
    /// Nodes of the graph.
    pub nodes: u32,
    /// Rows at which the high half of offsets grows by one.
    pub wraps: u32,
    /// Windows of the file.
    pub windows: u32,
    /// Posts.
    pub posts: u32,
    /// Bytes of a window, as a power of two.
    pub shift: u32,
    /// Bytes of the first window before the first edge.
    pub skew: u32,
    /// Level at which a search ends.
    pub limit: u32,
    /// Damping factor of ranks, the bits of a float.
    pub damping: u32,
    /// Units of shares in 1, as a power of two.
    pub exponent: u32,
    /// Low halves of the row offsets, and of the end of the last row.
    pub starts: u64,
    /// The rows of `wraps`.
    pub wrap_rows: u64,
    /// [`StreamBoard`], posts, and a word for each window, which hosts see.
    pub board: u64,
    /// [`StreamState`] and [`TURN_WORDS`] for each post.
    pub state: u64,
    /// A word for each node: parents in trees, levels, distances or ranks.
    pub values: u64,
    /// A pair of words for each node: sums of shares.
    pub sums: u64,
    /// A word for each node: its share for an edge, a float of whole units; for
    /// [`StreamKind::Pull`] only.
    pub shares: u64,
    /// A bit for each row that has work in this pass, and as many words for the next one.
    pub work: u64,
    /// Three words for each window: 1 more than its first and its last target once it arrived, and
    /// the last step that found work in it.
    pub seen: u64,
    /// Time after which the kernel ends by itself, nanoseconds.
    pub time_ns: u64,
    /// Random number for the sum that shows whether all edges have mirror images.
    pub seed: u64,
}
assert_words!(StreamRecord, 12 + 11 * 2);

/// An order, in memory of the host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(C)]
pub struct StreamPost {
    /// Its ticket, written last.
    pub ticket: u32,
    /// A [`StreamOrder`].
    pub order: u32,
    /// Number of the window, or of the step, from 1 on.
    pub number: u32,
    /// Edges.
    pub edges: u32,
    /// Number of the first edge in the graph.
    pub first_edge: u64,
    /// First row that may have edges here.
    pub first_row: u32,
    /// Row after the last one.
    pub end_row: u32,
    /// Targets of the edges.
    pub targets: u64,
    /// Weights of the edges; 0 for the weight 1.
    pub weights: u64,
    /// 1 if the window is used for the first time, so that its edges are checked.
    pub checks: u32,
    /// 1 if all earlier tickets must be done before.
    pub waits: u32,
    /// Zero.
    pub rest: [u32; 2],
}
assert_words!(StreamPost, POST_WORDS as usize);

/// Words between host and machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(C)]
pub struct StreamBoard {
    /// The host's order to end, unless 0.
    pub end: u32,
    /// Zero.
    pub rest: [u32; 15],
    /// The last ticket that the machine has finished.
    pub consumed: u32,
    /// 1 more than the number of a window with an invalid edge, or with [`BETWEEN`].
    pub fault: u32,
    /// 1 if a value was too large for a word.
    pub overflow: u32,
    /// The last step that found work.
    pub busy: u32,
    /// Sum of all changes of ranks in the last step, low and high half.
    pub change: [u32; 2],
    /// 0 if all edges of first uses have mirror images among each other, low and high half.
    pub balance: [u32; 2],
    /// Zero.
    pub more: [u32; 8],
}
assert_words!(StreamBoard, 32);

/// State of a kernel of streams, in memory that no host sees.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(C)]
pub struct StreamState {
    /// The last ticket that was posted.
    pub posted: u32,
    /// The last ticket that is done.
    pub finished: u32,
    /// 1 if the kernel ends.
    pub ended: u32,
    /// The last step that found work.
    pub busy: u32,
    /// Mass of nodes without edges and sum of changes, pairs of words, of three steps in turn.
    pub totals: [u32; 12],
    /// Sum over edges of first uses, in which an edge and its mirror image cancel out.
    pub balance: [u32; 2],
    /// Zero.
    pub rest: [u32; 2],
}
assert_words!(StreamState, 20);
