//! The end of rounds that are too many, on CPU threads: one of them settles the rest, the nearest
//! node first.
//!
//! A round takes some microseconds, and a new limit a look at all distances. So where each of many
//! rounds has few nodes, or rounds lower the same distances over and over, an order of nodes by
//! their distances takes less time. The looks of the host at a graph find most of these graphs
//! before a run; this is for all others.

use super::lengths::Lengths;
use crate::collectives::context::{Context, ContextRef};
use crate::cpu::sequential::settle_rest;
use crate::machine::Grid;
use crate::machine::memory::Proven;
use crate::operators::rounds::{Past, Round, Work};
use crate::tables::Wave;
use seawall_core::abi::control::FaultCode;

/// Times that an edge may be relaxed, on average.
const TIMES: u32 = 8;

/// Whether no further round pays: the wave's last parameter is the number of the last one that may,
/// 0 without a limit.
#[inline(always)]
pub(super) fn suits<G: Grid, L: Lengths>(context: &Context<G>, _: L, wave: Wave) -> bool {
    if G::ITEMS == 1 || L::WORDS != 1 {
        return false;
    }
    let (grid, tables) = (context.team.grid, context.tables);
    let last = wave.parameter(grid, 3);
    last != 0
        && (context.tag.now(grid) > last
            || Past::broadcast(grid).relaxed / TIMES > tables.edges(grid))
}

/// Settles all nodes that are not below the running limit, in the team's first block.
#[inline(never)]
pub(super) fn settle<G: Grid, L: Lengths>(
    cx: ContextRef<G>,
    lengths: L,
    distances: Proven,
    work: Work,
) -> Result<(), FaultCode> {
    let context = &cx.context();
    let (team, tables, grid) = (&context.team, context.tables, cx.grid());
    if !team.is_first() {
        return Ok(());
    }
    let weights = tables.weights(grid).ok_or(FaultCode::NoArray)?;
    let round = Round::broadcast(grid);
    let from = match (round.nodes, Past::broadcast(grid).nearest) {
        (0, _) => round.least,
        // Before the first limit every distance is at hand.
        (_, u32::MAX) => 0,
        (_, nearest) => nearest,
    };
    work.close(grid, context.tag.now(grid));
    settle_rest(
        team,
        (tables.outgoing(grid), weights.checked()),
        (distances.checked(), work.queues().checked()),
        (from, lengths.place(L::NEVER)),
        |key, weight| lengths.place(lengths.sum(grid, distances, key, weight)),
    )
}
