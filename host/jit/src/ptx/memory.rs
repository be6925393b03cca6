//! Accesses to registers and rows, and the checks of their indices.

use super::values::{Four, bits};
use super::writer::{Reg, put};
use super::{Address, Emitter, Held, SLOTS};
use crate::code;
use crate::walk::{Compute, Shape, Spot, Walk};
use seawall_core::abi::code::{Join, Joined, Kind, Op};

impl Emitter<'_> {
    /// Leaves out slots whose index is not below `len`, with a note of the first.
    pub(super) fn within(&mut self, words: Four, len: u64) {
        let len = len.min(u64::from(u32::MAX)) as u32;
        for (slot, word) in words.into_iter().enumerate() {
            let (missed, active) = (self.w.flag(), self.active[slot]);
            put!(self.w, "setp.ge.and.u32 {missed}, {word}, {len}, {active}");
            put!(self.w, "setp.lt.and.u32 {active}, {word}, {len}, {active}");
            self.note(missed, word, len);
        }
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

    /// The places of values of `kind` in a register.
    fn places_in(&mut self, register: u32, index: Held, kind: Kind) -> Four {
        let index = self.shaped(index, Shape::Word);
        let base = self.address(Address::Register(register));
        self.places(base, index, 4 * kind.words())
    }

    /// Values of a register at indices in range, for the slots that are in.
    pub(super) fn loaded(
        &mut self,
        kind: Kind,
        is_latest: bool,
        register: u32,
        index: Held,
    ) -> Held {
        let how = match is_latest {
            true => "relaxed.gpu.global",
            false => "global",
        };
        let places = self.places_in(register, index, kind);
        let bits = bits(kind);
        Held::of_kind(
            kind,
            std::array::from_fn(|slot| {
                let (to, active) = (self.fresh(kind), self.active[slot]);
                let place = places[slot];
                put!(self.w, "@{active} ld.{how}.u{bits} {to}, [{place}]");
                to
            }),
        )
    }

    /// Stores values in a register at indices in range.
    pub(super) fn stored(&mut self, kind: Kind, spot: Spot<Reg, SLOTS>) {
        let values = self.in_kind(kind, spot.value);
        let places = self.places_in(spot.register, spot.index, kind);
        let bits = bits(kind);
        for slot in 0..self.slots {
            let (active, place, value) = (self.active[slot], places[slot], values[slot]);
            put!(self.w, "@{active} st.global.u{bits} [{place}], {value}");
        }
    }

    /// Addresses of the offsets and the targets of a kind of edges.
    pub(super) fn rows(&mut self, edges: u32) -> [Reg; 2] {
        code::fields_of_rows(edges).map(|field| self.field(field))
    }

    /// First edges of nodes' rows, and the edges after the last ones; no edges for slots that are
    /// out.
    pub(super) fn row_of(&mut self, offsets: Reg, node: Held) -> [Four; 2] {
        let node = self.checked(node, u64::from(self.tables.nodes));
        let node = self.shaped(node, Shape::Word);
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

    /// A property of the rows of nodes.
    pub(super) fn row_part(&mut self, op: Op, edges: u32, node: Held) -> Held {
        let [offsets, _] = self.rows(edges);
        let [from, to] = self.row_of(offsets, node);
        if op == Op::FirstEdge {
            return Held::word(from);
        }
        Held::word(std::array::from_fn(|slot| {
            let count = self.w.word();
            put!(self.w, "sub.u32 {count}, {}, {}", to[slot], from[slot]);
            count
        }))
    }

    /// Joins values to those at indices of a register, which are in range; returns the previous
    /// values if they are asked for.
    pub(super) fn changed_to(
        &mut self,
        joined: Joined,
        spot: Spot<Reg, SLOTS>,
        is_asked: bool,
    ) -> Held {
        let places = self.places_in(spot.register, spot.index, joined.kind);
        let values = self.in_kind(joined.kind, spot.value);
        let mut before = values;
        for slot in 0..self.slots {
            let value = (values[slot], self.active[slot]);
            before[slot] = self.change_at(places[slot], joined, value, is_asked);
        }
        Held::of_kind(joined.kind, before)
    }

    /// Joins a value to the one at an address if a condition holds; returns the previous value if
    /// that is asked for.
    pub(super) fn change_at(
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

    /// [`Emitter::change_at`] of words in a loop until no other lane comes in between.
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
