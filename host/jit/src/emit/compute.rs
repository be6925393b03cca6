//! Values made of values.

use super::Emitter;
use super::held::Held;
use crate::code;
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::types::{F32, I32, I64};
use cranelift_codegen::ir::{InstBuilder, Type, Value};
use seawall_core::abi::code::{Instruction, Join, Joined, Kind, Op};

impl Emitter<'_, '_> {
    /// Writes an operation that makes a value and is no comparison.
    pub(super) fn make(&mut self, op: Op, at: &Instruction) -> Held {
        match op {
            Op::Take => self.hand,
            Op::EdgeNumber | Op::EdgeWeight => self.of_edge(op),
            Op::Degree | Op::FirstEdge => self.row(op, at.first),
            Op::Load | Op::LoadWide | Op::Latest | Op::LatestWide => self.load(op, at.first),
            Op::Select | Op::SelectWide => self.select(op, at),
            Op::Random => self.random(at),
            _ if op.is_within(Op::AddFloat, Op::MaxFloat) => self.floats(op, at),
            _ if op.is_within(Op::AddWide, Op::ShiftRightWide) => self.pairs(op, at),
            _ if op.is_within(Op::Add, Op::ShiftRightSigned) => self.words(op, at),
            _ => self.convert(op, at),
        }
    }

    fn words(&mut self, op: Op, at: &Instruction) -> Held {
        let second = self.second(at);
        let known = code::second_word(at);
        let (bound, other) = (self.hand.bound, second.bound);
        let [a, b] = [self.hand, second].map(|held| self.word(held));
        let ins = self.b.ins();
        let (value, bound) = match op {
            Op::Add => (ins.iadd(a, b), bound + other - 1),
            Op::Sub => (ins.isub(a, b), u64::MAX),
            Op::Mul => (ins.imul(a, b), u64::MAX),
            Op::Divide | Op::Remainder => {
                let value = self.divide(op, (a, b), known);
                let below = known.filter(|by| op == Op::Remainder && *by > 0);
                (value, below.map_or(u64::MAX, u64::from))
            }
            Op::And => (ins.band(a, b), bound.min(other)),
            Op::Or => (ins.bor(a, b), u64::MAX),
            Op::Xor => (ins.bxor(a, b), u64::MAX),
            Op::ShiftLeft | Op::ShiftRight => (self.shift(op, (a, b), known), u64::MAX),
            Op::ShiftRightSigned => {
                let most = self.b.ins().iconst(I32, 31);
                let by = self.lesser(IntCC::UnsignedLessThan, b, most);
                (self.b.ins().sshr(a, by), u64::MAX)
            }
            Op::Min => {
                let value = self.lesser(IntCC::UnsignedLessThan, a, b);
                (value, bound.min(other))
            }
            Op::Max => {
                let value = self.lesser(IntCC::UnsignedGreaterThan, a, b);
                (value, bound.max(other))
            }
            Op::MinSigned => (self.lesser(IntCC::SignedLessThan, a, b), u64::MAX),
            _ => (self.lesser(IntCC::SignedGreaterThan, a, b), u64::MAX),
        };
        // A sum that may wrap has no bound.
        let bound = if bound > u64::from(u32::MAX) {
            u64::MAX
        } else {
            bound
        };
        Held::word(value).below(bound)
    }

    /// Whichever of two values stands to the other as `condition` says.
    fn lesser(&mut self, condition: IntCC, a: Value, b: Value) -> Value {
        let is_first = self.b.ins().icmp(condition, a, b);
        self.b.ins().select(is_first, a, b)
    }

    /// A quotient or remainder, defined for 0 too.
    fn divide(&mut self, op: Op, (a, b): (Value, Value), known: Option<u32>) -> Value {
        let divided = |emitter: &mut Self, by: Value| match op {
            Op::Divide => emitter.b.ins().udiv(a, by),
            _ => emitter.b.ins().urem(a, by),
        };
        if known.is_some_and(|by| by > 0) {
            return divided(self, b);
        }
        let one = self.b.ins().iconst(I32, 1);
        let by = self.b.ins().select(b, b, one);
        let value = divided(self, by);
        let otherwise = match op {
            Op::Divide => self.b.ins().iconst(I32, i64::from(u32::MAX)),
            _ => a,
        };
        self.b.ins().select(b, value, otherwise)
    }

    /// A shifted word, which is 0 from 32 on.
    fn shift(&mut self, op: Op, (a, b): (Value, Value), known: Option<u32>) -> Value {
        let shifted = match op {
            Op::ShiftLeft | Op::ShiftLeftWide => self.b.ins().ishl(a, b),
            _ => self.b.ins().ushr(a, b),
        };
        let bits = self.b.func.dfg.value_type(a).bits();
        if known.is_some_and(|by| by < bits) {
            return shifted;
        }
        let ty = self.b.func.dfg.value_type(a);
        let none = self.b.ins().iconst(ty, 0);
        let below = IntCC::UnsignedLessThan;
        let is_within = self.b.ins().icmp_imm(below, b, i64::from(bits));
        self.b.ins().select(is_within, shifted, none)
    }

    fn floats(&mut self, op: Op, at: &Instruction) -> Held {
        let second = self.second(at);
        let [a, b] = [self.hand, second].map(|held| self.float(held));
        let ins = self.b.ins();
        Held::float(match op {
            Op::AddFloat => ins.fadd(a, b),
            Op::SubFloat => ins.fsub(a, b),
            Op::MulFloat => ins.fmul(a, b),
            Op::DivideFloat => ins.fdiv(a, b),
            Op::MinFloat => self.lesser_float(a, b),
            _ => self.larger_float(a, b),
        })
    }

    /// `a` if it is below `b`, else `b`.
    fn lesser_float(&mut self, a: Value, b: Value) -> Value {
        let is_first = self.b.ins().fcmp(FloatCC::LessThan, a, b);
        self.b.ins().select(is_first, a, b)
    }

    /// `a` if it is above `b`, else `b`.
    fn larger_float(&mut self, a: Value, b: Value) -> Value {
        let is_first = self.b.ins().fcmp(FloatCC::LessThan, b, a);
        self.b.ins().select(is_first, a, b)
    }

    fn pairs(&mut self, op: Op, at: &Instruction) -> Held {
        let second = self.second(at);
        let known = code::second_word(at);
        let a = self.pair(self.hand);
        if matches!(op, Op::ShiftLeftWide | Op::ShiftRightWide) {
            let by = self.word(second);
            return Held::pair(self.shift(op, (a, by), known));
        }
        let b = self.pair(second);
        let ins = self.b.ins();
        Held::pair(match op {
            Op::AddWide => ins.iadd(a, b),
            Op::SubWide => ins.isub(a, b),
            Op::MulWide => ins.imul(a, b),
            Op::AndWide => ins.band(a, b),
            Op::OrWide => ins.bor(a, b),
            Op::XorWide => ins.bxor(a, b),
            Op::MinWide => self.lesser(IntCC::UnsignedLessThan, a, b),
            _ => self.lesser(IntCC::UnsignedGreaterThan, a, b),
        })
    }

    fn select(&mut self, op: Op, at: &Instruction) -> Held {
        let which = self.word(self.hand);
        let (b, c) = (self.second(at), self.third(at));
        if op == Op::SelectWide {
            let [b, c] = [b, c].map(|held| self.pair(held));
            return Held::pair(self.b.ins().select(which, b, c));
        }
        let bound = b.bound.max(c.bound);
        let [b, c] = [b, c].map(|held| self.word(held));
        Held::word(self.b.ins().select(which, b, c)).below(bound)
    }

    fn convert(&mut self, op: Op, at: &Instruction) -> Held {
        let hand = self.hand;
        if matches!(op, Op::FloatOf | Op::FloatOfSigned | Op::FloatOfWide) {
            return self.float_of(op);
        }
        if matches!(op, Op::WordOf | Op::SignedOf | Op::WideOf) {
            return self.of_float(op);
        }
        match op {
            Op::Hash => {
                let word = self.word(hand);
                Held::word(self.hash(word))
            }
            Op::Ones | Op::LowZeros => {
                let word = self.word(hand);
                Held::word(self.counted(op == Op::Ones, word)).below(33)
            }
            Op::OnesWide | Op::LowZerosWide => {
                let pair = self.pair(hand);
                let count = self.counted(op == Op::OnesWide, pair);
                Held::word(self.b.ins().ireduce(I32, count)).below(65)
            }
            Op::Widen => {
                let index = self.index(hand);
                Held::pair(index)
            }
            Op::LowWord => {
                let pair = self.pair(hand);
                Held::word(self.b.ins().ireduce(I32, pair))
            }
            Op::HighWord => {
                let pair = self.pair(hand);
                let high = self.b.ins().ushr_imm(pair, 32);
                Held::word(self.b.ins().ireduce(I32, high))
            }
            // `Op::Pair`: the others were handled before.
            _ => {
                let high = self.second(at);
                let [low, high] = [hand, high].map(|held| self.index(held));
                let high = self.b.ins().ishl_imm(high, 32);
                Held::pair(self.b.ins().bor(low, high))
            }
        }
    }

    /// Set bits, or zeros below the lowest set bit.
    fn counted(&mut self, ones: bool, value: Value) -> Value {
        if ones {
            self.b.ins().popcnt(value)
        } else {
            self.b.ins().ctz(value)
        }
    }

    fn float_of(&mut self, op: Op) -> Held {
        let hand = self.hand;
        Held::float(match op {
            Op::FloatOfWide => {
                let pair = self.pair(hand);
                self.b.ins().fcvt_from_uint(F32, pair)
            }
            Op::FloatOfSigned => {
                let word = self.word(hand);
                self.b.ins().fcvt_from_sint(F32, word)
            }
            _ => {
                // Exact in 64 bits with a sign, which processors convert at once.
                let index = self.index(hand);
                self.b.ins().fcvt_from_sint(F32, index)
            }
        })
    }

    fn of_float(&mut self, op: Op) -> Held {
        let float = self.float(self.hand);
        let unsigned = |emitter: &mut Self, ty: Type| emitter.b.ins().fcvt_to_uint_sat(ty, float);
        match op {
            Op::WideOf => Held::pair(unsigned(self, I64)),
            Op::SignedOf => Held::word(self.b.ins().fcvt_to_sint_sat(I32, float)),
            _ => Held::word(unsigned(self, I32)),
        }
    }

    /// [`hash`](seawall_core::abi::code::hash).
    fn hash(&mut self, word: Value) -> Value {
        let mut word = word;
        for (shift, factor) in [(16, 0x7FEB_352D), (15, 0x846C_A68B_i64)] {
            let high = self.b.ins().ushr_imm(word, shift);
            let mixed = self.b.ins().bxor(word, high);
            let factor = self.b.ins().iconst(I32, factor);
            word = self.b.ins().imul(mixed, factor);
        }
        let high = self.b.ins().ushr_imm(word, 16);
        self.b.ins().bxor(word, high)
    }

    /// [`random`](seawall_core::abi::code::random).
    fn random(&mut self, at: &Instruction) -> Held {
        let counter = self.second(at);
        let [key, counter] = [self.hand, counter].map(|held| self.word(held));
        let seed = seawall_core::abi::code::hash(at.first ^ 0x9E37_79B9);
        let seed = self.b.ins().iconst(I32, i64::from(seed));
        let keyed = self.b.ins().iadd(seed, key);
        let keyed = self.hash(keyed);
        let counted = self.b.ins().iadd(keyed, counter);
        Held::word(self.hash(counted))
    }

    /// Whether a comparison holds, as a byte.
    pub(super) fn compare(&mut self, op: Op, at: &Instruction) -> Value {
        let second = self.second(at);
        if op.is_within(Op::EqualFloat, Op::AtLeastFloat) {
            let [a, b] = [self.hand, second].map(|held| self.float(held));
            let condition = match op {
                Op::EqualFloat => FloatCC::Equal,
                Op::NotEqualFloat => FloatCC::NotEqual,
                Op::BelowFloat => FloatCC::LessThan,
                Op::AtMostFloat => FloatCC::LessThanOrEqual,
                Op::AboveFloat => FloatCC::GreaterThan,
                _ => FloatCC::GreaterThanOrEqual,
            };
            return self.b.ins().fcmp(condition, a, b);
        }
        let is_wide = op.is_within(Op::EqualWide, Op::AtLeastWide);
        let [a, b] = [self.hand, second].map(|held| match is_wide {
            true => self.pair(held),
            false => self.word(held),
        });
        let condition = match op {
            Op::Equal | Op::EqualWide => IntCC::Equal,
            Op::NotEqual | Op::NotEqualWide => IntCC::NotEqual,
            Op::Below | Op::BelowWide => IntCC::UnsignedLessThan,
            Op::AtMost | Op::AtMostWide => IntCC::UnsignedLessThanOrEqual,
            Op::Above | Op::AboveWide => IntCC::UnsignedGreaterThan,
            Op::AtLeast | Op::AtLeastWide => IntCC::UnsignedGreaterThanOrEqual,
            Op::BelowSigned => IntCC::SignedLessThan,
            Op::AtMostSigned => IntCC::SignedLessThanOrEqual,
            Op::AboveSigned => IntCC::SignedGreaterThan,
            _ => IntCC::SignedGreaterThanOrEqual,
        };
        self.b.ins().icmp(condition, a, b)
    }

    /// Two values of a join's kind, joined.
    pub(super) fn joined(&mut self, joined: Joined, a: Value, b: Value) -> Value {
        match (joined.how, joined.kind) {
            (Join::Any, _) => {
                let one = self.b.ins().iconst(I32, 1);
                self.b.ins().select(b, one, a)
            }
            (Join::Or, _) => self.b.ins().bor(a, b),
            (Join::And, _) => self.b.ins().band(a, b),
            (Join::Sum, Kind::F32) => self.b.ins().fadd(a, b),
            (Join::Sum, _) => self.b.ins().iadd(a, b),
            (Join::Min, Kind::F32) => self.lesser_float(b, a),
            (Join::Max, Kind::F32) => self.larger_float(b, a),
            (Join::Min, Kind::I32) => self.lesser(IntCC::SignedLessThan, a, b),
            (Join::Max, Kind::I32) => self.lesser(IntCC::SignedGreaterThan, a, b),
            (Join::Min, _) => self.lesser(IntCC::UnsignedLessThan, a, b),
            (Join::Max, _) => self.lesser(IntCC::UnsignedGreaterThan, a, b),
        }
    }
}
