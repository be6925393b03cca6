//! Posts: how a slot reaches workers whose memory is not the host's.
//!
//! A queue of posts is an array of records that hosts fill in turn and one dispatcher reads in
//! turn. No word holds their progress: the reader knows the number of the next post, and a record
//! is that post if its stamp matches. The stamp sums up all words, so a record of which only some
//! words have arrived is not taken, whatever their order. Records of an earlier round, and empty
//! ones, have other stamps: the number of the post is a part of it.
//!
//! Answers in the other direction are sealed in the same way: the status of the slot holds a stamp
//! of the completion. A worker waits for its stores only if the slot also wrote other words.

use super::layout::words_of;
use super::{Read, Ring, Scope, Site, Words, Write, hash_of};
use crate::abi::ring::{CompletionRecord, SlotRecord, Status};
use crate::abi::serve::{POST_WORDS, PostRecord};

/// Share of the word at `place` of a post in its stamp; that of the stamp itself is 0.
#[must_use]
pub const fn share_of(place: u32, word: u32) -> u32 {
    if place == 0 {
        return 0;
    }
    word.wrapping_mul(factor_of(place))
}

/// Factor of the word at `place`: odd, so that one word that differs always makes another sum.
const fn factor_of(place: u32) -> u32 {
    hash_of(place.wrapping_mul(0x9E37_79B9)) | 1
}

/// The factors of all places of a post, to sum up all of its words; 0 for the stamp.
const FACTORS: [u32; POST_WORDS as usize] = {
    let mut factors = [0; POST_WORDS as usize];
    let mut place = 1;
    if let Some((_, mut others)) = factors.split_first_mut() {
        while let Some((factor, rest)) = others.split_first_mut() {
            *factor = factor_of(place);
            place = place.wrapping_add(1);
            others = rest;
        }
    }
    factors
};
const _: () = assert!(words_of::<CompletionRecord>() < POST_WORDS);

/// The sum of the shares of words from `place` on.
fn shares_of(place: usize, words: &[u32]) -> u32 {
    let factors = FACTORS.iter().skip(place);
    let shares = words
        .iter()
        .zip(factors)
        .map(|(word, factor)| word.wrapping_mul(*factor));
    shares.fold(0, u32::wrapping_add)
}

/// The stamp of post `number` whose words have `shares` in sum.
#[must_use]
pub const fn stamp_of(shares: u32, number: u32) -> u32 {
    shares.wrapping_add(number.wrapping_add(1).wrapping_mul(0x9E37_79B1))
}

impl PostRecord {
    /// Post `number` of a queue: the slot `index`.
    #[must_use]
    pub fn sealed(index: u32, slot: &SlotRecord, number: u32) -> Self {
        let mut post = Self {
            index,
            opcode: slot.opcode,
            tenant: slot.tenant,
            priority: slot.priority,
            arguments: slot.arguments,
            ..Self::default()
        };
        post.stamp = stamp_of(post.shares(), number);
        post
    }

    /// Its slot.
    #[must_use]
    pub const fn slot(&self) -> SlotRecord {
        SlotRecord {
            status: 0,
            opcode: self.opcode,
            tenant: self.tenant,
            priority: self.priority,
            arguments: self.arguments,
        }
    }

    /// Whether all of its words are those of post `number`.
    #[must_use]
    pub fn is_whole(&self, number: u32) -> bool {
        self.stamp == stamp_of(self.shares(), number)
    }

    fn shares(&self) -> u32 {
        let words: [u32; POST_WORDS as usize] = bytemuck::cast(*self);
        shares_of(0, &words)
    }
}

/// Words of a completion.
pub type CompletionWords = [u32; words_of::<CompletionRecord>() as usize];

/// Bits of a sealed status that hold the status.
const STATUS_BITS: u32 = 3;

/// The sealed form of an end status, with the stamp of its completion.
pub(super) fn seal_of(ended: Status, words: &CompletionWords) -> u32 {
    seal_of_shares(ended, shares_of(1, words))
}

/// The same for a completion whose words have `shares` in sum, those at places from 1 on.
#[must_use]
pub const fn seal_of_shares(ended: Status, shares: u32) -> u32 {
    // Mixed, as the status takes three bits of it; never 0, which makes a plain status.
    let stamp = hash_of(shares) >> STATUS_BITS;
    let stamp = if stamp == 0 { 1 } else { stamp };
    stamp.wrapping_shl(STATUS_BITS) | ended as u32
}

/// Whether a status, sealed or plain, is of a slot that ended.
#[must_use]
pub const fn is_end(status: u32) -> bool {
    // Done is 3 and Fault is 7; no other status has these bits.
    status & 3 == 3
}

impl<W: Words + ?Sized> Ring<'_, W> {
    /// Whether a slot has ended by its status; its completion may not have arrived yet.
    #[must_use]
    pub fn may_have_ended(&self, index: u32) -> bool {
        let at = self.layout.slot(index);
        is_end(self.words.load(at, Read::Relaxed, Scope::System))
    }

    /// Returns the answer of a slot that ended; everything written before is then visible.
    #[must_use]
    pub fn ended(&self, index: u32) -> Option<CompletionRecord> {
        let at = self.layout.slot(index);
        let order = Read::Acquire(Site::Ended);
        let word = self.words.load(at, order, Scope::System);
        if !is_end(word) {
            return None;
        }
        let record = self.completion(index);
        let ended = Status::from_word(word & 7)?;
        let is_whole = word == ended as u32 || word == seal_of(ended, &bytemuck::cast(record));
        is_whole.then_some(record)
    }

    /// Stores a sealed status. `leaves_traces` if the slot wrote words besides its completion.
    #[inline(always)]
    pub(super) fn seal(&self, index: u32, seal: u32, leaves_traces: bool) {
        let at = self.layout.slot(index);
        let order = if leaves_traces {
            Write::Release(Site::Seal)
        } else {
            Write::Relaxed
        };
        self.words.store(at, seal, order, Scope::System);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seals_are_ends_and_no_plain_statuses() {
        for word in 0..8 {
            let status = Status::from_word(word).map(|status| status as u32);
            let ends = matches!(status, Some(3 | 7));
            assert_eq!(is_end(word), ends, "{word}");
        }
        for task in 0..1000 {
            let words: CompletionWords = bytemuck::cast(CompletionRecord {
                task,
                ..CompletionRecord::default()
            });
            for ended in [Status::Done, Status::Fault] {
                let seal = seal_of(ended, &words);
                assert!(is_end(seal) && seal > 7 && seal & 7 == ended as u32);
            }
        }
    }

    #[test]
    fn a_seal_is_of_one_completion() {
        let first = CompletionRecord {
            task: 5,
            results: [7; 9],
            ..CompletionRecord::default()
        };
        let first: CompletionWords = bytemuck::cast(first);
        let seal = seal_of(Status::Done, &first);
        let mut others = 0;
        for (at, _) in first.iter().enumerate() {
            for bit in 0..32 {
                let mut words = first;
                words[at] ^= 1 << bit;
                others += u32::from(seal_of(Status::Done, &words) != seal);
            }
        }
        assert_eq!(others, 16 * 32);
        assert_ne!(seal_of(Status::Fault, &first), seal);
    }

    fn post(task: u32, number: u32) -> PostRecord {
        let mut slot = SlotRecord {
            opcode: 3,
            tenant: 1,
            priority: 2,
            ..SlotRecord::default()
        };
        slot.arguments[0] = 77;
        slot.arguments[11] = task;
        PostRecord::sealed(5, &slot, number)
    }

    #[test]
    fn a_post_is_whole_under_its_own_number_alone() {
        let whole = post(9, 4);
        assert!(whole.is_whole(4));
        assert_eq!(whole.slot().arguments[11], 9);
        for other in [3, 5, 4 + 512, u32::MAX] {
            assert!(!whole.is_whole(other), "{other}");
        }
        for number in [0, 1, 511, 1 << 31] {
            assert!(!PostRecord::default().is_whole(number), "{number}");
        }
    }

    #[test]
    fn a_post_of_which_words_are_missing_is_not_whole() {
        let (old, new) = (post(9, 4), post(521, 516));
        let [old, new]: [[u32; 32]; 2] = [bytemuck::cast(old), bytemuck::cast(new)];
        for arrived in 0..1_u32 << 12 {
            let mut words = old;
            for (at, word) in words.iter_mut().enumerate() {
                // Each bit stands for words that arrive together.
                if arrived >> (at % 12) & 1 != 0 {
                    *word = new[at];
                }
            }
            let post: PostRecord = bytemuck::cast(words);
            assert_eq!(post.is_whole(516), words == new, "{arrived:#x}");
        }
    }
}
