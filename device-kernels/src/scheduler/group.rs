//! One group: its waves one after another, and their faults.

use super::sets::WaveSet;
use super::wave::run_wave;
use crate::algorithms::family;
use crate::collectives::context::ContextRef;
use crate::machine::Grid;
use crate::tables::Wave;
use crate::tables::control::{ProgramPoint, Stop};
use seawall_core::abi::control::FaultCode;
use seawall_core::abi::program::{GroupRecord, Opcode};

/// The position at which blocks are missing from the barrier after group `index`: its last wave,
/// since it is unknown how far they came.
#[inline(never)]
pub(super) fn end_of_group<G: Grid>(cx: ContextRef<G>, index: u32) -> ProgramPoint {
    let context = cx.context();
    let (tables, grid) = (context.tables, context.team.grid);
    let last = tables.group(grid, index).and_then(|group| {
        tables.wave(
            grid,
            group
                .first_wave
                .saturating_add(group.waves)
                .saturating_sub(1),
        )
    });
    last.map_or_else(ProgramPoint::default, |wave| ProgramPoint {
        wave: wave.number(grid),
        opcode: wave.opcode(grid),
        iteration: 0,
    })
}

/// The record of group `index`.
#[inline(always)]
pub(super) fn group_of<G: Grid>(
    cx: ContextRef<G>,
    index: u32,
    iteration: u32,
) -> Result<GroupRecord, Stop> {
    let context = cx.context();
    let group = context.tables.group(cx.grid(), index);
    group.ok_or_else(|| fault(cx, FaultCode::BadTable, iteration))
}

/// The record of wave `index`.
#[inline(always)]
pub(super) fn wave_of<G: Grid>(
    cx: ContextRef<G>,
    index: u32,
    iteration: u32,
) -> Result<Wave, Stop> {
    let context = cx.context();
    let wave = context.tables.wave(cx.grid(), index);
    wave.ok_or_else(|| fault(cx, FaultCode::BadTable, iteration))
}

/// Reports a fault in iteration `iteration` of a loop, or [`OUTSIDE`] of loops.
#[inline(never)]
fn fault<G: Grid>(cx: ContextRef<G>, code: FaultCode, iteration: u32) -> Stop {
    report(cx, code, point(iteration))
}

/// [`fault`] of a wave.
#[inline(never)]
fn fault_of<G: Grid>(cx: ContextRef<G>, code: FaultCode, wave: Wave, iteration: u32) -> Stop {
    let grid = cx.grid();
    let point = ProgramPoint {
        wave: wave.number(grid),
        opcode: wave.opcode(grid),
        ..point(iteration)
    };
    report(cx, code, point)
}

#[inline(always)]
fn report<G: Grid>(cx: ContextRef<G>, code: FaultCode, point: ProgramPoint) -> Stop {
    cx.context().team.control.fault(cx.grid(), code, point)
}

#[inline(always)]
fn point(iteration: u32) -> ProgramPoint {
    let iteration = if iteration == OUTSIDE { 0 } else { iteration };
    ProgramPoint {
        iteration,
        ..ProgramPoint::default()
    }
}

/// The iteration of waves outside loops.
pub(super) const OUTSIDE: u32 = u32::MAX;

/// Runs the waves of a group that are not loops, in an iteration of a loop or [`OUTSIDE`], and
/// returns whether others are.
///
/// # Errors
/// If a wave faults.
#[inline(never)]
pub(super) fn run_waves<G: Grid, S: WaveSet>(
    cx: ContextRef<G>,
    index: u32,
    iteration: u32,
) -> Result<bool, Stop> {
    let grid = cx.grid();
    let group = group_of(cx, index, iteration)?;
    let mut has_loops = false;
    for at in group.first_wave..group.first_wave.saturating_add(group.waves) {
        let wave = wave_of(cx, at, iteration)?;
        if is_loop::<S>(wave.opcode(grid)) {
            if iteration != OUTSIDE {
                let code = FaultCode::NestedFixpoint;
                return Err(fault_of(cx, code, wave, iteration));
            }
            has_loops = true;
            continue;
        }
        note(cx, wave);
        if let Err(code) = run_wave::<G, S>(cx, wave) {
            return Err(fault_of(cx, code, wave, iteration));
        }
    }
    Ok(has_loops)
}

/// Whether waves of this opcode are loops, in kernels that support them.
#[inline(always)]
const fn is_loop<S: WaveSet>(opcode: u32) -> bool {
    opcode == Opcode::Fixpoint as u32
        || S::FAMILIES & family::CODE != 0 && opcode == Opcode::While as u32
}

#[inline(always)]
pub(super) fn note<G: Grid>(cx: ContextRef<G>, wave: Wave) {
    let team = cx.context().team;
    if team.is_leader() {
        team.control.note_wave(team.grid, wave.number(team.grid));
    }
}
