//! The waves that choose and rank hubs and count with them.

use super::center::Centers;
use super::hub_pairs::HubPairs;
use super::hubs::Hubs;
use super::orient::Forward;
use crate::collectives::context::{Context, ContextRef};
use crate::machine::Grid;
use crate::tables::Wave;
use seawall_core::abi::control::FaultCode;
use seawall_core::abi::hubs::HUB_ROOM;
use seawall_core::abi::program::Opcode;

/// Runs an opcode about hubs.
///
/// # Errors
/// [`FaultCode::BadRegister`] if a register is missing or too short, or has no such space,
/// [`FaultCode::TimeBudget`] if the run's time ends in the wave.
#[inline(never)]
pub(super) fn run_hubs<G: Grid>(
    cx: ContextRef<G>,
    opcode: Opcode,
    wave: Wave,
) -> Result<(), FaultCode> {
    let context = &cx.context();
    let grid = context.team.grid;
    let hubs = |register| Hubs::of(context, register);
    let forward = |targets, degrees| Forward::of(context.tables, grid, targets, degrees);
    let both = wave.parameter(grid, 0) != 0;
    match opcode {
        Opcode::ResetHubs => reset(context, wave)?,
        Opcode::PickHubs => hubs(wave.destination(grid))?.pick(context, wave.parameter(grid, 0)),
        Opcode::RankHubs => hubs(wave.destination(grid))?.rank_all(context),
        Opcode::OrientHubs => {
            let forward = forward(wave.destination(grid), wave.source(grid, 0))?;
            forward.fill_by_hubs(context, hubs(wave.source(grid, 1))?, both);
        }
        _ => {
            let forward = forward(wave.source(grid, 0), wave.source(grid, 1))?;
            let hubs = hubs(wave.source(grid, 2))?;
            let nodes = context.tables.nodes(grid);
            // SAFETY: indices are nodes of the graph.
            let counts = unsafe {
                let register = wave.destination(grid);
                context.tables.proven_of(grid, register, nodes)?
            };
            let centers = Centers::of(grid, wave, nodes);
            if both {
                HubPairs::<true>::new(forward, hubs, counts, centers).all(context)?;
            } else {
                HubPairs::<false>::new(forward, hubs, counts, centers).all(context)?;
            }
        }
    }
    Ok(())
}

/// Clears a register of hubs, and stores its space there.
fn reset<G: Grid>(context: &Context<G>, wave: Wave) -> Result<(), FaultCode> {
    let grid = context.team.grid;
    let space = wave.parameter(grid, 0);
    let hubs = Hubs::with_space(context, wave.destination(grid), space)?;
    context.team.each((hubs.layout.words() / 4) as u32, |at| {
        let mut words = [0; 4];
        if at == 0 {
            const { assert!(HUB_ROOM < 4) };
            words[HUB_ROOM as usize] = space;
        }
        hubs.words.store_weak4(grid, 4 * at, words);
    });
    Ok(())
}
