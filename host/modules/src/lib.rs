//! Program analysis: dataflow, call graphs and taint over whole programs, as wave programs.
//!
//! A front end ([`wasm`] for WebAssembly modules, [`text`] for flow graphs of any language) makes
//! a [`model::Program`]: functions of basic blocks, and their calls. Every analysis states its
//! facts as gen and kill sets of blocks ([`flow::Problem`]). All functions go to the machine in
//! one graph, where one fixpoint settles them ([`flow::solve`]). Questions about paths of any labelled
//! graph are grammars ([`grammar::reach`]).

pub mod error;
pub mod model;
mod named;
pub mod names;
pub mod wasm;
pub mod text;
pub mod order;
pub mod cells;
pub mod flow;
pub mod analysis;
pub mod calls;
pub mod around;
mod values;
pub mod finding;
pub mod points_to;
pub mod taint;
pub mod grammar;
pub mod report;
pub mod blocks;
pub mod sarif;

pub use error::ModuleError;

use model::Program;

/// Whether a file that begins so is one that [`read`] takes.
#[must_use]
pub fn is_known(start: &[u8]) -> bool {
    start.starts_with(wasm::MAGIC) || text::is_text(start)
}

/// Reads a file by its content and adds it to `program`.
///
/// # Errors
/// [`ModuleError::Unknown`] if it is of no known form, else as [`wasm::read`] and [`text::read`].
pub fn read(program: &mut Program, path: &str, bytes: Vec<u8>) -> Result<(), ModuleError> {
    if bytes.starts_with(wasm::MAGIC) {
        return wasm::read(program, path, bytes);
    }
    if text::is_text(&bytes) {
        let text = String::from_utf8_lossy(&bytes);
        return text::read(program, path, &text);
    }
    Err(ModuleError::Unknown {
        path: path.to_owned(),
    })
}

/// The listings of the guide, so that tests build them.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/program-analysis.md")]
struct ProgramAnalysis;
