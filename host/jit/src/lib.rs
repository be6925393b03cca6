//! Machine code for the code of waves, on CPU threads; and PTX for GPUs ([`ptx`]).
//!
//! A wave of code is a list of [`Instruction`]s that a kernel interprets for each item. This crate
//! makes a function of the list by Cranelift: a loop over items, with loops over the edges of an
//! item in it. The function takes the place of the interpreter in one wave and does what it does:
//! the same values, the same checks of indices, the same faults. Where indices are below the number
//! of nodes by the checks of the host, and a register has a value for every node, neither checks.
//!
//! Code comes from tables that passed the host's checks. Unchecked tables are refused or make
//! functions that access nothing outside the regions, but their values may be others.
//!
//! Memory is writable while code is written to it, then executable, and never both.

mod code;
mod emit;
mod error;
mod module;
pub mod ptx;
#[cfg(test)]
mod tests;
mod walk;

pub use error::JitError;
pub use module::{Compiled, CompiledWave, assembly};

use seawall_core::abi::code::Instruction;
use seawall_core::abi::program::{EachRecord, RegisterRecord};

/// The tables that code relies on, and its machine.
#[derive(Clone, Copy, Debug)]
pub struct Tables<'t> {
    /// Nodes of the graph.
    pub nodes: u32,
    /// Registers of the program.
    pub registers: &'t [RegisterRecord],
    /// Code of all waves.
    pub code: &'t [Instruction],
    /// Whether one thread runs it, so that no change of memory has to be atomic.
    pub is_alone: bool,
}

/// A wave of code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodeWave {
    /// Its parameters.
    pub record: EachRecord,
    /// Whether its items are the entries of a list.
    pub is_listed: bool,
}
