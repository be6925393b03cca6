//! Runs an edge part of the code for each edge of each item's row.
//!
//! A lane visits short rows alone, for all of its slots at a time, and begins longer ones that are
//! likely to end early. The rest of the longer rows go to groups of lanes, several rows of a warp's
//! items at a time, and the longest to the whole block. A lane's partial result of a row lies in
//! its own temporaries and is joined at the row's end.

use super::access::rows_of;
use super::fetched::{B, Fetched, TO};
use super::fold::join_lanes;
use super::slots::{SLOTS, Words4, chosen, each, has, mask};
use super::steps::Steps;
use super::straight::{RAISED, done_of, run as walk};
use super::sweep::{Place, Sweep};
use super::temps::{TemporaryMemory, Values};
use super::{change, values};
use crate::collectives::context::ContextRef;
use crate::machine::Grid;
use crate::machine::memory::Csr;
use crate::machine::shared::{EACH_ITEM, EACH_SLOTS, EACH_VOTES};
use seawall_core::abi::code::{EdgesPart, Joined, Kind, OF_EDGE, PAIR};

/// Most edges of a row that its lane handles alone.
const OWN_EDGES: u32 = 8;

/// Edges of a longer row, which may end early, that a lane visits alone.
const TRIED_EDGES: u32 = 4;

/// Lanes of the smallest group. A warp has space for the rows of all such groups.
const GROUP: u32 = 4;

/// Steps of a group through a row, at most; the next larger groups take longer rows.
const GROUP_STEPS: u32 = 4;

/// The part, and the items whose rows it visits.
#[derive(Clone, Copy, Debug)]
struct Rows<G> {
    cx: ContextRef<G>,
    grid: G,
    steps: Steps<G>,
    space: TemporaryMemory,
    csr: Csr,
    /// First instruction, first reduction, and the end.
    body: (u32, u32, u32),
    place: Place,
    may_stop: bool,
    /// Whether some row may be too long for a warp.
    may_meet: bool,
}

/// The edges of the slots' rows that are still to be visited.
#[derive(Clone, Copy, Debug)]
struct Rest {
    from: Words4,
    to: Words4,
}

impl Rest {
    #[inline(always)]
    const fn edges(&self, slot: usize) -> u32 {
        self.to[slot].saturating_sub(self.from[slot])
    }
}

/// Runs the part that begins at `at` for the slots of `active`; returns where it ends, and whether
/// it raised the loop's flag, as [`RAISED`]. All lanes of the block call this, in warps that have
/// more than one.
#[inline(always)]
pub(super) fn run<G: Grid>(cx: ContextRef<G>, at: u32, items: Words4, active: u32) -> (u32, u32) {
    let [first, second, third, fourth] = items;
    visit(cx, at, first, second, third, fourth, active)
}

/// [`run`] with its arguments as words, since arguments by reference lie in local memory.
#[inline(never)]
fn visit<G: Grid>(
    cx: ContextRef<G>,
    at: u32,
    first: u32,
    second: u32,
    third: u32,
    fourth: u32,
    active: u32,
) -> (u32, u32) {
    let (grid, steps) = (cx.grid(), Steps::again(cx));
    let begin = steps.fetch(at);
    let part = EdgesPart::from_word(begin.word);
    let tables = cx.context().tables;
    let end = at + 1 + begin.other;
    let (space, longest) = (TemporaryMemory::of(grid), tables.longest_row(grid));
    let rows = Rows {
        cx,
        grid,
        steps,
        space,
        csr: rows_of(grid, tables, part.edges as u32),
        body: (at + 1, end - part.reductions, end),
        place: Place::of_own(part.edges, part.ends_early),
        may_stop: part.may_stop,
        may_meet: longest == 0 || longest > space.lanes * EACH_SLOTS,
    };
    let items = [first, second, third, fourth];
    let there = change::within(grid, items, tables.nodes(grid), active);
    let mut rest = rows.all(items, there);
    let mut flags = 0;
    if grid.lane() < rows.space.lanes {
        flags = rows.by_slots(&mut rest);
        let left = mask(|slot| rest.edges(slot) > 0);
        if G::WARP > 1 && grid.ballot(left != 0) != 0 {
            flags |= rows.by_groups(&mut rest);
        }
    }
    if G::WARP > 1 && rows.may_meet {
        flags |= rows.by_block(rest);
    }
    (end, flags & RAISED)
}

impl<G: Grid> Rows<G> {
    /// Each reduction.
    #[inline(always)]
    fn each_reduction(&self, mut visit: impl FnMut(u32, Fetched, Joined)) {
        for number in self.body.1..self.body.2 {
            let instruction = self.steps.fetch(number);
            if let Some(joined) = instruction.joined() {
                visit(number, instruction, joined);
            }
        }
    }

    /// The rows of the items that are there.
    #[inline(always)]
    fn all(&self, items: Words4, there: u32) -> Rest {
        let row = |slot: usize| {
            if has(there, slot) {
                self.csr.row(self.grid, items[slot])
            } else {
                (0, 0)
            }
        };
        let rows = each(row);
        Rest {
            from: rows.map(|row| row.0),
            to: rows.map(|row| row.1),
        }
    }

    /// Most edges of a row that a warp handles.
    #[inline(always)]
    fn warp_edges(&self) -> u32 {
        self.space.lanes * EACH_SLOTS
    }

    /// Sets the lane's partial results to the neutral value.
    #[inline(always)]
    fn forget(&self) {
        let own = self.space.of_lane(self.grid, self.grid.lane());
        self.each_reduction(|number, at, joined| {
            let identity = self.steps.identity(number, joined);
            own.set(at.byte(B), Values::all(identity));
        });
    }

    #[inline(always)]
    fn sweep(&self, rest: Rest, step: u32, group: u32, place: Place) -> u32 {
        let sweep = Sweep {
            code: (self.body.0, self.body.2),
            from: rest.from,
            to: rest.to,
            step,
            group,
            place,
        };
        walk(self.cx, sweep).1
    }

    /// Each slot visits its own row, or begins it. A warp operation.
    #[inline(always)]
    fn by_slots(&self, rest: &mut Rest) -> u32 {
        let grid = self.grid;
        self.forget();
        let tried = if self.may_stop { TRIED_EDGES } else { 0 };
        let to = each(|slot| {
            let edges = rest.edges(slot);
            let is_own = G::WARP == 1 || edges <= OWN_EDGES;
            rest.from[slot] + if is_own { edges } else { tried }
        });
        let some = mask(|slot| rest.from[slot] < to[slot]);
        let mut flags = 0;
        if grid.ballot(some != 0) != 0 {
            let part = Rest {
                from: rest.from,
                to,
            };
            flags = self.sweep(part, 1, 0, self.place);
            rest.from = chosen(done_of(flags), rest.to, to);
        }
        let own = self.space.of_lane(grid, grid.lane());
        self.each_reduction(|_, at, _| {
            let found = own.own_values(at.byte(B));
            own.set(wide_as(at.byte(TO), at.byte(B)), found);
        });
        flags
    }

    /// Groups of lanes visit the rows that need no block. A warp operation.
    #[inline(always)]
    fn by_groups(&self, rest: &mut Rest) -> u32 {
        let mut flags = 0;
        let mut lanes = GROUP;
        // Lanes read the temporaries of an item's lane.
        self.grid.warp_barrier();
        while lanes <= G::WARP {
            let most = if lanes < G::WARP {
                (lanes * EACH_SLOTS * GROUP_STEPS).min(self.warp_edges())
            } else {
                self.warp_edges()
            };
            loop {
                let wants = mask(|slot| {
                    let edges = rest.edges(slot);
                    edges > 0 && edges <= most
                });
                if self.grid.ballot(wants != 0) == 0 {
                    break;
                }
                let (taken, found) = self.groups(*rest, wants, lanes);
                rest.from = chosen(taken, rest.to, rest.from);
                flags |= found;
            }
            lanes = if lanes == GROUP { 4 * GROUP } else { lanes * 2 };
        }
        flags
    }

    /// Each group of `lanes` lanes visits one of the wanted rows; returns which of the lane's rows
    /// were taken. A warp operation.
    #[inline(always)]
    fn groups(&self, rest: Rest, wants: u32, lanes: u32) -> (u32, u32) {
        let (grid, groups) = (self.grid, G::WARP / lanes);
        let first = grid.warp_lane() & (lanes - 1);
        let (taken, count) = self.deal(rest, wants, groups);
        let number = grid.warp_lane() / lanes;
        self.forget();
        // Lanes read which rows were dealt.
        grid.warp_barrier();
        let is_there = number < count;
        let (row, owner) = if is_there {
            self.dealt(number)
        } else {
            ((0, 0), (grid.lane(), 0))
        };
        let from = |slot: usize| row.0 + first + slot as u32 * lanes;
        let part = Rest {
            from: each(from),
            to: [row.1; SLOTS],
        };
        let group = if lanes < G::WARP {
            ((1 << lanes) - 1) << (grid.warp_lane() - first)
        } else {
            u32::MAX
        };
        let flags = self.sweep(part, lanes * EACH_SLOTS, group, self.place.of(owner));
        let (own, of_item) = (
            self.space.of_lane(grid, grid.lane()),
            self.space.at_edges(grid, owner.0, owner.1),
        );
        self.each_reduction(|_, at, joined| {
            let found = own.own_values(at.byte(B)).join(joined);
            let all = join_lanes(grid, joined, found, lanes);
            if first == 0 && is_there {
                let is_wide = joined.kind == Kind::U64;
                let all = values::join(joined, of_item.reduced(at, is_wide), all);
                of_item.set_reduced(at, is_wide, all);
            }
        });
        grid.warp_barrier();
        (taken, flags)
    }

    /// Deals the first wanted rows out to `groups` groups; returns which of the lane's are among
    /// them, and how many rows there are. A warp operation.
    #[inline(always)]
    fn deal(&self, rest: Rest, wants: u32, groups: u32) -> (u32, u32) {
        let grid = self.grid;
        let votes = each(|slot| grid.ballot(has(wants, slot)));
        let [first, second, third, fourth] = votes.map(u32::count_ones);
        let before = [0, first, first + second, first + second + third];
        let number = each(|slot| before[slot] + (votes[slot] & grid.lanes_below()).count_ones());
        let taken = wants & mask(|slot| number[slot] < groups);
        each(|slot| {
            if has(taken, slot) {
                let owner = grid.lane() * EACH_SLOTS + slot as u32;
                let row = [rest.from[slot], rest.to[slot], owner, 0];
                let place = self.space.row(grid, number[slot]);
                // SAFETY: a warp has space for as many rows as it has groups, at multiples of four
                // words.
                unsafe { grid.place_store4(place, row) };
            }
        });
        (taken, before[3] + fourth)
    }

    /// Row `number` of those dealt: its edges, and the lane and slot of its item.
    #[inline(always)]
    fn dealt(&self, number: u32) -> ((u32, u32), (u32, u32)) {
        let place = self.space.row(self.grid, number);
        // SAFETY: as in `deal`.
        let [from, to, owner, _] = unsafe { self.grid.place_load4(place) };
        ((from, to), (owner / EACH_SLOTS, owner % EACH_SLOTS))
    }

    /// The block visits the longest rows. A block operation.
    #[inline(always)]
    fn by_block(&self, rest: Rest) -> u32 {
        let grid = self.grid;
        let wants = mask(|slot| rest.edges(slot) > 0);
        let mut flags = 0;
        if !grid.block_any(wants != 0) {
            return flags;
        }
        let votes = each(|slot| grid.ballot(has(wants, slot)));
        let warp = grid.lane() / G::WARP;
        if grid.warp_lane() == 0 {
            each(|slot| {
                let place = warp * EACH_SLOTS + slot as u32;
                // SAFETY: a word per warp and slot, and a block has at most 32 warps.
                unsafe { EACH_VOTES.store(grid, place, votes[slot]) };
            });
        }
        grid.block_barrier();
        for place in 0..grid.lanes() / G::WARP * EACH_SLOTS {
            // SAFETY: as above.
            let mut wanted = unsafe { EACH_VOTES.load(grid, place) };
            let slot = place % EACH_SLOTS;
            while wanted != 0 {
                let owner = place / EACH_SLOTS * G::WARP + wanted.trailing_zeros();
                wanted &= wanted - 1;
                flags |= self.together(rest, (owner, slot));
            }
        }
        flags
    }

    /// The block visits the row of an item of lane `owner`. A block operation.
    #[inline(always)]
    fn together(&self, rest: Rest, owner: (u32, u32)) -> u32 {
        let (grid, lanes) = (self.grid, self.space.lanes);
        if grid.lane() == owner.0 {
            let [first, second, third, fourth] = each(|slot| [rest.from[slot], rest.to[slot]]);
            let row = match owner.1 {
                0 => first,
                1 => second,
                2 => third,
                _ => fourth,
            };
            // SAFETY: fixed words.
            unsafe {
                EACH_ITEM.store(grid, ROW, row[0]);
                EACH_ITEM.store(grid, ROW + 1, row[1]);
            }
        }
        grid.block_barrier();
        let mut flags = 0;
        if grid.lane() < lanes {
            self.forget();
            // SAFETY: fixed words.
            let [from, to] = [0, 1].map(|at| unsafe { EACH_ITEM.load(grid, ROW + at) });
            let part = Rest {
                from: each(|slot| from + grid.lane() + slot as u32 * lanes),
                to: [to; SLOTS],
            };
            flags = self.sweep(part, lanes * EACH_SLOTS, u32::MAX, self.place.of(owner));
            let own = self.space.of_lane(grid, grid.lane());
            self.each_reduction(|_, at, joined| {
                let all = own.own_values(at.byte(B)).join(joined);
                let all = join_lanes(grid, joined, all, G::WARP);
                own.set(at.byte(B), Values::all(all));
            });
        }
        grid.block_barrier();
        if grid.lane() == owner.0 {
            self.each_reduction(|_, at, joined| self.gather(at, joined, owner));
        }
        grid.block_barrier();
        flags
    }

    /// Joins the warps' partial results to an item of this lane.
    #[inline(always)]
    fn gather(&self, at: Fetched, joined: Joined, owner: (u32, u32)) {
        let grid = self.grid;
        let is_wide = joined.kind == Kind::U64;
        let of_item = self.space.at_edges(grid, owner.0, owner.1);
        let mut all = of_item.reduced(at, is_wide);
        for warp in 0..self.space.lanes / G::WARP {
            let found = self.space.of_lane(grid, warp * G::WARP);
            let found = found.own_values(at.byte(B)).first(is_wide);
            all = values::join(joined, all, found);
        }
        of_item.set_reduced(at, is_wide, all);
    }
}

/// First word of [`EACH_ITEM`] for the row of a block.
const ROW: u32 = 2;

/// Byte of the lane's own temporary `to`, with the width of `from`.
#[inline(always)]
const fn wide_as(to: u32, from: u32) -> u32 {
    to & !(PAIR as u32) | from & PAIR as u32 | OF_EDGE as u32
}
