//! Code of a wave as written by a closure: values, operations and edges.
//!
//! [`Item`] is what [`ProgramBuilder::each`](super::ProgramBuilder::each) hands to its closure.
//! Each call adds a step; [`allocate`] finds temporaries for the values and makes instructions of
//! the steps. An error, such as the sum of a float and a whole number, is recorded and returned
//! when the program is encoded.

mod allocate;
mod arg;
mod fold;
mod hand;
mod item;
mod steps;
mod value;

pub(super) use allocate::allocate;
pub(super) use arg::Extreme;
pub use item::{Edge, Item};
pub(super) use steps::Coder;
pub use value::{Operand, Value};
