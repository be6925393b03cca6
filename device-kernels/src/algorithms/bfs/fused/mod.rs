//! Fused searches: iterations over a narrow frontier in few blocks, without grid
//! barriers.
//!
//! The blocks of the first cluster search, with their queues in shared memory, while the others
//! wait at the next grid barrier. The narrower the frontier, the fewer take part: up to 96 nodes,
//! the first block alone with block barriers; for a frontier that fits one warp, that block's first
//! warp without any barrier. In a launch without clusters, the first block is a cluster. The search
//! goes back to a resident queue when the frontier grows too wide or is empty. A frontier or a
//! group is *narrow* if so few blocks suffice for it.

pub(crate) mod block_group;
mod queue;
pub(crate) mod progress;
mod look;
mod pass;
mod first_block;
mod hand_back;
mod run;

pub use block_group::{group_size, reach};
pub use progress::Bounds;
pub use run::{run_fused, thread_group_now};
