//! Many independent graphs in one submission, one analysis on each.
//!
//! [`execute`] packs the graphs, runs the analysis on all of them in one launch (or on threads
//! started once) and returns a result for each. One block or thread runs each whole graph, with
//! block barriers only, so that a thousand small searches take about the time of the longest few.
//! [`expand`] and [`load`] turn the arguments of a command line into graphs.
//!
//! ```
//! use seawall::batch::{self, BatchGraph};
//! use seawall::graph::Graph;
//! use seawall::run::{AnalysisKind, Machine, RunRequest};
//!
//! let path = Graph::from_edges(3, &[(0, 1), (1, 2)], false)?;
//! let star = Graph::from_edges(4, &[(0, 1), (0, 2), (0, 3)], false)?;
//! let graphs = [
//!     BatchGraph::new("path", &path, vec![0]),
//!     BatchGraph::new("star", &star, vec![0]),
//! ];
//! let request = RunRequest::new(AnalysisKind::Bfs, Vec::new()).on(Machine::cpu(None));
//! let outcome = batch::execute(&graphs, &request)?;
//! assert_eq!(outcome.reached(), 7);
//! assert_eq!(outcome.graphs[1].name, "star");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod choose;
mod error;
mod execute;
mod expand;
mod forecast;
mod list;
mod name;
mod outcome;
mod spec;

pub use error::BatchError;
pub use execute::{BatchControl, BatchGraph, execute, execute_with};
pub use execute::{Prepared, check_detail, prepare, requests};
pub use expand::{NamedGraph, expand, is_batch, load};
pub use name::list_of;
pub use outcome::{BatchOutcome, GraphOutcome};
pub use spec::{Origin, Spec};
