//! Narrow rounds of a loop on one CPU thread, without barriers between them.
//!
//! A barrier of threads takes as long as some hundred edges. So where a round has few edges, the
//! first block alone runs it and the following ones, until one is wide, and publishes how many
//! there were. Rounds are the same as with barriers, and so are their number and their results. A
//! GPU's blocks synchronise faster than one of them relaxes edges, so they share all rounds.

use super::counters::point_of;
use super::group::run_waves;
use super::sets::WaveSet;
use super::trace;
use crate::collectives::context::ContextRef;
use crate::machine::Grid;
use crate::operators::rounds::work_of;
use crate::tables::Wave;
use crate::tables::control::{LoopEnd, Stop};
use seawall_core::abi::program::{FixpointRecord, Opcode};

/// Most edges of a round at which a block begins to run alone.
pub(super) const BEGINS: u32 = 512;
/// Most edges of a round at which it stays alone, since returning takes two barriers.
const STAYS: u32 = 1024;
/// Nodes that a round without queued ones scans in the time of an edge: for paths with one-word
/// distances, sixteen at once, and for other rounds one by one.
const NODES_PER_EDGE: (u32, u32) = (32, 4);

/// Whether one block may continue alone: there are others, and all are CPU threads.
#[inline(always)]
pub(super) fn suits<G: Grid>(cx: ContextRef<G>) -> bool {
    G::ITEMS != 1 && !cx.context().team.is_alone()
}

/// Whether the coming round of a loop has at most `most` edges. All blocks see the same counters
/// until they synchronise or run the round.
#[inline(always)]
pub(super) fn is_narrow<G: Grid>(cx: ContextRef<G>, record: &FixpointRecord, most: u32) -> bool {
    edges_of_round(cx, record).is_some_and(|edges| edges <= most)
}

/// Edges of the coming round, if the body is a single wave of such rounds.
#[inline(always)]
fn edges_of_round<G: Grid>(cx: ContextRef<G>, record: &FixpointRecord) -> Option<u32> {
    let (context, grid) = (&cx.context(), cx.grid());
    let group = context.tables.group(grid, record.first_group)?;
    if record.groups != 1 || group.waves != 1 {
        return None;
    }
    let body = context.tables.wave(grid, group.first_wave)?;
    let nodes_per_edge = nodes_per_edge(Opcode::from_word(body.opcode(grid))?)?;
    let work = work_of(context, body.source(grid, 0)).ok()?;
    let round = work.round(grid, context.tag.now(grid));
    Some(if round.nodes == 0 {
        context.tables.nodes(grid) / nodes_per_edge
    } else {
        round.nodes.max(round.edges)
    })
}

/// [`NODES_PER_EDGE`] of waves of this opcode, if they are rounds over the queue of the work
/// register that their first source names.
const fn nodes_per_edge(opcode: Opcode) -> Option<u32> {
    match opcode {
        Opcode::StepPaths => Some(NODES_PER_EDGE.0),
        Opcode::StepPathsWide | Opcode::StepPathsFloat | Opcode::StepPeel => Some(NODES_PER_EDGE.1),
        _ => None,
    }
}

/// Runs rounds in the first block until one is wide or the loop ends, while the others wait.
/// All blocks found the coming round narrow.
///
/// # Errors
/// If a round faults, or a barrier ends the run.
#[inline(never)]
pub(super) fn run_single<G: Grid, S: WaveSet, const TRACED: bool>(
    cx: ContextRef<G>,
    wave: Wave,
    end: &mut LoopEnd,
) -> Result<(), Stop> {
    let (grid, tag, team) = (cx.grid(), cx.tag(), cx.context().team);
    let before = end.iterations;
    let point = || point_of(grid, wave, before);
    // No round changes the counters before all blocks have read them.
    team.barrier(point)?;
    if team.is_first() {
        rounds::<G, S, TRACED>(cx.alone(), wave, end)?;
        team.control.set_iteration(grid, end.iterations);
    }
    team.barrier(point)?;
    if !team.is_first() {
        end.iterations = team.control.iteration(grid);
        let count = end.iterations.saturating_sub(before);
        tag.set(grid, tag.now(grid).saturating_add(count));
        // The first block may have raised the next tag already; it went on since the flag had this
        // tag.
        end.converged = team.control.changed(grid) < tag.now(grid) - 1;
    }
    Ok(())
}

/// Runs rounds in this block until one is wide or the loop ends.
#[inline(always)]
fn rounds<G: Grid, S: WaveSet, const TRACED: bool>(
    cx: ContextRef<G>,
    wave: Wave,
    end: &mut LoopEnd,
) -> Result<(), Stop> {
    let (grid, tag, team) = (cx.grid(), cx.tag(), cx.context().team);
    let record = FixpointRecord::from_parameters(wave.parameters(grid));
    while end.iterations < record.max_iterations
        && !end.converged
        && tag.now(grid) != u32::MAX
        && is_narrow(cx, &record, STAYS)
    {
        let iteration = end.iterations;
        if TRACED {
            trace::begin_group(cx, record.first_group);
        }
        run_waves::<G, S>(cx, record.first_group, iteration)?;
        if TRACED {
            trace::end_group(cx, record.first_group, 1);
        }
        end.iterations += 1;
        end.converged = team.control.changed(grid) < tag.now(grid);
        tag.set(grid, tag.now(grid) + 1);
        team.barrier(|| point_of(grid, wave, iteration))?;
    }
    Ok(())
}
