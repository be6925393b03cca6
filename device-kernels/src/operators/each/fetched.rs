//! An instruction of the running wave, as lanes read it.

use crate::machine::memory::Words;
use bytemuck::CheckedBitPattern;
use seawall_core::abi::code::{Joined, NEIGHBOUR, Op};

/// An instruction, its operands still in one word.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fetched {
    pub(super) op: u32,
    temps: u32,
    /// The word that replaces an operand.
    pub(super) word: u32,
    /// Its high word, or another parameter of the operation.
    pub(super) other: u32,
}

/// Whether an instruction asks for values of neighbours, and there is one for each of `nodes`.
#[inline(always)]
pub(super) fn is_sure(op: Op, temps: u32, array: Words, nodes: u32) -> bool {
    let joined = Joined::from_word(temps >> (8 * C)).filter(|_| op == Op::Scatter);
    let words = match (op, joined) {
        (Op::LoadWide | Op::LatestWide, _) => 2,
        (_, Some(joined)) => joined.kind.words(),
        _ => 1,
    };
    temps >> (8 * A) & 0xff == u32::from(NEIGHBOUR) && array.len() / words >= nodes
}

/// Words of an instruction whose immediate operand is always the first of the two.
#[inline(always)]
pub(super) fn arranged([op, temps, first, second]: [u32; 4]) -> [u32; 4] {
    if known(op).uses_first() {
        [op, temps, second, first]
    } else {
        [op, temps, first, second]
    }
}

/// The operation of a word. The host checked that there is one.
#[inline(always)]
pub(super) fn known(word: u32) -> Op {
    if Op::is_valid_bit_pattern(&word) {
        bytemuck::checked::cast(word)
    } else {
        Op::Take
    }
}

/// Number of an operand: `to`, `a`, `b`, `c`.
pub(super) const TO: u32 = 0;
pub(super) const A: u32 = 1;
pub(super) const B: u32 = 2;
pub(super) const C: u32 = 3;

impl Fetched {
    #[inline(always)]
    pub(super) const fn of([op, temps, word, other]: [u32; 4]) -> Self {
        Self {
            op,
            temps,
            word,
            other,
        }
    }

    /// Byte of operand `which`.
    #[inline(always)]
    pub(super) const fn byte(self, which: u32) -> u32 {
        self.temps >> (8 * which) & 0xff
    }

    /// Its join, if it has one.
    #[inline(always)]
    pub(super) fn joined(self) -> Option<Joined> {
        Joined::from_word(self.byte(C))
    }
}
