//! Ranks where all rows are short: an iteration is one wave.
//!
//! A lane sums a row and makes the node's rank at once, so no sums are stored. Contributions
//! are kept twice and take turns, since other lanes still read the old ones. The block that
//! comes last closes the iteration.
//!
//! What a lane needs of its next row is under way while it works on the present one, and
//! the ends of the row after that: a lane has some thirty rows on a large graph, and each
//! waits for device memory three times.

use super::gather::RowSums;
use super::rank::{CHANGE, NEXT_DANGLING, Ranks, Tally, Walk, settle, warp_total};
use super::scale::Scale;
use crate::context::{Context, ContextRef};
use crate::grid::Grid;
use crate::memory::{Csr, Proven};
use crate::shared::TALLIES;
use crate::tables::Wave;
use crate::team::Team;
use seawall_core::abi::control::FaultCode;
use seawall_core::abi::rank::TOTALS_WORDS;

/// Word of the totals: 1 if the running iteration reads the second contributions. It lies
/// beside a total that every block reads.
const TURN: u32 = 2;
/// Word of the totals: blocks that have done their share of the running iteration.
const DONE: u32 = CHANGE + 2;

/// Edges of a row that a lane has in flight at a time.
const EACH: usize = 4;

/// One iteration.
///
/// # Errors
/// As [`run_rank`](super::rank::run_rank).
#[inline(never)]
pub(super) fn step<G: Grid>(cx: ContextRef<G>, wave: Wave) -> Result<(), FaultCode> {
    let context = &cx.context();
    let (tables, grid) = (context.tables, context.team.grid);
    if !tables.has_incoming(grid) {
        return Err(FaultCode::NoArray);
    }
    let nodes = tables.nodes(grid);
    // SAFETY: indices are nodes of the graph, and those of the totals.
    let (ranks, even, odd, totals) = unsafe {
        (
            tables.proven_of(grid, wave.destination(grid), nodes)?,
            tables.proven_of(grid, wave.source(grid, 0), nodes)?,
            tables.proven_of(grid, wave.source(grid, 1), nodes)?,
            tables.proven_of(grid, wave.source(grid, 2), TOTALS_WORDS)?,
        )
    };
    let turn = totals.load_weak(grid, TURN);
    let (before, after) = if turn == 0 { (even, odd) } else { (odd, even) };
    let damping = f32::from_bits(wave.parameter(grid, 0));
    let pass = Pass {
        made: Ranks {
            ranks,
            contributions: after,
            scale: Scale::of(tables.edges(grid)),
        },
        walk: Walk::of(grid, totals, damping, nodes),
        before,
        incoming: tables.incoming(grid),
        outgoing: tables.outgoing(grid),
        nodes,
    };
    let tally = pass.all(context);
    if add(&context.team, totals, tally) {
        settle(context, totals, f32::from_bits(wave.parameter(grid, 1)));
        totals.store_weak(grid, TURN, u32::from(turn == 0));
    }
    Ok(())
}

/// The arrays of an iteration.
#[derive(Clone, Copy, Debug)]
struct Pass {
    made: Ranks,
    walk: Walk,
    before: Proven,
    incoming: Csr,
    outgoing: Csr,
    nodes: u32,
}

/// What a lane has fetched of a row.
#[derive(Clone, Copy, Debug)]
struct Row {
    /// First edge that is not among the sources, and the row's end.
    rest: (u32, u32),
    /// Nodes that the first edges leave; missing ones repeat the last.
    sources: [u32; EACH],
    /// Edges among them, a bit each.
    mask: u32,
    /// The node's rank.
    old: u32,
    /// Its outgoing edges.
    degree: u32,
}

impl Pass {
    /// Makes the ranks of this lane's rows.
    #[inline(always)]
    fn all<G: Grid>(&self, context: &Context<G>) -> Tally {
        let (team, grid) = (&context.team, context.team.grid);
        let mut tally = Tally::default();
        let mut make = |node, sum| {
            let old = f32::from_bits(self.made.ranks.load_weak(grid, node));
            let (start, end) = self.outgoing.row(grid, node);
            let row = (node, end - start);
            tally.add(self.made.make(grid, self.walk, row, (sum, old)));
        };
        if G::WARP == 1 {
            RowSums::of(context, self.before).each(team, make);
        } else if self.incoming.edges() == 0 {
            team.each(self.nodes, |node| make(node, 0));
        } else {
            tally = self.by_lanes(team);
            // Codegen rule `CONVERGE`.
            grid.warp_barrier();
        }
        tally
    }

    /// Every lane takes whole rows of a graph with edges. Loads are unconditional, of the
    /// last node where there is none: codegen rule `LOADS_TOGETHER`.
    #[inline(always)]
    fn by_lanes<G: Grid>(&self, team: &Team<G>) -> Tally {
        let this = *self;
        let grid = team.grid;
        let mut tally = Tally::default();
        let last = this.nodes.saturating_sub(1);
        let stride = team.size() * grid.lanes();
        let mut node = team.rank() * grid.lanes() + grid.lane();
        if node >= this.nodes {
            return tally;
        }
        let mut ends = this.incoming.row(grid, node);
        let mut row = this.fetch(grid, node, ends);
        let mut next = node.saturating_add(stride).min(last);
        ends = this.incoming.row(grid, next);
        loop {
            let shares = row.sources.map(|from| this.before.load_weak(grid, from));
            let coming = this.fetch(grid, next, ends);
            let after = next.saturating_add(stride).min(last);
            ends = this.incoming.row(grid, after);
            let sum = this.sum(grid, &row, shares);
            let old = f32::from_bits(row.old);
            tally.add(
                this.made
                    .make(grid, this.walk, (node, row.degree), (sum, old)),
            );
            node = node.saturating_add(stride);
            if node >= this.nodes {
                return tally;
            }
            (row, next) = (coming, after);
        }
    }

    /// Begins to fetch the row of `node`, which has these ends.
    #[inline(always)]
    fn fetch<G: Grid>(&self, grid: G, node: u32, (start, end): (u32, u32)) -> Row {
        // A row without edges takes any edge, as the graph has some.
        let last = end.max(1) - 1;
        let mut sources = [0; EACH];
        let mut mask = 0;
        for (k, source) in sources.iter_mut().enumerate() {
            let at = start.saturating_add(k as u32);
            *source = self.incoming.target(grid, at.min(last));
            mask |= u32::from(at < end) << k;
        }
        let (out, out_end) = self.outgoing.row(grid, node);
        Row {
            rest: (start.saturating_add(EACH as u32), end),
            sources,
            mask,
            old: self.made.ranks.load_weak(grid, node),
            degree: out_end - out,
        }
    }

    /// Sum of a row whose first edges contribute `shares`, in units.
    #[inline(always)]
    fn sum<G: Grid>(&self, grid: G, row: &Row, shares: [u32; EACH]) -> u64 {
        let mut sum = 0_u64;
        for (k, share) in shares.into_iter().enumerate() {
            let share = if row.mask >> k & 1 != 0 { share } else { 0 };
            sum = sum.wrapping_add(self.made.scale.units(f32::from_bits(share)));
        }
        let (mut edge, end) = row.rest;
        while edge < end {
            let from = self.incoming.target(grid, edge);
            let share = f32::from_bits(self.before.load_weak(grid, from));
            sum = sum.wrapping_add(self.made.scale.units(share));
            edge += 1;
        }
        sum
    }
}

/// Adds the lanes' tallies to the totals; returns `true` in one lane, once all blocks have
/// done so. A block operation.
#[inline(always)]
fn add<G: Grid>(team: &Team<G>, totals: Proven, own: Tally) -> bool {
    let grid = team.grid;
    let join = |own: Tally| [warp_total(grid, own.change), warp_total(grid, own.dangling)];
    let [change, dangling] = join(own);
    let place = grid.lane() / G::WARP * 4;
    let words = [change, change >> 32, dangling, dangling >> 32];
    if grid.warp_lane() == 0 {
        for (at, word) in (place..).zip(words) {
            // SAFETY: a block has at most 32 warps.
            unsafe { TALLIES.store(grid, at, word as u32) };
        }
    }
    grid.block_barrier();
    if grid.lane() >= G::WARP {
        return false;
    }
    let mut all = Tally::default();
    let mut warp = grid.lane();
    while warp < grid.lanes() / G::WARP {
        // SAFETY: as above.
        let wide = |at: u32| unsafe {
            let [low, high] = [at, at + 1].map(|at| TALLIES.load(grid, 4 * warp + at));
            u64::from(low) | u64::from(high) << 32
        };
        all.add(Tally {
            change: wide(0),
            dangling: wide(2),
        });
        warp += G::WARP;
    }
    grid.warp_barrier();
    let [change, dangling] = join(all);
    if grid.lane() != 0 {
        return false;
    }
    for (at, sum) in [(CHANGE, change), (NEXT_DANGLING, dangling)] {
        if sum != 0 {
            totals.add_wide(grid, at, sum);
        }
    }
    let comes_last = totals.arrive(grid, DONE) + 1 == team.size();
    if comes_last {
        totals.store_weak(grid, DONE, 0);
    }
    comes_last
}
