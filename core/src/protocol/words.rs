//! The four operations on shared memory that the protocol needs.

use super::Site;
use core::sync::atomic::Ordering;

/// Order of a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Read {
    /// No order with other words.
    Relaxed,
    /// Later accesses come after it.
    Acquire(Site),
}

impl Read {
    /// The order for threads.
    #[inline(always)]
    #[must_use]
    pub const fn ordering(self) -> Ordering {
        match self {
            Self::Relaxed => Ordering::Relaxed,
            Self::Acquire(_) => Ordering::Acquire,
        }
    }
}

/// Order of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Write {
    /// No order with other words.
    Relaxed,
    /// Earlier accesses come before it.
    Release(Site),
}

impl Write {
    /// The order for threads.
    #[inline(always)]
    #[must_use]
    pub const fn ordering(self) -> Ordering {
        match self {
            Self::Relaxed => Ordering::Relaxed,
            Self::Release(_) => Ordering::Release,
        }
    }
}

/// Order of a read-modify-write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Update {
    /// No order with other words.
    Relaxed,
    /// Later accesses come after it.
    Acquire(Site),
    /// Earlier accesses come before it.
    Release(Site),
    /// Both.
    Both {
        /// Later accesses come after it.
        acquire: Site,
        /// Earlier accesses come before it.
        release: Site,
    },
}

impl Update {
    /// The order for threads. A failed operation, such as a swap of an unexpected word, has none.
    #[inline(always)]
    #[must_use]
    pub const fn ordering(self) -> Ordering {
        match self {
            Self::Relaxed => Ordering::Relaxed,
            Self::Acquire(_) => Ordering::Acquire,
            Self::Release(_) => Ordering::Release,
            Self::Both { .. } => Ordering::AcqRel,
        }
    }
}

/// The threads that an access is ordered for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Scope {
    /// Workers of one device.
    Device,
    /// Workers and hosts.
    System,
}

/// Operands of a compare-and-swap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Swap {
    /// The value that must be there.
    pub expected: u32,
    /// The value that replaces it.
    pub value: u32,
}

/// Shared words, by index.
///
/// All operations are atomic. A ring asks for no index beyond
/// [`Layout::words`](super::Layout::words).
pub trait Words {
    /// Reads a word.
    fn load(&self, at: u32, order: Read, scope: Scope) -> u32;
    /// Writes a word.
    fn store(&self, at: u32, value: u32, order: Write, scope: Scope);
    /// Swaps a word if it is as expected; returns the previous value. It has this order if it
    /// swaps, and none otherwise.
    fn swap_if(&self, at: u32, swap: Swap, order: Update, scope: Scope) -> u32;
    /// Adds, wrapping, and returns the previous value.
    fn add(&self, at: u32, value: u32, order: Update, scope: Scope) -> u32;
    /// Adds, wrapping, without waiting for the previous value.
    #[inline(always)]
    fn add_unseen(&self, at: u32, value: u32, order: Update, scope: Scope) {
        self.add(at, value, order, scope);
    }
    /// Whether waiting for stores to arrive is so slow that answers are sealed instead
    /// ([`post`](super::post)).
    fn seals(&self) -> bool {
        false
    }
    /// Reads adjacent words of one record, in any order.
    #[inline(always)]
    fn load_run(&self, at: u32, to: &mut [u32]) {
        for (index, word) in (at..).zip(to) {
            *word = self.load(index, Read::Relaxed, Scope::System);
        }
    }
    /// Writes adjacent words of one record, in any order.
    #[inline(always)]
    fn store_run(&self, at: u32, from: &[u32]) {
        for (index, word) in (at..).zip(from) {
            self.store(index, *word, Write::Relaxed, Scope::System);
        }
    }
}
