//! Accesses to registers and rows, and the checks of their indices.

use super::values::{Four, Held, bits};
use super::writer::{Reg, put};
use super::{Address, Emitter, SLOTS};
use crate::code;
use seawall_core::abi::code::{Instruction, Join, Joined, Kind, NOTHING, Op};

impl Emitter<'_> {
    /// Leaves out slots whose index is not below `len`, with a note of the first. Returns the index,
    /// which is then known to be.
    pub(super) fn check(&mut self, index: Held, len: u64) -> Held {
        if index.bound <= len {
            return index;
        }
        let len = len.min(u64::from(u32::MAX)) as u32;
        let words = self.words_of(index);
        for (slot, word) in words.into_iter().enumerate() {
            let (missed, active) = (self.w.flag(), self.active[slot]);
            put!(self.w, "setp.ge.and.u32 {missed}, {word}, {len}, {active}");
            put!(self.w, "setp.lt.and.u32 {active}, {word}, {len}, {active}");
            self.note(missed, word, len);
        }
        let checked = Held::word(words).below(len.into());
        // Facts about the item's number hold from here on.
        if self.number.regs == index.regs {
            self.number = self.number.below(len.into());
        }
        checked
    }

    /// Notes an index out of range if a condition holds.
    pub(super) fn note(&mut self, missed: Reg, index: Reg, len: u32) {
        let [is_missed, word, length] = self.place.missed;
        put!(self.w, "@{missed} mov.b32 {is_missed}, 1");
        put!(self.w, "@{missed} mov.b32 {word}, {index}");
        put!(self.w, "@{missed} mov.b32 {length}, {len}");
    }

    /// The addresses of values of `bytes` bytes at an index.
    pub(super) fn places(&mut self, base: Reg, index: Four, bytes: u32) -> Four {
        index.map(|index| {
            let to = self.w.pair();
            put!(self.w, "mad.wide.u32 {to}, {index}, {bytes}, {base}");
            to
        })
    }

    /// Loads from addresses for the slots that are in.
    fn loaded(&mut self, kind: Kind, how: &str, places: Four) -> Four {
        let bits = bits(kind);
        std::array::from_fn(|slot| {
            let to = self.fresh(kind);
            let active = self.active[slot];
            put!(
                self.w,
                "@{active} ld.{how}.u{bits} {to}, [{}]",
                places[slot]
            );
            to
        })
    }

    /// The value of a register at the accumulator.
    pub(super) fn load(&mut self, op: Op, register: u32) -> Held {
        let kind = match op {
            Op::LoadWide | Op::LatestWide => Kind::U64,
            _ => Kind::U32,
        };
        let how = match op {
            Op::Latest | Op::LatestWide => "relaxed.gpu.global",
            _ => "global",
        };
        let index = self.check(self.hand, self.tables.held(register, kind.words()));
        let index = self.words_of(index);
        let base = self.address(Address::Register(register));
        let places = self.places(base, index, 4 * kind.words());
        Held::of_kind(kind, self.loaded(kind, how, places))
    }

    /// Stores the accumulator in a register at the item.
    pub(super) fn store(&mut self, op: Op, at: &Instruction) {
        let kind = if op == Op::StoreWide {
            Kind::U64
        } else {
            Kind::U32
        };
        let index = self.check(self.number, self.tables.held(at.first, kind.words()));
        let index = self.words_of(index);
        let values = self.in_kind(kind, self.hand);
        let base = self.address(Address::Register(at.first));
        let places = self.places(base, index, 4 * kind.words());
        let bits = bits(kind);
        for slot in 0..self.slots {
            let (active, place) = (self.active[slot], places[slot]);
            put!(
                self.w,
                "@{active} st.global.u{bits} [{place}], {}",
                values[slot]
            );
        }
    }

    /// Addresses of the offsets and the targets of a kind of edges.
    pub(super) fn rows(&mut self, edges: u32) -> [Reg; 2] {
        code::fields_of_rows(edges).map(|field| self.field(field))
    }

    /// First edges of nodes' rows, and the edges after the last ones; no edges for slots that are
    /// out.
    pub(super) fn row_of(&mut self, offsets: Reg, node: Held) -> [Four; 2] {
        let node = self.check(node, u64::from(self.tables.nodes));
        let node = self.words_of(node);
        let places = self.places(offsets, node, 4);
        [0, 4].map(|offset| {
            std::array::from_fn(|slot| {
                let (to, active) = (self.w.word(), self.active[slot]);
                put!(self.w, "mov.b32 {to}, 0");
                put!(
                    self.w,
                    "@{active} ld.global.nc.u32 {to}, [{}+{offset}]",
                    places[slot]
                );
                to
            })
        })
    }

    /// A property of the row of the node in the accumulator.
    pub(super) fn row(&mut self, op: Op, edges: u32) -> Held {
        let [offsets, _] = self.rows(edges);
        let [from, to] = self.row_of(offsets, self.hand);
        if op == Op::FirstEdge {
            return Held::word(from);
        }
        Held::word(std::array::from_fn(|slot| {
            let count = self.w.word();
            put!(self.w, "sub.u32 {count}, {}, {}", to[slot], from[slot]);
            count
        }))
    }

    /// Joins the second operand to a register at the accumulator; returns the previous value if
    /// code asks for it.
    pub(super) fn scatter(&mut self, at: &Instruction, joined: Joined) -> Option<Held> {
        let value = self.second(at);
        let is_asked = at.temps[0] != NOTHING;
        let index = self.check(self.hand, self.tables.held(at.first, joined.kind.words()));
        let index = self.words_of(index);
        let base = self.address(Address::Register(at.first));
        let places = self.places(base, index, 4 * joined.kind.words());
        let values = self.in_kind(joined.kind, value);
        let may_skip = !is_asked && code::is_rare(at, joined, value.bound);
        let mut before = [self.place.lane; SLOTS];
        for slot in 0..self.slots {
            let mut active = self.active[slot];
            if may_skip {
                let set = self.w.flag();
                put!(
                    self.w,
                    "setp.ne.and.u32 {set}, {}, 0, {active}",
                    values[slot]
                );
                active = set;
            }
            before[slot] = self.change(places[slot], joined, (values[slot], active), is_asked);
        }
        is_asked.then(|| Held::of_kind(joined.kind, before))
    }

    /// Joins a value to the one at an address if a condition holds; returns the previous value if
    /// that is asked for.
    pub(super) fn change(
        &mut self,
        address: Reg,
        joined: Joined,
        (value, holds): (Reg, Reg),
        is_asked: bool,
    ) -> Reg {
        let name = match (joined.how, joined.kind) {
            (Join::Sum, Kind::U32 | Kind::I32) => "add.u32",
            (Join::Sum, Kind::U64) => "add.u64",
            (Join::Min, Kind::U32) => "min.u32",
            (Join::Max, Kind::U32) => "max.u32",
            (Join::Min, Kind::I32) => "min.s32",
            (Join::Max, Kind::I32) => "max.s32",
            (Join::Min, Kind::U64) => "min.u64",
            (Join::Max, Kind::U64) => "max.u64",
            (Join::Or, Kind::U64) => "or.b64",
            (Join::Or, _) => "or.b32",
            (Join::And, Kind::U64) => "and.b64",
            (Join::And, _) => "and.b32",
            (Join::Any, _) if !is_asked => {
                let is_set = self.w.flag();
                put!(self.w, "setp.ne.and.u32 {is_set}, {value}, 0, {holds}");
                put!(self.w, "@{is_set} st.relaxed.gpu.global.u32 [{address}], 1");
                return value;
            }
            // Sums of floats by one operation would take the smallest for 0.
            (_, Kind::F32) | (Join::Any, _) => {
                return self.change_by_turns(address, joined, (value, holds));
            }
        };
        if is_asked {
            let before = self.fresh(joined.kind);
            put!(
                self.w,
                "@{holds} atom.relaxed.gpu.global.{name} {before}, [{address}], {value}"
            );
            return before;
        }
        put!(
            self.w,
            "@{holds} red.relaxed.gpu.global.{name} [{address}], {value}"
        );
        value
    }

    /// [`Emitter::change`] of words in a loop until no other lane comes in between.
    fn change_by_turns(&mut self, address: Reg, joined: Joined, (value, holds): (Reg, Reg)) -> Reg {
        let (again, done) = (self.w.label(), self.w.label());
        let (before, found, same) = (self.w.word(), self.w.word(), self.w.flag());
        put!(self.w, "@!{holds} bra {done}");
        put!(self.w, "ld.relaxed.gpu.global.u32 {before}, [{address}]");
        self.w.mark(again);
        let after = self.joined(joined, before, value);
        put!(self.w, "setp.eq.u32 {same}, {after}, {before}");
        put!(self.w, "@{same} bra {done}");
        put!(
            self.w,
            "atom.relaxed.gpu.global.cas.b32 {found}, [{address}], {before}, {after}"
        );
        put!(self.w, "setp.eq.u32 {same}, {found}, {before}");
        put!(self.w, "mov.b32 {before}, {found}");
        put!(self.w, "@!{same} bra {again}");
        self.w.mark(done);
        before
    }
}
