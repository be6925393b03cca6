//! Searches from many sources at once, one bit per source: work is that of one search times the
//! words of a set, depth the number of levels (Then et al.: "The More the Merrier: Efficient
//! Multi-Source Graph Traversal", PVLDB 8, 2014).

pub mod sets;
pub mod sweep;
mod sweep_counts;
