//! Bit-vector dataflow over facts: transfer and meet, and whole problems.
//!
//! A fact matrix has `facts` words per node; `parameters[1]` of a meet is their number.

mod settle;

use crate::collectives::context::{Context, ContextRef};
use crate::machine::Grid;
use crate::machine::memory::Proven;
use crate::tables::Wave;
use seawall_core::abi::control::FaultCode;
use seawall_core::abi::program::Opcode;
use settle::settle;

/// Runs an opcode of this family.
///
/// # Errors
/// [`FaultCode::BadRegister`] if a register is missing or too short,
/// [`FaultCode::NoArray`] if the launch holds no incoming edges; of [`Opcode::Settle`]
/// [`FaultCode::BadIndex`] if a range has nodes that the graph lacks, and
/// [`FaultCode::TimeBudget`].
#[inline(never)]
pub fn run_flow<G: Grid>(cx: ContextRef<G>, opcode: Opcode, wave: Wave) -> Result<(), FaultCode> {
    if opcode == Opcode::GenKill {
        transfer(cx, wave)
    } else if opcode == Opcode::Settle {
        settle(cx, wave)
    } else {
        meet(cx, wave)
    }
}

/// Transfer: a node passes on all facts except those that it kills, and adds those that it
/// generates.
#[inline(never)]
fn transfer<G: Grid>(cx: ContextRef<G>, wave: Wave) -> Result<(), FaultCode> {
    let context = &cx.context();
    let (tables, grid) = (context.tables, context.team.grid);
    let to = tables.register(grid, wave.destination(grid))?;
    // SAFETY: indices are words of `to`, and sources have as many.
    let to = unsafe { to.proven() };
    let source = |which| {
        // SAFETY: as above.
        unsafe { tables.proven_of(grid, wave.source(grid, which), to.len()) }
    };
    let (from, made, killed) = (source(0)?, source(1)?, source(2)?);
    let_through(cx, to, from, made, killed);
    Ok(())
}

/// Codegen rule `OWN_FUNCTION`.
#[inline(never)]
fn let_through<G: Grid>(cx: ContextRef<G>, to: Proven, from: Proven, made: Proven, killed: Proven) {
    let context = &cx.context();
    let grid = context.team.grid;
    context.team.each(to.len(), |at| {
        let kept = from.load_weak(grid, at) & !killed.load_weak(grid, at);
        update(context, to, at, kept | made.load_weak(grid, at));
    });
}

/// Meet: a node takes the facts that any predecessor has, or those that all have.
#[inline(never)]
fn meet<G: Grid>(cx: ContextRef<G>, wave: Wave) -> Result<(), FaultCode> {
    let context = &cx.context();
    let (tables, grid) = (context.tables, context.team.grid);
    let to = tables.register(grid, wave.destination(grid))?;
    // SAFETY: indices are facts of nodes, as many as the check below ensures.
    let from = unsafe { tables.proven_of(grid, wave.source(grid, 0), to.len())? };
    // SAFETY: as above.
    let to = unsafe { to.proven() };
    let intersect = wave.parameter(grid, 0) != 0;
    let facts = wave.parameter(grid, 1).max(1);
    let nodes = tables.nodes(grid);
    if !tables.has_incoming(grid) {
        return Err(FaultCode::NoArray);
    }
    if u64::from(to.len()) < u64::from(nodes) * u64::from(facts) {
        return Err(FaultCode::BadRegister);
    }
    let rows = tables.incoming(grid);
    context.team.each_taken(nodes.saturating_mul(facts), |at| {
        let (node, fact) = (at / facts, at % facts);
        let (start, end) = rows.row(grid, node);
        if start == end {
            return;
        }
        let mut word = if intersect { u32::MAX } else { 0 };
        for edge in start..end {
            let other = from.load_weak(grid, rows.target(grid, edge) * facts + fact);
            word = if intersect {
                word & other
            } else {
                word | other
            };
        }
        update(context, to, at, word);
    });
    Ok(())
}

/// Stores a word, and raises the convergence flag if it is a new one.
#[inline(always)]
fn update<G: Grid>(context: &Context<G>, to: Proven, at: u32, word: u32) {
    let grid = context.team.grid;
    if to.load_weak(grid, at) != word {
        to.store_weak(grid, at, word);
        context.tag.raise(grid);
    }
}
