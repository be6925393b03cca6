//! Loops that converge on the device.
//!
//! A fixpoint repeats its body groups until its frontier is empty, or until an iteration
//! raises no change. No host takes part: every block reads the same counters after the
//! same barrier and decides alike.

use super::counters::{close, open, point_of};
use super::group::run_waves;
use super::search_loop::run_search;
use super::sets::WaveSet;
use super::single;
use super::trace;
use crate::algorithms::family;
use crate::collectives::context::ContextRef;
use crate::collectives::team::rounds_per_poll;
use crate::machine::Grid;
use crate::machine::shared::BROADCAST;
use crate::tables::Wave;
use crate::tables::control::{LoopEnd, Stop};
use seawall_core::abi::control::FaultCode;
use seawall_core::abi::program::{FixpointRecord, NO_REGISTER};

/// Runs a fixpoint to its end. All lanes of the team take part.
///
/// # Errors
/// If the run stops; the fault record says why.
#[inline(always)]
pub(super) fn run_fixpoint<G: Grid, S: WaveSet>(cx: ContextRef<G>, wave: Wave) -> Result<(), Stop> {
    let grid = cx.grid();
    let record = FixpointRecord::from_parameters(wave.parameters(grid));
    // Loops are built twice, so that rounds of a run without a trace do not check for one.
    let traced = cx.is_traced();
    if record.frontier == NO_REGISTER {
        return if traced {
            run_flagged::<G, S, true>(cx, wave)
        } else {
            run_flagged::<G, S, false>(cx, wave)
        };
    }
    if S::FAMILIES & family::SEARCH != 0 {
        return if traced {
            run_search::<G, S, true>(cx, wave)
        } else {
            run_search::<G, S, false>(cx, wave)
        };
    }
    let (control, point) = (cx.context().team.control, point_of(grid, wave, 0));
    Err(control.fault(grid, FaultCode::UnknownOpcode, point))
}

/// Iterations between two reads of a GPU's clock.
const ITERATIONS_PER_LOOK: u32 = 16;

/// Repeats the body until an iteration leaves the changed flag untouched.
#[inline(never)]
fn run_flagged<G: Grid, S: WaveSet, const TRACED: bool>(
    cx: ContextRef<G>,
    wave: Wave,
) -> Result<(), Stop> {
    let (grid, tag) = (cx.grid(), cx.tag());
    open(&cx.context());
    // Tags grow over the whole run, so a flag raised by an earlier loop or iteration
    // never counts for this one. Slow lanes may still use the last tag.
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
        if single::suits(cx) && single::is_narrow(cx, &record, single::BEGINS) {
            single::run_single::<G, S, TRACED>(cx, wave, &mut end)?;
            continue;
        }
        let iteration = end.iterations;
        let point = || point_of(grid, wave, iteration);
        for group in record.first_group..record.first_group.saturating_add(record.groups) {
            if group != record.first_group {
                cx.context().team.barrier(point)?;
                if TRACED {
                    trace::end_group(cx, group - 1, 1);
                }
            }
            if TRACED {
                trace::begin_group(cx, group);
            }
            run_waves::<G, S>(cx, group, iteration)?;
        }
        let team = cx.context().team;
        team.barrier_and(point, || {
            BROADCAST.store(grid, team.control.changed(grid));
            next();
        })?;
        if TRACED {
            let after = record.first_group.saturating_add(record.groups);
            trace::end_group(cx, after.saturating_sub(1), 1);
        }
        end.iterations += 1;
        // A fast block may have raised the next iteration's tag already; it went on since the flag
        // had this tag.
        end.converged = BROADCAST.load(grid) < tag.now(grid) - 1;
        let per_look = rounds_per_poll::<G>(ITERATIONS_PER_LOOK);
        if end.iterations.is_multiple_of(per_look) && team.is_out_of_time(point) {
            return Err(Stop);
        }
    }
    // The next loop of the group raises later tags. A block that has not read the flag yet would
    // take them for a change in this loop.
    let context = cx.context();
    context
        .team
        .barrier(|| point_of(grid, wave, end.iterations))?;
    close(&context, end);
    Ok(())
}
