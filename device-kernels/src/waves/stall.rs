//! A wave that does not end by itself, for tests of what ends it.

use crate::context::ContextRef;
use crate::grid::Grid;
use seawall_core::abi::control::FaultCode;

/// Holds one block until the run's time is over and a waiting block reports that; if none
/// does, reports it itself.
#[inline(never)]
pub fn run_stall<G: Grid>(cx: ContextRef<G>, block: u32) -> Result<(), FaultCode> {
    let context = cx.context();
    let grid = context.team.grid;
    if grid.block() != block {
        return Ok(());
    }
    let mut polls = 0_u32;
    while !context.team.control.is_stopped(grid) && !context.team.is_overdue() {
        polls = polls.saturating_add(1);
        grid.pause(polls);
    }
    if grid.block_any(!context.team.control.is_stopped(grid)) {
        return Err(FaultCode::TimeBudget);
    }
    Ok(())
}
