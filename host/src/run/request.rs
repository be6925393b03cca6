//! What a caller asks of a run.
//!
//! [`RunRequest::check_for`] holds it against a graph, and every run begins with that, so
//! that the rest can only fail for reasons of its own. Nothing here parses or reads.

use crate::analysis::{AnalysisKind, Detail, Question, Ranking};
use crate::executor::Machine;
use seawall_core::topology::Topology;
use std::num::NonZeroU32;

/// One run, as asked for.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RunRequest {
    /// The analysis to run.
    pub analysis: AnalysisKind,
    /// Node numbers to start from, each below the graph's nodes, in the order
    /// given; an analysis that starts everywhere ignores them.
    pub sources: Vec<u32>,
    /// Where to compute it.
    pub machine: Machine,
    /// How often to run; times are medians.
    pub repeat: NonZeroU32,
    /// Whether to compare with a plain sequential implementation.
    pub check: bool,
    /// Iterations after which a fixpoint stops; the analysis' own bound when
    /// not given.
    pub max_iterations: Option<NonZeroU32>,
    /// Parameters of a ranking.
    pub ranking: Ranking,
    /// The shape that every step of a search takes where it can; chosen from
    /// device counters when not given.
    pub topology: Option<Topology>,
    /// What to tell beyond the plain column.
    pub detail: Detail,
}

impl RunRequest {
    /// A request for `analysis` from `sources` with every default.
    #[must_use]
    pub fn new(analysis: AnalysisKind, sources: Vec<u32>) -> Self {
        Self {
            analysis,
            sources,
            machine: Machine::auto(),
            repeat: NonZeroU32::MIN,
            check: false,
            max_iterations: None,
            ranking: Ranking::default(),
            topology: None,
            detail: Detail::Plain,
        }
    }

    /// The same request on `machine`.
    #[must_use]
    pub fn on(self, machine: Machine) -> Self {
        Self { machine, ..self }
    }
}

impl RunRequest {
    /// What the analysis is asked; distances take 64 bits where `wide` says so.
    pub(crate) fn question(&self, wide: bool) -> Question {
        let limit = self.max_iterations.map(NonZeroU32::get);
        Question {
            sources: self.sources().to_vec(),
            max_iterations: limit.unwrap_or(Question::UNLIMITED),
            ranking: self.ranking,
            detail: self.detail,
            wide,
        }
    }
}

/// What a run is busy with, for whoever shows progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Building and planning the program.
    Plan,
    /// Uploading the graph.
    Upload,
    /// Running.
    Run {
        /// This repetition, from 1.
        repetition: u32,
        /// Repetitions in all.
        of: u32,
    },
    /// Copying the result back.
    Readback,
    /// Comparing with the sequential implementation.
    Check,
}
