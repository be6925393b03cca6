//! Traversals of the edges of many rows.

pub mod row_spread;
pub mod edges;
pub mod shares;
pub mod nodes;
pub mod warps;
