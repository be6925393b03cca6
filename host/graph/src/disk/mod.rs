//! Graphs whose edges stay on disk.
//!
//! A `.swg` file holds the arrays of a graph as they are in memory. Here only its nodes are read:
//! where each row starts, and the file's ids. The one who walks the edges reads them himself, at
//! the places that a [`SwgFile`] names, and checks what he reads.

mod rows;
mod swg;

pub use crate::mirror::MirrorSum;
pub use rows::{RowError, Rows};
pub use swg::{DiskNodes, SwgFile};
