//! Bits that several threads set and clear.

use crate::graph::memory::{Shortage, zeroed};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

/// A set of numbers below a limit.
#[derive(Debug)]
pub(super) struct Bits(Vec<AtomicU64>);

impl Bits {
    pub(super) const fn bytes(count: u64) -> u64 {
        8 * count.div_ceil(64)
    }

    /// An empty set of numbers below `count`.
    pub(super) fn new(count: usize) -> Result<Self, Shortage> {
        let words: Vec<u64> = zeroed(count.div_ceil(64))?;
        Ok(Self(words.into_iter().map(AtomicU64::new).collect()))
    }

    /// Adds a number; earlier writes of this thread are visible to the thread that takes it.
    #[inline]
    pub(super) fn set(&self, number: usize) {
        let bit = 1 << (number % 64);
        if let Some(word) = self.0.get(number / 64) {
            word.fetch_or(bit, Ordering::AcqRel);
        }
    }

    /// Returns whether a number is in the set.
    #[inline]
    pub(super) fn has(&self, number: usize) -> bool {
        let word = self.0.get(number / 64);
        word.is_some_and(|word| word.load(Ordering::Acquire) >> (number % 64) & 1 == 1)
    }

    /// Removes a number; returns whether it was in the set.
    #[inline]
    pub(super) fn take(&self, number: usize) -> bool {
        let bit = 1 << (number % 64);
        let word = self.0.get(number / 64);
        self.has(number)
            && word.is_some_and(|word| word.fetch_and(!bit, Ordering::AcqRel) & bit != 0)
    }

    /// Returns whether the set is empty.
    pub(super) fn is_empty(&self) -> bool {
        self.0.iter().all(|word| word.load(Ordering::Acquire) == 0)
    }
}

/// A large sparse set: non-empty words are found by a summary word for each 64 of them.
#[derive(Debug)]
pub(super) struct Sparse {
    numbers: Bits,
    /// Words of `numbers` that may not be empty.
    words: Bits,
}

impl Sparse {
    pub(super) const fn bytes(count: u64) -> u64 {
        Bits::bytes(count) + Bits::bytes(count.div_ceil(64))
    }

    /// An empty set of numbers below `count`.
    pub(super) fn new(count: usize) -> Result<Self, Shortage> {
        Ok(Self {
            numbers: Bits::new(count)?,
            words: Bits::new(count.div_ceil(64))?,
        })
    }

    /// Adds a number, as [`Bits::set`].
    #[inline]
    pub(super) fn set(&self, number: usize) {
        self.numbers.set(number);
        if !self.words.has(number / 64) {
            self.words.set(number / 64);
        }
    }

    /// Removes the numbers of a range and calls `take` with each. Numbers of a word are removed
    /// together.
    #[inline]
    pub(super) fn take_each<E>(
        &self,
        range: Range<usize>,
        mut take: impl FnMut(usize) -> Result<(), E>,
    ) -> Result<(), E> {
        let words = range.start / 64..range.end.div_ceil(64).min(self.numbers.0.len());
        for at in words.start / 64..words.end.div_ceil(64) {
            let of_word = |word: u64| word & mask(&words, 64 * at);
            let mut left = of_word(self.words.0[at].load(Ordering::Acquire));
            while left != 0 {
                let word = 64 * at + left.trailing_zeros() as usize;
                left &= left - 1;
                self.take_word(word, mask(&range, 64 * word), &mut take)?;
            }
        }
        Ok(())
    }

    /// Removes the numbers under a mask of a word. A word that still has numbers stays marked.
    #[inline]
    fn take_word<E>(
        &self,
        word: usize,
        mask: u64,
        take: &mut impl FnMut(usize) -> Result<(), E>,
    ) -> Result<(), E> {
        let numbers = &self.numbers.0[word];
        if mask == u64::MAX {
            // Before the numbers are taken: a thread that adds one later sees that the word is not
            // marked, since both change the numbers by read-modify-writes.
            self.words.take(word);
        } else if numbers.load(Ordering::Acquire) & mask == 0 {
            return Ok(());
        }
        let mut taken = numbers.fetch_and(!mask, Ordering::AcqRel) & mask;
        while taken != 0 {
            take(64 * word + taken.trailing_zeros() as usize)?;
            taken &= taken - 1;
        }
        Ok(())
    }
}

/// Bits of the word from number `base` on that are in an overlapping range.
#[inline]
fn mask(range: &Range<usize>, base: usize) -> u64 {
    let from = range.start.saturating_sub(base);
    let to = (range.end - base).min(64);
    u64::MAX << from & u64::MAX >> (64 - to)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_taken_and_nothing_beside_it() {
        for (from, to) in [(0, 0), (3, 64), (63, 65), (64, 128), (70, 200), (0, 200)] {
            let bits = Sparse::new(200).unwrap();
            (0..200).for_each(|number| bits.set(number));
            let mut taken = Vec::new();
            bits.take_each(from..to, |number| {
                taken.push(number);
                Ok::<_, ()>(())
            })
            .unwrap();
            assert_eq!(taken, (from..to).collect::<Vec<_>>());
            let has = |number: &usize| bits.numbers.has(*number);
            let left: Vec<_> = (0..200).filter(has).collect();
            let expected: Vec<_> = (0..200).filter(|at| !(from..to).contains(at)).collect();
            assert_eq!(left, expected);
            let mut rest = Vec::new();
            bits.take_each(0..200, |number| {
                rest.push(number);
                Ok::<_, ()>(())
            })
            .unwrap();
            assert_eq!(rest, expected);
        }
    }

    #[test]
    fn a_number_is_taken_once() {
        let bits = Bits::new(70).unwrap();
        assert!(bits.is_empty());
        bits.set(69);
        assert!(bits.has(69) && !bits.is_empty());
        assert!(bits.take(69) && !bits.take(69) && bits.is_empty());
    }
}
