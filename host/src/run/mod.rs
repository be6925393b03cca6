//! One run from a graph to a result: request in, outcome out.

mod choose;
mod detail;
mod error;
mod execute;
mod request;
pub(crate) mod steps;
mod validate;
pub(crate) mod weigh;

pub use crate::analysis::{AnalysisKind, Detail, Ranking};
pub use crate::executor::{BackendChoice, Executor};
pub use error::RunError;
pub use execute::{execute, prepare};
pub use request::{Phase, RunRequest};
pub use validate::SOURCES_MAX;
