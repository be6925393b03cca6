//! Ranks by power iteration (PageRank), pulled over incoming edges.
//!
//! Contributions are floats, but they are added as integers (see [`unit_exponent`]):
//! integer addition does not care about order, so edges can be shared out in
//! any way and every machine, whatever its shape, computes the same bits.
//! Ranks add up to 1, so no sum comes near the 16 or more that 64 bits hold.
//!
//! An iteration is three waves: gather, apply, settle.

use super::{gather, gather_tiles};
use crate::context::{Context, Hand};
use crate::grid::Grid;
use crate::machine::Wave;
use crate::memory::{Csr, Proven};
use seawall_core::abi::control::FaultCode;
use seawall_core::abi::program::Opcode;
use seawall_core::abi::rank::unit_exponent;

/// Total mass of nodes without edges that the running iteration passes on; a
/// pair of words, like all totals, each on a cache line of its own.
const DANGLING: u32 = 0;
/// The same total of the ranks that the running iteration makes.
const NEXT_DANGLING: u32 = 32;
/// Sum of all changes of the running iteration.
const CHANGE: u32 = 64;
/// Proven of a totals register.
const TOTALS_WORDS: u32 = 96;

/// Units of a total in 1.
const UNITS: f32 = (1_u64 << 60) as f32;

/// Units of the sums of contributions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    /// Units in 1.
    up: f32,
    /// A unit.
    down: f32,
}

impl Scale {
    /// The scale for a graph of `edges` edges.
    #[inline(always)]
    pub(super) fn of(edges: u32) -> Self {
        let exponent = unit_exponent(edges);
        Self {
            up: f32::from_bits((127 + exponent) << 23),
            down: f32::from_bits((127 - exponent) << 23),
        }
    }

    /// `share` in units, rounded down. A share is never below 0, and processors
    /// convert to signed numbers faster.
    #[inline(always)]
    pub(super) fn units(self, share: f32) -> u64 {
        (share * self.up) as i64 as u64
    }

    /// [`Scale::units`] where a word holds them.
    #[inline(always)]
    pub(super) fn word(self, share: f32) -> Option<u32> {
        const WORD: f32 = (1_u64 << 32) as f32;
        let scaled = share * self.up;
        let fits = (0.0..WORD).contains(&scaled);
        // SAFETY: a number from 0 to below 2^32.
        fits.then(|| unsafe { scaled.to_int_unchecked() })
    }

    /// `share`, rounded down to units.
    #[inline(always)]
    fn whole(self, share: f32) -> f32 {
        // Not more bits than it had, so a float holds them.
        self.units(share) as i64 as f32 * self.down
    }

    /// Whether doubles add up shares in whole units exactly: those of all edges are 1
    /// in all, and doubles hold integers up to 2^53.
    #[inline(always)]
    pub(super) fn fits_doubles(self) -> bool {
        self.up <= (1_u64 << 52) as f32
    }

    /// What doubles added up, in units.
    #[inline(always)]
    pub(super) fn units_of_double(self, sum: f64) -> u64 {
        (sum * f64::from(self.up)) as i64 as u64
    }

    /// `sum` as a float, rounded to the nearest.
    #[inline(always)]
    fn part(self, sum: u64) -> f32 {
        sum as i64 as f32 * self.down
    }
}

/// Runs an opcode of this family.
///
/// # Errors
/// [`FaultCode::BadRegister`] when a register is missing or too short,
/// [`FaultCode::NoArray`] when the launch holds no incoming edges.
#[inline(never)]
pub fn run<G: Grid>(hand: Hand<G>, opcode: Opcode, wave: Wave) -> Result<(), FaultCode> {
    let context = &hand.context();
    let (machine, grid) = (context.machine, context.team.grid);
    if opcode == Opcode::SettleRanks {
        // SAFETY: indices are those of the totals.
        let totals = unsafe { machine.proven_of(grid, wave.destination(grid), TOTALS_WORDS)? };
        settle(context, totals, f32::from_bits(wave.parameter(grid, 0)));
        return Ok(());
    }
    let nodes = machine.nodes(grid);
    let pairs = nodes.checked_mul(2).ok_or(FaultCode::BadRegister)?;
    // SAFETY: here and below indices are nodes of the graph, times two where there are
    // two words a node.
    let contributions = unsafe { machine.proven_of(grid, wave.source(grid, 0), nodes)? };
    if opcode == Opcode::GatherRanks {
        // SAFETY: as above.
        let sums = unsafe { machine.proven_of(grid, wave.destination(grid), pairs)? };
        if let Some(tiles) = machine.tiles(grid) {
            return gather_tiles::gather(context, tiles, (contributions, sums));
        }
        if !machine.has_incoming(grid) {
            return Err(FaultCode::NoArray);
        }
        gather::gather(context, contributions, sums);
        return Ok(());
    }
    let ranks = Ranks {
        // SAFETY: as above.
        ranks: unsafe { machine.proven_of(grid, wave.destination(grid), nodes)? },
        contributions,
        // SAFETY: as above.
        sums: unsafe { machine.proven_of(grid, wave.source(grid, 1), pairs)? },
        // SAFETY: indices are those of the totals.
        totals: unsafe { machine.proven_of(grid, wave.source(grid, 2), TOTALS_WORDS)? },
    };
    if opcode == Opcode::SeedRanks {
        ranks.seed(context);
    } else {
        ranks.apply(context, f32::from_bits(wave.parameter(grid, 0)));
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
        let nodes = context.machine.nodes(grid);
        let rows = context.machine.outgoing(grid);
        let scale = Scale::of(context.machine.edges(grid));
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

    /// Stores the rank of `node` and what it passes on along each edge, in whole units;
    /// gives what it passes on for want of edges, in units.
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

    /// Makes new ranks of the sums and clears them.
    #[inline(never)]
    fn apply<G: Grid>(&self, context: &Context<G>, damping: f32) {
        let (team, grid) = (&context.team, context.team.grid);
        let nodes = context.machine.nodes(grid);
        let rows = context.machine.outgoing(grid);
        let scale = Scale::of(context.machine.edges(grid));
        let lost = part(wide(grid, self.totals, DANGLING));
        let base = (1.0 - damping + damping * lost) / nodes as f32;
        let (mut change, mut dangling) = (0_u64, 0_u64);
        team.each_taken(nodes, |node| {
            let sum = wide(grid, self.sums, 2 * node);
            if sum != 0 {
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

/// Closes an iteration: one lane decides whether another one follows.
fn settle<G: Grid>(context: &Context<G>, totals: Proven, tolerance: f32) {
    let (team, grid) = (&context.team, context.team.grid);
    if !team.is_conductor() {
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

/// `value` in units, rounded down; 0 for what is not a number above 0. Values are below
/// 8, and processors convert to signed numbers faster.
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

/// The `value` that a shuffle of words moves.
#[inline(always)]
pub(super) fn move_wide(value: u64, shuffle: impl Fn(u32) -> u32) -> u64 {
    u64::from(shuffle(value as u32)) | u64::from(shuffle((value >> 32) as u32)) << 32
}

/// Adds the `own` parts of a warp's lanes to a total; all lanes take part.
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
