//! Conversion of a result register to a column.

use crate::column::{Column, SourceSets};

/// Conversion of a result register to a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// One word per node.
    Words,
    /// Two words per node, low word first.
    WideWords,
    /// The bits of one float per node.
    Floats,
    /// One bit per node: 1 if set, else 0.
    Bits,
    /// One set per node, as pairs of words, low word first.
    Sets {
        /// Number of sources of the sets.
        sources: usize,
    },
}

impl Reading {
    /// Returns the column of `nodes` nodes in `words`, shorter if words are missing.
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

/// Joins pairs of words to 64 bits, low word first.
fn wide(words: &[u32]) -> Vec<u64> {
    let pair = |pair: &[u32]| u64::from(pair[0]) | u64::from(pair[1]) << 32;
    words.chunks_exact(2).map(pair).collect()
}
