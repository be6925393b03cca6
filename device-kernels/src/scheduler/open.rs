//! The start of a run, or of a launch that is a part of one.

use crate::collectives::context::Context;
use crate::collectives::team::Team;
use crate::machine::Grid;
use crate::tables::control::{ProgramPoint, Stop};
use crate::tables::launch::Launch;
use seawall_core::abi::control::FaultCode;

/// Opens a run: checks the record and sets the deadline.
///
/// # Errors
/// If the record is of another version, or its tables were planned for another graph or machine.
#[inline(always)]
pub(super) fn open<G: Grid>(grid: G, launch: Launch) -> Result<Context<G>, Stop> {
    let control = launch.control(grid);
    if !launch.is_current(grid) {
        return Err(control.fault(grid, FaultCode::BadLaunch, ProgramPoint::default()));
    }
    // The digest beside the graph is in flight while the tables are copied.
    let is_stale = launch.is_stale(grid);
    let deadline = grid.now_ns().saturating_add(launch.time_budget_ns(grid));
    let context = Context::open(Team::whole(grid, control, deadline), launch);
    if is_stale {
        return Err(control.fault(grid, FaultCode::StalePlan, ProgramPoint::default()));
    }
    Ok(context)
}

/// [`open`] for a launch that is a part of a run. If an earlier launch ended the run, it
/// left work unfinished, on which this one must not rely. A block operation.
///
/// # Errors
/// As [`open`], and if the run has ended.
#[inline(always)]
pub(super) fn resume<G: Grid>(grid: G, launch: Launch) -> Result<Context<G>, Stop> {
    // One lane reads it, since a block of this launch may fault while others read. It does so
    // early, so that the load is in flight while the tables are copied.
    let ended = grid.lane() == 0 && launch.control(grid).is_stopped(grid);
    let context = open(grid, launch)?;
    if grid.block_any(ended) {
        return Err(Stop);
    }
    Ok(context)
}
