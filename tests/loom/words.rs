//! Shared words for the checker.

use loom::cell::UnsafeCell;
use loom::sync::atomic::AtomicU32 as Modelled;
use seawall_core::abi::ring::ControlBlock;
use seawall_core::protocol::{Layout, Read, Scope, Site, Swap, Update, Words, Write};
use std::collections::HashMap;
use std::mem::offset_of;
use std::sync::atomic::{AtomicU32, Ordering};

pub(crate) const EPOCH: u32 = (offset_of!(ControlBlock, epoch) / 4) as u32;
pub(crate) const BATCH: u32 = (offset_of!(ControlBlock, batches) / 4) as u32;
pub(crate) const SHUTDOWN: u32 = (offset_of!(ControlBlock, shutdown) / 4) as u32;

/// A place whose order a test removes, or none.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Weakened(pub(crate) Option<Site>);

impl Weakened {
    fn keeps(self, site: Site) -> bool {
        self.0 != Some(site)
    }

    /// The order of a load: the product's, unless its place is weakened.
    pub(crate) fn read(self, order: Read) -> Ordering {
        match order {
            Read::Acquire(site) if !self.keeps(site) => Ordering::Relaxed,
            order => order.ordering(),
        }
    }

    /// The order of a store.
    pub(crate) fn write(self, order: Write) -> Ordering {
        match order {
            Write::Release(site) if !self.keeps(site) => Ordering::Relaxed,
            order => order.ordering(),
        }
    }

    /// The order of an update.
    pub(crate) fn update(self, order: Update) -> Ordering {
        let order = match order {
            Update::Acquire(site) | Update::Release(site) if !self.keeps(site) => Update::Relaxed,
            Update::Both { acquire, release } if !self.keeps(acquire) => Update::Release(release),
            Update::Both { acquire, release } if !self.keeps(release) => Update::Acquire(acquire),
            order => order,
        };
        order.ordering()
    }
}

/// Words that a test watches.
#[derive(Clone, Debug, Default)]
pub(crate) struct Watched {
    /// Words that threads change at the same time: the checker returns every value that a load may.
    pub(crate) modelled: Vec<u32>,
    /// Words that belong to one thread at a time: the checker fails where two accesses have no order
    /// between them, also a read before a write, which it does not see in modelled words.
    pub(crate) owned: Vec<u32>,
    /// Whether statuses are sealed, as on a GPU.
    pub(crate) seals: bool,
}

/// The words of a ring. Unwatched words are plain counters whose order no reader relies on, which
/// keeps the states few.
pub(crate) struct LoomWords {
    modelled: HashMap<u32, Modelled>,
    owned: HashMap<u32, Owned>,
    plain: Vec<AtomicU32>,
    seals: bool,
    weakened: Weakened,
}

/// A word of one thread at a time.
pub(crate) struct Owned(UnsafeCell<u32>);

// SAFETY: the checker fails on two unordered accesses of a word.
unsafe impl Sync for Owned {}
// SAFETY: the same.
unsafe impl Send for Owned {}

impl Owned {
    pub(crate) fn new(word: u32) -> Self {
        Self(UnsafeCell::new(word))
    }

    pub(crate) fn get(&self) -> u32 {
        // SAFETY: the checker fails on a concurrent write.
        self.0.with(|word| unsafe { *word })
    }

    pub(crate) fn set(&self, value: u32) {
        // SAFETY: the checker fails on a concurrent access.
        self.0.with_mut(|word| unsafe { *word = value });
    }
}

impl LoomWords {
    pub(crate) fn new(layout: Layout, watched: &Watched, weakened: Option<Site>) -> Self {
        let model = |at: &u32| (*at, Modelled::new(0));
        let own = |at: &u32| (*at, Owned::new(0));
        Self {
            modelled: watched.modelled.iter().map(model).collect(),
            owned: watched.owned.iter().map(own).collect(),
            plain: (0..layout.words()).map(|_| AtomicU32::new(0)).collect(),
            seals: watched.seals,
            weakened: Weakened(weakened),
        }
    }
}

impl Words for LoomWords {
    fn load(&self, at: u32, order: Read, _: Scope) -> u32 {
        let order = self.weakened.read(order);
        if let Some(word) = self.owned.get(&at) {
            return word.get();
        }
        let plain = || self.plain[at as usize].load(order);
        let modelled = self.modelled.get(&at);
        modelled.map_or_else(plain, |word| word.load(order))
    }

    fn store(&self, at: u32, value: u32, order: Write, _: Scope) {
        let order = self.weakened.write(order);
        if let Some(word) = self.owned.get(&at) {
            return word.set(value);
        }
        match self.modelled.get(&at) {
            Some(word) => word.store(value, order),
            None => self.plain[at as usize].store(value, order),
        }
    }

    fn swap_if(&self, at: u32, swap: Swap, order: Update, _: Scope) -> u32 {
        let (order, failed) = (self.weakened.update(order), Ordering::Relaxed);
        let Swap { expected, value } = swap;
        let swapped = match self.modelled.get(&at) {
            Some(word) => word.compare_exchange(expected, value, order, failed),
            None => self.plain[at as usize].compare_exchange(expected, value, order, failed),
        };
        swapped.unwrap_or_else(|found| found)
    }

    fn add(&self, at: u32, value: u32, order: Update, _: Scope) -> u32 {
        let order = self.weakened.update(order);
        let plain = || self.plain[at as usize].fetch_add(value, order);
        let modelled = self.modelled.get(&at);
        modelled.map_or_else(plain, |word| word.fetch_add(value, order))
    }

    fn seals(&self) -> bool {
        self.seals
    }
}
