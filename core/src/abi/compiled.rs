//! Machine code that a host made of a wave's code: how a kernel calls it.
//!
//! The machine code runs [`Instruction`](super::code::Instruction)s for a range of items, as the
//! kernel's interpreter would, and makes the same checks of indices. It is made for one program and
//! one machine: it has the number of nodes, and the lengths of registers and their places in their
//! regions as constants.
//!
//! Threads of a CPU call an [`EachCode`]. A GPU's kernel calls [`LINKED_NAME`], which the host puts
//! into the kernel's text. All lanes of a block call it, with the address of an [`EachCall`] in
//! memory of the lane, the number of the wave's first instruction in the table of code, the block's
//! number among those that run the wave and their number, the items that are left out and those
//! after them, the most edges of a row or 0, and the address of [`LINKED_WORDS`] words of shared
//! memory.

use super::assert_words;

/// The arrays that machine code uses, and what it reports.
#[derive(Clone, Copy, Debug, Default)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(C)]
pub struct EachCall {
    /// Address of the arena.
    pub arena: u64,
    /// Address of the input region.
    pub inputs: u64,
    /// Address of the row offsets of outgoing edges.
    pub offsets: u64,
    /// Address of their targets.
    pub targets: u64,
    /// Address of their weights, or 0.
    pub weights: u64,
    /// Address of the row offsets of incoming edges, or 0.
    pub incoming_offsets: u64,
    /// Address of their sources, or 0.
    pub incoming_targets: u64,
    /// Address of their weights, or 0.
    pub incoming_weights: u64,
    /// Address of the list of items, or 0 where items are numbers.
    pub list: u64,
    /// Not 0 if an index was out of range.
    pub misses: u32,
    /// The first such index.
    pub missed: u32,
    /// Length of its array.
    pub missed_len: u32,
    /// Not 0 if the code raised the loop's flag.
    pub raised: u32,
}

assert_words!(EachCall, 22);

/// Name of the function that a GPU's kernel calls for waves of code.
pub const LINKED_NAME: &str = "seawall_each";

/// Words of a block's shared memory that the function may use.
pub const LINKED_WORDS: u32 = 9216;

/// Machine code of a wave. It runs the code for the items from the second argument up to the third.
pub type EachCode = unsafe extern "C" fn(*mut EachCall, u32, u32);
