//! Core numbers by peeling.
//!
//! The remaining degrees are the core numbers in the end: a removal lowers
//! the degrees of neighbours, but never below the level that is being peeled,
//! so that a removed node keeps the level of its removal. Levels without nodes
//! are skipped.

use super::expand::{expand, select};
use super::work::{Round, Work, values_and_work};
use crate::context::{Context, Hand};
use crate::grid::Grid;
use crate::machine::Wave;
use crate::memory::Words;
use seawall_core::abi::control::FaultCode;
use seawall_core::abi::program::Opcode;

/// Runs an opcode of this family.
///
/// # Errors
/// [`FaultCode::BadRegister`] when a register is missing or too short.
#[inline(never)]
pub fn run<G: Grid>(hand: Hand<G>, opcode: Opcode, wave: Wave) -> Result<(), FaultCode> {
    let context = &hand.context();
    let grid = context.team.grid;
    let (cores, work) = values_and_work(context, wave)?;
    if opcode == Opcode::SeedPeel {
        seed(context, cores, work);
        return Ok(());
    }
    let round = work.round(grid, context.tag);
    if round.nodes != 0 {
        peel(hand, wave, round)
    } else {
        collect(hand, wave, round)
    }
}

/// Stores degrees; nodes without edges are done at level 0.
fn seed<G: Grid>(context: &Context<G>, cores: Words, work: Work) {
    let (team, grid) = (&context.team, context.team.grid);
    if team.is_conductor() {
        work.open_next(grid, context.tag, 0);
    }
    let rows = context.machine.outgoing(grid);
    team.each(context.machine.nodes(grid), |node| {
        let (start, end) = rows.row(grid, node);
        cores.store_weak(grid, node, end - start);
    });
}

/// Removes the queued nodes.
#[inline(never)]
fn peel<G: Grid>(hand: Hand<G>, wave: Wave, round: Round) -> Result<(), FaultCode> {
    let context = &hand.context();
    let (team, grid, tag) = (&context.team, context.team.grid, context.tag);
    let (cores, work) = values_and_work(context, wave)?;
    let level = round.level;
    if team.is_bookkeeper() {
        work.open_next(grid, tag, level);
        // Whatever remains has more than `level` neighbours left.
        work.wait(team, tag, level.saturating_add(1));
    }
    let rows = context.machine.outgoing(grid);
    expand(
        team,
        &work.source(rows, tag, &round),
        &work.sink(rows, tag),
        |_| 0,
        |edge| {
            if cores.load_weak(grid, edge.to) <= level {
                return false;
            }
            let before = cores.add(grid, edge.to, u32::MAX);
            if before <= level {
                cores.add(grid, edge.to, 1);
            }
            before == level.wrapping_add(1)
        },
    );
    Ok(())
}

/// Queues the nodes of the next level.
#[inline(never)]
fn collect<G: Grid>(hand: Hand<G>, wave: Wave, round: Round) -> Result<(), FaultCode> {
    let context = &hand.context();
    let (team, grid, tag) = (&context.team, context.team.grid, context.tag);
    let (cores, work) = values_and_work(context, wave)?;
    let above = round.level.saturating_add(1);
    let level = if round.least == u32::MAX {
        above
    } else {
        above.max(round.least)
    };
    if team.is_conductor() {
        work.open_next(grid, tag, level);
    }
    let sink = work.sink(context.machine.outgoing(grid), tag);
    let mut least = u32::MAX;
    let degrees = (cores, context.machine.nodes(grid));
    select(team, degrees, &sink, |_, degree| {
        if degree > level {
            least = least.min(degree);
        }
        degree >= above && degree <= level
    });
    work.wait_warp(team, tag, least);
    Ok(())
}
