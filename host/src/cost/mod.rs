//! The vocabulary of costs: what a machine's work costs, and how much of it a job is.
//!
//! [`figures`] holds what a machine costs, [`job`] what is to be done, and a [`Worker`]
//! prices the one at the figures of the other: passes over all edges, searches, levels.
//! An analysis states its cost in these words, and `calibrate` compares machines by them.
//! Nothing here knows an analysis, a program or a backend.

pub mod figures;
pub mod job;
mod worker;

pub use figures::{CLASSES, Costs, CpuCosts, GpuCosts, LevelCost, MachineCosts, WIDTH_LIMITS};
pub use job::{Job, Tally};
pub use worker::{Times, Worker};
