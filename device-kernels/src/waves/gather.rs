//! Adds up what the predecessors of every node pass on.
//!
//! Warps take even shares of the edges, whatever rows they are in. Sums are
//! integers, so a row's sum is the difference between the running sums at its
//! ends, and rows that several warps share are simply added.

use super::Context;
use super::rank::{move_wide, units};
use crate::grid::Grid;
use crate::memory::{Csr, Words};
use crate::team::Team;

/// Adds what predecessors pass on to the zero sums.
#[inline(never)]
pub(super) fn gather<G: Grid>(context: &Context<G>, contributions: Words, sums: Words) {
    let (team, grid) = (&context.team, context.team.grid);
    let pull = Pull {
        rows: context.machine.incoming(grid),
        nodes: context.machine.nodes(grid),
        edges: context.machine.edges(grid),
        contributions,
        sums,
    };
    if G::WARP == 1 {
        pull.by_rows(team);
    } else {
        pull.by_edges(team);
    }
}

/// What a gathering wave reads and writes.
#[derive(Clone, Copy, Debug)]
struct Pull {
    rows: Csr,
    nodes: u32,
    edges: u32,
    contributions: Words,
    sums: Words,
}

/// Edges that a lane has under way at a time.
const DEPTH: u32 = 4;

/// Rows whose ends a warp waits for, one a lane.
#[derive(Clone, Copy, Debug)]
struct Ends {
    /// First of the rows.
    base: u32,
    /// Edge behind this lane's row.
    end: u32,
    /// Whether the end was met.
    met: bool,
    /// Sum of the tile's edges up to the end, once it was met.
    sum: u64,
    /// Sum of the tile's edges before the first of the rows.
    before: u64,
}

impl Pull {
    /// A one-lane block takes whole rows.
    #[inline(always)]
    fn by_rows<G: Grid>(&self, team: &Team<G>) {
        let grid = team.grid;
        team.each(self.nodes, |node| {
            let (start, end) = self.rows.row(grid, node);
            let mut sum = 0;
            for edge in start..end {
                sum += self.contribution(grid, edge);
            }
            self.sums.store_weak(grid, 2 * node, sum as u32);
            self.sums.store_weak(grid, 2 * node + 1, (sum >> 32) as u32);
        });
    }

    /// What `edge` passes on, in units.
    #[inline(always)]
    fn contribution<G: Grid>(&self, grid: G, edge: u32) -> u64 {
        let from = self.rows.target(grid, edge);
        units(f32::from_bits(self.contributions.load_weak(grid, from)))
    }

    /// Warps take even shares of the edges, whatever rows they are in.
    #[inline(always)]
    fn by_edges<G: Grid>(&self, team: &Team<G>) {
        let (warp, warps) = team.warps();
        let tile = self
            .edges
            .div_ceil(warps.saturating_mul(4))
            .clamp(128, 8192)
            .next_multiple_of(128);
        let mut first = u64::from(warp) * u64::from(tile);
        while first < u64::from(self.edges) {
            let start = first as u32;
            let end = start + (self.edges - start).min(tile);
            self.tile(team.grid, start, end);
            first += u64::from(warps) * u64::from(tile);
        }
    }

    /// One warp adds up the edges `first..end` row by row: a row's sum is the
    /// difference between the running sums at its ends.
    #[inline(always)]
    fn tile<G: Grid>(&self, grid: G, first: u32, end: u32) {
        let first_row = self.row_of(grid, first);
        let mut ends = self.ends(grid, first_row, 0);
        let mut running = 0_u64;
        let mut at = first;
        while at < end {
            let mut values = [0_u64; DEPTH as usize];
            for (k, value) in (0_u32..).zip(&mut values) {
                let edge = at + k * G::WARP + grid.warp_lane();
                if edge < end {
                    *value = self.contribution(grid, edge);
                }
            }
            for value in values {
                if at < end {
                    let sums = scan_wide(grid, value);
                    let stop = end.min(at + G::WARP);
                    self.meet(grid, (&mut ends, first_row), (at, stop), (running, sums));
                    running = running
                        .wrapping_add(move_wide(sums, |word| grid.shuffle(word, G::WARP - 1)));
                    at += G::WARP;
                }
            }
        }
        self.flush(grid, &ends, first_row);
        // The row that goes on behind the tile.
        let met = grid.ballot(ends.met).count_ones();
        let before = move_wide(ends.sum, |word| {
            grid.shuffle(word, met.wrapping_sub(1) & 31)
        });
        let before = if met == 0 { ends.before } else { before };
        let row = ends.base + met;
        let rest = running.wrapping_sub(before);
        if grid.warp_lane() == 0 && row < self.nodes && rest != 0 {
            self.sums.add_wide(grid, 2 * row, rest);
        }
    }

    /// Takes the running sums at the rows that end among the edges
    /// `at..stop`, batch after batch; `sums` are those of this lane's edge and
    /// the ones below it.
    #[inline(always)]
    fn meet<G: Grid>(
        &self,
        grid: G,
        (ends, first_row): (&mut Ends, u32),
        (at, stop): (u32, u32),
        (running, sums): (u64, u64),
    ) {
        loop {
            let meets = !ends.met && ends.end <= stop;
            if grid.ballot(meets) == 0 {
                return;
            }
            let behind = ends.end.wrapping_sub(at);
            let inside = move_wide(sums, |word| grid.shuffle(word, behind.wrapping_sub(1) & 31));
            if meets {
                ends.met = true;
                ends.sum = running.wrapping_add(if behind == 0 { 0 } else { inside });
            }
            if grid.ballot(ends.met) != u32::MAX {
                return;
            }
            self.flush(grid, ends, first_row);
            let before = move_wide(ends.sum, |word| grid.shuffle(word, G::WARP - 1));
            *ends = self.ends(grid, ends.base + G::WARP, before);
        }
    }

    /// The ends of the rows from `base` on.
    #[inline(always)]
    fn ends<G: Grid>(&self, grid: G, base: u32, before: u64) -> Ends {
        let row = base.saturating_add(grid.warp_lane());
        let end = if row < self.nodes {
            self.rows.row(grid, row).1
        } else {
            u32::MAX
        };
        Ends {
            base,
            end,
            met: false,
            sum: 0,
            before,
        }
    }

    /// Stores the sums of the rows whose ends were met. The first row of a
    /// tile may have edges in the tile before, so it is added.
    #[inline(always)]
    fn flush<G: Grid>(&self, grid: G, ends: &Ends, first_row: u32) {
        let below = move_wide(ends.sum, |word| grid.shuffle_up(word, 1));
        let below = if grid.warp_lane() == 0 {
            ends.before
        } else {
            below
        };
        let sum = ends.sum.wrapping_sub(below);
        if !ends.met || sum == 0 {
            return;
        }
        let row = ends.base + grid.warp_lane();
        if row == first_row {
            self.sums.add_wide(grid, 2 * row, sum);
        } else {
            self.sums.store_weak(grid, 2 * row, sum as u32);
            self.sums.store_weak(grid, 2 * row + 1, (sum >> 32) as u32);
        }
    }

    /// The row of `edge`: the last one that starts at or before it. A warp
    /// probes as many rows a round as it has lanes.
    #[inline(always)]
    fn row_of<G: Grid>(&self, grid: G, edge: u32) -> u32 {
        let (mut low, mut span) = (0, self.nodes);
        while span > 1 {
            let stride = span.div_ceil(G::WARP);
            let probe = u64::from(grid.warp_lane()) * u64::from(stride);
            let below =
                probe < u64::from(span) && self.rows.row(grid, low + probe as u32).0 <= edge;
            let count = grid.ballot(below).count_ones().max(1);
            let start = (count - 1) * stride;
            low += start;
            span = stride.min(span - start);
        }
        low
    }
}

/// Sums of the `value`s of the lanes up to this one.
#[inline(always)]
fn scan_wide<G: Grid>(grid: G, value: u64) -> u64 {
    let mut sum = value;
    let mut delta = 1;
    while delta < G::WARP {
        let below = move_wide(sum, |word| grid.shuffle_up(word, delta));
        if grid.warp_lane() >= delta {
            sum = sum.wrapping_add(below);
        }
        delta <<= 1;
    }
    sum
}
