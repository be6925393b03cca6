//! Opcodes: the work of one wave each.

use bytemuck::CheckedBitPattern;
use core::fmt;

/// The work of one wave; the discriminant is the opcode word.
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
    /// it discovers in `destination` (see [`Visitor`](super::super::search::Visitor)
    /// in `parameters[0]`).
    Expand = 9,
    /// Joins the components of both ends of every edge in the parent array
    /// `destination`. Nothing happens if `sources[2]` is there and its word 1 is not 0, see
    /// [`HookReached`](Self::HookReached).
    Link = 10,
    /// Points every node of the parent array `destination` at its root; `sources[2]` is as for
    /// [`Link`](Self::Link).
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
    /// Runs the body groups until nothing changes (see [`FixpointRecord`](super::FixpointRecord)).
    Fixpoint = 15,
    /// Stalls the block `parameters[0]` until the time budget ends: proves that the watchdog works.
    Stall = 16,
    /// `destination[i] = 0` for every word, then `destination[v] =
    /// parameters[0]` for every node `v` of the list `sources[0]`.
    Scatter = 17,
    /// Joins the ends of `parameters[0]` edges of every node, those after the first
    /// `parameters[1]`: a sample that finds most components (Afforest). `sources[2]` is as for
    /// [`Link`](Self::Link).
    LinkSample = 18,
    /// Writes the most frequent label of a sample of `sources[0]` into the
    /// scalar `destination`. `sources[2]` is as for [`Link`](Self::Link).
    Majority = 19,
    /// [`Opcode::Link`] for the edges after the first `parameters[0]` of
    /// every node that is not yet in the component named by the scalar
    /// `sources[0]`; `sources[2]` is as there.
    LinkRest = 20,
    /// Clears the header and the bitsets of the frontier `destination`.
    Reset = 21,
    /// Copies the visited bits of the frontier `sources[0]` to
    /// `destination`.
    Visited = 22,
    /// Clears counters and marks of the work register `destination` (see
    /// [`WorkLayout`](super::super::work::WorkLayout)).
    ResetWork = 23,
    /// Queues the node list `sources[1]` in the work register `sources[0]` for the loop that
    /// follows, at distance 0 in `destination`; `parameters[0]` is the first delta.
    SeedPaths = 24,
    /// One round of shortest paths: lowers the distances `destination` along the edges of the nodes
    /// queued in `sources[0]`, or queues the nodes of the next bucket, `parameters[0]` wide. Raises
    /// the fixpoint's flag while nodes are queued or wait. If `parameters[2]` is not 0, each edge
    /// has a mirror image of the same weight, a round may lower distances against the edges, and
    /// delta is larger once as many edges were relaxed as there are.
    StepPaths = 25,
    /// Stores the degrees of all nodes in `destination` and opens the work
    /// register `sources[0]` for the loop that follows.
    SeedPeel = 26,
    /// One round of peeling: removes the nodes queued in `sources[0]` from
    /// the degrees `destination`, or queues those of the next level. Raises
    /// the fixpoint's flag while nodes are queued or remain.
    StepPeel = 27,
    /// Stores the even start of a ranking: ranks in `destination`, contributions in `sources[0]`,
    /// zero sums in `sources[1]`, and adds the mass of nodes without edges to the zero totals
    /// `sources[2]`. If `parameters[0]` is not 0, for [`StepRanks`](Self::StepRanks), `sources[1]`
    /// has a word per node, whose contents are unspecified until an iteration. On CPU threads ranks
    /// start as `sources[3]`, if it is there.
    SeedRanks = 28,
    /// Adds the contributions `sources[0]` of the predecessors of every node
    /// to the sums `destination`, pairs of words in units of 2^-k, where k is
    /// [`unit_exponent`](super::super::rank::unit_exponent) of the graph's edges.
    GatherRanks = 29,
    /// Turns the sums `sources[1]` into ranks `destination`, their
    /// contributions `sources[0]` and totals `sources[2]`, and clears the sums;
    /// `parameters[0]` holds the bits of the damping.
    ApplyRanks = 30,
    /// Closes an iteration in the totals `destination`; raises the fixpoint's flag when the ranks
    /// changed by more than `parameters[0]` (bits of a float) in total.
    SettleRanks = 31,
    /// Keeps one direction of every edge, towards the higher degree, then the higher number: stores
    /// the kept edges of every row at the row's start in `destination`, one word per edge, the
    /// row's other edges after them, and the number of kept edges in `sources[0]`.
    OrientEdges = 32,
    /// Adds to the zero counts `destination` the triangles that every node is a corner of, found
    /// among the remaining rows `sources[0]` of lengths `sources[1]`; `parameters[0]` limits the
    /// entries of a row that are kept in shared memory at a time, where it is not 0. If
    /// `parameters[1]` is not 0, it counts each triangle at one corner only, the one whose
    /// remaining edges lead to the two others.
    CountTriangles = 33,
    /// Stores in `destination` the smallest node one level before every node
    /// that has an edge to it, by the levels `sources[0]`; nodes of level 0
    /// get themselves, nodes without a level [`UNREACHED`](super::super::UNREACHED).
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
    /// ([`FaultCode::BadIndex`](super::super::control::FaultCode::BadIndex)).
    Gather = 37,
    /// As [`SeedPaths`](Self::SeedPaths), with distances of two words, low word first.
    SeedPathsWide = 38,
    /// As [`StepPaths`](Self::StepPaths), with distances of two words, low word first. Limits and
    /// delta are distances shifted right by `parameters[1]` bits.
    StepPathsWide = 39,
    /// As [`StepPaths`](Self::StepPaths), with the bits of floats for weights, distances and delta.
    /// The distance of an unreachable node is infinite.
    StepPathsFloat = 40,
    /// Runs code for each item of a domain, see [`EachRecord`](super::EachRecord): words, nodes,
    /// entries of the list `sources[0]`, whose number is word 0 of `sources[1]`. The registers that
    /// it reads and writes are in its [code](super::super::code).
    Each = 41,
    /// Repeats body groups while word 0 of a register is not 0. The parameters are a
    /// [`WhileRecord`](super::WhileRecord).
    While = 42,
    /// Puts source `k` of the node list `sources[2]` as bit `k` into the set of its node in
    /// `destination`, `parameters[0]` words a node, opens the state `sources[0]` for the
    /// loop that follows, and counts the sources in the totals `sources[1]`; all zero
    /// before.
    SeedSweep = 43,
    /// One level of the searches from all sources, over all nodes: joins the sets of every
    /// node's predecessors to its own, from one of `destination` and `sources[2]` to the
    /// other, in turn. Adds to the totals `sources[1]` and raises the fixpoint's flag if a
    /// set grows.
    Sweep = 44,
    /// As [`Sweep`](Self::Sweep), against the edges: joins the sets of successors.
    SweepBack = 45,
    /// Stores in `destination`, for the nodes of the list `sources[1]`, the
    /// [`Measure`](super::super::sweep::Measure) in `parameters[0]` of the totals
    /// `sources[0]`.
    SettleSweep = 46,
    /// A whole iteration of a ranking: sums the contributions of every node's predecessors, and
    /// makes ranks `destination`, their contributions and totals `sources[2]` of the sums.
    /// Contributions are kept twice, in `sources[0]` and the first words of `sources[1]`, and take
    /// turns. `parameters[0]` and `parameters[1]` hold the bits of the damping and of the total
    /// change up to which the fixpoint's flag stays down. A lane of a GPU sums a row alone. On CPU
    /// threads the walk starts anew with the shares `sources[3]`, if they are there, else at all
    /// nodes alike.
    StepRanks = 47,
    /// Clears the register of hubs `destination`, with space for `parameters[0]`, see
    /// [`HubLayout`](super::super::hubs::HubLayout).
    ResetHubs = 48,
    /// Stores the key of every node, its number of edges, in the hubs `destination`, and lists
    /// the nodes of `parameters[0]` edges or more there, as long as there is space.
    PickHubs = 49,
    /// Ranks the listed hubs of `destination`: by their edges, then by their numbers, both from
    /// the highest on. Their keys follow the ranks.
    RankHubs = 50,
    /// As [`OrientEdges`](Self::OrientEdges), by the keys in the hubs `sources[1]`, which order
    /// hubs and other nodes as their edges do. Hubs have no edges in `sources[0]`; theirs are
    /// counted beside their ranks, and stored as bits, in both directions if `parameters[0]` is
    /// not 0.
    OrientHubs = 51,
    /// Adds to the counts `destination` the triangles with two hubs among the higher corners,
    /// by the remaining rows `sources[0]` of lengths `sources[1]` and the hubs `sources[2]`. It
    /// counts at every corner if `parameters[0]` is not 0, by bits in both directions, else at
    /// the lowest one.
    CountHubs = 52,
    /// Counts the incoming edges of every node by slices of their sources: stores the length of
    /// each row of the [`SliceLayout`](super::super::slices::SliceLayout) that `parameters[0]` and
    /// `parameters[1]` describe in `destination`, and the number of edges after them, and adds
    /// lengths and rows that have edges to the zero parts `sources[0]`.
    CountSlices = 53,
    /// Turns the lengths of parts `destination`, and their rows, into offsets. Parameters are those
    /// of [`CountSlices`](Self::CountSlices).
    ScanSlices = 54,
    /// Turns the lengths of rows `destination` into offsets, using the parts `sources[0]`, and
    /// stores the list `sources[1]` of rows that have edges. Parameters are those of
    /// [`CountSlices`](Self::CountSlices).
    PlaceSlices = 55,
    /// Copies the source of every incoming edge to `destination`, a word an edge, into the rows
    /// that start at `sources[0]`; for a frequent source its place in the map `sources[1]`, if that
    /// is a register. Parameters are those of [`CountSlices`](Self::CountSlices).
    CopySlices = 56,
    /// As [`GatherRanks`](Self::GatherRanks), along the edges `sources[1]` in the rows of the list
    /// `sources[2]`. Those of frequent sources come after those of all nodes.
    GatherSlices = 57,
    /// Makes a parent array of the search in the frontier `sources[0]`: nodes that it has visited
    /// get the smallest of them in `destination`, others themselves. Stores that node in word 0 of
    /// `sources[1]`, [`UNREACHED`](super::super::UNREACHED) if there is none, and in word 1 whether
    /// at most an eighth of all edges leave other nodes, so that no larger component has to be
    /// searched for.
    HookReached = 58,
    /// Lists the nodes with `parameters[0]` outgoing edges or more in `sources[0]`, as many as it
    /// holds, and stores the map of their places in `destination`
    /// ([`map_words`](super::super::slices::map_words)). Adds their number to the zero word
    /// `sources[1]`.
    PickFrequent = 59,
    /// Copies the words of the nodes that `sources[0]` lists in `destination`: after those of all
    /// nodes, as many as it has space for.
    CopyFrequent = 60,
    /// Runs a whole [sequential algorithm](super::super::sequential) from beginning to end, on CPU
    /// threads: from the list of nodes `sources[1]`, with the scratch memory `sources[0]` and
    /// further input in `sources[2]`, to `destination`. The parameters are a
    /// [`SequentialRecord`](super::super::sequential::SequentialRecord). GPU kernels do not support
    /// it.
    Sequential = 61,
}

impl Opcode {
    /// Every opcode, in order of its word.
    pub const ALL: [Self; 62] = [
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
        Self::SeedSweep,
        Self::Sweep,
        Self::SweepBack,
        Self::SettleSweep,
        Self::StepRanks,
        Self::ResetHubs,
        Self::PickHubs,
        Self::RankHubs,
        Self::OrientHubs,
        Self::CountHubs,
        Self::CountSlices,
        Self::ScanSlices,
        Self::PlaceSlices,
        Self::CopySlices,
        Self::GatherSlices,
        Self::HookReached,
        Self::PickFrequent,
        Self::CopyFrequent,
        Self::Sequential,
    ];

    /// Returns the opcode of a word; `None` if the word names none.
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

/// Reduction of words by [`Opcode::Reduce`].
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
    /// Returns the reduction of a word; `None` if the word names none.
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
