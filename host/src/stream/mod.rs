//! Analyses of graphs whose edges stay on disk.
//!
//! A `.swg` file's nodes fit the memory, its edges do not: values of nodes stay resident, and the
//! edges flow through a few buffers, window by window, in as many passes as the analysis needs.
//! Reads are in flight while threads compute. Windows may stay in memory after their first read,
//! which makes a graph of more than 2^32 edges resident. Columns are those of a resident run, bit
//! for bit.
//!
//! The parts, from the file to the column:
//!
//! * `windows` places windows in the file, `buffer` has memory for them, `memory_plan` sizes both from a
//!   budget;
//! * `read` fills buffers: by `io_uring`, or by threads;
//! * `consumer` are threads that compute with windows; `sweep` moves buffers between reader and
//!   consumer: a pass. A kernel gets a [`View`];
//! * `checks` refuses invalid edges;
//! * `relax`, `parents`, `components`, `ranks`, `overflow` are the kernels; `marks` and `bits` show
//!   which windows a search needs;
//! * `machine` is a consumer that is a kernel on a machine, `on_machine` makes passes of one;
//! * `choose` decides when a graph streams by default, `execute` is the work of a request;
//! * `pass` is for a caller's work in the caller's buffers;
//! * `plan` is a run with its plan, `run` makes passes of kernels until the analysis ends, `report`
//!   counts the reads.

mod bits;
mod buffer;
mod checks;
mod choose;
mod components;
mod consumer;
mod execute;
mod machine;
mod marks;
mod mirrors;
mod on_machine;
mod overflow;
mod parents;
mod pass;
mod plan;
mod ranks;
mod read;
mod relax;
mod report;
mod memory_plan;
mod run;
mod sweep;
mod view;
mod windows;

pub use choose::{least_resident, reason_after_load, reason_after_run, reason_to_stream};
pub use execute::{StreamOptions, Streamed, check_streams};
pub use memory_plan::Keeping;
pub use pass::Pass;
pub use read::{Caching, ReaderChoice};
pub use report::{PASSES_KEPT, PassSummary, StreamReport};
pub use view::View;
pub use windows::Windows;
