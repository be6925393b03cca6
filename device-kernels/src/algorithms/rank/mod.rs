//! Ranks by power iteration (PageRank), pulled over incoming edges: `r(v)` becomes
//! `(1 - d) s(v) + d (sum of r(u) / out(u) over edges from u to v, plus s(v) times the ranks of nodes
//! without edges)`, for damping `d` and start weights `s` (Page, Brin, Motwani, Winograd, 1999).
//! Work of an iteration is linear in nodes and edges, and its depth a fixed number of waves.
//!
//! Contributions are floats, but they are added as integers (see `Scale`): integer
//! addition does not depend on order, so edges can be shared out in any way, and every
//! machine computes the same bits. Ranks add up to 1, so no sum comes near the 16 or more
//! that 64 bits hold.
//!
//! An iteration is three waves: gather, apply, settle. Where all rows are short it is a
//! single one, see `rank_rows`.

pub(crate) mod gather;
mod gather_slices;
mod gather_tiles;
mod slices;
mod frequent;
pub(crate) mod parts;
mod rows;
mod running;
mod chunks;
pub mod scale;

use crate::collectives::context::{Context, ContextRef};
use crate::machine::Grid;
use crate::machine::memory::Proven;
use crate::tables::Wave;
use parts::{
    CHANGE, DANGLING, NEXT_DANGLING, Ranks, Tally, Walk, add_total, settle, starts_of, wide,
};
use rows as rank_rows;
use scale::Scale;
use seawall_core::abi::control::FaultCode;
use seawall_core::abi::program::Opcode;
use seawall_core::abi::rank::TOTALS_WORDS;

/// Runs an opcode of this family.
///
/// # Errors
/// [`FaultCode::BadRegister`] if a register is missing or too short,
/// [`FaultCode::NoArray`] if the launch holds no incoming edges.
#[inline(never)]
pub fn run_rank<G: Grid>(cx: ContextRef<G>, opcode: Opcode, wave: Wave) -> Result<(), FaultCode> {
    if slices::makes_slices(opcode) {
        return slices::run_slices(cx, opcode, wave);
    }
    if opcode == Opcode::GatherSlices {
        return gather_slices::gather_slices(cx, wave);
    }
    if opcode == Opcode::PickFrequent {
        return frequent::pick(cx, wave);
    }
    if opcode == Opcode::CopyFrequent {
        return frequent::copy(cx, wave);
    }
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
            return gather_tiles::gather(context, tiles, contributions, sums);
        }
        if !tables.has_incoming(grid) {
            return Err(FaultCode::NoArray);
        }
        gather::gather(context, contributions, sums);
        return Ok(());
    }
    let by_rows = opcode == Opcode::SeedRanks && wave.parameter(grid, 0) != 0;
    let words = if by_rows { nodes } else { pairs };
    let ranks = Sums {
        made: Ranks {
            // SAFETY: as above.
            ranks: unsafe { tables.proven_of(grid, wave.destination(grid), nodes)? },
            contributions,
            scale: Scale::of_edges(tables.edges(grid)),
        },
        // SAFETY: as above.
        sums: unsafe { tables.proven_of(grid, wave.source(grid, 1), words)? },
        // SAFETY: indices are those of the totals.
        totals: unsafe { tables.proven_of(grid, wave.source(grid, 2), TOTALS_WORDS)? },
    };
    // SAFETY: indices are nodes of the graph.
    let starts = unsafe { starts_of(context, wave)? };
    if opcode == Opcode::SeedRanks {
        ranks.seed(context, !by_rows, starts);
    } else {
        ranks.apply(context, f32::from_bits(wave.parameter(grid, 0)), starts);
    }
    Ok(())
}

/// The registers of a ranking whose iterations are three waves.
#[derive(Clone, Copy, Debug)]
struct Sums {
    made: Ranks,
    sums: Proven,
    totals: Proven,
}

impl Sums {
    /// Gives every node its share of `starts`, else the same rank, and clears the sums if there are
    /// any.
    #[inline(never)]
    fn seed<G: Grid>(&self, context: &Context<G>, clears: bool, starts: Option<Proven>) {
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
            let rank = match starts {
                Some(starts) => f32::from_bits(starts.load_weak(grid, node)),
                None => rank,
            };
            let own = self.made.store(grid, node, end - start, rank);
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
    fn apply<G: Grid>(&self, context: &Context<G>, damping: f32, starts: Option<Proven>) {
        let (team, grid) = (&context.team, context.team.grid);
        let nodes = context.tables.nodes(grid);
        let rows = context.tables.outgoing(grid);
        let walk = Walk::of(grid, self.totals, damping, nodes, starts);
        // Without starts, any word is loaded: codegen rule `LOADS_TOGETHER`.
        let (shares, of_node) = match starts {
            Some(starts) => (starts, u32::MAX),
            None => (self.totals, 0),
        };
        let mut tally = Tally::default();
        let fetch = |node: u32| {
            let sum = wide(grid, self.sums, 2 * node);
            let share = shares.load_weak(grid, node & of_node);
            let old = self.made.ranks.load_weak(grid, node);
            (sum, share, old, rows.row(grid, node))
        };
        team.each_ahead(nodes, fetch, |node, (sum, share, old, (start, end))| {
            if sum != 0 {
                self.clear(grid, node);
            }
            let share = starts.is_some().then_some(share);
            let (walk, old) = (walk.at(share), f32::from_bits(old));
            tally.add(self.made.make(grid, walk, node, end - start, sum, old));
        });
        add_total(grid, self.totals, CHANGE, tally.change);
        add_total(grid, self.totals, NEXT_DANGLING, tally.dangling);
    }
}
