//! Runs a part of the code for each edge of each item's row.
//!
//! Short rows stay with the lane whose item it is; longer ones get a warp, one after the
//! other, and the longest the whole block. What a lane has found of a row lies in a
//! temporary of its own and is joined at the row's end.

use super::fold::join_warp;
use super::straight::{ACTIVE, ENOUGH, Place, SETTLED, is_node, rows_of, run as walk};
use super::temps::{B, Fetched, TO, Temps, fetch};
use super::values;
use crate::context::ContextRef;
use crate::grid::Grid;
use crate::memory::Csr;
use crate::shared::{EACH_ITEM, EACH_VOTES};
use seawall_core::abi::code::{EdgesPart, Joined, Kind};

/// Most edges of a row that its lane handles alone.
const OWN_EDGES: u32 = 8;

/// A block takes rows of more edges than this many times its lanes.
const BLOCK_ROUNDS: u32 = 2;

/// The part and whose rows it is for.
#[derive(Clone, Copy, Debug)]
struct Rows<G> {
    cx: ContextRef<G>,
    grid: G,
    csr: Csr,
    /// First instruction, first reduction, and the end.
    body: (u32, u32, u32),
    ends_early: bool,
}

/// Runs the part that begins at `at`; tells where it ends. All lanes of the block call
/// this, in warps that have more than one.
#[inline(never)]
pub(super) fn run<G: Grid>(cx: ContextRef<G>, at: u32, item: u32, active: bool) -> u32 {
    let grid = cx.grid();
    let begin = fetch(cx, at);
    let part = EdgesPart::from_word(begin.first);
    let tables = cx.context().tables;
    let end = at + 1 + begin.second;
    let rows = Rows {
        cx,
        grid,
        csr: rows_of(grid, tables, part.edges as u32),
        body: (at + 1, end - part.reductions, end),
        ends_early: part.ends_early,
    };
    let is_there = active && is_node(grid, item, tables.nodes(grid));
    let (start, stop) = if is_there {
        rows.csr.row(grid, item)
    } else {
        (0, 0)
    };
    rows.begin();
    let degree = stop - start;
    if G::WARP == 1 {
        rows.alone(item, (start, degree));
        return end;
    }
    let most = grid.lanes() * BLOCK_ROUNDS;
    rows.alone(item, (start, if degree <= OWN_EDGES { degree } else { 0 }));
    rows.by_warps(item, (start, degree), degree > OWN_EDGES && degree <= most);
    rows.by_block(item, degree > most);
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

    #[inline(always)]
    fn temps(&self, owner: u32) -> Temps<G> {
        let grid = self.grid;
        Temps { grid, owner }
    }

    /// Sets what the item's row comes to, and what the lane has found, to what changes
    /// nothing.
    #[inline(always)]
    fn begin(&self) {
        let own = self.temps(self.grid.lane());
        self.each_reduction(|at, joined| {
            let is_wide = joined.kind == Kind::U64;
            own.set_value(at, TO, is_wide, joined.identity());
        });
        self.forget();
    }

    #[inline(always)]
    fn forget(&self) {
        let own = self.temps(self.grid.lane());
        self.each_reduction(|at, joined| {
            let is_wide = joined.kind == Kind::U64;
            own.set_value(at, B, is_wide, joined.identity());
        });
    }

    /// Runs the part for an edge, or along with other lanes; tells whether the row may
    /// end.
    #[inline(always)]
    fn edge(&self, (item, owner): (u32, u32), edge: u32, on: bool) -> bool {
        let mut neighbour = 0;
        if on {
            neighbour = self.csr.target(self.grid, edge);
        }
        let place = Place {
            item,
            neighbour,
            edge,
            owner,
        };
        let (_, flags) = walk(self.cx, (self.body.0, self.body.2), place, on);
        // An edge that was left out has reduced nothing, and so settles nothing.
        let settled = self.ends_early && flags & SETTLED != 0 && flags & ACTIVE != 0;
        settled || flags & ENOUGH != 0
    }

    /// Every lane goes through its own row. A warp operation.
    #[inline(always)]
    fn alone(&self, item: u32, (start, degree): (u32, u32)) {
        let grid = self.grid;
        let own = grid.lane();
        let (mut k, mut on) = (0, degree > 0);
        while grid.ballot(on) != 0 {
            let enough = self.edge((item, own), start.wrapping_add(k), on);
            k += 1;
            on = on && k < degree && !enough;
        }
        if degree > 0 {
            self.each_reduction(|at, joined| {
                let is_wide = joined.kind == Kind::U64;
                let found = self.temps(own).value(at, B, is_wide);
                self.temps(own).set_value(at, TO, is_wide, found);
            });
        }
    }

    /// Goes through the edges `start..start + degree` of a row with some lanes, of which
    /// this is number `first` of `lanes`.
    #[inline(always)]
    fn share(&self, place: (u32, u32), (start, degree): (u32, u32), (first, lanes): (u32, u32)) {
        let mut k = first;
        let mut enough = false;
        loop {
            let on = k < degree && !enough;
            if self.grid.ballot(on) == 0 {
                return;
            }
            let found = self.edge(place, start.wrapping_add(k), on);
            enough = self.grid.ballot(found) != 0;
            k = k.saturating_add(lanes);
        }
    }

    /// The warp goes through the rows of the lanes that `wants` it. A warp operation.
    #[inline(always)]
    fn by_warps(&self, item: u32, (start, degree): (u32, u32), wants: bool) {
        let grid = self.grid;
        let mut wanted = grid.ballot(wants);
        let warp = grid.lane() - grid.warp_lane();
        while wanted != 0 {
            let lane = wanted.trailing_zeros();
            wanted &= wanted - 1;
            self.forget();
            grid.warp_barrier();
            let from = |word: u32| grid.shuffle(word, lane);
            let (row, place) = ((from(start), from(degree)), (from(item), warp + lane));
            self.share(place, row, (grid.warp_lane(), G::WARP));
            self.each_reduction(|at, joined| {
                let is_wide = joined.kind == Kind::U64;
                let own = self.temps(grid.lane()).value(at, B, is_wide);
                let all = join_warp(grid, joined, own);
                if grid.warp_lane() == lane {
                    self.temps(grid.lane()).set_value(at, TO, is_wide, all);
                }
            });
            grid.warp_barrier();
        }
    }

    /// The block goes through the rows of the lanes that `wants` it. A block operation.
    #[inline(always)]
    fn by_block(&self, item: u32, wants: bool) {
        let grid = self.grid;
        if !grid.block_any(wants) {
            return;
        }
        let votes = grid.ballot(wants);
        let warp = grid.lane() / G::WARP;
        if grid.warp_lane() == 0 {
            // SAFETY: one word per warp, and a block has at most 32 warps.
            unsafe { EACH_VOTES.store(grid, warp, votes) };
        }
        grid.block_barrier();
        for warp in 0..grid.lanes() / G::WARP {
            // SAFETY: as above.
            let mut wanted = unsafe { EACH_VOTES.load(grid, warp) };
            while wanted != 0 {
                let owner = warp * G::WARP + wanted.trailing_zeros();
                wanted &= wanted - 1;
                self.together(item, owner);
            }
        }
    }

    /// The block goes through the row of lane `owner`. A block operation.
    #[inline(always)]
    fn together(&self, item: u32, owner: u32) {
        let grid = self.grid;
        if grid.lane() == owner {
            // SAFETY: a fixed word.
            unsafe { EACH_ITEM.store(grid, 0, item) };
        }
        self.forget();
        grid.block_barrier();
        // SAFETY: a fixed word.
        let item = unsafe { EACH_ITEM.load(grid, 0) };
        let (start, stop) = self.csr.row(grid, item);
        let row = (start, stop - start);
        self.share((item, owner), row, (grid.lane(), grid.lanes()));
        self.each_reduction(|at, joined| {
            let is_wide = joined.kind == Kind::U64;
            let temps = self.temps(grid.lane());
            let all = join_warp(grid, joined, temps.value(at, B, is_wide));
            temps.set_value(at, B, is_wide, all);
        });
        grid.block_barrier();
        if grid.lane() == owner {
            self.each_reduction(|at, joined| self.gather(at, joined));
        }
        grid.block_barrier();
    }

    /// Joins what the warps have found to this lane's item.
    #[inline(always)]
    fn gather(&self, at: Fetched, joined: Joined) {
        let (is_wide, grid) = (joined.kind == Kind::U64, self.grid);
        let mut all = joined.identity();
        for warp in 0..grid.lanes() / G::WARP {
            let found = self
                .temps(grid.lane())
                .value_of(at, B, is_wide, warp * G::WARP);
            all = values::join(joined, all, found);
        }
        self.temps(grid.lane()).set_value(at, TO, is_wide, all);
    }
}
