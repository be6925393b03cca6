//! A narrow frontier in few blocks: iterations without a grid barrier.
//!
//! The blocks of the first cluster search, with their queues in shared memory,
//! while the others wait at the next grid barrier. The narrower the frontier,
//! the fewer take part: up to 96 nodes the first block alone,
//! which needs only block barriers, and what fits one warp that block's first
//! warp, without any barrier. Where a launch has no clusters, the first block
//! is its own. They hand back when the frontier grows too wide or nothing is
//! left.

mod crew;
mod queue;
mod progress;
mod look;
mod pass;
mod first_block;
mod hand_back;
mod run;
pub(super) mod one_thread;

pub use crew::{crew_size, reach};
pub use progress::Bounds;
pub use run::run_fused;
