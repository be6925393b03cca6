//! Reductions of an array into one word.
//!
//! The destination must hold the reduction's identity before the wave (0, or `u32::MAX`
//! for a minimum); a fill wave before it stores that.

use crate::collectives::context::ContextRef;
use crate::machine::Grid;
use crate::machine::memory::Words;
use crate::tables::Wave;
use seawall_core::abi::control::FaultCode;
use seawall_core::abi::program::Reduction;

/// Runs a reduction.
///
/// # Errors
/// [`FaultCode::BadRegister`] if a register is missing, [`FaultCode::BadParameter`] if
/// the reduction's word names none.
#[inline(never)]
pub fn run_reduce<G: Grid>(cx: ContextRef<G>, wave: Wave) -> Result<(), FaultCode> {
    let context = &cx.context();
    let (team, grid) = (&context.team, context.team.grid);
    let how = Reduction::from_word(wave.parameter(grid, 0)).ok_or(FaultCode::BadParameter)?;
    let to = context
        .tables
        .register_of(grid, wave.destination(grid), 1)?;
    let from = context.tables.register(grid, wave.source(grid, 0))?;
    // SAFETY: indices are its words.
    let from = unsafe { from.proven() };
    let mut own = identity(how);
    team.each(from.len(), |at| {
        own = join(how, own, from.load_weak(grid, at));
    });
    combine(grid, how, to, own);
    Ok(())
}

/// The neutral word of a reduction.
#[inline(always)]
pub(crate) fn identity(how: Reduction) -> u32 {
    if how == Reduction::Min { u32::MAX } else { 0 }
}

#[inline(always)]
pub(crate) fn join(how: Reduction, so_far: u32, word: u32) -> u32 {
    match how {
        Reduction::Any => so_far | u32::from(word != 0),
        Reduction::Count => so_far.wrapping_add(word.count_ones()),
        Reduction::Sum => so_far.wrapping_add(word),
        Reduction::Min => so_far.min(word),
        Reduction::Max => so_far.max(word),
    }
}

/// Joins the partial results of a warp, then adds them to the destination. A warp
/// operation.
#[inline(always)]
pub(crate) fn combine<G: Grid>(grid: G, how: Reduction, to: Words, own: u32) {
    let mut sum = own;
    let mut delta = G::WARP / 2;
    while delta > 0 {
        let other = grid.shuffle(sum, grid.warp_lane() ^ delta);
        sum = match how {
            Reduction::Any => sum | other,
            Reduction::Count | Reduction::Sum => sum.wrapping_add(other),
            Reduction::Min => sum.min(other),
            Reduction::Max => sum.max(other),
        };
        delta /= 2;
    }
    if grid.warp_lane() != 0 {
        return;
    }
    match how {
        Reduction::Any => {
            if sum != 0 {
                to.or(grid, 0, 1);
            }
        }
        Reduction::Count | Reduction::Sum => {
            to.add(grid, 0, sum);
        }
        Reduction::Min => {
            to.min(grid, 0, sum);
        }
        Reduction::Max => {
            to.max(grid, 0, sum);
        }
    }
}
