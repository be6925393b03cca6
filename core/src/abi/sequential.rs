//! Whole sequential algorithms as waves, and the memory that each of them takes.
//!
//! A wave of [`Opcode::Sequential`](super::program::Opcode::Sequential) runs one of them from
//! beginning to end, on threads of a CPU. Its scratch register is sized here, so that the host
//! plans what the threads use, and nothing is allocated during a run.

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
    /// Stores the weights of edges in the order of the rows of incoming edges.
    IncomingWeights = 6,
    /// Stores the smallest node of every node's community by label propagation.
    Labels = 7,
    /// Stores the level of every node in a breadth-first search from the listed nodes.
    Levels = 8,
    /// Stores a 1 for every node that the listed nodes reach.
    Reached = 9,
    /// Stores the distance from the listed nodes and the parent of every node, along weights of which
    /// some are negative, or parents that form a circle whose weights add up to less than 0.
    SignedPaths = 10,
}

impl Algorithm {
    /// Every algorithm, in order of its word.
    pub const ALL: [Self; 11] = [
        Self::StrongComponents,
        Self::Closeness,
        Self::Eccentricity,
        Self::Betweenness,
        Self::Scores,
        Self::Widest,
        Self::IncomingWeights,
        Self::Labels,
        Self::Levels,
        Self::Reached,
        Self::SignedPaths,
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
            6 => Some(Self::IncomingWeights),
            7 => Some(Self::Labels),
            8 => Some(Self::Levels),
            9 => Some(Self::Reached),
            10 => Some(Self::SignedPaths),
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
    /// As [`Self::Each`], divided by the paths that a node can be on.
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
    /// Whether searches along edges go together, [`TOGETHER`] at a time: where they meet, they share
    /// edges.
    pub together: bool,
    /// Blocks that share the listed nodes, 1 at least. The first one works alone if it is 1.
    pub blocks: u32,
    /// The division of sums.
    pub shares: Shares,
}

impl SequentialRecord {
    /// A plain one of `algorithm`, for one block.
    #[must_use]
    pub const fn new(algorithm: Algorithm) -> Self {
        Self {
            algorithm,
            lengths: Lengths::Edges,
            inward: false,
            together: false,
            blocks: 1,
            shares: Shares::Each,
        }
    }

    /// Reads the parameters of such a wave; `None` if a word names nothing.
    #[must_use]
    pub const fn from_parameters(words: [u32; 5]) -> Option<Self> {
        let [algorithm, lengths, flags, blocks, shares] = words;
        let Some(algorithm) = Algorithm::from_word(algorithm) else {
            return None;
        };
        let lengths = match lengths {
            0 => Lengths::Edges,
            1 => Lengths::Whole,
            2 => Lengths::Float,
            _ => return None,
        };
        let shares = match shares {
            0 => Shares::Each,
            1 => Shares::Halved,
            2 => Shares::Normalized,
            _ => return None,
        };
        if blocks == 0 || flags > (INWARD | GO_TOGETHER) {
            return None;
        }
        Some(Self {
            algorithm,
            lengths,
            inward: flags & INWARD != 0,
            together: flags & GO_TOGETHER != 0,
            blocks,
            shares,
        })
    }

    /// Writes the parameters of such a wave.
    #[must_use]
    pub const fn to_parameters(self) -> [u32; 5] {
        [
            self.algorithm as u32,
            self.lengths as u32,
            if self.inward { INWARD } else { 0 } | if self.together { GO_TOGETHER } else { 0 },
            self.blocks,
            self.shares as u32,
        ]
    }

    /// Words of scratch memory for each node and each block.
    #[must_use]
    pub const fn words_per_node(self) -> u32 {
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
            // Scores, levels, order, numbers of paths and their exponents, marks of sources.
            Algorithm::Betweenness => {
                if weighted {
                    SCORE_WORDS.saturating_add(7).saturating_add(HEAP_WORDS)
                } else {
                    SCORE_WORDS.saturating_add(6)
                }
            }
            Algorithm::Scores => 0,
            Algorithm::Widest => HEAP_WORDS,
            Algorithm::IncomingWeights | Algorithm::Levels | Algorithm::Reached => 1,
            Algorithm::Labels => 8,
            Algorithm::SignedPaths => 3,
        }
    }

    /// Words of the scratch register for a graph of `nodes` nodes.
    ///
    /// ```
    /// use seawall_core::abi::sequential::{Algorithm, SequentialRecord};
    /// let record = SequentialRecord::new(Algorithm::StrongComponents);
    /// assert_eq!(record.scratch_words(1000), 4000);
    /// ```
    #[must_use]
    pub const fn scratch_words(self, nodes: u32) -> u64 {
        let words = self.words_per_node() as u64;
        words
            .saturating_mul(nodes as u64)
            .saturating_mul(self.blocks as u64)
    }
}

/// Flags in the third parameter.
const INWARD: u32 = 1;
const GO_TOGETHER: u32 = 2;

/// Most sources that search together: the bits of a pair of words.
pub const TOGETHER: u32 = 64;

/// Words that such searches take for each node: three sets and three lists.
pub const TOGETHER_WORDS: u32 = 9;

/// Words of an indexed heap for each node: its place, an entry and the entry's key.
pub const HEAP_WORDS: u32 = 4;

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
                blocks: 7,
                shares: Shares::Normalized,
                ..SequentialRecord::new(algorithm)
            };
            let words = record.to_parameters();
            assert_eq!(SequentialRecord::from_parameters(words), Some(record));
            for (at, word) in [(0, 11), (1, 3), (2, 4), (3, 0), (4, 3)] {
                let mut wrong = words;
                wrong[at] = word;
                assert_eq!(SequentialRecord::from_parameters(wrong), None, "{at}");
            }
        }
    }
}
