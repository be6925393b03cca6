//! Operations of instructions, and the operands of each.

use bytemuck::CheckedBitPattern;

/// The operation of an instruction. `to`, `a`, `b` and `c` are its [operands](super::Instruction); a
/// comparison makes 1 or 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, CheckedBitPattern)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(u32)]
pub enum Op {
    /// `to = a`, a word or a pair.
    Take = 0,
    /// `to` = number of the edge among all of its direction.
    EdgeNumber,
    /// `to` = the word of the edge's weight.
    EdgeWeight,
    /// `to` = number of node `a`'s [`Edges`](super::Edges) of kind `first`.
    Degree,
    /// `to` = number of the first of node `a`'s [`Edges`](super::Edges) of kind `first`.
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
    /// `to = a / b`, all ones if `b` is 0.
    Divide,
    /// `to = a % b`, `a` if `b` is 0.
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
    /// [`Op::Min`] with signs.
    MinSigned,
    /// [`Op::Max`] with signs.
    MaxSigned,
    /// [`Op::ShiftRight`] that repeats the sign; all of it from 32 on.
    ShiftRightSigned,
    /// [`Op::Add`] of floats.
    AddFloat,
    /// [`Op::Sub`] of floats.
    SubFloat,
    /// [`Op::Mul`] of floats.
    MulFloat,
    /// [`Op::Divide`] of floats by IEEE 754.
    DivideFloat,
    /// `to` = `a` if it is below `b`, else `b`.
    MinFloat,
    /// `to` = `a` if it is above `b`, else `b`.
    MaxFloat,
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
    /// `to = a == b`.
    Equal,
    /// `to = a != b`.
    NotEqual,
    /// `to = a < b`.
    Below,
    /// `to = a <= b`.
    AtMost,
    /// `to = a > b`.
    Above,
    /// `to = a >= b`.
    AtLeast,
    /// [`Op::Below`] with signs.
    BelowSigned,
    /// [`Op::AtMost`] with signs.
    AtMostSigned,
    /// [`Op::Above`] with signs.
    AboveSigned,
    /// [`Op::AtLeast`] with signs.
    AtLeastSigned,
    /// [`Op::Equal`] of floats.
    EqualFloat,
    /// [`Op::NotEqual`] of floats.
    NotEqualFloat,
    /// [`Op::Below`] of floats.
    BelowFloat,
    /// [`Op::AtMost`] of floats.
    AtMostFloat,
    /// [`Op::Above`] of floats.
    AboveFloat,
    /// [`Op::AtLeast`] of floats.
    AtLeastFloat,
    /// [`Op::Equal`] of pairs.
    EqualWide,
    /// [`Op::NotEqual`] of pairs.
    NotEqualWide,
    /// [`Op::Below`] of pairs.
    BelowWide,
    /// [`Op::AtMost`] of pairs.
    AtMostWide,
    /// [`Op::Above`] of pairs.
    AboveWide,
    /// [`Op::AtLeast`] of pairs.
    AtLeastWide,
    /// `to` = `b` if `a` is not 0, else `c`.
    Select,
    /// [`Op::Select`] of pairs, by a word.
    SelectWide,
    /// `to` = bits mixed from `a`, [`hash`](super::hash).
    Hash,
    /// `to` = random bits of key `a` and counter `b` for seed `first`, [`random`](super::random).
    Random,
    /// `to` = number of set bits of `a`.
    Ones,
    /// `to` = number of zeros below the lowest set bit of `a`; all if it is 0.
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
    /// `to` = the float `a` without its fraction, within the limits; 0 if it is no number.
    WordOf,
    /// [`Op::WordOf`] with a sign.
    SignedOf,
    /// [`Op::WordOf`] as a pair.
    WideOf,
    /// Skips the rest of the code for the item if `a` is 0; in a part for edges, for that edge.
    Only,
    /// Allows to skip the rest of the row if `a` is not 0.
    Until,
    /// Raises the flag of the loop if `a` is not 0.
    Raise,
    /// Word of the item in register `first` = `a`.
    Store,
    /// Pair of the item in register `first` = `a`.
    StoreWide,
    /// Appends `a`, if `b` is not 0, to the list in register `first` with its length in word 0 of
    /// register `second`. The word in place of `b` is 1.
    Append,
    /// Joins `b` to value `a` of register `first` by [`Joined`](super::Joined) `c`; `to` = the
    /// previous value.
    Scatter,
    /// Joins `a` of each edge to `to` of the item by [`Joined`](super::Joined) `c`. `b` holds a
    /// lane's partial result.
    Reduce,
    /// Joins `a` to value 0 of register `first` by [`Joined`](super::Joined) `c`. `b` holds a
    /// lane's partial result.
    Fold,
    /// Runs the next `second` instructions for each edge of the item, see
    /// [`EdgesPart`](super::EdgesPart).
    Edges,
}

/// Consequence of a comparison, in place of its `c`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(u8)]
pub enum Outcome {
    /// It makes a value.
    Value = 0,
    /// As [`Op::Only`] of that value; `a` stays in the accumulator.
    Only = 1,
    /// As [`Op::Until`] of that value; `a` stays in the accumulator.
    Until = 2,
}

impl Outcome {
    /// Returns the outcome of a byte; `None` if the byte names none.
    #[must_use]
    pub const fn from_byte(byte: u8) -> Option<Self> {
        match byte {
            0 => Some(Self::Value),
            1 => Some(Self::Only),
            2 => Some(Self::Until),
            _ => None,
        }
    }
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

/// Operands of an instruction: words of its temporaries, 0 for a missing one.
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

/// The use of a register by an instruction.
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
    /// Number of operations.
    pub const COUNT: u32 = Self::Edges as u32 + 1;

    /// Returns the operation of a word; `None` if the word names none.
    #[must_use]
    pub fn from_word(word: u32) -> Option<Self> {
        bytemuck::checked::try_cast(word).ok()
    }

    /// Whether it is between `first` and `last`, inclusive.
    #[must_use]
    pub const fn is_within(self, first: Self, last: Self) -> bool {
        self as u32 >= first as u32 && self as u32 <= last as u32
    }

    /// Whether it compares two values.
    #[must_use]
    pub const fn is_comparison(self) -> bool {
        self.is_within(Self::Equal, Self::AtLeastWide)
    }

    /// Its operands; those of [`Op::Take`], [`Op::Scatter`], [`Op::Reduce`] and [`Op::Fold`] as for
    /// values of one word.
    #[must_use]
    pub const fn form(self) -> Form {
        match self {
            Self::EdgeNumber | Self::EdgeWeight => Form::of(1, [0; 3]).at(Standing::Edge),
            Self::LoadWide | Self::LatestWide | Self::Widen | Self::WideOf => {
                Form::of(2, [1, 0, 0])
            }
            Self::ShiftLeftWide | Self::ShiftRightWide => Form::of(2, [2, 1, 0]),
            Self::Select => Form::of(1, [1, 1, 1]),
            Self::SelectWide => Form::of(2, [1, 2, 2]),
            Self::OnesWide | Self::LowZerosWide | Self::LowWord | Self::HighWord => {
                Form::of(1, [2, 0, 0])
            }
            Self::Pair => Form::of(2, [1, 1, 0]),
            Self::FloatOfWide => Form::of(1, [2, 0, 0]),
            Self::Random | Self::Scatter => Form::of(1, [1, 1, 0]),
            Self::Only | Self::Raise => Form::of(0, [1, 0, 0]),
            Self::Until => Form::of(0, [1, 0, 0]).at(Standing::Edge),
            Self::Store => Form::of(0, [1, 0, 0]).at(Standing::Item),
            Self::StoreWide => Form::of(0, [2, 0, 0]).at(Standing::Item),
            Self::Append | Self::Fold => Form::of(0, [1, 1, 0]),
            Self::Reduce => Form::of(1, [1, 1, 0]).at(Standing::EndOfEdge),
            Self::Edges => Form::of(0, [0; 3]).at(Standing::Item),
            _ if self.is_within(Self::Add, Self::MaxFloat) => Form::of(1, [1, 1, 0]),
            _ if self.is_within(Self::AddWide, Self::XorWide) => Form::of(2, [2, 2, 0]),
            _ if self.is_within(Self::EqualWide, Self::AtLeastWide) => Form::of(1, [2, 2, 0]),
            _ if self.is_comparison() => Form::of(1, [1, 1, 0]),
            _ => Form::of(1, [1, 0, 0]),
        }
    }

    /// Whether [`Instruction::first`](super::Instruction::first) has another meaning, so that the
    /// immediate operand is [`Instruction::second`](super::Instruction::second).
    #[must_use]
    pub const fn uses_first(self) -> bool {
        self.is_within(Self::Degree, Self::LatestWide)
            || self.is_within(Self::Store, Self::Fold)
            || matches!(self, Self::Random)
    }

    /// Whether it makes a value of others and does nothing else: no access to memory.
    #[must_use]
    pub const fn only_makes(self) -> bool {
        let is_access = self.is_within(Self::Degree, Self::LatestWide);
        !is_access && (self as u32) < Self::Only as u32
    }

    /// The equivalent operation if `a` and `b` are swapped.
    #[must_use]
    pub const fn turned(self) -> Option<Self> {
        Some(match self {
            Self::Add | Self::Mul | Self::Min | Self::Max | Self::And | Self::Or | Self::Xor => {
                self
            }
            Self::MinSigned | Self::MaxSigned => self,
            Self::AddWide | Self::MulWide | Self::MinWide | Self::MaxWide => self,
            Self::AndWide | Self::OrWide | Self::XorWide => self,
            Self::Equal | Self::NotEqual | Self::EqualFloat | Self::NotEqualFloat => self,
            Self::EqualWide | Self::NotEqualWide => self,
            Self::Below => Self::Above,
            Self::AtMost => Self::AtLeast,
            Self::Above => Self::Below,
            Self::AtLeast => Self::AtMost,
            Self::BelowSigned => Self::AboveSigned,
            Self::AtMostSigned => Self::AtLeastSigned,
            Self::AboveSigned => Self::BelowSigned,
            Self::AtLeastSigned => Self::AtMostSigned,
            Self::BelowFloat => Self::AboveFloat,
            Self::AtMostFloat => Self::AtLeastFloat,
            Self::AboveFloat => Self::BelowFloat,
            Self::AtLeastFloat => Self::AtMostFloat,
            Self::BelowWide => Self::AboveWide,
            Self::AtMostWide => Self::AtLeastWide,
            Self::AboveWide => Self::BelowWide,
            Self::AtLeastWide => Self::AtMostWide,
            _ => return None,
        })
    }

    /// Its uses of the registers [`Instruction::first`](super::Instruction::first) and
    /// [`Instruction::second`](super::Instruction::second).
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
