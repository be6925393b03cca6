//! The wave machine: one kernel source for a GPU and for CPU threads.
//!
//! Kernels here are generic over a [`machine::Grid`] and walk the tables of [`seawall_core::abi`].
//! Built for `nvptx64-nvidia-cuda` they are the persistent megakernel and its launch-by-launch
//! twins (`entry::builtin`); built for a CPU they are the functions that its backend calls from one
//! thread per block (`entry::threads`). `codegen` lists the rules that code follows for the compilers. This crate
//! allocates nothing and knows no host.
#![cfg_attr(not(test), no_std)]
#![cfg_attr(
    target_arch = "nvptx64",
    feature(
        abi_unadjusted,
        asm_experimental_arch,
        link_llvm_intrinsics,
        stdarch_nvptx
    )
)]
#![cfg_attr(seawall_kernels, feature(abi_ptx))]
#![cfg_attr(target_arch = "nvptx64", allow(internal_features))]
#![warn(missing_docs)]

pub mod machine;
pub mod tables;
pub mod collectives;
pub mod operators;
pub mod algorithms;
#[cfg(not(target_arch = "nvptx64"))]
pub mod cpu;
pub mod own;
pub mod scheduler;
pub mod resident;
pub mod multi;
pub mod entry;
pub mod codegen;

use scheduler::sets::{CodeAlone, Ready, Rounds, Searches, WaveSet as _};

/// Name of the batch kernel that fits programs of these opcodes. The kernel for searches only takes
/// blocks of at most [`COMPACT_LANES`](machine::COMPACT_LANES) lanes.
#[must_use]
pub fn batch_kernel_for(
    opcodes: impl IntoIterator<Item = seawall_core::abi::program::Opcode>,
) -> &'static str {
    match families_of_all(opcodes) {
        families if is_within(families, Searches::FAMILIES) => "seawall_batch_search",
        families if is_within(families, Ready::FAMILIES) => "seawall_batch",
        _ => "seawall_batch_all",
    }
}

/// Name of the megakernel that fits a program of these opcodes: the smallest
/// one that has all of their families.
#[must_use]
pub fn megakernel_for(
    opcodes: impl IntoIterator<Item = seawall_core::abi::program::Opcode>,
) -> &'static str {
    match families_of_all(opcodes) {
        families if is_within(families, Searches::FAMILIES) => "seawall_mega_search",
        families if is_within(families, Rounds::FAMILIES) => "seawall_mega_rounds",
        families if is_within(families, Ready::FAMILIES) => "seawall_mega",
        families if is_within(families, CodeAlone::FAMILIES) => "seawall_mega_code",
        _ => "seawall_mega_all",
    }
}

/// Whether a program of these opcodes runs code, for which kernels that launch each group
/// have twins.
#[must_use]
pub fn runs_code(opcodes: impl IntoIterator<Item = seawall_core::abi::program::Opcode>) -> bool {
    !is_within(families_of_all(opcodes), Ready::FAMILIES)
}

fn families_of_all(opcodes: impl IntoIterator<Item = seawall_core::abi::program::Opcode>) -> u32 {
    let opcodes = opcodes.into_iter();
    opcodes.fold(0, |families, opcode| families | opcode.family())
}

const fn is_within(families: u32, known: u32) -> bool {
    families & !known == 0
}
