//! Functions of waves in Cranelift's intermediate language.
//!
//! The shape of a function:
//!
//! ```text
//! entry    addresses of arrays; neutral values of folds
//! items    for each item:
//!            instructions
//!            an edge part: for each edge of the row: instructions, reductions
//! miss     notes the first index out of range, and goes on with the next item
//! exit     folds join their registers
//! ```
//!
//! An item with an index out of range is left at once. The interpreter goes on with it, but its
//! wave ends with the same fault and nothing reads what it wrote.

mod compute;
mod edges;
mod memory;

use crate::code::{self, Joining, Numbered, Piece};
use crate::walk::{Compute, Machine, Now, Shape, Spot, Walk};
use crate::{CodeWave, Tables};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{AbiParam, Block, Function, InstBuilder, MemFlags, Signature, Value};
use cranelift_codegen::isa::TargetFrontendConfig;
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext, Variable};
use seawall_core::abi::code::{Joined, Kind, Op};
use seawall_core::abi::compiled::EachCall;
use std::collections::BTreeMap;
use std::mem::offset_of;

pub(crate) use crate::walk::Emitted;

type Held = crate::walk::Held<Value, 1>;

/// Writes one function.
pub(crate) struct Emitter<'t, 'f> {
    b: FunctionBuilder<'f>,
    tables: &'t Tables<'t>,
    wave: &'t CodeWave,
    /// The address of the [`EachCall`].
    call: Value,
    /// Addresses of both regions.
    arena: Value,
    inputs: Value,
    now: Now<Value, 1>,
    /// In a part for edges, the edge.
    edge: Option<edges::Edge>,
    /// Target of the jump that skips the rest of an item or an edge.
    leave: Block,
    /// The next item.
    next_item: Block,
    /// Notes an index and the length of its array.
    miss: Block,
    /// Results of all items, by instruction.
    folds: BTreeMap<usize, Variable>,
}

/// Flags of accesses that are in range and aligned.
fn plain() -> MemFlags {
    MemFlags::trusted()
}

/// Flags of reads from memory that no wave writes meanwhile. Such a read stays after the check of its
/// index.
fn constant() -> MemFlags {
    MemFlags::trusted().with_readonly()
}

/// Flags of reads of the caller's addresses, which are valid anywhere.
fn anywhere() -> MemFlags {
    constant().with_can_move()
}

impl<'t, 'f> Emitter<'t, 'f> {
    /// Writes the function of a wave.
    pub(crate) fn emit(
        tables: &'t Tables<'t>,
        wave: &'t CodeWave,
        frontend: TargetFrontendConfig,
        (function, context): (&'f mut Function, &'f mut FunctionBuilderContext),
    ) -> Emitted {
        let mut signature = Signature::new(frontend.default_call_conv);
        signature.params = [I64, I32, I32].map(AbiParam::new).to_vec();
        function.signature = signature;
        let mut b = FunctionBuilder::new(function, context);
        let entry = b.create_block();
        b.append_block_params_for_function_params(entry);
        b.switch_to_block(entry);
        let [call, first, last] = [0, 1, 2].map(|at| b.block_params(entry)[at]);
        let at = |b: &mut FunctionBuilder<'_>, field: usize| {
            b.ins().load(I64, anywhere(), call, field as i32)
        };
        let arena = at(&mut b, offset_of!(EachCall, arena));
        let inputs = at(&mut b, offset_of!(EachCall, inputs));
        let (next_item, miss) = (b.create_block(), b.create_block());
        for _ in ["index", "length"] {
            b.append_block_param(miss, I32);
        }
        let number = Held::word([first]);
        let emitter = Self {
            b,
            tables,
            wave,
            call,
            arena,
            inputs,
            now: Now::new(number, number),
            edge: None,
            leave: next_item,
            next_item,
            miss,
            folds: BTreeMap::new(),
        };
        emitter.function(first, last)
    }

    fn function(mut self, first: Value, last: Value) -> Emitted {
        let code = code::of_wave(self.tables, self.wave)?;
        let folds = code::folds(code)?;
        self.begin_folds(&folds);
        let (item, exit) = (self.b.create_block(), self.b.create_block());
        let [at, end] = [first, last].map(|word| self.b.ins().uextend(I64, word));
        let place = self.b.declare_var(I64);
        self.b.def_var(place, at);
        let some = self.b.ins().icmp(IntCC::UnsignedLessThan, at, end);
        self.b.ins().brif(some, item, &[], exit, &[]);
        self.b.switch_to_block(item);
        self.now.number = self.item(place);
        self.now.hand = self.zero();
        self.items(code)?;
        self.b.ins().jump(self.next_item, &[]);
        self.b.switch_to_block(self.next_item);
        let at = self.b.use_var(place);
        let next = self.b.ins().iadd_imm(at, 1);
        self.b.def_var(place, next);
        let goes_on = self.b.ins().icmp(IntCC::UnsignedLessThan, next, end);
        self.b.ins().brif(goes_on, item, &[], exit, &[]);
        self.miss_block();
        self.b.switch_to_block(exit);
        self.end_folds(&folds);
        self.b.ins().return_(&[]);
        self.b.seal_all_blocks();
        self.b.finalize();
        Ok(())
    }

    /// The item at a place of the domain.
    fn item(&mut self, place: Variable) -> Held {
        let at = self.b.use_var(place);
        if !self.wave.is_listed {
            return Held::shaped([at], Shape::Index).below(self.wave.record.items.into());
        }
        let list = offset_of!(EachCall, list) as i32;
        let list = self.b.ins().load(I64, anywhere(), self.call, list);
        let far = self.b.ins().ishl_imm(at, 2);
        let from = self.b.ins().iadd(list, far);
        let item = self.b.ins().uload32(plain(), from, 0);
        Held::shaped([item], Shape::Index)
    }

    /// Writes the instructions of an item.
    fn items(&mut self, code: Numbered<'t>) -> Emitted {
        for piece in code::pieces(code)? {
            match piece {
                Piece::Step(number, at) => self.step(number, at)?,
                Piece::Edges(begin, code) => self.edges(begin, code)?,
            }
        }
        self.flush();
        Ok(())
    }

    /// Writes the block that notes the first index out of range.
    fn miss_block(&mut self) {
        let [index, len] = [0, 1].map(|at| self.b.block_params(self.miss)[at]);
        self.b.set_cold_block(self.miss);
        self.b.switch_to_block(self.miss);
        let misses = offset_of!(EachCall, misses) as i32;
        let before = self.b.ins().load(I32, plain(), self.call, misses);
        let note = self.b.create_block();
        self.b.set_cold_block(note);
        let next = self.next_item;
        self.b.ins().brif(before, next, &[], note, &[]);
        self.b.switch_to_block(note);
        self.note(index, len);
        self.b.ins().jump(next, &[]);
    }

    /// Notes an index out of range.
    fn note(&mut self, index: Value, len: Value) {
        let one = self.b.ins().iconst(I32, 1);
        let fields = [
            (one, offset_of!(EachCall, misses)),
            (index, offset_of!(EachCall, missed)),
            (len, offset_of!(EachCall, missed_len)),
        ];
        for (word, field) in fields {
            self.b.ins().store(plain(), word, self.call, field as i32);
        }
    }

    fn begin_folds(&mut self, folds: &[Joining<'t>]) {
        for fold in folds {
            let result = self.result(fold.joined);
            self.folds.insert(fold.number, result);
        }
    }

    /// Joins the results of all items to their registers, unless they are the neutral value.
    fn end_folds(&mut self, folds: &[Joining<'t>]) {
        for &Joining { number, at, joined } in folds {
            let part = self.b.use_var(self.folds[&number]);
            let part = Held::of_kind(joined.kind, [part]);
            let kind = memory::whole_kind(joined.kind);
            let [bits] = self.in_kind(kind, part);
            let neutral = self.constant_of(kind, joined.identity());
            let (join, after) = (self.b.create_block(), self.b.create_block());
            let is_neutral = self.b.ins().icmp(IntCC::Equal, bits, neutral);
            self.b.ins().brif(is_neutral, after, &[], join, &[]);
            self.b.switch_to_block(join);
            if self.tables.held(at.first, joined.kind.words()) == 0 {
                let [index, len] = [0; 2].map(|word| self.b.ins().iconst(I32, word));
                self.note(index, len);
            } else {
                let spot = Spot {
                    register: at.first,
                    index: self.zero(),
                    value: part,
                };
                self.changed_to(joined, spot, false);
            }
            self.b.ins().jump(after, &[]);
            self.b.switch_to_block(after);
        }
    }

    /// The address of the region of a register, and the register's place in it.
    fn region(&self, number: u32) -> (Value, u64) {
        let (field, place) = self.tables.place_of(number);
        if field == offset_of!(EachCall, inputs) {
            (self.inputs, place)
        } else {
            (self.arena, place)
        }
    }
}

impl Machine<1> for Emitter<'_, '_> {
    type Value = Value;
    /// The block after the effects.
    type Guard = Block;

    const SHIFTS_END: bool = false;

    fn now(&mut self) -> &mut Now<Value, 1> {
        &mut self.now
    }

    fn tables(&self) -> &Tables<'_> {
        self.tables
    }

    fn constant(&mut self, kind: Kind, bits: u64) -> Value {
        self.constant_of(kind, bits)
    }

    fn reshape(&mut self, value: Value, from: Shape, to: Shape) -> Value {
        self.reshaped(value, from, to)
    }

    fn operate(&mut self, op: Op, a: Value, b: Value) -> Value {
        self.operation(op, a, b)
    }

    fn convert(&mut self, op: Op, a: Value) -> Value {
        self.converted(op, a)
    }

    fn compare(&mut self, op: Op, a: Value, b: Value) -> Value {
        self.comparison(op, a, b)
    }

    fn choose(&mut self, _: Kind, holds: Value, [yes, no]: [Value; 2]) -> Value {
        self.b.ins().select(holds, yes, no)
    }

    fn check(&mut self, [word]: [Value; 1], len: u64) {
        self.within(word, len);
    }

    fn read(&mut self, kind: Kind, _: bool, register: u32, index: Held) -> Held {
        self.loaded(kind, register, index)
    }

    fn write(&mut self, kind: Kind, spot: Spot<Value, 1>) {
        self.stored(kind, spot);
    }

    fn change(&mut self, joined: Joined, spot: Spot<Value, 1>, is_asked: bool) -> Held {
        self.changed_to(joined, spot, is_asked)
    }

    fn append(&mut self, registers: [u32; 2], value: Held) {
        self.appended(registers, value);
    }

    fn row(&mut self, op: Op, edges: u32) -> Held {
        self.row_part(op, edges, self.now.hand)
    }

    fn of_edge(&mut self, op: Op) -> Held {
        self.edge_part(op)
    }

    fn only(&mut self, [holds]: [Value; 1]) {
        let on = self.b.create_block();
        self.b.ins().brif(holds, on, &[], self.leave, &[]);
        self.b.switch_to_block(on);
    }

    fn until(&mut self, [holds]: [Value; 1]) {
        if let Some(edge) = self.edge {
            let before = self.b.use_var(edge.enough);
            let enough = self.b.ins().bor(before, holds);
            self.b.def_var(edge.enough, enough);
        }
    }

    fn raise(&mut self) {
        let one = self.constant_of(Kind::U32, 1);
        let field = offset_of!(EachCall, raised) as i32;
        self.b.ins().store(plain(), one, self.call, field);
    }

    fn join(&mut self, number: usize, joined: Joined, [more]: [Value; 1]) -> Option<()> {
        let part = *self.folds.get(&number)?;
        let so_far = self.b.use_var(part);
        let now = self.joined(joined, so_far, more);
        self.b.def_var(part, now);
        Some(())
    }

    fn begin_guard(&mut self, [holds]: [Value; 1]) -> Block {
        let (inside, after) = (self.b.create_block(), self.b.create_block());
        self.b.ins().brif(holds, inside, &[], after, &[]);
        self.b.switch_to_block(inside);
        after
    }

    fn end_guard(&mut self, after: Block) {
        self.b.ins().jump(after, &[]);
        self.b.switch_to_block(after);
    }
}
