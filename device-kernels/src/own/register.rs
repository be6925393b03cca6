//! Registers as waves of other crates see them.

use crate::memory::Words;
use core::marker::PhantomData;
use seawall_core::abi::facts::Operand;

/// A register of a running wave, which it may read, write, or both.
///
/// Every access checks its index: one out of range reads 0 or stores nothing, and the
/// wave then ends as a fault that names the index and the length.
#[derive(Clone, Copy, Debug)]
pub struct Register<'w, const READ: bool, const WRITE: bool> {
    // A number, so that closures over items may share it.
    address: u64,
    len: u32,
    operand: Operand,
    wave: PhantomData<&'w ()>,
}

/// A register that a wave reads.
pub type Source<'w> = Register<'w, true, false>;

/// A register that a wave fills: it stores every word.
pub type Target<'w> = Register<'w, false, true>;

/// A register that a wave changes.
pub type Shared<'w> = Register<'w, true, true>;

impl<const READ: bool, const WRITE: bool> Register<'_, READ, WRITE> {
    #[inline(always)]
    pub(super) fn new(words: Words, operand: Operand) -> Self {
        Self {
            address: words.address(),
            len: words.len(),
            operand,
            wave: PhantomData,
        }
    }

    /// Its length in words.
    #[inline(always)]
    #[must_use]
    pub fn len(self) -> u32 {
        self.len
    }

    /// Whether it has no words.
    #[inline(always)]
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.len == 0
    }

    /// The operand that it is.
    #[inline(always)]
    pub(super) fn operand(self) -> Operand {
        self.operand
    }

    #[inline(always)]
    pub(super) fn words(self) -> Words {
        // SAFETY: `new` took an array of this address and length, which is valid for the
        // run. The lifetime is that of the wave, which a handle cannot outlive.
        unsafe { Words::new(self.address as *mut u32, self.len) }
    }
}
