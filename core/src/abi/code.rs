//! Code that a wave runs for each item, written by users without a kernel.
//!
//! An [`Opcode::Each`](super::program::Opcode::Each) wave runs a list of
//! [`Instruction`]s for each item of its domain: a node, a word, an entry of a list.
//! Values are in [`TEMPS`] words per lane. A part of the code may run for each edge of an
//! item and reduce its findings. There are no jumps, so code always ends.

mod join;
mod op;

pub use join::{Join, Joined, Kind};
pub use op::{Access, Form, Op, Standing};

use super::assert_words;
use bytemuck::{Pod, Zeroable};

/// Words of values that an item has at a time. A value of 64 bits takes two.
pub const TEMPS: u8 = 11;

/// Bit of a temporary's number: it belongs to an edge, not to the item whose edge it is.
pub const OF_EDGE: u8 = 0x80;

/// In place of the temporary `b`, or else of `a`: the operand is the word [`Instruction::first`], of
/// operations that [`Op::takes_word`].
pub const WORD: u8 = 0x7f;

/// In place of the temporary `to` of [`Op::Scatter`]: nobody asks for the value before.
pub const NOBODY: u8 = 0x7f;

/// Most loops within each other.
pub const DEPTH_MAX: u32 = 3;

/// Edges of an item that is a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(u32)]
pub enum Edges {
    /// Those that leave it.
    Out = 0,
    /// Those that enter it.
    In = 1,
}

/// Contents of [`Op::Edges`] in [`Instruction::first`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct EdgesPart {
    /// The edges.
    pub edges: Edges,
    /// Whether the rest of a row may be skipped once no reduction can change.
    pub ends_early: bool,
    /// Number of reductions, which are the part's last instructions.
    pub reductions: u32,
}

impl EdgesPart {
    /// The word of it.
    #[must_use]
    pub const fn to_word(self) -> u32 {
        self.edges as u32 | (self.ends_early as u32) << 1 | self.reductions << 8
    }

    /// Meaning of a word.
    #[must_use]
    pub const fn from_word(word: u32) -> Self {
        Self {
            edges: if word & 1 == 0 { Edges::Out } else { Edges::In },
            ends_early: word & 2 != 0,
            reductions: word >> 8,
        }
    }
}

/// One step of the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Instruction {
    /// Word of an [`Op`].
    pub op: u32,
    /// The temporaries `to`, `a`, `b` and `c`, [`OF_EDGE`] among their bits.
    pub temps: [u8; 4],
    /// Meaning depends on the operation.
    pub first: u32,
    /// Meaning depends on the operation.
    pub second: u32,
}
assert_words!(Instruction, 4);

impl Instruction {
    /// Its operands; `None` if it names no operation or no join.
    #[must_use]
    pub fn form(&self) -> Option<Form> {
        let op = Op::from_word(self.op)?;
        let mut form = op.form();
        let [to, a, b, _] = self.temps;
        if op.takes_word() {
            let [first, second, third] = form.from;
            form.from = match (a, b) {
                (_, WORD) => [first, 0, third],
                // A pair is no word.
                (WORD, _) if first == 1 => [0, second, third],
                _ => form.from,
            };
        }
        let words = match op {
            Op::Scatter | Op::Fold | Op::Reduce => Joined::from_word(self.second)?.kind.words(),
            _ => return Some(form),
        };
        Some(match op {
            Op::Fold => Form {
                from: [words, 0, 0],
                ..form
            },
            Op::Scatter => Form {
                to: if to == NOBODY { 0 } else { words },
                from: [1, words, 0],
                ..form
            },
            _ => Form {
                to: words,
                from: [words, words, 0],
                ..form
            },
        })
    }
}

/// Bits mixed from `word`, each depending on all of its bits ("lowbias32", Chris Wellons).
///
/// ```
/// use seawall_core::abi::code::hash;
/// assert_ne!(hash(1), hash(2));
/// ```
#[must_use]
pub const fn hash(word: u32) -> u32 {
    let word = (word ^ word >> 16).wrapping_mul(0x7FEB_352D);
    let word = (word ^ word >> 15).wrapping_mul(0x846C_A68B);
    word ^ word >> 16
}

/// Random bits that depend on a seed, a key and a counter alone: the same on every
/// machine and in every order.
#[must_use]
pub const fn random(seed: u32, key: u32, counter: u32) -> u32 {
    hash(hash(hash(seed ^ 0x9E37_79B9).wrapping_add(key)).wrapping_add(counter))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_and_joins_survive_their_words() {
        for word in 0..Op::COUNT {
            assert_eq!(Op::from_word(word).map(|op| op as u32), Some(word));
        }
        assert_eq!(Op::from_word(Op::COUNT), None);
        for how in Join::ALL {
            for kind in Kind::ALL {
                let joined = Joined { how, kind };
                let known = how.takes(kind).then_some(joined);
                assert_eq!(Joined::from_word(joined.to_word()), known);
            }
        }
        for edges in [Edges::Out, Edges::In] {
            for ends_early in [false, true] {
                let part = EdgesPart {
                    edges,
                    ends_early,
                    reductions: 3,
                };
                assert_eq!(EdgesPart::from_word(part.to_word()), part);
            }
        }
    }

    #[test]
    fn random_bits_are_spread() {
        let ones: u32 = (0..1000).map(|key| random(7, key, 3).count_ones()).sum();
        assert!((15_500..16_500).contains(&ones), "{ones}");
        assert_ne!(random(7, 1, 2), random(7, 2, 1));
    }
}
