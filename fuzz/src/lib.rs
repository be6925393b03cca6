//! What the fuzz targets share: a limit on memory, programs drawn from bytes,
//! plain rereadings of what a planner and a reader promise.
//!
//! Oracles here are as plain as can be and call nothing of what they judge.

pub mod draw;
pub mod graph;
pub mod limit;
pub mod plain;
pub mod plan;
pub mod pool;
pub mod swg;
