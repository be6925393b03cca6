//! The project's own comparisons, side by side in one run.
//!
//! Every row has one clock: device time is compared with device time and wall time with wall time.
//! Every timed result is also compared: with a plain sequential implementation where that is
//! affordable, and between executors elsewhere. On a machine without a GPU the rows of the CPU
//! remain, and the report lists the missing rows with the reason.
//!
//! A section is a function from the machine's setting to rows. To add one, name it in [`Section`],
//! give it a file and call it in [`run`].

mod against;
mod analyses;
mod auto;
mod barrier;
mod batch;
mod chain;
pub(crate) mod command;
mod compiled;
mod graphs;
mod load;
mod nvcc;
mod peers;
mod plain;
mod repeated;
mod row;
mod section;
mod setting;
mod sources;
mod survey;
mod table;
mod timing;
mod wide;

pub use against::{AgainstError, Earlier};
pub use nvcc::NvccError;
pub use row::{Amount, Baseline, Clock, Figure, Floor, Row, Unit};
pub use section::Section;
pub use survey::{Sample, samples};
pub use table::{write_json, write_text};

use seawall::Cause;
use seawall::backend::BackendError;
use seawall::graph::GraphError;
use seawall::run::RunError;
use serde::Serialize;
use setting::Setting;
use std::num::NonZeroUsize;

/// Options of a benchmark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BenchRequest {
    /// Sections, in the order of the report.
    pub sections: Vec<Section>,
    /// Small graphs and few repetitions, to check that everything works, not how fast.
    pub quick: bool,
    /// Ordinal of the GPU.
    pub device: u32,
    /// Threads of the CPU backend; all of them if `None`.
    pub threads: Option<NonZeroUsize>,
}

/// Results of a benchmark.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BenchReport {
    /// Version of Seawall.
    pub version: &'static str,
    /// Name of the GPU, if there is one.
    pub device: Option<String>,
    /// CUDA version of its driver.
    pub driver: Option<String>,
    /// Threads of the CPU backend.
    pub threads: usize,
    /// Whether graphs were small.
    pub quick: bool,
    /// Rows by section.
    pub rows: Vec<Row>,
    /// Missing rows, and the reasons.
    pub notes: Vec<String>,
    /// Results that differed; the figures are worthless then.
    pub wrong: Vec<String>,
}

/// A comparison could not be made.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// A graph could not be made.
    #[error(transparent)]
    Graph(#[from] GraphError),
    /// A run failed.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A batch failed.
    #[error(transparent)]
    Batch(#[from] seawall::batch::BatchError),
    /// The machine of a batch failed.
    #[error(transparent)]
    BatchMachine(#[from] seawall::backend::batch::BatchError),
    /// A machine failed.
    #[error(transparent)]
    Backend(#[from] BackendError),
}

impl BenchError {
    pub(crate) fn cause(&self) -> Cause {
        match self {
            Self::Graph(error) => error.cause(),
            Self::Run(error) => error.cause(),
            Self::Batch(error) => error.cause(),
            Self::BatchMachine(error) => error.cause(),
            Self::Backend(error) => error.cause(),
        }
    }
}

/// Measures the sections of `request`; `progress` receives the current step.
///
/// # Errors
/// [`BenchError`] if something could not be run at all; differing results are in the report.
pub fn run(
    request: &BenchRequest,
    progress: &mut dyn FnMut(String),
) -> Result<BenchReport, BenchError> {
    let mut setting = Setting::find(request, progress);
    for section in &request.sections {
        setting.begin(*section);
        match section {
            Section::Barrier => barrier::rows(&mut setting)?,
            Section::Chain => chain::rows(&mut setting)?,
            Section::Loop => repeated::rows(&mut setting)?,
            Section::Bfs
            | Section::Sssp
            | Section::Pagerank
            | Section::Cc
            | Section::Triangles
            | Section::Kcore
            | Section::Vocabulary
            | Section::Cpu => analyses::rows(&mut setting)?,
            Section::Sources => sources::rows(&mut setting)?,
            Section::Batch => batch::rows(&mut setting)?,
            Section::Compiled => compiled::rows(&mut setting)?,
            Section::Wide => wide::rows(&mut setting)?,
            Section::Load => load::rows(&mut setting)?,
            Section::Auto => auto::rows(&mut setting)?,
            Section::Survey => survey::rows(&mut setting)?,
        }
    }
    Ok(setting.into_report())
}
