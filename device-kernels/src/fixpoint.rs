//! Loops that converge on the device.
//!
//! A fixpoint repeats its body groups until its frontier is empty, or until an
//! iteration raises no change. No host takes part: every block evaluates the
//! same counters after the same barrier and decides alike.

use crate::block::{tell, told};
use crate::control::{LoopEnd, Place, Stop};
use crate::grid::Grid;
use crate::kernel::run_waves;
use crate::search::narrow::{self, Bounds};
use crate::search::{Search, drive, shared_drive, visit::Marker};
use crate::waves::{self, Context, family};
use seawall_core::abi::control::FaultCode;
use seawall_core::abi::program::{FixpointRecord, NO_REGISTER, Opcode, WaveRecord};
use seawall_core::abi::search::{DriveRecord, SearchPolicy, Step};

/// Runs a fixpoint to its end. All lanes of the team take part.
///
/// # Errors
/// When the run stops; the fault record says why.
#[inline(never)]
pub fn run<G: Grid, const FAMILIES: u32>(
    context: &mut Context<G>,
    wave: &WaveRecord,
) -> Result<(), Stop> {
    let record = FixpointRecord::from_parameters(wave.parameters);
    // Only the conductor may ask: another lane would read what it writes.
    let crossed = |context: &Context<G>| {
        if context.team.is_conductor() {
            context.team.barriers()
        } else {
            0
        }
    };
    let barriers = crossed(context);
    let end = if record.frontier == NO_REGISTER {
        run_flagged::<G, FAMILIES>(context, wave, &record)?
    } else if FAMILIES & family::SEARCH != 0 {
        run_search::<G, FAMILIES>(context, wave, &record)?
    } else {
        let place = place_of(wave, 0);
        return Err(context
            .team
            .control
            .fault(context.team.grid, FaultCode::UnknownOpcode, place));
    };
    let (team, control) = (&context.team, context.team.control);
    if team.is_conductor() {
        let report = control.open_loop(team.grid);
        report.count_barriers(team.grid, crossed(context).wrapping_sub(barriers));
        report.finish(team.grid, end);
        control.close_loop(team.grid);
    }
    Ok(())
}

fn place_of(wave: &WaveRecord, iteration: u32) -> Place {
    Place {
        wave: wave.wave,
        opcode: wave.opcode,
        iteration,
    }
}

/// Steps of a search between two looks at the clock.
const STEPS_PER_LOOK: u32 = 64;

/// Iterations between two looks at the clock. A loop whose barriers are short
/// would otherwise never find out that its time is over.
const ITERATIONS_PER_LOOK: u32 = 16;

/// Repeats the body until an iteration leaves the changed flag untouched.
#[inline(always)]
fn run_flagged<G: Grid, const FAMILIES: u32>(
    context: &mut Context<G>,
    wave: &WaveRecord,
    record: &FixpointRecord,
) -> Result<LoopEnd, Stop> {
    let mut end = LoopEnd::default();
    while end.iterations < record.max_iterations && !end.converged {
        // Tags grow over the whole run, so that a flag raised by an earlier
        // loop or iteration never counts for this one.
        context.tag = context.tag.wrapping_add(1);
        let place = place_of(wave, end.iterations);
        for group in record.first_group..record.first_group.saturating_add(record.groups) {
            if group != record.first_group {
                context.team.barrier(place)?;
            }
            run_waves::<G, FAMILIES>(context, group, place)?;
        }
        let (grid, control) = (context.team.grid, context.team.control);
        context
            .team
            .barrier_and(place, || tell(grid, control.changed(grid)))?;
        end.iterations += 1;
        // A fast block may be in the next iteration already and have raised a
        // later tag; it went on because the flag had this one.
        end.converged = context.tag.wrapping_sub(told(grid)) as i32 > 0;
        if end.iterations.is_multiple_of(ITERATIONS_PER_LOOK) && context.team.is_out_of_time(place)
        {
            return Err(Stop);
        }
    }
    // The next loop of the group raises later tags, which would look like more
    // to do to a block that has not read the flag yet.
    context.team.barrier(place_of(wave, end.iterations))?;
    Ok(end)
}

/// Repeats the body until its frontier has no edges left.
#[inline(always)]
fn run_search<G: Grid, const FAMILIES: u32>(
    context: &Context<G>,
    wave: &WaveRecord,
    record: &FixpointRecord,
) -> Result<LoopEnd, Stop> {
    let grid = context.team.grid;
    let control = context.team.control;
    let search =
        expansion(context, record).map_err(|code| control.fault(grid, code, place_of(wave, 0)))?;
    let alone = record.groups == 1
        && context
            .machine
            .group(grid, record.first_group)
            .is_some_and(|group| group.waves == 1);
    let crew = narrow::crew_size(&context.team);
    let policy = drive::policy_for::<G>(&context.machine.search_policy(grid), crew);
    let mut slot = 0;
    if grid.lane() == 0 {
        shared_drive::publish(grid, &search.frontier.drive(grid, slot));
    }
    grid.block_barrier();
    let mut drive = shared_drive::read(grid);
    let mut steps = [0_u32; 7];
    while !is_over(&drive, record.max_iterations) {
        let place = place_of(wave, drive.iteration);
        if drive.step.is_multiple_of(STEPS_PER_LOOK) && context.team.is_out_of_time(place) {
            return Err(Stop);
        }
        if context.team.is_conductor() {
            steps[drive.next as usize % 7] += 1;
        }
        if alone && drive.next == Step::Fused as u32 {
            let bounds = Bounds {
                machine: context.machine,
                max_iterations: record.max_iterations,
                place,
            };
            slot ^= 1;
            run_narrow(context, &search, slot, &bounds)?;
        } else {
            for group in record.first_group..record.first_group.saturating_add(record.groups) {
                if alone {
                    search.step(&context.team, &drive);
                } else {
                    share_drive(context, &search, &drive, place)?;
                    run_waves::<G, FAMILIES>(context, group, place)?;
                    context.team.barrier(place)?;
                }
            }
            context
                .team
                .barrier_and(place, || decide(grid, &search, &policy))?;
        }
        drive = shared_drive::read(grid);
    }
    if context.team.is_conductor() {
        control.open_loop(grid).count_steps(grid, &steps);
    }
    if context.team.is_conductor() {
        search.frontier.set_drive(grid, 0, &drive);
    }
    context.team.barrier(place_of(wave, drive.iteration))?;
    Ok(LoopEnd {
        iterations: drive.iteration,
        converged: drive.converged != 0,
        frontier_max: drive.frontier_max,
    })
}

/// One lane a block takes note of what the step found and decides what is
/// next; all blocks see the same numbers and decide alike.
#[inline(never)]
fn decide<G: Grid>(grid: G, search: &Search<Marker>, policy: &SearchPolicy) {
    let mut drive = shared_drive::read(grid);
    let found = search.frontier.found(grid, drive.step.wrapping_add(1));
    drive::advance::<G>(&mut drive, &found, policy);
    shared_drive::publish(grid, &drive);
}

/// Whether the loop ends before the step that `drive` asks for. A compaction
/// that brings visited bits up to date still runs behind the last iteration.
#[must_use]
pub fn is_over(drive: &DriveRecord, max_iterations: u32) -> bool {
    drive.converged != 0
        || (drive.iteration >= max_iterations && drive.bitset_only != drive::held::NEXT)
}

/// The expansion in the body of a frontier loop.
#[inline(always)]
fn expansion<G: Grid>(
    context: &Context<G>,
    record: &FixpointRecord,
) -> Result<Search<Marker>, FaultCode> {
    let (machine, grid) = (context.machine, context.team.grid);
    for group in record.first_group..record.first_group.saturating_add(record.groups) {
        let group = machine.group(grid, group).ok_or(FaultCode::BadLaunch)?;
        for index in group.first_wave..group.first_wave.saturating_add(group.waves) {
            let wave = machine.wave(grid, index).ok_or(FaultCode::BadLaunch)?;
            if wave.opcode == Opcode::Expand as u32 && wave.sources[0] == record.frontier {
                return waves::search::of_wave(context, &wave);
            }
        }
    }
    Err(FaultCode::BadLaunch)
}

/// Lets waves of a longer body see the drive record in memory.
#[inline(always)]
fn share_drive<G: Grid>(
    context: &Context<G>,
    search: &Search<Marker>,
    drive: &DriveRecord,
    place: Place,
) -> Result<(), Stop> {
    if context.team.is_conductor() {
        search.frontier.set_drive(context.team.grid, 0, drive);
    }
    context.team.barrier(place)
}

/// Lets the first blocks search alone while the others wait for their drive
/// record in `slot`.
#[inline(always)]
fn run_narrow<G: Grid>(
    context: &Context<G>,
    search: &Search<Marker>,
    slot: u32,
    bounds: &Bounds,
) -> Result<(), Stop> {
    let grid = context.team.grid;
    let mut outcome = Ok(0);
    if context.team.rank() < narrow::crew_size(&context.team) {
        outcome = search.narrow(&context.team, slot, bounds);
        if context.team.is_conductor() {
            let iterations = outcome.unwrap_or(0);
            context
                .team
                .control
                .open_loop(grid)
                .count_block_iterations(grid, iterations);
        }
    }
    context.team.barrier_and(bounds.place, || {
        shared_drive::publish(grid, &search.frontier.drive(grid, slot));
    })?;
    outcome.map(|_| ())
}
