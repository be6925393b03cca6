//! The one trait that an analysis implements.

use super::{Answer, Facts, Picture, Question, Ranking, Reading, Values};
use crate::column::{Column, Rounds};
use crate::cost::{Job, Worker};
use crate::graph::Graph;
use crate::program::{ProgramBuilder, ProgramError, RegisterId};
use seawall_core::abi::UNREACHED;

/// An analysis: all that is known about it, in one room.
///
/// A registry line makes it an [`AnalysisKind`](super::AnalysisKind). Requests, reports,
/// checks, batches and the choice of a machine ask these functions and never which
/// analysis it is.
pub trait Analysis: Sync {
    /// Its name, what it takes and what its values are.
    fn facts(&self) -> &'static Facts;

    /// The program that answers `question` for `graph`.
    ///
    /// # Errors
    /// When the graph is too large for a register.
    fn build(&self, graph: &Graph, question: &Question) -> Result<Built, ProgramError>;

    /// Whether `found` is what its sequential implementation finds.
    fn check(&self, case: &Case<'_>, found: Found<'_>) -> bool;

    /// Share of itself by which a value may differ in that check; nothing where values
    /// have to be equal.
    fn tolerance(&self, _column: &Column, _end: End) -> Option<f64> {
        None
    }

    /// The numbers that it is asked for, of `graph`. Linear in the nodes.
    fn answer(&self, graph: &Graph, column: &Column) -> Answer;

    /// One run of `job`, its start left out, nanoseconds.
    fn cost_ns(&self, job: &Job, worker: &Worker) -> f64;

    /// Nodes that have a value. Linear in the nodes.
    fn reached(&self, column: &Column) -> u64 {
        reached(self.facts().values, column)
    }

    /// How many rounds a loop of `iterations` iterations took, in the words of its field.
    fn rounds(&self, _column: &Column, iterations: u32) -> Rounds {
        Rounds::Iterations(iterations)
    }

    /// How `column` is drawn.
    fn picture(&self, _column: &Column) -> Picture {
        self.facts().picture
    }

    /// Iterations that parameters foresee; without end where they do not.
    fn rounds_foreseen(&self, _ranking: Ranking) -> f64 {
        f64::INFINITY
    }

    /// Passes over all incoming edges that tiles of rows shorten, in one run of `job`.
    fn tiled_passes(&self, _job: &Job) -> f64 {
        0.0
    }
}

/// A built program and where its result is.
#[derive(Clone, Debug)]
pub struct Built {
    /// The program.
    pub program: ProgramBuilder,
    /// Words of the input region.
    pub inputs: Vec<u32>,
    /// Register that holds the result.
    pub result: RegisterId,
    /// Register that holds the parent of every node, when asked.
    pub parents: Option<RegisterId>,
    /// How to read it.
    pub reading: Reading,
}

/// Words of an input register padded to the alignment of the input region.
pub(super) fn padded(mut words: Vec<u32>) -> Vec<u32> {
    words.resize(words.len().next_multiple_of(64), u32::MAX);
    words
}

/// A question that was answered, for whoever checks the answer.
#[derive(Clone, Copy, Debug)]
pub struct Case<'a> {
    /// The graph.
    pub graph: &'a Graph,
    /// The question.
    pub question: &'a Question,
    /// How the run ended.
    pub end: End,
}

/// How the loop that an analysis is about ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct End {
    /// Iterations that it took.
    pub iterations: u32,
    /// Whether it ended by itself.
    pub converged: bool,
}

/// What a run found.
#[derive(Clone, Copy, Debug)]
pub struct Found<'a> {
    /// One value a node.
    pub values: &'a Column,
    /// The parent of every node, when asked.
    pub parents: Option<&'a [u32]>,
}

/// Nodes of `column` that have a value, if its numbers mean `values`.
fn reached(values: Values, column: &Column) -> u64 {
    let count = match column {
        Column::U32(words) => match values {
            Values::Flags => words.iter().filter(|flag| **flag != 0).count(),
            Values::NumbersOfReached => words.iter().filter(|word| **word != UNREACHED).count(),
            Values::Numbers | Values::Nodes => words.len(),
        },
        Column::U64(words) => words.iter().filter(|word| **word != u64::MAX).count(),
        Column::F32(floats) => floats.iter().filter(|float| float.is_finite()).count(),
        Column::Sets(sets) => {
            let is_reached = |set: &&[u64]| set.iter().any(|word| *word != 0);
            sets.iter().filter(is_reached).count()
        }
    };
    count as u64
}
