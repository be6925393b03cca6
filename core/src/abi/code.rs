//! Code that a wave runs for each item: what users write without a kernel.
//!
//! An [`Opcode::Each`](super::program::Opcode::Each) wave runs a list of
//! [`Instruction`]s for each item of its domain: a node, a word, an entry of a list.
//! Values live in [`TEMPS`] words a lane. A part of the code may run for each edge of an
//! item and reduce what it finds there. There are no jumps, so code always ends.

use super::assert_words;
use bytemuck::{CheckedBitPattern, Pod, Zeroable};

/// Words of values that an item has at a time. A value of 64 bits takes two.
pub const TEMPS: u8 = 11;

/// Bit of a temporary's number: it belongs to an edge, not to the item whose edge it is.
pub const OF_EDGE: u8 = 0x80;

/// Most loops within each other.
pub const DEPTH_MAX: u32 = 3;

/// A type of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(u32)]
pub enum Kind {
    /// Whole numbers of 32 bits without a sign.
    U32 = 0,
    /// Whole numbers of 32 bits with a sign.
    I32 = 1,
    /// Floats of 32 bits.
    F32 = 2,
    /// Whole numbers of 64 bits without a sign, low word first.
    U64 = 3,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Self; 4] = [Self::U32, Self::I32, Self::F32, Self::U64];

    /// The kind of a word, or nothing when the word names none.
    #[must_use]
    pub const fn from_word(word: u32) -> Option<Self> {
        match word {
            0 => Some(Self::U32),
            1 => Some(Self::I32),
            2 => Some(Self::F32),
            3 => Some(Self::U64),
            _ => None,
        }
    }

    /// Words of a value.
    #[must_use]
    pub const fn words(self) -> u32 {
        match self {
            Self::U32 | Self::I32 | Self::F32 => 1,
            Self::U64 => 2,
        }
    }
}

/// How values become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(u32)]
pub enum Join {
    /// The least.
    Min = 0,
    /// The largest.
    Max = 1,
    /// The sum: of whole numbers modulo 2 to their bits, of floats in any order.
    Sum = 2,
    /// All bits that any has.
    Or = 3,
    /// The bits that all have.
    And = 4,
    /// 1 if any is not 0, else what was there: 0 at first.
    Any = 5,
}

impl Join {
    /// Every join.
    pub const ALL: [Self; 6] = [
        Self::Min,
        Self::Max,
        Self::Sum,
        Self::Or,
        Self::And,
        Self::Any,
    ];

    /// The join of a word, or nothing when the word names none.
    #[must_use]
    pub const fn from_word(word: u32) -> Option<Self> {
        match word {
            0 => Some(Self::Min),
            1 => Some(Self::Max),
            2 => Some(Self::Sum),
            3 => Some(Self::Or),
            4 => Some(Self::And),
            5 => Some(Self::Any),
            _ => None,
        }
    }

    /// Whether values of `kind` are joined so.
    #[must_use]
    pub const fn takes(self, kind: Kind) -> bool {
        match self {
            Self::Min | Self::Max | Self::Sum => true,
            Self::Or | Self::And => matches!(kind, Kind::U32 | Kind::U64),
            Self::Any => matches!(kind, Kind::U32),
        }
    }
}

/// A join and the kind of its values, as [`Instruction::second`] holds both.
///
/// ```
/// use seawall_core::abi::code::{Join, Joined, Kind};
/// let least = Joined { how: Join::Min, kind: Kind::F32 };
/// assert_eq!(Joined::from_word(least.to_word()), Some(least));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Joined {
    /// How.
    pub how: Join,
    /// What.
    pub kind: Kind,
}

impl Joined {
    /// The word of both.
    #[must_use]
    pub const fn to_word(self) -> u32 {
        self.how as u32 | (self.kind as u32) << 8
    }

    /// Both of a word; nothing when it names none or values of the kind are not joined so.
    #[must_use]
    pub const fn from_word(word: u32) -> Option<Self> {
        match (Join::from_word(word & 0xff), Kind::from_word(word >> 8)) {
            (Some(how), Some(kind)) if how.takes(kind) => Some(Self { how, kind }),
            _ => None,
        }
    }

    /// The value that changes no other, in the low bits.
    #[must_use]
    pub const fn identity(self) -> u64 {
        match (self.how, self.kind) {
            (Join::Sum | Join::Or | Join::Any, _) => 0,
            (Join::And, Kind::U64) | (Join::Min, Kind::U64) => u64::MAX,
            (Join::And, _) | (Join::Min, Kind::U32) => u32::MAX as u64,
            (Join::Max, Kind::U32 | Kind::U64) => 0,
            (Join::Min, Kind::I32) => i32::MAX as u64,
            (Join::Max, Kind::I32) => 1 << 31,
            (Join::Min, Kind::F32) => f32::INFINITY.to_bits() as u64,
            (Join::Max, Kind::F32) => f32::NEG_INFINITY.to_bits() as u64,
        }
    }

    /// The value that no other changes, in the low bits, if there is one.
    #[must_use]
    pub const fn end(self) -> Option<u64> {
        match (self.how, self.kind) {
            (Join::Sum, _) | (_, Kind::F32) => None,
            (Join::Any, _) => Some(1),
            (Join::Or, Kind::U64) | (Join::Max, Kind::U64) => Some(u64::MAX),
            (Join::Or, _) | (Join::Max, Kind::U32) => Some(u32::MAX as u64),
            (Join::And, _) | (Join::Min, Kind::U32 | Kind::U64) => Some(0),
            (Join::Max, Kind::I32) => Some(i32::MAX as u64),
            (Join::Min, Kind::I32) => Some(1 << 31),
        }
    }
}

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
    /// Which edges.
    pub edges: Edges,
    /// Whether the rest of a row may be left out once no reduction can change.
    pub ends_early: bool,
    /// How many of the part's last instructions are reductions.
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

/// The operation of an instruction. `to`, `a`, `b` and `c` are its temporaries; a comparison
/// stores 1 or 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, CheckedBitPattern)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(u32)]
pub enum Op {
    /// `to` = the word `first`.
    Constant = 0,
    /// `to` = `first` and `second`, the high word.
    ConstantWide,
    /// `to` = number of the item: a node, or a word's number.
    Item,
    /// `to` = the node at the other end of the edge.
    Neighbour,
    /// `to` = number of the edge among all of its direction.
    EdgeNumber,
    /// `to` = the word of the edge's weight; edges that leave only.
    EdgeWeight,
    /// `to` = how many [`Edges`] of kind `first` node `a` has.
    Degree,
    /// `to` = number of the first of node `a`'s [`Edges`] of kind `first`.
    FirstEdge,
    /// `to` = word `a` of register `first`, from before the wave.
    Load,
    /// `to` = pair `a` of register `first`.
    LoadWide,
    /// `to` = word `a` of register `first` as it is now.
    Latest,
    /// `to` = pair `a` of register `first` as it is now.
    LatestWide,
    /// `to = a + b`.
    Add,
    /// `to = a - b`.
    Sub,
    /// `to = a * b`.
    Mul,
    /// `to = a / b`, all ones where `b` is 0.
    Divide,
    /// `to = a % b`, `a` where `b` is 0.
    Remainder,
    /// `to = min(a, b)`.
    Min,
    /// `to = max(a, b)`.
    Max,
    /// `to = a & b`.
    And,
    /// `to = a | b`.
    Or,
    /// `to = a ^ b`.
    Xor,
    /// `to = a << b`, 0 from 32 on.
    ShiftLeft,
    /// `to = a >> b`, 0 from 32 on.
    ShiftRight,
    /// `to = a == b`.
    Equal,
    /// `to = a != b`.
    NotEqual,
    /// `to = a < b`.
    Below,
    /// `to = a <= b`.
    AtMost,
    /// [`Op::Min`] with signs.
    MinSigned,
    /// [`Op::Max`] with signs.
    MaxSigned,
    /// [`Op::ShiftRight`] that repeats the sign; all of it from 32 on.
    ShiftRightSigned,
    /// [`Op::Below`] with signs.
    BelowSigned,
    /// [`Op::AtMost`] with signs.
    AtMostSigned,
    /// [`Op::Add`] of floats.
    AddFloat,
    /// [`Op::Sub`] of floats.
    SubFloat,
    /// [`Op::Mul`] of floats.
    MulFloat,
    /// [`Op::Divide`] of floats, as IEEE 754 has it.
    DivideFloat,
    /// `to` = `a` if it is below `b`, else `b`.
    MinFloat,
    /// `to` = `a` if it is above `b`, else `b`.
    MaxFloat,
    /// [`Op::Equal`] of floats.
    EqualFloat,
    /// [`Op::NotEqual`] of floats.
    NotEqualFloat,
    /// [`Op::Below`] of floats.
    BelowFloat,
    /// [`Op::AtMost`] of floats.
    AtMostFloat,
    /// [`Op::Add`] of pairs.
    AddWide,
    /// [`Op::Sub`] of pairs.
    SubWide,
    /// [`Op::Mul`] of pairs.
    MulWide,
    /// [`Op::Min`] of pairs.
    MinWide,
    /// [`Op::Max`] of pairs.
    MaxWide,
    /// [`Op::And`] of pairs.
    AndWide,
    /// [`Op::Or`] of pairs.
    OrWide,
    /// [`Op::Xor`] of pairs.
    XorWide,
    /// `to = a << b` of a pair, by a word; 0 from 64 on.
    ShiftLeftWide,
    /// `to = a >> b` of a pair, by a word; 0 from 64 on.
    ShiftRightWide,
    /// [`Op::Equal`] of pairs.
    EqualWide,
    /// [`Op::NotEqual`] of pairs.
    NotEqualWide,
    /// [`Op::Below`] of pairs.
    BelowWide,
    /// [`Op::AtMost`] of pairs.
    AtMostWide,
    /// `to` = `b` if `a` is not 0, else `c`.
    Select,
    /// [`Op::Select`] of pairs, by a word.
    SelectWide,
    /// `to` = bits mixed from `a`, [`hash`].
    Hash,
    /// `to` = random bits of key `a` and counter `b` for seed `first`, [`random`].
    Random,
    /// `to` = how many bits of `a` are set.
    Ones,
    /// `to` = how many zeros are below the lowest bit of `a`; all where it is 0.
    LowZeros,
    /// [`Op::Ones`] of a pair.
    OnesWide,
    /// [`Op::LowZeros`] of a pair.
    LowZerosWide,
    /// `to` = the pair of the word `a`.
    Widen,
    /// `to` = low word of the pair `a`.
    LowWord,
    /// `to` = high word of the pair `a`.
    HighWord,
    /// `to` = pair of the low word `a` and the high word `b`.
    Pair,
    /// `to` = the float nearest to `a`.
    FloatOf,
    /// [`Op::FloatOf`] of a number with a sign.
    FloatOfSigned,
    /// [`Op::FloatOf`] of a pair.
    FloatOfWide,
    /// `to` = the float `a` without its fraction, within the limits; 0 where it is none.
    WordOf,
    /// [`Op::WordOf`] with a sign.
    SignedOf,
    /// [`Op::WordOf`] as a pair.
    WideOf,
    /// Leaves the item out from here on, where `a` is 0; in a part for edges that edge alone.
    Only,
    /// Word of the item in register `first` = `a`.
    Store,
    /// Pair of the item in register `first` = `a`.
    StoreWide,
    /// Joins `b` to value `a` of register `first` as [`Joined`] `second` says; `to` = what
    /// was there before.
    Scatter,
    /// Joins `a` to value 0 of register `first` as [`Joined`] `second` says.
    Fold,
    /// Puts `a` at the end of the list in register `first`, whose length word 0 of register
    /// `second` counts, where `b` is not 0.
    Append,
    /// Raises the flag of the loop where `a` is not 0.
    Raise,
    /// Runs the next `second` instructions for each edge of the item, see [`EdgesPart`].
    Edges,
    /// Joins `a` of each edge to `to` of the item, as [`Joined`] `second` says. `b` holds
    /// what a lane has found so far.
    Reduce,
    /// The rest of the row may be left out where `a` is not 0.
    Until,
}

/// Allowed place of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Standing {
    /// Anywhere.
    Any,
    /// Outside of parts that run for edges.
    Item,
    /// Inside of such a part.
    Edge,
    /// At the end of such a part.
    EndOfEdge,
}

/// Operands of an instruction: words of its temporaries, 0 for one that it has not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Form {
    /// Words that it stores in `to`.
    pub to: u32,
    /// Words of `a`, `b` and `c` that it reads.
    pub from: [u32; 3],
    /// Its allowed place.
    pub standing: Standing,
}

impl Form {
    const fn of(to: u32, from: [u32; 3]) -> Self {
        Self {
            to,
            from,
            standing: Standing::Any,
        }
    }

    const fn at(self, standing: Standing) -> Self {
        Self { standing, ..self }
    }
}

/// How an instruction uses a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Access {
    /// Reads words at any place.
    Read,
    /// Writes the item's own word.
    WriteOwn,
    /// Changes words at any place.
    Change,
}

impl Op {
    /// How many there are.
    pub const COUNT: u32 = Self::Until as u32 + 1;

    /// The operation of a word, or nothing when the word names none.
    #[must_use]
    pub fn from_word(word: u32) -> Option<Self> {
        bytemuck::checked::try_cast(word).ok()
    }

    /// Its operands; [`Op::Scatter`], [`Op::Fold`] and [`Op::Reduce`] as for values of one
    /// word.
    #[must_use]
    pub const fn form(self) -> Form {
        match self {
            Self::Constant | Self::Item => Form::of(1, [0; 3]),
            Self::ConstantWide => Form::of(2, [0; 3]),
            Self::Neighbour | Self::EdgeNumber | Self::EdgeWeight => {
                Form::of(1, [0; 3]).at(Standing::Edge)
            }
            Self::Load | Self::Latest | Self::Degree | Self::FirstEdge => Form::of(1, [1, 0, 0]),
            Self::LoadWide | Self::LatestWide => Form::of(2, [1, 0, 0]),
            Self::AddWide | Self::SubWide | Self::MulWide | Self::MinWide | Self::MaxWide => {
                Form::of(2, [2, 2, 0])
            }
            Self::AndWide | Self::OrWide | Self::XorWide => Form::of(2, [2, 2, 0]),
            Self::ShiftLeftWide | Self::ShiftRightWide => Form::of(2, [2, 1, 0]),
            Self::EqualWide | Self::NotEqualWide | Self::BelowWide | Self::AtMostWide => {
                Form::of(1, [2, 2, 0])
            }
            Self::Select => Form::of(1, [1, 1, 1]),
            Self::SelectWide => Form::of(2, [1, 2, 2]),
            Self::Hash | Self::Ones | Self::LowZeros => Form::of(1, [1, 0, 0]),
            Self::OnesWide | Self::LowZerosWide | Self::LowWord | Self::HighWord => {
                Form::of(1, [2, 0, 0])
            }
            Self::Widen | Self::WideOf => Form::of(2, [1, 0, 0]),
            Self::Pair => Form::of(2, [1, 1, 0]),
            Self::FloatOf | Self::FloatOfSigned | Self::WordOf | Self::SignedOf => {
                Form::of(1, [1, 0, 0])
            }
            Self::FloatOfWide => Form::of(1, [2, 0, 0]),
            Self::Only => Form::of(0, [1, 0, 0]),
            Self::Store => Form::of(0, [1, 0, 0]).at(Standing::Item),
            Self::StoreWide => Form::of(0, [2, 0, 0]).at(Standing::Item),
            Self::Scatter => Form::of(1, [1, 1, 0]),
            Self::Fold | Self::Raise => Form::of(0, [1, 0, 0]),
            Self::Append => Form::of(0, [1, 1, 0]),
            Self::Edges => Form::of(0, [0; 3]).at(Standing::Item),
            Self::Reduce => Form::of(1, [1, 1, 0]).at(Standing::EndOfEdge),
            Self::Until => Form::of(0, [1, 0, 0]).at(Standing::Edge),
            _ => Form::of(1, [1, 1, 0]),
        }
    }

    /// Registers that it uses: how it does [`Instruction::first`] and
    /// [`Instruction::second`].
    #[must_use]
    pub const fn accesses(self) -> [Option<Access>; 2] {
        match self {
            Self::Load | Self::LoadWide | Self::Latest | Self::LatestWide => {
                [Some(Access::Read), None]
            }
            Self::Store | Self::StoreWide => [Some(Access::WriteOwn), None],
            Self::Scatter | Self::Fold => [Some(Access::Change), None],
            Self::Append => [Some(Access::Change), Some(Access::Change)],
            _ => [None, None],
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
        let form = op.form();
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
/// machine, and in whatever order they are asked for.
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
