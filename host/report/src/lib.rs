//! Reports: a finished run or plan as text, JSON, a trace, a picture, a page or a file.
//!
//! Each writer takes computed results and a [`std::io::Write`]; none runs anything, reads a graph
//! or sets an exit code.

pub mod batch;
pub mod canvas;
pub mod code;
pub mod date;
pub mod diagram;
pub mod draw;
pub mod explain;
pub mod head;
pub mod json;
pub mod page;
pub mod plan;
pub mod plot;
pub mod rows;
pub mod table;
pub mod taken;
pub mod text;
pub mod trace;
pub mod weights;

mod devices;
mod stream;
mod timeline;
mod top;
