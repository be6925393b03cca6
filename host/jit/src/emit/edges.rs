//! Parts of code that run for each edge of an item.

use super::held::Held;
use super::{Emitted, Emitter, constant, type_of};
use crate::code::{self, Joining, Numbered, Part};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I8, I32, I64};
use cranelift_codegen::ir::{Block, InstBuilder, Value};
use cranelift_frontend::Variable;
use seawall_core::abi::code::{Edges, Instruction, Joined, Kind, Op};

/// The edge that a part is at.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    /// Its number.
    number: Value,
    /// Whether an edge allowed the row to end.
    pub(super) enough: Variable,
    /// Its direction.
    edges: Edges,
}

impl<'t> Emitter<'t, '_> {
    /// Writes a part.
    pub(super) fn edges(&mut self, begin: &Instruction, code: Numbered<'t>) -> Emitted {
        let Part {
            kind: part,
            body: (first, body),
            reductions,
        } = Part::of(begin, code)?;
        let results: Vec<Variable> = reductions
            .iter()
            .map(|reduction| self.result(reduction.joined))
            .collect();
        let [offsets, targets] = self.rows(part.edges as u32);
        let [from, to] = self.row_of(offsets, self.number);
        let enough = self.b.declare_var(I8);
        let at = self.b.declare_var(I64);
        let no = self.b.ins().iconst(I8, 0);
        self.b.def_var(enough, no);
        self.b.def_var(at, from);
        let (visit, next, done) = (
            self.b.create_block(),
            self.b.create_block(),
            self.b.create_block(),
        );
        let some = self.b.ins().icmp(IntCC::UnsignedLessThan, from, to);
        self.b.ins().brif(some, visit, &[], done, &[]);
        self.b.switch_to_block(visit);
        let outside = (self.number, self.leave, self.temps.forms());
        let number = self.b.use_var(at);
        self.number = self.neighbour(targets, number);
        self.edge = Some(Edge {
            number,
            enough,
            edges: part.edges,
        });
        self.hand = self.zero();
        self.leave = next;
        for (number, instruction) in (first..).zip(body) {
            self.step((number, instruction))?;
        }
        self.reduce((&reductions, &results), part.ends_early, (next, done))?;
        self.b.switch_to_block(next);
        if body.iter().any(code::may_end_row) {
            let goes_on = self.b.create_block();
            let enough = self.b.use_var(enough);
            self.b.ins().brif(enough, done, &[], goes_on, &[]);
            self.b.switch_to_block(goes_on);
        }
        let number = self.b.use_var(at);
        let number = self.b.ins().iadd_imm(number, 1);
        self.b.def_var(at, number);
        let some = self.b.ins().icmp(IntCC::UnsignedLessThan, number, to);
        self.b.ins().brif(some, visit, &[], done, &[]);
        self.b.switch_to_block(done);
        (self.number, self.leave) = (outside.0, outside.1);
        self.temps.restore(outside.2);
        self.edge = None;
        self.hand = self.zero();
        for (reduction, result) in reductions.iter().zip(results) {
            let found = self.b.use_var(result);
            let found = Held::of_kind(reduction.joined.kind, found);
            self.set_temp(reduction.at.temps[0], found);
        }
        Ok(())
    }

    /// The node at the other end of an edge.
    fn neighbour(&mut self, targets: Value, number: Value) -> Held {
        let far = self.b.ins().ishl_imm(number, 2);
        let from = self.b.ins().iadd(targets, far);
        let node = self.b.ins().uload32(constant(), from, 0);
        Held::index(node, u64::from(self.tables.nodes))
    }

    /// The result of a join, which begins with the neutral value.
    pub(super) fn result(&mut self, joined: Joined) -> Variable {
        let result = self.b.declare_var(type_of(joined.kind));
        let identity = self.value_of(joined.kind, joined.identity());
        self.b.def_var(result, identity);
        result
    }

    /// Writes the reductions at an edge, and the end of a row that they may allow.
    fn reduce(
        &mut self,
        (reductions, results): (&[Joining<'t>], &[Variable]),
        ends_early: bool,
        (next, done): (Block, Block),
    ) -> Emitted {
        let mut settled: Option<Value> = None;
        for (reduction, result) in reductions.iter().zip(results) {
            self.folds.insert(reduction.number, *result);
            self.step((reduction.number, reduction.at))?;
            if ends_early {
                let now = self.b.use_var(*result);
                let is_end = self.is_end(reduction.joined, now);
                let both = settled.map(|so_far| self.b.ins().band(so_far, is_end));
                settled = Some(both.unwrap_or(is_end));
            }
        }
        match settled {
            Some(settled) => self.b.ins().brif(settled, done, &[], next, &[]),
            None if ends_early => self.b.ins().jump(done, &[]),
            None => self.b.ins().jump(next, &[]),
        };
        Ok(())
    }

    /// Whether a result can change no more.
    fn is_end(&mut self, joined: Joined, now: Value) -> Value {
        let end = joined.end().unwrap_or(0);
        let now = Held::of_kind(joined.kind, now);
        if joined.kind == Kind::U64 {
            let end = self.b.ins().iconst(I64, end as i64);
            return self.b.ins().icmp(IntCC::Equal, now.value, end);
        }
        let now = self.word(now);
        let end = self.b.ins().iconst(I32, i64::from(end as u32));
        self.b.ins().icmp(IntCC::Equal, now, end)
    }

    /// Joins the accumulator to the partial result of an instruction; `None` if it has none.
    pub(super) fn join(&mut self, number: usize, joined: Joined) -> Option<()> {
        let part = *self.folds.get(&number)?;
        let more = self.in_kind(joined.kind, self.hand);
        let so_far = self.b.use_var(part);
        let now = self.joined(joined, so_far, more);
        self.b.def_var(part, now);
        Some(())
    }

    /// The number or the weight of the edge; 0 outside of parts.
    pub(super) fn of_edge(&mut self, op: Op) -> Held {
        let Some(edge) = self.edge else {
            return self.zero();
        };
        if op == Op::EdgeNumber {
            return Held::index(edge.number, u64::from(u32::MAX) + 1);
        }
        let weights = self.address(code::field_of_weights(edge.edges));
        let far = self.b.ins().ishl_imm(edge.number, 2);
        let from = self.b.ins().iadd(weights, far);
        Held::word(self.b.ins().load(I32, constant(), from, 0))
    }
}
