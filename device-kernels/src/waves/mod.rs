//! The opcodes, one file per family.
//!
//! A wave is one phase: it contains no team barrier, so it runs alike inside the megakernel and as
//! a separate launch.

pub mod words;
pub mod each;
pub mod reduce;
pub(crate) mod row_spread;
pub mod edges;
pub mod components;
pub mod flow;
mod settle;
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
pub mod scale;
pub(crate) mod gather;
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

/// Families of opcodes, and the sets of them that kernels have.
pub mod family {
    pub use seawall_core::abi::program::family::*;

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
