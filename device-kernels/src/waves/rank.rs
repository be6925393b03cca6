//! Ranks by power iteration (PageRank), pulled over incoming edges.
//!
//! Contributions are floats, but they are added as integers (see `Scale`): integer
//! addition does not depend on order, so edges can be shared out in any way, and every
//! machine computes the same bits. Ranks add up to 1, so no sum comes near the 16 or more
//! that 64 bits hold.
//!
//! An iteration is three waves: gather, apply, settle. Where all rows are short it is a
//! single one, see `rank_rows`.

use super::scale::{Scale, move_wide};
use super::{gather, gather_tiles, rank_rows};
use crate::context::{Context, ContextRef};
use crate::grid::Grid;
use crate::memory::Proven;
use crate::tables::Wave;
use seawall_core::abi::control::FaultCode;
use seawall_core::abi::program::Opcode;
use seawall_core::abi::rank::TOTALS_WORDS;

/// Total mass of nodes without edges that the running iteration passes on. Each total is
/// a pair of words on a cache line of its own.
pub(super) const DANGLING: u32 = 0;
/// The same total for the ranks that the running iteration makes.
pub(super) const NEXT_DANGLING: u32 = 32;
/// Sum of all changes of the running iteration.
pub(super) const CHANGE: u32 = 64;

/// Units of a total in 1.
pub(super) const UNITS: f32 = (1_u64 << 60) as f32;

/// Runs an opcode of this family.
///
/// # Errors
/// [`FaultCode::BadRegister`] if a register is missing or too short,
/// [`FaultCode::NoArray`] if the launch holds no incoming edges.
#[inline(never)]
pub fn run_rank<G: Grid>(cx: ContextRef<G>, opcode: Opcode, wave: Wave) -> Result<(), FaultCode> {
    let context = &cx.context();
    let (tables, grid) = (context.tables, context.team.grid);
    if opcode == Opcode::StepRanks {
        return rank_rows::step(cx, wave);
    }
    if opcode == Opcode::SettleRanks {
        // SAFETY: indices are those of the totals.
        let totals = unsafe { tables.proven_of(grid, wave.destination(grid), TOTALS_WORDS)? };
        if context.team.is_leader() {
            settle(context, totals, f32::from_bits(wave.parameter(grid, 0)));
        }
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
        gather::gather(context, (contributions, sums));
        return Ok(());
    }
    let by_rows = opcode == Opcode::SeedRanks && wave.parameter(grid, 0) != 0;
    let words = if by_rows { nodes } else { pairs };
    let ranks = Sums {
        made: Ranks {
            // SAFETY: as above.
            ranks: unsafe { tables.proven_of(grid, wave.destination(grid), nodes)? },
            contributions,
            scale: Scale::of(tables.edges(grid)),
        },
        // SAFETY: as above.
        sums: unsafe { tables.proven_of(grid, wave.source(grid, 1), words)? },
        // SAFETY: indices are those of the totals.
        totals: unsafe { tables.proven_of(grid, wave.source(grid, 2), TOTALS_WORDS)? },
    };
    if opcode == Opcode::SeedRanks {
        ranks.seed(context, !by_rows);
    } else {
        ranks.apply(context, f32::from_bits(wave.parameter(grid, 0)));
    }
    Ok(())
}

/// The registers that an iteration makes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ranks {
    pub(super) ranks: Proven,
    pub(super) contributions: Proven,
    pub(super) scale: Scale,
}

/// Changes and mass of nodes without edges, in units.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    pub(super) change: u64,
    pub(super) dangling: u64,
}

/// What turns sums into ranks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Walk {
    pub(super) base: f32,
    pub(super) damping: f32,
}

impl Walk {
    /// The walk of an iteration over `nodes` nodes that begins with these totals.
    #[inline(always)]
    pub(super) fn of<G: Grid>(grid: G, totals: Proven, damping: f32, nodes: u32) -> Self {
        let lost = part(wide(grid, totals, DANGLING));
        Self {
            base: (1.0 - damping + damping * lost) / nodes as f32,
            damping,
        }
    }
}

impl Ranks {
    /// Stores the rank of `node`, which has `degree` edges, and its contribution along
    /// each, in whole units. Returns the mass that it cannot pass on for want of edges, in
    /// units.
    #[inline(always)]
    fn store<G: Grid>(&self, grid: G, (node, degree): (u32, u32), rank: f32) -> u64 {
        self.ranks.store_weak(grid, node, rank.to_bits());
        let (share, dangling) = if degree == 0 {
            (0.0, units(rank))
        } else {
            (self.scale.whole(rank / degree as f32), 0)
        };
        self.contributions.store_weak(grid, node, share.to_bits());
        dangling
    }

    /// Makes a rank of `sum`, in place of the rank `old`.
    #[inline(always)]
    pub(super) fn make<G: Grid>(
        &self,
        grid: G,
        walk: Walk,
        (node, degree): (u32, u32),
        (sum, old): (u64, f32),
    ) -> Tally {
        let rank = walk.base + walk.damping * self.scale.part(sum);
        let step = if rank > old { rank - old } else { old - rank };
        Tally {
            change: units(step),
            dangling: self.store(grid, (node, degree), rank),
        }
    }
}

impl Tally {
    #[inline(always)]
    pub(super) fn add(&mut self, other: Self) {
        self.change = self.change.wrapping_add(other.change);
        self.dangling = self.dangling.wrapping_add(other.dangling);
    }
}

/// The registers of a ranking whose iterations are three waves.
#[derive(Clone, Copy, Debug)]
struct Sums {
    made: Ranks,
    sums: Proven,
    totals: Proven,
}

impl Sums {
    /// Gives every node the same rank, and clears the sums if there are any.
    #[inline(never)]
    fn seed<G: Grid>(&self, context: &Context<G>, clears: bool) {
        let (team, grid) = (&context.team, context.team.grid);
        let nodes = context.tables.nodes(grid);
        let rows = context.tables.outgoing(grid);
        let rank = 1.0 / nodes as f32;
        let mut dangling = 0_u64;
        team.each_taken(nodes, |node| {
            let (start, end) = rows.row(grid, node);
            if clears {
                self.clear(grid, node);
            }
            let own = self.made.store(grid, (node, end - start), rank);
            dangling = dangling.wrapping_add(own);
        });
        add_total(grid, self.totals, DANGLING, dangling);
    }

    #[inline(always)]
    fn clear<G: Grid>(&self, grid: G, node: u32) {
        self.sums.store_weak(grid, 2 * node, 0);
        self.sums.store_weak(grid, 2 * node + 1, 0);
    }

    /// Makes new ranks from the sums, and clears the sums for the next gathering.
    #[inline(never)]
    fn apply<G: Grid>(&self, context: &Context<G>, damping: f32) {
        let (team, grid) = (&context.team, context.team.grid);
        let nodes = context.tables.nodes(grid);
        let rows = context.tables.outgoing(grid);
        let walk = Walk::of(grid, self.totals, damping, nodes);
        let mut tally = Tally::default();
        let fetch = |node: u32| {
            let sum = wide(grid, self.sums, 2 * node);
            (
                sum,
                self.made.ranks.load_weak(grid, node),
                rows.row(grid, node),
            )
        };
        team.each_ahead(nodes, fetch, |node, (sum, old, (start, end))| {
            if sum != 0 {
                self.clear(grid, node);
            }
            let before = (sum, f32::from_bits(old));
            tally.add(self.made.make(grid, walk, (node, end - start), before));
        });
        add_total(grid, self.totals, CHANGE, tally.change);
        add_total(grid, self.totals, NEXT_DANGLING, tally.dangling);
    }
}

/// Closes an iteration in one lane: decides whether another one follows.
#[inline(always)]
pub(super) fn settle<G: Grid>(context: &Context<G>, totals: Proven, tolerance: f32) {
    let grid = context.team.grid;
    let (change, dangling) = (
        totals.load_wide(grid, CHANGE),
        totals.load_wide(grid, NEXT_DANGLING),
    );
    if change > units(tolerance) {
        context.tag.raise(grid);
    }
    totals.store_weak(grid, DANGLING, dangling as u32);
    totals.store_weak(grid, DANGLING + 1, (dangling >> 32) as u32);
    for at in 0..2 {
        totals.store_weak(grid, NEXT_DANGLING + at, 0);
        totals.store_weak(grid, CHANGE + at, 0);
    }
}

/// `value` in units, rounded down; 0 unless it is a number above 0. Values are below 4,
/// and processors convert to signed numbers faster.
#[inline(always)]
#[expect(
    clippy::manual_clamp,
    reason = "what is no number becomes 0 by these two"
)]
fn units(value: f32) -> u64 {
    let value = value.max(0.0).min(4.0) * UNITS;
    // SAFETY: a number from 0 to 2^62.
    unsafe { value.to_int_unchecked::<i64>() as u64 }
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

/// Sum of the `own` parts of a warp's lanes, in each of them. A warp operation.
#[inline(always)]
pub(super) fn warp_total<G: Grid>(grid: G, own: u64) -> u64 {
    let mut sum = own;
    let mut delta = G::WARP / 2;
    while delta > 0 {
        sum = sum.wrapping_add(move_wide(sum, |word| {
            grid.shuffle(word, grid.warp_lane() ^ delta)
        }));
        delta /= 2;
    }
    sum
}

/// Adds the `own` parts of a warp's lanes to a total. A warp operation.
#[inline(always)]
fn add_total<G: Grid>(grid: G, totals: Proven, at: u32, own: u64) {
    let sum = warp_total(grid, own);
    if grid.warp_lane() == 0 && sum != 0 {
        totals.add_wide(grid, at, sum);
    }
}
