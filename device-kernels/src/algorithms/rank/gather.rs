//! Sums the contributions of every node's predecessors.
//!
//! Warps take even shares of the edges, whatever rows they are in. Sums are integers, so a
//! row's sum is the difference between the running sums at its ends, and parts of a row in
//! several shares are added.

use super::running::RunningSums;
use super::scale::{Scale, move_wide};
use crate::collectives::block::last_by_warp;
use crate::collectives::context::Context;
use crate::collectives::team::Team;
use crate::machine::Grid;
use crate::machine::memory::{Csr, Proven};

/// Adds the predecessors' contributions to the zero sums. Takes references, the exception
/// to codegen rule `BY_VALUE`.
#[inline(never)]
pub(crate) fn gather<G: Grid>(context: &Context<G>, contributions: Proven, sums: Proven) {
    let (team, grid) = (&context.team, context.team.grid);
    let pull = Pull {
        sums: RowWords(sums),
        rows: RowSums::of(context, contributions),
    };
    if G::SIMT {
        pull.by_edges(team);
    } else {
        pull.rows
            .each(team, |node, sum| pull.sums.set(grid, node, sum));
    }
}

/// Edges in rows, by their sources.
pub(crate) trait Edges: Copy {
    /// First edge of a row, and the edge after its last one.
    fn row<G: Grid>(self, grid: G, row: u32) -> (u32, u32);
    /// Source of `edge`.
    fn source<G: Grid>(self, grid: G, edge: u32) -> u32;
    /// Sources of four edges from `edge` on, which is a multiple of four.
    fn sources4<G: Grid>(self, grid: G, edge: u32) -> [u32; 4];
}

impl Edges for Csr {
    #[inline(always)]
    fn row<G: Grid>(self, grid: G, row: u32) -> (u32, u32) {
        Self::row(self, grid, row)
    }

    #[inline(always)]
    fn source<G: Grid>(self, grid: G, edge: u32) -> u32 {
        self.target(grid, edge)
    }

    #[inline(always)]
    fn sources4<G: Grid>(self, grid: G, edge: u32) -> [u32; 4] {
        self.targets4(grid, edge)
    }
}

/// Receiver of the sums of rows.
pub(crate) trait Sums: Copy {
    /// Takes the sum of a whole row.
    fn set<G: Grid>(self, grid: G, row: u32, sum: u64);
    /// Takes the sum of a part of a row.
    fn add<G: Grid>(self, grid: G, row: u32, sum: u64);
}

/// Sums of two words per row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowWords(pub(crate) Proven);

impl Sums for RowWords {
    #[inline(always)]
    fn set<G: Grid>(self, grid: G, row: u32, sum: u64) {
        self.0.store_weak(grid, 2 * row, sum as u32);
        self.0.store_weak(grid, 2 * row + 1, (sum >> 32) as u32);
    }

    #[inline(always)]
    fn add<G: Grid>(self, grid: G, row: u32, sum: u64) {
        self.0.add_wide(grid, 2 * row, sum);
    }
}

/// The arrays whose rows are summed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowSums<E = Csr> {
    pub(crate) rows: E,
    /// Number of rows.
    pub(crate) nodes: u32,
    pub(crate) edges: u32,
    pub(crate) contributions: Proven,
    pub(crate) scale: Scale,
}

/// The arrays of a gathering wave.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pull<E, S> {
    pub(crate) sums: S,
    pub(crate) rows: RowSums<E>,
}

/// Edges that a thread prefetches ahead of the one that it adds, also across rows: a mispredicted
/// branch would discard speculative loads.
const AHEAD: u32 = 64;

/// Adjacent edges that a lane takes at a time.
const EACH: u32 = 4;

/// [`EACH`] as a length. No loop takes such an array by value: codegen rule
/// `NO_INDEXED_ARRAYS`.
const LANE: usize = EACH as usize;

/// Edges that a warp takes at a time.
const STEP: u32 = 32 * EACH;

/// Rows whose ends a warp waits for, one per lane.
#[derive(Clone, Copy, Debug)]
struct Ends {
    /// First of the rows.
    base: u32,
    /// Whether the first row is the first of the tile, which may have edges in the tile
    /// before.
    opens: bool,
    /// Edge after this lane's row.
    end: u32,
    /// Edge after the lane's row among the next ones, which is in flight meanwhile.
    coming: u32,
    /// Whether the end was met.
    met: bool,
    /// Sum of the tile's edges up to the end, once it was met.
    sum: u64,
    /// Sum of the tile's edges before the first of the rows.
    before: u64,
}

impl RowSums<Csr> {
    /// The rows of incoming edges, which the launch holds.
    #[inline(always)]
    pub(crate) fn of<G: Grid>(context: &Context<G>, contributions: Proven) -> Self {
        let (tables, grid) = (context.tables, context.team.grid);
        Self {
            rows: tables.incoming(grid),
            nodes: tables.nodes(grid),
            edges: tables.edges(grid),
            contributions,
            scale: Scale::of_edges(tables.edges(grid)),
        }
    }

    /// Calls `done` with each row of this one-lane block's share and its sum.
    #[inline(always)]
    pub(crate) fn each<G: Grid>(&self, team: &Team<G>, mut done: impl FnMut(u32, u64)) {
        let (grid, scale) = (team.grid, self.scale);
        if !scale.fits_doubles() {
            return team.each_taken(self.nodes, |node| done(node, self.one(grid, node)));
        }
        let sums = RunningSums {
            rows: self.rows,
            contributions: self.contributions,
        };
        let mut running = RunningSums::NONE;
        team.each_range(self.nodes, G::ITEMS, |first, end| {
            sums.each(grid, first, end - first, &mut running, |row, sum| {
                done(first + row, scale.units_of_double(sum));
            });
        });
    }
}

impl<E: Edges> RowSums<E> {
    /// Sum of the row of `node`.
    #[inline(always)]
    pub(crate) fn one<G: Grid>(&self, grid: G, node: u32) -> u64 {
        let (start, end) = self.rows.row(grid, node);
        self.row_in_units(grid, start, end)
    }

    /// Sum of the contributions along the edges `start..end`, as integers.
    #[inline(always)]
    fn row_in_units<G: Grid>(&self, grid: G, start: u32, end: u32) -> u64 {
        let mut sum = 0_u64;
        for edge in start..end {
            self.fetch(grid, edge.saturating_add(AHEAD).min(self.edges - 1));
            sum = sum.wrapping_add(self.scale.units(self.share(grid, edge)));
        }
        sum
    }

    /// Fetches the contribution along `edge` into a cache.
    #[inline(always)]
    fn fetch<G: Grid>(&self, grid: G, edge: u32) {
        let from = self.rows.source(grid, edge);
        self.contributions.prefetch(grid, from);
    }

    /// The contribution along `edge`.
    #[inline(always)]
    fn share<G: Grid>(&self, grid: G, edge: u32) -> f32 {
        let from = self.rows.source(grid, edge);
        f32::from_bits(self.contributions.load_weak(grid, from))
    }
}

impl<E: Edges, S: Sums> Pull<E, S> {
    /// Warps take even shares of the edges, whatever rows they are in.
    #[inline(always)]
    pub(crate) fn by_edges<G: Grid>(&self, team: &Team<G>) {
        let (warp, warps) = team.warps();
        let tile = self
            .rows
            .edges
            .div_ceil(warps.saturating_mul(4))
            .clamp(STEP, 64 * STEP)
            .next_multiple_of(STEP);
        let mut first = u64::from(warp) * u64::from(tile);
        while first < u64::from(self.rows.edges) {
            let start = first as u32;
            let end = start + (self.rows.edges - start).min(tile);
            self.tile(team.grid, start, end);
            first += u64::from(warps) * u64::from(tile);
        }
    }

    /// Sums the edges `first..end` row by row, with one warp: a row's sum is the
    /// difference between the running sums at its ends. `first` is a multiple of
    /// [`STEP`].
    #[inline(always)]
    fn tile<G: Grid>(&self, grid: G, first: u32, end: u32) {
        let first_row = last_by_warp(grid, self.rows.nodes, |row| {
            self.rows.rows.row(grid, row).0 <= first
        });
        let mut ends = Ends {
            opens: true,
            ..self.ends(grid, first_row, self.end_of(grid, first_row), 0)
        };
        let mut running = 0_u64;
        let mut at = first;
        let mut sources = self.sources(grid, at, end);
        while at < end {
            // The next edges are in flight while these are added up.
            let next = self.sources(grid, at + STEP, end);
            let mut values = [0.0_f32; LANE];
            for k in 0..LANE {
                if sources[k] != u32::MAX {
                    let bits = self.rows.contributions.load_weak(grid, sources[k]);
                    values[k] = f32::from_bits(bits);
                }
            }
            let mut sums = [0_u64; LANE];
            let mut own = 0_u64;
            for k in 0..LANE {
                own = own.wrapping_add(self.rows.scale.units(values[k]));
                sums[k] = own;
            }
            let up_to = scan_wide(grid, own);
            let before = running.wrapping_add(up_to.wrapping_sub(own));
            for sum in &mut sums {
                *sum = sum.wrapping_add(before);
            }
            let stop = at + (end - at).min(STEP);
            self.meet(grid, &mut ends, at, stop, running, &sums);
            running =
                running.wrapping_add(move_wide(up_to, |word| grid.shuffle(word, G::WARP - 1)));
            at = stop;
            sources = next;
        }
        self.flush(grid, &ends);
        // The row that continues after the tile.
        let met = grid.ballot(ends.met).count_ones();
        let before = move_wide(ends.sum, |word| {
            grid.shuffle(word, met.wrapping_sub(1) & 31)
        });
        let before = if met == 0 { ends.before } else { before };
        let row = ends.base + met;
        let rest = running.wrapping_sub(before);
        if grid.warp_lane() == 0 && row < self.rows.nodes && rest != 0 {
            self.sums.add(grid, row, rest);
        }
    }

    /// Sources of this lane's edges from `at` on; `u32::MAX` past the last edge of the
    /// tile.
    #[inline(always)]
    fn sources<G: Grid>(&self, grid: G, at: u32, end: u32) -> [u32; LANE] {
        let first = at.saturating_add(grid.warp_lane() * EACH);
        if first.saturating_add(EACH) <= end {
            return self.rows.rows.sources4(grid, first);
        }
        let mut sources = [u32::MAX; LANE];
        for (k, source) in sources.iter_mut().enumerate() {
            let edge = first.saturating_add(k as u32);
            if edge < end {
                *source = self.rows.rows.source(grid, edge);
            }
        }
        sources
    }

    /// Takes the running sums at the ends of rows among the edges `at..stop`, one batch
    /// of rows after another. `running` is the sum before them; `sums` are those after
    /// each of this lane's edges.
    #[inline(always)]
    fn meet<G: Grid>(
        &self,
        grid: G,
        ends: &mut Ends,
        at: u32,
        stop: u32,
        running: u64,
        sums: &[u64; LANE],
    ) {
        loop {
            let meets = !ends.met && ends.end <= stop;
            if grid.ballot(meets) == 0 {
                return;
            }
            let behind = ends.end.wrapping_sub(at);
            let last = behind.wrapping_sub(1);
            let mut inside = 0;
            for (k, sum) in sums.iter().enumerate() {
                let held = move_wide(*sum, |word| grid.shuffle(word, (last / EACH) & 31));
                if last % EACH == k as u32 {
                    inside = held;
                }
            }
            if meets {
                ends.met = true;
                ends.sum = if behind == 0 { running } else { inside };
            }
            if grid.ballot(ends.met) != u32::MAX {
                return;
            }
            self.flush(grid, ends);
            let before = move_wide(ends.sum, |word| grid.shuffle(word, G::WARP - 1));
            *ends = self.ends(grid, ends.base + G::WARP, ends.coming, before);
        }
    }

    /// The edge after this lane's row among those from `base` on.
    #[inline(always)]
    fn end_of<G: Grid>(&self, grid: G, base: u32) -> u32 {
        let row = base.saturating_add(grid.warp_lane());
        if row < self.rows.nodes {
            self.rows.rows.row(grid, row).1
        } else {
            u32::MAX
        }
    }

    /// The rows from `base` on, of which this lane's ends at `end`.
    #[inline(always)]
    fn ends<G: Grid>(&self, grid: G, base: u32, end: u32, before: u64) -> Ends {
        Ends {
            base,
            opens: false,
            end,
            coming: self.end_of(grid, base.saturating_add(G::WARP)),
            met: false,
            sum: 0,
            before,
        }
    }

    /// Stores the sums of the rows whose ends were met. The sum of a row that may have
    /// edges in another tile is added instead.
    #[inline(always)]
    fn flush<G: Grid>(&self, grid: G, ends: &Ends) {
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
        if ends.opens && grid.warp_lane() == 0 {
            self.sums.add(grid, row, sum);
        } else {
            self.sums.set(grid, row, sum);
        }
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
