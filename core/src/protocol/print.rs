//! The log that slots print to: bounded, and readable while it is written.

use super::layout::{field, words_of};
use super::{Outcome, Read, Ring, Scope, Site, Swap, Update, Words, Write};
use crate::abi::ring::{ControlBlock, PRINT_WORDS, PrintRecord, RESULTS, SlotRecord};

impl<W: Words + ?Sized> Ring<'_, W> {
    /// Writes a record. If a writer that is a whole log late still writes its place, the record is
    /// dropped and counted.
    pub(super) fn print(&self, slot: &SlotRecord) -> Outcome {
        let number = self.count(field!(ControlBlock, prints), 1);
        let at = self.print_place(number);
        let before = self.words.load(at, Read::Relaxed, Scope::System);
        let busy = Swap {
            expected: before,
            value: PrintRecord::BUSY,
        };
        let order = Update::Acquire(Site::PrintPlace);
        let is_mine = before != PrintRecord::BUSY
            && self.words.swap_if(at, busy, order, Scope::System) == before;
        if !is_mine {
            self.count(field!(ControlBlock, prints_dropped), 1);
            return Outcome::Done([0; RESULTS]);
        }
        let record = printed(slot);
        let words: [u32; words_of::<PrintRecord>() as usize] = bytemuck::cast(record);
        for (index, word) in (at..).zip(words).skip(1) {
            // Each store releases the mark above: a reader that sees a new word also sees that the
            // record is busy.
            let order = Write::Release(Site::PrintWord);
            self.words.store(index, word, order, Scope::System);
        }
        let order = Write::Release(Site::PrintShown);
        self.words
            .store(at, sequence_of(number), order, Scope::System);
        Outcome::Done([0; RESULTS])
    }

    /// Record `number` of the log; `None` if it is not written yet or no longer
    /// there.
    #[must_use]
    pub fn print_at(&self, number: u32) -> Option<PrintRecord> {
        let at = self.print_place(number);
        let expected = sequence_of(number);
        let order = Read::Acquire(Site::PrintPoll);
        if self.words.load(at, order, Scope::System) != expected {
            return None;
        }
        let mut words = [expected; words_of::<PrintRecord>() as usize];
        for (index, word) in (at..).zip(&mut words).skip(1) {
            let order = Read::Acquire(Site::PrintRead);
            *word = self.words.load(index, order, Scope::System);
        }
        let record: PrintRecord = bytemuck::cast(words);
        // Relaxed: a word of the next record, read above, shows that this place is busy, and
        // nothing is read after this load.
        let is_whole = self.get(at) == expected;
        (is_whole && record.words <= PRINT_WORDS as u32).then_some(record)
    }

    fn print_place(&self, number: u32) -> u32 {
        let index = number.checked_rem(self.layout.prints()).unwrap_or(0);
        self.layout.print(index)
    }
}

/// The sequence of a written record: neither 0 nor [`PrintRecord::BUSY`]. The two numbers that
/// would collide with these use the sequences of records half the number range away, which cannot
/// be in the log at the same time.
const fn sequence_of(number: u32) -> u32 {
    match number.wrapping_add(1) {
        0 => 1 << 31,
        PrintRecord::BUSY => (1 << 31) - 1,
        sequence => sequence,
    }
}

fn printed(slot: &SlotRecord) -> PrintRecord {
    let mut text = [0; PRINT_WORDS];
    let [words, rest @ ..] = &slot.arguments;
    for (to, from) in text.iter_mut().zip(rest).take(*words as usize) {
        *to = *from;
    }
    PrintRecord {
        sequence: 0,
        tenant: slot.tenant,
        task: slot.task(),
        words: *words,
        text,
    }
}
