//! Opcodes: the work of one wave each, in one table.

use super::super::components::KNOWN_WORDS;
use super::super::facts::Invariant::{
    Forest, Fresh, Frontier, Hubs, Lengths, Listed, NoHubs, Paths, Peeling, Rows, Sets, Work,
};
use super::super::facts::Length::{
    Any, AsTo, Bits, Frontier as FrontierWords, Hubs as HubWords, Nodes, NodesOf, Words,
    Work as WorkWords,
};
use super::super::facts::Operand::{First, Second, Third, To};
use super::super::facts::{Array, Facts, Length, Stage};
use super::super::rank::TOTALS_WORDS;
use super::super::settle::COUNTER_WORDS;
use bytemuck::CheckedBitPattern;
use core::fmt;

/// Families of opcodes: sets of them as bits. A kernel that leaves families out needs fewer
/// registers: codegen rule `OWN_FUNCTION`.
pub mod family {
    /// None: control.
    pub const NONE: u32 = 0;
    /// Word by word operations.
    pub const WORDS: u32 = 1;
    /// Frontier searches.
    pub const SEARCH: u32 = 2;
    /// Connected components.
    pub const COMPONENTS: u32 = 4;
    /// Bit-vector dataflow.
    pub const FLOW: u32 = 8;
    /// Reductions.
    pub const REDUCE: u32 = 16;
    /// Shortest paths.
    pub const PATHS: u32 = 32;
    /// Core numbers.
    pub const PEEL: u32 = 64;
    /// Rankings.
    pub const RANK: u32 = 128;
    /// Triangle counts.
    pub const TRIANGLES: u32 = 256;
    /// Sets of sources.
    pub const SETS: u32 = 512;
    /// Shortest paths with distances of 64 bits or floats.
    pub const LONG_PATHS: u32 = 1024;
    /// Code of programs, and loops within each other.
    pub const CODE: u32 = 2048;
    /// Sweeps of searches from many sources.
    pub const SWEEP: u32 = 4096;
    /// Whole sequential algorithms, for the CPU only.
    pub const SEQUENTIAL: u32 = 8192;
}

/// Defines [`Opcode`] from its table: `Name = word => family, least lengths, facts;` after the
/// documentation.
macro_rules! opcodes {
    ($($(#[$doc:meta])* $name:ident = $word:tt => $family:ident, $least:expr, $facts:expr;)*) => {
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
            $($(#[$doc])* $name = $word,)*
        }

        impl Opcode {
            /// Every opcode, in order of its word.
            pub const ALL: [Self; [$(stringify!($name)),*].len()] = [$(Self::$name),*];

            /// The [`family`] that holds it; control opcodes belong to none.
            #[must_use]
            pub const fn family(self) -> u32 {
                match self {
                    $(Self::$name => family::$family,)*
                }
            }

            /// The least lengths of its operands, in the order of
            /// [`Operand`](super::super::facts::Operand): those that are left out may have any.
            /// `None` if they follow from several parameters; the host computes them.
            #[must_use]
            pub const fn least(self) -> Option<&'static [Length]> {
                match self {
                    $(Self::$name => $least,)*
                }
            }

            /// The facts about it.
            ///
            /// ```
            /// use seawall_core::abi::{facts::Operand, program::Opcode};
            /// assert_eq!(Opcode::Copy.facts().reads, [Operand::First]);
            /// ```
            #[must_use]
            pub const fn facts(self) -> Facts {
                match self {
                    $(Self::$name => $facts,)*
                }
            }
        }
    };
}

opcodes! {
    /// Nothing; keeps its place in the order.
    Nop = 0 => NONE, Some(&[]), Facts::NONE.idle();
    /// `destination[i] = parameters[0]` for every word.
    Fill = 1 => WORDS, Some(&[]), Facts::of(&[], &[To]).word_wise();
    /// `destination[i] = i` for every word.
    Iota = 2 => WORDS, Some(&[]), Facts::of(&[], &[To]).word_wise().making(&[(To, Forest)]);
    /// `destination[i] = sources[0][i]` for every word.
    Copy = 3 => WORDS, Some(&[Any, AsTo]), Facts::of(&[First], &[To]).word_wise();
    /// `destination = sources[0] & sources[1]`, word by word.
    And = 4 => WORDS, Some(&[Any, AsTo, AsTo]), Facts::of(&[First, Second], &[To]).word_wise();
    /// `destination = sources[0] | sources[1]`, word by word.
    Or = 5 => WORDS, Some(&[Any, AsTo, AsTo]), Facts::of(&[First, Second], &[To]).word_wise();
    /// `destination = sources[0] & !sources[1]`, word by word.
    AndNot = 6 => WORDS, Some(&[Any, AsTo, AsTo]), Facts::of(&[First, Second], &[To]).word_wise();
    /// `destination = sources[0] ^ sources[1]`, word by word.
    Xor = 7 => WORDS, Some(&[Any, AsTo, AsTo]), Facts::of(&[First, Second], &[To]).word_wise();
    /// Puts the node list `sources[0]` into the freshly reset frontier
    /// `destination`, each node once, and marks it in `sources[1]` as the
    /// visitor `parameters[0]` does.
    Seed = 8 => SEARCH, Some(&[FrontierWords, Any, Nodes(1)]),
        Facts::of(&[To, First, Second], &[To, Second])
        .needing(&[(To, Fresh)])
        .per_word_of(First);
    /// One step of a search: expands the frontier `sources[0]` and marks what
    /// it discovers in `destination` (see [`Visitor`](super::super::search::Visitor)
    /// in `parameters[0]`).
    Expand = 9 => SEARCH, Some(&[Nodes(1), FrontierWords]), Facts::of(&[To, First], &[To, First])
        .needing(&[(First, Frontier)])
        .at(Stage::Search);
    /// Joins the components of both ends of every edge in the parent array
    /// `destination`. Nothing happens if `sources[2]` is there and its word 1 is not 0, see
    /// [`HookReached`](Self::HookReached).
    Link = 10 => COMPONENTS, Some(&[Nodes(1), Words(1), Any, Words(KNOWN_WORDS)]),
        Facts::of(&[To, Third], &[To])
        .needing(&[(To, Forest)]);
    /// Points every node of the parent array `destination` at its root; `sources[2]` is as for
    /// [`Link`](Self::Link).
    Compress = 11 => COMPONENTS, Some(&[Nodes(1), Words(1), Any, Words(KNOWN_WORDS)]),
        Facts::of(&[To, Third], &[To])
        .needing(&[(To, Forest)])
        .wide_per_word_of(To);
    /// Reduces the words of `sources[0]` into the scalar `destination` (see
    /// [`Reduction`] in `parameters[0]`).
    Reduce = 12 => REDUCE, Some(&[Words(1)]), Facts::of(&[To, First], &[To]).per_word_of(First);
    /// `destination[v] = sources[1][v] | (sources[0][v] & !sources[2][v])`
    /// for the facts of every node: generate, keep, kill. Raises the
    /// fixpoint's flag when a word changes.
    GenKill = 13 => FLOW, Some(&[Any, AsTo, AsTo, AsTo]),
        Facts::of(&[To, First, Second, Third], &[To])
        .per_word_of(To);
    /// `destination[v]` = union (`parameters[0]` = 0) or intersection (1) of
    /// `sources[0][u]` over the predecessors `u` of `v`. Entry nodes keep
    /// their words.
    Meet = 14 => FLOW, Some(&[NodesOf(1), AsTo]), Facts::of(&[To, First], &[To])
        .reading(&[Array::Incoming]);
    /// Runs the body groups until nothing changes (see [`FixpointRecord`](super::FixpointRecord)).
    Fixpoint = 15 => NONE, Some(&[]), Facts::NONE;
    /// Stalls the block `parameters[0]` until the time budget ends: proves that the watchdog works.
    Stall = 16 => NONE, Some(&[]), Facts::NONE;
    /// `destination[i] = 0` for every word, then `destination[v] =
    /// parameters[0]` for every node `v` of the list `sources[0]`.
    Scatter = 17 => WORDS, Some(&[]), Facts::of(&[First], &[To]).wide_per_word_of(To);
    /// Joins the ends of `parameters[0]` edges of every node, those after the first
    /// `parameters[1]`: a sample that finds most components (Afforest). `sources[2]` is as for
    /// [`Link`](Self::Link).
    LinkSample = 18 => COMPONENTS, Some(&[Nodes(1), Words(1), Any, Words(KNOWN_WORDS)]),
        Facts::of(&[To, Third], &[To])
        .needing(&[(To, Forest)]);
    /// Writes the most frequent label of a sample of `sources[0]` into the
    /// scalar `destination`. `sources[2]` is as for [`Link`](Self::Link).
    Majority = 19 => COMPONENTS, Some(&[Words(1), Nodes(1), Any, Words(KNOWN_WORDS)]),
        Facts::of(&[To, First, Third], &[To])
        .wide_per_word_of(First);
    /// [`Opcode::Link`] for the edges after the first `parameters[0]` of
    /// every node that is not yet in the component named by the scalar
    /// `sources[0]`; `sources[2]` is as there.
    LinkRest = 20 => COMPONENTS, Some(&[Nodes(1), Words(1), Any, Words(KNOWN_WORDS)]),
        Facts::of(&[To, First, Third], &[To])
        .needing(&[(To, Forest)]);
    /// Clears the header and the bitsets of the frontier `destination`.
    Reset = 21 => SEARCH, Some(&[FrontierWords]), Facts::of(&[], &[To])
        .making(&[(To, Fresh)])
        .wide_per_word_of(To);
    /// Copies the visited bits of the frontier `sources[0]` to
    /// `destination`.
    Visited = 22 => SEARCH, Some(&[Bits, FrontierWords]), Facts::of(&[First], &[To])
        .needing(&[(First, Frontier)])
        .wide_per_word_of(First);
    /// Clears counters and marks of the work register `destination` (see
    /// [`WorkLayout`](super::super::work::WorkLayout)).
    ResetWork = 23 => PATHS, Some(&[WorkWords]), Facts::of(&[], &[To])
        .making(&[(To, Work)])
        .wide_per_word_of(To);
    /// Queues the node list `sources[1]` in the work register `sources[0]` for the loop that
    /// follows, at distance 0 in `destination`; `parameters[0]` is the first delta.
    SeedPaths = 24 => PATHS, Some(&[Nodes(1), WorkWords]), Facts::of(&[To, First, Second], &[To, First])
        .needing(&[(First, Work)])
        .making(&[(First, Paths)])
        .wide_per_word_of(Second)
        .at(Stage::BeforeLoop);
    /// One round of shortest paths: lowers the distances `destination` along the edges of the nodes
    /// queued in `sources[0]`, or queues the nodes of the next bucket, `parameters[0]` wide. Raises
    /// the fixpoint's flag while nodes are queued or wait. If `parameters[2]` is not 0, each edge
    /// has a mirror image of the same weight, a round may lower distances against the edges, and
    /// delta is larger once as many edges were relaxed as there are. If `parameters[3]` is not 0,
    /// one thread of a CPU settles all that is left from that round of the run on, or when edges
    /// were relaxed too often; distances of two words have no such end.
    StepPaths = 25 => PATHS, Some(&[Nodes(1), WorkWords]), Facts::of(&[To, First], &[To, First])
        .needing(&[(First, Paths)])
        .reading(&[Array::Weights])
        .at(Stage::Round);
    /// Stores the degrees of all nodes in `destination` and opens the work
    /// register `sources[0]` for the loop that follows.
    SeedPeel = 26 => PEEL, Some(&[Nodes(1), WorkWords]), Facts::of(&[First], &[To, First])
        .needing(&[(First, Work)])
        .making(&[(First, Peeling)])
        .wide_per_word_of(To)
        .at(Stage::BeforeLoop);
    /// One round of peeling: removes the nodes queued in `sources[0]` from
    /// the degrees `destination`, or queues those of the next level. Raises
    /// the fixpoint's flag while nodes are queued or remain.
    StepPeel = 27 => PEEL, Some(&[Nodes(1), WorkWords]), Facts::of(&[To, First], &[To, First])
        .needing(&[(First, Peeling)])
        .at(Stage::Round);
    /// Stores the start of a ranking: ranks in `destination`, contributions in `sources[0]`, zero
    /// sums in `sources[1]`, and adds the mass of nodes without edges to the zero totals
    /// `sources[2]`. If `parameters[0]` is not 0, for [`StepRanks`](Self::StepRanks), `sources[1]`
    /// has a word per node, whose contents are unspecified until an iteration. Ranks start as the
    /// shares `sources[3]`, if they are there, else all alike.
    SeedRanks = 28 => RANK, None, Facts::of(&[Third], &[To, First, Second, Third])
        .wide_per_word_of(To);
    /// Adds the contributions `sources[0]` of the predecessors of every node
    /// to the sums `destination`, pairs of words in units of 2^-k, where k is
    /// [`unit_exponent`](super::super::rank::unit_exponent) of the graph's edges.
    GatherRanks = 29 => RANK, Some(&[Nodes(2), Nodes(1)]), Facts::of(&[To, First], &[To])
        .reading(&[Array::Incoming]);
    /// Turns the sums `sources[1]` into ranks `destination`, their
    /// contributions `sources[0]` and totals `sources[2]`, and clears the sums;
    /// `parameters[0]` holds the bits of the damping. The walk starts anew with the shares
    /// `sources[3]`, if they are there, else at all nodes alike.
    ApplyRanks = 30 => RANK, Some(&[Nodes(1), Nodes(1), Nodes(2), Words(TOTALS_WORDS), Nodes(1)]),
        Facts::of(&[To, First, Second, Third], &[To, First, Second, Third])
        .wide_per_word_of(To);
    /// Closes an iteration in the totals `destination`; raises the fixpoint's flag when the ranks
    /// changed by more than `parameters[0]` (bits of a float) in total.
    SettleRanks = 31 => RANK, Some(&[Words(TOTALS_WORDS)]), Facts::of(&[To], &[To])
        .wide_per_word_of(To);
    /// Keeps one direction of every edge, towards the higher degree, then the higher number: stores
    /// the kept edges of every row at the row's start in `destination`, one word per edge, the
    /// row's other edges after them, and the number of kept edges in `sources[0]`.
    OrientEdges = 32 => TRIANGLES, Some(&[Any, Nodes(1)]), Facts::of(&[], &[To, First])
        .making(&[(To, Rows), (First, Lengths)]);
    /// Adds to the zero counts `destination` the triangles that every node is a corner of, found
    /// among the remaining rows `sources[0]` of lengths `sources[1]`; `parameters[0]` limits the
    /// entries of a row that are kept in shared memory at a time, where it is not 0. If
    /// `parameters[1]` is not 0, it counts each triangle at one corner only, the one whose
    /// remaining edges lead to the two others. It leaves the first `parameters[2]` nodes and the
    /// last `parameters[3]` to other devices: counts from all nodes add up to those of one device.
    CountTriangles = 33 => TRIANGLES, Some(&[Nodes(1), Any, Nodes(1)]),
        Facts::of(&[To, First, Second], &[To])
        .needing(&[(First, Rows), (Second, Lengths)]);
    /// Stores in `destination` the smallest node one level before every node
    /// that has an edge to it, by the levels `sources[0]`; nodes of level 0
    /// get themselves, nodes without a level [`UNREACHED`](super::super::UNREACHED).
    Parents = 34 => SEARCH, Some(&[Nodes(1), Nodes(1)]), Facts::of(&[First], &[To]);
    /// Puts source `k` of the node list `sources[2]` as bit `k` into the set
    /// of its node, `parameters[0]` words a node, and queues the nodes in the
    /// work register `sources[0]` for the loop that follows. Sets are kept
    /// twice, in `destination` and `sources[1]`, all zero before.
    SeedSets = 35 => SETS, Some(&[NodesOf(0), WorkWords, NodesOf(0)]),
        Facts::of(&[To, First, Second, Third], &[To, First, Second])
        .needing(&[(First, Work)])
        .making(&[(First, Sets)])
        .wide_per_word_of(Third)
        .at(Stage::BeforeLoop);
    /// One level of the searches from all sources: adds the sets of the nodes
    /// queued in `sources[0]` to those of their neighbours, from one of
    /// `destination` and `sources[1]` to the other, in turn. Raises the
    /// fixpoint's flag while nodes are queued.
    StepSets = 36 => SETS, Some(&[NodesOf(0), WorkWords, NodesOf(0)]),
        Facts::of(&[To, First, Second], &[To, First, Second])
        .needing(&[(First, Sets)])
        .at(Stage::Round);
    /// `destination[i] = sources[0][sources[1][i]]` for every word. An index that
    /// `sources[0]` does not hold ends the run
    /// ([`FaultCode::BadIndex`](super::super::control::FaultCode::BadIndex)).
    Gather = 37 => WORDS, Some(&[Any, Any, AsTo]), Facts::of(&[First, Second], &[To])
        .per_word_of(To);
    /// As [`SeedPaths`](Self::SeedPaths), with distances of two words, low word first.
    SeedPathsWide = 38 => LONG_PATHS, Some(&[Nodes(2), WorkWords]),
        Facts::of(&[To, First, Second], &[To, First])
        .needing(&[(First, Work)])
        .making(&[(First, Paths)])
        .wide_per_word_of(Second)
        .at(Stage::BeforeLoop);
    /// As [`StepPaths`](Self::StepPaths), with distances of two words, low word first. Limits and
    /// delta are distances shifted right by `parameters[1]` bits.
    StepPathsWide = 39 => LONG_PATHS, Some(&[Nodes(2), WorkWords]), Facts::of(&[To, First], &[To, First])
        .needing(&[(First, Paths)])
        .reading(&[Array::Weights])
        .at(Stage::Round);
    /// As [`StepPaths`](Self::StepPaths), with the bits of floats for weights, distances and delta.
    /// The distance of an unreachable node is infinite.
    StepPathsFloat = 40 => LONG_PATHS, Some(&[Nodes(1), WorkWords]),
        Facts::of(&[To, First], &[To, First])
        .needing(&[(First, Paths)])
        .reading(&[Array::FloatWeights])
        .at(Stage::Round);
    /// Runs code for each item of a domain, see [`EachRecord`](super::EachRecord): words, nodes,
    /// entries of the list `sources[0]`, whose number is word 0 of `sources[1]`. The registers that
    /// it reads and writes are in its [code](super::super::code).
    Each = 41 => CODE, Some(&[Any, Any, Words(1)]), Facts::NONE;
    /// Repeats body groups while word 0 of a register is not 0. The parameters are a
    /// [`WhileRecord`](super::WhileRecord).
    While = 42 => CODE, Some(&[]), Facts::NONE;
    /// Puts source `k` of the node list `sources[2]` as bit `k` into the set of its node in
    /// `destination`, `parameters[0]` words a node, opens the state `sources[0]` for the
    /// loop that follows, and counts the sources in the totals `sources[1]`; all zero
    /// before.
    SeedSweep = 43 => SWEEP, None, Facts::of(&[To, First, Second, Third], &[To, First, Second])
        .per_word_of(Third)
        .at(Stage::BeforeLoop);
    /// One level of the searches from all sources, over all nodes: joins the sets of every
    /// node's predecessors to its own, from one of `destination` and `sources[2]` to the
    /// other, in turn. Adds to the totals `sources[1]` and raises the fixpoint's flag if a
    /// set grows.
    Sweep = 44 => SWEEP, None, Facts::of(&[To, First, Second, Third], &[To, First, Second, Third])
        .reading(&[Array::Incoming])
        .at(Stage::Round);
    /// As [`Sweep`](Self::Sweep), against the edges: joins the sets of successors.
    SweepBack = 45 => SWEEP, None,
        Facts::of(&[To, First, Second, Third], &[To, First, Second, Third])
        .at(Stage::Round);
    /// Stores in `destination`, for the nodes of the list `sources[1]`, the
    /// [`Measure`](super::super::sweep::Measure) in `parameters[0]` of the totals
    /// `sources[0]`.
    SettleSweep = 46 => SWEEP, None, Facts::of(&[To, First, Second], &[To]).per_word_of(Second);
    /// A whole iteration of a ranking: sums the contributions of every node's predecessors, and
    /// makes ranks `destination`, their contributions and totals `sources[2]` of the sums.
    /// Contributions are kept twice, in `sources[0]` and the first words of `sources[1]`, and take
    /// turns. `parameters[0]` and `parameters[1]` hold the bits of the damping and of the total
    /// change up to which the fixpoint's flag stays down. A lane of a GPU sums a row alone. The
    /// walk starts anew with the shares `sources[3]`, if they are there, else at all nodes alike.
    StepRanks = 47 => RANK, Some(&[Nodes(1), Nodes(1), Nodes(1), Words(TOTALS_WORDS), Nodes(1)]),
        Facts::of(&[To, First, Second, Third], &[To, First, Second, Third])
        .reading(&[Array::Incoming]);
    /// Clears the register of hubs `destination`, with space for `parameters[0]`, see
    /// [`HubLayout`](super::super::hubs::HubLayout).
    ResetHubs = 48 => TRIANGLES, None, Facts::of(&[], &[To])
        .making(&[(To, NoHubs)])
        .wide_per_word_of(To);
    /// Stores the key of every node, its number of edges, in the hubs `destination`, and lists
    /// the nodes of `parameters[0]` edges or more there, as long as there is space.
    PickHubs = 49 => TRIANGLES, Some(&[HubWords]), Facts::of(&[To], &[To])
        .needing(&[(To, NoHubs)])
        .making(&[(To, Listed)]);
    /// Ranks the listed hubs of `destination`: by their edges, then by their numbers, both from
    /// the highest on. Their keys follow the ranks.
    RankHubs = 50 => TRIANGLES, Some(&[HubWords]), Facts::of(&[To], &[To])
        .needing(&[(To, Listed)])
        .making(&[(To, Hubs)]);
    /// As [`OrientEdges`](Self::OrientEdges), by the keys in the hubs `sources[1]`, which order
    /// hubs and other nodes as their edges do. Hubs have no edges in `sources[0]`; theirs are
    /// counted beside their ranks, and stored as bits, in both directions if `parameters[0]` is
    /// not 0.
    OrientHubs = 51 => TRIANGLES, Some(&[Any, Nodes(1), HubWords]),
        Facts::of(&[Second], &[To, First, Second])
        .needing(&[(Second, Hubs)])
        .making(&[(To, Rows), (First, Lengths)]);
    /// Adds to the counts `destination` the triangles with two hubs among the higher corners,
    /// by the remaining rows `sources[0]` of lengths `sources[1]` and the hubs `sources[2]`. It
    /// counts at every corner if `parameters[0]` is not 0, by bits in both directions, else at
    /// the lowest one, and leaves nodes out as [`CountTriangles`](Self::CountTriangles) does.
    CountHubs = 52 => TRIANGLES, Some(&[Nodes(1), Any, Nodes(1), HubWords]),
        Facts::of(&[To, First, Second, Third], &[To])
        .needing(&[ (First, Rows), (Second, Lengths), (Third, Hubs), ]);
    /// Counts the incoming edges of every node by slices of their sources: stores the length of
    /// each row of the [`SliceLayout`](super::super::slices::SliceLayout) that `parameters[0]` and
    /// `parameters[1]` describe in `destination`, and the number of edges after them, and adds
    /// lengths and rows that have edges to the zero parts `sources[0]`.
    CountSlices = 53 => RANK, None, Facts::of(&[First], &[To, First]).reading(&[Array::Incoming]);
    /// Turns the lengths of parts `destination`, and their rows, into offsets. Parameters are those
    /// of [`CountSlices`](Self::CountSlices).
    ScanSlices = 54 => RANK, None, Facts::of(&[To], &[To]);
    /// Turns the lengths of rows `destination` into offsets, using the parts `sources[0]`, and
    /// stores the list `sources[1]` of rows that have edges. Parameters are those of
    /// [`CountSlices`](Self::CountSlices).
    PlaceSlices = 55 => RANK, None, Facts::of(&[To, First], &[To, Second]);
    /// Copies the source of every incoming edge to `destination`, a word an edge, into the rows
    /// that start at `sources[0]`; for a frequent source its place in the map `sources[1]`, if that
    /// is a register. Parameters are those of [`CountSlices`](Self::CountSlices).
    CopySlices = 56 => RANK, None, Facts::of(&[First, Second], &[To]).reading(&[Array::Incoming]);
    /// As [`GatherRanks`](Self::GatherRanks), along the edges `sources[1]` in the rows of the list
    /// `sources[2]`. Those of frequent sources come after those of all nodes.
    GatherSlices = 57 => RANK, None, Facts::of(&[To, First, Second, Third], &[To]);
    /// Makes a parent array of the search in the frontier `sources[0]`: nodes that it has visited
    /// get the smallest of them in `destination`, others themselves. Stores that node in word 0 of
    /// `sources[1]`, [`UNREACHED`](super::super::UNREACHED) if there is none, and in word 1 whether
    /// at most an eighth of all edges leave other nodes, so that no larger component has to be
    /// searched for.
    HookReached = 58 => COMPONENTS, Some(&[Nodes(1), FrontierWords, Words(KNOWN_WORDS)]),
        Facts::of(&[First], &[To, Second])
        .needing(&[(First, Frontier)])
        .making(&[(To, Forest)])
        .wide_per_word_of(To);
    /// Lists the nodes with `parameters[0]` outgoing edges or more in `sources[0]`, as many as it
    /// holds, and stores the map of their places in `destination`
    /// ([`map_words`](super::super::slices::map_words)). Adds their number to the zero word
    /// `sources[1]`.
    PickFrequent = 59 => RANK, None, Facts::of(&[Second], &[To, First, Second]);
    /// Copies the words of the nodes that `sources[0]` lists in `destination`: after those of all
    /// nodes, as many as it has space for.
    CopyFrequent = 60 => RANK, None, Facts::of(&[To, First], &[To]).per_word_of(First);
    /// Runs a whole [sequential algorithm](super::super::sequential) from beginning to end, on CPU
    /// threads: from the list of nodes `sources[1]`, with the scratch memory `sources[0]` and
    /// further input in `sources[2]`, to `destination`. The parameters are a
    /// [`SequentialRecord`](super::super::sequential::SequentialRecord). GPU kernels do not support
    /// it.
    Sequential = 61 => SEQUENTIAL, None, Facts::of(&[To, Second, Third], &[To, First]);
    /// Solves gen/kill problems of 64 facts: adds to the two words of every node in `destination`
    /// what it makes, the first two of its four words in `sources[0]`, and what it keeps, the last
    /// two, of the words of the nodes in its row, until nothing is new. `sources[1]` lists ranges of
    /// nodes, as the first one and the one after the last, that have no node in common; edges from
    /// one to another count for nothing. The first `parameters[0]` ranges are solved by one block
    /// each, the others by one warp each, all of them by one thread each on a CPU. `sources[2]` has
    /// [counters](super::super::settle), 0 before.
    Settle = 62 => FLOW, Some(&[Nodes(2), Nodes(4), Any, Words(COUNTER_WORDS)]),
        Facts::of(&[To, First, Second, Third], &[To, Third]);
}

impl Opcode {
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
