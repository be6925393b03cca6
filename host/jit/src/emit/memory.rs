//! Accesses to registers and rows, and the checks of their indices.

use super::{Emitter, Held, anywhere, constant, plain};
use crate::code;
use crate::walk::{Compute, Shape, Spot, Walk};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{F32, I32, I64};
use cranelift_codegen::ir::{AtomicRmwOp, InstBuilder, Type, Value};
use seawall_core::abi::code::{Join, Joined, Kind, Op};

/// The address of a value: a base, and an offset that an access adds.
#[derive(Clone, Copy, Debug)]
struct Place {
    base: Value,
    offset: i32,
}

/// The type of whole numbers of a kind's size.
const fn whole(kind: Kind) -> Type {
    match kind {
        Kind::U64 => I64,
        _ => I32,
    }
}

impl Emitter<'_, '_> {
    /// An address of the caller's arrays.
    pub(super) fn address(&mut self, field: usize) -> Value {
        self.b.ins().load(I64, anywhere(), self.call, field as i32)
    }

    /// Leaves the item with a note unless an index is below `len`.
    pub(super) fn within(&mut self, word: Value, len: u64) {
        let on = self.b.create_block();
        let len = len.min(u64::from(u32::MAX));
        let len = self.b.ins().iconst(I32, len as i64);
        let is_within = self.b.ins().icmp(IntCC::UnsignedLessThan, word, len);
        let missed = [word, len].map(Into::into);
        self.b.ins().brif(is_within, on, &[], self.miss, &missed);
        self.b.switch_to_block(on);
    }

    /// The place of a value of `kind` in a register.
    fn place(&mut self, register: u32, index: Held, kind: Kind) -> Place {
        let (region, offset) = self.region(register);
        let [index] = self.shaped(index, Shape::Index);
        let far = self.b.ins().ishl_imm(index, i64::from(kind.words()) + 1);
        let base = self.b.ins().iadd(region, far);
        match i32::try_from(offset) {
            Ok(offset) => Place { base, offset },
            Err(_) => Place {
                base: self.b.ins().iadd_imm(base, offset as i64),
                offset: 0,
            },
        }
    }

    /// The value at an index of a register, which is in range.
    pub(super) fn loaded(&mut self, kind: Kind, register: u32, index: Held) -> Held {
        let Place { base, offset } = self.place(register, index, kind);
        let ty = if kind == Kind::F32 { F32 } else { whole(kind) };
        Held::of_kind(kind, [self.b.ins().load(ty, plain(), base, offset)])
    }

    /// Stores a value at an index of a register, which is in range.
    pub(super) fn stored(&mut self, kind: Kind, spot: Spot<Value, 1>) {
        let [value] = match spot.value.shape {
            Shape::Float => spot.value.values,
            _ => self.in_kind(kind, spot.value),
        };
        let Place { base, offset } = self.place(spot.register, spot.index, kind);
        self.b.ins().store(plain(), value, base, offset);
    }

    /// Addresses of the offsets and the targets of a kind of edges.
    pub(super) fn rows(&mut self, edges: u32) -> [Value; 2] {
        code::fields_of_rows(edges).map(|field| self.address(field))
    }

    /// First edge of a node's row, and the edge after its last one.
    pub(super) fn row_of(&mut self, offsets: Value, node: Held) -> [Value; 2] {
        let node = self.checked(node, u64::from(self.tables.nodes));
        let [index] = self.shaped(node, Shape::Index);
        let far = self.b.ins().ishl_imm(index, 2);
        let from = self.b.ins().iadd(offsets, far);
        [0, 4].map(|offset| self.b.ins().uload32(constant(), from, offset))
    }

    /// A property of the row of a node.
    pub(super) fn row_part(&mut self, op: Op, edges: u32, node: Held) -> Held {
        let [offsets, _] = self.rows(edges);
        let [from, to] = self.row_of(offsets, node);
        if op == Op::FirstEdge {
            return Held::shaped([from], Shape::Index);
        }
        let count = self.b.ins().isub(to, from);
        Held::word([self.b.ins().ireduce(I32, count)])
    }

    /// Appends a value to a list.
    pub(super) fn appended(&mut self, [list, count]: [u32; 2], value: Held) {
        let zero = self.zero();
        let index = self.checked_in(Kind::U32, count, zero);
        let joined = Joined {
            how: Join::Sum,
            kind: Kind::U32,
        };
        let one = Held::word([self.constant_of(Kind::U32, 1)]);
        let spot = Spot {
            register: count,
            index,
            value: one,
        };
        let before = self.changed_to(joined, spot, true);
        let index = self.checked_in(Kind::U32, list, before);
        let [value] = self.shaped(value, Shape::Word);
        let spot = Spot {
            register: list,
            index,
            value: Held::word([value]),
        };
        self.stored(Kind::U32, spot);
    }

    /// Joins a value to the one at an index of a register, which is in range; returns the previous
    /// value.
    pub(super) fn changed_to(
        &mut self,
        joined: Joined,
        spot: Spot<Value, 1>,
        is_asked: bool,
    ) -> Held {
        let kind = joined.kind;
        if self.tables.is_alone {
            let before = self.loaded(kind, spot.register, spot.index);
            let [more] = self.in_kind(kind, spot.value);
            let after = self.joined(joined, before.values[0], more);
            let value = Held::of_kind(kind, [after]);
            self.stored(kind, Spot { value, ..spot });
            return before;
        }
        let [value] = self.in_kind(kind, spot.value);
        let Place { base, offset } = self.place(spot.register, spot.index, kind);
        let address = match offset {
            0 => base,
            _ => self.b.ins().iadd_imm(base, i64::from(offset)),
        };
        let bits = Held::of_kind(whole_kind(kind), [value]);
        if joined.how == Join::Sum && kind != Kind::F32 {
            let (add, ty) = (AtomicRmwOp::Add, whole(kind));
            let before = self.b.ins().atomic_rmw(ty, plain(), add, address, value);
            return Held {
                values: [before],
                ..bits
            };
        }
        let before = self.change_by_turns(joined, (address, value), is_asked);
        Held {
            values: [before],
            ..bits
        }
    }

    /// [`Emitter::changed_to`] in a loop until no other thread comes in between; the value as whole
    /// numbers.
    fn change_by_turns(
        &mut self,
        joined: Joined,
        (address, value): (Value, Value),
        is_asked: bool,
    ) -> Value {
        let (again, swap, done) = (
            self.b.create_block(),
            self.b.create_block(),
            self.b.create_block(),
        );
        let ty = whole(joined.kind);
        let before = self.b.append_block_param(again, ty);
        let result = is_asked.then(|| self.b.append_block_param(done, ty));
        let passed = |value: Value| if is_asked { vec![value.into()] } else { vec![] };
        let found = self.b.ins().load(ty, plain(), address, 0);
        self.b.ins().jump(again, &[found.into()]);
        self.b.switch_to_block(again);
        let bits = Held::of_kind(whole_kind(joined.kind), [before]);
        let [typed] = self.in_kind(joined.kind, bits);
        let after = self.joined(joined, typed, value);
        let after = Held::of_kind(joined.kind, [after]);
        let [after] = self.in_kind(whole_kind(joined.kind), after);
        let changes = self.b.ins().icmp(IntCC::NotEqual, after, before);
        let end = passed(before);
        self.b.ins().brif(changes, swap, &[], done, &end);
        self.b.switch_to_block(swap);
        let found = self.b.ins().atomic_cas(plain(), address, before, after);
        let swapped = self.b.ins().icmp(IntCC::Equal, found, before);
        let end = passed(before);
        self.b
            .ins()
            .brif(swapped, done, &end, again, &[found.into()]);
        self.b.switch_to_block(done);
        result.unwrap_or(found)
    }
}

/// The kind of whole numbers of a kind's size.
pub(super) const fn whole_kind(kind: Kind) -> Kind {
    match kind {
        Kind::U64 => Kind::U64,
        _ => Kind::U32,
    }
}
