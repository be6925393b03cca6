//! Queues of posts, which bring slots to workers that do not share this process's memory.

use super::error::StartError;
use super::memory::SharedWords;
use super::sharded_counter::{Line, PARTS, part_of_thread};
use seawall_core::abi::ring::SlotRecord;
use seawall_core::abi::serve::{POST_WORDS, PostRecord};
use seawall_core::protocol::{Scope, Site, Words, Write};
use std::sync::atomic::{AtomicU32, Ordering};

/// Queues of a service, distributed over posting threads.
pub(super) const QUEUES: u32 = PARTS as u32;

/// The queues.
#[derive(Debug)]
pub(super) struct Posts {
    words: SharedWords,
    each: u32,
    /// Posts of each queue so far.
    counts: [Line<AtomicU32>; PARTS],
}

impl Posts {
    /// Queues for a ring of `slots` slots. Each holds as many posts, so that no unread post is
    /// overwritten: a slot is only posted again after its answer.
    pub(super) fn new(slots: u32) -> Result<Self, StartError> {
        let each = slots.next_power_of_two();
        let words = each.checked_mul(POST_WORDS * QUEUES);
        Ok(Self {
            words: SharedWords::new(words.unwrap_or(u32::MAX))?,
            each,
            counts: Default::default(),
        })
    }

    /// The words.
    pub(super) const fn words(&self) -> &SharedWords {
        &self.words
    }

    /// Posts that a queue holds.
    pub(super) const fn each(&self) -> u32 {
        self.each
    }

    /// Posts a slot.
    pub(super) fn post(&self, index: u32, slot: &SlotRecord) {
        // Threads rarely contend for a queue.
        let part = part_of_thread();
        let Line(count) = &self.counts[part];
        let queue = part as u32;
        let number = count.fetch_add(1, Ordering::Relaxed);
        let post = PostRecord::sealed(index, slot, number);
        let words: [u32; POST_WORDS as usize] = bytemuck::cast(post);
        let first = (queue * self.each + (number & (self.each - 1))) * POST_WORDS;
        for (at, word) in (first..).zip(words).skip(1) {
            self.words.store(at, word, Write::Relaxed, Scope::System);
        }
        let [stamp, ..] = words;
        self.words
            .store(first, stamp, Write::Release(Site::Machine), Scope::System);
    }
}
