//! Arrays in code that lanes share.

use super::words::{Trust, Words};
use core::marker::PhantomData;

/// An array whose address is a number, so that a closure that captures it is [`Sync`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kept<T: Trust> {
    address: u64,
    len: u32,
    trust: PhantomData<T>,
}

impl<T: Trust> Kept<T> {
    /// Keeps `array`.
    #[inline(always)]
    pub(crate) fn of(array: Words<T>) -> Self {
        Self {
            address: array.address(),
            len: array.len(),
            trust: PhantomData,
        }
    }

    /// Length in words.
    #[inline(always)]
    pub(crate) fn len(self) -> u32 {
        self.len
    }

    /// The array.
    #[inline(always)]
    pub(crate) fn array(self) -> Words<T> {
        Words {
            base: self.address as *mut u32,
            len: self.len,
            trust: PhantomData,
        }
    }
}
