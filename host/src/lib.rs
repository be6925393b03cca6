//! Runs DAGs of graph waves in one persistent GPU kernel, or on the CPU.
//!
//! A first program:
//!
//! ```
//! let edges = [(0, 1), (1, 2), (2, 0), (2, 3), (4, 5)];
//! let graph = seawall::Graph::from_edges(6, &edges, true)?;
//! assert_eq!(seawall::bfs(&graph, 0)?, [0, 1, 1, 2, u32::MAX, u32::MAX]);
//! assert_eq!(seawall::cc(&graph)?, [0, 0, 0, 0, 4, 4]);
//! assert_eq!(seawall::triangles(&graph)?, [1, 1, 1, 0, 0, 0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A *wave* is one parallel step over nodes, edges or words. Waves of a *group* run together, and
//! barriers separate groups. A *register* is an array that waves read and write, and a *frontier*
//! is a set of nodes that the next wave starts from.
//!
//! | to | use |
//! | --- | --- |
//! | answer one question | [`bfs`], [`cc`], [`sssp`], [`pagerank`] and their kin |
//! | choose a machine, limits, details; get times and a check | [`run::execute`] |
//! | ask many questions about a graph | [`run::Analyzer`], or [`SharedAnalyzer`], which owns it |
//! | ask about many small graphs | [`batch::execute`] |
//! | read a graph | [`graph::load`], [`Graph::from_edges`] |
//! | run a program of one's own | [`program::ProgramBuilder`], [`backend::ProgramSession`] |
//! | add a wave in Rust | [`own`] |
//! | keep workers that answer queries | [`service`] |
//! | leave the edges on disk | [`stream`] |

pub use seawall_graph as graph;
pub use seawall_graph::{Cause, Graph};

#[doc(hidden)]
pub mod units;
pub mod executor;
pub mod column;
#[doc(hidden)]
pub mod cost;
#[doc(hidden)]
pub mod tiles;
pub mod own;
pub mod program;
pub mod backend;
pub mod analysis;
#[doc(hidden)]
pub mod calibrate;
#[doc(hidden)]
pub mod evidence;
pub mod outcome;
pub mod run;
pub mod stream;
pub mod multi;
pub mod batch;
pub mod service;

mod answers;
mod job;
mod shared;
mod spans;

pub use answers::*;
pub use column::Column;
pub use shared::{SharedAnalyzer, SharedProgramSession};

/// The listings of the guide, so that tests build them.
#[cfg(doctest)]
#[doc = include_str!("../../docs/own-programs.md")]
struct OwnPrograms;

/// The listings of the guide to waves of other crates.
#[cfg(doctest)]
#[doc = include_str!("../../docs/own-waves.md")]
struct OwnWavesGuide;
