//! Shared parts of the fuzz targets: a limit on memory, programs drawn from bytes, plain checks of
//! the promises of planner and readers.
//!
//! Oracles here are as plain as possible and call no code under test.

pub mod case;
pub mod draw;
pub mod graph;
pub mod limit;
pub mod plain;
pub mod plan;
pub mod pool;
pub mod swg;
