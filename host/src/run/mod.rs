//! One run from a graph to a result: request in, outcome out.

mod check;
mod choose;
mod error;
mod execute;
mod request;

pub use error::RunError;
pub use execute::execute;
pub use request::{AnalysisKind, BackendChoice, Executor, Phase, Ranking, RunRequest};
