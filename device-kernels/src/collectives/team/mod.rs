//! Blocks that work together: all of them, or one.
//!
//! Waves are written for any team. A team of the whole grid meets at the grid barrier, a team of
//! one block at its block barrier; so narrow groups and independent graphs cost no grid barrier.

mod members;
mod share;
mod barrier;

pub use barrier::rounds_per_poll;
pub use members::Team;
