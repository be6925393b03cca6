//! The blocks that work on something together: all of them, or one.
//!
//! Waves are written for a team, whichever it is. A team of the whole grid meets at the
//! grid barrier, a team of one block at its block barrier; so narrow groups and
//! independent graphs cost no grid barrier.

mod members;
mod share;
mod barrier;

pub use barrier::rounds_per_poll;
pub use members::Team;
