//! Counts of bits by their place, for many words.

/// Digits of a count.
const DIGITS: usize = 12;

/// Most words that a count holds.
const WORDS_MAX: u32 = (1 << DIGITS) - 1;

/// Number of added words that have each bit: 32 binary numbers, whose digits `k` are the
/// bits of word `k`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Counts {
    digits: [u32; DIGITS],
    words: u32,
}

impl Counts {
    /// Counts of no words.
    pub(super) const NONE: Self = Self {
        digits: [0; DIGITS],
        words: 0,
    };

    /// Adds a word and returns whether the counts are full: they must be read and cleared.
    #[inline(always)]
    pub(super) fn add(&mut self, word: u32) -> bool {
        let mut carry = word;
        for digit in &mut self.digits {
            let next = *digit & carry;
            *digit ^= carry;
            carry = next;
        }
        self.words += 1;
        self.words == WORDS_MAX
    }

    /// The words that have bit `bit`.
    #[inline(always)]
    pub(super) fn column(&self, bit: u32) -> u32 {
        let mut count = 0;
        for (place, digit) in self.digits.iter().enumerate() {
            count |= (digit >> (bit & 31) & 1) << place;
        }
        count
    }

    /// Forgets all words.
    #[inline(always)]
    pub(super) fn clear(&mut self) {
        *self = Self::NONE;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_counted_up_to_the_most_words() {
        let mut counts = Counts::NONE;
        for word in 1..=WORDS_MAX {
            assert_eq!(counts.add(1 << 31 | word & 5), word == WORDS_MAX);
        }
        assert_eq!(counts.column(31), WORDS_MAX);
        assert_eq!(
            counts.column(0),
            (1..=WORDS_MAX).filter(|word| word & 1 != 0).count() as u32
        );
        assert_eq!(counts.column(1), 0);
        assert_eq!(
            counts.column(2),
            (1..=WORDS_MAX).filter(|word| word & 4 != 0).count() as u32
        );
        counts.clear();
        assert!((0..32).all(|bit| counts.column(bit) == 0));
    }
}
