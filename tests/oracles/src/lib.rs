//! Shared oracles and generators for the tests.
//!
//! The same cases run in the host tests and, as one binary, on a machine with a GPU, so nothing
//! here needs a test framework.

pub mod random;
pub mod graphs;
pub mod oracle;
pub mod code;
pub mod own;
pub mod components;
pub mod script;
pub mod interpret;
mod draw_code;
pub mod draw;
pub mod straight;
pub mod faulty;
pub mod harness;
pub mod ranks;
pub mod carriers;
pub mod composed;
pub mod batches;
pub mod paths;
pub mod pairs;
pub mod forms;
pub mod lanes;
pub mod hostile;
pub mod stale;
pub mod ladder;
pub mod ptx;
pub mod listed;
pub mod shared;
pub mod serving;
