//! Searches: a frontier that walks a graph until it is empty.
//!
//! `F(0)` holds the sources, and `F(i + 1)` the nodes that edges from `F(i)` enter and that no
//! `F(0), …, F(i)` has. Work is linear in nodes and edges; pulls leave out edges to nodes that are
//! found early, and look at some twice. Depth is the number of levels (Merrill, Garland, Grimshaw:
//! "Scalable GPU Graph Traversal", PPoPP 2012; Beamer, Asanović, Patterson: "Direction-Optimizing
//! Breadth-First Search", SC 2012).
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
pub mod threads;
pub mod step;
pub mod waves;
pub mod parents;
