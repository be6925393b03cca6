//! Request for a run.
//!
//! [`RunRequest::check_for`] checks it against a graph, and every run starts with this, so that
//! later steps need not check it again. Nothing here parses or reads.

use super::RunError;
use crate::analysis::{
    AnalysisKind, Centrality, Detail, LabelRule, LoopRule, ParallelRule, Question, Ranking,
};
use crate::executor::{Executor, Machine};
use crate::graph::{EdgeLengths, Form, Graph, Loops, Parallel, WeightKind};
use seawall_core::topology::Topology;
use std::num::NonZeroU32;

/// A request for one run.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RunRequest {
    /// The analysis to run.
    pub analysis: AnalysisKind,
    /// Node numbers to start from, each below the graph's nodes, in the order
    /// given; an analysis that starts everywhere ignores them.
    pub sources: Vec<u32>,
    /// The start weight of each source, in their order, for walks of `ppr`; empty if all are equal.
    pub source_weights: Vec<f64>,
    /// Machine of the run.
    pub machine: Machine,
    /// Number of runs; times are medians.
    pub repeat: NonZeroU32,
    /// Whether to compare with a plain sequential implementation.
    pub check: bool,
    /// Iterations after which a fixpoint stops; by default the analysis's own limit.
    pub max_iterations: Option<NonZeroU32>,
    /// Parameters of a ranking.
    pub ranking: Ranking,
    /// Options of centralities.
    pub centrality: Centrality,
    /// The shape that every step of a search takes if possible; by default chosen from device
    /// counters.
    pub topology: Option<Topology>,
    /// Details beyond the plain column.
    pub detail: Detail,
    /// Rule of label propagation.
    pub rule: LabelRule,
    /// Whether a ranking follows edges in proportion to their weights, if the graph has any.
    pub weighted: bool,
    /// Whether the result of largest weight is requested, instead of the smallest.
    pub maximum: bool,
    /// Whether to measure the groups of the program and to keep the steps of searches, with
    /// predictions beside them.
    pub explain: bool,
    /// Treatment of edges from a node to itself: the analysis's default, or another.
    pub loops: Option<Loops>,
    /// Edges with the same ends, likewise.
    pub parallel: Option<Parallel>,
    /// Whether a plan may be reused from an equal earlier request.
    pub reuse_plans: bool,
    pub(crate) centers: Option<[u32; 2]>,
    /// As [`Question::shared`].
    pub(crate) shared: bool,
}

impl RunRequest {
    /// A request for `analysis` from `sources` with every default.
    #[must_use]
    pub fn new(analysis: AnalysisKind, sources: Vec<u32>) -> Self {
        Self {
            analysis,
            sources,
            source_weights: Vec::new(),
            machine: Machine::auto(),
            repeat: NonZeroU32::MIN,
            check: false,
            max_iterations: None,
            ranking: Ranking::default(),
            centrality: Centrality::default(),
            topology: None,
            detail: Detail::Plain,
            rule: LabelRule::default(),
            weighted: analysis.facts().follows_weights,
            maximum: false,
            explain: false,
            loops: None,
            parallel: None,
            reuse_plans: true,
            centers: None,
            shared: false,
        }
    }

    /// Returns the same request on `machine`.
    #[must_use]
    pub fn on(self, machine: Machine) -> Self {
        Self { machine, ..self }
    }

    /// Returns the form in which the analysis takes a graph: by its facts, or by the request.
    /// Choices without effect on the analysis are normalised.
    ///
    /// # Errors
    /// [`RunError::WrongForm`] if the request keeps edges that the analysis does not support.
    pub fn form(&self) -> Result<Form, RunError> {
        let rules = self.rules();
        let analysis = self.analysis;
        let refused = |what| Err(RunError::WrongForm { analysis, what });
        let loops = match (self.loops, rules.0) {
            (Some(Loops::Keep), LoopRule::Ignored) => return refused("self loops"),
            (Some(Loops::Keep) | None, rule) => rule.taken(),
            (Some(loops), _) => loops,
        };
        let parallel = match (self.parallel, rules.1) {
            (Some(Parallel::Keep), ParallelRule::Ignored) => return refused("parallel edges"),
            (Some(Parallel::Keep) | None, rule) => rule.taken(),
            (Some(parallel), _) => parallel,
        };
        Ok(Form { loops, parallel })
    }

    /// Treatment of loops and parallel edges by the analysis.
    pub(crate) fn rules(&self) -> (LoopRule, ParallelRule) {
        let analysis = self.analysis.definition();
        (analysis.facts().loops, analysis.parallel(self.maximum))
    }

    /// Returns the question for the analysis, with 64-bit distances if `wide`.
    pub(crate) fn question(&self, wide: bool) -> Question {
        let limit = self.max_iterations.map(NonZeroU32::get);
        Question {
            sources: self.sources().to_vec(),
            source_weights: self.source_weights.clone(),
            max_iterations: limit.unwrap_or(Question::UNLIMITED),
            ranking: self.ranking,
            detail: self.detail,
            rule: self.rule,
            weighted: self.weighted || self.centrality.weighted,
            maximum: self.maximum,
            wide,
            warps: false,
            threads: None,
            centrality: self.centrality,
            low_memory: false,
            shortcuts: false,
            centers: self.centers,
            shared: self.shared,
        }
    }

    /// Returns whether weights of edges are read.
    #[must_use]
    pub fn reads_weights(&self) -> bool {
        self.analysis.reads_weights() || self.centrality.weighted
    }

    /// Returns whether it searches paths along weights of which some are negative.
    pub(crate) fn needs_signed_paths(&self, graph: &Graph) -> bool {
        self.needs_signed_paths_along(graph.weight_kind())
    }

    /// As [`needs_signed_paths`](Self::needs_signed_paths), of weights of a kind.
    pub(crate) fn needs_signed_paths_along(&self, kind: Option<WeightKind>) -> bool {
        let facts = self.analysis.facts();
        facts.signed && facts.walks && kind.is_some_and(WeightKind::is_signed)
    }

    /// As [`form`](Self::form), of `graph`: a loop of negative weight is a cycle of one node.
    pub(crate) fn form_of(&self, graph: &Graph) -> Result<Form, RunError> {
        let form = self.form()?;
        let keeps_loops = self.needs_signed_paths(graph) && self.loops != Some(Loops::Drop);
        Ok(Form {
            loops: if keeps_loops { Loops::Keep } else { form.loops },
            ..form
        })
    }

    /// Lengths that shortcuts have to keep, if a GPU is asked for and rounds along them give the same
    /// answer: steps have no shape that was asked for, no limit counts them, and memory for a second
    /// graph is not limited.
    pub(crate) fn shortcuts(&self) -> Option<EdgeLengths> {
        let machine = &self.machine;
        let is_free = self.topology.is_none()
            && self.max_iterations.is_none()
            && machine.budget_bytes.is_none()
            && machine.executor.is_some_and(Executor::is_on_gpu);
        let lengths = || self.analysis.definition().shortcuts(self.detail);
        is_free.then(lengths)?
    }

    /// Returns whether no GPU answers it.
    pub(crate) fn is_for_cpu(&self) -> bool {
        // Labels count weights on every machine, and paths along weights are searched on threads.
        self.centrality.weighted && self.analysis.facts().takes_sources
    }
}

/// Phase of a run, for progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Phase {
    /// Building and planning the program.
    Plan,
    /// Uploading the graph.
    Upload,
    /// Running.
    Run {
        /// This repetition, from 1.
        repetition: u32,
        /// Number of repetitions.
        of: u32,
    },
    /// Copying the result back.
    Readback,
    /// Comparing with the sequential implementation.
    Check,
}
