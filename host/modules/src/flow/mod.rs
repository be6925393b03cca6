//! Gen/kill problems, and the wave programs that solve them.
//!
//! A [`Problem`] states the facts of one function. [`solve`] lays the block graphs of all functions
//! side by side in one graph: a node is a block together with 64 of its facts, so that a function
//! with more facts has its blocks several times, and every node one word. A wave repeats this until
//! nothing is new:
//!
//! ```text
//! after = made | (join of the rows' `after` & kept)
//! ```
//!
//! A row has the predecessors of a block, or for a backward problem the successors, and nodes are
//! numbered so that rows point to lower numbers, but for edges that close loops. Each function is
//! solved by itself, in that order, by a thread, or by a warp or a block of a GPU: in as many
//! iterations as its loops are nested, and three. Of very large functions, all threads or blocks
//! share each iteration. Problems that intersect are solved by their complements: `after` then has
//! the facts that do *not* hold.

mod layout;
mod problem;
mod programs;
mod solution;
mod wave;

pub use problem::{Direction, FactSet, Meet, Problem, SetKill, Setup, Span};
pub(crate) use problem::{bits, count, facts, has};
pub use solution::{Arrivals, Solution, SolveStats, predecessors};
pub(crate) use wave::solve_bodies;
pub use wave::{Limits, On, solve};
