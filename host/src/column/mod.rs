//! The result of an analysis as a column: one value for each node.
//!
//! A column holds only its values; it does not know the graph, the program or the machine that
//! they come from.

mod sets;

pub use sets::SourceSets;

use serde::Serialize;

/// The result of an analysis: one value per node, by node number.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Column {
    /// Levels, labels, distances, counts or flags; [`Column::UNREACHED`] marks a
    /// node that no source reaches.
    U32(Vec<u32>),
    /// Distances of which one exceeds 32 bits; `u64::MAX` marks a node that no source reaches.
    U64(Vec<u64>),
    /// Distances along weights of which some are negative; `i64::MAX` marks a node that no source
    /// reaches.
    I64(Vec<i64>),
    /// Ranks, or distances along float weights, where infinity marks a node that no source
    /// reaches.
    F32(Vec<f32>),
    /// The set of sources that reach each node.
    Sets(SourceSets),
}

impl Column {
    /// Value of a node that no source reaches.
    pub const UNREACHED: u32 = seawall_core::abi::UNREACHED;

    /// Number of nodes.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::U32(values) => values.len(),
            Self::U64(values) => values.len(),
            Self::I64(values) => values.len(),
            Self::F32(values) => values.len(),
            Self::Sets(sets) => sets.len(),
        }
    }

    /// The values, if they are floats.
    #[must_use]
    pub fn floats(&self) -> Option<&[f32]> {
        match self {
            Self::F32(values) => Some(values),
            _ => None,
        }
    }

    /// Returns whether there are no nodes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// FNV-1a, 64 bits, over the values as little-endian bytes.
    ///
    /// Equal columns have equal checksums on every machine, so two runs can be
    /// compared without their outputs. Linear in the nodes.
    ///
    /// ```
    /// use seawall::column::Column;
    /// assert_eq!(Column::U32(vec![]).checksum(), 0xcbf2_9ce4_8422_2325);
    /// assert_ne!(Column::U32(vec![1, 2]).checksum(), Column::U32(vec![2, 1]).checksum());
    /// ```
    #[must_use]
    pub fn checksum(&self) -> u64 {
        match self {
            Self::U32(values) => fnv1a(values.iter().map(|value| value.to_le_bytes())),
            Self::U64(values) => fnv1a(values.iter().map(|value| value.to_le_bytes())),
            Self::I64(values) => fnv1a(values.iter().map(|value| value.to_le_bytes())),
            Self::F32(values) => fnv1a(values.iter().map(|value| value.to_le_bytes())),
            Self::Sets(sets) => fnv1a(sets.words().iter().map(|word| word.to_le_bytes())),
        }
    }
}

/// FNV-1a, 64 bits, over words of `N` bytes.
pub(crate) fn fnv1a<const N: usize>(words: impl Iterator<Item = [u8; N]>) -> u64 {
    const OFFSET_BASIS: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0000_0100_0000_01b3;
    words.flatten().fold(OFFSET_BASIS, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(PRIME)
    })
}

/// Number of rounds of the analysis, by kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Rounds {
    /// Frontiers of a search, including that of the sources.
    Levels(u32),
    /// Iterations of a fixpoint, including the last one.
    Iterations(u32),
}

impl Rounds {
    pub(crate) const fn count(self) -> u32 {
        let (Self::Levels(count) | Self::Iterations(count)) = self;
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_fnv1a_over_little_endian_bytes() {
        // "abcd" as one little-endian word, against the published test vector.
        let word = u32::from_le_bytes(*b"abcd");
        assert_eq!(Column::U32(vec![word]).checksum(), 0xfc17_9f83_ee07_24dd);
    }

    #[test]
    fn floats_count_by_their_bits() {
        assert_eq!(
            Column::F32(vec![1.0]).checksum(),
            Column::U32(vec![1.0f32.to_bits()]).checksum()
        );
        assert_ne!(
            Column::F32(vec![0.0]).checksum(),
            Column::F32(vec![-0.0]).checksum()
        );
    }
}
