//! Parts of code that run for each edge of an item.

use super::memory::whole_kind;
use super::{Emitted, Emitter, Held, constant};
use crate::code::{self, Joining, Numbered, Part};
use crate::walk::{Compute, Shape, Walk};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I8, I32, I64};
use cranelift_codegen::ir::{Block, InstBuilder, Value};
use cranelift_frontend::Variable;
use seawall_core::abi::code::{Edges, Instruction, Joined, Op};

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
        self.flush();
        let [offsets, targets] = self.rows(part.edges as u32);
        let [from, to] = self.row_of(offsets, self.now.number);
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
        let outside = (self.now.clone(), self.leave);
        let number = self.b.use_var(at);
        self.now.number = self.neighbour(targets, number);
        self.edge = Some(Edge {
            number,
            enough,
            edges: part.edges,
        });
        self.now.hand = self.zero();
        self.leave = next;
        for (number, instruction) in (first..).zip(body) {
            self.step(number, instruction)?;
        }
        self.flush();
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
        (self.now, self.leave) = outside;
        self.edge = None;
        self.now.hand = self.zero();
        for (reduction, result) in reductions.iter().zip(results) {
            let found = self.b.use_var(result);
            let found = Held::of_kind(reduction.joined.kind, [found]);
            self.set_temp(reduction.at.temps[0], found);
        }
        Ok(())
    }

    /// The node at the other end of an edge.
    fn neighbour(&mut self, targets: Value, number: Value) -> Held {
        let far = self.b.ins().ishl_imm(number, 2);
        let from = self.b.ins().iadd(targets, far);
        let node = self.b.ins().uload32(constant(), from, 0);
        Held::shaped([node], Shape::Index).below(self.tables.nodes.into())
    }

    /// The result of a join, which begins with the neutral value.
    pub(super) fn result(&mut self, joined: Joined) -> Variable {
        let identity = self.constant_of(joined.kind, joined.identity());
        let result = self.b.declare_var(self.b.func.dfg.value_type(identity));
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
            self.step(reduction.number, reduction.at)?;
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
        let kind = whole_kind(joined.kind);
        let [now] = self.in_kind(kind, Held::of_kind(joined.kind, [now]));
        let end = self.constant_of(kind, joined.end().unwrap_or(0));
        self.b.ins().icmp(IntCC::Equal, now, end)
    }

    /// The number or the weight of the edge; 0 outside of parts.
    pub(super) fn edge_part(&mut self, op: Op) -> Held {
        let Some(edge) = self.edge else {
            return self.zero();
        };
        if op == Op::EdgeNumber {
            return Held::shaped([edge.number], Shape::Index);
        }
        let weights = self.address(code::field_of_weights(edge.edges));
        let far = self.b.ins().ishl_imm(edge.number, 2);
        let from = self.b.ins().iadd(weights, far);
        Held::word([self.b.ins().load(I32, constant(), from, 0)])
    }
}
