//! Runs DAGs of graph waves in one persistent GPU kernel, or on the CPU.
//!
//! A graph ([`graph`]) and a wave program ([`program`]) go through the planner
//! of `seawall-core` to an executor ([`backend`]); [`analysis`] holds ready
//! programs, and [`run`] takes a request from a graph to a result,
//! [`batch`] one for many graphs at once; [`service`] keeps workers resident
//! that answer queries about one graph, and [`stream`] runs analyses of graphs whose edges stay on
//! disk.

pub use seawall_graph as graph;
pub use seawall_graph::Cause;

pub mod units;
pub mod executor;
pub mod column;
pub mod cost;
pub mod tiles;
pub mod own;
pub mod program;
pub mod backend;
pub mod analysis;
pub mod calibrate;
pub mod evidence;
pub mod outcome;
pub mod run;
pub mod stream;
pub mod batch;
pub mod service;

/// The listings of the guide, so that tests build them.
#[cfg(doctest)]
#[doc = include_str!("../../docs/own-programs.md")]
struct OwnPrograms;

/// The listings of the guide to waves of other crates.
#[cfg(doctest)]
#[doc = include_str!("../../docs/own-waves.md")]
struct OwnWavesGuide;
