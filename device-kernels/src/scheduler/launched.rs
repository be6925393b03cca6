//! Loop bodies as separate launches.
//!
//! For executors that launch each group. State that the megakernel keeps in registers is in memory
//! here, and the last block to finish a launch decides whether the loop continues.

use super::counters::point_of;
use super::group::{OUTSIDE, run_waves};
use super::open::{open, resume};
use super::sets::WaveSet;
use crate::algorithms::bfs::drive;
use crate::algorithms::bfs::drive::is_over;
use crate::algorithms::bfs::frontier::Frontier;
use crate::collectives::context::Context;
use crate::machine::Grid;
use crate::tables::Wave;
use crate::tables::control::{LoopEnd, ProgramPoint, Stop};
use crate::tables::launch::Launch;
use seawall_core::abi::code::DEPTH_MAX;
use seawall_core::abi::control::{FaultCode, LoopState};
use seawall_core::abi::program::{FixpointRecord, NO_REGISTER, Opcode, WhileRecord};
use seawall_core::convergence::{ConvergenceContract, Outcome};

/// One launch of a loop's body.
#[derive(Clone, Copy, Debug)]
pub struct BodyLaunch {
    /// Index of the fixpoint's wave in the wave table.
    pub fixpoint: u32,
    /// Index of the body group in the group table.
    pub group: u32,
    /// Whether it is the last group of the body.
    pub last: bool,
}

/// Runs one top-level group as a separate launch; fixpoints are left out.
///
/// # Errors
/// If a wave faults.
#[inline(always)]
pub fn run_one_group<G: Grid, S: WaveSet>(grid: G, launch: Launch, group: u32) -> Result<(), Stop> {
    let context = resume(grid, launch)?;
    run_waves::<G, S>(context.reference(), group, OUTSIDE).map(|_| ())
}

/// Opens a loop: one lane resets its state.
///
/// # Errors
/// If the wave is not a fixpoint.
#[inline(always)]
pub fn begin_loop<G: Grid>(grid: G, launch: Launch, fixpoint: u32) -> Result<(), Stop> {
    let context = open(grid, launch)?;
    if let Some((wave, record)) = while_of(&context, fixpoint) {
        return begin_while(&context, wave, record);
    }
    let (_, record) = fixpoint_of(&context, fixpoint)?;
    if !context.team.is_leader() {
        return Ok(());
    }
    let control = context.team.control;
    control.stamp_first(grid);
    control.clear_changed(grid);
    control.set_iteration(grid, 0);
    let mut state = LoopState::Running;
    if record.frontier != NO_REGISTER {
        let frontier = Frontier::of_register(grid, context.tables, record.frontier)
            .map_err(|code| control.fault(grid, code, ProgramPoint::default()))?;
        let drive = frontier.drive(grid, 0);
        if is_over(&drive, record.max_iterations) {
            state = end_state(drive.converged != 0);
            finish(&context, end_of(&drive));
        }
    } else if record.max_iterations == 0 {
        state = LoopState::Exhausted;
        finish(&context, LoopEnd::default());
    }
    control.set_loop_state(grid, state);
    Ok(())
}

/// The loop on a register at `index` of the wave table, if there is one.
#[inline(always)]
fn while_of<G: Grid>(context: &Context<G>, index: u32) -> Option<(Wave, WhileRecord)> {
    let grid = context.team.grid;
    let wave = context.tables.wave(grid, index)?;
    let record = || WhileRecord::from_parameters(wave.parameters(grid));
    (wave.opcode(grid) == Opcode::While as u32).then(|| (wave, record()))
}

/// Opens a loop on a register.
#[inline(always)]
fn begin_while<G: Grid>(context: &Context<G>, wave: Wave, record: WhileRecord) -> Result<(), Stop> {
    let (grid, control) = (context.team.grid, context.team.control);
    if !context.team.is_leader() {
        return Ok(());
    }
    control.stamp_first(grid);
    if record.depth == 0 {
        control.set_rounds(grid, DEPTH_MAX, control.loops_done(grid));
    }
    decide_while(context, wave, record, 0)
}

/// Counts an iteration of a loop on a register and decides whether another follows, in one lane.
/// Launched after the last group of its body.
///
/// # Errors
/// [`FaultCode`] of a wave that is no such loop, or of a missing register.
#[inline(always)]
pub fn again<G: Grid>(grid: G, launch: Launch, index: u32) -> Result<(), Stop> {
    let context = resume(grid, launch)?;
    let control = context.team.control;
    let Some((wave, record)) = while_of(&context, index) else {
        return Err(control.fault(grid, FaultCode::NoLoop, ProgramPoint::default()));
    };
    if !context.team.is_leader() {
        return Ok(());
    }
    let rounds = control.rounds(grid, record.depth).saturating_add(1);
    decide_while(&context, wave, record, rounds)
}

/// Stores the iterations of a loop on a register and whether it continues.
#[inline(always)]
fn decide_while<G: Grid>(
    context: &Context<G>,
    wave: Wave,
    record: WhileRecord,
    rounds: u32,
) -> Result<(), Stop> {
    let (grid, control) = (context.team.grid, context.team.control);
    let condition = context.tables.register_of(grid, record.condition, 1);
    let point = point_of(grid, wave, rounds);
    let condition = condition.map_err(|code| control.fault(grid, code, point))?;
    control.set_rounds(grid, record.depth, rounds);
    let converged = condition.load(grid, 0) == 0;
    if !converged && rounds < record.max_iterations {
        control.set_loop_state(grid, LoopState::Running);
        return Ok(());
    }
    control.set_loop_state(grid, end_state(converged));
    if record.depth == 0 {
        control.forget_loops(grid, control.rounds(grid, DEPTH_MAX));
        let end = LoopEnd {
            iterations: rounds,
            converged,
            frontier_max: 0,
        };
        finish(context, end);
    }
    Ok(())
}

/// Runs one group of a loop's body; returns at once when the loop is over.
///
/// # Errors
/// If a wave faults.
#[inline(always)]
pub fn run_body<G: Grid, S: WaveSet>(
    grid: G,
    launch: Launch,
    body: BodyLaunch,
) -> Result<(), Stop> {
    let context = resume(grid, launch)?;
    let control = context.team.control;
    if !control.loop_runs(grid) {
        return Ok(());
    }
    let (_, record) = fixpoint_of(&context, body.fixpoint)?;
    let iteration = control.iteration(grid);
    if grid.lane() == 0 {
        context.tag.set(grid, iteration.wrapping_add(1));
    }
    grid.block_barrier();
    run_waves::<G, S>(context.reference(), body.group, iteration)?;
    if !body.last {
        return Ok(());
    }
    grid.block_barrier();
    if grid.lane() == 0 && control.leave(grid) {
        close_iteration(&context, &record, iteration)?;
    }
    Ok(())
}

/// Whether a loop that no host supervises needs another iteration: not if it has ended, a wave
/// faulted, or the time budget is over. The budget counts from the run's first loop on. A block
/// operation; the first lane's result counts.
#[inline(always)]
pub fn loop_goes_on<G: Grid>(grid: G, launch: Launch, fixpoint: u32) -> bool {
    let Ok(context) = open(grid, launch) else {
        return false;
    };
    let control = context.team.control;
    if !control.loop_runs(grid) || control.is_stopped(grid) {
        return false;
    }
    let wave = match while_of(&context, fixpoint) {
        Some((wave, _)) => wave.number(grid),
        None => match fixpoint_of(&context, fixpoint) {
            Ok((wave, _)) => wave,
            Err(Stop) => return false,
        },
    };
    let spent = grid.now_ns().saturating_sub(control.started_ns(grid));
    if spent <= launch.time_budget_ns(grid) {
        return true;
    }
    let point = ProgramPoint {
        wave,
        opcode: Opcode::Fixpoint as u32,
        iteration: control.iteration(grid),
    };
    let _ = control.fault(grid, FaultCode::TimeBudget, point);
    false
}

/// Number and record of the fixpoint at `index` of the wave table.
#[inline(always)]
fn fixpoint_of<G: Grid>(context: &Context<G>, index: u32) -> Result<(u32, FixpointRecord), Stop> {
    let grid = context.team.grid;
    context
        .tables
        .wave(grid, index)
        .filter(|wave| wave.opcode(grid) == Opcode::Fixpoint as u32)
        .map(|wave| {
            (
                wave.number(grid),
                FixpointRecord::from_parameters(wave.parameters(grid)),
            )
        })
        .ok_or_else(|| {
            context.team.control.fault(
                context.team.grid,
                FaultCode::NoLoop,
                ProgramPoint::default(),
            )
        })
}

/// Decides whether another iteration follows; its last lane calls this.
#[inline(always)]
fn close_iteration<G: Grid>(
    context: &Context<G>,
    record: &FixpointRecord,
    iteration: u32,
) -> Result<(), Stop> {
    let (grid, control) = (context.team.grid, context.team.control);
    let iterations = iteration + 1;
    let outcome = match ConvergenceContract::device_resident(record.max_iterations) {
        Ok(contract) => contract.after_iteration(iterations, control.changed(grid)),
        Err(_) => Some(Outcome::Exhausted { iterations }),
    };
    let mut end = LoopEnd {
        iterations,
        converged: matches!(outcome, Some(Outcome::Converged { .. })),
        frontier_max: 0,
    };
    let mut over = outcome.is_some();
    if record.frontier != NO_REGISTER {
        let frontier = Frontier::of_register(grid, context.tables, record.frontier)
            .map_err(|code| control.fault(grid, code, ProgramPoint::default()))?;
        let mut drive = frontier.drive(grid, 0);
        control.open_loop(grid).count_step(grid, drive.next);
        let found = frontier.found(grid, drive.step.wrapping_add(1));
        drive::advance::<G>(&mut drive, &found, &context.tables.search_policy(grid));
        frontier.set_drive(grid, 0, &drive);
        end = end_of(&drive);
        over = is_over(&drive, record.max_iterations);
    }
    control.set_iteration(grid, end.iterations);
    if over {
        control.set_loop_state(grid, end_state(end.converged));
        finish(context, end);
    }
    Ok(())
}

fn end_of(drive: &seawall_core::abi::search::DriveRecord) -> LoopEnd {
    LoopEnd {
        iterations: drive.iteration,
        converged: drive.converged != 0,
        frontier_max: drive.frontier_max,
    }
}

fn end_state(converged: bool) -> LoopState {
    if converged {
        LoopState::Converged
    } else {
        LoopState::Exhausted
    }
}

fn finish<G: Grid>(context: &Context<G>, end: LoopEnd) {
    let (grid, control) = (context.team.grid, context.team.control);
    control.open_loop(grid).finish(grid, end);
    control.close_loop(grid);
}
