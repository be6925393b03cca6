//! The opcodes, one file per family.
//!
//! A wave is one phase: it contains no team barrier, so it runs alike inside the megakernel and as
//! a separate launch.

pub mod words;
pub mod each;
pub mod reduce;
mod row_spread;
pub mod edges;
pub mod components;
pub mod flow;
pub mod work;
pub mod collect;
pub mod expand;
mod expand_rows;
mod expand_warps;
mod lengths;
mod relax;
mod fused_bucket;
pub mod paths;
mod pull_paths;
pub mod peel;
mod scale;
mod gather;
mod gather_tiles;
mod slices;
mod gather_slices;
mod frequent;
mod rank_parts;
pub mod rank;
mod rank_chunks;
mod recount;
mod rank_rows;
pub mod deal;
pub mod parents;
pub mod sets;
pub mod sweep;
mod sweep_counts;
pub mod orient;
mod sieve;
mod neighbour_tables;
mod hook_reached;
mod center;
pub mod triangles;
mod few_kept;
mod hubs;
mod hub_rows;
mod hub_pairs;
mod hub_waves;
pub mod stall;

use seawall_core::abi::program::Opcode;

/// Families of opcodes. A kernel that leaves families out needs fewer registers: codegen
/// rule `OWN_FUNCTION`.
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
    /// Sweeps of searches from many sources.
    pub const SWEEP: u32 = 4096;
    /// Whole sequential algorithms, for the CPU only.
    pub const SEQUENTIAL: u32 = 8192;
    /// Every family that the machine has.
    pub const ALL: u32 = if cfg!(target_arch = "nvptx64") {
        !SEQUENTIAL
    } else {
        u32::MAX
    };
    /// Every family except [`CODE`], whose cost only programs with code should pay.
    pub const READY: u32 = !(CODE | SEQUENTIAL);
    /// Families of programs that work in many rounds, each over the nodes that the last one found.
    pub const ROUNDS: u32 = PATHS | LONG_PATHS | PEEL | SETS | WORDS | REDUCE;
    /// Families of programs that only run code.
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
        | Opcode::LinkRest
        | Opcode::HookReached => family::COMPONENTS,
        Opcode::Reduce => family::REDUCE,
        Opcode::GenKill | Opcode::Meet => family::FLOW,
        Opcode::ResetWork | Opcode::SeedPaths | Opcode::StepPaths => family::PATHS,
        Opcode::SeedPathsWide | Opcode::StepPathsWide | Opcode::StepPathsFloat => {
            family::LONG_PATHS
        }
        Opcode::SeedPeel | Opcode::StepPeel => family::PEEL,
        Opcode::SeedRanks
        | Opcode::GatherRanks
        | Opcode::CountSlices
        | Opcode::ScanSlices
        | Opcode::PlaceSlices
        | Opcode::CopySlices
        | Opcode::GatherSlices
        | Opcode::PickFrequent
        | Opcode::CopyFrequent
        | Opcode::ApplyRanks
        | Opcode::SettleRanks
        | Opcode::StepRanks => family::RANK,
        Opcode::OrientEdges
        | Opcode::CountTriangles
        | Opcode::ResetHubs
        | Opcode::PickHubs
        | Opcode::RankHubs
        | Opcode::OrientHubs
        | Opcode::CountHubs => family::TRIANGLES,
        Opcode::SeedSets | Opcode::StepSets => family::SETS,
        Opcode::Each | Opcode::While => family::CODE,
        Opcode::Sequential => family::SEQUENTIAL,
        Opcode::SeedSweep | Opcode::Sweep | Opcode::SweepBack | Opcode::SettleSweep => {
            family::SWEEP
        }
    }
}
