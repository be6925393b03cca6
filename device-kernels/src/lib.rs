//! The wave machine: one kernel source for a GPU and for CPU threads.
//!
//! Kernels here are generic over a [`grid::Grid`] and walk the tables of
//! [`seawall_core::abi`]. Built for `nvptx64-nvidia-cuda` they are the persistent
//! megakernel and its launch-by-launch twins (`entry`); built for a CPU they are the
//! functions that its backend calls from one thread per block. `codegen` says what is
//! written so for the compilers, and why. This crate allocates nothing and knows no host.
#![cfg_attr(not(test), no_std)]
#![cfg_attr(
    target_arch = "nvptx64",
    feature(
        abi_ptx,
        abi_unadjusted,
        asm_experimental_arch,
        link_llvm_intrinsics,
        stdarch_nvptx
    )
)]
#![cfg_attr(target_arch = "nvptx64", allow(internal_features))]
#![warn(missing_docs)]

pub mod grid;
pub mod shared;
pub mod memory;
pub mod block;
pub mod control;
pub mod team;
pub mod tiles;
pub mod launch;
pub mod tables;
pub mod context;
pub mod queue;
pub mod waves;
pub mod search;
pub mod run;
pub mod codegen;

#[cfg(target_arch = "nvptx64")]
pub mod entry;

use waves::{families_of, family};

/// Name of the batch kernel that fits programs of these opcodes. The one for searches
/// alone takes blocks of at most [`COMPACT_LANES`](grid::COMPACT_LANES) lanes.
#[must_use]
pub fn batch_kernel_for(
    opcodes: impl IntoIterator<Item = seawall_core::abi::program::Opcode>,
) -> &'static str {
    if only_searches(opcodes) {
        "seawall_batch_search"
    } else {
        "seawall_batch"
    }
}

/// Name of the megakernel that fits a program of these opcodes: the smallest
/// one that has all of their families.
#[must_use]
pub fn megakernel_for(
    opcodes: impl IntoIterator<Item = seawall_core::abi::program::Opcode>,
) -> &'static str {
    if only_searches(opcodes) {
        "seawall_mega_search"
    } else {
        "seawall_mega"
    }
}

fn only_searches(opcodes: impl IntoIterator<Item = seawall_core::abi::program::Opcode>) -> bool {
    let families = opcodes
        .into_iter()
        .fold(0, |families, opcode| families | families_of(opcode));
    families & !(family::SEARCH | family::WORDS) == 0
}
