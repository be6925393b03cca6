//! One program on several devices: a kernel that stays on each, and memory that they all write.
//!
//! Nodes are cut into ranges, one a device; a device has the edges that lead to its nodes. The
//! memory that others write lies at the same offsets on every device, so an address there is the
//! device's base and an offset. After each step a device writes what it found into the copies of
//! the others, then [`Mail`], and its epoch last, with release at system scope.

use super::assert_words;
use bytemuck::{Pod, Zeroable};

/// First word of a record: `SWM1` in little-endian ASCII.
pub const MAGIC: u32 = 0x314D_5753;

/// First word of the record of a join: `SWJ1` in little-endian ASCII.
pub const JOIN_MAGIC: u32 = 0x314A_5753;

/// Most devices of a run.
pub const DEVICES_MAX: usize = 16;

/// Nodes that a device sends as a list; of more it sends bits.
pub const LIST: u32 = 8192;

/// Words of a device's mail, a cache line of 128 bytes.
pub const MAIL_WORDS: u32 = 32;

/// Nodes at multiples of which ranges begin: bits of a range are whole words, and lines of them.
pub const CUT: u32 = 1024;

/// Epoch of a device that has ended early.
pub const ENDED: u32 = u32::MAX;

/// The work of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(u32)]
pub enum MultiKind {
    /// Levels of a search, up to a limit.
    Levels = 1,
    /// Distances along whole weights.
    Whole = 2,
    /// Distances along float weights, by their bits.
    Float = 3,
    /// Ranks by shares that are pulled along edges.
    Ranks = 4,
    /// Components: trees of parents.
    Components = 5,
    /// Core numbers.
    Cores = 6,
    /// Barriers and nothing else, to measure them.
    Barriers = 7,
}

/// Record of one device's kernel; addresses are valid on that device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(C)]
pub struct MultiRecord {
    /// [`MAGIC`].
    pub magic: u32,
    /// [`VERSION`](super::VERSION).
    pub version: u32,
    /// A [`MultiKind`].
    pub kind: u32,
    /// Nodes of the whole graph.
    pub nodes: u32,
    /// Devices of the run.
    pub devices: u32,
    /// Number of this device among them.
    pub own: u32,
    /// First node of this device.
    pub first: u32,
    /// Node after its last one.
    pub end: u32,
    /// Most iterations or levels.
    pub limit: u32,
    /// Damping factor of ranks, the bits of a float.
    pub damping: u32,
    /// Units of shares in 1, as a power of two.
    pub exponent: u32,
    /// Width of a bucket of distances, a whole number or the bits of a float.
    pub width: u32,
    /// 1 if every edge has its mirror image.
    pub symmetric: u32,
    /// Edges that lead to this device's nodes.
    pub edges: u32,
    /// Sources of a search.
    pub sources: u32,
    /// Rows of incoming edges: this device's nodes, or as many as slices have.
    pub rows: u32,
    /// Edges of the whole graph.
    pub all_edges: u64,
    /// Edges that leave the sources.
    pub source_edges: u64,
    /// Mass of nodes without edges at the start, or the change at which ranks have settled, in
    /// units of a total.
    pub dangling: u64,
    /// The change of ranks at which they have settled, in units of a total.
    pub settled: u64,
    /// Time after which the kernel ends by itself, nanoseconds.
    pub time_ns: u64,
    /// The control block.
    pub control: u64,
    /// [`MultiState`].
    pub state: u64,
    /// Offsets of the rows of this device's nodes, and of the end of the last one; 0 if they are
    /// not used, as for the other arrays of edges.
    pub in_offsets: u64,
    /// Nodes from which edges lead to this device's nodes, by rows, or places of frequent ones.
    pub in_sources: u64,
    /// This device's node of each row, counted from its first, where edges are in slices of their
    /// sources; 0 where rows are those of the nodes.
    pub row_nodes: u64,
    /// Offsets of the rows of all nodes, in which only edges to this device's nodes are.
    pub out_offsets: u64,
    /// Targets of these edges.
    pub out_targets: u64,
    /// Their weights; 0 for the weight 1.
    pub out_weights: u64,
    /// Edges that leave each of this device's nodes, on all devices.
    pub degrees: u64,
    /// Bits of this device's nodes that a step finds.
    pub found: u64,
    /// Bits of this device's nodes that wait for their bucket of distances.
    pub waiting: u64,
    /// Numbers of long rows, as many as this device has nodes, or all for rows of all nodes.
    pub long_rows: u64,
    /// A pair of words for each of this device's nodes: sums of shares in long rows.
    pub sums: u64,
    /// A word for each node: levels, distances, ranks, parents or core numbers.
    pub values: u64,
    /// Bits of all nodes, for even and for odd steps.
    pub bits: u64,
    /// [`LIST`] nodes of each device, for even and for odd steps.
    pub lists: u64,
    /// A word for each node and place, for even and for odd steps: shares of ranks; else labels,
    /// once.
    pub shares: u64,
    /// [`MAIL_WORDS`] of each device, for even and for odd epochs.
    pub mail: u64,
    /// First byte of the memory that others write, on each device.
    pub bases: [u64; DEVICES_MAX],
    /// First node of each device, then as many times the number of nodes as there are devices less.
    pub cuts: [u32; DEVICES_MAX + 2],
    /// The node of each place of frequent sources; 0 if there are none.
    pub frequent_nodes: u64,
    /// Places of frequent sources, as many on every device: words after those of all nodes, in
    /// which their shares stand once more. Incoming edges name the place instead of the node.
    pub frequent: u32,
    /// Zero.
    pub rest: u32,
}
assert_words!(
    MultiRecord,
    16 + 2 * 23 + 2 * DEVICES_MAX + DEVICES_MAX + 2 + 4
);

/// Copies of an array to whose values devices that share a program joined others, each to its own:
/// the part that one device joins, for all copies. Addresses are valid on that device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(C)]
pub struct JoinRecord {
    /// [`JOIN_MAGIC`].
    pub magic: u32,
    /// [`VERSION`](super::VERSION).
    pub version: u32,
    /// [`Joined::to_word`](super::code::Joined::to_word).
    pub joined: u32,
    /// Copies, at most [`DEVICES_MAX`].
    pub copies: u32,
    /// First value of this device's part.
    pub first: u32,
    /// Value after its last one.
    pub end: u32,
    /// The values of the part from before the joins; 0 if the join does not ask for them.
    pub before: u64,
    /// The first value of each copy.
    pub values: [u64; DEVICES_MAX],
}

assert_words!(JoinRecord, 6 + 2 + 2 * DEVICES_MAX);

/// A message of a device to the others at a barrier of all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(C)]
pub struct Mail {
    /// Number of the barrier, written last; [`ENDED`] from a device that has ended early.
    pub epoch: u32,
    /// Nodes that it found.
    pub found: u32,
    /// 1 if they are in its list, 0 if they are bits.
    pub is_list: u32,
    /// Least value that waits.
    pub least: u32,
    /// Edges that leave the nodes it found.
    pub edges: u64,
    /// Mass of its nodes without edges.
    pub dangling: u64,
    /// Sum of the changes of its ranks.
    pub change: u64,
    /// Zero.
    pub rest: [u32; 22],
}
assert_words!(Mail, MAIL_WORDS as usize);

/// State of one device's kernel, in memory that no other device writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(C)]
pub struct MultiState {
    /// Counters of three steps in turn.
    pub steps: [StepCounters; 3],
    /// The sum of all mail of the last barrier: nodes found, in two words.
    pub found: u64,
    /// Edges that leave them.
    pub edges: u64,
    /// Mass of nodes without edges.
    pub dangling: u64,
    /// Sum of changes.
    pub change: u64,
    /// Least value that waits.
    pub least: u32,
    /// A label that most nodes seem to have.
    pub label: u32,
    /// 1 if a distance was too large.
    pub overflow: u32,
    /// Barriers of all devices.
    pub meetings: u32,
    /// Levels, iterations or rounds at the end.
    pub rounds: u32,
    /// 1 if the run ended by itself, before its limit.
    pub converged: u32,
    /// Steps that pulled along edges to unvisited nodes.
    pub pulls: u32,
    /// Steps after which this device sent a list.
    pub lists: u32,
    /// Bytes that this device wrote to others.
    pub sent: u64,
    /// Edges that it looked at.
    pub examined: u64,
    /// Edges that leave all nodes found so far.
    pub explored: u64,
    /// Steps so far, when the first block has taken some alone.
    pub step: u32,
    /// Zero.
    pub rest: u32,
    /// Nodes that each device found, with the top bit if they are in its list.
    pub parts: [u32; DEVICES_MAX],
}
assert_words!(MultiState, 3 * 12 + 8 + 8 + 4 + 4 + DEVICES_MAX);

/// Counters of a step of one device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(C)]
pub struct StepCounters {
    /// Nodes found.
    pub found: u32,
    /// Nodes put into the list, or more.
    pub listed: u32,
    /// Long rows that wait for all blocks.
    pub long_rows: u32,
    /// [`u32::MAX`] less the least value that waits.
    pub least: u32,
    /// Edges that leave the nodes found.
    pub edges: u64,
    /// Mass of nodes without edges.
    pub dangling: u64,
    /// Sum of changes.
    pub change: u64,
    /// Edges looked at.
    pub examined: u64,
}
assert_words!(StepCounters, 12);
