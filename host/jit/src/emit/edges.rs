//! Parts of code that run for each edge of an item.

use super::held::Held;
use super::{Emitted, Emitter, constant, type_of};
use crate::JitError;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I8, I32, I64};
use cranelift_codegen::ir::{Block, InstBuilder, Value};
use cranelift_frontend::Variable;
use seawall_core::abi::code::{Edges, EdgesPart, Instruction, Joined, Kind, Op, Outcome};
use seawall_core::abi::compiled::EachCall;
use std::mem::offset_of;

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

/// A reduction of a part.
struct Reduction<'t> {
    at: &'t Instruction,
    joined: Joined,
    /// Its result so far.
    part: Variable,
}

/// Whether an instruction may allow a row to end.
fn may_end(at: &Instruction) -> bool {
    Op::from_word(at.op).is_some_and(|op| {
        let is_until = op.is_comparison() && at.temps[3] == Outcome::Until as u8;
        is_until || op == Op::Until
    })
}

impl<'t> Emitter<'t, '_> {
    /// Writes a part: `first` is the number of its first instruction in the table.
    pub(super) fn edges(
        &mut self,
        begin: &Instruction,
        (first, body): (usize, &'t [Instruction]),
    ) -> Emitted {
        let part = EdgesPart::from_word(begin.first);
        let end = body.len().checked_sub(part.reductions as usize);
        let end = end.ok_or(JitError::Unchecked { instruction: first })?;
        let reductions = self.reductions(first + end, &body[end..])?;
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
        for (number, instruction) in (first..).zip(&body[..end]) {
            self.step((number, instruction))?;
        }
        self.reduce((first + end, &reductions), part.ends_early, (next, done))?;
        self.b.switch_to_block(next);
        if body[..end].iter().any(may_end) {
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
        for reduction in &reductions {
            let found = self.b.use_var(reduction.part);
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

    /// The reductions of a part, whose results begin with the neutral values.
    fn reductions(
        &mut self,
        first: usize,
        code: &'t [Instruction],
    ) -> Result<Vec<Reduction<'t>>, JitError> {
        let mut all = Vec::with_capacity(code.len());
        for (instruction, at) in (first..).zip(code) {
            let joined = at.joined().filter(|_| at.op == Op::Reduce as u32);
            let joined = joined.ok_or(JitError::Unchecked { instruction })?;
            let part = self.b.declare_var(type_of(joined.kind));
            let identity = self.value_of(joined.kind, joined.identity());
            self.b.def_var(part, identity);
            all.push(Reduction { at, joined, part });
        }
        Ok(all)
    }

    /// Writes the reductions at an edge, and the end of a row that they may allow.
    fn reduce(
        &mut self,
        (first, reductions): (usize, &[Reduction<'t>]),
        ends_early: bool,
        (next, done): (Block, Block),
    ) -> Emitted {
        let mut settled: Option<Value> = None;
        for (number, reduction) in (first..).zip(reductions) {
            self.folds.insert(number, reduction.part);
            self.step((number, reduction.at))?;
            if ends_early {
                let now = self.b.use_var(reduction.part);
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
    pub(super) fn join(&mut self, (number, _): (usize, Op), joined: Joined) -> Option<()> {
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
        let field = match edge.edges {
            Edges::Out => offset_of!(EachCall, weights),
            Edges::In => offset_of!(EachCall, incoming_weights),
        };
        let weights = self.address(field);
        let far = self.b.ins().ishl_imm(edge.number, 2);
        let from = self.b.ins().iadd(weights, far);
        Held::word(self.b.ins().load(I32, constant(), from, 0))
    }
}
