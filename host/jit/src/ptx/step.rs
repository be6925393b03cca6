//! One instruction: its operands, its result, and the consequences.

use super::values::{Four, Held};
use super::writer::{Reg, put};
use super::{Emitted, Emitter, SLOTS};
use crate::JitError;
use seawall_core::abi::code::{
    Instruction, Joined, Kind, NOTHING, NUMBER, Op, Outcome, PAIR, TEMPORARY,
};

/// The word, and the high word, that stand in an instruction for an operand.
fn words_in(op: Op, at: &Instruction) -> [u32; 2] {
    if op.uses_first() {
        [at.second, at.first]
    } else {
        [at.first, at.second]
    }
}

impl Emitter<'_> {
    /// Writes instruction `number` of the table.
    pub(super) fn step(&mut self, (number, at): (usize, &Instruction)) -> Emitted {
        let unchecked = JitError::Unchecked {
            instruction: number,
        };
        let op = Op::from_word(at.op).ok_or(unchecked.clone())?;
        let [to, a, _, c] = at.temps;
        if a != NOTHING {
            self.hand = self.first(op, at);
        }
        let made = match op {
            Op::Only | Op::Until | Op::Raise => {
                self.decide(op);
                return Ok(());
            }
            Op::Store | Op::StoreWide => {
                self.store(op, at);
                return Ok(());
            }
            Op::Append => {
                self.append(at);
                return Ok(());
            }
            Op::Scatter => {
                let joined = at.joined().ok_or(unchecked)?;
                match self.scatter(at, joined) {
                    None => return Ok(()),
                    Some(before) => before,
                }
            }
            Op::Reduce => {
                let joined = at.joined().ok_or(unchecked.clone())?;
                return self.reduce(number, joined).ok_or(unchecked);
            }
            Op::Fold => {
                let joined = at.joined().ok_or(unchecked.clone())?;
                return self.fold(number, joined).ok_or(unchecked);
            }
            Op::Edges => return Err(unchecked),
            _ if op.is_comparison() => {
                let holds = self.compare(op, at);
                match Outcome::from_byte(c).ok_or(unchecked)? {
                    Outcome::Value => Held::word(holds.map(|holds| self.as_word(holds))).below(2),
                    Outcome::Only => {
                        self.only(holds);
                        return Ok(());
                    }
                    Outcome::Until => {
                        self.until(holds);
                        return Ok(());
                    }
                }
            }
            _ => self.make(op, at),
        };
        self.hand = made;
        if to & TEMPORARY != 0 {
            self.set_temp(to, made);
        }
        Ok(())
    }

    /// The first operand.
    fn first(&mut self, op: Op, at: &Instruction) -> Held {
        let byte = at.temps[1];
        if byte & NUMBER != 0 {
            return self.number;
        }
        self.operand(byte, words_in(op, at))
    }

    fn operand(&mut self, byte: u8, [low, high]: [u32; 2]) -> Held {
        if byte & TEMPORARY != 0 {
            return self.temp(byte);
        }
        if byte & PAIR != 0 {
            let pair = u64::from(low) | u64::from(high) << 32;
            return Held::pair([self.constant(Kind::U64, pair); SLOTS]);
        }
        Held::word([self.constant(Kind::U32, low.into()); SLOTS]).below(u64::from(low) + 1)
    }

    /// The second operand; 0 if there is none.
    pub(super) fn second(&mut self, op: Op, at: &Instruction) -> Held {
        match at.temps[2] {
            NOTHING => self.zero(),
            byte => self.operand(byte, words_in(op, at)),
        }
    }

    /// The word of the second operand, if it is in the instruction.
    pub(super) fn second_word(op: Op, at: &Instruction) -> Option<u32> {
        let byte = at.temps[2];
        (byte != NOTHING && byte & TEMPORARY == 0).then(|| words_in(op, at)[0])
    }

    /// The third operand, always a temporary.
    pub(super) fn third(&mut self, at: &Instruction) -> Held {
        self.temp(at.temps[3])
    }

    /// A condition as 1 or 0.
    pub(super) fn as_word(&mut self, holds: Reg) -> Reg {
        let to = self.w.word();
        put!(self.w, "selp.b32 {to}, 1, 0, {holds}");
        to
    }

    /// Whether words are not 0.
    pub(super) fn are_set(&mut self, words: Four) -> Four {
        words.map(|word| {
            let holds = self.w.flag();
            put!(self.w, "setp.ne.u32 {holds}, {word}, 0");
            holds
        })
    }

    /// Writes the consequences of a condition in the accumulator.
    fn decide(&mut self, op: Op) {
        let words = self.words_of(self.hand);
        let holds = self.are_set(words);
        match op {
            Op::Only => self.only(holds),
            Op::Until => self.until(holds),
            _ => {
                let raised = self.place.raised;
                for slot in 0..self.slots {
                    let (holds, active) = (holds[slot], self.active[slot]);
                    put!(self.w, "and.pred {holds}, {holds}, {active}");
                    put!(self.w, "or.pred {raised}, {raised}, {holds}");
                }
            }
        }
    }

    /// Leaves the item or edge unless a condition holds.
    fn only(&mut self, holds: Four) {
        for (active, holds) in self.active.into_iter().zip(holds).take(self.slots) {
            put!(self.w, "and.pred {active}, {active}, {holds}");
        }
    }

    /// Allows the row to end if a condition holds.
    fn until(&mut self, holds: Four) {
        let Some(enough) = self.edge.as_ref().and_then(|edge| edge.enough) else {
            return;
        };
        for slot in 0..self.slots {
            let now = self.w.flag();
            put!(
                self.w,
                "and.pred {now}, {}, {}",
                holds[slot],
                self.active[slot]
            );
            put!(self.w, "or.pred {0}, {0}, {now}", enough[slot]);
        }
    }

    /// Joins the accumulator to the partial results of a reduction; `None` if there are none.
    fn reduce(&mut self, number: usize, joined: Joined) -> Option<()> {
        let parts = *self.edge.as_ref()?.partial.get(&number)?;
        let more = self.in_kind(joined.kind, self.hand);
        for slot in 0..self.slots {
            let now = self.joined(joined, parts[slot], more[slot]);
            self.replace_if(self.active[slot], joined.kind, parts[slot], now);
        }
        Some(())
    }

    /// Joins the accumulator to the result of all items; `None` if there is none.
    fn fold(&mut self, number: usize, joined: Joined) -> Option<()> {
        let part = *self.folds.get(&number)?;
        let more = self.in_kind(joined.kind, self.hand);
        for (active, more) in self.active.into_iter().zip(more).take(self.slots) {
            let now = self.joined(joined, part, more);
            self.replace_if(active, joined.kind, part, now);
        }
        Some(())
    }

    /// Moves a value to a register if a condition holds.
    pub(super) fn replace_if(&mut self, holds: Reg, kind: Kind, to: Reg, from: Reg) {
        let bits = if kind == Kind::U64 { "b64" } else { "b32" };
        put!(self.w, "@{holds} mov.{bits} {to}, {from}");
    }
}
