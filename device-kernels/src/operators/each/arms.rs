//! The operations of instructions.

use super::fetched::{A, B, C, Fetched, TO};
use super::slots::{SLOTS, Words4, chosen, each, mask};
use super::straight::{Lane, Using};
use super::temps::Values;
use super::{change, lists, values};
use crate::machine::Grid;
use seawall_core::abi::code::{
    Kind, NEIGHBOUR, NOTHING, NUMBER, Op, Outcome, PAIR, TEMPORARY, WORD, random,
};

/// Outcome of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Made {
    /// A value, which a temporary may keep.
    Value,
    /// Slots for which a comparison holds.
    Holds(u32),
    /// No value for a temporary.
    Nothing,
    /// Slots may have been left out.
    Fewer,
}

impl<G: Grid> Lane<G> {
    /// Runs an instruction; returns whether it may have left slots out. Values are made in every
    /// slot, as that costs nothing; slots that are left out access no memory.
    #[inline(always)]
    pub(super) fn step(&mut self, op: Op, (at, array): Using) -> bool {
        let second = self.second(at);
        if at.byte(A) != u32::from(NOTHING) {
            self.take(at);
        }
        match self.make(op, (at, array), second) {
            Made::Value => self.keep(at),
            Made::Holds(slots) => return self.decide(at, slots),
            Made::Nothing => {}
            Made::Fewer => return true,
        }
        false
    }

    /// The words, or low words, of the second operand; anything if there is none. Without a branch:
    /// it lies in shared memory, wherever it is.
    #[inline(always)]
    fn second(&self, at: Fetched) -> Words4 {
        let byte = at.byte(B);
        if G::WARP == 1 && byte == u32::from(NOTHING) {
            return [0; SLOTS];
        }
        if byte & u32::from(TEMPORARY) == 0 {
            return [at.word; SLOTS];
        }
        self.temps.low(byte)
    }

    /// The second operand, a pair.
    #[inline(always)]
    fn second_pairs(&self, at: Fetched, low: Words4) -> Values {
        let byte = at.byte(B);
        let high = if byte & u32::from(TEMPORARY) == 0 {
            [at.other; SLOTS]
        } else {
            self.temps.high(byte)
        };
        Values { low, high }
    }

    /// The second operand, with the width given by its byte.
    #[inline(always)]
    fn second_values(&self, at: Fetched, low: Words4) -> Values {
        if at.byte(B) & u32::from(PAIR) == 0 {
            return Values {
                low,
                high: [0; SLOTS],
            };
        }
        self.second_pairs(at, low)
    }

    /// Loads the first operand into the accumulator.
    #[inline(always)]
    fn take(&mut self, at: Fetched) {
        let byte = at.byte(A);
        const { assert!(NEIGHBOUR & NUMBER == NUMBER && (TEMPORARY | WORD) & NUMBER == 0) };
        if byte & u32::from(NUMBER) != 0 {
            self.hand.low = self.ends;
            return;
        }
        let is_word = byte & u32::from(TEMPORARY) == 0;
        self.hand.low = if is_word {
            [at.word; SLOTS]
        } else {
            self.temps.low(byte)
        };
        if byte & u32::from(PAIR) != 0 {
            self.hand.high = if is_word {
                [at.other; SLOTS]
            } else {
                self.temps.high(byte)
            };
        }
    }

    /// Stores the accumulator if its instruction asks for it.
    #[inline(always)]
    fn keep(&self, at: Fetched) {
        let to = at.byte(TO);
        if to & u32::from(TEMPORARY) != 0 {
            self.temps.set(to, self.hand);
        }
    }

    /// Slots whose accumulator is not 0.
    #[inline(always)]
    fn set_slots(&self) -> u32 {
        mask(|slot| self.hand.low[slot] != 0)
    }

    /// Outcome of a comparison that holds for `slots`.
    #[inline(always)]
    fn decide(&mut self, at: Fetched, slots: u32) -> bool {
        let outcome = at.byte(C);
        if outcome == Outcome::Value as u32 {
            self.hand.low = each(|slot| slots >> slot & 1);
            self.keep(at);
            return false;
        }
        if outcome == Outcome::Only as u32 {
            self.active &= slots;
            return true;
        }
        self.enough |= self.active & slots;
        false
    }

    /// Executes an instruction on the accumulator and its second operand. All operations are
    /// distinguished at one place.
    #[inline(always)]
    #[rustfmt::skip]
    fn make(&mut self, op: Op, (at, array): Using, second: Words4) -> Made {
        let a = self.hand;
        match op {
            Op::Only => {
                self.active &= self.set_slots();
                return Made::Fewer;
            }
            Op::Until => self.enough |= self.active & self.set_slots(),
            Op::Raise => {
                let raised = self.set_slots();
                self.note_raised(raised);
            }
            Op::Store | Op::StoreWide => self.store(op, array.words),
            Op::Append => self.append(at, second),
            Op::Scatter => self.scatter((at, array), second),
            Op::Reduce | Op::Fold => self.join(op, (at, array), second),
            Op::EqualWide | Op::NotEqualWide | Op::BelowWide | Op::AtMostWide | Op::AboveWide
            | Op::AtLeastWide => {
                let b = self.second_pairs(at, second);
                return Made::Holds(values::holds_wide(op, a.pairs(), b.pairs()));
            }
            Op::Equal | Op::NotEqual | Op::Below | Op::AtMost | Op::Above | Op::AtLeast
            | Op::BelowSigned | Op::AtMostSigned | Op::AboveSigned | Op::AtLeastSigned
            | Op::EqualFloat | Op::NotEqualFloat | Op::BelowFloat | Op::AtMostFloat
            | Op::AboveFloat | Op::AtLeastFloat => {
                return Made::Holds(values::holds(op, a.low, second));
            }
            Op::Degree | Op::FirstEdge => {
                self.row(op, at);
                return Made::Value;
            }
            Op::Load | Op::LoadWide | Op::Latest | Op::LatestWide => {
                self.load(op, array);
                return Made::Value;
            }
            Op::Add | Op::Sub | Op::Mul | Op::Divide | Op::Remainder | Op::Min | Op::Max | Op::And
            | Op::Or | Op::Xor | Op::ShiftLeft | Op::ShiftRight | Op::MinSigned | Op::MaxSigned
            | Op::ShiftRightSigned | Op::AddFloat | Op::SubFloat | Op::MulFloat | Op::DivideFloat
            | Op::MinFloat | Op::MaxFloat => {
                self.hand.low = values::words(op, a.low, second);
                return Made::Value;
            }
            Op::ShiftLeftWide | Op::ShiftRightWide => {
                let by = second.map(u64::from);
                self.hand = Values::of_pairs(values::wide(op, a.pairs(), by));
                return Made::Value;
            }
            Op::AddWide | Op::SubWide | Op::MulWide | Op::MinWide | Op::MaxWide | Op::AndWide
            | Op::OrWide | Op::XorWide => {
                let b = self.second_pairs(at, second).pairs();
                self.hand = Values::of_pairs(values::wide(op, a.pairs(), b));
                return Made::Value;
            }
            _ => {
                self.convert(op, at, second);
                return Made::Value;
            }
        }
        Made::Nothing
    }

    /// Computes values that depend on others irregularly, or on the lane's place.
    #[inline(always)]
    fn convert(&mut self, op: Op, at: Fetched, second: Words4) {
        let a = self.hand;
        self.hand.low = match op {
            Op::Take => return,
            Op::EdgeNumber => self.numbers,
            Op::EdgeWeight => self.weights(),
            Op::Select => {
                let c = self.temps.low(at.byte(C));
                return self.select(second, c);
            }
            Op::SelectWide => return self.select_pairs(at, second),
            Op::Hash => a.low.map(seawall_core::abi::code::hash),
            Op::Random => each(|slot| random(at.other, a.low[slot], second[slot])),
            Op::OnesWide | Op::LowZerosWide | Op::LowWord | Op::HighWord | Op::FloatOfWide => {
                values::narrow(op, a.pairs())
            }
            Op::Widen => {
                self.hand.high = [0; SLOTS];
                a.low
            }
            Op::WideOf => {
                let wide = |word: u32| f32::from_bits(word) as u64;
                return self.hand = Values::of_pairs(a.low.map(wide));
            }
            Op::Pair => {
                self.hand.high = second;
                a.low
            }
            _ => values::of_words(op, a.low),
        };
    }

    #[inline(always)]
    fn select(&mut self, b: Words4, c: Words4) {
        let which = self.hand.low;
        self.hand.low = each(|slot| if which[slot] != 0 { b[slot] } else { c[slot] });
    }

    #[inline(always)]
    fn select_pairs(&mut self, at: Fetched, second: Words4) {
        let which = self.hand.low;
        let b = self.second_pairs(at, second);
        let chosen =
            |b: Words4, c: Words4| each(|slot| if which[slot] != 0 { b[slot] } else { c[slot] });
        self.hand = Values {
            low: chosen(b.low, self.temps.low(at.byte(C))),
            high: chosen(b.high, self.temps.high(at.byte(C))),
        };
    }

    #[inline(always)]
    fn append(&self, at: Fetched, second: Words4) {
        let put = if at.byte(B) & u32::from(TEMPORARY) == 0 {
            self.active
        } else {
            self.active & mask(|slot| second[slot] != 0)
        };
        lists::append(self.cx, (at.other, at.word), self.hand.low, put);
    }

    #[inline(always)]
    fn scatter(&mut self, (at, array): Using, second: Words4) {
        let (grid, active, index) = (self.grid, self.active, self.hand.low);
        let Some(joined) = at.joined() else {
            return;
        };
        let held = array.words.len() / joined.kind.words();
        let there = array.within(grid, index, held, active);
        // SAFETY: it is used where `there` has the slot, so the value is there; registers start at
        // multiples of 16 bytes.
        let to = (unsafe { array.words.proven() }, joined);
        // Nothing waits for the previous values if they are not used.
        let is_asked = at.byte(TO) != u32::from(NOTHING);
        if joined.kind == Kind::U64 {
            let value = self.second_values(at, second).pairs();
            let before = change::change_pairs(grid, to.0, to.1, index, value, there);
            if is_asked {
                self.hand = Values::of_pairs(before);
                self.keep(at);
            }
        } else if is_asked {
            self.hand.low = change::change_words(grid, to.0, to.1, index, second, there);
            self.keep(at);
        } else {
            change::change_words(grid, to.0, to.1, index, second, there);
        }
    }

    /// Joins the accumulators to the lane's partial result.
    #[inline(always)]
    fn join(&mut self, op: Op, (at, array): Using, second: Words4) {
        let Some(joined) = at.joined() else {
            return;
        };
        let (more, active) = (self.hand, self.active);
        let now = if joined.kind == Kind::U64 {
            let so_far = self.second_pairs(at, second).pairs();
            let now = values::join_pairs(joined.how, so_far, more.pairs());
            Values::of_pairs(chosen(active, now, so_far))
        } else {
            let now = values::join_words(joined, second, more.low);
            let low = chosen(active, now, second);
            Values {
                low,
                high: [0; SLOTS],
            }
        };
        self.temps.set(at.byte(B), now);
        if op == Op::Reduce && self.place.ends_early() {
            let (end, now) = (array.end(), now.pairs());
            self.settled &= mask(|slot| end == now[slot]);
        }
    }
}
