//! Opening a run, or a launch that is a part of one.

use crate::context::Context;
use crate::control::{ProgramPoint, Stop};
use crate::grid::Grid;
use crate::launch::Launch;
use crate::team::Team;
use seawall_core::abi::control::FaultCode;

/// Opens a run: checks the record and sets the deadline.
///
/// # Errors
/// When the record is of another version.
#[inline(always)]
pub(super) fn open<G: Grid>(grid: G, launch: Launch) -> Result<Context<G>, Stop> {
    let control = launch.control(grid);
    if !launch.is_current(grid) {
        return Err(control.fault(grid, FaultCode::BadLaunch, ProgramPoint::default()));
    }
    let deadline = grid.now_ns().saturating_add(launch.time_budget_ns(grid));
    Ok(Context::open(Team::whole(grid, control, deadline), launch))
}

/// [`open`] for a launch that is a part of a run, which an earlier launch may have ended:
/// what that one did not finish, this one must not rely on. A block operation.
///
/// # Errors
/// As [`open`], and when the run has ended.
#[inline(always)]
pub(super) fn resume<G: Grid>(grid: G, launch: Launch) -> Result<Context<G>, Stop> {
    // By one lane, as a block of this launch may fault while others ask; and asked early,
    // so that the answer is under way while the tables are.
    let ended = grid.lane() == 0 && launch.control(grid).is_stopped(grid);
    let context = open(grid, launch)?;
    if grid.block_any(ended) {
        return Err(Stop);
    }
    Ok(context)
}
