//! The ring's words as atomics of this process.

use super::error::StartError;
use crate::backend::pages::Pages;
use seawall_core::protocol::{Read, Scope, Swap, Update, Words, Write};
use std::sync::atomic::Ordering;

/// Words shared by threads and a serving device. Both scopes are the same for threads.
#[derive(Debug)]
pub struct SharedWords(Pages);

impl SharedWords {
    /// `words` words of 0.
    ///
    /// # Errors
    /// [`StartError::OutOfMemory`] if memory is short.
    pub fn new(words: u32) -> Result<Self, StartError> {
        let pages = Pages::new(words).ok_or(StartError::OutOfMemory {
            bytes: u64::from(words) * 4,
        })?;
        Ok(Self(pages))
    }

    /// Their pages.
    pub(super) const fn pages(&self) -> &Pages {
        &self.0
    }
}

impl Words for SharedWords {
    fn load(&self, at: u32, order: Read, _: Scope) -> u32 {
        let word = self.0.get(at);
        word.map_or(0, |word| word.load(order.ordering()))
    }

    fn store(&self, at: u32, value: u32, order: Write, _: Scope) {
        if let Some(word) = self.0.get(at) {
            word.store(value, order.ordering());
        }
    }

    fn swap_if(&self, at: u32, swap: Swap, order: Update, _: Scope) -> u32 {
        let Some(word) = self.0.get(at) else {
            return 0;
        };
        let (ok, not) = (order.ordering(), Ordering::Relaxed);
        word.compare_exchange(swap.expected, swap.value, ok, not)
            .unwrap_or_else(|found| found)
    }

    fn add(&self, at: u32, value: u32, order: Update, _: Scope) -> u32 {
        let word = self.0.get(at);
        word.map_or(0, |word| word.fetch_add(value, order.ordering()))
    }
}
