//! Code that a wave runs for each item, written by users without a kernel.
//!
//! An [`Opcode::Each`](super::program::Opcode::Each) wave runs a list of [`Instruction`]s for each
//! item of its domain: a node, a word, an entry of a list. One value is in the accumulator: the
//! result of the last instruction, or its first operand if it made none. Others are in [`TEMPS`]
//! words per lane. A part of the code may run for each edge of an item and reduce its results.
//! There are no jumps, so code always ends.

mod join;
mod op;

pub use join::{Join, Joined, Kind};
pub use op::{Access, Form, Op, Outcome, Standing};

use super::assert_words;
use bytemuck::{Pod, Zeroable};

/// Words of values that an item has at a time. A value of 64 bits takes two.
pub const TEMPS: u8 = 11;

/// Bit of a temporary's byte: it belongs to an edge, not to the edge's item.
pub const OF_EDGE: u8 = 0x80;

/// Bit of an operand's byte: it has two words.
pub const PAIR: u8 = 0x40;

/// Bit of an operand's byte: it is the temporary that the low bits number.
pub const TEMPORARY: u8 = 0x10;

/// The bits of an operand's byte that number a temporary.
pub const NUMBERED: u8 = 0x0f;

/// Stands for a missing operand. In place of `a`, the accumulator is the operand; in place of `to`,
/// the value is not kept.
pub const NOTHING: u8 = 0;

/// Stands for a temporary: the word [`Instruction::first`], and [`Instruction::second`] as its high
/// word; of operations that [use the first word otherwise](Op::uses_first) the word
/// [`Instruction::second`].
pub const WORD: u8 = 1;

/// Stands for the temporary `a`, outside of edge parts: the number of the item.
pub const NUMBER: u8 = 0x20;

/// Stands for the temporary `a`, in an edge part: the node at the other end of the edge.
pub const NEIGHBOUR: u8 = 0x21;

/// Stands for `to` of [`Op::Scatter`]: the previous value is only in the accumulator, and not used
/// if there is none.
pub const AT_HAND: u8 = 2;

/// Most loops within each other.
pub const DEPTH_MAX: u32 = 3;

/// Edges of an item that is a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(u32)]
pub enum Edges {
    /// Edges that leave it.
    Out = 0,
    /// Edges that enter it.
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
    /// Whether the rest of a row may be skipped at all: early, or where an edge allows it.
    pub may_stop: bool,
    /// Number of reductions, which are the part's last instructions.
    pub reductions: u32,
}

impl EdgesPart {
    /// Encodes it as a word.
    #[must_use]
    pub const fn to_word(self) -> u32 {
        let early = (self.ends_early as u32) << 1 | (self.may_stop as u32) << 2;
        self.edges as u32 | early | self.reductions << 8
    }

    /// Decodes a word.
    #[must_use]
    pub const fn from_word(word: u32) -> Self {
        Self {
            edges: if word & 1 == 0 { Edges::Out } else { Edges::In },
            ends_early: word & 2 != 0,
            may_stop: word & 4 != 0,
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
    /// The operands `to`, `a`, `b` and `c`: temporaries with [`OF_EDGE`] and [`PAIR`] among their
    /// bits, or a placeholder. In place of `c`, comparisons have an [`Outcome`] and joins a
    /// [`Joined`].
    pub temps: [u8; 4],
    /// Meaning depends on the operation.
    pub first: u32,
    /// Meaning depends on the operation.
    pub second: u32,
}
assert_words!(Instruction, 4);

impl Instruction {
    /// Its operands; `None` if it names no operation, no join or no outcome.
    #[must_use]
    pub fn form(&self) -> Option<Form> {
        let op = Op::from_word(self.op)?;
        let form = op.form();
        let [_, a, _, c] = self.temps;
        if op.is_comparison() {
            let (to, standing) = match Outcome::from_byte(c)? {
                Outcome::Value => (form.to, form.standing),
                Outcome::Only => (0, form.standing),
                Outcome::Until => (0, Standing::Edge),
            };
            return Some(Form {
                to,
                standing,
                ..form
            });
        }
        let words = match op {
            Op::Take if a & PAIR != 0 => 2,
            Op::Scatter | Op::Fold | Op::Reduce => self.joined()?.kind.words(),
            _ => return Some(form),
        };
        Some(match op {
            Op::Take => Form {
                to: words,
                from: [words, 0, 0],
                ..form
            },
            Op::Fold => Form {
                from: [words, words, 0],
                ..form
            },
            Op::Scatter => Form {
                to: words,
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

    /// The join of an instruction that has one; `None` if it names none.
    #[must_use]
    pub fn joined(&self) -> Option<Joined> {
        Joined::from_word(self.temps[3].into())
    }
}

/// Needs of code, in the encoding of [`EachRecord`](super::program::EachRecord).
pub mod needs {
    use super::{Edges, EdgesPart, Instruction, Op};

    /// Incoming edges.
    pub const INCOMING: u32 = 1;
    /// Weights of outgoing edges.
    pub const WEIGHTS: u32 = 2;
    /// Space for results of all items, see [`Op::Fold`].
    pub const FOLDS: u32 = 4;
    /// Weights of incoming edges.
    pub const INCOMING_WEIGHTS: u32 = 16;

    /// The needs of `code`, a bit each.
    #[must_use]
    pub fn of(code: &[Instruction]) -> u32 {
        // Weights are read only in edge parts, so the last part that began counts.
        let mut edges = Edges::Out;
        code.iter().fold(0, |all, at| {
            if at.op == Op::Edges as u32 {
                edges = EdgesPart::from_word(at.first).edges;
            }
            all | of_instruction(at, edges)
        })
    }

    /// The needs of an instruction, in a part for `edges` if it is in one.
    fn of_instruction(at: &Instruction, edges: Edges) -> u32 {
        let incoming = |edges: Edges| match edges {
            Edges::In => INCOMING,
            Edges::Out => 0,
        };
        match Op::from_word(at.op) {
            Some(Op::Edges) => incoming(EdgesPart::from_word(at.first).edges),
            Some(Op::Degree | Op::FirstEdge) if at.first != Edges::Out as u32 => INCOMING,
            Some(Op::EdgeWeight) => match edges {
                Edges::Out => WEIGHTS,
                Edges::In => INCOMING_WEIGHTS,
            },
            Some(Op::Fold) => FOLDS,
            _ => 0,
        }
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

/// Random bits that depend only on a seed, a key and a counter: the same on every machine and in
/// every order.
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
                for may_stop in [false, true] {
                    let part = EdgesPart {
                        edges,
                        ends_early,
                        may_stop,
                        reductions: 3,
                    };
                    assert_eq!(EdgesPart::from_word(part.to_word()), part);
                }
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
