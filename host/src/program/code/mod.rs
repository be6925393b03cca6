//! Code of a wave, as a closure writes it: values, what is done with them, edges.
//!
//! [`Item`] is what [`ProgramBuilder::each`](super::ProgramBuilder::each) hands to its
//! closure. Each call adds a step; [`allocate`] finds places for the values and makes
//! instructions of the steps. What makes no sense, such as the sum of a float and a whole
//! number, is remembered and returned when the program is encoded.

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
