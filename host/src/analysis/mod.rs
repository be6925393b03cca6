//! Ready analyses, one room each.
//!
//! A room holds all that is known about an analysis: its wave program, its facts, how
//! its result is read, what it costs, and the plain sequential implementation that a
//! check compares with, which shares nothing with the program. It implements
//! [`Analysis`], and one line in the registry makes it an [`AnalysisKind`]. Nobody
//! outside asks which analysis it is: they ask its [`Facts`] or its functions.

mod answer;
mod falling;
mod facts;
mod question;
mod reading;
mod registry;
mod room;

pub mod oracle;

mod bfs;
mod cc;
mod kcore;
mod pagerank;
mod reach;
mod sssp;
mod triangles;

pub use answer::{Answer, Figure, Number, Sentence};
pub use facts::{Bars, Facts, Picture, Values};
pub use question::{Detail, Question, Ranking};
pub use reading::Reading;
pub use registry::{AnalysisKind, AnyOf};
pub use room::{Analysis, Built, Case, End, Found};

use crate::graph::Graph;
use crate::program::ProgramError;

/// Builds the program of `kind` for `graph`.
///
/// # Errors
/// When the graph is too large for a register.
pub fn build(
    kind: AnalysisKind,
    graph: &Graph,
    question: &Question,
) -> Result<Built, ProgramError> {
    kind.room().build(graph, question)
}

/// Iterations after which a ranking with `damping` changes by rounding alone,
/// and stops.
#[must_use]
pub fn ranking_iterations_max(damping: f32) -> u32 {
    pagerank::iterations_max(damping)
}
