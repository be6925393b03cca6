//! Counters of a loop, which the leader keeps for its report.

use crate::collectives::context::Context;
use crate::machine::Grid;
use crate::machine::shared::BARRIERS_BEFORE;
use crate::tables::Wave;
use crate::tables::control::{LoopEnd, ProgramPoint};

/// Opens the counters of a loop.
#[inline(always)]
pub(super) fn open<G: Grid>(context: &Context<G>) {
    let team = &context.team;
    if team.is_leader() {
        BARRIERS_BEFORE.store(team.grid, team.barriers());
    }
}

/// Closes the counters of a loop: fills its record.
#[inline(always)]
pub(super) fn close<G: Grid>(context: &Context<G>, end: LoopEnd) {
    let (team, control) = (&context.team, context.team.control);
    if team.is_leader() {
        let report = control.open_loop(team.grid);
        let before = BARRIERS_BEFORE.load(team.grid);
        report.count_barriers(team.grid, team.barriers().wrapping_sub(before));
        report.finish(team.grid, end);
        control.close_loop(team.grid);
    }
}

/// Position of iteration `iteration` of the loop `wave`.
#[inline(always)]
pub(super) fn point_of<G: Grid>(grid: G, wave: Wave, iteration: u32) -> ProgramPoint {
    ProgramPoint {
        wave: wave.number(grid),
        opcode: wave.opcode(grid),
        iteration,
    }
}
