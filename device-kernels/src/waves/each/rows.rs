//! Runs a part of the code for each edge of each item's row.
//!
//! Short rows stay with the lane whose item it is; longer ones get a group of lanes, or a warp,
//! one after the other, and the longest the whole block. What a lane has found of a row lies in
//! temporaries of its own and is joined at the row's end.

use super::access::rows_of;
use super::fold::join_lanes;
use super::slots::{Words4, each, has, mask, used};
use super::straight::{ACTIVE, ENOUGH, Place, SETTLED, owner_of, run as walk};
use super::temps::{B, Fetched, Room, TO, fetch};
use super::{change, values};
use crate::context::ContextRef;
use crate::grid::Grid;
use crate::memory::Csr;
use crate::shared::{EACH_ITEM, EACH_SLOTS, EACH_VOTES};
use seawall_core::abi::code::{EdgesPart, Joined, Kind};

/// Most edges of a row that its lane handles alone.
const OWN_EDGES: u32 = 2 * EACH_SLOTS;

/// Lanes of a small group.
const GROUP: u32 = 8;

/// Most edges of a row that a small group handles.
const GROUP_EDGES: u32 = 8 * GROUP * EACH_SLOTS;

/// The part and whose rows it is for.
#[derive(Clone, Copy, Debug)]
struct Rows<G> {
    cx: ContextRef<G>,
    grid: G,
    room: Room,
    csr: Csr,
    /// First instruction, first reduction, and the end.
    body: (u32, u32, u32),
    ends_early: bool,
}

/// A row of edges and whose it is.
#[derive(Clone, Copy, Debug)]
struct Row {
    item: u32,
    start: u32,
    degree: u32,
}

impl Row {
    const NONE: Self = Self {
        item: 0,
        start: 0,
        degree: 0,
    };
}

/// Runs the part that begins at `at` for the slots of `active`; tells where it ends. All lanes of
/// the block call this, in warps that have more than one.
#[inline(always)]
pub(super) fn run<G: Grid>(cx: ContextRef<G>, at: u32, items: Words4, active: u32) -> u32 {
    let [first, second, third, fourth] = items;
    visit(cx, at, first, second, third, fourth, active)
}

/// [`run`] by words: what a call takes by reference lies in local memory.
#[inline(never)]
#[expect(clippy::too_many_arguments, reason = "see above")]
fn visit<G: Grid>(
    cx: ContextRef<G>,
    at: u32,
    first: u32,
    second: u32,
    third: u32,
    fourth: u32,
    active: u32,
) -> u32 {
    let grid = cx.grid();
    let begin = fetch(cx, at);
    let part = EdgesPart::from_word(begin.first);
    let tables = cx.context().tables;
    let end = at + 1 + begin.second;
    let rows = Rows {
        cx,
        grid,
        room: Room::of(grid),
        csr: rows_of(grid, tables, part.edges as u32),
        body: (at + 1, end - part.reductions, end),
        ends_early: part.ends_early,
    };
    let items = [first, second, third, fourth];
    let there = change::within(grid, items, (tables.nodes(grid), active));
    if grid.lane() < rows.room.lanes {
        rows.begin();
        rows.by_lanes(items, there);
    }
    if G::WARP > 1 {
        rows.by_block(items, there);
    }
    end
}

impl<G: Grid> Rows<G> {
    /// Each reduction.
    #[inline(always)]
    fn each_reduction(&self, mut visit: impl FnMut(Fetched, Joined)) {
        for at in self.body.1..self.body.2 {
            let instruction = fetch(self.cx, at);
            if let Some(joined) = Joined::from_word(instruction.second) {
                visit(instruction, joined);
            }
        }
    }

    /// The row of an item, if it is there.
    #[inline(always)]
    fn row(&self, item: u32, is_there: bool) -> Row {
        if !is_there {
            return Row::NONE;
        }
        let (start, stop) = self.csr.row(self.grid, item);
        Row {
            item,
            start,
            degree: stop - start,
        }
    }

    /// Most edges of a row that a warp handles.
    #[inline(always)]
    fn warp_edges(&self) -> u32 {
        self.room.lanes * EACH_SLOTS
    }

    /// Sets what the items' rows come to to what changes nothing.
    #[inline(always)]
    fn begin(&self) {
        let own = self.room.of_lane(self.grid, self.grid.lane());
        self.each_reduction(|at, joined| {
            own.fill(at, TO, joined.kind == Kind::U64, joined.identity());
        });
    }

    /// Sets what the lane has found to what changes nothing.
    #[inline(always)]
    fn forget(&self) {
        let own = self.room.of_lane(self.grid, self.grid.lane());
        self.each_reduction(|at, joined| {
            own.fill(at, B, joined.kind == Kind::U64, joined.identity());
        });
    }

    /// Goes through the rows that need no block, slot by slot. A warp operation.
    #[inline(always)]
    fn by_lanes(&self, [first, second, third, fourth]: Words4, there: u32) {
        let grid = self.grid;
        let most = self.warp_edges();
        let mut rotating = (first, second, third, fourth);
        for slot in 0..used::<G>() {
            let (item, second, third, fourth) = rotating;
            rotating = (second, third, fourth, item);
            let row = self.row(item, has(there, slot as usize));
            if G::WARP == 1 {
                self.by_groups(slot, row, row.degree > 0, 1);
                continue;
            }
            let is_own = row.degree > 0 && row.degree <= OWN_EDGES;
            let is_group = row.degree > OWN_EDGES && row.degree <= GROUP_EDGES.min(most);
            let is_warp = row.degree > GROUP_EDGES && row.degree <= most;
            if grid.ballot(is_own) != 0 {
                self.by_groups(slot, row, is_own, 1);
            }
            self.by_groups(slot, row, is_group, GROUP);
            self.by_groups(slot, row, is_warp, G::WARP);
        }
    }

    /// Groups of `lanes` lanes go through the rows of the lanes that `wants` it. A warp
    /// operation.
    #[inline(always)]
    fn by_groups(&self, slot: u32, row: Row, wants: bool, lanes: u32) {
        let grid = self.grid;
        let warp = grid.lane() - grid.warp_lane();
        let mut wanted = grid.ballot(wants);
        while wanted != 0 {
            let (lane, found) = if lanes == 1 {
                wanted = 0;
                (grid.warp_lane(), row)
            } else {
                let lane = taken(&mut wanted, grid.warp_lane() / lanes, G::WARP / lanes);
                let from = |word: u32| grid.shuffle(word, lane & (G::WARP - 1));
                let found = Row {
                    item: from(row.item),
                    start: from(row.start),
                    degree: from(row.degree),
                };
                (lane, found)
            };
            let is_there = if lanes == 1 { wants } else { lane < G::WARP };
            let found = if is_there { found } else { Row::NONE };
            let owner = (warp + (lane & (G::WARP - 1)), slot);
            self.group(found, owner, (is_there, lanes));
        }
    }

    /// Each group of `lanes` lanes goes through a row, and stores what it comes to. A warp
    /// operation.
    #[inline(always)]
    fn group(&self, row: Row, owner: (u32, u32), (is_there, lanes): (bool, u32)) {
        let grid = self.grid;
        self.forget();
        // Lanes read what an item's lane holds.
        grid.warp_barrier();
        let first = grid.warp_lane() & (lanes - 1);
        self.share(row, owner, (first, lanes));
        self.each_reduction(|at, joined| {
            let own = self.room.of_lane(grid, grid.lane()).join(at, B, joined);
            let all = join_lanes(grid, joined, own, lanes);
            if first == 0 && is_there {
                let of_item = self.room.at_edges(grid, owner);
                of_item.set_item(at, TO, joined.kind == Kind::U64, all);
            }
        });
        grid.warp_barrier();
    }

    /// Goes through the edges of a row with some lanes, of which this is number `first` of
    /// `lanes`: with a block's, or with those of a group of the warp.
    #[inline(always)]
    fn share(&self, row: Row, owner: (u32, u32), (first, lanes): (u32, u32)) {
        let grid = self.grid;
        let group = if lanes < G::WARP {
            ((1 << lanes) - 1) << (grid.warp_lane() - first)
        } else {
            u32::MAX
        };
        let mut k = first;
        let mut enough = false;
        loop {
            let rest = if enough { 0 } else { row.degree };
            let on = mask::<G>(|slot| k.saturating_add(slot as u32 * lanes) < rest);
            if grid.ballot(on != 0) == 0 {
                return;
            }
            let edge = row.start.wrapping_add(k);
            let found = self.edges(row.item, owner_of(owner.0, owner.1), (edge, lanes), on);
            enough |= grid.ballot(found) & group != 0;
            k = k.saturating_add(lanes * used::<G>());
        }
    }

    /// Runs the part for edges, or along with other lanes; tells whether the row may end.
    #[inline(always)]
    fn edges(&self, item: u32, owner: u32, (edge, step): (u32, u32), on: u32) -> bool {
        let ends = each::<G, _>(|slot| {
            if has(on, slot) {
                self.csr.target(self.grid, edge + step * slot as u32)
            } else {
                0
            }
        });
        let place = Place {
            ends,
            item,
            edge,
            step,
            owner,
        };
        let (_, flags) = walk(self.cx, (self.body.0, self.body.2), place, on);
        // An edge that was left out has reduced nothing, and so settles nothing.
        let settled = flags & flags >> SETTLED & ACTIVE != 0;
        self.ends_early && settled || flags & ENOUGH != 0
    }

    /// The block goes through the longest rows. A block operation.
    #[inline(always)]
    fn by_block(&self, items: Words4, there: u32) {
        let grid = self.grid;
        let most = self.warp_edges();
        let wants = mask::<G>(|slot| has(there, slot) && self.row(items[slot], true).degree > most);
        if !grid.block_any(wants != 0) {
            return;
        }
        let votes = each::<G, _>(|slot| grid.ballot(has(wants, slot)));
        let warp = grid.lane() / G::WARP;
        if grid.warp_lane() == 0 {
            each::<G, _>(|slot| {
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
            let [first, second, third, fourth] = items;
            let item = match slot {
                0 => first,
                1 => second,
                2 => third,
                _ => fourth,
            };
            while wanted != 0 {
                let owner = place / EACH_SLOTS * G::WARP + wanted.trailing_zeros();
                wanted &= wanted - 1;
                self.together(item, (owner, slot));
            }
        }
    }

    /// The block goes through the row of an item of lane `owner`. A block operation.
    #[inline(always)]
    fn together(&self, item: u32, owner: (u32, u32)) {
        let grid = self.grid;
        let works = grid.lane() < self.room.lanes;
        if grid.lane() == owner.0 {
            // SAFETY: a fixed word.
            unsafe { EACH_ITEM.store(grid, 0, item) };
        }
        grid.block_barrier();
        if works {
            self.forget();
            // SAFETY: a fixed word.
            let row = self.row(unsafe { EACH_ITEM.load(grid, 0) }, true);
            self.share(row, owner, (grid.lane(), self.room.lanes));
            self.each_reduction(|at, joined| {
                let own = self.room.of_lane(grid, grid.lane());
                let all = own.join(at, B, joined);
                let all = join_lanes(grid, joined, all, G::WARP);
                own.fill(at, B, joined.kind == Kind::U64, all);
            });
        }
        grid.block_barrier();
        if grid.lane() == owner.0 {
            self.each_reduction(|at, joined| self.gather(at, joined, owner));
        }
        grid.block_barrier();
    }

    /// Joins what the warps have found to an item of this lane.
    #[inline(always)]
    fn gather(&self, at: Fetched, joined: Joined, owner: (u32, u32)) {
        let grid = self.grid;
        let is_wide = joined.kind == Kind::U64;
        let mut all = joined.identity();
        for warp in 0..self.room.lanes / G::WARP {
            let found = self.room.of_lane(grid, warp * G::WARP);
            all = values::join(joined, all, found.first(at, B, is_wide));
        }
        let of_item = self.room.at_edges(grid, owner);
        of_item.set_item(at, TO, is_wide, all);
    }
}

/// The lane for group `group` of `groups`: they take the lowest lanes of `wanted` in turn. One of
/// [`u32::BITS`] and more if there are not as many.
#[inline(always)]
fn taken(wanted: &mut u32, group: u32, groups: u32) -> u32 {
    let mut lane = u32::BITS;
    for turn in 0..groups {
        if turn == group {
            lane = wanted.trailing_zeros();
        }
        *wanted &= wanted.wrapping_sub(1);
    }
    lane
}
