//! One instruction: its operands, its result, and the consequences.

use super::values::{Four, Held, bits};
use super::writer::{Reg, put};
use super::{Emitted, Emitter, SLOTS};
use crate::JitError;
use crate::code::{Action, Operand};
use seawall_core::abi::code::{Instruction, Joined, Kind, Op, Outcome, TEMPORARY};

impl Emitter<'_> {
    /// Writes instruction `number` of the table.
    pub(super) fn step(&mut self, (number, at): (usize, &Instruction)) -> Emitted {
        let action = Action::of(number, at)?;
        if let Some(first) = Operand::first(at) {
            self.hand = self.operand(first);
        }
        let made = match action {
            Action::Decide(op) => {
                self.decide(op);
                return Ok(());
            }
            Action::Store(op) => {
                self.store(op, at);
                return Ok(());
            }
            Action::Append => {
                self.append(at);
                return Ok(());
            }
            Action::Scatter(joined) => match self.scatter(at, joined) {
                None => return Ok(()),
                Some(before) => before,
            },
            Action::Join(joined) => {
                let unchecked = JitError::Unchecked {
                    instruction: number,
                };
                return self.join(number, joined).ok_or(unchecked);
            }
            Action::Compare(op, outcome) => {
                let holds = self.compare(op, at);
                match outcome {
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
            Action::Make(op) => self.make(op, at),
        };
        self.hand = made;
        if at.temps[0] & TEMPORARY != 0 {
            self.set_temp(at.temps[0], made);
        }
        Ok(())
    }

    fn operand(&mut self, operand: Operand) -> Held {
        match operand {
            Operand::Number => self.number,
            Operand::Temporary(byte) => self.temp(byte),
            Operand::Pair(pair) => Held::pair([self.constant(Kind::U64, pair); SLOTS]),
            Operand::Word(word) => {
                let value = [self.constant(Kind::U32, word.into()); SLOTS];
                Held::word(value).below(u64::from(word) + 1)
            }
        }
    }

    /// The second operand; 0 if there is none.
    pub(super) fn second(&mut self, at: &Instruction) -> Held {
        self.operand(Operand::second(at))
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

    /// Joins the accumulator to the partial results of a reduction, or to the result of all items;
    /// `None` if there is none.
    fn join(&mut self, number: usize, joined: Joined) -> Option<()> {
        let of_edge = self
            .edge
            .as_ref()
            .and_then(|edge| edge.partial.get(&number));
        let of_items = || self.folds.get(&number).map(|part| [*part; SLOTS]);
        let parts = of_edge.copied().or_else(of_items)?;
        let more = self.in_kind(joined.kind, self.hand);
        for slot in 0..self.slots {
            let now = self.joined(joined, parts[slot], more[slot]);
            self.replace_if(self.active[slot], joined.kind, parts[slot], now);
        }
        Some(())
    }

    /// Moves a value to a register.
    pub(super) fn move_to(&mut self, kind: Kind, to: Reg, from: Reg) {
        put!(self.w, "mov.b{} {to}, {from}", bits(kind));
    }

    /// Moves a value to a register if a condition holds.
    pub(super) fn replace_if(&mut self, holds: Reg, kind: Kind, to: Reg, from: Reg) {
        put!(self.w, "@{holds} mov.b{} {to}, {from}", bits(kind));
    }
}
