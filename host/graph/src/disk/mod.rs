//! Graphs whose edges stay on disk.
//!
//! A `.swg` file holds the arrays of a graph as they are in memory. Here only its nodes are read:
//! row offsets, and the file's ids. A caller reads the edges itself, at the places that a
//! [`SwgFile`] names, and checks them, or takes those that lead to a range of nodes.

mod part;
mod rows;
mod swg;

pub use crate::mirror::MirrorSum;
pub use rows::{RowError, Rows};
pub use swg::{DiskNodes, SwgFile};
