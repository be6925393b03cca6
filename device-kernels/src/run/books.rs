//! The books of a loop: barriers and steps that the leader counts for its report.

use crate::block::shared::BOOKS;
use crate::context::Context;
use crate::control::{LoopEnd, ProgramPoint};
use crate::grid::Grid;
use crate::tables::Wave;

/// Opens the books of a loop.
#[inline(always)]
pub(super) fn open<G: Grid>(context: &Context<G>) {
    let team = &context.team;
    if team.is_leader() {
        // SAFETY: fixed words of shared memory.
        unsafe { team.grid.shared_store(BOOKS, team.barriers()) };
    }
}

/// Closes the record of a loop.
#[inline(always)]
pub(super) fn close<G: Grid>(context: &Context<G>, end: LoopEnd) {
    let (team, control) = (&context.team, context.team.control);
    if team.is_leader() {
        let report = control.open_loop(team.grid);
        // SAFETY: fixed words of shared memory, which `open` wrote.
        let before = unsafe { team.grid.shared_load(BOOKS) };
        report.count_barriers(team.grid, team.barriers().wrapping_sub(before));
        report.finish(team.grid, end);
        control.close_loop(team.grid);
    }
}

/// Iteration `iteration` of the loop `wave`.
#[inline(always)]
pub(super) fn point_of<G: Grid>(grid: G, wave: Wave, iteration: u32) -> ProgramPoint {
    ProgramPoint {
        wave: wave.number(grid),
        opcode: wave.opcode(grid),
        iteration,
    }
}
