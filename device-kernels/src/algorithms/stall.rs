//! A wave that does not end by itself, for tests of the mechanisms that end it.

use crate::collectives::context::ContextRef;
use crate::machine::Grid;
use seawall_core::abi::control::FaultCode;

/// Time that a stalled block lets the others notice, nanoseconds.
const NOTICE_NS: u64 = 200_000_000;

/// Stalls one block until the run's time is over and a waiting block reports that, and a little
/// longer, so that others notice; if none reports it, does so itself.
#[inline(never)]
pub fn run_stall<G: Grid>(cx: ContextRef<G>, block: u32) -> Result<(), FaultCode> {
    let context = cx.context();
    let grid = context.team.grid;
    if grid.block() != block {
        return Ok(());
    }
    let (mut polls, mut end_ns) = (0_u32, u64::MAX);
    while grid.now_ns() < end_ns && !context.team.is_overdue() {
        if end_ns == u64::MAX && context.team.control.is_stopped(grid) {
            end_ns = grid.now_ns().saturating_add(NOTICE_NS);
        }
        polls = polls.saturating_add(1);
        grid.pause(polls);
    }
    if grid.block_any(!context.team.control.is_stopped(grid)) {
        return Err(FaultCode::TimeBudget);
    }
    Ok(())
}
