//! Core numbers by peeling: `core(v)` is the largest `k` for which `v` is in a subgraph whose nodes
//! all have `k` neighbours in it.
//!
//! Work is linear in nodes and edges, and in nodes once more for each level that has any; depth is
//! the number of rounds (Batagelj, Zaveršnik: "An O(m) algorithm for cores decomposition of
//! networks", 2003; Dhulipala, Blelloch, Shun: "Julienne", SPAA 2017).
//!
//! In the end, the remaining degrees are the core numbers. A removal lowers the degrees
//! of neighbours, but never below the level that is being peeled, so a removed node keeps
//! the level of its removal. Levels without nodes are skipped.
//!
//! Most nodes of a rich graph are removed in a few rounds of its last level. Where fewer edges
//! leave the nodes that remain than the removed ones, rounds recount the remaining nodes'
//! neighbours instead (`recount`).

mod recount;

use crate::collectives::context::{Context, ContextRef};
use crate::machine::Grid;
use crate::machine::memory::Proven;
use crate::operators::advance::{Balance, Edges, Visit, advance};
use crate::operators::filter::select;
use crate::operators::rounds::{Past, Round, Work, values_and_work};
use crate::tables::Wave;
use recount::{is_recounting, pays, recount};
use seawall_core::abi::control::FaultCode;
use seawall_core::abi::program::Opcode;

/// Runs an opcode of this family.
///
/// # Errors
/// [`FaultCode::BadRegister`] if a register is missing or too short.
#[inline(never)]
pub fn run_peel<G: Grid>(cx: ContextRef<G>, opcode: Opcode, wave: Wave) -> Result<(), FaultCode> {
    let context = &cx.context();
    let grid = context.team.grid;
    let (cores, work) = values_and_work(context, wave, 1)?;
    if opcode == Opcode::SeedPeel {
        if context.team.is_leader() {
            let (tag, none) = (context.tag.now(grid), Past::NONE);
            work.open_next(grid, tag, 0);
            work.pass_on(grid, tag, none);
        }
        seed(cx, cores);
        return Ok(());
    }
    let round = work.round(grid, context.tag.now(grid));
    let mut recounts = false;
    if round.nodes == 0 {
        recounts = is_recounting(grid);
    } else if round.edges > context.tables.nodes(grid) {
        let left = edges_left(context, &round);
        if left == 0 {
            return Ok(());
        }
        recounts = pays(&round, left);
    }
    if recounts {
        recount(cx, cores, work.words())
    } else if round.nodes != 0 {
        peel(cx, cores, work.words())
    } else {
        let (above, level) = next_level(round);
        queue(cx, cores, work.words(), above, level)
    }
}

/// Edges that leave the nodes which remain after `round`.
#[inline(always)]
fn edges_left<G: Grid>(context: &Context<G>, round: &Round) -> u32 {
    let grid = context.team.grid;
    let past = Past::broadcast(grid).and(round.edges);
    context.tables.edges(grid).saturating_sub(past.relaxed)
}

/// Stores degrees; nodes without edges are done at level 0.
#[inline(never)]
fn seed<G: Grid>(cx: ContextRef<G>, cores: Proven) {
    let context = &cx.context();
    let (team, grid) = (&context.team, context.team.grid);
    let rows = context.tables.outgoing(grid);
    team.each(context.tables.nodes(grid), |node| {
        let (start, end) = rows.row(grid, node);
        cores.store_weak(grid, node, end - start);
    });
}

/// Removes the queued nodes.
#[inline(never)]
fn peel<G: Grid>(cx: ContextRef<G>, cores: Proven, work: Proven) -> Result<(), FaultCode> {
    let context = &cx.context();
    let (team, grid) = (&context.team, context.team.grid);
    let (tag, round) = (context.tag.now(grid), Round::broadcast(grid));
    let work = Work::new(work, context.tables.nodes(grid))?;
    let level = round.level;
    if team.is_counter() {
        work.open_next(grid, tag, level);
        let past = Past::broadcast(grid).and(round.edges);
        work.pass_relaxed(grid, tag, past.relaxed);
        // Remaining nodes have more than `level` neighbours left.
        work.wait(grid, context.tag, level.saturating_add(1));
    }
    let rows = context.tables.outgoing(grid);
    let (source, sink) = (work.source(rows, tag, &round), work.sink(context));
    let lower = Lower { grid, cores, level };
    advance(team, &source, &sink, lower);
    Ok(())
}

/// Lowers the degrees of the nodes that edges enter, down to `level`.
#[derive(Clone, Copy, Debug)]
struct Lower<G> {
    grid: G,
    cores: Proven,
    level: u32,
}

impl<G: Grid> Visit for Lower<G> {
    const TOGETHER: bool = true;
    const BALANCE: Balance = Balance::SHARES;

    #[inline(always)]
    fn leave(&self, _: u32) -> u32 {
        0
    }

    #[inline(always)]
    fn visit<const K: usize>(&mut self, edges: &Edges<K>) -> u32 {
        let Self { grid, cores, level } = *self;
        let mut degrees = [0; K];
        for (k, degree) in degrees.iter_mut().enumerate() {
            if edges.has(k) {
                *degree = cores.load_weak(grid, edges.to[k]);
            }
        }
        // Nodes that are done stay so, whenever their words were read.
        let mut before = [level; K];
        for k in 0..K {
            if degrees[k] > level {
                before[k] = cores.add(grid, edges.to[k], u32::MAX);
            }
        }
        let mut found = 0;
        for k in 0..K {
            if degrees[k] > level && before[k] <= level {
                cores.add(grid, edges.to[k], 1);
            }
            found |= u32::from(before[k] == level.wrapping_add(1)) << k;
        }
        found
    }
}

/// Degrees of the nodes of the next level, from the lowest to the highest.
#[inline(always)]
fn next_level(round: Round) -> (u32, u32) {
    let above = round.level.saturating_add(1);
    if round.least == u32::MAX {
        (above, above)
    } else {
        (above, above.max(round.least))
    }
}

/// Queues the nodes with degrees from `above` to `level`: codegen rule `OWN_FUNCTION`.
#[inline(never)]
fn queue<G: Grid>(
    cx: ContextRef<G>,
    cores: Proven,
    work: Proven,
    above: u32,
    level: u32,
) -> Result<(), FaultCode> {
    let (context, grid) = (&cx.context(), cx.grid());
    let work = Work::new(work, context.tables.nodes(grid))?;
    if context.team.is_leader() {
        let tag = context.tag.now(grid);
        work.open_next(grid, tag, level);
        work.pass_relaxed(grid, tag, Past::broadcast(grid).relaxed);
    }
    // Threads find the least degree beyond the level without a branch.
    let (mut least, mut beyond) = (u32::MAX, u32::MAX);
    let may = |degree: u32| {
        beyond = beyond.min(if degree > level { degree } else { u32::MAX });
        degree.wrapping_sub(above) <= level - above
    };
    let wanted = |_, degree| {
        if degree > level {
            least = least.min(degree);
        }
        degree >= above && degree <= level
    };
    let (nodes, sink) = (context.tables.nodes(grid), work.sink(context));
    select(&context.team, cores, nodes, &sink, Some(may), wanted);
    work.wait_warp(grid, context.tag, least.min(beyond));
    Ok(())
}
