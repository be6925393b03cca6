//! Shared words for the checker.

use loom::sync::atomic::AtomicU32 as Modelled;
use seawall_core::abi::ring::{BATCHES, ControlBlock, Status};
use seawall_core::protocol::{Layout, Read, Scope, Swap, Update, Words, Write};
use std::collections::HashMap;
use std::mem::offset_of;
use std::sync::atomic::{AtomicU32, Ordering};

/// An order that a mutation takes away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Site {
    Publish,
    Claim,
    Answer,
    Poll,
    PutBack,
    Member,
    FenceLook,
    EpochStep,
    EpochLook,
    PrintWritten,
    PrintLook,
}

pub(crate) const EPOCH: u32 = (offset_of!(ControlBlock, epoch) / 4) as u32;
pub(crate) const BATCH: u32 = (offset_of!(ControlBlock, batches) / 4) as u32;

/// The words that a test is about are modelled; the others, counters whose order no
/// reader relies on, are plain, which keeps the states few.
pub(crate) struct LoomWords {
    layout: Layout,
    modelled: HashMap<u32, Modelled>,
    plain: Vec<AtomicU32>,
    weakened: Option<Site>,
}

impl LoomWords {
    pub(crate) fn new(layout: Layout, modelled: &[u32], weakened: Option<Site>) -> Self {
        let model = |at: &u32| (*at, Modelled::new(0));
        Self {
            layout,
            modelled: modelled.iter().map(model).collect(),
            plain: (0..layout.words()).map(|_| AtomicU32::new(0)).collect(),
            weakened,
        }
    }

    fn is_status(&self, at: u32) -> bool {
        (0..self.layout.slots()).any(|index| self.layout.slot(index) == at)
    }

    fn is_print(&self, at: u32) -> bool {
        (0..self.layout.prints()).any(|index| self.layout.print(index) == at)
    }

    fn keeps(&self, site: Option<Site>) -> bool {
        site.is_none() || site != self.weakened
    }

    fn loads(&self, at: u32) -> Option<Site> {
        match at {
            _ if self.is_status(at) => Some(Site::Poll),
            _ if self.is_print(at) => Some(Site::PrintLook),
            EPOCH => Some(Site::EpochLook),
            _ if (BATCH..BATCH + BATCHES).contains(&at) => Some(Site::FenceLook),
            _ => None,
        }
    }

    fn stores(&self, at: u32, value: u32) -> Option<Site> {
        if self.is_print(at) {
            return Some(Site::PrintWritten);
        }
        match Status::from_word(value).filter(|_| self.is_status(at))? {
            Status::Published => Some(Site::Publish),
            Status::Done | Status::Fault => Some(Site::Answer),
            Status::Yield | Status::Requeue => Some(Site::PutBack),
            Status::Empty | Status::Claimed | Status::WaitIo => None,
        }
    }

    fn updates(&self, at: u32) -> Option<Site> {
        match at {
            _ if self.is_status(at) => Some(Site::Claim),
            EPOCH => Some(Site::EpochStep),
            _ if (BATCH..BATCH + BATCHES).contains(&at) => Some(Site::Member),
            _ => None,
        }
    }

    fn update_order(&self, at: u32, order: Update) -> Ordering {
        match order {
            Update::Acquire if self.keeps(self.updates(at)) => Ordering::Acquire,
            Update::Release if self.keeps(self.updates(at)) => Ordering::Release,
            _ => Ordering::Relaxed,
        }
    }
}

impl Words for LoomWords {
    fn load(&self, at: u32, order: Read, _: Scope) -> u32 {
        let acquires = order == Read::Acquire && self.keeps(self.loads(at));
        let order = if acquires {
            Ordering::Acquire
        } else {
            Ordering::Relaxed
        };
        let plain = || self.plain[at as usize].load(order);
        self.modelled
            .get(&at)
            .map_or_else(plain, |word| word.load(order))
    }

    fn store(&self, at: u32, value: u32, order: Write, _: Scope) {
        let releases = order == Write::Release && self.keeps(self.stores(at, value));
        let order = if releases {
            Ordering::Release
        } else {
            Ordering::Relaxed
        };
        match self.modelled.get(&at) {
            Some(word) => word.store(value, order),
            None => self.plain[at as usize].store(value, order),
        }
    }

    fn swap_if(&self, at: u32, swap: Swap, order: Update, _: Scope) -> u32 {
        let order = self.update_order(at, order);
        let Swap { expected, value } = swap;
        let swapped = match self.modelled.get(&at) {
            Some(word) => word.compare_exchange(expected, value, order, Ordering::Relaxed),
            None => {
                let word = &self.plain[at as usize];
                word.compare_exchange(expected, value, order, Ordering::Relaxed)
            }
        };
        swapped.unwrap_or_else(|found| found)
    }

    fn add(&self, at: u32, value: u32, order: Update, _: Scope) -> u32 {
        let order = self.update_order(at, order);
        let plain = || self.plain[at as usize].fetch_add(value, order);
        let modelled = self.modelled.get(&at);
        modelled.map_or_else(plain, |word| word.fetch_add(value, order))
    }
}
