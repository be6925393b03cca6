//! Whole sequential algorithms as waves, and the memory that each of them takes.
//!
//! A wave of [`Opcode::Sequential`](super::program::Opcode::Sequential) runs one of them from
//! beginning to end, on CPU threads. Its scratch register is sized here, so that the host plans the
//! threads' memory, and nothing is allocated during a run.

/// An algorithm; the discriminant is its word.
///
/// ```
/// use seawall_core::abi::sequential::Algorithm;
/// assert_eq!(Algorithm::from_word(1), Some(Algorithm::Closeness));
/// assert_eq!(Algorithm::from_word(99), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(u32)]
pub enum Algorithm {
    /// Stores the smallest node of every node's strong component.
    StrongComponents = 0,
    /// Stores the closeness of the listed nodes, the bits of a float each.
    Closeness = 1,
    /// Stores the distance of the farthest node from each of the listed nodes.
    Eccentricity = 2,
    /// Adds up the shares of shortest paths from the listed nodes, in the scratch register.
    Betweenness = 3,
    /// Stores the sums of [`Self::Betweenness`], which its second source holds, as floats.
    Scores = 4,
    /// Stores the width of the widest path from the listed nodes to every node.
    Widest = 5,
    /// Stores the edges of the spanning forest of least weight, a pair of words at the node that
    /// holds each.
    Forest = 6,
    /// Stores the smallest node of every node's community by label propagation.
    Labels = 7,
    /// Stores the core number of every node.
    Cores = 8,
    /// Stores the level of every node in a breadth-first search from the listed nodes.
    Levels = 11,
    /// Stores a 1 for every node that the listed nodes reach.
    Reached = 12,
    /// Stores the distance from the listed nodes and the parent of every node, along weights of
    /// which some are negative, or parents that form a negative cycle.
    SignedPaths = 13,
    /// Stores the length of the shortest path from the listed nodes to every node, along weights
    /// that are not negative. Lengths are words or floats; a longer path is none.
    Paths = 14,
    /// As [`Self::Paths`] along whole weights, with lengths of 64 bits.
    WidePaths = 15,
    /// Stores a 1 for every node of an independent set that no node can join, by the priorities
    /// that the third source holds, a pair of words each.
    IndependentSet = 16,
    /// Stores the least colour for every node that its neighbours of higher priority leave free,
    /// likewise.
    Colours = 17,
    /// Stores the number of triangles at every node, by a row of bits for each.
    Triangles = 18,
    /// The same, each triangle at its corner of least degree, or of least number among those.
    TrianglesOnce = 19,
}

impl Algorithm {
    /// Every algorithm, in order of its word.
    pub const ALL: [Self; 18] = [
        Self::StrongComponents,
        Self::Closeness,
        Self::Eccentricity,
        Self::Betweenness,
        Self::Scores,
        Self::Widest,
        Self::Forest,
        Self::Labels,
        Self::Cores,
        Self::Levels,
        Self::Reached,
        Self::SignedPaths,
        Self::Paths,
        Self::WidePaths,
        Self::IndependentSet,
        Self::Colours,
        Self::Triangles,
        Self::TrianglesOnce,
    ];

    /// Returns the algorithm of a word; `None` if the word names none.
    #[must_use]
    pub const fn from_word(word: u32) -> Option<Self> {
        match word {
            0 => Some(Self::StrongComponents),
            1 => Some(Self::Closeness),
            2 => Some(Self::Eccentricity),
            3 => Some(Self::Betweenness),
            4 => Some(Self::Scores),
            5 => Some(Self::Widest),
            6 => Some(Self::Forest),
            7 => Some(Self::Labels),
            8 => Some(Self::Cores),
            11 => Some(Self::Levels),
            12 => Some(Self::Reached),
            13 => Some(Self::SignedPaths),
            14 => Some(Self::Paths),
            15 => Some(Self::WidePaths),
            16 => Some(Self::IndependentSet),
            17 => Some(Self::Colours),
            18 => Some(Self::Triangles),
            19 => Some(Self::TrianglesOnce),
            _ => None,
        }
    }
}

/// Weights that an algorithm adds up or compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(u32)]
pub enum Lengths {
    /// None: every edge counts 1.
    Edges = 0,
    /// Whole weights; sums are of 64 bits.
    Whole = 1,
    /// Float weights; sums are of 64 bits.
    Float = 2,
}

/// The division of sums of shares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(u32)]
pub enum Shares {
    /// Every path counts once for each source that it begins at.
    Each = 0,
    /// A path between two sources counts half for each of them, as it is the same path in an
    /// undirected graph.
    Halved = 1,
    /// As [`Self::Each`], divided by the number of paths that a node can be on.
    Normalized = 2,
}

/// Parameters of a sequential wave, by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct SequentialRecord {
    /// The algorithm.
    pub algorithm: Algorithm,
    /// The lengths of edges.
    pub lengths: Lengths,
    /// Whether paths lead against the edges, to the listed nodes.
    pub inward: bool,
    /// Whether searches along edges run together, [`TOGETHER`] at a time, and share edges where
    /// they meet.
    pub together: bool,
    /// Whether the forest is the one of largest weight.
    pub maximum: bool,
    /// Blocks that share the listed nodes, 1 at least. The first one works alone if it is 1.
    pub blocks: u32,
    /// The division of sums.
    pub shares: Shares,
}

impl SequentialRecord {
    /// The default parameters of `algorithm`, for one block.
    #[must_use]
    pub const fn new(algorithm: Algorithm) -> Self {
        Self {
            algorithm,
            lengths: Lengths::Edges,
            inward: false,
            together: false,
            maximum: false,
            blocks: 1,
            shares: Shares::Each,
        }
    }

    /// Reads the parameters of such a wave; `None` if a word names nothing.
    #[must_use]
    pub const fn from_parameters(words: [u32; 5]) -> Option<Self> {
        let [algorithm, options, blocks, ..] = words;
        let Some(algorithm) = Algorithm::from_word(algorithm) else {
            return None;
        };
        let lengths = match options & CHOICE {
            0 => Lengths::Edges,
            1 => Lengths::Whole,
            2 => Lengths::Float,
            _ => return None,
        };
        let shares = match options >> SHARES & CHOICE {
            0 => Shares::Each,
            1 => Shares::Halved,
            2 => Shares::Normalized,
            _ => return None,
        };
        if blocks == 0 || options > OPTIONS_MAX {
            return None;
        }
        Some(Self {
            algorithm,
            lengths,
            inward: options & INWARD != 0,
            together: options & GO_TOGETHER != 0,
            maximum: options & MAXIMUM != 0,
            blocks,
            shares,
        })
    }

    /// Writes the parameters of such a wave.
    #[must_use]
    pub const fn to_parameters(self) -> [u32; 5] {
        let inward = if self.inward { INWARD } else { 0 };
        let together = if self.together { GO_TOGETHER } else { 0 };
        let maximum = if self.maximum { MAXIMUM } else { 0 };
        let choices = self.lengths as u32 | (self.shares as u32) << SHARES;
        [
            self.algorithm as u32,
            choices | inward | together | maximum,
            self.blocks,
            0,
            0,
        ]
    }

    /// Words of scratch memory for each node.
    const fn words_per_node(self) -> u32 {
        let weighted = !matches!(self.lengths, Lengths::Edges);
        match self.algorithm {
            Algorithm::StrongComponents => 4,
            Algorithm::Closeness | Algorithm::Eccentricity => {
                if weighted {
                    HEAP_WORDS
                } else if self.together {
                    TOGETHER_WORDS
                } else {
                    2
                }
            }
            // Scores, distances, marks of sources and numbers of paths with their exponents, order.
            Algorithm::Betweenness => {
                if weighted {
                    SCORE_WORDS.saturating_add(7).saturating_add(HEAP_WORDS)
                } else {
                    SCORE_WORDS.saturating_add(6)
                }
            }
            Algorithm::Scores => 0,
            Algorithm::Widest | Algorithm::Paths | Algorithm::WidePaths => QUEUE_WORDS,
            Algorithm::Levels | Algorithm::Reached => 1,
            Algorithm::SignedPaths => 3,
            // The lightest edge, the tree that it leads to, the tree's node and its number.
            Algorithm::Forest => 5,
            Algorithm::Labels => 8,
            // Nodes by their degree, the place of each, and the first place of every degree.
            Algorithm::Cores => 3,
            // Two copies of the priorities, a pair of words and the node each.
            Algorithm::IndependentSet | Algorithm::Colours => 6,
            // Its rows of bits grow with the nodes.
            Algorithm::Triangles | Algorithm::TrianglesOnce => 0,
        }
    }

    /// Words of scratch memory for each directed edge.
    const fn words_per_edge(self) -> u32 {
        match self.algorithm {
            // Each edge once: its two trees, one of its ends and its place.
            Algorithm::Forest => 2,
            _ => 0,
        }
    }

    /// Words of the scratch memory of one block for a graph of `nodes` nodes and `edges` directed
    /// edges.
    #[must_use]
    pub const fn block_words(self, nodes: u32, edges: u32) -> u64 {
        let of_nodes = (self.words_per_node() as u64).saturating_mul(nodes as u64);
        let of_edges = (self.words_per_edge() as u64).saturating_mul(edges as u64);
        let of_bits = match self.algorithm {
            Algorithm::Triangles | Algorithm::TrianglesOnce => {
                (bits_words(nodes) as u64).saturating_mul(nodes as u64)
            }
            _ => 0,
        };
        of_nodes.saturating_add(of_edges).saturating_add(of_bits)
    }

    /// Words of the scratch register for a graph of `nodes` nodes and `edges` directed edges.
    ///
    /// ```
    /// use seawall_core::abi::sequential::{Algorithm, SequentialRecord};
    /// let record = SequentialRecord::new(Algorithm::StrongComponents);
    /// assert_eq!(record.scratch_words(1000, 2000), 4000);
    /// let record = SequentialRecord::new(Algorithm::Forest);
    /// assert_eq!(record.scratch_words(1000, 2000), 9000);
    /// ```
    #[must_use]
    pub const fn scratch_words(self, nodes: u32, edges: u32) -> u64 {
        self.block_words(nodes, edges)
            .saturating_mul(self.blocks as u64)
    }
}

/// Options in the second parameter: the lengths, the place of the shares, and flags.
const CHOICE: u32 = 0b11;
const SHARES: u32 = 2;
const INWARD: u32 = 1 << 4;
const GO_TOGETHER: u32 = 1 << 5;
const MAXIMUM: u32 = 1 << 6;
const OPTIONS_MAX: u32 = (1 << 7) - 1;

/// Words of a row of bits for `nodes` nodes: pairs of words.
#[must_use]
pub const fn bits_words(nodes: u32) -> u32 {
    nodes.div_ceil(u64::BITS).saturating_mul(2)
}

/// Most sources that search together: the bits of a pair of words.
pub const TOGETHER: u32 = 64;

/// Words that such searches take for each node: three sets and three lists.
pub const TOGETHER_WORDS: u32 = 9;

/// Words of an indexed heap for each node: its place, an entry and the entry's key.
pub const HEAP_WORDS: u32 = 4;

/// Words of a queue of keys for each node: two entries of a node and a key, and a node.
pub const QUEUE_WORDS: u32 = 5;

/// Words of a sum of shares: its whole part, then 2^64ths, low words first.
pub const SCORE_WORDS: u32 = 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_come_back_and_others_are_refused() {
        for algorithm in Algorithm::ALL {
            assert_eq!(Algorithm::from_word(algorithm as u32), Some(algorithm));
            let record = SequentialRecord {
                lengths: Lengths::Float,
                inward: true,
                together: true,
                maximum: true,
                blocks: 7,
                shares: Shares::Normalized,
                ..SequentialRecord::new(algorithm)
            };
            let words = record.to_parameters();
            assert_eq!(SequentialRecord::from_parameters(words), Some(record));
            for (at, word) in [(0, 9), (0, 20), (1, 3), (1, 12), (1, 128), (2, 0)] {
                let mut wrong = words;
                wrong[at] = word;
                assert_eq!(SequentialRecord::from_parameters(wrong), None, "{at}");
            }
        }
    }
}
