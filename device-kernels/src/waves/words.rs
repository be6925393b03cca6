//! Word by word operations: fill, copy and the bit operations.

use super::Context;
use crate::grid::Grid;
use crate::memory::Words;
use seawall_core::abi::control::FaultCode;
use seawall_core::abi::program::{Opcode, WaveRecord};

/// Runs an opcode of this family.
///
/// # Errors
/// [`FaultCode::BadRegister`] when a register is missing or too short.
#[inline(never)]
pub fn run<G: Grid>(
    context: &Context<G>,
    opcode: Opcode,
    wave: &WaveRecord,
) -> Result<(), FaultCode> {
    let (team, grid) = (&context.team, context.team.grid);
    let to = context.machine.register(grid, wave.destination)?;
    match opcode {
        Opcode::Iota => {
            team.each(to.len(), |at| to.store_weak(grid, at, at));
            return Ok(());
        }
        Opcode::Fill => {
            team.each(to.len(), |at| to.store_weak(grid, at, wave.parameters[0]));
            return Ok(());
        }
        _ => {}
    }
    let source = |which: usize| {
        context
            .machine
            .register_of(grid, wave.sources[which], to.len())
    };
    if opcode == Opcode::Copy {
        let from = source(0)?;
        team.each(to.len(), |at| {
            to.store_weak(grid, at, from.load_weak(grid, at))
        });
        return Ok(());
    }
    if opcode == Opcode::Scatter {
        return scatter(context, wave, to);
    }
    let (left, right) = (source(0)?, source(1)?);
    team.each(to.len(), |at| {
        let (a, b) = (left.load_weak(grid, at), right.load_weak(grid, at));
        let word = match opcode {
            Opcode::And => a & b,
            Opcode::Or => a | b,
            Opcode::AndNot => a & !b,
            _ => a ^ b,
        };
        to.store_weak(grid, at, word);
    });
    Ok(())
}

/// Stores the parameter at the listed nodes; every lane looks at the whole,
/// short list for the words of its own share, so that clearing and storing
/// need no barrier between them.
fn scatter<G: Grid>(context: &Context<G>, wave: &WaveRecord, to: Words) -> Result<(), FaultCode> {
    let (team, grid) = (&context.team, context.team.grid);
    let list = context.machine.register(grid, wave.sources[0])?;
    team.each(to.len(), |at| {
        let mut word = 0;
        for index in 0..list.len() {
            if list.load_weak(grid, index) == at {
                word = wave.parameters[0];
            }
        }
        to.store_weak(grid, at, word);
    });
    Ok(())
}
