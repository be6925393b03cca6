//! The host's side: slots out, answers in.

use super::layout::{field, words_of};
use super::{Read, Ring, Scope, Site, Swap, Update, Words, Write};
use crate::abi::ring::{
    BATCHES, CompletionRecord, ControlBlock, LevelRecord, MAGIC, PRIORITIES, SLOT_WORDS, Shutdown,
    SlotRecord, Status, TENANTS, TenantRecord, VERSION,
};

/// Setup of a new ring.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Setup<'a> {
    /// Tenants from number 0 on; those beyond the table are ignored.
    pub tenants: &'a [TenantRecord],
    /// Workers that poll for work.
    pub workers: u32,
    /// Claims above Low after which one scan starts from below.
    pub ageing_after: u32,
}

/// Slots that were posted and not claimed, by two counts that may be from different times.
const fn waiting_of(posted: u32, claimed: u32) -> u32 {
    let waiting = posted.wrapping_sub(claimed);
    if waiting.cast_signed() < 0 {
        return 0;
    }
    waiting
}

impl<W: Words + ?Sized> Ring<'_, W> {
    /// Writes the control block and empties slots, log and windows. No worker may run.
    pub fn format(&self, setup: &Setup<'_>) {
        for at in 0..self.layout.words() {
            self.set(at, 0);
        }
        let control = self.fresh_control(setup);
        self.write_words(0, bytemuck::cast_slice(&[control]));
    }

    fn fresh_control(&self, setup: &Setup<'_>) -> ControlBlock {
        let mut control = ControlBlock {
            magic: MAGIC,
            version: VERSION,
            workers: setup.workers,
            ageing_after: setup.ageing_after,
            ..ControlBlock::default()
        };
        let mut first = 0_u32;
        for (level, slots) in control.levels.iter_mut().zip(self.layout.levels()) {
            *level = LevelRecord {
                first,
                slots,
                ..LevelRecord::default()
            };
            first = first.wrapping_add(slots);
        }
        let given = setup.tenants.iter().take(TENANTS as usize);
        for (tenant, given) in control.tenants.iter_mut().zip(given) {
            *tenant = *given;
        }
        control
    }

    /// A copy of the control block, each word read at some time during the copy.
    #[must_use]
    pub fn control(&self) -> ControlBlock {
        let mut control = [ControlBlock::default()];
        self.read_words(0, bytemuck::cast_slice_mut(&mut control));
        let [control] = control;
        control
    }

    /// The numbers of the slots of a priority.
    #[must_use]
    pub fn slots_of(&self, level: u32) -> core::ops::Range<u32> {
        let levels = self.layout.levels();
        let before = levels.iter().take(level as usize);
        let first = before.fold(0_u32, |sum, slots| sum.wrapping_add(*slots));
        let slots = levels.get(level as usize).copied().unwrap_or(0);
        first..first.wrapping_add(slots)
    }

    /// The priority of a slot by its place.
    #[inline(always)]
    pub(super) fn level_of(&self, index: u32) -> u32 {
        let levels = self.layout.levels();
        let firsts = levels.iter().scan(0_u32, |first, slots| {
            *first = first.wrapping_add(*slots);
            Some(*first)
        });
        firsts.filter(|end| *end <= index).count() as u32
    }

    /// Reserves an empty slot to fill it; returns false if it is not empty.
    #[must_use]
    pub fn reserve(&self, index: u32) -> bool {
        let at = self.layout.slot(index);
        let from = self.get(at);
        let is_free = Status::from_word(from) == Some(Status::Empty) && index < self.layout.slots();
        let swap = Swap {
            expected: from,
            value: Status::WaitIo as u32,
        };
        is_free && {
            let order = Update::Acquire(Site::Reserve);
            self.words.swap_if(at, swap, order, Scope::System) == from
        }
    }

    /// Fills a reserved slot and hands it to the workers.
    pub fn publish(&self, index: u32, slot: &SlotRecord) {
        let words: [u32; SLOT_WORDS as usize] = bytemuck::cast(*slot);
        let at = self.layout.slot(index);
        let [_, payload @ ..] = &words;
        self.write_words(at.wrapping_add(1), payload);
        // Counted before it can be claimed: a count that is too high costs a poll in vain, one that
        // is too low hides a slot.
        self.count(self.level_at(slot.level()).wrapping_add(POSTED), 1);
        self.set_status(index, Status::Published, Site::Publish);
    }

    /// Marks a reserved slot as handed to the workers, if its payload does not reach them through
    /// this memory. Relaxed: no worker waits for this status, and the transport of the payload
    /// releases this store too, so that no answer comes before it.
    pub fn mark_posted(&self, index: u32) {
        self.set(self.layout.slot(index), Status::Published as u32);
    }

    /// Returns the status of a slot; everything written before it is then visible.
    #[must_use]
    pub fn poll(&self, index: u32) -> Option<Status> {
        let at = self.layout.slot(index);
        let order = Read::Acquire(Site::Poll);
        Status::from_word(self.words.load(at, order, Scope::System))
    }

    /// The answer in a slot whose status is Done or Fault.
    #[must_use]
    pub fn completion(&self, index: u32) -> CompletionRecord {
        let mut words = [0; words_of::<CompletionRecord>() as usize];
        self.read_words(self.layout.completion(index), &mut words);
        bytemuck::cast(words)
    }

    /// Frees a slot whose answer was read, or that was reserved in vain.
    pub fn release(&self, index: u32) {
        self.set_status(index, Status::Empty, Site::Free);
    }

    /// Opens a batch, from 1, that no slot and no fence refers to.
    pub fn open_batch(&self, batch: u32) {
        if (1..=BATCHES).contains(&batch) {
            self.set(Self::batch_at(batch), 0);
        }
    }

    /// Returns the number of ended batches; everything that their slots wrote is then visible.
    #[must_use]
    pub fn epoch(&self) -> u32 {
        let at = field!(ControlBlock, epoch);
        let order = Read::Acquire(Site::Epoch);
        self.words.load(at, order, Scope::System)
    }

    /// The same number, without ordering the slots' writes.
    #[inline(always)]
    #[must_use]
    pub fn epoch_now(&self) -> u32 {
        self.get(field!(ControlBlock, epoch))
    }

    /// Asks the workers to end.
    pub fn shut_down(&self, how: Shutdown) {
        let at = field!(ControlBlock, shutdown);
        let order = Write::Release(Site::ShutDown);
        self.words.store(at, how as u32, order, Scope::System);
    }

    /// Sets how many workers poll for work, which entry further ones start from (1 more than the
    /// index of a kind, or 0 for all kinds), and when waiting work ages.
    pub fn steer(&self, workers: u32, favourite: u32, ageing_after: u32) {
        self.set(field!(ControlBlock, workers), workers);
        self.set(field!(ControlBlock, favourite), favourite);
        self.set(field!(ControlBlock, ageing_after), ageing_after);
    }

    /// Published slots that no worker has, of every priority; slots that change their owner
    /// meanwhile may count.
    #[must_use]
    pub fn waiting(&self) -> [u32; PRIORITIES as usize] {
        let mut waiting = self.layout.levels();
        for (level, most) in (0..).zip(&mut waiting) {
            let at = self.level_at(level);
            // In this order, as a slot may be posted and claimed between the two loads.
            let claimed = self.get(at.wrapping_add(CLAIMED));
            let posted = self.get(at.wrapping_add(POSTED));
            *most = waiting_of(posted, claimed).min(*most);
        }
        waiting
    }

    /// First word of the record of a priority; larger numbers give the last one.
    pub(super) fn level_at(&self, level: u32) -> u32 {
        let level = level.min(PRIORITIES.wrapping_sub(1));
        let before = level.wrapping_mul(words_of::<LevelRecord>());
        field!(ControlBlock, levels).wrapping_add(before)
    }

    /// The count of a batch, from 1.
    pub(super) const fn batch_at(batch: u32) -> u32 {
        field!(ControlBlock, batches).wrapping_add(batch.wrapping_sub(1))
    }

    /// Hands a slot over by setting its status.
    pub(super) fn set_status(&self, index: u32, status: Status, site: Site) {
        let at = self.layout.slot(index);
        let order = Write::Release(site);
        self.words.store(at, status as u32, order, Scope::System);
    }
}

pub(super) const POSTED: u32 = field!(LevelRecord, posted);
pub(super) const CLAIMED: u32 = field!(LevelRecord, claimed);
