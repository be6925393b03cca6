//! Ready analyses, each a wave program and a reading of its result.
//!
//! [`build`] gives the program of an analysis for a graph, the words of its
//! input region, and how its result register becomes a column. The sequential
//! implementations that `--check` compares with live in [`oracle`] and share
//! nothing with the programs.

mod bfs;
mod cc;
mod kcore;
pub mod oracle;
mod pagerank;
mod reach;
mod reach_each;
mod sssp;
mod triangles;

use crate::graph::Graph;
use crate::outcome::{Column, SourceSets};
use crate::program::{ProgramBuilder, ProgramError, RegisterId};
use crate::run::{AnalysisKind, Detail, Ranking};
pub(crate) use sssp::bounds_of_a_level;

/// What an analysis is asked, beside the graph.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// Nodes to start from.
    pub sources: Vec<u32>,
    /// Iterations after which a fixpoint stops.
    pub max_iterations: u32,
    /// Parameters of a ranking.
    pub ranking: Ranking,
    /// What is asked beyond the plain column.
    pub detail: Detail,
    /// Whether whole distances take 64 bits.
    pub wide: bool,
}

/// A built program and where its result is.
#[derive(Clone, Debug)]
pub struct Built {
    /// The program.
    pub program: ProgramBuilder,
    /// Words of the input region.
    pub inputs: Vec<u32>,
    /// Register that holds the result.
    pub result: RegisterId,
    /// Register that holds the parent of every node, when asked.
    pub parents: Option<RegisterId>,
    /// How to read it.
    pub reading: Reading,
}

/// How the words of a result register become a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// One word a node.
    Words,
    /// Two words a node, low word first.
    WideWords,
    /// The bits of one float a node.
    Floats,
    /// One bit a node: 1 where set, 0 elsewhere.
    Bits,
    /// A set a node, pairs of words, low word first.
    Sets {
        /// Sources that sets are made of.
        sources: usize,
    },
}

impl Reading {
    /// The column of `nodes` nodes in `words`, shorter where words are missing.
    #[must_use]
    pub fn column(self, nodes: u32, mut words: Vec<u32>) -> Column {
        match self {
            Self::Words => {
                words.truncate(nodes as usize);
                Column::U32(words)
            }
            Self::WideWords => {
                words.truncate(nodes as usize * 2);
                Column::U64(wide(&words))
            }
            Self::Floats => {
                words.truncate(nodes as usize);
                Column::F32(words.into_iter().map(f32::from_bits).collect())
            }
            Self::Sets { sources } => {
                words.truncate(nodes as usize * 2 * SourceSets::words_for(sources));
                Column::Sets(SourceSets::new(sources, wide(&words)))
            }
            Self::Bits => Column::U32(
                (0..nodes)
                    .map_while(|node| Some(words.get(node as usize / 32)? >> (node % 32) & 1))
                    .collect(),
            ),
        }
    }
}

/// Builds the program of `kind` for `graph`.
///
/// # Errors
/// When the graph is too large for a register.
pub fn build(
    kind: AnalysisKind,
    graph: &Graph,
    question: &Question,
) -> Result<Built, ProgramError> {
    match kind {
        AnalysisKind::Bfs => bfs::build(graph, question),
        AnalysisKind::Reach => reach::build(graph, question),
        AnalysisKind::Cc => cc::build(graph),
        AnalysisKind::Sssp => sssp::build(graph, question),
        AnalysisKind::Kcore => kcore::build(graph, question),
        AnalysisKind::Pagerank => pagerank::build(graph, question),
        AnalysisKind::Triangles => triangles::build(graph),
    }
}

/// Pairs of words as words of 64 bits, low word first.
fn wide(words: &[u32]) -> Vec<u64> {
    let pair = |pair: &[u32]| u64::from(pair[0]) | u64::from(pair[1]) << 32;
    words.chunks_exact(2).map(pair).collect()
}

/// Words of an input register padded to the alignment of the input region.
fn padded(mut words: Vec<u32>) -> Vec<u32> {
    words.resize(words.len().next_multiple_of(64), u32::MAX);
    words
}

/// Iterations after which a ranking with `damping` changes by rounding alone,
/// and stops.
#[must_use]
pub fn ranking_iterations_max(damping: f32) -> u32 {
    pagerank::iterations_max(damping)
}
