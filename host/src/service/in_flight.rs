//! Free slots, and the queries that the other slots will answer.

use super::error::TicketError;
use super::free_slots::FreeSlots;
use super::reply::answer_of;
use super::sharded_counter::ShardedCounter;
use super::ticket::{End, Oneshot};
use super::{Shared, SharedRing};
use crate::backend::NamedWaves;
use seawall_core::abi::ring::{BATCHES, FaultCode, Kind, PRIORITIES, Status, TENANTS};
use seawall_core::protocol::Refusal;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A post in flight.
#[derive(Debug, Default)]
pub(super) struct Flight {
    /// Its request and the place of its answer; `None` once that is delivered.
    pub(super) expected: Option<(Kind, Arc<Oneshot>)>,
    /// The batch that a fence closes.
    pub(super) closes: Option<u32>,
    /// Time at which the watchdog first found the slot claimed, if it has been since.
    pub(super) claimed_since: Option<Instant>,
    /// Its client; `None` if nothing is in flight.
    pub(super) tenant: Option<u32>,
}

/// The counters of the host.
#[derive(Debug)]
pub(super) struct InFlight {
    free: [FreeSlots; PRIORITIES as usize],
    flights: Vec<Mutex<Flight>>,
    batches: Mutex<Vec<u32>>,
    /// The waves of the programs, for the faults of their queries.
    programs: Vec<NamedWaves>,
    /// Batches that were dropped without a fence, and their members.
    orphans: Mutex<Vec<(u32, u32)>>,
    /// Slots in flight, by tenant.
    open: [ShardedCounter; TENANTS as usize],
    pub(super) submitted: ShardedCounter,
    pub(super) delivered: ShardedCounter,
    pub(super) overrun: AtomicU64,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl InFlight {
    pub(super) fn new(ring: SharedRing<'_>, programs: Vec<NamedWaves>) -> Self {
        Self {
            free: std::array::from_fn(|level| FreeSlots::new(ring.slots_of(level as u32))),
            flights: (0..ring.layout().slots())
                .map(|_| Mutex::default())
                .collect(),
            batches: Mutex::new((1..=BATCHES).rev().collect()),
            programs,
            orphans: Mutex::default(),
            open: Default::default(),
            submitted: ShardedCounter::default(),
            delivered: ShardedCounter::default(),
            overrun: AtomicU64::new(0),
        }
    }

    /// A free slot of a priority.
    pub(super) fn take(&self, level: u32) -> Option<u32> {
        self.free.get(level as usize)?.take()
    }

    /// Waits until a slot of a priority may be free.
    pub(super) fn wait_for_slot(&self, level: u32, longest: Duration) {
        if let Some(free) = self.free.get(level as usize) {
            free.wait(longest);
        }
    }

    /// Wakes the threads that wait for space, to find the service closed.
    pub(super) fn wake_all(&self) {
        self.free.iter().for_each(FreeSlots::wake_all);
    }

    pub(super) fn expect(&self, index: u32, flight: Flight) {
        self.submitted.add(1);
        if let Some(open) = self.open_of(flight.tenant) {
            open.add(1);
        }
        if let Some(place) = self.flights.get(index as usize) {
            *locked(place) = flight;
        }
    }

    fn open_of(&self, tenant: Option<u32>) -> Option<&ShardedCounter> {
        self.open.get(tenant? as usize)
    }

    /// Whether no slot of a tenant is in flight, so that none writes to its window.
    pub(super) fn is_idle(&self, tenant: u32) -> bool {
        let open = self.open_of(Some(tenant));
        open.is_none_or(|open| open.sum() == 0)
    }

    /// Delivers the answer of a slot that ended, and frees it. Does nothing for other slots.
    pub(super) fn harvest(&self, ring: SharedRing<'_>, index: u32) {
        let Some(place) = self.flights.get(index as usize) else {
            return;
        };
        let mut flight = locked(place);
        let Some(record) = ring.ended(index) else {
            return;
        };
        let flight_now = std::mem::take(&mut *flight);
        ring.release(index);
        drop(flight);
        if let Some(open) = self.open_of(flight_now.tenant) {
            open.take();
        }
        if let Some(batch) = flight_now.closes {
            locked(&self.batches).push(batch);
        }
        self.give_back(ring, index);
        if let Some((kind, oneshot)) = flight_now.expected {
            let end = answer_of(kind, &record, &self.programs);
            self.deliver(&oneshot, end);
        }
    }

    fn deliver(&self, oneshot: &Oneshot, end: End) {
        self.delivered.add(1);
        oneshot.deliver(end);
    }

    fn give_back(&self, ring: SharedRing<'_>, index: u32) {
        for (level, free) in (0..).zip(&self.free) {
            if ring.slots_of(level).contains(&index) {
                free.give_back(index);
            }
        }
    }

    /// Delivers the answers of all slots that ended.
    pub(super) fn harvest_all(&self, ring: SharedRing<'_>) {
        for index in 0..ring.layout().slots() {
            if ring.may_have_ended(index) {
                self.harvest(ring, index);
            }
        }
    }

    /// Delivers a fault for slots that were found claimed for longer than `budget`. Such a slot
    /// stays out of use until its worker releases it.
    pub(super) fn end_overrun(&self, ring: SharedRing<'_>, budget: Duration) {
        for (index, place) in (0..).zip(&self.flights) {
            let mut flight = locked(place);
            if ring.poll(index) != Some(Status::Claimed) {
                flight.claimed_since = None;
                continue;
            }
            let since = *flight.claimed_since.get_or_insert_with(Instant::now);
            if since.elapsed() < budget {
                continue;
            }
            if let Some((_, oneshot)) = flight.expected.take() {
                self.overrun.fetch_add(1, Ordering::Relaxed);
                tracing::warn!(
                    slot = index,
                    ?budget,
                    "a query took too long and ended in a fault"
                );
                let fault = Refusal::new(FaultCode::TimeBudget, 0);
                self.deliver(&oneshot, Err(TicketError::Fault(fault)));
            }
        }
    }

    /// Ends every ticket without an answer: no worker will answer any more.
    pub(super) fn end_all(&self) {
        for place in &self.flights {
            if let Some((_, oneshot)) = locked(place).expected.take() {
                self.deliver(&oneshot, Err(TicketError::Ended));
            }
        }
    }

    /// An unused batch number, from 1.
    pub(super) fn take_batch(&self) -> Option<u32> {
        locked(&self.batches).pop()
    }

    /// Frees a batch without a fence once its members have ended.
    pub(super) fn orphan(&self, batch: u32, members: u32) {
        locked(&self.orphans).push((batch, members));
    }

    /// Frees the batches without a fence whose members have ended.
    pub(super) fn adopt(&self, shared: &Shared) {
        let counts = shared.ring().control().batches;
        let mut orphans = locked(&self.orphans);
        let mut batches = locked(&self.batches);
        orphans.retain(|(batch, members)| {
            let ended = counts.get(*batch as usize - 1) == Some(members);
            if ended {
                batches.push(*batch);
            }
            !ended
        });
    }
}
