//! Operations of several lanes: scans and searches by a block, blocks that form a team and meet at its
//! barrier, queues that a warp appends to, and the context that says who runs a wave.

pub mod block;
pub mod team;
pub mod queue;
pub mod context;
