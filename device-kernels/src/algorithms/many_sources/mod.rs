//! Searches from many sources at once.

pub mod sets;
pub mod sweep;
mod sweep_counts;
