//! The algorithms, a folder each with its formula, work and depth on top, and the families of their
//! opcodes.
//!
//! A wave is one phase: it contains no team barrier, so it runs alike inside the megakernel and as
//! a separate launch.

pub mod bfs;
pub mod paths;
pub mod components;
pub mod cores;
pub mod many_sources;
pub mod rank;
pub mod triangles;
pub mod flow;
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
