//! Ready analyses, one module each.
//!
//! Each module holds everything about an analysis: its wave program, its facts, the reading of its
//! result, its cost, and a plain sequential implementation for checks, which shares nothing with
//! the program. It implements [`Analysis`], and one line in the registry makes it an
//! [`AnalysisKind`]. Other modules do not distinguish analyses: they use its [`Facts`] or its
//! functions.

mod answer;
mod falling;
mod facts;
mod question;
mod reading;
mod registry;
mod definition;

pub mod oracle;

mod bfs;
mod cc;
mod kcore;
mod pagerank;
mod reach;
mod sssp;
mod triangle_total;
mod triangles;
mod widest;
mod mis;
mod colouring;
mod scc;
mod msf;
mod labels;
mod lists;
mod look;
mod ppr;
mod betweenness;
mod sweep;
mod alone;
mod closeness;
mod eccentricity;

pub use answer::{Answer, Figure, Number, Sentence};
pub(crate) use definition::is_reached;
pub use definition::{Analysis, AnalysisOutput, Built, Case, End, HasFacts};
pub use facts::{Bars, Facts, Highlight, LoopRule, ParallelRule, Picture, Streaming, Values};
pub(crate) use labels::weightless_edges;
pub use question::{Centrality, Detail, Direction, LabelRule, Question, Ranking};
pub use reading::Reading;
pub use registry::{AnalysisKind, AnyOf};
pub(crate) use sweep::sources_at_once;

use crate::graph::Graph;
use crate::program::ProgramError;

/// Builds the program of `kind` for `graph`.
///
/// # Errors
/// If the graph is too large for a register.
pub fn build(
    kind: AnalysisKind,
    graph: &Graph,
    question: &Question,
) -> Result<Built, ProgramError> {
    kind.definition().build(graph, question)
}

/// Number of iterations after which a ranking with `damping` changes only by rounding, and stops.
#[must_use]
pub fn ranking_iterations_max(damping: f32) -> u32 {
    pagerank::iterations_max(damping)
}
