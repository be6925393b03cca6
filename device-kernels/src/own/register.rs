//! Registers as waves of other crates see them.

use crate::machine::memory::{Checked, Kept, Words};
use core::marker::PhantomData;
use seawall_core::abi::facts::Operand;

/// A register of a running wave, which it may read, write, or both.
///
/// Every access checks its index: one out of range reads 0 or stores nothing, and the
/// wave then ends as a fault that names the index and the length.
#[derive(Clone, Copy, Debug)]
pub struct Register<'w, const READ: bool, const WRITE: bool> {
    words: Kept<Checked>,
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
            words: Kept::of(words),
            operand,
            wave: PhantomData,
        }
    }

    /// Its length in words.
    #[inline(always)]
    #[must_use]
    pub fn len(self) -> u32 {
        self.words.len()
    }

    /// Whether it has no words.
    #[inline(always)]
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.words.len() == 0
    }

    /// The operand that it is.
    #[inline(always)]
    pub(super) fn operand(self) -> Operand {
        self.operand
    }

    #[inline(always)]
    pub(super) fn words(self) -> Words {
        self.words.array()
    }
}
