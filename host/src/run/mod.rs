//! One run from a graph to a result: request in, outcome out.

mod check;
mod choose;
mod detail;
mod error;
mod execute;
mod request;
pub(crate) mod steps;
mod validate;
pub(crate) mod weigh;

pub use detail::Detail;
pub use error::RunError;
pub use execute::{execute, prepare};
pub use request::{AnalysisKind, BackendChoice, Executor, Phase, Ranking, RunRequest};
pub use validate::SOURCES_MAX;
