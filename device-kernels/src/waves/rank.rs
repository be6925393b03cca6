//! Ranks by power iteration (PageRank), pulled over incoming edges.
//!
//! Contributions are floats, but they are added as integers (see `Scale`): integer
//! addition does not depend on order, so edges can be shared out in any way, and every
//! machine computes the same bits. Ranks add up to 1, so no sum comes near the 16 or more
//! that 64 bits hold.
//!
//! An iteration is three waves: gather, apply, settle.

use super::scale::{Scale, move_wide};
use super::{gather, gather_tiles};
use crate::context::{Context, ContextRef};
use crate::grid::Grid;
use crate::memory::{Csr, Proven};
use crate::tables::Wave;
use seawall_core::abi::control::FaultCode;
use seawall_core::abi::program::Opcode;
use seawall_core::abi::rank::TOTALS_WORDS;

/// Total mass of nodes without edges that the running iteration passes on. Each total is
/// a pair of words on a cache line of its own.
const DANGLING: u32 = 0;
/// The same total for the ranks that the running iteration makes.
const NEXT_DANGLING: u32 = 32;
/// Sum of all changes of the running iteration.
const CHANGE: u32 = 64;

/// Units of a total in 1.
const UNITS: f32 = (1_u64 << 60) as f32;

/// Runs an opcode of this family.
///
/// # Errors
/// [`FaultCode::BadRegister`] if a register is missing or too short,
/// [`FaultCode::NoArray`] if the launch holds no incoming edges.
#[inline(never)]
pub fn run_rank<G: Grid>(cx: ContextRef<G>, opcode: Opcode, wave: Wave) -> Result<(), FaultCode> {
    let context = &cx.context();
    let (tables, grid) = (context.tables, context.team.grid);
    if opcode == Opcode::SettleRanks {
        // SAFETY: indices are those of the totals.
        let totals = unsafe { tables.proven_of(grid, wave.destination(grid), TOTALS_WORDS)? };
        settle(context, totals, f32::from_bits(wave.parameter(grid, 0)));
        return Ok(());
    }
    let nodes = tables.nodes(grid);
    let pairs = nodes.checked_mul(2).ok_or(FaultCode::BadRegister)?;
    // SAFETY: here and below, indices are nodes of the graph, or twice as many for two
    // words per node.
    let contributions = unsafe { tables.proven_of(grid, wave.source(grid, 0), nodes)? };
    if opcode == Opcode::GatherRanks {
        // SAFETY: as above.
        let sums = unsafe { tables.proven_of(grid, wave.destination(grid), pairs)? };
        if let Some(tiles) = tables.tiles(grid) {
            return gather_tiles::gather(context, tiles, (contributions, sums));
        }
        if !tables.has_incoming(grid) {
            return Err(FaultCode::NoArray);
        }
        let short_rows = wave.parameter(grid, 0) != 0;
        gather::gather(context, short_rows, (contributions, sums));
        return Ok(());
    }
    let ranks = Ranks {
        // SAFETY: as above.
        ranks: unsafe { tables.proven_of(grid, wave.destination(grid), nodes)? },
        contributions,
        // SAFETY: as above.
        sums: unsafe { tables.proven_of(grid, wave.source(grid, 1), pairs)? },
        // SAFETY: indices are those of the totals.
        totals: unsafe { tables.proven_of(grid, wave.source(grid, 2), TOTALS_WORDS)? },
    };
    if opcode == Opcode::SeedRanks {
        ranks.seed(context);
    } else {
        let damping = f32::from_bits(wave.parameter(grid, 0));
        // Rows store their sums; tiles and shares of edges add to them.
        let clears = wave.parameter(grid, 1) == 0 || tables.tiles(grid).is_some();
        ranks.apply(context, damping, clears);
    }
    Ok(())
}

/// The registers of a ranking.
#[derive(Clone, Copy, Debug)]
struct Ranks {
    ranks: Proven,
    contributions: Proven,
    sums: Proven,
    totals: Proven,
}

impl Ranks {
    /// Gives every node the same rank.
    #[inline(never)]
    fn seed<G: Grid>(&self, context: &Context<G>) {
        let (team, grid) = (&context.team, context.team.grid);
        let nodes = context.tables.nodes(grid);
        let rows = context.tables.outgoing(grid);
        let scale = Scale::of(context.tables.edges(grid));
        let rank = 1.0 / nodes as f32;
        let mut dangling = 0_u64;
        team.each_taken(nodes, |node| {
            self.sums.store_weak(grid, 2 * node, 0);
            self.sums.store_weak(grid, 2 * node + 1, 0);
            let own = self.store(grid, (rows, scale), (node, rank));
            dangling = dangling.wrapping_add(own);
        });
        add_total(grid, self.totals, DANGLING, dangling);
    }

    /// Stores the rank of `node` and its contribution along each edge, in whole units.
    /// Returns the mass that it cannot pass on for want of edges, in units.
    #[inline(always)]
    fn store<G: Grid>(
        &self,
        grid: G,
        (rows, scale): (Csr, Scale),
        (node, rank): (u32, f32),
    ) -> u64 {
        let (start, end) = rows.row(grid, node);
        self.ranks.store_weak(grid, node, rank.to_bits());
        let (share, dangling) = if start == end {
            (0.0, units(rank))
        } else {
            (scale.whole(rank / (end - start) as f32), 0)
        };
        self.contributions.store_weak(grid, node, share.to_bits());
        dangling
    }

    /// Makes new ranks from the sums, and clears the sums if the next gathering adds to them.
    #[inline(never)]
    fn apply<G: Grid>(&self, context: &Context<G>, damping: f32, clears: bool) {
        let (team, grid) = (&context.team, context.team.grid);
        let nodes = context.tables.nodes(grid);
        let rows = context.tables.outgoing(grid);
        let scale = Scale::of(context.tables.edges(grid));
        let lost = part(wide(grid, self.totals, DANGLING));
        let base = (1.0 - damping + damping * lost) / nodes as f32;
        let (mut change, mut dangling) = (0_u64, 0_u64);
        team.each_taken(nodes, |node| {
            let sum = wide(grid, self.sums, 2 * node);
            if clears && sum != 0 {
                self.sums.store_weak(grid, 2 * node, 0);
                self.sums.store_weak(grid, 2 * node + 1, 0);
            }
            let old = f32::from_bits(self.ranks.load_weak(grid, node));
            let rank = base + damping * scale.part(sum);
            let step = if rank > old { rank - old } else { old - rank };
            change = change.wrapping_add(units(step));
            let own = self.store(grid, (rows, scale), (node, rank));
            dangling = dangling.wrapping_add(own);
        });
        add_total(grid, self.totals, CHANGE, change);
        add_total(grid, self.totals, NEXT_DANGLING, dangling);
    }
}

/// Closes an iteration: the leader decides whether another one follows.
fn settle<G: Grid>(context: &Context<G>, totals: Proven, tolerance: f32) {
    let (team, grid) = (&context.team, context.team.grid);
    if !team.is_leader() {
        return;
    }
    if wide(grid, totals, CHANGE) > units(tolerance) {
        context.tag.raise(grid);
    }
    let dangling = wide(grid, totals, NEXT_DANGLING);
    totals.store_weak(grid, DANGLING, dangling as u32);
    totals.store_weak(grid, DANGLING + 1, (dangling >> 32) as u32);
    for at in [NEXT_DANGLING, NEXT_DANGLING + 1, CHANGE, CHANGE + 1] {
        totals.store_weak(grid, at, 0);
    }
}

/// `value` in units, rounded down; 0 unless it is a number above 0. Values are below 8,
/// and processors convert to signed numbers faster.
#[inline(always)]
fn units(value: f32) -> u64 {
    ((value * UNITS) as i64).max(0) as u64
}

/// A total as a float, rounded to the nearest.
#[inline(always)]
fn part(sum: u64) -> f32 {
    sum as f32 * (1.0 / UNITS)
}

/// The pair of words at `at` as one number.
#[inline(always)]
fn wide<G: Grid>(grid: G, words: Proven, at: u32) -> u64 {
    u64::from(words.load_weak(grid, at)) | u64::from(words.load_weak(grid, at + 1)) << 32
}

/// Adds the `own` parts of a warp's lanes to a total. A warp operation.
#[inline(always)]
fn add_total<G: Grid>(grid: G, totals: Proven, at: u32, own: u64) {
    let mut sum = own;
    let mut delta = G::WARP / 2;
    while delta > 0 {
        sum = sum.wrapping_add(move_wide(sum, |word| {
            grid.shuffle(word, grid.warp_lane() ^ delta)
        }));
        delta /= 2;
    }
    if grid.warp_lane() == 0 && sum != 0 {
        totals.add_wide(grid, at, sum);
    }
}
