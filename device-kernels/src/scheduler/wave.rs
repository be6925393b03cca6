//! One wave: the function of its opcode's family.

use super::sets::WaveSet;
use crate::algorithms::bfs::parents;
use crate::algorithms::bfs::waves::run_search_wave;
use crate::algorithms::many_sources::{sets, sweep};
use crate::algorithms::{components, cores as peel, family, flow, paths, rank, stall, triangles};
use crate::collectives::context::ContextRef;
use crate::machine::Grid;
use crate::operators::{each, reduce, words};
use crate::tables::Wave;
use seawall_core::abi::control::FaultCode;
use seawall_core::abi::own::own_number;
use seawall_core::abi::program::Opcode;

/// Runs this lane's share of a wave that is not a fixpoint.
///
/// # Errors
/// The fault that ends the run.
#[inline(always)]
pub(super) fn run_wave<G: Grid, S: WaveSet>(
    cx: ContextRef<G>,
    wave: Wave,
) -> Result<(), FaultCode> {
    let grid = cx.grid();
    if S::OWN != 0
        && let Some(number) = own_number(wave.opcode(grid))
    {
        return S::run_own(cx, number, wave);
    }
    let opcode = Opcode::from_word(wave.opcode(grid)).ok_or(FaultCode::UnknownOpcode)?;
    let families = opcode.family();
    if families & S::FAMILIES != families {
        return Err(FaultCode::UnknownOpcode);
    }
    if S::FAMILIES & family::WORDS != 0 && families == family::WORDS {
        return words::run_words(cx, opcode, wave);
    }
    if S::FAMILIES & family::SEARCH != 0 && opcode == Opcode::Parents {
        return parents::run_parents(cx, wave);
    }
    if S::FAMILIES & family::SEARCH != 0 && families == family::SEARCH {
        return run_search_wave(cx, opcode, wave);
    }
    if S::FAMILIES & family::COMPONENTS != 0 && families == family::COMPONENTS {
        return components::run_components(cx, opcode, wave);
    }
    if S::FAMILIES & family::FLOW != 0 && families == family::FLOW {
        return flow::run_flow(cx, opcode, wave);
    }
    if S::FAMILIES & family::REDUCE != 0 && families == family::REDUCE {
        return reduce::run_reduce(cx, wave);
    }
    if S::FAMILIES & family::PATHS != 0 && families == family::PATHS {
        return paths::run_paths(cx, opcode, wave);
    }
    if S::FAMILIES & family::LONG_PATHS != 0 && families == family::LONG_PATHS {
        return paths::run_long_paths(cx, opcode, wave);
    }
    if S::FAMILIES & family::PEEL != 0 && families == family::PEEL {
        return peel::run_peel(cx, opcode, wave);
    }
    if S::FAMILIES & family::RANK != 0 && families == family::RANK {
        return rank::run_rank(cx, opcode, wave);
    }
    if S::FAMILIES & family::TRIANGLES != 0 && families == family::TRIANGLES {
        return triangles::run_triangles(cx, opcode, wave);
    }
    if S::FAMILIES & family::SETS != 0 && families == family::SETS {
        return sets::run_sets(cx, opcode, wave);
    }
    if S::FAMILIES & family::SWEEP != 0 && families == family::SWEEP {
        return sweep::run_sweep(cx, opcode, wave);
    }
    #[cfg(target_arch = "nvptx64")]
    if S::LINKED && opcode == Opcode::Each {
        return each::run_linked(cx, wave);
    }
    if S::FAMILIES & family::CODE != 0 && !S::LINKED && opcode == Opcode::Each {
        return each::run_each(cx, wave);
    }
    #[cfg(not(target_arch = "nvptx64"))]
    if S::FAMILIES & family::SEQUENTIAL != 0 && opcode == Opcode::Sequential {
        return crate::cpu::sequential::run_sequential(cx, wave);
    }
    if opcode == Opcode::Stall {
        return stall::run_stall(cx, wave.parameter(grid, 0));
    }
    Ok(())
}
