//! Rows of parts for edges that groups of lanes visit together: eight lanes, a warp, or the block.

use super::edges::Part;
use super::values::{Four, bits};
use super::writer::{Label, Reg, put};
use super::{Emitted, Emitter, Held, Place, SLOTS, Temps};
use crate::walk::Compute;
use seawall_core::abi::code::{Joined, Kind, TEMPS};

/// Lanes of a small group.
pub(super) const GROUP: u32 = 8;

/// Edges of a row that a small group visits, at most: four steps, or eight.
const GROUP_EDGES: u32 = GROUP * 16;

/// Most warps of a block.
const WARPS: u32 = 32;

/// Places in the block's memory, in words: votes of all warps, what a row's lane says, and partial
/// results of warps.
const SAID: u32 = WARPS * SLOTS as u32;
const PARTS: u32 = SAID + 2 + 2 * TEMPS as u32;

/// The first word after them.
pub(super) const END: u32 = PARTS + 2 * TEMPS as u32 * WARPS;

/// A row that a group visits.
struct Row<'p> {
    /// Its first edge, and the number of its edges, which is 0 for a group that has none.
    from: Reg,
    edges: Reg,
    /// The lane's first edge among them, and the edges of a step.
    first: Reg,
    lanes: Reg,
    of_item: &'p Temps,
    /// The lanes of the group.
    mask: Reg,
}

impl<'t> Emitter<'t> {
    /// Groups of lanes visit the rows that need no block.
    pub(super) fn by_groups(&mut self, part: &Part<'t>) -> Emitted {
        let done = self.w.label();
        let left = self.left(part);
        let any = self.any(left);
        put!(self.w, "@!{any} bra {done}");
        let Place {
            threads, longest, ..
        } = self.place;
        // Rows that the block visits, if there may be some.
        let (block, most) = (self.w.word(), self.w.word());
        let is_short = self.w.flag();
        put!(self.w, "mul.lo.u32 {block}, {threads}, {}", self.slots);
        put!(self.w, "setp.le.u32 {is_short}, {longest}, {block}");
        put!(
            self.w,
            "setp.ne.and.u32 {is_short}, {longest}, 0, {is_short}"
        );
        put!(self.w, "selp.b32 {block}, 0xffffffff, {block}, {is_short}");
        let (is_warp, lanes) = (self.w.flag(), self.w.word());
        put!(self.w, "mov.pred {is_warp}, 0");
        put!(self.w, "mov.b32 {lanes}, {GROUP}");
        put!(self.w, "min.u32 {most}, {block}, {GROUP_EDGES}");
        let again = self.w.label();
        self.w.mark(again);
        self.by_slots(part, (lanes, most, is_warp))?;
        put!(self.w, "@{is_warp} bra {done}");
        put!(self.w, "mov.pred {is_warp}, 1");
        put!(self.w, "mov.b32 {lanes}, 32");
        put!(self.w, "mov.b32 {most}, {block}");
        put!(self.w, "bra {again}");
        self.w.mark(done);
        Ok(())
    }

    /// Slots that have edges left.
    fn left(&mut self, part: &Part<'t>) -> Four {
        std::array::from_fn(|slot| {
            let flag = self.w.flag();
            put!(
                self.w,
                "setp.lt.u32 {flag}, {}, {}",
                part.from[slot],
                part.to[slot]
            );
            flag
        })
    }

    /// Groups of `lanes` lanes visit the rows of up to `most` edges, of one slot after the other.
    fn by_slots(&mut self, part: &Part<'t>, (lanes, most, is_warp): (Reg, Reg, Reg)) -> Emitted {
        let (slot, over) = (self.w.word(), self.w.flag());
        let (next, done) = (self.w.label(), self.w.label());
        put!(self.w, "mov.b32 {slot}, 0");
        self.w.mark(next);
        put!(self.w, "setp.ge.u32 {over}, {slot}, {}", self.slots);
        put!(self.w, "@{over} bra {done}");
        let which = self.which(slot);
        let from = self.chosen(Kind::U32, part.from, which);
        let to = self.chosen(Kind::U32, part.to, which);
        let (edges, wants, votes) = (self.w.word(), self.w.flag(), self.w.word());
        put!(self.w, "sub.u32 {edges}, {to}, {from}");
        put!(self.w, "setp.gt.u32 {wants}, {edges}, 0");
        put!(self.w, "setp.le.and.u32 {wants}, {edges}, {most}, {wants}");
        put!(self.w, "vote.sync.ballot.b32 {votes}, {wants}, 0xffffffff");
        let after = self.w.label();
        self.dealt(
            part,
            (slot, which),
            [from, edges],
            (votes, wants),
            (lanes, is_warp),
            after,
        )?;
        self.w.mark(after);
        put!(self.w, "add.u32 {slot}, {slot}, 1");
        put!(self.w, "bra {next}");
        self.w.mark(done);
        Ok(())
    }

    /// Whether a slot is at least 1, 2 and so on.
    fn which(&mut self, slot: Reg) -> [Reg; SLOTS - 1] {
        std::array::from_fn(|at| {
            let flag = self.w.flag();
            put!(self.w, "setp.ge.u32 {flag}, {slot}, {}", at + 1);
            flag
        })
    }

    /// Deals the rows of the lanes in `votes` to the groups, until there is none.
    fn dealt(
        &mut self,
        part: &Part<'t>,
        (slot, which): (Reg, [Reg; SLOTS - 1]),
        [from, edges]: [Reg; 2],
        (votes, wants): (Reg, Reg),
        (lanes, is_warp): (Reg, Reg),
        after: Label,
    ) -> Emitted {
        let Place { lane, below, .. } = self.place;
        let again = self.w.label();
        self.w.mark(again);
        let (none, rest, less) = (self.w.flag(), self.w.word(), self.w.word());
        put!(self.w, "setp.eq.u32 {none}, {votes}, 0");
        put!(self.w, "@{none} bra {after}");
        // The number of the lane's group, and its first lane.
        let (shift, group, first) = (self.w.word(), self.w.word(), self.w.word());
        put!(self.w, "selp.b32 {shift}, 5, 3, {is_warp}");
        put!(self.w, "shr.u32 {group}, {lane}, {shift}");
        put!(self.w, "sub.u32 {first}, {lanes}, 1");
        put!(self.w, "and.b32 {first}, {first}, {lane}");
        // Its row is that of the lane whose bit has this number; the rest is for later.
        let mine = self.w.word();
        put!(self.w, "mov.b32 {mine}, {votes}");
        put!(self.w, "mov.b32 {rest}, {votes}");
        for number in 0..32 / GROUP {
            let (passes, takes) = (self.w.flag(), self.w.flag());
            put!(self.w, "setp.gt.u32 {passes}, {group}, {number}");
            put!(self.w, "sub.u32 {less}, {mine}, 1");
            put!(self.w, "@{passes} and.b32 {mine}, {mine}, {less}");
            put!(self.w, "sub.u32 {less}, {rest}, 1");
            put!(self.w, "and.b32 {less}, {less}, {rest}");
            if number == 0 {
                put!(self.w, "mov.b32 {rest}, {less}");
            } else {
                put!(self.w, "not.pred {takes}, {is_warp}");
                put!(self.w, "@{takes} mov.b32 {rest}, {less}");
            }
        }
        let (there, owner) = (self.w.flag(), self.w.word());
        put!(self.w, "setp.ne.u32 {there}, {mine}, 0");
        put!(self.w, "brev.b32 {owner}, {mine}");
        put!(self.w, "clz.b32 {owner}, {owner}");
        put!(self.w, "and.b32 {owner}, {owner}, 31");
        let row_from = self.shuffled("idx", from, &owner.to_string());
        let row_edges = self.shuffled("idx", edges, &owner.to_string());
        put!(self.w, "selp.b32 {row_edges}, {row_edges}, 0, {there}");
        let of_item = self.said_by(part, which, owner);
        let mask = self.w.word();
        let shifted = self.w.word();
        put!(self.w, "sub.u32 {shifted}, {lane}, {first}");
        put!(self.w, "mov.b32 {mask}, 0xff");
        put!(self.w, "shl.b32 {mask}, {mask}, {shifted}");
        put!(self.w, "selp.b32 {mask}, 0xffffffff, {mask}, {is_warp}");
        let row = Row {
            from: row_from,
            edges: row_edges,
            first,
            lanes,
            of_item: &of_item,
            mask,
        };
        let found = self.along(part, &row)?;
        // The lanes whose rows were dealt take the results.
        let (rank, taken, source, bit) =
            (self.w.word(), self.w.flag(), self.w.word(), self.w.word());
        put!(self.w, "and.b32 {rank}, {votes}, {below}");
        put!(self.w, "popc.b32 {rank}, {rank}");
        put!(self.w, "shl.b32 {source}, {rank}, {shift}");
        put!(self.w, "setp.lt.and.u32 {taken}, {source}, 32, {wants}");
        put!(self.w, "and.b32 {source}, {source}, 31");
        put!(self.w, "shr.u32 {bit}, {votes}, {lane}");
        put!(self.w, "and.b32 {bit}, {bit}, 1");
        put!(self.w, "setp.ne.and.u32 {taken}, {bit}, 0, {taken}");
        let is_slot = self.is_slot(slot, taken);
        for ((reduction, results), found) in part.reductions().zip(found) {
            let joined = reduction.joined;
            self.join_lanes(joined, found, Some(is_warp));
            let found = self.shuffled("idx", found, &source.to_string());
            self.join_slot(is_slot, joined, results, found);
        }
        self.end_row(part, is_slot);
        put!(self.w, "mov.b32 {votes}, {rest}");
        put!(self.w, "bra {again}");
        Ok(())
    }

    /// Whether a number is that of each slot, and a condition holds.
    fn is_slot(&mut self, slot: Reg, holds: Reg) -> Four {
        std::array::from_fn(|number| {
            let flag = self.w.flag();
            put!(self.w, "setp.eq.and.u32 {flag}, {slot}, {number}, {holds}");
            flag
        })
    }

    /// Joins a value to the result of one slot.
    fn join_slot(&mut self, is_slot: Four, joined: Joined, results: Four, value: Reg) {
        for (holds, result) in is_slot.into_iter().zip(results).take(self.slots) {
            let now = self.joined(joined, result, value);
            self.replace_if(holds, joined.kind, result, now);
        }
    }

    /// Leaves no edges in the row of one slot.
    fn end_row(&mut self, part: &Part<'t>, is_slot: Four) {
        let rows = part.from.into_iter().zip(part.to);
        for (holds, (from, to)) in is_slot.into_iter().zip(rows).take(self.slots) {
            put!(self.w, "@{holds} mov.b32 {from}, {to}");
        }
    }

    /// The temporaries of another lane's item.
    fn said_by(&mut self, part: &Part<'t>, which: [Reg; SLOTS - 1], owner: Reg) -> Temps {
        let mut of_item = [None; TEMPS as usize];
        for byte in part.item_temps() {
            let Some(held) = self.now.temps[usize::from(byte)] else {
                continue;
            };
            let kind = held.kind();
            let own = self.chosen(kind, held.values, which);
            let said = self.shuffled("idx", own, &owner.to_string());
            let values = [said; SLOTS];
            of_item[usize::from(byte)] = Some(Held { values, ..held });
        }
        of_item
    }

    /// Visits a row by the lanes of a group; returns the lane's partial results.
    fn along(&mut self, part: &Part<'t>, row: &Row<'_>) -> Result<Vec<Reg>, crate::JitError> {
        let partial = self.neutrals(&part.code.reductions);
        let (offset, edges) = (self.w.word(), self.w.word());
        put!(self.w, "mov.b32 {offset}, {}", row.first);
        put!(self.w, "mov.b32 {edges}, {}", row.edges);
        let (again, done) = (self.w.label(), self.w.label());
        let inside = self.inside();
        let numbers = [(); SLOTS].map(|()| self.w.word());
        self.w.mark(again);
        for slot in 0..self.slots {
            let number = numbers[slot];
            if slot == 0 {
                put!(self.w, "mov.b32 {number}, {offset}");
            } else {
                put!(
                    self.w,
                    "add.u32 {number}, {}, {}",
                    numbers[slot - 1],
                    row.lanes
                );
            }
        }
        for slot in 0..self.slots {
            put!(
                self.w,
                "setp.lt.u32 {}, {}, {edges}",
                inside[slot],
                numbers[slot]
            );
        }
        put!(
            self.w,
            "add.u32 {offset}, {}, {}",
            numbers[self.slots - 1],
            row.lanes
        );
        let any = self.any(inside);
        put!(self.w, "@!{any} bra {done}");
        let edges_of = numbers.map(|number| {
            let edge = self.w.word();
            put!(self.w, "add.u32 {edge}, {number}, {}", row.from);
            edge
        });
        let stops = self.visit(part, (edges_of, inside), &partial, row.of_item)?;
        if let Some(stops) = stops {
            let (stop, votes) = (self.some(stops), self.w.word());
            put!(self.w, "vote.sync.ballot.b32 {votes}, {stop}, 0xffffffff");
            put!(self.w, "and.b32 {votes}, {votes}, {}", row.mask);
            put!(self.w, "setp.ne.u32 {stop}, {votes}, 0");
            put!(self.w, "@{stop} mov.b32 {edges}, 0");
        }
        put!(self.w, "bra {again}");
        self.w.mark(done);
        let reductions = part.code.reductions.iter().zip(partial);
        Ok(reductions
            .map(|(reduction, partial)| {
                let joined = reduction.joined;
                let all = self.neutral(joined);
                for part in &partial[..self.slots] {
                    let now = self.joined(joined, all, *part);
                    self.move_to(joined.kind, all, now);
                }
                all
            })
            .collect())
    }

    /// The block visits the longest rows, one after the other. All its lanes take part, if there may
    /// be such rows.
    pub(super) fn by_block(&mut self, part: &Part<'t>) -> Emitted {
        let Place {
            threads,
            longest,
            thread,
            lane,
            scratch,
            ..
        } = self.place;
        let (done, next, over) = (self.w.label(), self.w.label(), self.w.flag());
        let (most, meets) = (self.w.word(), self.w.flag());
        put!(self.w, "mul.lo.u32 {most}, {threads}, {}", self.slots);
        put!(self.w, "setp.gt.u32 {meets}, {longest}, {most}");
        put!(self.w, "setp.eq.or.u32 {meets}, {longest}, 0, {meets}");
        put!(self.w, "@!{meets} bra {done}");
        let left = self.left(part);
        let some = self.some(left);
        put!(self.w, "barrier.red.or.aligned.pred {some}, 0, {some}");
        put!(self.w, "@!{some} bra {done}");
        // The votes of all warps, a word for each slot.
        let (own, is_first) = (self.w.word(), self.w.flag());
        put!(self.w, "setp.eq.u32 {is_first}, {lane}, 0");
        put!(self.w, "shr.u32 {own}, {thread}, 5");
        put!(self.w, "mad.lo.u32 {own}, {own}, {}, {scratch}", 4 * SLOTS);
        for (slot, flag) in left.into_iter().enumerate() {
            let vote = self.w.word();
            put!(self.w, "vote.sync.ballot.b32 {vote}, {flag}, 0xffffffff");
            put!(
                self.w,
                "@{is_first} st.shared.u32 [{own}+{}], {vote}",
                4 * slot
            );
        }
        put!(self.w, "barrier.sync.aligned 0");
        let (place, places, wanted, at) =
            (self.w.word(), self.w.word(), self.w.word(), self.w.word());
        put!(self.w, "mov.b32 {place}, 0");
        put!(self.w, "shr.u32 {places}, {threads}, {}", 5 - SLOTS.ilog2());
        self.w.mark(next);
        put!(self.w, "setp.ge.u32 {over}, {place}, {places}");
        put!(self.w, "@{over} bra {done}");
        put!(self.w, "mad.lo.u32 {at}, {place}, 4, {scratch}");
        put!(self.w, "ld.shared.u32 {wanted}, [{at}]");
        let (again, last) = (self.w.label(), self.w.label());
        self.w.mark(again);
        let (none, owner, slot) = (self.w.flag(), self.w.word(), self.w.word());
        put!(self.w, "setp.eq.u32 {none}, {wanted}, 0");
        put!(self.w, "@{none} bra {last}");
        put!(self.w, "brev.b32 {owner}, {wanted}");
        put!(self.w, "clz.b32 {owner}, {owner}");
        put!(self.w, "and.b32 {slot}, {place}, {}", SLOTS - 1);
        put!(self.w, "shr.u32 {at}, {place}, {}", SLOTS.ilog2());
        put!(self.w, "mad.lo.u32 {owner}, {at}, 32, {owner}");
        put!(self.w, "sub.u32 {at}, {wanted}, 1");
        put!(self.w, "and.b32 {wanted}, {wanted}, {at}");
        self.together(part, owner, slot)?;
        put!(self.w, "bra {again}");
        self.w.mark(last);
        put!(self.w, "add.u32 {place}, {place}, 1");
        put!(self.w, "bra {next}");
        self.w.mark(done);
        Ok(())
    }

    /// The block visits the row of slot `slot` of lane `owner`.
    fn together(&mut self, part: &Part<'t>, owner: Reg, slot: Reg) -> Emitted {
        let Place {
            threads,
            thread,
            lane,
            scratch,
            ..
        } = self.place;
        let is_owner = self.w.flag();
        put!(self.w, "setp.eq.u32 {is_owner}, {thread}, {owner}");
        let which = self.which(slot);
        let own_from = self.chosen(Kind::U32, part.from, which);
        let own_to = self.chosen(Kind::U32, part.to, which);
        let said = 4 * SAID;
        put!(
            self.w,
            "@{is_owner} st.shared.u32 [{scratch}+{said}], {own_from}"
        );
        put!(
            self.w,
            "@{is_owner} st.shared.u32 [{scratch}+{}], {own_to}",
            said + 4
        );
        let mut temps = Vec::new();
        for (number, byte) in (0_u32..).zip(part.item_temps()) {
            let Some(held) = self.now.temps[usize::from(byte)] else {
                continue;
            };
            let kind = held.kind();
            let own = self.chosen(kind, held.values, which);
            let at = said + 8 + 8 * number;
            let bits = bits(kind);
            put!(
                self.w,
                "@{is_owner} st.shared.b{bits} [{scratch}+{at}], {own}"
            );
            temps.push((byte, held, at));
        }
        put!(self.w, "barrier.sync.aligned 0");
        let (from, edges) = (self.w.word(), self.w.word());
        put!(self.w, "ld.shared.u32 {from}, [{scratch}+{said}]");
        put!(self.w, "ld.shared.u32 {edges}, [{scratch}+{}]", said + 4);
        put!(self.w, "sub.u32 {edges}, {edges}, {from}");
        let mut of_item = [None; TEMPS as usize];
        for (byte, held, at) in temps {
            let kind = held.kind();
            let value = self.fresh(kind);
            let bits = bits(kind);
            put!(self.w, "ld.shared.b{bits} {value}, [{scratch}+{at}]");
            let values = [value; SLOTS];
            of_item[usize::from(byte)] = Some(Held { values, ..held });
        }
        let mask = self.constant_of(Kind::U32, u64::from(u32::MAX));
        let row = Row {
            from,
            edges,
            first: thread,
            lanes: threads,
            of_item: &of_item,
            mask,
        };
        let found = self.along(part, &row)?;
        self.gather(part, found, (is_owner, slot, lane))
    }

    /// Joins the partial results of the block's warps to an item of the lane that owns it.
    fn gather(
        &mut self,
        part: &Part<'t>,
        found: Vec<Reg>,
        (is_owner, slot, lane): (Reg, Reg, Reg),
    ) -> Emitted {
        let Place {
            threads,
            thread,
            scratch,
            ..
        } = self.place;
        let (is_first, own) = (self.w.flag(), self.w.word());
        let each = 8 * WARPS;
        put!(self.w, "setp.eq.u32 {is_first}, {lane}, 0");
        put!(self.w, "shr.u32 {own}, {thread}, 5");
        put!(self.w, "mad.lo.u32 {own}, {own}, 8, {scratch}");
        for (number, (reduction, found)) in (0_u32..).zip(part.code.reductions.iter().zip(found)) {
            self.join_lanes(reduction.joined, found, None);
            let bits = bits(reduction.joined.kind);
            let at = 4 * PARTS + each * number;
            put!(
                self.w,
                "@{is_first} st.shared.u{bits} [{own}+{at}], {found}"
            );
        }
        put!(self.w, "barrier.sync.aligned 0");
        let (after, again) = (self.w.label(), self.w.label());
        let always = self.w.flag();
        put!(self.w, "mov.pred {always}, 1");
        let is_slot = self.is_slot(slot, always);
        put!(self.w, "@!{is_owner} bra {after}");
        let (warp, warps, at, over) = (self.w.word(), self.w.word(), self.w.word(), self.w.flag());
        put!(self.w, "mov.b32 {warp}, 0");
        put!(self.w, "shr.u32 {warps}, {threads}, 5");
        self.w.mark(again);
        put!(self.w, "mad.lo.u32 {at}, {warp}, 8, {scratch}");
        for (number, (reduction, results)) in (0_u32..).zip(part.reductions()) {
            let joined = reduction.joined;
            let of_warp = self.fresh(joined.kind);
            let bits = bits(joined.kind);
            let place = 4 * PARTS + each * number;
            put!(self.w, "ld.shared.u{bits} {of_warp}, [{at}+{place}]");
            self.join_slot(is_slot, joined, results, of_warp);
        }
        put!(self.w, "add.u32 {warp}, {warp}, 1");
        put!(self.w, "setp.lt.u32 {over}, {warp}, {warps}");
        put!(self.w, "@{over} bra {again}");
        self.end_row(part, is_slot);
        self.w.mark(after);
        put!(self.w, "barrier.sync.aligned 0");
        Ok(())
    }
}
