//! Accesses to registers and rows, and the checks of their indices.

use super::held::{Held, Shape};
use super::{Emitter, anywhere, constant, plain};
use crate::code;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{AtomicRmwOp, InstBuilder, MemFlags, Type, Value};
use seawall_core::abi::code::{Instruction, Join, Joined, Kind, NOTHING, Op};

/// The address of a value: a base, and an offset that an access adds.
#[derive(Clone, Copy, Debug)]
struct Place {
    base: Value,
    offset: i32,
}

impl Emitter<'_, '_> {
    /// An address of the caller's arrays.
    pub(super) fn address(&mut self, field: usize) -> Value {
        self.b.ins().load(I64, anywhere(), self.call, field as i32)
    }

    /// Leaves the item with a note unless an index is below `len`. Returns the index, which is then
    /// known to be.
    pub(super) fn check(&mut self, index: Held, len: u64) -> Held {
        if index.bound <= len {
            return index;
        }
        let word = self.word(index);
        let on = self.b.create_block();
        let len_word = self
            .b
            .ins()
            .iconst(I32, len.min(u64::from(u32::MAX)) as i64);
        let is_within = self.b.ins().icmp(IntCC::UnsignedLessThan, word, len_word);
        let missed = [word, len_word].map(Into::into);
        self.b.ins().brif(is_within, on, &[], self.miss, &missed);
        self.b.switch_to_block(on);
        // Facts about the item's number hold from here on.
        if self.number.value == index.value {
            self.number = self.number.below(len);
        }
        index.below(len)
    }

    /// The place of value `index` of `words` words in a register.
    fn place(&mut self, register: u32, index: Held, words: u32) -> Place {
        let (region, offset) = self.region(register);
        let index = self.index(index);
        let far = self.b.ins().ishl_imm(index, if words == 2 { 3 } else { 2 });
        let base = self.b.ins().iadd(region, far);
        match i32::try_from(offset) {
            Ok(offset) => Place { base, offset },
            Err(_) => Place {
                base: self.b.ins().iadd_imm(base, offset as i64),
                offset: 0,
            },
        }
    }

    /// The same place as one address.
    fn whole(&mut self, place: Place) -> Value {
        if place.offset == 0 {
            return place.base;
        }
        self.b.ins().iadd_imm(place.base, i64::from(place.offset))
    }

    /// The value of a register at the accumulator.
    pub(super) fn load(&mut self, op: Op, register: u32) -> Held {
        let is_wide = matches!(op, Op::LoadWide | Op::LatestWide);
        let words = if is_wide { 2 } else { 1 };
        let index = self.check(self.hand, self.tables.held(register, words));
        let Place { base, offset } = self.place(register, index, words);
        if is_wide {
            return Held::pair(self.b.ins().load(I64, plain(), base, offset));
        }
        Held::word(self.b.ins().load(I32, plain(), base, offset))
    }

    /// Stores the accumulator in a register at the item.
    pub(super) fn store(&mut self, op: Op, at: &Instruction) {
        let is_wide = op == Op::StoreWide;
        let words = if is_wide { 2 } else { 1 };
        let index = self.check(self.number, self.tables.held(at.first, words));
        let value = match (is_wide, self.hand.shape) {
            (true, _) => self.pair(self.hand),
            (false, Shape::Float) => self.hand.value,
            (false, _) => self.word(self.hand),
        };
        let Place { base, offset } = self.place(at.first, index, words);
        self.b.ins().store(plain(), value, base, offset);
    }

    /// Addresses of the offsets and the targets of a kind of edges.
    pub(super) fn rows(&mut self, edges: u32) -> [Value; 2] {
        code::fields_of_rows(edges).map(|field| self.address(field))
    }

    /// First edge of a node's row, and the edge after its last one.
    pub(super) fn row_of(&mut self, offsets: Value, node: Held) -> [Value; 2] {
        let node = self.check(node, u64::from(self.tables.nodes));
        let index = self.index(node);
        let far = self.b.ins().ishl_imm(index, 2);
        let from = self.b.ins().iadd(offsets, far);
        [0, 4].map(|offset| self.b.ins().uload32(constant(), from, offset))
    }

    /// A property of the row of the node in the accumulator.
    pub(super) fn row(&mut self, op: Op, edges: u32) -> Held {
        let [offsets, _] = self.rows(edges);
        let [from, to] = self.row_of(offsets, self.hand);
        if op == Op::FirstEdge {
            return Held::index(from, u64::from(u32::MAX) + 1);
        }
        let count = self.b.ins().isub(to, from);
        Held::word(self.b.ins().ireduce(I32, count))
    }

    /// Appends the accumulator to a list.
    pub(super) fn append(&mut self, at: &Instruction) {
        let after = self.b.create_block();
        if code::second_word(at).is_none() {
            let put = self.b.create_block();
            let condition = self.second(at);
            let condition = self.word(condition);
            self.b.ins().brif(condition, put, &[], after, &[]);
            self.b.switch_to_block(put);
        }
        let value = self.word(self.hand);
        let zero = self.zero();
        let len = self.tables.held(at.first, 1);
        let count = self.check(zero, self.tables.held(at.second, 1));
        let joined = Joined {
            how: Join::Sum,
            kind: Kind::U32,
        };
        let one = Held::word(self.b.ins().iconst(I32, 1));
        let before = self.change(at.second, joined, (count, one), true);
        let index = self.check(Held::word(before), len);
        let Place { base, offset } = self.place(at.first, index, 1);
        self.b.ins().store(plain(), value, base, offset);
        self.b.ins().jump(after, &[]);
        self.b.switch_to_block(after);
    }

    /// Joins the second operand to a register at the accumulator; returns the previous value if
    /// code asks for it.
    pub(super) fn scatter(&mut self, at: &Instruction, joined: Joined) -> Option<Held> {
        let value = self.second(at);
        let words = joined.kind.words();
        let index = self.check(self.hand, self.tables.held(at.first, words));
        let is_asked = at.temps[0] != NOTHING;
        if !is_asked && code::is_rare(at, joined, value.bound) {
            let (put, after) = (self.b.create_block(), self.b.create_block());
            let condition = self.word(value);
            self.b.ins().brif(condition, put, &[], after, &[]);
            self.b.switch_to_block(put);
            self.change(at.first, joined, (index, value), is_asked);
            self.b.ins().jump(after, &[]);
            self.b.switch_to_block(after);
            return None;
        }
        let before = self.change(at.first, joined, (index, value), is_asked);
        is_asked.then(|| match joined.kind {
            Kind::U64 => Held::pair(before),
            _ => Held::word(before),
        })
    }

    /// Joins a value to the one at an index of a register, which is in range; returns the previous
    /// value, as whole numbers.
    pub(super) fn change(
        &mut self,
        register: u32,
        joined: Joined,
        (index, value): (Held, Held),
        is_asked: bool,
    ) -> Value {
        let words = joined.kind.words();
        let ty = if words == 2 { I64 } else { I32 };
        let value = self.in_kind(joined.kind, value);
        let place = self.place(register, index, words);
        let is_sum = joined.how == Join::Sum && joined.kind != Kind::F32;
        if self.tables.is_alone {
            return self.change_alone(ty, joined, (place, value));
        }
        let address = self.whole(place);
        if is_sum {
            let add = AtomicRmwOp::Add;
            return self.b.ins().atomic_rmw(ty, plain(), add, address, value);
        }
        self.change_by_turns(ty, joined, (address, value), is_asked)
    }

    /// [`Emitter::change`] by the only thread.
    fn change_alone(&mut self, ty: Type, joined: Joined, (place, value): (Place, Value)) -> Value {
        let Place { base, offset } = place;
        let before = self.b.ins().load(ty, plain(), base, offset);
        let typed = self.typed(joined.kind, before);
        let after = self.joined(joined, typed, value);
        if joined.how == Join::Sum {
            self.b.ins().store(plain(), after, base, offset);
            return before;
        }
        // Most values do not change, and then nothing has to wait for the store.
        let after = self.bits(joined.kind, after);
        let (write, done) = (self.b.create_block(), self.b.create_block());
        let changes = self.b.ins().icmp(IntCC::NotEqual, after, before);
        self.b.ins().brif(changes, write, &[], done, &[]);
        self.b.switch_to_block(write);
        self.b.ins().store(plain(), after, base, offset);
        self.b.ins().jump(done, &[]);
        self.b.switch_to_block(done);
        before
    }

    /// [`Emitter::change`] in a loop until no other thread comes in between.
    fn change_by_turns(
        &mut self,
        ty: Type,
        joined: Joined,
        (address, value): (Value, Value),
        is_asked: bool,
    ) -> Value {
        let (again, swap, done) = (
            self.b.create_block(),
            self.b.create_block(),
            self.b.create_block(),
        );
        let before = self.b.append_block_param(again, ty);
        let result = is_asked.then(|| self.b.append_block_param(done, ty));
        let passed = |value: Value| if is_asked { vec![value.into()] } else { vec![] };
        let found = self.b.ins().load(ty, plain(), address, 0);
        self.b.ins().jump(again, &[found.into()]);
        self.b.switch_to_block(again);
        let typed = self.typed(joined.kind, before);
        let after = self.joined(joined, typed, value);
        let after = self.bits(joined.kind, after);
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

    /// Bits as a value of their kind.
    fn typed(&mut self, kind: Kind, bits: Value) -> Value {
        match kind {
            Kind::F32 => self.float(Held::word(bits)),
            _ => bits,
        }
    }

    /// The bits of a value of `kind`.
    fn bits(&mut self, kind: Kind, value: Value) -> Value {
        match kind {
            Kind::F32 => self.b.ins().bitcast(I32, MemFlags::new(), value),
            _ => value,
        }
    }
}
