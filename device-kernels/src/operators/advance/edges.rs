//! Visits every edge of a graph, evenly shared out among warps.
//!
//! A warp's share is a range of places: each row has one place for itself and one for each of its
//! edges (merge path: Merrill and Garland, "Merge-based Parallel Sparse Matrix-Vector
//! Multiplication", SC 2016). So neither hubs nor many empty rows delay a warp. A warp takes as
//! many rows at a time as it has lanes, and finds the row of an edge by a search among them.

use super::row_spread::owner;
use crate::collectives::block::{last_by_warp, warp_scan};
use crate::collectives::team::Team;
use crate::machine::Grid;
use crate::machine::memory::Csr;

/// An edge.
#[derive(Clone, Copy, Debug)]
pub struct Edge {
    /// Node that it leaves.
    pub from: u32,
    /// Node that it enters.
    pub to: u32,
}

/// The rows whose edges are visited.
#[derive(Clone, Copy, Debug)]
pub struct Rows {
    /// The rows and their edges.
    pub csr: Csr,
    /// Number of rows.
    pub nodes: u32,
    /// Number of edges.
    pub edges: u32,
    /// Edges at the start of each row that are skipped.
    pub skip: u32,
}

/// The edges of a row in a share.
#[derive(Clone, Copy, Debug, Default)]
struct Part {
    from: u32,
    edges: u32,
    /// Whether the share continues after the row.
    goes_on: bool,
}

/// Edges whose ends a lane fetches together, and rows that it reads together.
const EACH: u32 = 4;
/// [`EACH`] as a length.
const LANE: usize = EACH as usize;
/// Rows that a one-lane block reads before it visits the edges of those that are wanted.
const LOOKS: usize = 64;
/// Fewest places of a share.
const SHARE_LEAST: u64 = 256;
/// Most places of a share, and shares of a warp on smaller graphs.
const SHARE_MOST: u64 = 8192;
const SHARES: u64 = 8;
/// The same where few rows are wanted: finding the first row of a share then takes longer than
/// reading a thousand others.
const SHARES_OF_FEW: (u64, u64) = (4, 32_768);

/// Calls `visit` for every edge of `rows`.
#[inline(always)]
pub fn each_edge<G: Grid>(team: &Team<G>, rows: Rows, visit: impl FnMut(Edge)) {
    each_wanted::<G, false>(team, rows, |_| true, visit);
}

/// Calls `visit` for every edge of `rows` whose row `wanted` accepts, which are few: warps read
/// several rows a lane before they visit any.
#[inline(always)]
pub fn each_edge_of_few<G: Grid>(
    team: &Team<G>,
    rows: Rows,
    wanted: impl Fn(u32) -> bool,
    visit: impl FnMut(Edge),
) {
    each_wanted::<G, true>(team, rows, wanted, visit);
}

#[inline(always)]
fn each_wanted<G: Grid, const FEW: bool>(
    team: &Team<G>,
    rows: Rows,
    wanted: impl Fn(u32) -> bool,
    mut visit: impl FnMut(Edge),
) {
    let grid = team.grid;
    if G::WARP == 1 {
        if !FEW {
            team.each_taken(rows.nodes, |row| rows.each_in_row(grid, row, &mut visit));
            return;
        }
        team.each_range(rows.nodes, G::ITEMS, |first, end| {
            let mut base = first;
            while base < end {
                let stop = end.min(base.saturating_add(LOOKS as u32));
                rows.each_wanted(grid, base, stop, &wanted, &mut visit);
                base = stop;
            }
        });
        return;
    }
    let (warp, warps) = team.warps();
    let places = u64::from(rows.nodes) + u64::from(rows.edges);
    let (shares, most) = if FEW {
        SHARES_OF_FEW
    } else {
        (SHARES, SHARE_MOST)
    };
    let share = places
        .div_ceil(u64::from(warps) * shares)
        .clamp(SHARE_LEAST, most);
    let mut first = u64::from(warp) * share;
    while first < places {
        let range = (first, (first + share).min(places));
        if FEW {
            rows.each_of_few(grid, range, &wanted, &mut visit);
        } else {
            rows.each_of(grid, range, &mut visit);
        }
        first += u64::from(warps) * share;
    }
}

impl Rows {
    /// Visits the edges of the wanted rows of `base..stop`, at most [`LOOKS`], with a one-lane
    /// block.
    #[inline(always)]
    fn each_wanted<G: Grid>(
        &self,
        grid: G,
        base: u32,
        stop: u32,
        wanted: &impl Fn(u32) -> bool,
        visit: &mut impl FnMut(Edge),
    ) {
        let mut any = false;
        for row in base..stop {
            any |= wanted(row);
        }
        if !any {
            return;
        }
        let (mut found, mut count) = ([0; LOOKS], 0);
        for row in base..stop {
            // No branch, which a processor would mispredict for every other row.
            found[count % LOOKS] = row;
            count += usize::from(wanted(row));
        }
        for row in found.iter().take(count) {
            self.each_in_row(grid, *row, visit);
        }
    }

    /// Visits the edges of row `from` with a one-lane block.
    #[inline(always)]
    fn each_in_row<G: Grid>(&self, grid: G, from: u32, visit: &mut impl FnMut(Edge)) {
        let (start, end) = self.csr.row(grid, from);
        for index in start.saturating_add(self.skip).min(end)..end {
            let to = self.csr.target(grid, index);
            visit(Edge { from, to });
        }
    }

    /// Visits the places `first..end` with one warp.
    #[inline(always)]
    fn each_of<G: Grid>(&self, grid: G, range: (u64, u64), visit: &mut impl FnMut(Edge)) {
        let mut base = self.row_of(grid, range.0);
        loop {
            let row = base.saturating_add(grid.warp_lane());
            let mut part = Part::default();
            if row < self.nodes {
                part = self.part(row, self.csr.row(grid, row), range);
            }
            self.each_in(grid, base, part.from, part.edges, visit);
            if grid.shuffle(u32::from(part.goes_on), G::WARP - 1) == 0 {
                return;
            }
            base += G::WARP;
        }
    }

    /// As [`Rows::each_of`], of the rows that are wanted.
    #[inline(always)]
    fn each_of_few<G: Grid>(
        &self,
        grid: G,
        range: (u64, u64),
        wanted: &impl Fn(u32) -> bool,
        visit: &mut impl FnMut(Edge),
    ) {
        let mut base = self.row_of(grid, range.0);
        loop {
            // Codegen rule `LOADS_TOGETHER`; a missing row is looked up as the last one.
            let rows = [0, 1, 2, 3].map(|k| base.saturating_add(k * G::WARP + grid.warp_lane()));
            let ends = rows.map(|row| self.csr.row(grid, row.min(self.nodes - 1)));
            let wants = rows.map(|row| wanted(row.min(self.nodes - 1)));
            let parts: [Part; LANE] = core::array::from_fn(|k| self.part(rows[k], ends[k], range));
            // A bit for each row: its part is looked up again if there is one, so that no lane
            // keeps four of them.
            let mut found = 0_u32;
            for k in 0..LANE {
                let is_wanted = rows[k] < self.nodes && wants[k] && parts[k].edges != 0;
                found |= u32::from(is_wanted) << k;
            }
            let goes_on = rows[LANE - 1] < self.nodes && parts[LANE - 1].goes_on;
            let goes_on = grid.shuffle(u32::from(goes_on), G::WARP - 1) != 0;
            let mut at = base;
            while grid.ballot(found != 0) != 0 {
                let mut part = Part::default();
                if found & 1 != 0 {
                    let row = at + grid.warp_lane();
                    part = self.part(row, self.csr.row(grid, row), range);
                }
                self.each_in(grid, at, part.from, part.edges, visit);
                found >>= 1;
                at += G::WARP;
            }
            if !goes_on {
                return;
            }
            base += EACH * G::WARP;
        }
    }

    /// The row that holds place `first`. A warp operation.
    #[inline(always)]
    fn row_of<G: Grid>(&self, grid: G, first: u64) -> u32 {
        last_by_warp(grid, self.nodes, |row| {
            u64::from(self.csr.row(grid, row).0) + u64::from(row) <= first
        })
    }

    /// The part of `row`, which has these ends, in a range of places.
    #[inline(always)]
    fn part(&self, row: u32, ends: (u32, u32), range: (u64, u64)) -> Part {
        let ((start, stop), (first, end)) = (ends, range);
        // The row's first edge has the place after the row's own.
        let ahead = u64::from(row) + 1;
        let from = start
            .saturating_add(self.skip)
            .max(saturate(first.saturating_sub(ahead)));
        let to = stop.min(saturate(end.saturating_sub(ahead)));
        Part {
            from,
            edges: to.saturating_sub(from),
            goes_on: u64::from(stop) + ahead < end,
        }
    }

    /// Visits `degree` edges from `from` on in each lane's row, with one warp.
    #[inline(always)]
    fn each_in<G: Grid>(
        &self,
        grid: G,
        base: u32,
        from: u32,
        degree: u32,
        visit: &mut impl FnMut(Edge),
    ) {
        let (start, total) = warp_scan(grid, degree);
        let shift = from.wrapping_sub(start);
        let mut step = 0;
        while step < total {
            let mut edges = [Edge { from: 0, to: 0 }; LANE];
            for (k, edge) in (0..EACH).zip(&mut edges) {
                let at = step + k * G::WARP + grid.warp_lane();
                let lane = owner(grid, start, at);
                let index = at.wrapping_add(grid.shuffle(shift, lane));
                edge.from = base + lane;
                if at < total {
                    edge.to = self.csr.target(grid, index);
                }
            }
            // Codegen rule `NO_INDEXED_ARRAYS`.
            let [mut first, mut second, mut third, fourth] = edges;
            for k in 0..EACH {
                if step + k * G::WARP + grid.warp_lane() < total {
                    visit(first);
                }
                (first, second, third) = (second, third, fourth);
            }
            step += EACH * G::WARP;
        }
    }
}

/// `place` as the number of an edge; there are fewer than 2^32.
#[inline(always)]
fn saturate(place: u64) -> u32 {
    place.min(u64::from(u32::MAX)) as u32
}
