//! Statements of gen/kill problems.

use std::ops::Range;

/// The direction in which facts flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From the entry, along edges.
    Forward,
    /// From the exits, against edges.
    Backward,
}

/// The meet of the facts that several blocks pass on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meet {
    /// A fact holds if it does on some way.
    Any,
    /// A fact holds if it does on every way.
    All,
}

/// Settings that all functions share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setup {
    /// Name of the analysis, for reports and errors.
    pub name: &'static str,
    /// The direction.
    pub direction: Direction,
    /// The meet.
    pub meet: Meet,
}

/// Consecutive facts of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The block.
    pub block: u32,
    /// The first fact.
    pub first: u32,
    /// The fact after the last one.
    pub end: u32,
}

impl Span {
    /// One fact of a block.
    #[must_use]
    pub const fn one(block: u32, fact: u32) -> Self {
        Self {
            block,
            first: fact,
            end: fact + 1,
        }
    }
}

/// Facts that blocks kill together: those of each column that has some, with their bits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FactSet(Vec<(u32, u64)>);

impl FactSet {
    /// The set of facts, which ascend.
    pub fn of(facts: impl IntoIterator<Item = u32>) -> Self {
        let mut words: Vec<(u32, u64)> = Vec::new();
        for fact in facts {
            let (column, bit) = (fact / 64, 1 << (fact % 64));
            match words.last_mut() {
                Some(last) if last.0 == column => last.1 |= bit,
                _ => words.push((column, bit)),
            }
        }
        Self(words)
    }

    /// Its facts, ascending.
    pub fn facts(&self) -> impl Iterator<Item = u32> {
        let words = self.0.iter();
        words.flat_map(|(column, word)| bits(*word).map(move |bit| column * 64 + bit))
    }

    /// Its facts that lie in columns, as (column, bits).
    pub(super) fn words(&self, columns: &Range<usize>) -> impl Iterator<Item = (usize, u64)> {
        let first = self
            .0
            .partition_point(|word| (word.0 as usize) < columns.start);
        let end = columns.end;
        let words = self.0[first..].iter();
        let words = words.map(|(column, bits)| (*column as usize, *bits));
        words.take_while(move |word| word.0 < end)
    }
}

/// A set of facts that a block kills.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SetKill {
    /// The block.
    pub block: u32,
    /// Number of the set.
    pub set: u32,
}

/// The facts of one function. A block passes on what it makes, and what comes in unless it kills
/// that.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Problem {
    /// Number of facts.
    pub facts: u32,
    /// Facts that blocks make.
    pub made: Vec<Span>,
    /// Facts that blocks kill; what a block also makes holds after it.
    pub killed: Vec<Span>,
    /// Sets of facts that blocks kill as well.
    pub sets: Vec<FactSet>,
    /// Which block kills which of them.
    pub set_kills: Vec<SetKill>,
    /// Facts that come into the entry, or for a backward problem into the exits: (first, end).
    pub boundary: Vec<(u32, u32)>,
}

impl Problem {
    /// Words of 64 facts.
    #[must_use]
    pub const fn columns(&self) -> usize {
        self.facts.div_ceil(64) as usize
    }

    /// The facts of the boundary, a word a column.
    pub(crate) fn boundary_words(&self) -> Vec<u64> {
        let mut all = vec![0; self.columns()];
        for (first, end) in &self.boundary {
            for (column, bits) in words(*first, *end) {
                all[column] |= bits;
            }
        }
        all
    }
}

/// The bits of facts `first..end` that lie in a column, as (column, bits).
pub(super) fn words(first: u32, end: u32) -> impl Iterator<Item = (usize, u64)> {
    let last = if end > first {
        end.div_ceil(64)
    } else {
        first / 64
    };
    let columns = first / 64..last;
    columns.map(move |column| {
        let from = first.max(column * 64) - column * 64;
        let to = end.min(column * 64 + 64) - column * 64;
        (column as usize, below(to) & !below(from))
    })
}

/// The bits of a word.
pub(crate) fn bits(mut word: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let bit = (word != 0).then(|| word.trailing_zeros());
        word &= word.wrapping_sub(1);
        bit
    })
}

/// The facts of words, one a column.
pub(crate) fn facts(words: impl Iterator<Item = u64>) -> impl Iterator<Item = u32> {
    let columns = (0..).zip(words);
    columns.flat_map(|(column, word)| bits(word).map(move |bit| column * 64 + bit))
}

/// How many of the facts `first..end` words have.
pub(crate) fn count(all: &[u64], first: u32, end: u32) -> usize {
    let words = words(first, end);
    words
        .map(|(column, bits)| (all[column] & bits).count_ones() as usize)
        .sum()
}

/// Whether words have a fact.
pub(crate) fn has(words: &[u64], fact: u32) -> bool {
    words[fact as usize / 64] >> (fact % 64) & 1 == 1
}

/// The bits below one.
pub(super) const fn below(bit: u32) -> u64 {
    if bit >= 64 { u64::MAX } else { (1 << bit) - 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_fall_into_words() {
        let all = |first, end| words(first, end).collect::<Vec<_>>();
        assert_eq!(all(0, 1), [(0, 1)]);
        assert_eq!(all(5, 5), []);
        assert_eq!(all(62, 66), [(0, 3 << 62), (1, 3)]);
        assert_eq!(all(64, 192), [(1, u64::MAX), (2, u64::MAX)]);
        assert_eq!(count(&[u64::MAX, 5, 0], 60, 130), 6);
    }

    #[test]
    fn sets_have_a_word_for_each_column_with_facts() {
        let facts = [3, 63, 64, 700];
        let set = FactSet::of(facts);
        assert_eq!(set.facts().collect::<Vec<_>>(), facts);
        let words = |columns| set.words(&columns).collect::<Vec<_>>();
        assert_eq!(words(0..1), [(0, 1 << 63 | 8)]);
        assert_eq!(words(1..11), [(1, 1), (10, 1 << 60)]);
        assert_eq!(words(2..10), []);
    }
}
