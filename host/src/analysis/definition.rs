//! The one trait that an analysis implements.

use super::{Answer, Detail, Facts, ParallelRule, Picture, Question, Ranking, Reading, Values};
use crate::column::{Column, Rounds};
use crate::cost::{Job, Worker};
use crate::graph::{EdgeLengths, Graph};
use crate::outcome::RunOutcome;
use crate::program::{ProgramBuilder, ProgramError, RegisterId};
use crate::run::RunError;
use seawall_core::abi::UNREACHED;

/// A name, parameters and values, which the registry reads from the module of an analysis.
pub trait HasFacts {
    /// Returns them.
    fn facts(&self) -> &'static Facts;
}

/// An analysis, complete in one module.
///
/// A registry line makes it an [`AnalysisKind`](super::AnalysisKind). Requests, reports, checks,
/// batches and the choice of a machine use these functions and do not distinguish analyses.
pub trait Analysis: HasFacts + Sync {
    /// Returns the program that answers `question` for `graph`, which has the form that the facts
    /// require: its rows ascend strictly and hold no loops, unless loops or parallel edges count.
    ///
    /// # Errors
    /// If the graph is too large for a register.
    fn build(&self, graph: &Graph, question: &Question) -> Result<Built, ProgramError>;

    /// Returns whether `found` equals the result of its sequential implementation.
    fn check(&self, case: &Case<'_>, found: AnalysisOutput<'_>) -> bool;

    /// Relative tolerance of that check; `None` if values must be equal.
    fn tolerance(&self, _column: &Column, _end: End) -> Option<f64> {
        None
    }

    /// Refuses a result that is not an answer.
    ///
    /// # Errors
    /// [`RunError::NegativeCycle`] and others.
    fn accept(
        &self,
        _case: (&Graph, &Question),
        _found: AnalysisOutput<'_>,
    ) -> Result<(), RunError> {
        Ok(())
    }

    /// Returns its answer in numbers for `graph`. Linear in the nodes.
    fn answer(&self, graph: &Graph, column: &Column) -> Answer;

    /// Treatment of parallel edges, where large weights win if `_maximum`.
    fn parallel(&self, _maximum: bool) -> ParallelRule {
        self.facts().parallel
    }

    /// Cost of one run of `job` without its start, nanoseconds.
    fn cost_ns(&self, job: &Job, worker: &Worker) -> f64;

    /// Returns the parent of every node by the final values, if the program of `question` has no
    /// register for it. Linear in nodes and edges.
    fn parents(&self, _graph: &Graph, _question: &Question, _column: &Column) -> Option<Vec<u32>> {
        None
    }

    /// Lengths that shortcuts along chains have to keep, if its program for `detail` takes them, which
    /// then has few rounds on long paths.
    fn shortcuts(&self, _detail: Detail) -> Option<EdgeLengths> {
        None
    }

    /// Number of nodes that have a value. Linear in the nodes.
    fn reached(&self, column: &Column) -> u64 {
        reached(self.facts().values, column)
    }

    /// End of the analysis, by the ends of its program's loops.
    fn end(&self, end: End) -> End {
        end
    }

    /// Rounds of a loop of `iterations` iterations, by kind.
    fn rounds(&self, _column: &Column, iterations: u32) -> Rounds {
        Rounds::Iterations(iterations)
    }

    /// Drawing of `column`.
    fn picture(&self, _column: &Column) -> Picture {
        self.facts().picture
    }

    /// Most iterations by the parameters; infinite if the parameters do not limit them.
    fn rounds_predicted(&self, _ranking: Ranking) -> f64 {
        f64::INFINITY
    }

    /// Iterations expected on `graph` from a sample of about `edges` edges; `None` if they are not
    /// sampled.
    fn rounds_sampled(&self, _graph: &Graph, _ranking: Ranking, _edges: u64) -> Option<f64> {
        None
    }

    /// Passes over all incoming edges, in one run of `job`, that tiles of rows speed up.
    fn tiled_passes(&self, _job: &Job) -> f64 {
        0.0
    }
}

/// A built program and the place of its result.
#[derive(Clone, Debug)]
pub struct Built {
    /// The program.
    pub program: ProgramBuilder,
    /// Words of the input region.
    pub inputs: Vec<u32>,
    /// Register that holds the result.
    pub result: RegisterId,
    /// Register that holds the parent of every node, if requested.
    pub parents: Option<RegisterId>,
    /// Conversion of the result register.
    pub reading: Reading,
}

impl Built {
    /// A program that keeps `result` as its answer, without parents.
    pub(super) fn of(
        mut program: ProgramBuilder,
        inputs: Vec<u32>,
        result: RegisterId,
        reading: Reading,
    ) -> Self {
        program.keep(result);
        Self {
            program,
            inputs,
            result,
            parents: None,
            reading,
        }
    }
}

/// Words of an input register, padded to the alignment of the input region.
pub(super) fn padded(mut words: Vec<u32>) -> Vec<u32> {
    words.resize(words.len().next_multiple_of(64), u32::MAX);
    words
}

/// An answered question, for checks.
#[derive(Clone, Copy, Debug)]
pub struct Case<'a> {
    /// The graph as read, with its loops and parallel edges, unless a request dropped some.
    pub graph: &'a Graph,
    /// The question.
    pub question: &'a Question,
    /// End of the run.
    pub end: End,
}

/// End of an analysis's main loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct End {
    /// Its iterations.
    pub iterations: u32,
    /// Whether it ended by itself.
    pub converged: bool,
}

impl End {
    /// The end of a program without a loop.
    pub(crate) const ONCE: Self = Self {
        iterations: 1,
        converged: true,
    };

    /// That of a loop that has not begun.
    pub(crate) const BEFORE: Self = Self {
        iterations: 0,
        converged: false,
    };

    /// The end that `outcome` reports.
    pub(crate) fn of(outcome: &RunOutcome) -> Self {
        Self {
            iterations: outcome.rounds.count(),
            converged: outcome.converged,
        }
    }

    /// The end of a search of `levels` that stops at `limit`, as one on one device says it; `degree`
    /// returns the edges that leave a node.
    pub(crate) fn of_levels(levels: &[u32], limit: u32, degree: impl Fn(u32) -> u32) -> Self {
        let deepest = levels.iter().filter(|level| **level != UNREACHED).max();
        let deepest = deepest.copied().unwrap_or(0);
        let goes_on = |(node, level): (u32, &u32)| *level == limit && degree(node) > 0;
        Self {
            iterations: deepest.saturating_add(1).min(limit),
            converged: deepest < limit || !(0..).zip(levels).any(goes_on),
        }
    }
}

/// Result of a run.
#[derive(Clone, Copy, Debug)]
pub struct AnalysisOutput<'a> {
    /// One value per node.
    pub values: &'a Column,
    /// The parent of every node, if requested.
    pub parents: Option<&'a [u32]>,
}

/// Returns whether a node of `column` has a value, if its numbers mean `values`.
pub(crate) fn is_reached(values: Values, column: &Column, node: usize) -> bool {
    match column {
        Column::U32(words) => words.get(node).is_some_and(|word| match values {
            Values::Flags => *word != 0,
            Values::NumbersOfReached | Values::NodesOfReached | Values::Edges => *word != UNREACHED,
            Values::Numbers | Values::Nodes => true,
        }),
        Column::U64(words) => words.get(node).is_some_and(|word| *word != u64::MAX),
        Column::I64(words) => words.get(node).is_some_and(|word| *word != i64::MAX),
        Column::F32(floats) => floats.get(node).is_some_and(|float| float.is_finite()),
        Column::Sets(sets) => {
            let set = sets.iter().nth(node);
            set.is_some_and(|set| set.iter().any(|word| *word != 0))
        }
    }
}

/// Number of nodes of `column` with a value, if its numbers mean `values`.
fn reached(values: Values, column: &Column) -> u64 {
    let count = match column {
        Column::U32(words) => match values {
            Values::Flags => words.iter().filter(|flag| **flag != 0).count(),
            Values::NumbersOfReached | Values::NodesOfReached | Values::Edges => {
                words.iter().filter(|word| **word != UNREACHED).count()
            }
            Values::Numbers | Values::Nodes => words.len(),
        },
        Column::U64(words) => words.iter().filter(|word| **word != u64::MAX).count(),
        Column::I64(words) => words.iter().filter(|word| **word != i64::MAX).count(),
        Column::F32(floats) => floats.iter().filter(|float| float.is_finite()).count(),
        Column::Sets(sets) => {
            let is_reached = |set: &&[u64]| set.iter().any(|word| *word != 0);
            sets.iter().filter(is_reached).count()
        }
    };
    count as u64
}

#[cfg(test)]
impl super::AnalysisKind {
    /// Whether its check accepts these values after a run that ended so.
    pub(super) fn accepts(
        self,
        graph: &Graph,
        question: &Question,
        end: End,
        values: Column,
    ) -> bool {
        let case = Case {
            graph,
            question,
            end,
        };
        let (values, parents) = (&values, None);
        let found = AnalysisOutput { values, parents };
        self.definition().check(&case, found)
    }
}
