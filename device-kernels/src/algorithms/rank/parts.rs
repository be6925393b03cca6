//! Parts of an iteration of ranks, however many waves it takes: a node's new rank, and the totals.

use super::scale::{Scale, part, units};
use crate::collectives::block::warp_sum_wide;
use crate::collectives::context::Context;
use crate::machine::Grid;
use crate::machine::memory::Proven;
use crate::tables::Wave;
use seawall_core::abi::control::FaultCode;
use seawall_core::abi::program::NO_REGISTER;

/// Total mass of nodes without edges that the running iteration passes on. Each total is a pair of
/// words on a separate cache line.
pub(crate) const DANGLING: u32 = 0;
/// The same total for the ranks that the running iteration makes.
pub(crate) const NEXT_DANGLING: u32 = 32;
/// Sum of all changes of the running iteration.
pub(crate) const CHANGE: u32 = 64;

/// The registers that an iteration makes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ranks {
    pub(crate) ranks: Proven,
    pub(crate) contributions: Proven,
    pub(crate) scale: Scale,
}

/// Changes and mass of nodes without edges, in units.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) change: u64,
    pub(crate) dangling: u64,
}

/// The numbers that turn sums into ranks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Walk {
    /// The rank that a node gets apart from its sum.
    pub(crate) base: f32,
    pub(crate) damping: f32,
}

impl Walk {
    /// The walk of an iteration over `nodes` nodes that begins with these totals. With the shares of a
    /// walk that `starts` at each node, a node gets the base times its share.
    #[inline(always)]
    pub(crate) fn of<G: Grid>(
        grid: G,
        totals: Proven,
        damping: f32,
        nodes: u32,
        starts: Option<Proven>,
    ) -> Self {
        let lost = part(wide(grid, totals, DANGLING));
        let anew = 1.0 - damping + damping * lost;
        let base = match starts {
            Some(_) => anew,
            None => anew / nodes as f32,
        };
        Self { base, damping }
    }

    /// The walk at a node where the share with these bits of it starts, if shares differ.
    #[inline(always)]
    pub(crate) fn at(self, start: Option<u32>) -> Self {
        match start {
            Some(start) => Self {
                base: self.base * f32::from_bits(start),
                ..self
            },
            None => self,
        }
    }
}

/// The share of a walk that starts at each node, if a wave has such a register as its fourth source;
/// otherwise all nodes have the same.
///
/// # Errors
/// [`FaultCode::BadRegister`] if it is too short.
///
/// # Safety
/// Every index that it is used with must be a node of the graph.
#[inline(always)]
pub(crate) unsafe fn starts_of<G: Grid>(
    context: &Context<G>,
    wave: Wave,
) -> Result<Option<Proven>, FaultCode> {
    let (tables, grid) = (context.tables, context.team.grid);
    if wave.source(grid, 3) == NO_REGISTER {
        return Ok(None);
    }
    // SAFETY: the caller's indices are nodes.
    let starts = unsafe { tables.proven_of(grid, wave.source(grid, 3), tables.nodes(grid))? };
    Ok(Some(starts))
}

impl Ranks {
    /// Stores the rank of `node`, which has `degree` edges, and its contribution along each, in
    /// whole units. Returns the mass that it cannot pass on without edges, in units.
    #[inline(always)]
    pub(crate) fn store<G: Grid>(&self, grid: G, node: u32, degree: u32, rank: f32) -> u64 {
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
    pub(crate) fn make<G: Grid>(
        &self,
        grid: G,
        walk: Walk,
        node: u32,
        degree: u32,
        sum: u64,
        old: f32,
    ) -> Tally {
        let rank = walk.base + walk.damping * self.scale.part(sum);
        let step = if rank > old { rank - old } else { old - rank };
        Tally {
            change: units(step),
            dangling: self.store(grid, node, degree, rank),
        }
    }
}

impl Tally {
    #[inline(always)]
    pub(crate) fn add(&mut self, other: Self) {
        self.change = self.change.wrapping_add(other.change);
        self.dangling = self.dangling.wrapping_add(other.dangling);
    }
}

/// Closes an iteration in one lane: decides whether another one follows.
#[inline(always)]
pub(crate) fn settle<G: Grid>(context: &Context<G>, totals: Proven, tolerance: f32) {
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

/// The pair of words at `at` as one number.
#[inline(always)]
pub(crate) fn wide<G: Grid>(grid: G, words: Proven, at: u32) -> u64 {
    u64::from(words.load_weak(grid, at)) | u64::from(words.load_weak(grid, at + 1)) << 32
}

/// Adds the `own` parts of a warp's lanes to a total. A warp operation.
#[inline(always)]
pub(crate) fn add_total<G: Grid>(grid: G, totals: Proven, at: u32, own: u64) {
    let sum = warp_sum_wide(grid, own);
    if grid.warp_lane() == 0 && sum != 0 {
        totals.add_wide(grid, at, sum);
    }
}
