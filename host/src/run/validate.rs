//! Checks of a request before anything is built.
//!
//! All runs use these checks: one graph, a batch, and the command line before it loads the graph.

use super::{AnalysisKind, Detail, LabelRule, Ranking, RunError, RunRequest};
use crate::analysis::{AnyOf, Facts};
use crate::backend::BackendError;
use crate::backend::cpu::THREADS_MAX;
use crate::graph::{Graph, NodeName, Parallel, WeightKind};
use crate::program::{check_damping, check_tolerance};

/// Most sources of a run: a register counts its words in 32 bits, and the input region
/// is padded.
pub const SOURCES_MAX: u32 = u32::MAX - 63;

impl Detail {
    /// Refuses a detail that the analysis does not have.
    ///
    /// # Errors
    /// [`RunError::WrongDetail`].
    pub fn check(self, analysis: AnalysisKind) -> Result<(), RunError> {
        if self == Self::Plain || analysis.facts().details.contains(&self) {
            return Ok(());
        }
        Err(RunError::WrongDetail {
            detail: self,
            of: AnyOf::with(|facts| facts.details.contains(&self)),
            analysis,
        })
    }
}

impl RunRequest {
    /// Refuses requests that are invalid for any graph. Sources are checked with the graph.
    ///
    /// # Errors
    /// [`RunError::WrongDetail`], [`RunError::NoTime`], [`RunError::Program`] for the
    /// parameters of a ranking, [`BackendError::TooManyThreads`].
    pub fn check(&self) -> Result<(), RunError> {
        self.detail.check(self.analysis)?;
        self.ranking.check()?;
        self.form()?;
        self.check_options()?;
        if self.machine.time_budget_ns == 0 {
            return Err(RunError::NoTime);
        }
        match self.machine.threads {
            Some(threads) if threads.get() > THREADS_MAX => {
                Err(RunError::Backend(BackendError::TooManyThreads {
                    threads: threads.get(),
                    most: THREADS_MAX,
                }))
            }
            _ => Ok(()),
        }
    }

    /// Refuses invalid start weights of a walk.
    fn check_source_weights(&self) -> Result<(), RunError> {
        let (weights, sources) = (&self.source_weights, self.sources().len());
        if weights.len() > sources {
            let weights = weights.len();
            return Err(RunError::TooManySourceWeights { weights, sources });
        }
        let is_wrong = |weight: &f64| !weight.is_finite() || *weight < 0.0;
        let sum: f64 = weights.iter().sum::<f64>() + (sources - weights.len()) as f64;
        let wrong = match weights.iter().position(is_wrong) {
            None if sources == 0 || (sum > 0.0 && sum.is_finite()) => return Ok(()),
            None => 0,
            Some(at) => at,
        };
        Err(RunError::SourceWeight {
            number: wrong + 1,
            weight: weights.get(wrong).copied().unwrap_or(1.0),
        })
    }

    /// Works as [`RunRequest::check`], and checks that `graph` fits the request.
    ///
    /// # Errors
    /// As there, and for sources that are missing or not nodes, missing weights, weights beyond
    /// those of the analysis, and edges without their reverse.
    pub fn check_for(&self, graph: &Graph) -> Result<(), RunError> {
        self.check_for_nodes(graph.nodes())?;
        self.check_distinct(graph)?;
        if self.reads_weights() && graph.weight_kind().is_none() {
            return Err(RunError::NoWeights {
                analysis: self.analysis,
            });
        }
        if self.centrality.weighted || self.refuses_signs(graph) {
            check_lengths(graph, self.analysis)?;
        }
        let is_one_search = self.is_for_cpu() || self.needs_signed_paths(graph);
        if is_one_search && self.max_iterations.is_some() {
            return Err(RunError::NoIterations {
                analysis: self.analysis,
            });
        }
        check_graph(graph, self.analysis)
    }

    /// Refuses options that the analysis does not have.
    fn check_options(&self) -> Result<(), RunError> {
        type Has = fn(&Facts) -> bool;
        let (analysis, asked) = (self.analysis, self.centrality);
        let has_rule = self.rule != LabelRule::default();
        let has_weights = !self.source_weights.is_empty();
        let usual = Ranking::default();
        let has_damping = self.ranking.damping != usual.damping;
        let has_tolerance = self.ranking.tolerance != usual.tolerance;
        let options: [(_, _, Has); 8] = [
            ("damping", has_damping, |facts| facts.ranks),
            ("tolerance", has_tolerance, |facts| facts.ranks),
            ("rule", has_rule, |facts| facts.has_rules),
            ("maximum", self.maximum, |facts| facts.has_maximum),
            ("start weights", has_weights, |facts| {
                facts.takes_source_weights
            }),
            ("weighted", asked.weighted, |facts| facts.weighs),
            ("direction", asked.direction.is_some(), |facts| {
                facts.directs
            }),
            ("normalized", asked.normalized, |facts| facts.normalizes),
        ];
        let mut lacking = options.into_iter();
        match lacking.find(|(_, is_set, has)| *is_set && !has(analysis.facts())) {
            None => Ok(()),
            Some((option, _, has)) => Err(RunError::WrongOption {
                option,
                of: AnyOf::with(has),
                analysis,
            }),
        }
    }

    /// Whether `graph` has negative weights that the analysis reads but does not support.
    fn refuses_signs(&self, graph: &Graph) -> bool {
        let is_read = self.reads_weights() || self.weighted;
        let is_signed = graph.weight_kind().is_some_and(WeightKind::is_signed);
        is_signed && is_read && !self.analysis.facts().signed
    }

    /// Refuses requests that only CPU threads support.
    pub(crate) fn check_for_gpu(&self, graph: &Graph) -> Result<(), RunError> {
        let analysis = self.analysis;
        let what = match (self.is_for_cpu(), self.needs_signed_paths(graph)) {
            (false, false) => return Ok(()),
            (_, true) => "negative weights",
            (true, false) => "weights",
        };
        Err(RunError::CpuOnly { analysis, what })
    }

    /// Refuses a source that is named twice where each counts.
    fn check_distinct(&self, graph: &Graph) -> Result<(), RunError> {
        if !self.analysis.facts().distinct_sources {
            return Ok(());
        }
        let mut sorted = self.sources().to_vec();
        sorted.sort_unstable();
        let twice = sorted.windows(2).find(|pair| pair[0] == pair[1]);
        twice.map_or(Ok(()), |pair| {
            Err(RunError::RepeatedSource {
                analysis: self.analysis,
                source_node: graph.label_of(pair[0]).into(),
            })
        })
    }

    /// Works as [`RunRequest::check`], and checks the sources for a graph of `nodes` nodes.
    pub(crate) fn check_for_nodes(&self, nodes: u32) -> Result<(), RunError> {
        self.check()?;
        let sources = self.sources();
        self.analysis.check_sources(sources.len())?;
        self.check_source_weights()?;
        let missing = sources.iter().find(|source| **source >= nodes);
        if let Some(&source_node) = missing {
            return Err(RunError::NoSuchSource { source_node, nodes });
        }
        Ok(())
    }

    /// Returns the sources in use: none if the analysis starts everywhere.
    pub(crate) fn sources(&self) -> &[u32] {
        if self.analysis.takes_sources() {
            &self.sources
        } else {
            &[]
        }
    }
}

impl Ranking {
    /// Refuses parameters with which a ranking does not end.
    ///
    /// # Errors
    /// [`RunError::Program`].
    pub fn check(self) -> Result<(), RunError> {
        check_damping(self.damping)?;
        Ok(check_tolerance(self.tolerance)?)
    }
}

impl AnalysisKind {
    /// Refuses a number of sources that the analysis cannot start from.
    ///
    /// # Errors
    /// [`RunError::NoSource`], [`RunError::TooManySources`]; never for an analysis that
    /// starts everywhere and ignores them.
    pub fn check_sources(self, sources: usize) -> Result<(), RunError> {
        let analysis = self;
        match (self.takes_sources(), sources) {
            (true, 0) => Err(RunError::NoSource { analysis }),
            (true, _) if sources > SOURCES_MAX as usize => Err(RunError::TooManySources {
                sources,
                most: SOURCES_MAX,
            }),
            _ => Ok(()),
        }
    }
}

/// Refuses whole weights beyond those of the analysis, by their first edge. One pass over the
/// weights if it has a limit.
fn check_weights(graph: &Graph, analysis: AnalysisKind) -> Result<(), RunError> {
    let most = analysis.facts().weight_max;
    let has_limit = analysis.reads_weights() && most != u32::MAX;
    if !has_limit || graph.weight_kind() != Some(WeightKind::Integer) {
        return Ok(());
    }
    let Some(weights) = graph.weights() else {
        return Ok(());
    };
    let Some(edge) = weights.iter().position(|weight| *weight > most) else {
        return Ok(());
    };
    let (from, to) = ends_of(graph, edge);
    Err(RunError::WeightTooLarge {
        analysis,
        from,
        to,
        weight: weights[edge],
        most,
    })
}

impl RunRequest {
    /// Refuses weights that only occur in the form of a graph: sums may exceed the analysis's
    /// limit.
    pub(crate) fn check_form(&self, form: &Graph) -> Result<(), RunError> {
        match self.parallel {
            Some(Parallel::Sum) => check_weights(form, self.analysis),
            _ => Ok(()),
        }
    }
}

/// The ends of an edge, by their names in the file.
fn ends_of(graph: &Graph, edge: usize) -> (NodeName, NodeName) {
    let rows = graph.offsets();
    let from = rows.partition_point(|start| *start as usize <= edge) as u32 - 1;
    let to = graph.targets()[edge];
    (graph.label_of(from).into(), graph.label_of(to).into())
}

/// Refuses weights that are no lengths: negative ones, and 0 where shortest paths are counted. One
/// pass over the weights.
fn check_lengths(graph: &Graph, analysis: AnalysisKind) -> Result<(), RunError> {
    let is_above_zero = analysis.facts().distinct_sources;
    let Some(weights) = graph.weights() else {
        return Ok(());
    };
    let kind = graph.weight_kind().unwrap_or_default();
    let value = |word: u32| kind.number(word);
    let is_wrong = |word: &u32| {
        let value = value(*word);
        value < 0.0 || value.is_nan() || (is_above_zero && value == 0.0)
    };
    let Some(edge) = weights.iter().position(is_wrong) else {
        return Ok(());
    };
    let (from, to) = ends_of(graph, edge);
    Err(RunError::WeightTooSmall {
        analysis,
        is_above_zero,
        from,
        to,
        weight: value(weights[edge]),
    })
}

/// Refuses a graph that the analysis does not support.
fn check_graph(graph: &Graph, analysis: AnalysisKind) -> Result<(), RunError> {
    check_weights(graph, analysis)?;
    if analysis.is_undirected() && !graph.is_symmetric() {
        return Err(RunError::Directed { analysis });
    }
    Ok(())
}
