//! Vocabulary of costs: figures of machines, and the amount of work in jobs.
//!
//! [`figures`] holds the costs of a machine, [`job`] the work, and a [`Worker`] prices the work by
//! the figures: passes over all edges, searches, levels. An analysis states its cost in these
//! terms, and `calibrate` compares machines by them. Nothing here knows an analysis, a program or
//! a backend.

pub mod figures;
pub mod job;
mod worker;

pub use figures::{
    CLASSES, Costs, CpuCosts, GpuCosts, LevelCost, MachineCosts, WIDTH_LIMITS, class_of,
};
pub use job::{Job, Tally};
pub use worker::{Times, Worker};
