//! Walks a program: group after group, a barrier between them.

use crate::control::{Place, Stop};
use crate::grid::Grid;
use crate::machine::Machine;
use crate::team::Team;
use crate::waves::{self, Context};
use crate::{fixpoint, launched, straight};
use seawall_core::abi::control::FaultCode;
use seawall_core::abi::program::{GroupRecord, Opcode, WaveRecord};

/// Opens a run: checks the record and sets the deadline.
///
/// # Errors
/// When the record is of another version.
#[inline(always)]
pub fn open<G: Grid>(grid: G, machine: Machine) -> Result<Context<G>, Stop> {
    let control = machine.control(grid);
    if !machine.is_current(grid) {
        return Err(control.fault(grid, FaultCode::BadLaunch, Place::default()));
    }
    let deadline = grid.now_ns().saturating_add(machine.time_budget_ns(grid));
    Ok(Context {
        team: Team::whole(grid, control, deadline),
        machine,
        tag: 0,
    })
}

/// Runs the whole program. Every lane of the grid calls this once; all blocks
/// must be co-resident.
///
/// # Errors
/// When the run stops; the control block's fault record says why.
#[inline(always)]
pub fn run_program<G: Grid, const FAMILIES: u32>(grid: G, machine: Machine) -> Result<(), Stop> {
    let mut context = open(grid, machine)?;
    if context.team.is_conductor() {
        context.team.control.stamp(grid, false);
    }
    let groups = machine.groups(grid);
    let mut group = 0;
    while group < groups {
        let narrow_end = straight::end_of_run(&context, group, groups);
        let place = end_of_group(&context, narrow_end.max(group + 1) - 1);
        if narrow_end > group {
            straight::run::<G, FAMILIES>(&context, (group, narrow_end), place)?;
            group = narrow_end;
        } else {
            run_group::<G, FAMILIES>(&mut context, group)?;
            group += 1;
        }
        if group < groups {
            context.team.barrier(place)?;
        }
    }
    if context.team.is_conductor() {
        context.team.control.stamp(grid, true);
    }
    Ok(())
}

/// Runs the whole program of `context` in a team of one block, with block
/// barriers between its groups.
///
/// # Errors
/// As [`run_program`].
#[inline(always)]
pub fn run_in_block<G: Grid, const FAMILIES: u32>(context: &mut Context<G>) -> Result<(), Stop> {
    for group in 0..context.machine.groups(context.team.grid) {
        run_group::<G, FAMILIES>(context, group)?;
        context.team.barrier(Place::default())?;
    }
    Ok(())
}

/// The place that blocks are missing from at the barrier behind group
/// `index`: its last wave, as nobody can tell how far they came in it.
#[inline(never)]
fn end_of_group<G: Grid>(context: &Context<G>, index: u32) -> Place {
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
        wave: wave.wave,
        opcode: wave.opcode,
        iteration: 0,
    })
}

/// The record of group `index`.
#[inline(always)]
fn group_of<G: Grid>(context: &Context<G>, index: u32, place: Place) -> Result<GroupRecord, Stop> {
    context
        .machine
        .group(context.team.grid, index)
        .ok_or_else(|| {
            context
                .team
                .control
                .fault(context.team.grid, FaultCode::BadLaunch, place)
        })
}

/// The record of wave `index`.
#[inline(always)]
fn wave_of<G: Grid>(context: &Context<G>, index: u32, place: Place) -> Result<WaveRecord, Stop> {
    context
        .machine
        .wave(context.team.grid, index)
        .ok_or_else(|| {
            context
                .team
                .control
                .fault(context.team.grid, FaultCode::BadLaunch, place)
        })
}

/// Runs all waves of a group, fixpoints last.
///
/// # Errors
/// When the run stops.
#[inline(always)]
pub fn run_group<G: Grid, const FAMILIES: u32>(
    context: &mut Context<G>,
    index: u32,
) -> Result<(), Stop> {
    let place = Place::default();
    run_waves::<G, FAMILIES>(context, index, place)?;
    let group = group_of(context, index, place)?;
    for at in group.first_wave..group.first_wave.saturating_add(group.waves) {
        let wave = wave_of(context, at, place)?;
        if wave.opcode == Opcode::Fixpoint as u32 {
            note(context, &wave);
            fixpoint::run::<G, FAMILIES>(context, &wave)?;
        }
    }
    Ok(())
}

/// Runs the waves of a group that are not fixpoints.
///
/// # Errors
/// When a wave faults.
#[inline(always)]
pub fn run_waves<G: Grid, const FAMILIES: u32>(
    context: &Context<G>,
    index: u32,
    place: Place,
) -> Result<(), Stop> {
    let group = group_of(context, index, place)?;
    for at in group.first_wave..group.first_wave.saturating_add(group.waves) {
        let wave = wave_of(context, at, place)?;
        if wave.opcode == Opcode::Fixpoint as u32 {
            if place.opcode == Opcode::Fixpoint as u32 {
                return Err(context.team.control.fault(
                    context.team.grid,
                    FaultCode::NestedFixpoint,
                    place,
                ));
            }
            continue;
        }
        note(context, &wave);
        if let Err(code) = waves::run::<G, FAMILIES>(context, &wave) {
            let place = Place {
                wave: wave.wave,
                opcode: wave.opcode,
                ..place
            };
            return Err(context.team.control.fault(context.team.grid, code, place));
        }
    }
    Ok(())
}

#[inline(always)]
fn note<G: Grid>(context: &Context<G>, wave: &WaveRecord) {
    if context.team.is_conductor() {
        context.team.control.note_wave(context.team.grid, wave.wave);
    }
}

/// Runs one top-level group as a launch of its own; fixpoints are left out.
///
/// # Errors
/// When a wave faults.
#[inline(always)]
pub fn run_one_group<G: Grid, const FAMILIES: u32>(
    grid: G,
    machine: Machine,
    group: u32,
) -> Result<(), Stop> {
    let context = open(grid, machine)?;
    run_waves::<G, FAMILIES>(&context, group, Place::default())
}

/// Crosses `count` grid barriers, for measuring them.
///
/// # Errors
/// When the time budget ends first.
#[inline(always)]
pub fn cross_barriers<G: Grid>(grid: G, machine: Machine, count: u32) -> Result<(), Stop> {
    let context = open(grid, machine)?;
    for iteration in 0..count {
        let place = Place {
            iteration,
            ..Place::default()
        };
        context.team.barrier(place)?;
    }
    Ok(())
}

pub use launched::{begin_loop, run_body};
