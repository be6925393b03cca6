//! Operations on single values, by PTX's names, and values of other lanes.

use super::values::{Four, bits};
use super::writer::{Reg, put};
use super::{Emitter, SLOTS};
use crate::code;
use crate::walk::{Compute, Shape};
use seawall_core::abi::code::{Joined, Kind, Op};

/// The name of an operation on two values.
const fn name_of(op: Op) -> &'static str {
    match op {
        Op::Add => "add.u32",
        Op::Sub => "sub.u32",
        Op::Mul => "mul.lo.u32",
        Op::Divide => "div.u32",
        Op::Remainder => "rem.u32",
        Op::And => "and.b32",
        Op::Or => "or.b32",
        Op::Xor => "xor.b32",
        Op::ShiftLeft => "shl.b32",
        Op::ShiftRight => "shr.u32",
        Op::ShiftRightSigned => "shr.s32",
        Op::Min => "min.u32",
        Op::Max => "max.u32",
        Op::MinSigned => "min.s32",
        Op::MaxSigned => "max.s32",
        Op::AddFloat => "add.rn.f32",
        Op::SubFloat => "sub.rn.f32",
        Op::MulFloat => "mul.rn.f32",
        Op::DivideFloat => "div.rn.f32",
        Op::AddWide => "add.u64",
        Op::SubWide => "sub.u64",
        Op::MulWide => "mul.lo.u64",
        Op::AndWide => "and.b64",
        Op::OrWide => "or.b64",
        Op::XorWide => "xor.b64",
        Op::ShiftLeftWide => "shl.b64",
        Op::ShiftRightWide => "shr.u64",
        Op::MinWide => "min.u64",
        _ => "max.u64",
    }
}

/// The name of a comparison.
const fn comparison(op: Op) -> &'static str {
    match op {
        Op::Equal => "eq.u32",
        Op::NotEqual => "ne.u32",
        Op::Below => "lt.u32",
        Op::AtMost => "le.u32",
        Op::Above => "gt.u32",
        Op::AtLeast => "ge.u32",
        Op::BelowSigned => "lt.s32",
        Op::AtMostSigned => "le.s32",
        Op::AboveSigned => "gt.s32",
        Op::AtLeastSigned => "ge.s32",
        Op::EqualFloat => "eq.f32",
        // True of what is no number, too.
        Op::NotEqualFloat => "neu.f32",
        Op::BelowFloat => "lt.f32",
        Op::AtMostFloat => "le.f32",
        Op::AboveFloat => "gt.f32",
        Op::AtLeastFloat => "ge.f32",
        Op::EqualWide => "eq.u64",
        Op::NotEqualWide => "ne.u64",
        Op::BelowWide => "lt.u64",
        Op::AtMostWide => "le.u64",
        Op::AboveWide => "gt.u64",
        _ => "ge.u64",
    }
}

impl Emitter<'_> {
    /// A new register for values of `kind`.
    pub(super) fn fresh(&mut self, kind: Kind) -> Reg {
        match kind {
            Kind::U64 => self.w.pair(),
            _ => self.w.word(),
        }
    }

    pub(super) fn constant_of(&mut self, kind: Kind, bits: u64) -> Reg {
        let to = self.fresh(kind);
        match kind {
            Kind::U64 => put!(self.w, "mov.b64 {to}, 0x{bits:x}"),
            _ => put!(self.w, "mov.b32 {to}, 0x{:x}", bits as u32),
        }
        to
    }

    pub(super) fn reshaped(&mut self, value: Reg, from: Shape, to: Shape) -> Reg {
        let is_wide = matches!(to, Shape::Index | Shape::Pair);
        let to = self.fresh(if is_wide { Kind::U64 } else { Kind::U32 });
        match (from, is_wide) {
            (Shape::Flag, _) => put!(self.w, "selp.b32 {to}, 1, 0, {value}"),
            (Shape::Index | Shape::Pair, _) => put!(self.w, "cvt.u32.u64 {to}, {value}"),
            (_, true) => put!(self.w, "cvt.u64.u32 {to}, {value}"),
            // Floats are in registers for words.
            (_, false) => return value,
        }
        to
    }

    pub(super) fn operation(&mut self, op: Op, a: Reg, b: Reg) -> Reg {
        let to = self.fresh(code::of_two(op));
        put!(self.w, "{} {to}, {a}, {b}", name_of(op));
        to
    }

    pub(super) fn converted(&mut self, op: Op, a: Reg) -> Reg {
        let [from, kind] = code::of_one(op);
        if from == Kind::F32 {
            return self.whole(op, kind, a);
        }
        let bits = bits(from);
        let to = self.fresh(kind);
        match op {
            Op::Ones | Op::OnesWide => put!(self.w, "popc.b{bits} {to}, {a}"),
            Op::LowZeros | Op::LowZerosWide => {
                let turned = self.fresh(from);
                put!(self.w, "brev.b{bits} {turned}, {a}");
                put!(self.w, "clz.b{bits} {to}, {turned}");
            }
            Op::FloatOfSigned => put!(self.w, "cvt.rn.f32.s32 {to}, {a}"),
            // `Op::FloatOf` and `Op::FloatOfWide`: the walk takes the others apart.
            _ => put!(self.w, "cvt.rn.f32.u{bits} {to}, {a}"),
        }
        to
    }

    /// A float without its fraction, within the limits; 0 if it is no number.
    fn whole(&mut self, op: Op, kind: Kind, float: Reg) -> Reg {
        let (to, is_none) = (self.fresh(kind), self.w.flag());
        let (bits, sign) = (bits(kind), if op == Op::SignedOf { 's' } else { 'u' });
        put!(self.w, "cvt.rzi.{sign}{bits}.f32 {to}, {float}");
        put!(self.w, "setp.nan.f32 {is_none}, {float}, {float}");
        put!(self.w, "selp.b{bits} {to}, 0, {to}, {is_none}");
        to
    }

    pub(super) fn holds(&mut self, op: Op, a: Reg, b: Reg) -> Reg {
        let holds = self.w.flag();
        put!(self.w, "setp.{} {holds}, {a}, {b}", comparison(op));
        holds
    }

    pub(super) fn chosen_by(&mut self, kind: Kind, holds: Reg, [yes, no]: [Reg; 2]) -> Reg {
        let to = self.fresh(kind);
        put!(self.w, "selp.b{} {to}, {yes}, {no}, {holds}", bits(kind));
        to
    }

    /// Moves a value to a register.
    pub(super) fn move_to(&mut self, kind: Kind, to: Reg, from: Reg) {
        put!(self.w, "mov.b{} {to}, {from}", bits(kind));
    }

    /// Moves a value to a register if a condition holds.
    pub(super) fn replace_if(&mut self, holds: Reg, kind: Kind, to: Reg, from: Reg) {
        put!(self.w, "@{holds} mov.b{} {to}, {from}", bits(kind));
    }

    /// Joins a value across a warp, or where `is_warp` does not hold across small groups of lanes. All
    /// lanes of a group then have the result in `value`.
    pub(super) fn join_lanes(&mut self, joined: Joined, value: Reg, is_warp: Option<Reg>) {
        for delta in [16, 8, 4, 2, 1] {
            let other = self.shuffled("bfly", value, &delta.to_string());
            let now = self.joined(joined, value, other);
            match is_warp.filter(|_| delta >= super::groups::GROUP) {
                Some(is_warp) => self.replace_if(is_warp, joined.kind, value, now),
                None => self.move_to(joined.kind, value, now),
            }
        }
    }

    /// A value of another lane.
    pub(super) fn shuffled(&mut self, how: &str, value: Reg, from: &str) -> Reg {
        if let Reg::Word(_) = value {
            let to = self.w.word();
            put!(
                self.w,
                "shfl.sync.{how}.b32 {to}, {value}, {from}, 31, 0xffffffff"
            );
            return to;
        }
        let (low, high) = (self.w.word(), self.w.word());
        put!(self.w, "mov.b64 {{{low}, {high}}}, {value}");
        let [low, high] = [low, high].map(|word| self.shuffled(how, word, from));
        let to = self.w.pair();
        put!(self.w, "mov.b64 {to}, {{{low}, {high}}}");
        to
    }

    /// The value of a slot, told by whether that is at least 1, 2 and so on.
    pub(super) fn chosen(&mut self, kind: Kind, values: Four, which: [Reg; SLOTS - 1]) -> Reg {
        let mut to = values[0];
        for (value, is_at_least) in values[1..].iter().zip(which) {
            to = self.chosen_by(kind, is_at_least, [*value, to]);
        }
        to
    }
}
