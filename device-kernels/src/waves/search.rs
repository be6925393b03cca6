//! The waves of a frontier search.

use crate::context::{Context, Hand};
use crate::grid::Grid;
use crate::machine::Wave;
use crate::memory::Proven;
use crate::search::visit::Marker;
use crate::search::{Search, shared_drive, step};
use seawall_core::abi::control::FaultCode;
use seawall_core::abi::program::Opcode;
use seawall_core::abi::search::Visitor;

/// Runs an opcode of this family.
///
/// # Errors
/// [`FaultCode::BadRegister`] when a register is missing or too short,
/// [`FaultCode::BadParameter`] when the visitor's word names none.
#[inline(never)]
pub fn run<G: Grid>(hand: Hand<G>, opcode: Opcode, wave: Wave) -> Result<(), FaultCode> {
    let context = &hand.context();
    let (machine, grid) = (context.machine, context.team.grid);
    match opcode {
        Opcode::Reset => {
            machine
                .frontier(grid, wave.destination(grid))?
                .reset(&context.team);
        }
        Opcode::Seed => {
            let marks = (wave.destination(grid), wave.source(grid, 1));
            let search = bind(context, marks, wave.parameter(grid, 0))?;
            let sources = machine.register(grid, wave.source(grid, 0))?;
            let policy = machine.search_policy(grid);
            search.seed(&context.team, sources, machine.edges(grid), &policy);
        }
        Opcode::Visited => copy_visited(hand, wave)?,
        _ => {
            let search = of_wave(context, wave)?;
            // Slow lanes may still be at a step of another search.
            grid.block_barrier();
            if grid.lane() == 0 {
                search.publish(grid);
            }
            grid.block_barrier();
            step(hand, &shared_drive::read(grid));
        }
    }
    Ok(())
}

/// The search that an expansion wave is a step of.
///
/// # Errors
/// As [`run`].
#[inline(always)]
pub fn of_wave<G: Grid>(context: &Context<G>, wave: Wave) -> Result<Search, FaultCode> {
    let grid = context.team.grid;
    bind(
        context,
        (wave.source(grid, 0), wave.destination(grid)),
        wave.parameter(grid, 0),
    )
}

#[inline(always)]
fn bind<G: Grid>(
    context: &Context<G>,
    (frontier, marks): (u32, u32),
    visitor: u32,
) -> Result<Search, FaultCode> {
    let (machine, grid) = (context.machine, context.team.grid);
    let visitor = Visitor::from_word(visitor).ok_or(FaultCode::BadParameter)?;
    let frontier = machine.frontier(grid, frontier)?;
    let marks = match visitor {
        Visitor::OrBits => frontier.bitset(0).part(0, 0),
        _ => {
            // SAFETY: discovered nodes are nodes of the graph.
            unsafe { machine.proven_of(grid, marks, machine.nodes(grid))? }
        }
    };
    Ok(Search {
        outgoing: machine.outgoing(grid),
        incoming: machine.incoming(grid),
        frontier,
        visit: Marker::new(visitor, marks),
    })
}

fn copy_visited<G: Grid>(hand: Hand<G>, wave: Wave) -> Result<(), FaultCode> {
    let context = &hand.context();
    let (machine, grid) = (context.machine, context.team.grid);
    let frontier = machine.frontier(grid, wave.source(grid, 0))?;
    let words = frontier.bitset_words();
    // SAFETY: each word of a bitset is asked for once.
    let to = unsafe { machine.proven_of(grid, wave.destination(grid), words)? };
    copy(hand, to, frontier.bitset(frontier.drive(grid, 0).visited));
    Ok(())
}

#[inline(never)]
fn copy<G: Grid>(hand: Hand<G>, to: Proven, from: Proven) {
    let grid = hand.grid();
    hand.context().team.each(from.len(), |at| {
        to.store_weak(grid, at, from.load_weak(grid, at));
    });
}
