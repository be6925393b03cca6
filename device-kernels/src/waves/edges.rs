//! Visits every edge of a graph, evenly shared out among warps.
//!
//! A warp's share is a range of places: each row has one place of its own and one for
//! each of its edges (merge path: Merrill and Garland, "Merge-based Parallel Sparse
//! Matrix-Vector Multiplication", SC 2016). So neither hubs nor many empty rows hold up a
//! warp. A warp takes as many rows at a time as it has lanes, and finds the row of an
//! edge by a search among them.

use super::spread::owner;
use crate::block::warp_scan;
use crate::grid::Grid;
use crate::memory::Csr;
use crate::team::Team;

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
    /// Edges at the start of each row that are left out.
    pub skip: u32,
}

/// Edges whose ends a lane fetches together.
const EACH: u32 = 4;
/// [`EACH`] as a length.
const LANE: usize = EACH as usize;
/// Fewest and most places of a share.
const SHARE: (u64, u64) = (256, 8192);

/// Calls `visit` for every edge of `rows` whose row `wanted` accepts.
#[inline(always)]
pub fn each_edge<G: Grid>(
    team: &Team<G>,
    rows: Rows,
    wanted: impl Fn(u32) -> bool,
    mut visit: impl FnMut(Edge),
) {
    let grid = team.grid;
    if G::WARP == 1 {
        team.each_taken(rows.nodes, |from| {
            if !wanted(from) {
                return;
            }
            let (start, end) = rows.csr.row(grid, from);
            for index in start.saturating_add(rows.skip).min(end)..end {
                let to = rows.csr.target(grid, index);
                visit(Edge { from, to });
            }
        });
        return;
    }
    let (warp, warps) = team.warps();
    let places = u64::from(rows.nodes) + u64::from(rows.edges);
    let share = places
        .div_ceil(u64::from(warps) * 8)
        .clamp(SHARE.0, SHARE.1);
    let mut first = u64::from(warp) * share;
    while first < places {
        let range = (first, (first + share).min(places));
        rows.each_of(grid, range, &wanted, &mut visit);
        first += u64::from(warps) * share;
    }
}

impl Rows {
    /// Visits the places `first..end` with one warp.
    #[inline(always)]
    fn each_of<G: Grid>(
        &self,
        grid: G,
        (first, end): (u64, u64),
        wanted: &impl Fn(u32) -> bool,
        visit: &mut impl FnMut(Edge),
    ) {
        let mut base = last_row(grid, self.nodes, |row| {
            u64::from(self.csr.row(grid, row).0) + u64::from(row) <= first
        });
        loop {
            let row = base.saturating_add(grid.warp_lane());
            let (mut from, mut degree, mut goes_on) = (0, 0, false);
            if row < self.nodes {
                let (start, stop) = self.csr.row(grid, row);
                // The row's first edge has the place after the row's own.
                let ahead = u64::from(row) + 1;
                goes_on = u64::from(stop) + ahead < end;
                from = start
                    .saturating_add(self.skip)
                    .max(saturate(first.saturating_sub(ahead)));
                let to = stop.min(saturate(end.saturating_sub(ahead)));
                if from < to && wanted(row) {
                    degree = to - from;
                }
            }
            self.each_in(grid, base, (from, degree), visit);
            if grid.shuffle(u32::from(goes_on), G::WARP - 1) == 0 {
                return;
            }
            base += G::WARP;
        }
    }

    /// Visits `degree` edges from `from` on in each lane's row, with one warp.
    #[inline(always)]
    fn each_in<G: Grid>(
        &self,
        grid: G,
        base: u32,
        (from, degree): (u32, u32),
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

/// The last of `nodes` rows that `is_before` accepts. It accepts the first row, and no
/// row after one that it does not accept. A warp operation; each lane probes one row per
/// round.
#[inline(always)]
pub fn last_row<G: Grid>(grid: G, nodes: u32, is_before: impl Fn(u32) -> bool) -> u32 {
    let (mut low, mut span) = (0, nodes);
    while span > 1 {
        let stride = span.div_ceil(G::WARP);
        let probe = u64::from(grid.warp_lane()) * u64::from(stride);
        let below = probe < u64::from(span) && is_before(low + probe as u32);
        let count = grid.ballot(below).count_ones().max(1);
        let start = (count - 1) * stride;
        low += start;
        span = stride.min(span - start);
    }
    low
}
