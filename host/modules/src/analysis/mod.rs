//! Analyses of functions, each as a gen/kill problem.
//!
//! A problem has facts only for cells and expressions that can matter in more than one block, so
//! that most functions need one word a block.

mod liveness;
mod reaching;
mod initialised;
mod expressions;
mod dominators;
mod marks;
mod facts;

pub use dominators::{Dominators, Loops, NONE, dominates, dominators, loops};
pub use expressions::{AVAILABLE, Expressions, VERY_BUSY, available, expressions, very_busy};
pub use facts::{text_facts, text_setup};
pub use initialised::{INITIALISED, Reads, Uninitialised, initialised, uninitialised_uses};
pub use liveness::{DeadStore, LIVENESS, Live, Lived, dead_stores, liveness};
pub use reaching::{REACHING, Reaching, reaching};
