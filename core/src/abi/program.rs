//! A wave program as tables: launch, groups, waves, registers.
//!
//! The host encodes a planned program into these records, uploads them once,
//! and every executor walks the same bytes.

mod opcode;

pub use opcode::{Opcode, Reduction, family};

use super::assert_words;
use bytemuck::{Pod, Zeroable};

/// A register index that means "none".
pub const NO_REGISTER: u32 = u32::MAX;

/// One wave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct WaveRecord {
    /// Word of an [`Opcode`].
    pub opcode: u32,
    /// Number of the wave in the program, for fault records and traces.
    pub wave: u32,
    /// Register written.
    pub destination: u32,
    /// Registers read; [`NO_REGISTER`] where unused.
    pub sources: [u32; 4],
    /// Meaning depends on the opcode.
    pub parameters: [u32; 5],
}
assert_words!(WaveRecord, 12);

/// Waves that run between two barriers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct GroupRecord {
    /// Index of the group's first wave.
    pub first_wave: u32,
    /// Number of waves.
    pub waves: u32,
    /// 1 when one block is enough for all of its work, so that a block
    /// barrier can follow instead of a grid barrier.
    pub narrow: u32,
    /// 1 when it needs no barrier before it: it and the previous group work word by word on equally
    /// many words.
    pub joined: u32,
}
assert_words!(GroupRecord, 4);

/// The parameters of a fixpoint's wave record, by name.
///
/// ```
/// use seawall_core::abi::program::{FixpointRecord, NO_REGISTER};
/// let record = FixpointRecord { first_group: 3, groups: 2, max_iterations: 100, frontier: NO_REGISTER };
/// assert_eq!(FixpointRecord::from_parameters(record.to_parameters()), record);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct FixpointRecord {
    /// First body group in the group table.
    pub first_group: u32,
    /// Number of body groups.
    pub groups: u32,
    /// Iterations after which the loop ends unconverged.
    pub max_iterations: u32,
    /// Frontier register that drives the loop until it is empty, or
    /// [`NO_REGISTER`] when the changed flag does.
    pub frontier: u32,
}

impl FixpointRecord {
    /// Reads the parameters of a fixpoint wave.
    #[must_use]
    pub const fn from_parameters(words: [u32; 5]) -> Self {
        let [first_group, groups, max_iterations, frontier, _] = words;
        Self {
            first_group,
            groups,
            max_iterations,
            frontier,
        }
    }

    /// Writes the parameters of a fixpoint wave.
    #[must_use]
    pub const fn to_parameters(self) -> [u32; 5] {
        [
            self.first_group,
            self.groups,
            self.max_iterations,
            self.frontier,
            0,
        ]
    }
}

/// Parameters of an [`Opcode::Each`] wave, by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct EachRecord {
    /// Index of its first instruction.
    pub first: u32,
    /// Number of its instructions.
    pub instructions: u32,
    /// Most items.
    pub items: u32,
    /// The [needs](super::code::needs) of its code.
    pub needs: u32,
    /// Items that are left out, the first ones: other devices run them.
    pub before: u32,
}

impl EachRecord {
    /// Reads the parameters of such a wave.
    #[must_use]
    pub const fn from_parameters(words: [u32; 5]) -> Self {
        let [first, instructions, items, needs, before] = words;
        Self {
            first,
            instructions,
            items,
            needs,
            before,
        }
    }

    /// Writes the parameters of such a wave.
    #[must_use]
    pub const fn to_parameters(self) -> [u32; 5] {
        [
            self.first,
            self.instructions,
            self.items,
            self.needs,
            self.before,
        ]
    }
}

/// Parameters of an [`Opcode::While`] wave, by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct WhileRecord {
    /// First body group in the group table.
    pub first_group: u32,
    /// Number of body groups.
    pub groups: u32,
    /// Iterations after which the loop ends in any case.
    pub max_iterations: u32,
    /// Register whose word 0 is read before each iteration. The first body group does not write it,
    /// as slow blocks may still read it.
    pub condition: u32,
    /// Loops of this kind that it is in.
    pub depth: u32,
}

impl WhileRecord {
    /// Reads the parameters of such a wave.
    #[must_use]
    pub const fn from_parameters(words: [u32; 5]) -> Self {
        let [first_group, groups, max_iterations, condition, depth] = words;
        Self {
            first_group,
            groups,
            max_iterations,
            condition,
            depth,
        }
    }

    /// Writes the parameters of such a wave.
    #[must_use]
    pub const fn to_parameters(self) -> [u32; 5] {
        [
            self.first_group,
            self.groups,
            self.max_iterations,
            self.condition,
            self.depth,
        ]
    }
}

/// The memory of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(u32)]
pub enum Region {
    /// In the planned arena.
    Arena = 0,
    /// Beside the graph, written by the host before each run.
    Input = 1,
}

/// One register: a resident array of 32-bit words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct RegisterRecord {
    /// Word of a [`Region`].
    pub region: u32,
    /// Length in words.
    pub words: u32,
    /// Offset in bytes from the start of the region.
    pub offset_bytes: u64,
}
assert_words!(RegisterRecord, 4);

/// Everything passed to a kernel; addresses are those of the machine that runs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct LaunchRecord {
    /// [`MAGIC`](super::MAGIC).
    pub magic: u32,
    /// [`VERSION`](super::VERSION).
    pub version: u32,
    /// Nodes of the graph.
    pub nodes: u32,
    /// Directed edges of the graph.
    pub edges: u32,
    /// Groups on the top level; body groups follow them in the table.
    pub groups: u32,
    /// All groups of the table.
    pub groups_total: u32,
    /// All waves of the table.
    pub waves: u32,
    /// All registers of the table.
    pub registers: u32,
    /// Row offsets, `nodes + 1` words.
    pub offsets: u64,
    /// Targets, `edges` words.
    pub targets: u64,
    /// Weights of outgoing edges, `edges` words, or 0.
    pub weights: u64,
    /// Row offsets of the transposed graph, or 0.
    pub incoming_offsets: u64,
    /// Sources of incoming edges, or 0.
    pub incoming_targets: u64,
    /// [`GroupRecord`] table.
    pub group_table: u64,
    /// [`WaveRecord`] table.
    pub wave_table: u64,
    /// [`RegisterRecord`] table.
    pub register_table: u64,
    /// Arena base.
    pub arena: u64,
    /// Input region base.
    pub inputs: u64,
    /// [`ControlRecord`](super::control::ControlRecord).
    pub control: u64,
    /// Run time after which the kernel stops itself, nanoseconds.
    pub time_budget_ns: u64,
    /// [`SearchPolicy`](super::search::SearchPolicy) of the run.
    pub search: super::search::SearchPolicy,
    /// Incoming edges by tiles, where the host made some.
    pub tiles: super::tiles::TileTable,
    /// Table of [`Instruction`](super::code::Instruction)s, aligned to 16 bytes, or 0.
    pub code_table: u64,
    /// All instructions of the table.
    pub code: u32,
    /// Most edges of a row of either kind; 0 if unknown.
    pub longest_row: u32,
    /// [Trace](super::trace) to write, or 0.
    pub trace: u64,
    /// Digest of the graph and the machine that the tables were planned for; 0 fits any.
    pub planned_for: u64,
    /// The digest of the resident graph and its machine, beside the graph's arrays. Kernels read
    /// it if `planned_for` is not 0, and refuse tables that were planned for another one.
    pub resident: u64,
    /// Weights of incoming edges in the order of `incoming_targets`, `edges` words, or 0.
    pub incoming_weights: u64,
}
assert_words!(LaunchRecord, 82);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_opcode_word_names_itself() {
        for (word, opcode) in Opcode::ALL.into_iter().enumerate() {
            assert_eq!(opcode as u32 as usize, word);
            assert_eq!(Opcode::from_word(word as u32), Some(opcode));
        }
        assert_eq!(Opcode::from_word(Opcode::ALL.len() as u32), None);
    }

    #[test]
    fn fixpoint_parameters_round_trip() {
        let record = FixpointRecord {
            first_group: 3,
            groups: 5,
            max_iterations: 7,
            frontier: 11,
        };
        assert_eq!(
            FixpointRecord::from_parameters(record.to_parameters()),
            record
        );
    }
}
