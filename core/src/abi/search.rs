//! The state of a search: the frontier register and the choice of its next step.
//!
//! A frontier register holds a header, two queues with their edge prefixes and row offsets, and
//! three bitsets. Its header has a ring of four records, one an iteration: while iteration `i`
//! runs, it fills record `i + 1`, and record `i + 2` is cleared, so that counting needs no separate
//! barrier.

use super::assert_words;
use crate::ratio::{Ppm, scaled_floor};
use crate::topology::{Thresholds, TopologyPolicy};
use bytemuck::{Pod, Zeroable};

/// The action of an expansion on the node at the far end of an edge. Word 3 was a
/// visitor that stored nothing; it stays unused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(u32)]
pub enum Visitor {
    /// Stores the iteration's number: breadth-first levels.
    MarkLevel = 0,
    /// Sets the node's bit: reachability.
    OrBits = 1,
    /// Stores the discovering node: a breadth-first tree.
    MarkParent = 2,
    /// As [`OrBits`](Self::OrBits), in fewer iterations: an iteration may continue from nodes that
    /// it found itself, so the iteration that finds a node depends on the machine.
    OrBitsAhead = 4,
}

impl Visitor {
    /// Returns the visitor of a word; `None` if the word names none.
    #[must_use]
    pub const fn from_word(word: u32) -> Option<Self> {
        match word {
            0 => Some(Self::MarkLevel),
            1 => Some(Self::OrBits),
            2 => Some(Self::MarkParent),
            4 => Some(Self::OrBitsAhead),
            _ => None,
        }
    }
}

/// One step of a search, as executed by the device.
///
/// ```
/// use seawall_core::abi::search::Step;
/// assert_eq!(Step::from_word(0), Some(Step::WarpSparse));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(u32)]
pub enum Step {
    /// Push from a queue, 32 nodes a warp.
    WarpSparse = 0,
    /// Push from a queue, edges shared out evenly over the grid.
    Sparse = 1,
    /// Push from a queue into a bitset, compacted by the next step.
    Hybrid = 2,
    /// Pull over incoming edges, one warp per word of the bitset.
    Dense = 3,
    /// Pull over incoming edges, a block a tile whose unvisited nodes are
    /// first gathered in shared memory.
    BlockDense = 4,
    /// Several iterations in one block, without a grid barrier between them.
    Fused = 5,
    /// Rebuilds the queue from the bitsets.
    Compact = 6,
}

impl Step {
    /// Number of steps.
    pub const COUNT: u32 = 7;

    /// Returns the step of a word; `None` if the word names none.
    #[must_use]
    pub const fn from_word(word: u32) -> Option<Self> {
        match word {
            0 => Some(Self::WarpSparse),
            1 => Some(Self::Sparse),
            2 => Some(Self::Hybrid),
            3 => Some(Self::Dense),
            4 => Some(Self::BlockDense),
            5 => Some(Self::Fused),
            6 => Some(Self::Compact),
            _ => None,
        }
    }
}

/// Holder of the frontier between two steps.
///
/// ```
/// use seawall_core::abi::search::Holder;
/// assert_eq!(Holder::from_word(2), Some(Holder::Next));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(u32)]
pub enum Holder {
    /// A queue.
    Queue = 0,
    /// The visited bitsets, by their difference: after a pull.
    Visited = 1,
    /// The third bitset: after a hybrid push.
    Next = 2,
}

impl Holder {
    /// Returns the holder of a word; `None` if the word names none.
    #[must_use]
    pub const fn from_word(word: u32) -> Option<Self> {
        match word {
            0 => Some(Self::Queue),
            1 => Some(Self::Visited),
            2 => Some(Self::Next),
            _ => None,
        }
    }
}

/// The findings of one iteration; filled by all blocks with atomic additions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct FoundRecord {
    /// Edges of the queued nodes: low half of the packed allocation counter.
    pub queued_edges: u32,
    /// Nodes in the queue: high half of the packed allocation counter.
    pub queued_nodes: u32,
    /// Nodes that a bitset step found.
    pub marked_nodes: u32,
    /// Edges of the nodes that a bitset step found.
    pub marked_edges: u32,
    /// Zero; pads the record to a cache line.
    pub reserved: [u32; 28],
}
assert_words!(FoundRecord, 32);

/// The state of a search between two steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct DriveRecord {
    /// Iterations done.
    pub iteration: u32,
    /// Steps done; compactions count here and not as iterations.
    pub step: u32,
    /// Word of the [`Step`] to run next.
    pub next: u32,
    /// Word of the topology chosen last, or `u32::MAX`.
    pub topology: u32,
    /// Nodes of the current frontier.
    pub nodes: u32,
    /// Edges of the current frontier.
    pub edges: u32,
    /// Edges that leave unvisited nodes, excluding this frontier's.
    pub unexplored_edges: u32,
    /// Word of the [`Holder`] of the frontier.
    pub holder: u32,
    /// Number of the current visited bitset, 0 or 1.
    pub visited: u32,
    /// Number of the current queue, 0 or 1.
    pub queue: u32,
    /// 1 when the search ended because nothing was left.
    pub converged: u32,
    /// Largest frontier so far, nodes.
    pub frontier_max: u32,
    /// Word of the [`StepReason`](super::trace::StepReason) of the topology.
    pub reason: u32,
    /// 1 if pulls continue from nodes that they found themselves.
    pub ahead: u32,
    /// Zero.
    pub reserved: [u32; 2],
}
assert_words!(DriveRecord, 16);

/// Thresholds that decide the next step, chosen by the host once a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct SearchPolicy {
    /// Topology word to use always, or `u32::MAX` to decide.
    pub forced: u32,
    /// Largest frontier that one block starts to run alone, nodes.
    pub narrow_nodes: u32,
    /// Frontier above which a block running alone hands back, nodes.
    pub narrow_exit_nodes: u32,
    /// 1 when incoming edges are present.
    pub can_pull: u32,
    /// Fewest edges of a frontier for which pulling is worth its sweep.
    pub pull_edges_min: u32,
    /// Most edges that one block expands alone in an iteration.
    pub narrow_edges: u32,
    /// Bytes of the run over those that it may use, in basis points; 0 without a limit.
    pub memory_pressure_bps: u32,
    /// Bytes that the host reads back after each step.
    pub readback_bytes: u32,
    /// Thresholds between topologies. The density that they see is the share
    /// of frontier edges in all edges not yet explored, and the degree is
    /// that of the frontier.
    pub topology: TopologyPolicy,
    /// Cost of a step without its edges: launches, or barriers. Nanoseconds.
    pub step_ns: u32,
    /// Cost of an edge of a wide step, picoseconds; 0 if unknown.
    pub edge_ps: u32,
}
assert_words!(SearchPolicy, 26);

impl SearchPolicy {
    /// Boundaries for searches. A pull pays once the frontier holds about a
    /// fourteenth of the edges that are left (Beamer, Asanović, Patterson:
    /// "Direction-Optimizing Breadth-First Search", SC 2012).
    pub const THRESHOLDS: Thresholds = Thresholds {
        warp_density_max_ppm: 31_250,
        sparse_density_max_ppm: 40_000,
        dense_density_min_ppm: 70_000,
        block_density_min_ppm: 850_000,
        density_margin_ppm: 10_000,
        dense_degree_min_bps: 0,
        ..Thresholds::DEFAULT
    };

    /// Edges of a frontier for each node that is not yet visited from which on a pull pays.
    const EDGES_FOR_A_NODE: u64 = 2;

    /// The same policy for a graph of `nodes` nodes and `edges` directed edges, with the density
    /// from which a pull pays raised to `2 n / (m + 2 n)`.
    ///
    /// A push looks at the frontier's edges, and a pull at the nodes that are left and at least one
    /// edge of each, so where nodes have few edges it pays later: once the frontier has two edges for
    /// each node left, of which there are `n / m` for each edge left. From 27 edges a node on
    /// [`Self::THRESHOLDS`] are above that. A density of 0 stays, which asks for pulls alone.
    ///
    /// ```
    /// use seawall_core::abi::search::SearchPolicy;
    ///
    /// let density = |edges| {
    ///     let policy = SearchPolicy::default().on_graph(1_000, edges);
    ///     policy.topology.thresholds().dense_density_min_ppm
    /// };
    /// assert_eq!(density(32_000), 70_000);
    /// assert_eq!(density(8_000), 200_000);
    /// assert_eq!(density(2_000), 500_000);
    /// ```
    #[must_use]
    pub const fn on_graph(self, nodes: u32, edges: u32) -> Self {
        let given = self.topology.thresholds();
        let each = Self::EDGES_FOR_A_NODE.saturating_mul(nodes as u64);
        let Some(pays) = Ppm::share(each, each.saturating_add(edges as u64)) else {
            return self;
        };
        let most = given.block_density_min_ppm;
        let pays = if pays.0 < most { pays.0 } else { most };
        if pays <= given.dense_density_min_ppm {
            return self;
        }
        // The band below, in which a push may turn into a pull, keeps its place.
        let (sparse, dense) = (given.sparse_density_max_ppm, given.dense_density_min_ppm);
        let Some(sparse) = scaled_floor(sparse as u64, pays, dense as u64) else {
            return self;
        };
        let thresholds = Thresholds {
            dense_density_min_ppm: pays,
            sparse_density_max_ppm: sparse as u32,
            ..*given
        };
        match TopologyPolicy::new(thresholds) {
            Ok(topology) => Self { topology, ..self },
            Err(_) => self,
        }
    }
}

impl Default for SearchPolicy {
    fn default() -> Self {
        Self {
            forced: u32::MAX,
            narrow_nodes: 896,
            narrow_exit_nodes: 1024,
            can_pull: 0,
            pull_edges_min: 65_536,
            narrow_edges: 8_192,
            memory_pressure_bps: 0,
            readback_bytes: 0,
            topology: TopologyPolicy::new(Self::THRESHOLDS).unwrap_or(TopologyPolicy::DEFAULT),
            step_ns: 0,
            edge_ps: 0,
        }
    }
}

/// Words of a frontier register's header.
pub const HEADER_WORDS: u32 = 256;

/// Records in the ring of the header.
pub const RING: u32 = 4;

/// Places of the parts of a frontier register, in words from its start.
///
/// ```
/// use seawall_core::abi::search::FrontierLayout;
/// let layout = FrontierLayout::new(1_000);
/// assert_eq!(layout.bitset_words, 32); // 1 000 bits, rounded up to whole lines
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct FrontierLayout {
    /// Nodes of the graph.
    pub nodes: u32,
    /// Words of one bitset over the nodes, a multiple of 32.
    pub bitset_words: u32,
}

#[allow(
    clippy::arithmetic_side_effects,
    reason = "sums and products of a few 32-bit numbers in 64 bits"
)]
impl FrontierLayout {
    /// The layout for a graph of `nodes` nodes.
    #[must_use]
    pub const fn new(nodes: u32) -> Self {
        Self {
            nodes,
            bitset_words: bitset_words(nodes),
        }
    }

    /// First word of ring record `slot`.
    #[must_use]
    pub const fn found(slot: u32) -> u32 {
        (slot & (RING - 1)).wrapping_mul(32)
    }

    /// First word of drive record `slot`, 0 or 1. Executors start and end
    /// with slot 0; a block that searches alone publishes to the slot that was
    /// not read last, so that no reader meets a writer.
    #[must_use]
    pub const fn drive(slot: u32) -> u32 {
        RING * 32 + (slot & 1) * 16
    }

    /// First word of queue `parity`.
    #[must_use]
    pub const fn queue(self, parity: u32) -> u64 {
        HEADER_WORDS as u64 + (parity & 1) as u64 * self.nodes as u64
    }

    /// First word of the edge prefix of queue `parity`.
    #[must_use]
    pub const fn prefix(self, parity: u32) -> u64 {
        HEADER_WORDS as u64 + (2 + (parity & 1)) as u64 * self.nodes as u64
    }

    /// First word of the row offsets of queue `parity`.
    #[must_use]
    pub const fn starts(self, parity: u32) -> u64 {
        HEADER_WORDS as u64 + (4 + (parity & 1)) as u64 * self.nodes as u64
    }

    /// First word of bitset `which`: visited 0, visited 1, next (2).
    #[must_use]
    pub const fn bitset(self, which: u32) -> u64 {
        // Rounded up so that bitsets start on a cache line.
        let queues = 6 * self.nodes as u64;
        let aligned = queues.div_ceil(32) * 32;
        HEADER_WORDS as u64 + aligned + which as u64 * self.bitset_words as u64
    }

    /// Length of the register in words.
    #[must_use]
    pub const fn words(self) -> u64 {
        self.bitset(3)
    }
}

/// Words of a bitset over `nodes` nodes: one bit each, rounded up to a cache
/// line of 32 words, at least one line.
#[must_use]
pub const fn bitset_words(nodes: u32) -> u32 {
    let lines = nodes.div_ceil(1024);
    if lines == 0 {
        32
    } else {
        lines.wrapping_mul(32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policy_on_any_graph_is_valid_and_pulls_no_earlier() {
        let counts = [0, 1, 2, 1_000, 27_000, u32::MAX];
        let given = [(0, 0), (1, 1), (40_000, 70_000), (900_000, 900_000)];
        for (sparse_density_max_ppm, dense_density_min_ppm) in given {
            let thresholds = Thresholds {
                warp_density_max_ppm: 0,
                sparse_density_max_ppm,
                dense_density_min_ppm,
                block_density_min_ppm: 950_000,
                ..SearchPolicy::THRESHOLDS
            };
            let topology = TopologyPolicy::new(thresholds).unwrap();
            let policy = SearchPolicy {
                topology,
                ..SearchPolicy::default()
            };
            for (nodes, edges) in counts.iter().flat_map(|n| counts.map(|m| (*n, m))) {
                let found = *policy.on_graph(nodes, edges).topology.thresholds();
                assert!(TopologyPolicy::new(found).is_ok());
                let exact = 2e6 * f64::from(nodes) / (2.0 * f64::from(nodes) + f64::from(edges));
                let least = if dense_density_min_ppm == 0 || exact.is_nan() {
                    0
                } else {
                    (exact as u32).min(950_000)
                };
                let expected = dense_density_min_ppm.max(least);
                assert_eq!(found.dense_density_min_ppm, expected, "{nodes} {edges}");
            }
        }
    }

    #[test]
    fn regions_of_a_frontier_do_not_overlap() {
        for nodes in [0, 1, 31, 32, 33, 1000, 1 << 20, u32::MAX] {
            let layout = FrontierLayout::new(nodes);
            assert!(u64::from(FrontierLayout::drive(1)) + 16 <= layout.queue(0));
            assert_eq!(layout.queue(1), layout.queue(0) + u64::from(nodes));
            assert_eq!(layout.prefix(0), layout.queue(1) + u64::from(nodes));
            assert_eq!(layout.starts(0), layout.prefix(1) + u64::from(nodes));
            assert!(layout.bitset(0) >= layout.starts(1) + u64::from(nodes));
            assert_eq!(layout.bitset(0) % 32, 0);
            assert!(u64::from(layout.bitset_words) * 32 >= u64::from(nodes));
            assert_eq!(
                layout.words(),
                layout.bitset(2) + u64::from(layout.bitset_words)
            );
        }
    }

    #[test]
    fn steps_survive_their_words() {
        for word in 0..Step::COUNT {
            assert_eq!(Step::from_word(word).map(|step| step as u32), Some(word));
        }
        assert_eq!(Step::from_word(Step::COUNT), None);
    }

    #[test]
    fn holders_survive_their_words() {
        for word in 0..3 {
            let holder = Holder::from_word(word).map(|holder| holder as u32);
            assert_eq!(holder, Some(word));
        }
        assert_eq!(Holder::from_word(3), None);
    }
}
