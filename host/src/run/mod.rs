//! One run from a graph to a result: request in, outcome out.
//!
//! [`execute`] is for one request, an [`Analyzer`] for many on the same graph.

mod analyzer;
mod choose;
mod error;
mod explain;
mod forecast;
mod plan;
mod request;
mod resident;
mod single;
mod takeover;
mod validate;

pub use crate::analysis::{AnalysisKind, Centrality, Detail, Direction, LabelRule, Ranking};
pub use crate::executor::{Executor, Machine};
pub use analyzer::{Analyzer, execute, execute_with_progress};
pub use choose::{forecast_ns, prepare};
pub use error::RunError;
pub use explain::{ProgramExplanation, explain_program};
pub use forecast::program_report;
pub use request::{Phase, RunRequest};
pub use seawall_core::topology::Topology;
pub use validate::SOURCES_MAX;
