//! One instruction: its operands, its result, and what follows from it.

use super::held::Held;
use super::{Emitted, Emitter};
use crate::JitError;
use crate::code::{self, Action, Operand};
use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{InstBuilder, Value};
use seawall_core::abi::code::{Instruction, Op, Outcome, TEMPORARY};
use seawall_core::abi::compiled::EachCall;
use std::mem::offset_of;

impl Emitter<'_, '_> {
    /// Writes instruction `number` of the table.
    pub(super) fn step(&mut self, (number, at): (usize, &Instruction)) -> Emitted {
        let action = Action::of(number, at)?;
        if let Some(first) = Operand::first(at) {
            self.hand = self.operand(first);
        }
        let made = match action {
            Action::Decide(op) => {
                self.decide(op, code::is_always(at));
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
                    Outcome::Value => Held::word(self.b.ins().uextend(I32, holds)).below(2),
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
            Operand::Pair(pair) => Held::pair(self.b.ins().iconst(I64, pair as i64)),
            Operand::Word(word) => {
                let value = self.b.ins().iconst(I32, i64::from(word));
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

    /// Writes the consequences of a condition in the accumulator, which may always hold.
    fn decide(&mut self, op: Op, is_always: bool) {
        if op == Op::Raise && is_always {
            return self.report(offset_of!(EachCall, raised), 1);
        }
        let condition = self.word(self.hand);
        match op {
            Op::Only => self.only(condition),
            Op::Until => {
                let holds = self.is_set(condition);
                self.until(holds);
            }
            _ => {
                let (raise, after) = (self.b.create_block(), self.b.create_block());
                self.b.ins().brif(condition, raise, &[], after, &[]);
                self.b.switch_to_block(raise);
                self.report(offset_of!(EachCall, raised), 1);
                self.b.ins().jump(after, &[]);
                self.b.switch_to_block(after);
            }
        }
    }

    /// Whether a word is not 0.
    pub(super) fn is_set(&mut self, word: Value) -> Value {
        let not_equal = cranelift_codegen::ir::condcodes::IntCC::NotEqual;
        self.b.ins().icmp_imm(not_equal, word, 0)
    }

    /// Leaves the item or edge unless a condition holds.
    fn only(&mut self, condition: Value) {
        let on = self.b.create_block();
        self.b.ins().brif(condition, on, &[], self.leave, &[]);
        self.b.switch_to_block(on);
    }

    /// Allows the row to end if a condition holds.
    fn until(&mut self, holds: Value) {
        if let Some(edge) = self.edge {
            let before = self.b.use_var(edge.enough);
            let enough = self.b.ins().bor(before, holds);
            self.b.def_var(edge.enough, enough);
        }
    }
}
