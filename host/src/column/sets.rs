//! Sets of the sources that reach each node.

/// A set of sources for every node: bit `k` of a set represents source number `k`, 64 per word,
/// lowest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceSets {
    sources: usize,
    words: Vec<u64>,
}

impl SourceSets {
    /// Takes the sets in `words`, [`SourceSets::words_for`] each; words beyond the last whole set
    /// are dropped.
    #[must_use]
    pub fn new(sources: usize, mut words: Vec<u64>) -> Self {
        words.truncate(words.len() - words.len() % Self::words_for(sources));
        Self { sources, words }
    }

    /// Words of a set of `sources` sources, at least one.
    #[must_use]
    pub const fn words_for(sources: usize) -> usize {
        let words = sources.div_ceil(64);
        if words == 0 { 1 } else { words }
    }

    /// Number of sources.
    #[must_use]
    pub const fn sources(&self) -> usize {
        self.sources
    }

    /// Number of nodes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.words.len() / Self::words_for(self.sources)
    }

    /// Returns whether there are no nodes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// All words, node after node.
    #[must_use]
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// Returns the set of every node, in order.
    pub fn iter(&self) -> impl Iterator<Item = &[u64]> {
        self.words.chunks_exact(Self::words_for(self.sources))
    }

    /// Returns the set of `node`; empty if there is no such node.
    #[must_use]
    pub fn of(&self, node: u32) -> &[u64] {
        let words = Self::words_for(self.sources);
        let first = (node as usize).saturating_mul(words);
        self.words
            .get(first..first.saturating_add(words))
            .unwrap_or(&[])
    }

    /// Counts the sources that reach each node.
    #[must_use]
    pub fn counts(&self) -> Vec<u32> {
        let count = |set: &[u64]| set.iter().map(|word| word.count_ones()).sum();
        self.iter().map(count).collect()
    }

    /// Counts the nodes that each source reaches, itself included.
    #[must_use]
    pub fn reached(&self) -> Vec<u64> {
        let mut reached = vec![0; self.sources];
        for set in self.iter() {
            for (word, at) in set.iter().zip((0..).step_by(64)) {
                let mut rest = *word;
                while rest != 0 {
                    let source = at + rest.trailing_zeros() as usize;
                    if let Some(count) = reached.get_mut(source) {
                        *count += 1;
                    }
                    rest &= rest - 1;
                }
            }
        }
        reached
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_and_nodes_are_counted_across_words() {
        let sets = SourceSets::new(66, vec![1, 0, 1 << 63 | 1, 2, 0, 0]);
        assert_eq!((sets.len(), sets.of(1)), (3, &[1 << 63 | 1, 2][..]));
        assert_eq!(sets.counts(), [1, 3, 0]);
        let reached = sets.reached();
        assert_eq!((reached[0], reached[63], reached[65]), (2, 1, 1));
        assert_eq!(reached.iter().sum::<u64>(), 4);
        assert!(sets.of(3).is_empty());
    }

    #[test]
    fn without_sources_every_set_is_an_empty_word() {
        let sets = SourceSets::new(0, vec![0; 5]);
        assert_eq!((sets.len(), sets.counts()), (5, vec![0; 5]));
        assert!(sets.reached().is_empty());
    }
}
