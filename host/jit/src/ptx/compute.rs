//! Values made of values.

use super::values::{Four, Held, bits};
use super::writer::{Reg, put};
use super::{Emitter, SLOTS};
use crate::code;
use seawall_core::abi::code::{Instruction, Join, Joined, Kind, Op, hash};

impl Emitter<'_> {
    /// Writes an operation that makes a value and is no comparison.
    pub(super) fn make(&mut self, op: Op, at: &Instruction) -> Held {
        match op {
            Op::Take => self.hand,
            Op::EdgeNumber | Op::EdgeWeight => self.of_edge(op),
            Op::Degree | Op::FirstEdge => self.row(op, at.first),
            Op::Load | Op::LoadWide | Op::Latest | Op::LatestWide => self.load(op, at.first),
            Op::Select | Op::SelectWide => self.select(op, at),
            Op::Random => self.random(at),
            _ if op.is_within(Op::AddWide, Op::ShiftRightWide) => self.of_pairs(op, at),
            _ if op.is_within(Op::Add, Op::MaxFloat) => self.of_words(op, at),
            Op::Pair => self.paired(at),
            _ => self.convert(op),
        }
    }

    /// A new word for each slot, made by an instruction of two values.
    fn both(&mut self, name: &str, a: Four, b: Four) -> Four {
        std::array::from_fn(|slot| {
            let to = self.w.word();
            put!(self.w, "{name} {to}, {}, {}", a[slot], b[slot]);
            to
        })
    }

    /// A new word for each slot, made by an instruction of one value.
    fn one(&mut self, name: &str, a: Four) -> Four {
        a.map(|a| {
            let to = self.w.word();
            put!(self.w, "{name} {to}, {a}");
            to
        })
    }

    fn of_words(&mut self, op: Op, at: &Instruction) -> Held {
        let second = self.second(at);
        let known = code::second_word(at);
        let (bound, other) = (self.hand.bound, second.bound);
        let (a, b) = (self.words_of(self.hand), self.words_of(second));
        let name = match op {
            Op::Add => "add.u32",
            Op::Sub => "sub.u32",
            Op::Mul => "mul.lo.u32",
            Op::And => "and.b32",
            Op::Or => "or.b32",
            Op::Xor => "xor.b32",
            // Shifts by more than the width give what those by the width do.
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
            Op::Divide | Op::Remainder => {
                let regs = std::array::from_fn(|slot| self.divided(op, (a[slot], b[slot]), known));
                let below = known.filter(|by| op == Op::Remainder && *by > 0);
                return Held::word(regs).below(below.map_or(u64::MAX, u64::from));
            }
            _ => {
                let is_min = op == Op::MinFloat;
                let regs = std::array::from_fn(|slot| self.nearer(is_min, (a[slot], b[slot])));
                return Held::word(regs);
            }
        };
        let made = Held::word(self.both(name, a, b));
        match op {
            Op::Add => made.below(if bound + other > 1 << 32 {
                u64::MAX
            } else {
                bound + other - 1
            }),
            Op::And | Op::Min => made.below(bound.min(other)),
            Op::Max => made.below(bound.max(other)),
            _ => made,
        }
    }

    /// Of two floats the first if it is below the second, or above it, else the second.
    fn nearer(&mut self, is_min: bool, (a, b): (Reg, Reg)) -> Reg {
        let (holds, to) = (self.w.flag(), self.w.word());
        let order = if is_min { "lt" } else { "gt" };
        put!(self.w, "setp.{order}.f32 {holds}, {a}, {b}");
        put!(self.w, "selp.b32 {to}, {a}, {b}, {holds}");
        to
    }

    /// A quotient or remainder, defined for 0 too.
    fn divided(&mut self, op: Op, (a, b): (Reg, Reg), known: Option<u32>) -> Reg {
        let name = if op == Op::Divide { "div" } else { "rem" };
        let to = self.w.word();
        if known.is_some_and(|by| by > 0) {
            put!(self.w, "{name}.u32 {to}, {a}, {b}");
            return to;
        }
        let (by, is_zero) = (self.w.word(), self.w.flag());
        put!(self.w, "setp.eq.u32 {is_zero}, {b}, 0");
        put!(self.w, "max.u32 {by}, {b}, 1");
        put!(self.w, "{name}.u32 {to}, {a}, {by}");
        if op == Op::Divide {
            put!(self.w, "selp.b32 {to}, 0xffffffff, {to}, {is_zero}");
        } else {
            put!(self.w, "selp.b32 {to}, {a}, {to}, {is_zero}");
        }
        to
    }

    fn of_pairs(&mut self, op: Op, at: &Instruction) -> Held {
        let second = self.second(at);
        let a = self.pairs_of(self.hand);
        let b = match op {
            Op::ShiftLeftWide | Op::ShiftRightWide => self.words_of(second),
            _ => self.pairs_of(second),
        };
        let name = match op {
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
        };
        Held::pair(std::array::from_fn(|slot| {
            let to = self.w.pair();
            put!(self.w, "{name} {to}, {}, {}", a[slot], b[slot]);
            to
        }))
    }

    fn select(&mut self, op: Op, at: &Instruction) -> Held {
        let which = self.words_of(self.hand);
        let which = self.are_set(which);
        let (b, c) = (self.second(at), self.third(at));
        let bound = b.bound.max(c.bound);
        let kind = if op == Op::SelectWide {
            Kind::U64
        } else {
            Kind::U32
        };
        let (b, c) = (self.in_kind(kind, b), self.in_kind(kind, c));
        let bits = bits(kind);
        let regs = std::array::from_fn(|slot| {
            let to = self.fresh(kind);
            put!(
                self.w,
                "selp.b{bits} {to}, {}, {}, {}",
                b[slot],
                c[slot],
                which[slot]
            );
            to
        });
        Held::of_kind(kind, regs).below(bound)
    }

    fn convert(&mut self, op: Op) -> Held {
        let hand = self.hand;
        match op {
            Op::Hash => {
                let words = self.words_of(hand);
                Held::word(words.map(|word| self.hash(word)))
            }
            Op::Ones => {
                let words = self.words_of(hand);
                Held::word(self.one("popc.b32", words)).below(33)
            }
            Op::LowZeros => {
                let words = self.words_of(hand);
                let turned = self.one("brev.b32", words);
                Held::word(self.one("clz.b32", turned)).below(33)
            }
            Op::OnesWide => {
                let pairs = self.pairs_of(hand);
                Held::word(self.one("popc.b64", pairs)).below(65)
            }
            Op::LowZerosWide => {
                let pairs = self.pairs_of(hand);
                let turned = pairs.map(|pair| {
                    let to = self.w.pair();
                    put!(self.w, "brev.b64 {to}, {pair}");
                    to
                });
                Held::word(self.one("clz.b64", turned)).below(65)
            }
            Op::Widen => {
                let words = self.words_of(hand);
                Held::pair(self.pairs_of(Held::word(words)))
            }
            Op::LowWord => {
                let pairs = self.pairs_of(hand);
                Held::word(self.words_of(Held::pair(pairs)))
            }
            Op::HighWord => {
                let pairs = self.pairs_of(hand);
                let high = pairs.map(|pair| {
                    let to = self.w.pair();
                    put!(self.w, "shr.u64 {to}, {pair}, 32");
                    to
                });
                Held::word(self.words_of(Held::pair(high)))
            }
            _ => self.convert_float(op),
        }
    }

    /// Pairs of a low and a high word.
    fn paired(&mut self, at: &Instruction) -> Held {
        let high = self.second(at);
        let (low, high) = (self.words_of(self.hand), self.words_of(high));
        Held::pair(std::array::from_fn(|slot| {
            let to = self.w.pair();
            put!(self.w, "mov.b64 {to}, {{{}, {}}}", low[slot], high[slot]);
            to
        }))
    }

    fn convert_float(&mut self, op: Op) -> Held {
        let hand = self.hand;
        match op {
            Op::FloatOf => {
                let words = self.words_of(hand);
                Held::word(self.one("cvt.rn.f32.u32", words))
            }
            Op::FloatOfSigned => {
                let words = self.words_of(hand);
                Held::word(self.one("cvt.rn.f32.s32", words))
            }
            Op::FloatOfWide => {
                let pairs = self.pairs_of(hand);
                Held::word(self.one("cvt.rn.f32.u64", pairs))
            }
            _ => {
                let floats = self.words_of(hand);
                let (kind, name) = match op {
                    Op::WordOf => (Kind::U32, "u32"),
                    Op::SignedOf => (Kind::I32, "s32"),
                    _ => (Kind::U64, "u64"),
                };
                Held::of_kind(kind, floats.map(|float| self.whole(kind, name, float)))
            }
        }
    }

    /// A float without its fraction, within the limits; 0 if it is no number.
    fn whole(&mut self, kind: Kind, name: &str, float: Reg) -> Reg {
        let (to, is_none) = (self.fresh(kind), self.w.flag());
        let bits = bits(kind);
        put!(self.w, "cvt.rzi.{name}.f32 {to}, {float}");
        put!(self.w, "setp.nan.f32 {is_none}, {float}, {float}");
        put!(self.w, "selp.b{bits} {to}, 0, {to}, {is_none}");
        to
    }

    /// [`hash`].
    fn hash(&mut self, word: Reg) -> Reg {
        let (mixed, high) = (self.w.word(), self.w.word());
        put!(self.w, "mov.b32 {mixed}, {word}");
        for (shift, factor) in [(16, 0x7FEB_352D_u32), (15, 0x846C_A68B)] {
            put!(self.w, "shr.u32 {high}, {mixed}, {shift}");
            put!(self.w, "xor.b32 {mixed}, {mixed}, {high}");
            put!(self.w, "mul.lo.u32 {mixed}, {mixed}, 0x{factor:x}");
        }
        put!(self.w, "shr.u32 {high}, {mixed}, 16");
        put!(self.w, "xor.b32 {mixed}, {mixed}, {high}");
        mixed
    }

    /// [`random`](seawall_core::abi::code::random).
    fn random(&mut self, at: &Instruction) -> Held {
        let counter = self.second(at);
        let (key, counter) = (self.words_of(self.hand), self.words_of(counter));
        let seed = hash(at.first ^ 0x9E37_79B9);
        Held::word(std::array::from_fn(|slot| {
            let (keyed, counted) = (self.w.word(), self.w.word());
            put!(self.w, "add.u32 {keyed}, {}, 0x{seed:x}", key[slot]);
            let keyed = self.hash(keyed);
            put!(self.w, "add.u32 {counted}, {keyed}, {}", counter[slot]);
            self.hash(counted)
        }))
    }

    /// Whether a comparison holds.
    pub(super) fn compare(&mut self, op: Op, at: &Instruction) -> Four {
        let second = self.second(at);
        let kind = if op.is_within(Op::EqualWide, Op::AtLeastWide) {
            Kind::U64
        } else {
            Kind::U32
        };
        let name = match op {
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
        };
        let (a, b) = (self.in_kind(kind, self.hand), self.in_kind(kind, second));
        std::array::from_fn(|slot| {
            let holds = self.w.flag();
            put!(self.w, "setp.{name} {holds}, {}, {}", a[slot], b[slot]);
            holds
        })
    }

    /// Two values of a join's kind, joined.
    pub(super) fn joined(&mut self, joined: Joined, a: Reg, b: Reg) -> Reg {
        let name = match (joined.how, joined.kind) {
            (Join::Any, _) => {
                let (holds, to) = (self.w.flag(), self.w.word());
                put!(self.w, "setp.ne.u32 {holds}, {b}, 0");
                put!(self.w, "selp.b32 {to}, 1, {a}, {holds}");
                return to;
            }
            (Join::Min, Kind::F32) => return self.nearer(true, (b, a)),
            (Join::Max, Kind::F32) => return self.nearer(false, (b, a)),
            (Join::Or, Kind::U64) => "or.b64",
            (Join::Or, _) => "or.b32",
            (Join::And, Kind::U64) => "and.b64",
            (Join::And, _) => "and.b32",
            (Join::Sum, Kind::F32) => "add.rn.f32",
            (Join::Sum, Kind::U64) => "add.u64",
            (Join::Sum, _) => "add.u32",
            (Join::Min, Kind::I32) => "min.s32",
            (Join::Max, Kind::I32) => "max.s32",
            (Join::Min, Kind::U64) => "min.u64",
            (Join::Max, Kind::U64) => "max.u64",
            (Join::Min, _) => "min.u32",
            (Join::Max, _) => "max.u32",
        };
        let to = self.fresh(joined.kind);
        put!(self.w, "{name} {to}, {a}, {b}");
        to
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
        let to = self.fresh(kind);
        let bits = bits(kind);
        put!(self.w, "mov.b{bits} {to}, {}", values[0]);
        for (value, is_at_least) in values[1..].iter().zip(which) {
            put!(self.w, "selp.b{bits} {to}, {value}, {to}, {is_at_least}");
        }
        to
    }
}
