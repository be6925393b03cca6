//! Values made of values.

use super::{Held, Machine, Shape};
use crate::code::{self, Operand};
use seawall_core::abi::code::{Instruction, Join, Joined, Kind, NUMBERED, Op, hash};
use std::array::from_fn;

/// Operations in terms of those that each machine has.
pub(crate) trait Compute<const N: usize>: Machine<N> {
    fn operand(&mut self, operand: Operand) -> Held<Self::Value, N> {
        match operand {
            Operand::Number => self.now().number,
            Operand::Temporary(byte) => self.temp(byte),
            Operand::Pair(pair) => Held::pair([self.constant(Kind::U64, pair); N]),
            Operand::Word(word) => {
                let value = [self.constant(Kind::U32, word.into()); N];
                Held::word(value).below(u64::from(word) + 1)
            }
        }
    }

    /// The second operand; 0 if there is none.
    fn second(&mut self, at: &Instruction) -> Held<Self::Value, N> {
        self.operand(Operand::second(at))
    }

    /// The temporary that a byte names.
    fn temp(&mut self, byte: u8) -> Held<Self::Value, N> {
        let temps = &self.now().temps;
        let temp = temps.get(usize::from(byte & NUMBERED));
        match temp.copied().flatten() {
            Some(held) => held,
            None => self.zero(),
        }
    }

    fn zero(&mut self) -> Held<Self::Value, N> {
        Held::word([self.constant(Kind::U32, 0); N]).below(1)
    }

    /// A value in another form. The high word of a word is 0.
    fn shaped(&mut self, held: Held<Self::Value, N>, to: Shape) -> [Self::Value; N] {
        if held.shape == to || (held.shape, to) == (Shape::Index, Shape::Pair) {
            return held.values;
        }
        let words = match held.shape {
            Shape::Word => held.values,
            from => held
                .values
                .map(|value| self.reshape(value, from, Shape::Word)),
        };
        match to {
            Shape::Word => words,
            Shape::Flag => {
                let zero = self.constant(Kind::U32, 0);
                words.map(|word| self.compare(Op::NotEqual, word, zero))
            }
            _ => words.map(|word| self.reshape(word, Shape::Word, to)),
        }
    }

    /// A value in the form of `kind`.
    fn in_kind(&mut self, kind: Kind, held: Held<Self::Value, N>) -> [Self::Value; N] {
        self.shaped(held, Shape::of(kind))
    }

    /// The result of an operation that only makes a value and is no comparison.
    fn make(&mut self, op: Op, at: &Instruction) -> Held<Self::Value, N> {
        let hand = self.now().hand;
        match op {
            Op::Take => hand,
            Op::EdgeNumber | Op::EdgeWeight => self.of_edge(op),
            Op::Select | Op::SelectWide => self.select(op, at, hand),
            Op::Random => self.random(at, hand),
            Op::Hash => {
                let words = self.shaped(hand, Shape::Word);
                Held::word(words.map(|word| self.hash(word)))
            }
            Op::Widen => Held::pair(self.shaped(hand, Shape::Index)),
            Op::LowWord => Held::word(self.shaped(hand, Shape::Word)),
            Op::HighWord => {
                let pairs = self.shaped(hand, Shape::Pair);
                let high = pairs.map(|pair| self.moved(Op::ShiftRightWide, pair));
                Held::word(self.shaped(Held::pair(high), Shape::Word))
            }
            Op::Pair => {
                let second = self.second(at);
                let [low, high] = [hand, second].map(|held| self.shaped(held, Shape::Index));
                let high = high.map(|high| self.moved(Op::ShiftLeftWide, high));
                Held::pair(from_fn(|at| self.operate(Op::OrWide, low[at], high[at])))
            }
            _ if op.is_within(Op::Add, Op::ShiftRightWide) => self.of_two(op, at, hand),
            _ => self.of_one(op, hand),
        }
    }

    /// A pair shifted by a word.
    fn moved(&mut self, op: Op, pair: Self::Value) -> Self::Value {
        let by = self.constant(Kind::U32, 32);
        self.operate(op, pair, by)
    }

    /// An operation on two values, the second of which may be known.
    fn of_two(
        &mut self,
        op: Op,
        at: &Instruction,
        hand: Held<Self::Value, N>,
    ) -> Held<Self::Value, N> {
        let (second, known) = (self.second(at), code::second_word(at));
        let kind = code::of_two(op);
        let by = match op {
            Op::ShiftLeftWide | Op::ShiftRightWide => Kind::U32,
            _ => kind,
        };
        let (a, b) = (self.in_kind(kind, hand), self.in_kind(by, second));
        let values = from_fn(|at| self.applied(op, (a[at], b[at]), known));
        let (bound, other) = (hand.bound, second.bound);
        let below = match op {
            // A sum that may wrap has no bound.
            Op::Add if bound + other <= 1 << 32 => bound + other - 1,
            Op::And | Op::Min => bound.min(other),
            Op::Max => bound.max(other),
            Op::Remainder => known.filter(|by| *by > 0).map_or(u64::MAX, u64::from),
            _ => u64::MAX,
        };
        Held::of_kind(kind, values).below(below)
    }

    fn applied(
        &mut self,
        op: Op,
        (a, b): (Self::Value, Self::Value),
        known: Option<u32>,
    ) -> Self::Value {
        match op {
            Op::Divide | Op::Remainder => self.divided(op, (a, b), known),
            Op::MinFloat => {
                let is_first = self.compare(Op::BelowFloat, a, b);
                self.choose(Kind::F32, is_first, [a, b])
            }
            Op::MaxFloat => {
                let is_first = self.compare(Op::AboveFloat, a, b);
                self.choose(Kind::F32, is_first, [a, b])
            }
            Op::ShiftLeft | Op::ShiftRight | Op::ShiftRightSigned => {
                self.shifted(op, Kind::U32, (a, b), known)
            }
            Op::ShiftLeftWide | Op::ShiftRightWide => self.shifted(op, Kind::U64, (a, b), known),
            _ => self.operate(op, a, b),
        }
    }

    /// A quotient or remainder, defined for 0 too.
    fn divided(
        &mut self,
        op: Op,
        (a, b): (Self::Value, Self::Value),
        known: Option<u32>,
    ) -> Self::Value {
        if known.is_some_and(|by| by > 0) {
            return self.operate(op, a, b);
        }
        let [zero, one] = [0, 1].map(|word| self.constant(Kind::U32, word));
        let is_some = self.compare(Op::NotEqual, b, zero);
        let by = self.choose(Kind::U32, is_some, [b, one]);
        let value = self.operate(op, a, by);
        let otherwise = match op {
            Op::Divide => self.constant(Kind::U32, u64::from(u32::MAX)),
            _ => a,
        };
        self.choose(Kind::U32, is_some, [value, otherwise])
    }

    /// A shifted value, which is 0, or all of the sign, from its width on.
    fn shifted(
        &mut self,
        op: Op,
        kind: Kind,
        (a, b): (Self::Value, Self::Value),
        known: Option<u32>,
    ) -> Self::Value {
        let bits = 32 * kind.words();
        if Self::SHIFTS_END || known.is_some_and(|by| by < bits) {
            return self.operate(op, a, b);
        }
        if op == Op::ShiftRightSigned {
            let most = self.constant(Kind::U32, 31);
            let by = self.operate(Op::Min, b, most);
            return self.operate(op, a, by);
        }
        let value = self.operate(op, a, b);
        let none = self.constant(kind, 0);
        let width = self.constant(Kind::U32, bits.into());
        let is_within = self.compare(Op::Below, b, width);
        self.choose(kind, is_within, [value, none])
    }

    fn of_one(&mut self, op: Op, hand: Held<Self::Value, N>) -> Held<Self::Value, N> {
        let [from, to] = code::of_one(op);
        let values = self.in_kind(from, hand);
        let made = Held::of_kind(to, values.map(|value| self.convert(op, value)));
        match op {
            Op::Ones | Op::LowZeros => made.below(33),
            Op::OnesWide | Op::LowZerosWide => made.below(65),
            _ => made,
        }
    }

    fn select(
        &mut self,
        op: Op,
        at: &Instruction,
        hand: Held<Self::Value, N>,
    ) -> Held<Self::Value, N> {
        let which = self.shaped(hand, Shape::Flag);
        // The third operand is always a temporary.
        let both = [self.second(at), self.temp(at.temps[3])];
        let kind = super::kind_of(op == Op::SelectWide);
        let [yes, no] = both.map(|held| self.in_kind(kind, held));
        let values = from_fn(|at| self.choose(kind, which[at], [yes[at], no[at]]));
        Held::of_kind(kind, values).below(both[0].bound.max(both[1].bound))
    }

    /// [`hash`].
    fn hash(&mut self, word: Self::Value) -> Self::Value {
        let mut word = word;
        for (shift, factor) in [(16, 0x7FEB_352D), (15, 0x846C_A68B)] {
            let mixed = self.mixed(word, shift);
            let factor = self.constant(Kind::U32, factor);
            word = self.operate(Op::Mul, mixed, factor);
        }
        self.mixed(word, 16)
    }

    /// A word, changed by its high bits.
    fn mixed(&mut self, word: Self::Value, shift: u64) -> Self::Value {
        let by = self.constant(Kind::U32, shift);
        let high = self.operate(Op::ShiftRight, word, by);
        self.operate(Op::Xor, word, high)
    }

    /// [`random`](seawall_core::abi::code::random).
    fn random(&mut self, at: &Instruction, hand: Held<Self::Value, N>) -> Held<Self::Value, N> {
        let second = self.second(at);
        let [key, counter] = [hand, second].map(|held| self.shaped(held, Shape::Word));
        let seed = self.constant(Kind::U32, hash(at.first ^ 0x9E37_79B9).into());
        Held::word(from_fn(|at| {
            let keyed = self.operate(Op::Add, seed, key[at]);
            let keyed = self.hash(keyed);
            let counted = self.operate(Op::Add, keyed, counter[at]);
            self.hash(counted)
        }))
    }

    /// Two values of a join's kind, joined.
    fn joined(&mut self, joined: Joined, a: Self::Value, b: Self::Value) -> Self::Value {
        let op = match (joined.how, joined.kind) {
            (Join::Any, _) => {
                let [zero, one] = [0, 1].map(|word| self.constant(Kind::U32, word));
                let holds = self.compare(Op::NotEqual, b, zero);
                return self.choose(Kind::U32, holds, [one, a]);
            }
            (Join::Min, Kind::F32) => return self.applied(Op::MinFloat, (b, a), None),
            (Join::Max, Kind::F32) => return self.applied(Op::MaxFloat, (b, a), None),
            (Join::Or, Kind::U64) => Op::OrWide,
            (Join::Or, _) => Op::Or,
            (Join::And, Kind::U64) => Op::AndWide,
            (Join::And, _) => Op::And,
            (Join::Sum, Kind::F32) => Op::AddFloat,
            (Join::Sum, Kind::U64) => Op::AddWide,
            (Join::Sum, _) => Op::Add,
            (Join::Min, Kind::I32) => Op::MinSigned,
            (Join::Max, Kind::I32) => Op::MaxSigned,
            (Join::Min, Kind::U64) => Op::MinWide,
            (Join::Max, Kind::U64) => Op::MaxWide,
            (Join::Min, _) => Op::Min,
            (Join::Max, _) => Op::Max,
        };
        self.operate(op, a, b)
    }
}

impl<const N: usize, M: Machine<N>> Compute<N> for M {}
