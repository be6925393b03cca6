//! Lists that code appends to.
//!
//! All warps add to the length of a list at one address, one after the other. So a warp buffers the
//! values that it appends in the block's memory until the buffer is full, and then reserves space for
//! all of them in the list at once.

use super::values::Four;
use super::writer::{Reg, put};
use super::{Address, Emitter, Held, SLOTS};
use crate::walk::{Compute, Shape};
use seawall_core::abi::code::{Instruction, Op};
use seawall_core::abi::compiled::LINKED_WORDS;

/// Values that a warp buffers for a list: at least as many as it appends in a step.
const BUFFER: u32 = 128;
const _: () = assert!(BUFFER >= 32 * SLOTS as u32);

/// Lists of a wave with a buffer; further ones have none.
const BUFFERS: u32 = 2;

/// Most warps of a block.
const WARPS: u32 = 32;

/// The first word of buffers in the block's memory.
const FIRST: u32 = LINKED_WORDS - BUFFERS * WARPS * BUFFER;
const _: () = assert!(FIRST >= super::groups::END);

/// A list that the code of a wave appends to.
#[derive(Clone, Copy, Debug)]
pub(super) struct List {
    /// The registers of its values and of its length.
    list: u32,
    count: u32,
    /// The number of values in the buffer, and the buffer's address, if it has one.
    buffer: Option<(Reg, Reg)>,
}

impl Emitter<'_> {
    /// Empties the buffers of all lists that the code appends to.
    pub(super) fn begin_lists(&mut self, code: &[Instruction]) {
        for at in code.iter().filter(|at| at.op == Op::Append as u32) {
            let (list, count) = (at.first, at.second);
            let is_known = |known: &List| (known.list, known.count) == (list, count);
            if self.lists.iter().any(is_known) {
                continue;
            }
            let number = self.lists.len() as u32;
            let buffer = (number < BUFFERS).then(|| {
                let (held, place) = (self.w.word(), self.w.word());
                let (thread, scratch) = (self.place.thread, self.place.scratch);
                let at = 4 * (FIRST + number * WARPS * BUFFER);
                put!(self.w, "mov.b32 {held}, 0");
                put!(self.w, "shr.u32 {place}, {thread}, 5");
                put!(
                    self.w,
                    "mad.lo.u32 {place}, {place}, {}, {scratch}",
                    4 * BUFFER
                );
                put!(self.w, "add.u32 {place}, {place}, {at}");
                (held, place)
            });
            self.lists.push(List {
                list,
                count,
                buffer,
            });
        }
    }

    /// Moves what is left in buffers to the lists.
    pub(super) fn end_lists(&mut self) {
        for list in self.lists.clone() {
            if let Some((held, place)) = list.buffer {
                let (none, after) = (self.w.flag(), self.w.label());
                put!(self.w, "setp.eq.u32 {none}, {held}, 0");
                put!(self.w, "@{none} bra {after}");
                self.empty(list, held, place);
                self.w.mark(after);
            }
        }
    }

    /// Appends the values of slots that are in to a list.
    pub(super) fn appended(&mut self, [list, count]: [u32; 2], value: Held) {
        let put_in = self.active;
        let values = self.shaped(value, Shape::Word);
        let mut lists = self.lists.iter();
        let known = lists.find(|known| (known.list, known.count) == (list, count));
        let Some(list) = known.copied() else {
            return;
        };
        let after = self.w.label();
        let any = self.any(put_in);
        put!(self.w, "@!{any} bra {after}");
        // The number of values before those of each slot, and the number of all.
        let votes = put_in.map(|flag| {
            let vote = self.w.word();
            put!(self.w, "vote.sync.ballot.b32 {vote}, {flag}, 0xffffffff");
            vote
        });
        let all = self.w.word();
        put!(self.w, "mov.b32 {all}, 0");
        let places: Four = std::array::from_fn(|slot| {
            let (rank, sum) = (self.w.word(), self.w.word());
            put!(
                self.w,
                "and.b32 {rank}, {}, {}",
                votes[slot],
                self.place.below
            );
            put!(self.w, "popc.b32 {rank}, {rank}");
            put!(self.w, "add.u32 {rank}, {rank}, {all}");
            put!(self.w, "popc.b32 {sum}, {}", votes[slot]);
            put!(self.w, "add.u32 {all}, {all}, {sum}");
            rank
        });
        match list.buffer {
            Some(buffer) => self.buffered(list, buffer, all, [places, values, put_in]),
            None => {
                let start = self.reserved(list, all);
                for slot in 0..self.slots {
                    let place = places[slot];
                    put!(self.w, "add.u32 {place}, {place}, {start}");
                    self.listed(list, place, values[slot], put_in[slot]);
                }
            }
        }
        self.w.mark(after);
    }

    /// Puts values into a buffer, which is emptied before if it has too little space.
    fn buffered(
        &mut self,
        list: List,
        (held, buffer): (Reg, Reg),
        all: Reg,
        [places, values, put_in]: [Four; 3],
    ) {
        let (sum, fits, after) = (self.w.word(), self.w.flag(), self.w.label());
        put!(self.w, "add.u32 {sum}, {held}, {all}");
        put!(self.w, "setp.le.u32 {fits}, {sum}, {BUFFER}");
        put!(self.w, "@{fits} bra {after}");
        self.empty(list, held, buffer);
        self.w.mark(after);
        for slot in 0..self.slots {
            let place = places[slot];
            put!(self.w, "add.u32 {place}, {place}, {held}");
            put!(self.w, "mad.lo.u32 {place}, {place}, 4, {buffer}");
            put!(
                self.w,
                "@{} st.shared.u32 [{place}], {}",
                put_in[slot],
                values[slot]
            );
        }
        put!(self.w, "add.u32 {held}, {held}, {all}");
        put!(self.w, "bar.warp.sync 0xffffffff");
    }

    /// Moves the `held` values of a buffer to its list.
    fn empty(&mut self, list: List, held: Reg, buffer: Reg) {
        let start = self.reserved(list, held);
        let (at, inside) = (self.w.word(), self.w.flag());
        let (again, after) = (self.w.label(), self.w.label());
        put!(self.w, "mov.b32 {at}, {}", self.place.lane);
        self.w.mark(again);
        put!(self.w, "setp.lt.u32 {inside}, {at}, {held}");
        put!(self.w, "@!{inside} bra {after}");
        let (from, value, place) = (self.w.word(), self.w.word(), self.w.word());
        put!(self.w, "mad.lo.u32 {from}, {at}, 4, {buffer}");
        put!(self.w, "ld.shared.u32 {value}, [{from}]");
        put!(self.w, "add.u32 {place}, {start}, {at}");
        self.listed(list, place, value, inside);
        put!(self.w, "add.u32 {at}, {at}, 32");
        put!(self.w, "bra {again}");
        self.w.mark(after);
        put!(self.w, "mov.b32 {held}, 0");
        put!(self.w, "bar.warp.sync 0xffffffff");
    }

    /// Adds to the length of a list; returns the previous length.
    fn reserved(&mut self, list: List, more: Reg) -> Reg {
        let (is_first, start) = (self.w.flag(), self.w.word());
        put!(self.w, "setp.eq.u32 {is_first}, {}, 0", self.place.lane);
        // Without a word for the length there is no space.
        put!(self.w, "mov.b32 {start}, 0xffffff00");
        if self.tables.held(list.count, 1) > 0 {
            let count = self.address(Address::Register(list.count));
            put!(
                self.w,
                "@{is_first} atom.relaxed.gpu.global.add.u32 {start}, [{count}], {more}"
            );
        }
        self.shuffled("idx", start, "0")
    }

    /// Stores a value in a list if a condition holds, or notes that there is no space for it.
    fn listed(&mut self, list: List, place: Reg, value: Reg, holds: Reg) {
        let len = self.tables.held(list.list, 1).min(u64::from(u32::MAX)) as u32;
        let (missed, there, address) = (self.w.flag(), self.w.flag(), self.w.pair());
        put!(self.w, "setp.ge.and.u32 {missed}, {place}, {len}, {holds}");
        put!(self.w, "setp.lt.and.u32 {there}, {place}, {len}, {holds}");
        self.note(missed, place, len);
        let base = self.address(Address::Register(list.list));
        put!(self.w, "mad.wide.u32 {address}, {place}, 4, {base}");
        put!(self.w, "@{there} st.global.u32 [{address}], {value}");
    }
}
