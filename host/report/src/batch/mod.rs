//! The reports of a batch: totals first, then a result for each graph.

pub mod json;
pub mod rows;
pub mod text;
pub mod trace;
