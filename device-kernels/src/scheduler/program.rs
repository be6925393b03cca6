//! A whole program: group after group, with a barrier between them.

use super::group::{OUTSIDE, end_of_group, run_waves};
use super::open::open;
use super::sets::WaveSet;
use super::straight::{end_of_run, run_straight};
use super::trace;
use super::while_loop::{Top, run_loops};
use crate::collectives::context::ContextRef;
use crate::machine::Grid;
use crate::tables::control::{ProgramPoint, Stop};
use crate::tables::launch::Launch;

/// Runs the whole program. Every lane of the grid calls this once; all blocks must be
/// co-resident.
///
/// # Errors
/// If the run stops; the control block's fault record says why.
#[inline(always)]
pub fn run_program<G: Grid, S: WaveSet>(grid: G, launch: Launch) -> Result<(), Stop> {
    let context = open(grid, launch)?;
    if context.team.is_leader() {
        context.team.control.stamp(grid, false);
    }
    // Codegen rule `LOOK_UP_AGAIN`.
    let cx = context.reference();
    let groups = context.tables.groups(grid);
    let mut group = 0;
    while group < groups {
        let narrow_end = end_of_run(cx, group, groups);
        let first = group;
        trace::begin_group(cx, first);
        if narrow_end > group {
            run_straight::<G, S>(cx, group, narrow_end)?;
            group = narrow_end;
        } else {
            run_group::<G, S>(cx, group)?;
            group += 1;
        }
        if group < groups {
            let point = || end_of_group(cx, group - 1);
            cx.context().team.barrier(point)?;
        }
        trace::end_group(cx, first, group - first);
    }
    let context = cx.context();
    if context.team.is_leader() {
        context.team.control.stamp(grid, true);
    }
    Ok(())
}

/// Runs the whole program of a context in a team of one block, with block
/// barriers between its groups.
///
/// # Errors
/// As [`run_program`].
#[inline(always)]
pub(super) fn run_in_block<G: Grid, S: WaveSet>(cx: ContextRef<G>) -> Result<(), Stop> {
    let grid = cx.grid();
    for group in 0..cx.context().tables.groups(grid) {
        run_group::<G, S>(cx, group)?;
        grid.block_barrier();
    }
    Ok(())
}

/// Runs all waves of a group, loops last.
///
/// # Errors
/// If the run stops.
#[inline(always)]
fn run_group<G: Grid, S: WaveSet>(cx: ContextRef<G>, index: u32) -> Result<(), Stop> {
    if run_waves::<G, S>(cx, index, OUTSIDE)? {
        run_loops::<G, Top, S>(cx, index)?;
    }
    Ok(())
}

/// Crosses `count` grid barriers, for measuring them.
///
/// # Errors
/// If the time budget ends first.
#[inline(always)]
pub fn cross_barriers<G: Grid>(grid: G, launch: Launch, count: u32) -> Result<(), Stop> {
    let context = open(grid, launch)?;
    for iteration in 0..count {
        context.team.barrier(|| ProgramPoint {
            iteration,
            ..ProgramPoint::default()
        })?;
    }
    Ok(())
}
