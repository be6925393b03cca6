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
    /// Distances along weights of which some are negative, two words per node, low word first, and
    /// then the parent of every node.
    SignedPaths {
        /// Whether distances are doubles, which become floats, instead of whole numbers.
        is_float: bool,
    },
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
            Self::SignedPaths { is_float } => {
                words.truncate(nodes as usize * 2);
                let distances = wide(&words).into_iter();
                match is_float {
                    true => {
                        Column::F32(distances.map(|word| f64::from_bits(word) as f32).collect())
                    }
                    false => Column::I64(distances.map(u64::cast_signed).collect()),
                }
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

    /// The parents of `nodes` nodes in `words`, if they hold some.
    pub(crate) fn parents(self, nodes: u32, words: &[u32]) -> Option<Vec<u32>> {
        match self {
            Self::SignedPaths { .. } => words.get(nodes as usize * 2..).map(<[u32]>::to_vec),
            _ => None,
        }
    }
}

/// Joins pairs of words to 64 bits, low word first.
fn wide(words: &[u32]) -> Vec<u64> {
    let pair = |pair: &[u32]| u64::from(pair[0]) | u64::from(pair[1]) << 32;
    words.chunks_exact(2).map(pair).collect()
}
