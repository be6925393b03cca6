//! Shortest paths, near nodes first: `d(v) = min(d(u) + w(u, v))` over the edges to `v`.
//!
//! Work is linear in the edges times the times that a node's distance falls while it is near; depth
//! is the number of buckets times the rounds of the longest one.
//!
//! Every round relaxes the edges of the queued nodes. A node whose distance falls below the limit
//! is queued for the next round. One beyond the limit waits, and only its distance says so: waiting
//! nodes have a finite distance that is not below the limit. Once the queue is empty, a round
//! collects the nodes of the next bucket, which starts at the least waiting distance (Davidson,
//! Baxter, Garland, Owens: "Work-Efficient Parallel GPU Methods for Single-Source Shortest Paths",
//! IPDPS 2014, with the far pile replaced by a scan over distances).
//!
//! The result is exact for any delta: a node is queued whenever its distance falls, or kept by the
//! thread that lowers it (`fused_bucket`), so no relaxation is missed. `Lengths` says what a
//! distance is: a word, two words or a float. Limits are words in any case.

pub(crate) mod lengths;
pub(crate) mod relax;
mod pull;
mod fused_bucket;
#[cfg(not(target_arch = "nvptx64"))]
mod rest;

use crate::collectives::context::{Context, ContextRef};
use crate::machine::Grid;
use crate::machine::memory::{Proven, Words, all_nodes, is_node};
use crate::operators::advance::{Source, advance};
use crate::operators::filter::{append_list, select};
use crate::operators::marks::claim;
use crate::operators::rounds::{Past, Round, Sink, Work, values_and_work, work_of};
use crate::tables::Wave;
use fused_bucket::expand_near;
use lengths::{Float, Lengths, Whole, Wide};
use pull::pull;
use relax::Relax;
use seawall_core::abi::control::FaultCode;
use seawall_core::abi::program::Opcode;

/// Runs an opcode of this family.
///
/// # Errors
/// [`FaultCode::BadRegister`] if a register is missing or too short,
/// [`FaultCode::NoArray`] if the launch holds no weights.
#[inline(never)]
pub fn run_paths<G: Grid>(cx: ContextRef<G>, opcode: Opcode, wave: Wave) -> Result<(), FaultCode> {
    let context = &cx.context();
    let (tables, grid) = (context.tables, context.team.grid);
    if opcode == Opcode::ResetWork {
        work_of(context, wave.destination(grid))?.reset(&context.team);
        return Ok(());
    }
    if opcode == Opcode::SeedPaths {
        let list = tables.register(grid, wave.source(grid, 1))?;
        let width = width(grid, Whole, wave, false);
        let (distances, work) = values_and_work(context, wave, Whole::WORDS)?;
        seed(cx, Whole, distances, &work, list, width);
        return all_nodes(grid);
    }
    step(cx, Whole, wave, |distances, work, pulls| {
        if pulls {
            return pull(cx, Whole, distances, work);
        }
        relax_whole(cx, distances, work)
    })
}

/// Runs an opcode of the family of long distances.
///
/// # Errors
/// As [`run_paths`].
#[inline(never)]
pub fn run_long_paths<G: Grid>(
    cx: ContextRef<G>,
    opcode: Opcode,
    wave: Wave,
) -> Result<(), FaultCode> {
    let context = &cx.context();
    let (tables, grid) = (context.tables, context.team.grid);
    if opcode == Opcode::StepPathsFloat {
        return step_float(cx, wave);
    }
    let lengths = Wide {
        shift: wave.parameter(grid, 1),
    };
    if opcode == Opcode::StepPathsWide {
        return step_wide(cx, lengths, wave);
    }
    let list = tables.register(grid, wave.source(grid, 1))?;
    let width = width(grid, lengths, wave, false);
    let (distances, work) = values_and_work(context, wave, Wide::WORDS)?;
    seed(cx, lengths, distances, &work, list, width);
    all_nodes(grid)
}

/// One round of float distances.
#[inline(never)]
fn step_float<G: Grid>(cx: ContextRef<G>, wave: Wave) -> Result<(), FaultCode> {
    step(cx, Float, wave, |distances, work, pulls| {
        if pulls {
            return pull(cx, Float, distances, work);
        }
        relax(cx, Float, distances, work)
    })
}

/// One round of distances of 64 bits.
#[inline(never)]
fn step_wide<G: Grid>(cx: ContextRef<G>, lengths: Wide, wave: Wave) -> Result<(), FaultCode> {
    step(cx, lengths, wave, |distances, work, _| {
        relax(cx, lengths, distances, work)
    })
}

/// Runs one round; `relax` relaxes edges, by pulling if its last argument says so.
#[inline(always)]
fn step<G: Grid, L: Lengths>(
    cx: ContextRef<G>,
    lengths: L,
    wave: Wave,
    relax: impl FnOnce(Proven, Proven, bool) -> Result<(), FaultCode>,
) -> Result<(), FaultCode> {
    let context = &cx.context();
    let grid = context.team.grid;
    let (distances, work) = values_and_work(context, wave, L::WORDS)?;
    let round = work.round(grid, context.tag.now(grid));
    #[cfg(not(target_arch = "nvptx64"))]
    if rest::suits(context, lengths, wave) {
        return rest::settle(cx, lengths, distances, work);
    }
    if round.nodes != 0 {
        let pulls = pulls(context, wave, round.edges);
        return relax(distances, work.words(), pulls);
    }
    if round.least != u32::MAX {
        let kept = fused_bucket::suits(context) && work.ahead(grid, context.tag.now(grid)) != 0;
        let mut width = width(grid, lengths, wave, kept);
        if wave.parameter(grid, 2) != 0
            && Past::broadcast(grid).relaxed >= context.tables.edges(grid)
        {
            // Little work is left, so rounds cost more than the work.
            width = lengths.wider(width);
        }
        let level = lengths.bound(round.least, width);
        return queue(cx, lengths, distances, work.words(), round.level, level);
    }
    Ok(())
}

/// A round pulls if it has at least one in this many of all edges. A pull reads every edge that
/// leads to a node beyond the nearest queued one, but few distances.
const PULLS_FROM: u32 = 8;
/// A round pulls once one in this many edges was relaxed: until then most nodes have no distance
/// yet, so that a pull would read each of their neighbours.
const PULLS_AFTER: u32 = 32;

/// Whether a round over `edges` edges pulls, in programs that allow it. CPU threads never do: their
/// small delta makes them pull often, and their caches make loads cheap.
#[inline(always)]
fn pulls<G: Grid>(context: &Context<G>, wave: Wave, edges: u32) -> bool {
    let grid = context.team.grid;
    let all = context.tables.edges(grid);
    G::SIMT
        && edges >= all / PULLS_FROM
        && wave.parameter(grid, 2) != 0
        && Past::broadcast(grid).relaxed >= all / PULLS_AFTER
}

/// Delta by which the limit of distances grows, after a round in which threads kept their finds or
/// not.
///
/// The wave's delta suits a GPU, where a round costs more than some surplus relaxations, and CPU
/// threads that follow the order of lengths. Other threads take a third of it.
#[inline(always)]
fn width<G: Grid, L: Lengths>(grid: G, lengths: L, wave: Wave, kept: bool) -> u32 {
    let width = wave.parameter(grid, 0).max(1);
    if !G::SIMT && !kept {
        lengths.third(width)
    } else {
        width
    }
}

/// Queues the listed nodes at distance 0, in the first block alone.
#[inline(never)]
fn seed<G: Grid, L: Lengths>(
    cx: ContextRef<G>,
    lengths: L,
    distances: Proven,
    work: &Work,
    list: Words,
    width: u32,
) {
    let context = &cx.context();
    let (team, grid) = (&context.team, context.team.grid);
    if !team.is_first() {
        return;
    }
    let nodes = context.tables.nodes(grid);
    // Its queue and counters are those of the loop's first round.
    let tag = context.tag.now(grid);
    let marks = work.marks(tag.wrapping_add(1));
    let sink = work.sink(context);
    if team.is_leader() {
        work.open_next(grid, tag, width);
    }
    append_list(&team.alone(), list, &sink, |node| {
        if !is_node(grid, node, nodes) {
            return false;
        }
        lengths.start(grid, distances, node);
        claim(grid, marks, node)
    });
}

/// Relaxes whole distances, in a separate function; the other kinds relax within their rounds, see
/// codegen rule `OWN_FUNCTION`.
#[inline(never)]
fn relax_whole<G: Grid>(
    cx: ContextRef<G>,
    distances: Proven,
    work: Proven,
) -> Result<(), FaultCode> {
    relax(cx, Whole, distances, work)
}

/// Relaxes the edges of the queued nodes.
#[inline(always)]
fn relax<G: Grid, L: Lengths>(
    cx: ContextRef<G>,
    lengths: L,
    distances: Proven,
    work: Proven,
) -> Result<(), FaultCode> {
    let context = &cx.context();
    let (team, grid) = (&context.team, context.team.grid);
    if fused_bucket::suits(context) && fused_bucket::is_short(team, Round::broadcast(grid).edges) {
        return relax_near(cx, lengths, distances, work);
    }
    relax_by(cx, lengths, distances, work, |_, source, sink, relax| {
        advance(team, source, sink, relax);
    })
}

/// [`relax`] with bucket fusion, in a separate function: within `relax` rich graphs took a fifth
/// longer.
#[inline(never)]
fn relax_near<G: Grid, L: Lengths>(
    cx: ContextRef<G>,
    lengths: L,
    distances: Proven,
    work: Proven,
) -> Result<(), FaultCode> {
    let (team, grid) = (&cx.context().team, cx.grid());
    relax_by(cx, lengths, distances, work, |work, source, sink, relax| {
        let from = Past::broadcast(grid).nearest;
        let edges = expand_near(team, source, sink, relax, from);
        work.relaxed_ahead(grid, sink.tag.now(grid), edges);
    })
}

/// Opens the next round; `traverse` relaxes the edges of the source and fills the sink.
#[inline(always)]
fn relax_by<G: Grid, L: Lengths>(
    cx: ContextRef<G>,
    lengths: L,
    distances: Proven,
    work: Proven,
    traverse: impl FnOnce(&Work, &Source, &Sink, Relax<'_, G, L>),
) -> Result<(), FaultCode> {
    let context = &cx.context();
    let (team, grid) = (&context.team, context.team.grid);
    let (tag, round) = (context.tag.now(grid), Round::broadcast(grid));
    let work = Work::new(work, context.tables.nodes(grid))?;
    let weights = context.tables.weights(grid).ok_or(FaultCode::NoArray)?;
    if team.is_counter() {
        work.open_next(grid, tag, round.level);
        work.pass_on(grid, tag, Past::broadcast(grid).and(round.edges));
        work.wait(grid, context.tag, round.least);
    }
    let rows = context.tables.outgoing(grid);
    let (source, sink) = (work.source(rows, tag, &round), work.sink(context));
    let mut least = u32::MAX;
    let relax = Relax {
        grid,
        lengths,
        distances,
        weights,
        level: round.level,
        rows,
        old_marks: work.marks(tag),
        marks: work.marks(tag.wrapping_add(1)),
        least: &mut least,
    };
    traverse(&work, &source, &sink, relax);
    work.wait_warp(grid, context.tag, least);
    Ok(())
}

/// Queues the nodes with distances from `from` to below `level`: codegen rule
/// `OWN_FUNCTION`.
#[inline(never)]
fn queue<G: Grid, L: Lengths>(
    cx: ContextRef<G>,
    lengths: L,
    distances: Proven,
    work: Proven,
    from: u32,
    level: u32,
) -> Result<(), FaultCode> {
    let (context, grid) = (&cx.context(), cx.grid());
    let tag = context.tag.now(grid);
    let work = Work::new(work, context.tables.nodes(grid))?;
    if context.team.is_leader() {
        work.open_next(grid, tag, level);
        let past = Past {
            nearest: Round::broadcast(grid).least,
            ..Past::broadcast(grid)
        };
        work.pass_on(grid, tag, past);
    }
    let nodes = context.tables.nodes(grid);
    let mut least = u32::MAX;
    let wanted = |node: u32, word: u32| {
        let length = lengths.scanned(grid, distances, node, word);
        let place = lengths.place(length);
        if length == L::NEVER || place < from {
            return false;
        }
        if place >= level {
            least = least.min(place);
            return false;
        }
        // No other lane queues it, so it needs no mark.
        true
    };
    // The word is the place where it is all of a distance. It is below `u32::MAX` where a path leads
    // to the node.
    let may = (L::WORDS == 1).then_some(|word: u32| word.wrapping_sub(from) < u32::MAX - from);
    let sink = work.sink(context);
    select(&context.team, distances, nodes, &sink, may, wanted);
    work.wait_warp(grid, context.tag, least);
    Ok(())
}
