//! Walks a program: group after group, a barrier between them.

use crate::context::{Context, Hand};
use crate::control::{Place, Stop};
use crate::grid::Grid;
use crate::launch::Launch;
use crate::machine::Wave;
use crate::team::Team;
use crate::waves::{self, family};
use crate::while_loop::{Top, run_loops};
use crate::{launched, straight};
use seawall_core::abi::control::FaultCode;
use seawall_core::abi::program::{GroupRecord, Opcode};

/// Opens a run: checks the record and sets the deadline.
///
/// # Errors
/// When the record is of another version.
#[inline(always)]
pub fn open<G: Grid>(grid: G, launch: Launch) -> Result<Context<G>, Stop> {
    let control = launch.control(grid);
    if !launch.is_current(grid) {
        return Err(control.fault(grid, FaultCode::BadLaunch, Place::default()));
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
pub fn resume<G: Grid>(grid: G, launch: Launch) -> Result<Context<G>, Stop> {
    // By one lane, as a block of this launch may fault while others ask; and asked early,
    // so that the answer is under way while the tables are.
    let ended = grid.lane() == 0 && launch.control(grid).is_stopped(grid);
    let context = open(grid, launch)?;
    if grid.block_any(ended) {
        return Err(Stop);
    }
    Ok(context)
}

/// Runs the whole program. Every lane of the grid calls this once; all blocks
/// must be co-resident.
///
/// # Errors
/// When the run stops; the control block's fault record says why.
#[inline(always)]
pub fn run_program<G: Grid, const FAMILIES: u32>(grid: G, launch: Launch) -> Result<(), Stop> {
    let context = open(grid, launch)?;
    if context.team.is_conductor() {
        context.team.control.stamp(grid, false);
    }
    // What stays the same is looked up again where it is needed: what a lane holds on
    // to while it calls, it keeps in local memory.
    let hand = context.hand();
    let groups = context.machine.groups(grid);
    let mut group = 0;
    while group < groups {
        let narrow_end = straight::end_of_run(hand, group, groups);
        if narrow_end > group {
            straight::run::<G, FAMILIES>(hand, group, narrow_end)?;
            group = narrow_end;
        } else {
            run_group::<G, FAMILIES>(hand, group)?;
            group += 1;
        }
        if group < groups {
            let place = || end_of_group(hand, group - 1);
            hand.context().team.barrier(place)?;
        }
    }
    let context = hand.context();
    if context.team.is_conductor() {
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
pub fn run_in_block<G: Grid, const FAMILIES: u32>(hand: Hand<G>) -> Result<(), Stop> {
    let grid = hand.grid();
    for group in 0..hand.context().machine.groups(grid) {
        run_group::<G, FAMILIES>(hand, group)?;
        grid.block_barrier();
    }
    Ok(())
}

/// The place that blocks are missing from at the barrier behind group
/// `index`: its last wave, as nobody can tell how far they came in it.
#[inline(never)]
pub fn end_of_group<G: Grid>(hand: Hand<G>, index: u32) -> Place {
    let context = hand.context();
    let (machine, grid) = (context.machine, context.team.grid);
    let last = machine.group(grid, index).and_then(|group| {
        machine.wave(
            grid,
            group
                .first_wave
                .saturating_add(group.waves)
                .saturating_sub(1),
        )
    });
    last.map_or_else(Place::default, |wave| Place {
        wave: wave.number(grid),
        opcode: wave.opcode(grid),
        iteration: 0,
    })
}

/// The record of group `index`.
#[inline(always)]
pub(crate) fn group_of<G: Grid>(hand: Hand<G>, index: u32, iteration: u32) -> Result<GroupRecord, Stop> {
    let context = hand.context();
    let group = context.machine.group(hand.grid(), index);
    group.ok_or_else(|| fault(hand, FaultCode::BadTable, iteration))
}

/// The record of wave `index`.
#[inline(always)]
pub(crate) fn wave_of<G: Grid>(hand: Hand<G>, index: u32, iteration: u32) -> Result<Wave, Stop> {
    let context = hand.context();
    let wave = context.machine.wave(hand.grid(), index);
    wave.ok_or_else(|| fault(hand, FaultCode::BadTable, iteration))
}

/// Reports a fault in an iteration of a loop, or [`OUTSIDE`].
#[inline(never)]
fn fault<G: Grid>(hand: Hand<G>, code: FaultCode, iteration: u32) -> Stop {
    report(hand, code, place(iteration))
}

/// [`fault`] of a wave.
#[inline(never)]
fn fault_of<G: Grid>(hand: Hand<G>, code: FaultCode, wave: Wave, iteration: u32) -> Stop {
    let grid = hand.grid();
    let place = Place {
        wave: wave.number(grid),
        opcode: wave.opcode(grid),
        ..place(iteration)
    };
    report(hand, code, place)
}

#[inline(always)]
fn report<G: Grid>(hand: Hand<G>, code: FaultCode, place: Place) -> Stop {
    hand.context().team.control.fault(hand.grid(), code, place)
}

#[inline(always)]
fn place(iteration: u32) -> Place {
    let iteration = if iteration == OUTSIDE { 0 } else { iteration };
    Place {
        iteration,
        ..Place::default()
    }
}

/// The iteration of what runs in no loop.
pub const OUTSIDE: u32 = u32::MAX;

/// Runs all waves of a group, loops last.
///
/// # Errors
/// When the run stops.
#[inline(always)]
pub fn run_group<G: Grid, const FAMILIES: u32>(hand: Hand<G>, index: u32) -> Result<(), Stop> {
    if run_waves::<G, FAMILIES>(hand, index, OUTSIDE)? {
        run_loops::<G, Top, FAMILIES>(hand, index)?;
    }
    Ok(())
}

/// Runs the waves of a group that are not loops, in an iteration of a loop or
/// [`OUTSIDE`], and tells whether others are.
///
/// # Errors
/// When a wave faults.
#[inline(never)]
pub fn run_waves<G: Grid, const FAMILIES: u32>(
    hand: Hand<G>,
    index: u32,
    iteration: u32,
) -> Result<bool, Stop> {
    let grid = hand.grid();
    let group = group_of(hand, index, iteration)?;
    let mut has_loops = false;
    for at in group.first_wave..group.first_wave.saturating_add(group.waves) {
        let wave = wave_of(hand, at, iteration)?;
        if is_loop::<FAMILIES>(wave.opcode(grid)) {
            if iteration != OUTSIDE {
                let code = FaultCode::NestedFixpoint;
                return Err(fault_of(hand, code, wave, iteration));
            }
            has_loops = true;
            continue;
        }
        note(hand, wave);
        if let Err(code) = waves::run::<G, FAMILIES>(hand, wave) {
            return Err(fault_of(hand, code, wave, iteration));
        }
    }
    Ok(has_loops)
}

/// Whether waves of this opcode are loops, in kernels that know them.
#[inline(always)]
const fn is_loop<const FAMILIES: u32>(opcode: u32) -> bool {
    opcode == Opcode::Fixpoint as u32
        || FAMILIES & family::CODE != 0 && opcode == Opcode::While as u32
}

#[inline(always)]
pub(crate) fn note<G: Grid>(hand: Hand<G>, wave: Wave) {
    let team = hand.context().team;
    if team.is_conductor() {
        team.control.note_wave(team.grid, wave.number(team.grid));
    }
}

/// Runs one top-level group as a launch of its own; fixpoints are left out.
///
/// # Errors
/// When a wave faults.
#[inline(always)]
pub fn run_one_group<G: Grid, const FAMILIES: u32>(
    grid: G,
    launch: Launch,
    group: u32,
) -> Result<(), Stop> {
    let context = resume(grid, launch)?;
    run_waves::<G, FAMILIES>(context.hand(), group, OUTSIDE).map(|_| ())
}

/// Crosses `count` grid barriers, for measuring them.
///
/// # Errors
/// When the time budget ends first.
#[inline(always)]
pub fn cross_barriers<G: Grid>(grid: G, launch: Launch, count: u32) -> Result<(), Stop> {
    let context = open(grid, launch)?;
    for iteration in 0..count {
        context.team.barrier(|| Place {
            iteration,
            ..Place::default()
        })?;
    }
    Ok(())
}

pub use launched::{again, begin_loop, loop_goes_on, run_body};
