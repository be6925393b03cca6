//! The worker's side: the choice of the next slot.

use super::layout::{field, words_of};
use super::publish::CLAIMED;
use super::refusal::Refusal;
use super::schedule::Pace;
use super::{Read, Ring, Scope, Site, Swap, Update, Words};
use crate::abi::ring::{
    CONTINUATION, Continuation, ControlBlock, FaultCode, Kind, LevelRecord, MAGIC, PRIORITIES,
    SLOT_WORDS, Shutdown, SlotRecord, Status, TenantRecord, VERSION,
};

/// A worker of a ring: its recent claims and the work that it polls for.
#[derive(Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Worker<'m, W: ?Sized> {
    pub(super) ring: Ring<'m, W>,
    pace: Pace,
    cursors: [u32; PRIORITIES as usize],
    /// Whether the last slot went back unfinished: the next scan passes over such slots first, so
    /// that a slot that cannot continue never blocks others.
    pub(super) put_back: bool,
    /// The only kind of this worker's entry, besides control.
    only: Option<Kind>,
}

/// A slot that belongs to this worker until it answers.
#[derive(Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[must_use = "a claimed slot waits for its answer"]
pub struct Claim {
    pub(super) index: u32,
    pub(super) level: u32,
    pub(super) slot: SlotRecord,
    pub(super) work: Result<Kind, Refusal>,
    /// Whether it counts in its tenant's quota.
    pub(super) is_counted: bool,
}

impl Claim {
    /// Its request, or the reason for its refusal.
    ///
    /// # Errors
    /// The reason why it is not run.
    pub const fn work(&self) -> Result<Kind, Refusal> {
        self.work
    }

    /// The number of its slot.
    #[must_use]
    pub const fn index(&self) -> u32 {
        self.index
    }

    /// The slot.
    #[must_use]
    pub const fn slot(&self) -> &SlotRecord {
        &self.slot
    }

    /// The continuation in its arguments.
    #[must_use]
    pub fn continuation(&self) -> Continuation {
        continuation_of(&self.slot)
    }
}

pub(super) fn continuation_of(slot: &SlotRecord) -> Continuation {
    let mut words = [0; words_of::<Continuation>() as usize];
    for (to, from) in words
        .iter_mut()
        .zip(slot.arguments.iter().skip(CONTINUATION))
    {
        *to = *from;
    }
    bytemuck::cast(words)
}

impl<'m, W: Words + ?Sized> Worker<'m, W> {
    /// A worker for every kind, or for one kind besides control.
    #[must_use]
    pub fn new(ring: Ring<'m, W>, only: Option<Kind>) -> Self {
        Self {
            ring,
            pace: Pace::default(),
            cursors: [0; PRIORITIES as usize],
            put_back: false,
            only,
        }
    }

    /// The ring.
    #[must_use]
    pub const fn ring(&self) -> Ring<'m, W> {
        self.ring
    }

    /// Its only kind besides control, if it does not handle all.
    #[must_use]
    pub const fn only(&self) -> Option<Kind> {
        self.only
    }

    /// Switches to the entry that `favourite` of [`ControlBlock`] orders: every second worker
    /// handles only that kind, and the others, including the first, handle all.
    pub fn enter(&mut self, number: u32, favourite: u32) {
        let ordered = if number % 2 == 1 { favourite } else { 0 };
        let present = self.only.map_or(0, |kind| (kind as u32).wrapping_add(1));
        if ordered == present {
            return;
        }
        let index = ordered.wrapping_sub(1) as usize;
        *self = Self::new(self.ring, Kind::ALL.get(index).copied());
    }

    /// Whether the service is to end and this worker has nothing left to do. A ring of another
    /// version has no work for it.
    #[must_use]
    pub fn should_end(&self) -> bool {
        let words = [field!(ControlBlock, magic), field!(ControlBlock, version)];
        if words.map(|at| self.ring.get(at)) != [MAGIC, VERSION] {
            return true;
        }
        let at = field!(ControlBlock, shutdown);
        let order = Read::Acquire(Site::ShouldEnd);
        let how = self.ring.words.load(at, order, Scope::System);
        how == Shutdown::Now as u32
            || how == Shutdown::Drain as u32 && self.ring.waiting() == [0; PRIORITIES as usize]
    }

    /// Takes the next slot; `None` if none waits for this worker.
    pub fn claim(&mut self) -> Option<Claim> {
        self.ring.tally(field!(ControlBlock, heartbeat), 1);
        let passes_over = core::mem::replace(&mut self.put_back, false);
        let fresh = passes_over.then(|| self.scan(true)).flatten();
        fresh.or_else(|| self.scan(false))
    }

    /// Takes a slot that was only handed to this worker and is not among the waiting ones; `None`
    /// while its tenant's quota is used up.
    #[inline(always)]
    pub fn accept(&mut self, index: u32, slot: &SlotRecord) -> Option<Claim> {
        let ring = self.ring;
        ring.tally(field!(ControlBlock, heartbeat), 1);
        let level = ring.level_of(index);
        let (is_counted, work) = ring.enter(slot.tenant, || ring.work_of(slot, level));
        if is_counted == Some(false) {
            return None;
        }
        Some(Claim {
            index,
            level,
            slot: *slot,
            work,
            is_counted: is_counted == Some(true),
        })
    }

    fn scan(&mut self, only_fresh: bool) -> Option<Claim> {
        let ageing_after = self.ring.get(field!(ControlBlock, ageing_after));
        let from_below = self.pace.is_from_below(ageing_after);
        let levels = self.pace.order(ageing_after).into_iter();
        let claim = levels
            .map(|level| self.scan_level(level, only_fresh))
            .find_map(|claim| claim)?;
        if from_below {
            self.ring.tally(field!(ControlBlock, scans_from_below), 1);
        }
        self.pace.claimed(claim.level, ageing_after);
        Some(claim)
    }

    fn scan_level(&mut self, level: u32, only_fresh: bool) -> Option<Claim> {
        let at = self.ring.level_at(level);
        let mut words = [0; words_of::<LevelRecord>() as usize];
        self.ring.read_words(at, &mut words);
        let record: LevelRecord = bytemuck::cast(words);
        if record.posted == record.claimed {
            return None;
        }
        let cursor = self.cursors.get_mut(level as usize)?;
        let start = cursor.checked_rem(record.slots)?;
        for step in 0..record.slots {
            let place = start.wrapping_add(step).checked_rem(record.slots)?;
            let index = record.first.wrapping_add(place);
            if let Some(claim) = try_slot(self.ring, self.only, index, level, only_fresh) {
                *cursor = place.wrapping_add(1);
                return Some(claim);
            }
        }
        None
    }
}

/// Claims a slot if it may run now.
fn try_slot<W: Words + ?Sized>(
    ring: Ring<'_, W>,
    only: Option<Kind>,
    index: u32,
    level: u32,
    only_fresh: bool,
) -> Option<Claim> {
    let at = ring.layout.slot(index);
    if index >= ring.layout.slots() {
        return None;
    }
    let from = Status::from_word(ring.get(at)).filter(|status| status.is_schedulable())?;
    // Only hints, as the slot may change its owner meanwhile; a slot that passes is checked again
    // below.
    let is_passed_over = only_fresh && from != Status::Published;
    if is_passed_over || !ring.may_run(&ring.slot(index), from, only) {
        return None;
    }
    let swap = Swap {
        expected: from as u32,
        value: Status::Claimed as u32,
    };
    let order = Update::Acquire(Site::Claim);
    if ring.words.swap_if(at, swap, order, Scope::System) != from as u32 {
        return None;
    }
    ring.tally(ring.level_at(level).wrapping_add(CLAIMED), 1);
    let slot = ring.slot(index);
    let (is_counted, work) = ring.enter(slot.tenant, || ring.work_of(&slot, level));
    if is_counted == Some(false) || !ring.is_due(&slot, from) || !knows(only, &slot) {
        if is_counted == Some(true) {
            ring.leave(slot.tenant);
        }
        ring.put_back(index, level, from);
        return None;
    }
    Some(Claim {
        index,
        level,
        slot,
        work,
        is_counted: is_counted == Some(true),
    })
}

/// Whether an entry handles a slot: control belongs to all, refused slots too.
fn knows(only: Option<Kind>, slot: &SlotRecord) -> bool {
    let is_control = |kind| matches!(kind, Kind::BatchFence | Kind::Shutdown);
    let kind = Kind::of(slot.opcode);
    only.is_none() || kind == only || kind.is_none_or(is_control)
}

impl<W: Words + ?Sized> Ring<'_, W> {
    pub(super) fn slot(&self, index: u32) -> SlotRecord {
        let mut words = [0; SLOT_WORDS as usize];
        self.read_words(self.layout.slot(index), &mut words);
        bytemuck::cast(words)
    }

    /// The request of a claimed slot. A slot with another priority than its place would be served
    /// out of turn.
    #[inline(always)]
    fn work_of(&self, slot: &SlotRecord, level: u32) -> Result<Kind, Refusal> {
        let kind = self.admit(slot)?;
        if slot.level() != level {
            return Err(Refusal::new(FaultCode::BadPriority, slot.priority));
        }
        Ok(kind)
    }

    fn may_run(&self, slot: &SlotRecord, from: Status, only: Option<Kind>) -> bool {
        let (mask, quota) = (self.mask_of(slot.tenant), self.quota_of(slot.tenant));
        let has_space = mask == 0 || self.running_of(slot.tenant) < quota;
        if !has_space {
            self.tally(Self::passed_over_at(slot.tenant), 1);
        }
        has_space && knows(only, slot) && self.is_due(slot, from)
    }

    /// Whether a task that waits for an epoch has reached it.
    fn is_due(&self, slot: &SlotRecord, from: Status) -> bool {
        let task = continuation_of(slot);
        let waits = from == Status::Yield && task.flags & Continuation::AT_EPOCH != 0;
        !waits || self.epoch().wrapping_sub(task.resume_epoch).cast_signed() >= 0
    }

    /// Counts a claimed slot of a tenant. Returns false if its quota is used up, `None` if there is
    /// no such tenant. Other work overlaps the atomic addition.
    #[inline(always)]
    fn enter<T>(&self, tenant: u32, meanwhile: impl FnOnce() -> T) -> (Option<bool>, T) {
        let (mask, quota) = (self.mask_of(tenant), self.quota_of(tenant));
        if mask == 0 {
            return (None, meanwhile());
        }
        let running = Self::tenant_at(tenant).wrapping_add(field!(TenantRecord, running));
        if quota == u32::MAX {
            // The quota is unlimited, so the count is not waited for.
            self.tally(running, 1);
            return (Some(true), meanwhile());
        }
        let before = self.count(running, 1);
        let found = meanwhile();
        if before < quota {
            return (Some(true), found);
        }
        self.leave(tenant);
        self.tally(Self::passed_over_at(tenant), 1);
        (Some(false), found)
    }

    pub(super) fn leave(&self, tenant: u32) {
        let running = Self::tenant_at(tenant).wrapping_add(field!(TenantRecord, running));
        self.tally(running, u32::MAX);
    }

    const fn passed_over_at(tenant: u32) -> u32 {
        Self::tenant_at(tenant).wrapping_add(field!(TenantRecord, passed_over))
    }

    /// Hands a slot back that did not end.
    pub(super) fn put_back(&self, index: u32, level: u32, status: Status) {
        let claimed = self.level_at(level).wrapping_add(CLAIMED);
        // Counted first, as on publishing.
        self.tally(claimed, u32::MAX);
        self.set_status(index, status, Site::PutBack);
    }
}
