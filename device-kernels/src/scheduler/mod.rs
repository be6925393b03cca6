//! Execution of programs: which blocks run which groups, in what order, with which barriers.
//!
//! Each module uses only those listed before it.

pub mod sets;
pub mod trace;
mod open;
mod wave;
mod group;
mod straight;
mod counters;
mod search_loop;
mod single;
mod fixpoint;
mod while_loop;
mod program;
mod launched;
mod batch;

pub use batch::{Batch, run_alone, run_batch};
pub use launched::{BodyLaunch, again, begin_loop, loop_goes_on, run_body, run_one_group};
pub use program::{cross_barriers, run_program};
