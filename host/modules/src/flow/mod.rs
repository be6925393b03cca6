//! Gen/kill problems, and the wave program that solves them.
//!
//! A [`Problem`] states the facts of one function. [`solve`] lays the block graphs of all functions
//! side by side in one graph: a node is a block together with 64 of its facts, so that a function
//! with more facts has its blocks several times, and every node one word. The program is one wave
//! in a fixpoint:
//!
//! ```text
//! after = made | (join of the rows' `after` & kept)
//! ```
//!
//! A row has the predecessors of a block, or for a backward problem the successors, and nodes are
//! numbered so that rows point to lower numbers, but for edges that close loops. Threads that take
//! the nodes in order then settle a function in two sweeps more than its loops are nested. Problems
//! that intersect are solved by their complements: `after` then has the facts that do *not* hold.

mod layout;
mod problem;
mod solution;
mod wave;

pub use problem::{Direction, Meet, Problem, Setup, Span};
pub use solution::{Solution, SolveStats, predecessors};
pub(crate) use wave::solve_bodies;
pub use wave::{Limits, On, solve};
