//! Loops that converge on the device.
//!
//! A fixpoint repeats its body groups until its frontier is empty, or until an
//! iteration raises no change. No host takes part: every block evaluates the
//! same counters after the same barrier and decides alike.

use crate::block::{tell, told};
use crate::control::{LoopEnd, Place, Stop};
use crate::grid::Grid;
use crate::kernel::run_waves;
use crate::machine::Wave;
use crate::search::narrow::{self, Bounds};
use crate::search::{Search, drive, shared_drive, visit::Marker};
use crate::waves::{self, Context, Hand, family};
use seawall_core::abi::control::FaultCode;
use seawall_core::abi::program::{FixpointRecord, NO_REGISTER, Opcode};
use seawall_core::abi::search::{DriveRecord, Step};

/// Runs a fixpoint to its end and gives the tag of its last iteration. All lanes of
/// the team take part.
///
/// # Errors
/// When the run stops; the fault record says why.
#[inline(always)]
pub fn run<G: Grid, const FAMILIES: u32>(hand: Hand<G>, wave: Wave) -> Result<u32, Stop> {
    let grid = hand.grid();
    let record = FixpointRecord::from_parameters(wave.parameters(grid));
    if record.frontier == NO_REGISTER {
        return run_flagged::<G, FAMILIES>(hand, wave);
    }
    if FAMILIES & family::SEARCH != 0 {
        run_search::<G, FAMILIES>(hand, wave)?;
        return Ok(hand.tag());
    }
    let (control, place) = (hand.context().team.control, place_of(grid, wave, 0));
    Err(control.fault(grid, FaultCode::UnknownOpcode, place))
}

/// Barriers that were crossed so far. Only the conductor may ask: another lane would
/// read what it writes.
#[inline(always)]
fn crossed<G: Grid>(context: &Context<G>) -> u32 {
    if context.team.is_conductor() {
        context.team.barriers()
    } else {
        0
    }
}

/// Closes the record of a loop whose first barrier was number `barriers`.
#[inline(always)]
fn close<G: Grid>(context: &Context<G>, barriers: u32, end: LoopEnd) {
    let (team, control) = (&context.team, context.team.control);
    if team.is_conductor() {
        let report = control.open_loop(team.grid);
        report.count_barriers(team.grid, crossed(context).wrapping_sub(barriers));
        report.finish(team.grid, end);
        control.close_loop(team.grid);
    }
}

fn place_of<G: Grid>(grid: G, wave: Wave, iteration: u32) -> Place {
    Place {
        wave: wave.number(grid),
        opcode: wave.opcode(grid),
        iteration,
    }
}

/// Steps of a search between two looks at the clock.
const STEPS_PER_LOOK: u32 = 64;

/// Iterations between two looks at the clock. A loop whose barriers are short
/// would otherwise never find out that its time is over.
const ITERATIONS_PER_LOOK: u32 = 16;

/// Repeats the body until an iteration leaves the changed flag untouched; gives the
/// tag of the last iteration.
#[inline(never)]
fn run_flagged<G: Grid, const FAMILIES: u32>(mut hand: Hand<G>, wave: Wave) -> Result<u32, Stop> {
    let grid = hand.grid();
    let barriers = crossed(&hand.context());
    let mut end = LoopEnd::default();
    loop {
        let record = FixpointRecord::from_parameters(wave.parameters(grid));
        if end.iterations >= record.max_iterations || end.converged {
            break;
        }
        // Tags grow over the whole run, so that a flag raised by an earlier
        // loop or iteration never counts for this one.
        hand = hand.with_tag(hand.tag().wrapping_add(1));
        let iteration = end.iterations;
        let place = || place_of(grid, wave, iteration);
        for group in record.first_group..record.first_group.saturating_add(record.groups) {
            if group != record.first_group {
                hand.context().team.barrier(place)?;
            }
            run_waves::<G, FAMILIES>(hand, group, place())?;
        }
        let team = hand.context().team;
        team.barrier_and(place, || tell(grid, team.control.changed(grid)))?;
        end.iterations += 1;
        // A fast block may be in the next iteration already and have raised a
        // later tag; it went on because the flag had this one.
        end.converged = hand.tag().wrapping_sub(told(grid)) as i32 > 0;
        if end.iterations.is_multiple_of(ITERATIONS_PER_LOOK) && team.is_out_of_time(place) {
            return Err(Stop);
        }
    }
    // The next loop of the group raises later tags, which would look like more
    // to do to a block that has not read the flag yet.
    let context = hand.context();
    context
        .team
        .barrier(|| place_of(grid, wave, end.iterations))?;
    close(&context, barriers, end);
    Ok(hand.tag())
}

/// Repeats the body until its frontier has no edges left.
#[inline(never)]
fn run_search<G: Grid, const FAMILIES: u32>(hand: Hand<G>, wave: Wave) -> Result<(), Stop> {
    let context = &hand.context();
    let grid = context.team.grid;
    let record = &FixpointRecord::from_parameters(wave.parameters(grid));
    let barriers = crossed(context);
    let control = context.team.control;
    let search = expansion(context, record)
        .map_err(|code| control.fault(grid, code, place_of(grid, wave, 0)))?;
    let alone = record.groups == 1
        && context
            .machine
            .group(grid, record.first_group)
            .is_some_and(|group| group.waves == 1);
    let mut slot = 0;
    if grid.lane() == 0 {
        shared_drive::publish(grid, &search.frontier.drive(grid, slot));
    }
    grid.block_barrier();
    let mut drive = shared_drive::read(grid);
    let mut steps = [0_u32; 7];
    while !is_over(&drive, record.max_iterations) {
        let iteration = drive.iteration;
        let place = || place_of(grid, wave, iteration);
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
                place: place(),
            };
            slot ^= 1;
            run_narrow(context, &search, slot, &bounds)?;
        } else {
            for group in record.first_group..record.first_group.saturating_add(record.groups) {
                if alone {
                    search.step(&context.team, &drive);
                } else {
                    share_drive(context, &search, &drive, place)?;
                    run_waves::<G, FAMILIES>(hand, group, place())?;
                    context.team.barrier(place)?;
                }
            }
            context.team.barrier_and(place, || decide(hand, &search))?;
        }
        drive = shared_drive::read(grid);
    }
    if context.team.is_conductor() {
        control.open_loop(grid).count_steps(grid, &steps);
    }
    if context.team.is_conductor() {
        search.frontier.set_drive(grid, 0, &drive);
    }
    context
        .team
        .barrier(|| place_of(grid, wave, drive.iteration))?;
    let end = LoopEnd {
        iterations: drive.iteration,
        converged: drive.converged != 0,
        frontier_max: drive.frontier_max,
    };
    close(context, barriers, end);
    Ok(())
}

/// One lane a block takes note of what the step found and decides what is
/// next; all blocks see the same numbers and decide alike.
#[inline(never)]
fn decide<G: Grid>(hand: Hand<G>, search: &Search<Marker>) {
    let (context, grid) = (hand.context(), hand.grid());
    let crew = narrow::crew_size(&context.team);
    let policy = &drive::policy_for::<G>(&context.machine.search_policy(grid), crew);
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
            if wave.opcode(grid) == Opcode::Expand as u32 && wave.source(grid, 0) == record.frontier
            {
                return waves::search::of_wave(context, wave);
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
    place: impl Fn() -> Place,
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
    context.team.barrier_and(
        || bounds.place,
        || {
            shared_drive::publish(grid, &search.frontier.drive(grid, slot));
        },
    )?;
    outcome.map(|_| ())
}
