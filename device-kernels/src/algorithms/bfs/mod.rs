//! Searches: a frontier that walks a graph until it is empty.
//!
//! An iteration is one step of some shape over the current frontier (see
//! [`Step`](seawall_core::abi::search::Step)); [`drive`] chooses the shape from device
//! counters. Push shapes read a queue, pull shapes the visited bitset, and a compaction
//! turns bits into a queue again. Shortest paths are not here: their frontier is not
//! monotone.
//!
//! Each shape is a separate function: codegen rule `OWN_FUNCTION`.

pub mod frontier;
pub mod visit;
pub mod drive;
pub mod shared_drive;
pub mod current;
pub mod seed;
pub mod push;
pub mod sink;
pub mod share;
pub mod pull;
pub mod compact;
pub mod fused;
pub mod step;
pub mod waves;
pub mod parents;
