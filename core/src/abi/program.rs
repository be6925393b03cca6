//! A wave program as tables: launch, groups, waves, registers.
//!
//! The host encodes a planned program into these records, uploads them once,
//! and every executor walks the same bytes.

use super::assert_words;
use bytemuck::{CheckedBitPattern, Pod, Zeroable};
use core::fmt;

/// What one wave does; the discriminant is the opcode word.
///
/// ```
/// use seawall_core::abi::program::Opcode;
/// assert_eq!(Opcode::from_word(Opcode::Xor as u32), Some(Opcode::Xor));
/// assert_eq!(Opcode::from_word(u32::MAX), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, CheckedBitPattern)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(u32)]
pub enum Opcode {
    /// Nothing; keeps its place in the order.
    Nop = 0,
    /// `destination[i] = parameters[0]` for every word.
    Fill = 1,
    /// `destination[i] = i` for every word.
    Iota = 2,
    /// `destination[i] = sources[0][i]` for every word.
    Copy = 3,
    /// `destination = sources[0] & sources[1]`, word by word.
    And = 4,
    /// `destination = sources[0] | sources[1]`, word by word.
    Or = 5,
    /// `destination = sources[0] & !sources[1]`, word by word.
    AndNot = 6,
    /// `destination = sources[0] ^ sources[1]`, word by word.
    Xor = 7,
    /// Puts the node list `sources[0]` into the freshly reset frontier
    /// `destination`, each node once, and marks it in `sources[1]` as the
    /// visitor `parameters[0]` does.
    Seed = 8,
    /// One step of a search: expands the frontier `sources[0]` and marks what
    /// it discovers in `destination` (see [`Visitor`](super::search::Visitor)
    /// in `parameters[0]`).
    Expand = 9,
    /// Joins the components of both ends of every edge in the parent array
    /// `destination`.
    Link = 10,
    /// Points every node of the parent array `destination` at its root.
    Compress = 11,
    /// Reduces the words of `sources[0]` into the scalar `destination` (see
    /// [`Reduction`] in `parameters[0]`).
    Reduce = 12,
    /// `destination[v] = sources[1][v] | (sources[0][v] & !sources[2][v])`
    /// for the facts of every node: generate, keep, kill. Raises the
    /// fixpoint's flag when a word changes.
    GenKill = 13,
    /// `destination[v]` = union (`parameters[0]` = 0) or intersection (1) of
    /// `sources[0][u]` over the predecessors `u` of `v`. Entry nodes keep
    /// their words.
    Meet = 14,
    /// Runs the body groups until nothing changes (see [`FixpointRecord`]).
    Fixpoint = 15,
    /// Holds the block `parameters[0]` back until the time budget ends:
    /// proves that the watchdog works.
    Stall = 16,
    /// `destination[i] = 0` for every word, then `destination[v] =
    /// parameters[0]` for every node `v` of the list `sources[0]`.
    Scatter = 17,
    /// Joins the ends of the first `parameters[0]` edges of every node, a
    /// sample that finds most components (Afforest).
    LinkSample = 18,
    /// Writes the most frequent label of a sample of `sources[0]` into the
    /// scalar `destination`.
    Majority = 19,
    /// [`Opcode::Link`] for the edges behind the first `parameters[0]` of
    /// every node that is not yet in the component named by the scalar
    /// `sources[0]`.
    LinkRest = 20,
    /// Clears the header and the bitsets of the frontier `destination`.
    Reset = 21,
    /// Copies the visited bits of the frontier `sources[0]` to
    /// `destination`.
    Visited = 22,
    /// Clears counters and marks of the work register `destination` (see
    /// [`WorkLayout`](super::work::WorkLayout)).
    ResetWork = 23,
    /// Queues the node list `sources[1]` in the work register `sources[0]`
    /// for the loop that follows, at distance 0 in `destination`;
    /// `parameters[0]` is the width of the first bound.
    SeedPaths = 24,
    /// One round of shortest paths: lowers the distances `destination` along
    /// the edges of the nodes queued in `sources[0]`, or queues the nodes
    /// below the next bound, `parameters[0]` wide. Raises the fixpoint's flag
    /// while nodes are queued or wait.
    StepPaths = 25,
    /// Stores the degrees of all nodes in `destination` and opens the work
    /// register `sources[0]` for the loop that follows.
    SeedPeel = 26,
    /// One round of peeling: removes the nodes queued in `sources[0]` from
    /// the degrees `destination`, or queues those of the next level. Raises
    /// the fixpoint's flag while nodes are queued or remain.
    StepPeel = 27,
    /// Stores the even start of a ranking: ranks in `destination`,
    /// contributions in `sources[0]`, zero sums in `sources[1]`, and adds the
    /// mass of nodes without edges to the zero totals `sources[2]`.
    SeedRanks = 28,
    /// Adds the contributions `sources[0]` of the predecessors of every node
    /// to the sums `destination`, pairs of words in units of 2^-k, where k is
    /// [`unit_exponent`](super::rank::unit_exponent) of the graph's edges.
    GatherRanks = 29,
    /// Turns the sums `sources[1]` into ranks `destination`, their
    /// contributions `sources[0]` and totals `sources[2]`, and clears them;
    /// `parameters[0]` holds the bits of the damping.
    ApplyRanks = 30,
    /// Closes an iteration in the totals `destination`; raises the fixpoint's
    /// flag when the ranks changed by more than `parameters[0]` (bits of a
    /// float) in all.
    SettleRanks = 31,
    /// Keeps one direction of every edge, towards the higher degree, then the
    /// higher number: stores what remains of every row at the row's start in
    /// `destination`, a word an edge, and its length in `sources[0]`.
    OrientEdges = 32,
    /// Adds to the zero counts `destination` the triangles that every node is
    /// a corner of, found among the remaining rows `sources[0]` of lengths
    /// `sources[1]`; `parameters[0]` limits the entries of a row that are held
    /// in shared memory at a time, where it is not 0.
    CountTriangles = 33,
    /// Stores in `destination` the smallest node one level before every node
    /// that has an edge to it, by the levels `sources[0]`; nodes of level 0
    /// get themselves, nodes without a level [`UNREACHED`](super::UNREACHED).
    Parents = 34,
    /// Puts source `k` of the node list `sources[2]` as bit `k` into the set
    /// of its node, `parameters[0]` words a node, and queues the nodes in the
    /// work register `sources[0]` for the loop that follows. Sets are kept
    /// twice, in `destination` and `sources[1]`, all zero before.
    SeedSets = 35,
    /// One level of the searches from all sources: adds the sets of the nodes
    /// queued in `sources[0]` to those of their neighbours, from one of
    /// `destination` and `sources[1]` to the other, in turn. Raises the
    /// fixpoint's flag while nodes are queued.
    StepSets = 36,
    /// `destination[i] = sources[0][sources[1][i]]` for every word. An index that
    /// `sources[0]` does not hold ends the run
    /// ([`FaultCode::BadIndex`](super::control::FaultCode::BadIndex)).
    Gather = 37,
    /// As [`SeedPaths`](Self::SeedPaths), with distances of two words, low word first.
    SeedPathsWide = 38,
    /// As [`StepPaths`](Self::StepPaths), with distances of two words, low word first.
    /// Bounds, their width among them, are distances shifted right by `parameters[1]`
    /// bits.
    StepPathsWide = 39,
    /// As [`StepPaths`](Self::StepPaths), with the bits of floats for weights, distances
    /// and the width of bounds. What no path reaches is infinite.
    StepPathsFloat = 40,
    /// Runs code for each item of a domain, see [`EachRecord`]: words, nodes, or the first
    /// entries of the list `sources[0]`, as many as word 0 of `sources[1]` says. What it
    /// reads and writes stands in its [code](super::code).
    Each = 41,
    /// Repeats body groups while word 0 of a register is not 0. The parameters are a
    /// [`WhileRecord`].
    While = 42,
}

impl Opcode {
    /// Every opcode, in order of its word.
    pub const ALL: [Self; 43] = [
        Self::Nop,
        Self::Fill,
        Self::Iota,
        Self::Copy,
        Self::And,
        Self::Or,
        Self::AndNot,
        Self::Xor,
        Self::Seed,
        Self::Expand,
        Self::Link,
        Self::Compress,
        Self::Reduce,
        Self::GenKill,
        Self::Meet,
        Self::Fixpoint,
        Self::Stall,
        Self::Scatter,
        Self::LinkSample,
        Self::Majority,
        Self::LinkRest,
        Self::Reset,
        Self::Visited,
        Self::ResetWork,
        Self::SeedPaths,
        Self::StepPaths,
        Self::SeedPeel,
        Self::StepPeel,
        Self::SeedRanks,
        Self::GatherRanks,
        Self::ApplyRanks,
        Self::SettleRanks,
        Self::OrientEdges,
        Self::CountTriangles,
        Self::Parents,
        Self::SeedSets,
        Self::StepSets,
        Self::Gather,
        Self::SeedPathsWide,
        Self::StepPathsWide,
        Self::StepPathsFloat,
        Self::Each,
        Self::While,
    ];

    /// The opcode of a word, or nothing when the word names none.
    #[must_use]
    pub fn from_word(word: u32) -> Option<Self> {
        // A comparison: a table would lie in a GPU's slow memory.
        bytemuck::checked::try_cast(word).ok()
    }
}

impl fmt::Display for Opcode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// How [`Opcode::Reduce`] joins words.
///
/// ```
/// use seawall_core::abi::program::Reduction;
/// assert_eq!(Reduction::from_word(2), Some(Reduction::Sum));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(u32)]
pub enum Reduction {
    /// 1 when any word is not zero.
    Any = 0,
    /// Number of set bits.
    Count = 1,
    /// Wrapping sum.
    Sum = 2,
    /// Smallest word.
    Min = 3,
    /// Largest word.
    Max = 4,
}

impl Reduction {
    /// The reduction of a word, or nothing when the word names none.
    #[must_use]
    pub const fn from_word(word: u32) -> Option<Self> {
        match word {
            0 => Some(Self::Any),
            1 => Some(Self::Count),
            2 => Some(Self::Sum),
            3 => Some(Self::Min),
            4 => Some(Self::Max),
            _ => None,
        }
    }
}

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
    /// 1 when it needs no barrier before it: it and the group before it work
    /// word by word on as many words each.
    pub joined: u32,
}
assert_words!(GroupRecord, 4);

/// What a fixpoint's wave record holds in its parameters, by name.
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
}

impl EachRecord {
    /// Reads the parameters of such a wave.
    #[must_use]
    pub const fn from_parameters(words: [u32; 5]) -> Self {
        let [first, instructions, items, ..] = words;
        Self {
            first,
            instructions,
            items,
        }
    }

    /// Writes the parameters of such a wave.
    #[must_use]
    pub const fn to_parameters(self) -> [u32; 5] {
        [self.first, self.instructions, self.items, 0, 0]
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
    /// Register whose word 0 is looked at before each iteration. The first body group
    /// leaves it alone, as slow blocks may still look.
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

/// Where a register lives.
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

/// Everything that a kernel is handed: addresses are those of the machine
/// that runs it.
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
    /// Weights, `edges` words, or 0.
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
    /// Keeps the record a whole number of pairs.
    pub reserved: u32,
    /// [Trace](super::trace) to write, or 0.
    pub trace: u64,
}
assert_words!(LaunchRecord, 76);

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
