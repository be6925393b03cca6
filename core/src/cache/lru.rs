//! The mechanism of the cache: hashed buckets to find a slot, a list by age to evict one.
//!
//! Slots live in a vector and link to each other by number. Each slot is in two lists: the chain
//! of its bucket and the list by age. A number that names no slot ends a list, so no link is ever
//! followed unchecked. There are as many buckets as slots, hence chains of length 1 on average.

use super::Identity;
use crate::topology::{MetricClass, Topology};
use heapless::VecView;

/// Ends a list.
pub(super) const NIL: u32 = u32::MAX;

/// Key of a raw choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub(super) struct Key {
    pub(super) identity: Identity,
    pub(super) class: MetricClass,
}

impl Key {
    /// A hash that spreads over all 64 bits: multiply and fold, one word after the other.
    const fn hash(&self) -> u64 {
        let words = self.identity.words();
        let mut rest: &[u64] = &words;
        let mut hash = self.class.0 as u64;
        while let [word, tail @ ..] = rest {
            let mixed = (hash ^ *word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            hash = mixed ^ mixed.wrapping_shr(29);
            rest = tail;
        }
        hash.wrapping_mul(0xD6E8_FEB8_6659_FD93)
    }
}

/// One stored choice with its links.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub(super) struct Slot {
    key: Key,
    raw: Topology,
    newer: u32,
    older: u32,
    chained: u32,
}

const _: () = assert!(size_of::<Slot>() <= 72, "the documented size of a slot");

/// The ends of the list by age.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub(super) struct Ends {
    newest: u32,
    oldest: u32,
}

impl Ends {
    pub(super) const EMPTY: Self = Self {
        newest: NIL,
        oldest: NIL,
    };
}

/// Outcome of storing a key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Insertion {
    pub(super) stored: bool,
    pub(super) evicted: bool,
}

/// A view of a cache's buffers, so that this code exists once for all capacities.
#[derive(Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub(super) struct Lru<'a> {
    pub(super) slots: &'a mut VecView<Slot>,
    pub(super) buckets: &'a mut [u32],
    pub(super) ends: &'a mut Ends,
}

impl Lru<'_> {
    /// The choice stored under `key`, which becomes the most recently used.
    pub(super) fn get(&mut self, key: &Key) -> Option<Topology> {
        let index = self.find(key)?;
        self.unlink(index);
        self.push_newest(index);
        self.slot(index).map(|slot| slot.raw)
    }

    /// Stores a choice under a key that is absent, for the least recently used when full.
    pub(super) fn insert(&mut self, key: &Key, raw: Topology) -> Insertion {
        let evicted = self.slots.is_full();
        let slot = Slot {
            key: *key,
            raw,
            newer: NIL,
            older: NIL,
            chained: NIL,
        };
        let Some(index) = self.store(slot) else {
            return Insertion::default();
        };
        self.chain(index, key);
        self.push_newest(index);
        Insertion {
            stored: true,
            evicted,
        }
    }

    /// Appends a slot, or replaces the oldest; `None` when there is no room.
    fn store(&mut self, slot: Slot) -> Option<u32> {
        let unused = u32::try_from(self.slots.len()).ok()?;
        let Err(slot) = self.slots.push(slot) else {
            return Some(unused);
        };
        let oldest = self.ends.oldest;
        self.unlink(oldest);
        self.unchain(oldest);
        *self.slot_mut(oldest)? = slot;
        Some(oldest)
    }

    /// Forgets every key.
    pub(super) fn clear(&mut self) {
        self.slots.clear();
        self.buckets.fill(NIL);
        *self.ends = Ends::EMPTY;
    }

    fn find(&self, key: &Key) -> Option<u32> {
        let mut index = self.buckets.get(self.bucket(key)).copied()?;
        while let Some(slot) = self.slot(index) {
            if slot.key == *key {
                return Some(index);
            }
            index = slot.chained;
        }
        None
    }

    /// The bucket of a key: the hash scaled to the bucket count, which needs no division.
    fn bucket(&self, key: &Key) -> usize {
        let high = key.hash().wrapping_shr(32);
        high.wrapping_mul(self.buckets.len() as u64)
            .wrapping_shr(32) as usize
    }

    fn chain(&mut self, index: u32, key: &Key) {
        let bucket = self.bucket(key);
        let Some(head) = self.buckets.get_mut(bucket) else {
            return;
        };
        let next = core::mem::replace(head, index);
        if let Some(slot) = self.slot_mut(index) {
            slot.chained = next;
        }
    }

    fn unchain(&mut self, index: u32) {
        let Some(slot) = self.slot(index) else {
            return;
        };
        let (next, bucket) = (slot.chained, self.bucket(&slot.key));
        let Some(head) = self.buckets.get_mut(bucket) else {
            return;
        };
        if *head == index {
            *head = next;
            return;
        }
        let mut before = *head;
        while let Some(slot) = self.slot_mut(before) {
            if slot.chained == index {
                slot.chained = next;
                return;
            }
            before = slot.chained;
        }
    }

    fn unlink(&mut self, index: u32) {
        let Some(&Slot { newer, older, .. }) = self.slot(index) else {
            return;
        };
        match self.slot_mut(newer) {
            Some(slot) => slot.older = older,
            None => self.ends.newest = older,
        }
        match self.slot_mut(older) {
            Some(slot) => slot.newer = newer,
            None => self.ends.oldest = newer,
        }
    }

    fn push_newest(&mut self, index: u32) {
        let second = core::mem::replace(&mut self.ends.newest, index);
        match self.slot_mut(second) {
            Some(slot) => slot.newer = index,
            None => self.ends.oldest = index,
        }
        if let Some(slot) = self.slot_mut(index) {
            slot.newer = NIL;
            slot.older = second;
        }
    }

    fn slot(&self, index: u32) -> Option<&Slot> {
        self.slots.get(index as usize)
    }

    fn slot_mut(&mut self, index: u32) -> Option<&mut Slot> {
        self.slots.get_mut(index as usize)
    }
}
