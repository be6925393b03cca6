//! The loop of a search: steps of changing shape, until the frontier has no edges left.
//!
//! The search and its limits are in shared memory and looked up again: codegen rule
//! `LOOK_UP_AGAIN`.

use super::counters::{self, point_of};
use super::group::run_waves;
use super::sets::WaveSet;
use super::trace;
use crate::algorithms::bfs::current::Search;
use crate::algorithms::bfs::drive::is_over;
use crate::algorithms::bfs::fused;
use crate::algorithms::bfs::fused::{reach, run_fused, thread_group_now};
use crate::algorithms::bfs::step::step;
use crate::algorithms::bfs::waves::of_wave;
use crate::algorithms::bfs::{drive, shared_drive};
use crate::collectives::context::{Context, ContextRef};
use crate::collectives::team::rounds_per_poll;
use crate::machine::Grid;
use crate::machine::shared::{BOUNDS, STEPS_TAKEN};
use crate::tables::Wave;
use crate::tables::control::{LoopEnd, ProgramPoint, Stop};
use seawall_core::abi::control::FaultCode;
use seawall_core::abi::program::{FixpointRecord, Opcode};
use seawall_core::abi::search::{DriveRecord, Step};

/// Steps of a search between two reads of a GPU's clock.
const STEPS_PER_LOOK: u32 = 64;

/// Limits of a loop.
#[derive(Clone, Copy, Debug)]
struct Bounds {
    max_iterations: u32,
    /// Whether the body is only the expansion.
    alone: bool,
}

impl Bounds {
    /// Limits of the running loop.
    #[inline(always)]
    fn read<G: Grid>(grid: G) -> Self {
        let [max_iterations, alone] = BOUNDS.load_all(grid);
        Self {
            max_iterations,
            alone: alone != 0,
        }
    }
}

/// Repeats the body until its frontier has no edges left.
///
/// # Errors
/// If the run stops; the fault record says why.
#[inline(never)]
pub(super) fn run_search<G: Grid, S: WaveSet, const TRACED: bool>(
    cx: ContextRef<G>,
    wave: Wave,
) -> Result<(), Stop> {
    open(cx, wave)?;
    let grid = cx.grid();
    let point = || point_now(grid, wave);
    let mut slot = 0;
    loop {
        let drive = &shared_drive::read(grid);
        let bounds = Bounds::read(grid);
        if is_over(drive, bounds.max_iterations) {
            return close(cx, wave);
        }
        let per_look = rounds_per_poll::<G>(STEPS_PER_LOOK);
        if drive.step.is_multiple_of(per_look) && cx.context().team.is_out_of_time(point) {
            return Err(Stop);
        }
        count(cx, drive);
        if TRACED {
            trace::begin_step(cx, wave);
        }
        if !bounds.alone {
            run_body::<G, S, TRACED>(cx, wave)?;
        } else if drive.next == Step::Fused as u32 {
            slot ^= 1;
            run_in_few_blocks(cx, wave, slot)?;
            continue;
        } else {
            step(cx, drive);
        }
        let next = || {
            if !bounds.alone {
                find_again(cx, wave);
            }
            decide(cx);
        };
        cx.context().team.barrier_and(point, next)?;
    }
}

/// The loop's position, for fault records.
#[inline(always)]
fn point_now<G: Grid>(grid: G, wave: Wave) -> ProgramPoint {
    point_of(grid, wave, shared_drive::read(grid).iteration)
}

/// Opens the loop: finds its search and puts it into shared memory.
#[inline(never)]
fn open<G: Grid>(cx: ContextRef<G>, wave: Wave) -> Result<(), Stop> {
    let context = &cx.context();
    let grid = context.team.grid;
    let record = FixpointRecord::from_parameters(wave.parameters(grid));
    let search = expansion(context, &record).map_err(|code| {
        let point = point_of(grid, wave, 0);
        context.team.control.fault(grid, code, point)
    })?;
    let alone = record.groups == 1
        && context
            .tables
            .group(grid, record.first_group)
            .is_some_and(|group| group.waves == 1);
    counters::open(context);
    // Slow lanes may still run a step of another search.
    grid.block_barrier();
    if grid.lane() == 0 {
        search.publish(grid);
        BOUNDS.store_all(grid, [record.max_iterations, u32::from(alone)]);
        STEPS_TAKEN.store_all(grid, [0; Step::COUNT as usize]);
    }
    grid.block_barrier();
    Ok(())
}

/// Counts the step that `drive` asks for.
#[inline(always)]
fn count<G: Grid>(cx: ContextRef<G>, drive: &DriveRecord) {
    if cx.context().team.is_leader() {
        let (grid, shape) = (cx.grid(), drive.next % Step::COUNT);
        let taken = STEPS_TAKEN.area();
        // SAFETY: there is a counter for each shape.
        unsafe { taken.store(grid, shape, taken.load(grid, shape).wrapping_add(1)) };
    }
}

/// Closes the loop: the counters, and the drive record for the reader of the frontier.
#[inline(never)]
fn close<G: Grid>(cx: ContextRef<G>, wave: Wave) -> Result<(), Stop> {
    trace::end_step(cx);
    let (context, grid) = (&cx.context(), cx.grid());
    let (team, drive) = (&context.team, &shared_drive::read(grid));
    if team.is_leader() {
        let report = team.control.open_loop(grid);
        for (shape, steps) in (0..).zip(STEPS_TAKEN.load_all(grid)) {
            report.count_steps(grid, shape, steps);
        }
        let frontier = Search::current(grid).frontier;
        frontier.set_drive(grid, 0, drive);
    }
    team.barrier(|| point_now(grid, wave))?;
    let end = LoopEnd {
        iterations: drive.iteration,
        converged: drive.converged != 0,
        frontier_max: drive.frontier_max,
    };
    counters::close(context, end);
    Ok(())
}

/// Publishes the loop's search again, since its body may have run steps of other searches.
#[inline(never)]
fn find_again<G: Grid>(cx: ContextRef<G>, wave: Wave) {
    let (context, grid) = (cx.context(), cx.grid());
    let record = FixpointRecord::from_parameters(wave.parameters(grid));
    // The search was found before.
    if let Ok(search) = expansion(&context, &record) {
        search.publish(grid);
    }
}

/// Applies the finds of the step and decides the next one. One lane per block calls this; all
/// blocks see the same numbers and decide alike.
#[inline(never)]
fn decide<G: Grid>(cx: ContextRef<G>) {
    let (context, grid) = (cx.context(), cx.grid());
    let reach = reach(&context.team);
    let policy = &drive::policy_for::<G>(&context.tables.search_policy(grid), reach);
    let mut drive = shared_drive::read(grid);
    let frontier = Search::current(grid).frontier;
    let found = frontier.found(grid, drive.step.wrapping_add(1));
    drive::advance::<G>(&mut drive, &found, policy);
    shared_drive::publish(grid, &drive);
}

/// The search of the expansion in the body of a frontier loop.
#[inline(always)]
fn expansion<G: Grid>(context: &Context<G>, record: &FixpointRecord) -> Result<Search, FaultCode> {
    let wave = expansion_wave(
        context.reference(),
        record.frontier,
        record.first_group,
        record.groups,
    );
    of_wave(context, wave.ok_or(FaultCode::NoExpansion)?)
}

/// The wave in `groups` groups from `first` on that expands `frontier`.
#[inline(always)]
fn expansion_wave<G: Grid>(
    cx: ContextRef<G>,
    frontier: u32,
    first: u32,
    groups: u32,
) -> Option<Wave> {
    let grid = cx.grid();
    for group in first..first.saturating_add(groups) {
        let group = cx.context().tables.group(grid, group)?;
        for index in group.first_wave..group.first_wave.saturating_add(group.waves) {
            if expands(cx, index, frontier) {
                return cx.context().tables.wave(grid, index);
            }
        }
    }
    None
}

/// Whether wave `index` expands `frontier`.
#[inline(never)]
fn expands<G: Grid>(cx: ContextRef<G>, index: u32, frontier: u32) -> bool {
    let grid = cx.grid();
    let wave = cx.context().tables.wave(grid, index);
    wave.is_some_and(|wave| {
        wave.opcode(grid) == Opcode::Expand as u32 && wave.source(grid, 0) == frontier
    })
}

/// Runs a body that is more than the expansion. Its waves read the drive record from
/// memory.
#[inline(never)]
fn run_body<G: Grid, S: WaveSet, const TRACED: bool>(
    cx: ContextRef<G>,
    wave: Wave,
) -> Result<(), Stop> {
    let grid = cx.grid();
    let point = || point_now(grid, wave);
    let record = FixpointRecord::from_parameters(wave.parameters(grid));
    for group in record.first_group..record.first_group.saturating_add(record.groups) {
        let team = cx.context().team;
        if team.is_leader() {
            let frontier = Search::current(grid).frontier;
            frontier.set_drive(grid, 0, &shared_drive::read(grid));
        }
        team.barrier(point)?;
        if TRACED {
            trace::begin_group(cx, group);
        }
        run_waves::<G, S>(cx, group, point().iteration)?;
        cx.context().team.barrier(point)?;
        if TRACED {
            trace::end_group(cx, group, 1);
        }
    }
    Ok(())
}

/// Runs a fused search in the first blocks, while the others wait for its drive record in
/// `slot`.
#[inline(always)]
fn run_in_few_blocks<G: Grid>(cx: ContextRef<G>, wave: Wave, slot: u32) -> Result<(), Stop> {
    let (grid, team) = (cx.grid(), cx.context().team);
    let mut outcome = Ok(0);
    if team.rank() < thread_group_now(&team) {
        let bounds = fused::Bounds {
            max_iterations: Bounds::read(grid).max_iterations,
            point: point_now(grid, wave),
        };
        outcome = run_fused(cx, slot, bounds);
        if cx.context().team.is_leader() {
            let report = team.control.open_loop(grid);
            report.count_block_iterations(grid, outcome.unwrap_or(0));
        }
    }
    cx.context().team.barrier_and(
        || point_now(grid, wave),
        || {
            let frontier = Search::current(grid).frontier;
            shared_drive::publish(grid, &frontier.drive(grid, slot));
        },
    )?;
    outcome.map(|_| ())
}
