//! A service on a machine with separate memory: the inputs of a resident kernel, and the posts that
//! bring slots to it.

use super::assert_words;
use super::ring::{ARGUMENTS, PRIORITIES};
use bytemuck::{Pod, Zeroable};

/// First word of a serve record: `SWS1` in little-endian ASCII.
pub const MAGIC: u32 = 0x3153_5753;

/// Words of a post: two lines of 64 bytes.
pub const POST_WORDS: u32 = 32;

/// A slot on its way to the workers. Its stamp shows that it is complete, so its words may arrive
/// in any order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(C)]
pub struct PostRecord {
    /// The stamp of the words that follow and the post's number.
    pub stamp: u32,
    /// Number of the slot.
    pub index: u32,
    /// Opcode of the slot.
    pub opcode: u32,
    /// Tenant of the slot.
    pub tenant: u32,
    /// Priority word of the slot.
    pub priority: u32,
    /// Arguments of the slot.
    pub arguments: [u32; ARGUMENTS],
    /// Zero.
    pub rest: [u32; 15],
}
assert_words!(PostRecord, POST_WORDS as usize);

/// Record of a kernel that serves; addresses are those of its machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(C)]
pub struct ServeRecord {
    /// [`MAGIC`].
    pub magic: u32,
    /// [`VERSION`](super::VERSION).
    pub version: u32,
    /// Slots of each priority.
    pub levels: [u32; PRIORITIES as usize],
    /// Records of the print log.
    pub prints: u32,
    /// Words of all windows.
    pub window_words: u32,
    /// Queues of posts, each with a block that empties it.
    pub dispatchers: u32,
    /// Posts that a queue holds, a power of two.
    pub posts_each: u32,
    /// Nodes of the graph.
    pub nodes: u32,
    /// Edges of the graph.
    pub edges: u32,
    /// 1 if the edges have whole weights.
    pub is_weighted: u32,
    /// Programs that queries may run.
    pub programs: u32,
    /// Zero.
    pub rest: u32,
    /// The ring that the host sees.
    pub host: u64,
    /// Control block, slots and [`ServeState`] that only the machine sees.
    pub device: u64,
    /// The queues of posts.
    pub posts: u64,
    /// Row offsets of the graph.
    pub offsets: u64,
    /// Targets of the edges.
    pub targets: u64,
    /// Weights of the edges, or 0.
    pub weights: u64,
    /// Row offsets of incoming edges.
    pub incoming_offsets: u64,
    /// Sources of incoming edges.
    pub incoming_targets: u64,
    /// Memory of the workers' searches.
    pub scratch: u64,
    /// Bytes of a worker's share of it.
    pub scratch_stride: u64,
    /// Time that a slot may take, nanoseconds.
    pub slot_budget_ns: u64,
    /// A [`ServeProgram`] for each program of each worker, worker after worker.
    pub program_table: u64,
}
assert_words!(ServeRecord, 16 + 12 * 2);

/// A program of one worker, with its own memory; addresses are those of the machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(C)]
pub struct ServeProgram {
    /// Its launch record.
    pub launch: u64,
    /// Its inputs.
    pub inputs: u64,
    /// The register that answers a query.
    pub result: u64,
    /// Words of the inputs.
    pub input_words: u32,
    /// Words of that register.
    pub result_words: u32,
    /// The user's opcode whose arguments are its inputs; 0 if there is none.
    pub opcode: u32,
    /// Zero.
    pub rest: u32,
}
assert_words!(ServeProgram, 10);

/// Words behind the device's slots.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(C)]
pub struct ServeState {
    /// Blocks that have ended.
    pub ended: u32,
    /// Zero.
    pub rest: [u32; 15],
}
assert_words!(ServeState, 16);
