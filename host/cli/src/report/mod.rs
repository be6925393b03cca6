//! Reports: a finished run or plan as text, JSON, a trace, a picture or a file.
//!
//! Each writer takes computed results and a [`std::io::Write`]; none runs anything, reads a graph
//! or sets an exit code.

pub mod batch;
pub mod draw;
pub mod explain;
pub mod json;
pub(crate) mod page;
pub mod plan;
pub mod plot;
pub mod rows;
pub mod table;
pub mod text;
pub mod trace;

pub mod canvas;
pub(crate) mod code;
mod devices;
pub(crate) mod head;
mod stream;
pub(crate) mod taken;
mod top;
pub(crate) mod weights;
