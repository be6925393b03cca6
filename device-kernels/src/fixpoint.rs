//! Loops that converge on the device.
//!
//! A fixpoint repeats its body groups until its frontier is empty, or until an
//! iteration raises no change. No host takes part: every block evaluates the
//! same counters after the same barrier and decides alike.

use crate::block::shared::BOOKS;
use crate::block::{tell, told};
use crate::context::{Context, Hand};
use crate::control::{LoopEnd, Place, Stop};
use crate::grid::Grid;
use crate::kernel::run_waves;
use crate::machine::Wave;
use crate::search_loop;
use crate::team::rounds_per_look;
use crate::waves::family;
use seawall_core::abi::control::FaultCode;
use seawall_core::abi::program::{FixpointRecord, NO_REGISTER};

/// Runs a fixpoint to its end. All lanes of the team take part.
///
/// # Errors
/// When the run stops; the fault record says why.
#[inline(always)]
pub fn run<G: Grid, const FAMILIES: u32>(hand: Hand<G>, wave: Wave) -> Result<(), Stop> {
    let grid = hand.grid();
    let record = FixpointRecord::from_parameters(wave.parameters(grid));
    if record.frontier == NO_REGISTER {
        return run_flagged::<G, FAMILIES>(hand, wave);
    }
    if FAMILIES & family::SEARCH != 0 {
        return search_loop::run::<G, FAMILIES>(hand, wave);
    }
    let (control, place) = (hand.context().team.control, place_of(grid, wave, 0));
    Err(control.fault(grid, FaultCode::UnknownOpcode, place))
}

/// Opens the books of a loop.
#[inline(always)]
pub(crate) fn open<G: Grid>(context: &Context<G>) {
    let team = &context.team;
    if team.is_conductor() {
        // SAFETY: fixed words of shared memory.
        unsafe { team.grid.shared_store(BOOKS, team.barriers()) };
    }
}

/// Closes the record of a loop.
#[inline(always)]
pub(crate) fn close<G: Grid>(context: &Context<G>, end: LoopEnd) {
    let (team, control) = (&context.team, context.team.control);
    if team.is_conductor() {
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
pub(crate) fn place_of<G: Grid>(grid: G, wave: Wave, iteration: u32) -> Place {
    Place {
        wave: wave.number(grid),
        opcode: wave.opcode(grid),
        iteration,
    }
}

/// Iterations between two looks at a GPU's clock.
const ITERATIONS_PER_LOOK: u32 = 16;

/// Repeats the body until an iteration leaves the changed flag untouched.
#[inline(never)]
fn run_flagged<G: Grid, const FAMILIES: u32>(hand: Hand<G>, wave: Wave) -> Result<(), Stop> {
    let (grid, tag) = (hand.grid(), hand.tag());
    open(&hand.context());
    // Tags grow over the whole run, so that a flag raised by an earlier loop or
    // iteration never counts for this one. Slow lanes may still use the last one.
    let next = || tag.set(grid, tag.now(grid).saturating_add(1));
    grid.block_barrier();
    if grid.lane() == 0 {
        next();
    }
    grid.block_barrier();
    let mut end = LoopEnd::default();
    loop {
        let record = FixpointRecord::from_parameters(wave.parameters(grid));
        let is_last = tag.now(grid) == u32::MAX;
        if end.iterations >= record.max_iterations || end.converged || is_last {
            break;
        }
        let iteration = end.iterations;
        let place = || place_of(grid, wave, iteration);
        for group in record.first_group..record.first_group.saturating_add(record.groups) {
            if group != record.first_group {
                hand.context().team.barrier(place)?;
            }
            run_waves::<G, FAMILIES>(hand, group, iteration)?;
        }
        let team = hand.context().team;
        team.barrier_and(place, || {
            tell(grid, team.control.changed(grid));
            next();
        })?;
        end.iterations += 1;
        // A fast block may be in the next iteration already and have raised a
        // later tag; it went on because the flag had this one.
        end.converged = told(grid) < tag.now(grid) - 1;
        let per_look = rounds_per_look::<G>(ITERATIONS_PER_LOOK);
        if end.iterations.is_multiple_of(per_look) && team.is_out_of_time(place) {
            return Err(Stop);
        }
    }
    // The next loop of the group raises later tags, which would look like more
    // to do to a block that has not read the flag yet.
    let context = hand.context();
    context
        .team
        .barrier(|| place_of(grid, wave, end.iterations))?;
    close(&context, end);
    Ok(())
}
