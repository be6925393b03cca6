//! Values of functions in static single assignment form, and the flows between functions.
//!
//! Taint follows data: every operation passes on what it reads. Points-to follows references and
//! indices of tables: only copies pass them on, and constants make them.

mod follow;
mod function;
mod condense;
mod whole;

pub(crate) use follow::{Port, References};
pub(crate) use function::{CallResult, NONE, Site, Values};
pub(crate) use whole::{Detail, Whole};
