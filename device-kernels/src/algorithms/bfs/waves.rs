//! The waves of a frontier search.

use super::current::Search;
use super::frontier::Frontier;
use super::shared_drive;
use super::step::step;
use super::visit::Marker;
use crate::collectives::context::{Context, ContextRef};
use crate::machine::Grid;
use crate::machine::memory::{Proven, all_nodes};
use crate::tables::Wave;
use seawall_core::abi::control::FaultCode;
use seawall_core::abi::program::Opcode;
use seawall_core::abi::search::Visitor;

/// Runs an opcode of this family.
///
/// # Errors
/// [`FaultCode::BadRegister`] if a register is missing or too short,
/// [`FaultCode::BadParameter`] if the visitor's word names none,
/// [`FaultCode::NotANode`] if a source is no node.
#[inline(never)]
pub fn run_search_wave<G: Grid>(
    cx: ContextRef<G>,
    opcode: Opcode,
    wave: Wave,
) -> Result<(), FaultCode> {
    let context = &cx.context();
    let (tables, grid) = (context.tables, context.team.grid);
    match opcode {
        Opcode::Reset => {
            let frontier = Frontier::of_register(grid, tables, wave.destination(grid))?;
            frontier.reset(&context.team);
        }
        Opcode::Seed => {
            let (frontier, marks) = (wave.destination(grid), wave.source(grid, 1));
            let search = bind(context, frontier, marks, wave.parameter(grid, 0))?;
            let sources = tables.register(grid, wave.source(grid, 0))?;
            let policy = tables.search_policy(grid);
            search.seed(&context.team, sources, tables.edges(grid), &policy);
            return all_nodes(grid);
        }
        Opcode::Visited => copy_visited(cx, wave)?,
        _ => {
            let search = of_wave(context, wave)?;
            // Slow lanes may still run a step of another search.
            grid.block_barrier();
            if grid.lane() == 0 {
                search.publish(grid);
            }
            grid.block_barrier();
            step(cx, &shared_drive::read(grid));
        }
    }
    Ok(())
}

/// The search that an expansion wave is a step of.
///
/// # Errors
/// As [`run_search_wave`].
#[inline(always)]
pub fn of_wave<G: Grid>(context: &Context<G>, wave: Wave) -> Result<Search, FaultCode> {
    let grid = context.team.grid;
    bind(
        context,
        wave.source(grid, 0),
        wave.destination(grid),
        wave.parameter(grid, 0),
    )
}

#[inline(always)]
fn bind<G: Grid>(
    context: &Context<G>,
    frontier: u32,
    marks: u32,
    visitor: u32,
) -> Result<Search, FaultCode> {
    let (tables, grid) = (context.tables, context.team.grid);
    let visitor = Visitor::from_word(visitor).ok_or(FaultCode::BadParameter)?;
    let frontier = Frontier::of_register(grid, tables, frontier)?;
    let marks = match visitor {
        Visitor::OrBits | Visitor::OrBitsAhead => frontier.bitset(0).part(0, 0),
        _ => {
            // SAFETY: discovered nodes are nodes of the graph.
            unsafe { tables.proven_of(grid, marks, tables.nodes(grid))? }
        }
    };
    Ok(Search {
        outgoing: tables.outgoing(grid),
        incoming: tables.incoming(grid),
        frontier,
        visit: Marker::new(visitor, marks),
    })
}

fn copy_visited<G: Grid>(cx: ContextRef<G>, wave: Wave) -> Result<(), FaultCode> {
    let context = &cx.context();
    let (tables, grid) = (context.tables, context.team.grid);
    let frontier = Frontier::of_register(grid, tables, wave.source(grid, 0))?;
    let visited = frontier.visited(grid);
    // SAFETY: indices are words of the bitset.
    let to = unsafe { tables.proven_of(grid, wave.destination(grid), visited.len())? };
    copy(cx, to, visited);
    Ok(())
}

#[inline(never)]
fn copy<G: Grid>(cx: ContextRef<G>, to: Proven, from: Proven) {
    let grid = cx.grid();
    cx.context().team.each(from.len(), |at| {
        to.store_weak(grid, at, from.load_weak(grid, at));
    });
}
