//! Values of a wave's code.

use super::steps::{Coder, Source, Step};
use crate::program::error::CodeError;
use seawall_core::abi::code::{Kind, Op};
use std::ops;

/// A value of the code of a wave: a number for each item, or for each edge of one.
#[derive(Clone, Copy, Debug)]
pub struct Value<'c> {
    coder: &'c Coder<'c>,
    id: u32,
    kind: Kind,
}

/// A value, or a number that becomes one.
pub trait Operand<'c> {
    /// The value in the code of `with`.
    fn value(self, with: Value<'c>) -> Value<'c>;
}

impl<'c> Operand<'c> for Value<'c> {
    fn value(self, _with: Value<'c>) -> Self {
        self
    }
}

pub(super) trait Number: Copy {
    const KIND: Kind;
    fn bits(self) -> u64;
}

macro_rules! numbers {
    ($($type:ty, $kind:ident, $bits:expr;)*) => {
        $(
            impl Number for $type {
                const KIND: Kind = Kind::$kind;
                fn bits(self) -> u64 {
                    let bits: fn($type) -> u64 = $bits;
                    bits(self)
                }
            }
            impl<'c> Operand<'c> for $type {
                fn value(self, with: Value<'c>) -> Value<'c> {
                    with.coder.constant(self)
                }
            }
        )*
    };
}

numbers! {
    u32, U32, u64::from;
    f32, F32, |number| u64::from(number.to_bits());
    u64, U64, |number| number;
}

impl Number for i32 {
    const KIND: Kind = Kind::I32;
    fn bits(self) -> u64 {
        u64::from(self as u32)
    }
}

/// A literal without a type takes the kind of the other operand.
impl<'c> Operand<'c> for i32 {
    fn value(self, with: Value<'c>) -> Value<'c> {
        let coder = with.coder;
        match (with.kind, u32::try_from(self)) {
            (Kind::U32, Ok(number)) => coder.constant(number),
            (Kind::U64, Ok(number)) => coder.constant(u64::from(number)),
            (Kind::F32, _) => coder.constant(self as f32),
            (Kind::I32, _) | (_, Err(_)) => coder.constant(self),
        }
    }
}

/// A float literal without a type, as the nearest 32-bit float.
impl<'c> Operand<'c> for f64 {
    fn value(self, with: Value<'c>) -> Value<'c> {
        with.coder.constant(self as f32)
    }
}

impl<'r> Coder<'r> {
    pub(super) fn constant<T: Number>(&self, number: T) -> Value<'_> {
        let bits = number.bits();
        let step = Step::taking(Source::Words(bits as u32, (bits >> 32) as u32));
        self.make(T::KIND, step)
    }

    pub(super) fn make(&self, kind: Kind, step: Step) -> Value<'_> {
        Value::new(self, self.add(kind, step), kind)
    }
}

/// The operation for each kind: unsigned, signed, float, pair.
type Ops = [Option<Op>; 4];

const fn all(word: Op, signed: Op, float: Op, wide: Op) -> Ops {
    [Some(word), Some(signed), Some(float), Some(wide)]
}

const fn whole(word: Op, wide: Op) -> Ops {
    [Some(word), Some(word), None, Some(wide)]
}

impl<'c> Value<'c> {
    pub(super) const fn new(coder: &'c Coder<'c>, id: u32, kind: Kind) -> Self {
        Self { coder, id, kind }
    }

    pub(super) const fn id(self) -> u32 {
        self.id
    }

    /// Its kind of value.
    #[must_use]
    pub const fn kind(self) -> Kind {
        self.kind
    }

    /// The value if it is of `kind`; refused otherwise.
    pub(super) fn expect(self, what: &'static str, kind: Kind) -> Self {
        if self.kind != kind {
            self.coder.refuse(CodeError::Kind {
                what,
                found: self.kind,
                needed: kind,
            });
        }
        self
    }

    fn make(self, kind: Kind, step: Step) -> Self {
        let made = self.coder.make(kind, step);
        Self::new(self.coder, made.id(), kind)
    }

    /// Result of `ops` on this and a value of the same kind.
    fn binary(self, what: &'static str, ops: Ops, other: impl Operand<'c>) -> Self {
        let other = other.value(self).expect(what, self.kind);
        let made = self.operation(what, ops);
        self.make(self.kind, Step::of(made).using([self.id, other.id]))
    }

    fn compare(self, what: &'static str, ops: Ops, other: impl Operand<'c>) -> Self {
        let other = other.value(self).expect(what, self.kind);
        let made = self.operation(what, ops);
        self.make(Kind::U32, Step::of(made).using([self.id, other.id]))
    }

    /// Result of `ops` on this, shifted by a whole number.
    fn shift(self, what: &'static str, ops: Ops, by: impl Operand<'c>) -> Self {
        let by = by.value(self.as_word()).expect(what, Kind::U32);
        let made = self.operation(what, ops);
        self.make(self.kind, Step::of(made).using([self.id, by.id]))
    }

    /// A placeholder whole number for operations on literals without a type.
    const fn as_word(self) -> Self {
        let kind = Kind::U32;
        Self { kind, ..self }
    }

    fn unary(self, what: &'static str, ops: Ops, kind: Kind) -> Self {
        let made = self.operation(what, ops);
        self.make(kind, Step::of(made).using([self.id]))
    }

    fn operation(self, what: &'static str, ops: Ops) -> Op {
        ops[self.kind as usize].unwrap_or_else(|| {
            let kind = self.kind;
            self.coder.refuse(CodeError::NoSuchOperation { what, kind });
            Op::Add
        })
    }

    /// The lesser of two values; `other` for floats that do not compare.
    #[must_use]
    pub fn min(self, other: impl Operand<'c>) -> Self {
        let ops = all(Op::Min, Op::MinSigned, Op::MinFloat, Op::MinWide);
        self.binary("min", ops, other)
    }

    /// The larger of two values; `other` for floats that do not compare.
    #[must_use]
    pub fn max(self, other: impl Operand<'c>) -> Self {
        let ops = all(Op::Max, Op::MaxSigned, Op::MaxFloat, Op::MaxWide);
        self.binary("max", ops, other)
    }

    /// 1 if both are equal, else 0.
    #[must_use]
    pub fn equals(self, other: impl Operand<'c>) -> Self {
        let ops = all(Op::Equal, Op::Equal, Op::EqualFloat, Op::EqualWide);
        self.compare("equals", ops, other)
    }

    /// 1 if both differ, else 0.
    #[must_use]
    pub fn differs(self, other: impl Operand<'c>) -> Self {
        let (word, wide) = (Op::NotEqual, Op::NotEqualWide);
        self.compare("differs", all(word, word, Op::NotEqualFloat, wide), other)
    }

    /// 1 if this is less, else 0.
    #[must_use]
    pub fn below(self, other: impl Operand<'c>) -> Self {
        let ops = all(Op::Below, Op::BelowSigned, Op::BelowFloat, Op::BelowWide);
        self.compare("below", ops, other)
    }

    /// 1 if this is less or equal, else 0.
    #[must_use]
    pub fn at_most(self, other: impl Operand<'c>) -> Self {
        let ops = all(
            Op::AtMost,
            Op::AtMostSigned,
            Op::AtMostFloat,
            Op::AtMostWide,
        );
        self.compare("at_most", ops, other)
    }

    /// 1 if this is larger, else 0.
    #[must_use]
    pub fn above(self, other: impl Operand<'c>) -> Self {
        other.value(self).below(self)
    }

    /// 1 if this is 0, else 0.
    #[must_use]
    pub fn is_zero(self) -> Self {
        self.equals(0)
    }

    /// `yes` if this is not 0, else `no`.
    #[must_use]
    pub fn select(self, yes: impl Operand<'c>, no: impl Operand<'c>) -> Self {
        let condition = self.expect("select", Kind::U32);
        let yes = yes.value(self);
        let no = no.value(yes).expect("select", yes.kind);
        let op = match yes.kind {
            Kind::U64 => Op::SelectWide,
            _ => Op::Select,
        };
        let step = Step::of(op).using([condition.id, yes.id, no.id]);
        self.make(yes.kind, step)
    }

    /// Bits that depend on all bits of this value.
    #[must_use]
    pub fn hash(self) -> Self {
        match self.kind {
            Kind::U64 => (self.to_u32() ^ self.high().hash()).hash(),
            _ => self.unary("hash", [Some(Op::Hash); 4], Kind::U32),
        }
    }

    /// Random bits for this key, a counter and a seed, the same on every machine.
    #[must_use]
    pub fn random(self, counter: impl Operand<'c>, seed: u32) -> Self {
        let counter = counter.value(self.as_word()).expect("random", Kind::U32);
        let key = self.expect("random", Kind::U32);
        let step = Step::of(Op::Random).using([key.id, counter.id]);
        self.make(Kind::U32, step.with(seed, 0))
    }

    /// The number of bits that are set.
    #[must_use]
    pub fn ones(self) -> Self {
        self.unary("ones", whole(Op::Ones, Op::OnesWide), Kind::U32)
    }

    /// The number of zeros below the lowest bit that is set.
    #[must_use]
    pub fn low_zeros(self) -> Self {
        let ops = whole(Op::LowZeros, Op::LowZerosWide);
        self.unary("low_zeros", ops, Kind::U32)
    }

    /// The bits of a word as a whole number.
    #[must_use]
    pub fn bits(self) -> Self {
        self.recast("bits", Kind::U32)
    }

    /// The float that has the bits of this word.
    pub(super) fn as_float(self) -> Self {
        self.recast("as_float", Kind::F32)
    }

    /// Refuses the code that this value belongs to.
    pub(super) fn refuse(self, problem: CodeError) {
        self.coder.refuse(problem);
    }

    fn recast(self, what: &'static str, kind: Kind) -> Self {
        if self.kind == Kind::U64 {
            let kind = self.kind;
            self.coder.refuse(CodeError::NoSuchOperation { what, kind });
        }
        Self { kind, ..self }
    }

    /// This as an unsigned number: a float is rounded down and clamped, a pair gives its low word,
    /// a signed number its bits.
    #[must_use]
    pub fn to_u32(self) -> Self {
        match self.kind {
            Kind::U32 => self,
            Kind::I32 => self.bits(),
            Kind::F32 => self.unary("to_u32", [Some(Op::WordOf); 4], Kind::U32),
            Kind::U64 => self.unary("to_u32", [Some(Op::LowWord); 4], Kind::U32),
        }
    }

    /// This as a signed number: a float is truncated and clamped, an unsigned number gives its
    /// bits.
    #[must_use]
    pub fn to_i32(self) -> Self {
        match self.kind {
            Kind::F32 => self.unary("to_i32", [Some(Op::SignedOf); 4], Kind::I32),
            _ => self.to_u32().recast("to_i32", Kind::I32),
        }
    }

    /// This as a float, the nearest one.
    #[must_use]
    pub fn to_f32(self) -> Self {
        let made = match self.kind {
            Kind::F32 => return self,
            Kind::U32 => Op::FloatOf,
            Kind::I32 => Op::FloatOfSigned,
            Kind::U64 => Op::FloatOfWide,
        };
        self.unary("to_f32", [Some(made); 4], Kind::F32)
    }

    /// This as a whole number of 64 bits: a float is rounded down and clamped, a signed number gives
    /// its bits.
    #[must_use]
    pub fn to_u64(self) -> Self {
        match self.kind {
            Kind::U64 => self,
            Kind::F32 => self.unary("to_u64", [Some(Op::WideOf); 4], Kind::U64),
            Kind::U32 | Kind::I32 => self.unary("to_u64", [Some(Op::Widen); 4], Kind::U64),
        }
    }

    /// The high word of a pair.
    #[must_use]
    pub fn high(self) -> Self {
        let pair = self.expect("high", Kind::U64);
        pair.make(Kind::U32, Step::of(Op::HighWord).using([pair.id]))
    }

    /// The pair of this low word and a high word: compared by the high one first, so the least pair
    /// belongs to the least value.
    #[must_use]
    pub fn below_high(self, high: impl Operand<'c>) -> Self {
        let low = self.expect("below_high", Kind::U32);
        let high = high.value(self).expect("below_high", Kind::U32);
        self.make(Kind::U64, Step::of(Op::Pair).using([low.id, high.id]))
    }

    /// 1 if both are not 0.
    #[must_use]
    pub fn and(self, other: impl Operand<'c>) -> Self {
        let other = other.value(self);
        self.differs_from_zero() & other.differs_from_zero()
    }

    /// 1 if either is not 0.
    #[must_use]
    pub fn or(self, other: impl Operand<'c>) -> Self {
        let other = other.value(self);
        self.differs_from_zero() | other.differs_from_zero()
    }

    fn differs_from_zero(self) -> Self {
        self.expect("and or or", Kind::U32).differs(0)
    }
}

macro_rules! operators {
    ($($trait:ident, $method:ident, $ops:expr;)*) => {
        $(
            impl<'c, O: Operand<'c>> ops::$trait<O> for Value<'c> {
                type Output = Self;
                fn $method(self, other: O) -> Self {
                    self.binary(stringify!($method), $ops, other)
                }
            }
        )*
    };
}

/// The same with a number on the left.
macro_rules! left_operators {
    ($($number:ty)*) => {
        $(left_operators! {
            @of $number: Add add, Sub sub, Mul mul, Div div, Rem rem, BitAnd bitand, BitOr bitor,
            BitXor bitxor
        })*
    };
    (@of $number:ty: $($trait:ident $method:ident),*) => {
        $(
            impl<'c> ops::$trait<Value<'c>> for $number {
                type Output = Value<'c>;
                fn $method(self, other: Value<'c>) -> Value<'c> {
                    ops::$trait::$method(self.value(other), other)
                }
            }
        )*
    };
}

left_operators! { u32 i32 u64 f32 f64 }

operators! {
    Add, add, all(Op::Add, Op::Add, Op::AddFloat, Op::AddWide);
    Sub, sub, all(Op::Sub, Op::Sub, Op::SubFloat, Op::SubWide);
    Mul, mul, all(Op::Mul, Op::Mul, Op::MulFloat, Op::MulWide);
    Div, div, [Some(Op::Divide), None, Some(Op::DivideFloat), None];
    Rem, rem, [Some(Op::Remainder), None, None, None];
    BitAnd, bitand, whole(Op::And, Op::AndWide);
    BitOr, bitor, whole(Op::Or, Op::OrWide);
    BitXor, bitxor, whole(Op::Xor, Op::XorWide);
}

impl<'c, O: Operand<'c>> ops::Shl<O> for Value<'c> {
    type Output = Self;
    fn shl(self, by: O) -> Self {
        self.shift("shl", whole(Op::ShiftLeft, Op::ShiftLeftWide), by)
    }
}

impl<'c, O: Operand<'c>> ops::Shr<O> for Value<'c> {
    type Output = Self;
    fn shr(self, by: O) -> Self {
        let (word, signed) = (Some(Op::ShiftRight), Some(Op::ShiftRightSigned));
        self.shift("shr", [word, signed, None, Some(Op::ShiftRightWide)], by)
    }
}
