//! One instruction: its operands, its result, and what follows from it.

use super::held::Held;
use super::{Emitted, Emitter};
use crate::JitError;
use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{InstBuilder, Value};
use seawall_core::abi::code::{Instruction, NOTHING, NUMBER, Op, Outcome, PAIR, TEMPORARY, WORD};
use seawall_core::abi::compiled::EachCall;
use std::mem::offset_of;

/// The word, and the high word, that stand in an instruction for an operand.
fn words_of(op: Op, at: &Instruction) -> [u32; 2] {
    if op.uses_first() {
        [at.second, at.first]
    } else {
        [at.first, at.second]
    }
}

impl Emitter<'_, '_> {
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
                let is_always = a == WORD && words_of(op, at)[0] != 0;
                self.decide(op, is_always);
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
            Op::Reduce | Op::Fold => {
                let joined = at.joined().ok_or(unchecked.clone())?;
                return self.join((number, op), joined).ok_or(unchecked);
            }
            Op::Edges => return Err(unchecked),
            _ if op.is_comparison() => {
                let holds = self.compare(op, at);
                match Outcome::from_byte(c).ok_or(unchecked)? {
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
        self.operand(byte, words_of(op, at))
    }

    fn operand(&mut self, byte: u8, [low, high]: [u32; 2]) -> Held {
        if byte & TEMPORARY != 0 {
            return self.temp(byte);
        }
        if byte & PAIR != 0 {
            let pair = u64::from(low) | u64::from(high) << 32;
            return Held::pair(self.b.ins().iconst(I64, pair as i64));
        }
        let word = self.b.ins().iconst(I32, i64::from(low));
        Held::word(word).below(u64::from(low) + 1)
    }

    /// The second operand; 0 if there is none.
    pub(super) fn second(&mut self, op: Op, at: &Instruction) -> Held {
        match at.temps[2] {
            NOTHING => self.zero(),
            byte => self.operand(byte, words_of(op, at)),
        }
    }

    /// The word of the second operand, if it is in the instruction.
    pub(super) fn second_word(op: Op, at: &Instruction) -> Option<u32> {
        let byte = at.temps[2];
        (byte != NOTHING && byte & TEMPORARY == 0).then(|| words_of(op, at)[0])
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
