//! What the opcodes do, one file a family.
//!
//! A wave is one phase: it contains no team barrier, so that it runs alike
//! inside the megakernel and as a launch of its own.

pub mod words;
pub mod each;
pub mod reduce;
pub mod edges;
pub mod components;
pub mod flow;
pub mod search;
pub mod work;
pub mod expand;
mod expand_rows;
mod lengths;
pub mod paths;
pub mod peel;
mod gather;
mod gather_tiles;
pub mod rank;
pub mod deal;
pub mod parents;
pub mod sets;
pub mod orient;
pub mod triangles;

use crate::context::Hand;
use crate::grid::Grid;
use crate::machine::Wave;
use seawall_core::abi::control::FaultCode;
use seawall_core::abi::program::Opcode;

/// Families of opcodes. A kernel that leaves families out needs fewer
/// registers, since a match pays for its largest arm.
pub mod family {
    /// Word by word operations.
    pub const WORDS: u32 = 1;
    /// Frontier searches.
    pub const SEARCH: u32 = 2;
    /// Connected components.
    pub const COMPONENTS: u32 = 4;
    /// Bit-vector dataflow.
    pub const FLOW: u32 = 8;
    /// Reductions.
    pub const REDUCE: u32 = 16;
    /// Shortest paths.
    pub const PATHS: u32 = 32;
    /// Core numbers.
    pub const PEEL: u32 = 64;
    /// Rankings.
    pub const RANK: u32 = 128;
    /// Triangle counts.
    pub const TRIANGLES: u32 = 256;
    /// Sets of sources.
    pub const SETS: u32 = 512;
    /// Shortest paths with distances of 64 bits or floats.
    pub const LONG_PATHS: u32 = 1024;
    /// Code of programs, and loops within each other.
    pub const CODE: u32 = 2048;
    /// Every family.
    pub const ALL: u32 = u32::MAX;
    /// Every family but [`CODE`], which only programs that run code pay for.
    pub const READY: u32 = !CODE;
    /// What programs of code alone need.
    pub const CODE_ALONE: u32 = CODE | WORDS | REDUCE;
}

/// The families that hold `opcode`; control opcodes belong to none.
#[must_use]
pub const fn families_of(opcode: Opcode) -> u32 {
    match opcode {
        Opcode::Nop | Opcode::Fixpoint | Opcode::Stall => 0,
        Opcode::Fill
        | Opcode::Iota
        | Opcode::Copy
        | Opcode::And
        | Opcode::Or
        | Opcode::AndNot
        | Opcode::Xor
        | Opcode::Scatter
        | Opcode::Gather => family::WORDS,
        Opcode::Seed | Opcode::Expand | Opcode::Reset | Opcode::Visited | Opcode::Parents => {
            family::SEARCH
        }
        Opcode::Link
        | Opcode::Compress
        | Opcode::LinkSample
        | Opcode::Majority
        | Opcode::LinkRest => family::COMPONENTS,
        Opcode::Reduce => family::REDUCE,
        Opcode::GenKill | Opcode::Meet => family::FLOW,
        Opcode::ResetWork | Opcode::SeedPaths | Opcode::StepPaths => family::PATHS,
        Opcode::SeedPathsWide | Opcode::StepPathsWide | Opcode::StepPathsFloat => {
            family::LONG_PATHS
        }
        Opcode::SeedPeel | Opcode::StepPeel => family::PEEL,
        Opcode::SeedRanks | Opcode::GatherRanks | Opcode::ApplyRanks | Opcode::SettleRanks => {
            family::RANK
        }
        Opcode::OrientEdges | Opcode::CountTriangles => family::TRIANGLES,
        Opcode::SeedSets | Opcode::StepSets => family::SETS,
        Opcode::Each | Opcode::While => family::CODE,
    }
}

/// Runs this lane's share of a wave other than a fixpoint.
///
/// # Errors
/// The fault that ends the run.
#[inline(always)]
pub fn run<G: Grid, const FAMILIES: u32>(hand: Hand<G>, wave: Wave) -> Result<(), FaultCode> {
    let grid = hand.grid();
    let opcode = Opcode::from_word(wave.opcode(grid)).ok_or(FaultCode::UnknownOpcode)?;
    let families = families_of(opcode);
    if families & FAMILIES != families {
        return Err(FaultCode::UnknownOpcode);
    }
    if FAMILIES & family::WORDS != 0 && families == family::WORDS {
        return words::run(hand, opcode, wave);
    }
    if FAMILIES & family::SEARCH != 0 && opcode == Opcode::Parents {
        return parents::run(hand, wave);
    }
    if FAMILIES & family::SEARCH != 0 && families == family::SEARCH {
        return search::run(hand, opcode, wave);
    }
    if FAMILIES & family::COMPONENTS != 0 && families == family::COMPONENTS {
        return components::run(hand, opcode, wave);
    }
    if FAMILIES & family::FLOW != 0 && families == family::FLOW {
        return flow::run(hand, opcode, wave);
    }
    if FAMILIES & family::REDUCE != 0 && families == family::REDUCE {
        return reduce::run(hand, wave);
    }
    if FAMILIES & family::PATHS != 0 && families == family::PATHS {
        return paths::run(hand, opcode, wave);
    }
    if FAMILIES & family::LONG_PATHS != 0 && families == family::LONG_PATHS {
        return paths::run_long(hand, opcode, wave);
    }
    if FAMILIES & family::PEEL != 0 && families == family::PEEL {
        return peel::run(hand, opcode, wave);
    }
    if FAMILIES & family::RANK != 0 && families == family::RANK {
        return rank::run(hand, opcode, wave);
    }
    if FAMILIES & family::TRIANGLES != 0 && families == family::TRIANGLES {
        return triangles::run(hand, opcode, wave);
    }
    if FAMILIES & family::SETS != 0 && families == family::SETS {
        return sets::run(hand, opcode, wave);
    }
    if FAMILIES & family::CODE != 0 && opcode == Opcode::Each {
        return each::run(hand, wave);
    }
    if opcode == Opcode::Stall {
        return stall(hand, wave.parameter(grid, 0));
    }
    Ok(())
}

/// Holds one block back until the run's time is over and someone who waits
/// for it says so; reports it itself when nobody does.
#[inline(never)]
fn stall<G: Grid>(hand: Hand<G>, block: u32) -> Result<(), FaultCode> {
    let context = hand.context();
    let grid = context.team.grid;
    if grid.block() != block {
        return Ok(());
    }
    let mut polls = 0_u32;
    while !context.team.control.is_stopped(grid) && !context.team.is_overdue() {
        polls = polls.saturating_add(1);
        grid.pause(polls);
    }
    if grid.block_any(!context.team.control.is_stopped(grid)) {
        return Err(FaultCode::TimeBudget);
    }
    Ok(())
}
