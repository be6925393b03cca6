//! Loops on a register, which may hold other loops.
//!
//! All blocks read word 0 of the register after the same barrier and decide alike. A slow block may
//! read it while a fast one runs the first body group already; the host checks that this group does
//! not change the word. The nesting of [`Level`]s limits the depth of loops, since a GPU's stack
//! size must be known before a launch.

use super::counters::point_of;
use super::fixpoint::run_fixpoint;
use super::group::{OUTSIDE, group_of, note, run_waves, wave_of};
use super::sets::WaveSet;
use super::trace;
use crate::algorithms::family;
use crate::collectives::block::broadcast;
use crate::collectives::context::ContextRef;
use crate::collectives::team::rounds_per_poll;
use crate::machine::Grid;
use crate::machine::memory::Words;
use crate::machine::shared::BROADCAST;
use crate::tables::Wave;
use crate::tables::control::{LoopEnd, Stop};
use core::marker::PhantomData;
use seawall_core::abi::code::DEPTH_MAX;
use seawall_core::abi::control::FaultCode;
use seawall_core::abi::program::{Opcode, WhileRecord};

/// Iterations between two reads of a GPU's clock.
const ITERATIONS_PER_LOOK: u32 = 16;

/// Depths of loops.
pub(super) trait Level {
    /// Number of levels below.
    const LEFT: u32;

    /// Runs a loop to its end. All lanes of the team take part.
    ///
    /// # Errors
    /// [`Stop`] of the run; the fault record says why.
    fn run<G: Grid, S: WaveSet>(cx: ContextRef<G>, wave: Wave) -> Result<(), Stop>;
}

/// Below the deepest loop.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bottom;

/// A loop that holds loops of level `L`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Above<L>(PhantomData<L>);

/// A loop on the top level.
pub(super) type Top = Above<Above<Above<Bottom>>>;
const _: () = assert!(Top::LEFT == DEPTH_MAX);

impl Level for Bottom {
    const LEFT: u32 = 0;

    #[inline(always)]
    fn run<G: Grid, S: WaveSet>(cx: ContextRef<G>, wave: Wave) -> Result<(), Stop> {
        Err(fault(cx, wave, FaultCode::NestedFixpoint, 0))
    }
}

impl<L: Level> Level for Above<L> {
    const LEFT: u32 = L::LEFT + 1;

    #[inline(never)]
    fn run<G: Grid, S: WaveSet>(cx: ContextRef<G>, wave: Wave) -> Result<(), Stop> {
        let grid = cx.grid();
        let counters = Counters::open(cx);
        let mut end = LoopEnd::default();
        let mut goes_on = broadcast(grid, condition(cx, wave)?.load(grid, 0)) != 0;
        while goes_on && end.iterations < record(cx, wave).max_iterations {
            iteration::<G, L, S>(cx, wave, end.iterations)?;
            let condition = condition(cx, wave)?;
            let team = cx.context().team;
            let point = || point_of(grid, wave, end.iterations);
            team.barrier_and(point, || BROADCAST.store(grid, condition.load(grid, 0)))?;
            goes_on = BROADCAST.load(grid) != 0;
            let body = record(cx, wave);
            let after = body.first_group.saturating_add(body.groups);
            trace::end_group(cx, after.saturating_sub(1), 1);
            let per_look = rounds_per_poll::<G>(ITERATIONS_PER_LOOK);
            if (end.iterations + 1).is_multiple_of(per_look) && team.is_out_of_time(point) {
                return Err(Stop);
            }
            end.iterations += 1;
        }
        end.converged = !goes_on;
        if L::LEFT + 1 == Top::LEFT {
            counters.close(cx, end);
        }
        Ok(())
    }
}

/// Runs the body groups once, with barriers between them.
#[inline(always)]
fn iteration<G: Grid, L: Level, S: WaveSet>(
    cx: ContextRef<G>,
    wave: Wave,
    iteration: u32,
) -> Result<(), Stop> {
    let WhileRecord {
        first_group,
        groups,
        ..
    } = record(cx, wave);
    let mut group = first_group;
    while group < first_group.saturating_add(groups) {
        if group != first_group {
            let point = || point_of(cx.grid(), wave, iteration);
            cx.context().team.barrier(point)?;
            trace::end_group(cx, group - 1, 1);
        }
        trace::begin_group(cx, group);
        if run_waves::<G, S>(cx, group, OUTSIDE)? {
            run_loops::<G, L, S>(cx, group)?;
        }
        group += 1;
    }
    Ok(())
}

/// Runs the loops of a group.
///
/// # Errors
/// [`Stop`] of the run.
#[inline(always)]
pub(super) fn run_loops<G: Grid, L: Level, S: WaveSet>(
    cx: ContextRef<G>,
    index: u32,
) -> Result<(), Stop> {
    let grid = cx.grid();
    let group = group_of(cx, index, OUTSIDE)?;
    for at in group.first_wave..group.first_wave.saturating_add(group.waves) {
        let wave = wave_of(cx, at, OUTSIDE)?;
        let opcode = wave.opcode(grid);
        if opcode == Opcode::Fixpoint as u32 {
            note(cx, wave);
            run_fixpoint::<G, S>(cx, wave)?;
        }
        if S::FAMILIES & family::CODE != 0 && opcode == Opcode::While as u32 {
            note(cx, wave);
            L::run::<G, S>(cx, wave)?;
        }
    }
    Ok(())
}

#[inline(always)]
fn record<G: Grid>(cx: ContextRef<G>, wave: Wave) -> WhileRecord {
    WhileRecord::from_parameters(wave.parameters(cx.grid()))
}

/// Register that a loop reads.
#[inline(always)]
fn condition<G: Grid>(cx: ContextRef<G>, wave: Wave) -> Result<Words, Stop> {
    let tables = cx.context().tables;
    let found = tables.register_of(cx.grid(), record(cx, wave).condition, 1);
    found.map_err(|code| fault(cx, wave, code, 0))
}

#[inline(never)]
fn fault<G: Grid>(cx: ContextRef<G>, wave: Wave, code: FaultCode, iteration: u32) -> Stop {
    let point = point_of(cx.grid(), wave, iteration);
    cx.context().team.control.fault(cx.grid(), code, point)
}

/// Loops and barriers before a loop on the top level, for its report: loops in its body
/// report nothing that lasts.
#[derive(Clone, Copy, Debug)]
struct Counters {
    loops: u32,
    barriers: u32,
}

impl Counters {
    #[inline(always)]
    fn open<G: Grid>(cx: ContextRef<G>) -> Self {
        let team = cx.context().team;
        if !team.is_leader() {
            let (loops, barriers) = (0, 0);
            return Self { loops, barriers };
        }
        Self {
            loops: team.control.loops_done(team.grid),
            barriers: team.barriers(),
        }
    }

    #[inline(always)]
    fn close<G: Grid>(self, cx: ContextRef<G>, end: LoopEnd) {
        let (team, control) = (cx.context().team, cx.context().team.control);
        if team.is_leader() {
            control.forget_loops(team.grid, self.loops);
            let report = control.open_loop(team.grid);
            let barriers = team.barriers().wrapping_sub(self.barriers);
            report.count_barriers(team.grid, barriers);
            report.finish(team.grid, end);
            control.close_loop(team.grid);
        }
    }
}
