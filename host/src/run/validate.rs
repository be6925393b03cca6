//! Checks of a request before anything is built.
//!
//! All runs use these checks: one graph, a batch, and the command line before it loads the graph.

use super::{AnalysisKind, Ranking, RunError, RunRequest};
use crate::backend::BackendError;
use crate::backend::cpu::THREADS_MAX;
use crate::graph::{Graph, Parallel, WeightKind};
use crate::program::{check_damping, check_tolerance};

/// Most sources of a run: a register counts its words in 32 bits, and the input region
/// is padded.
pub const SOURCES_MAX: u32 = u32::MAX - 63;

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

    /// Works as [`RunRequest::check`], and checks that `graph` fits the request.
    ///
    /// # Errors
    /// As there, and for sources that are missing or not nodes, missing weights, weights beyond
    /// those of the analysis, and edges without their reverse.
    pub fn check_for(&self, graph: &Graph) -> Result<(), RunError> {
        self.check_for_nodes(graph.nodes())?;
        check_graph(graph, self.analysis)
    }

    /// Works as [`RunRequest::check`], and checks the sources for a graph of `nodes` nodes.
    pub(crate) fn check_for_nodes(&self, nodes: u32) -> Result<(), RunError> {
        self.check()?;
        let sources = self.sources();
        self.analysis.check_sources(sources.len())?;
        let missing = sources.iter().find(|source| **source >= nodes);
        if let Some(&source_node) = missing {
            return Err(RunError::NoSuchSource { source_node, nodes });
        }
        Ok(())
    }
}

impl RunRequest {
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
    let (Some(weights), Some(WeightKind::Integer)) = (graph.weights(), graph.weight_kind()) else {
        return Ok(());
    };
    if !analysis.reads_weights() || most == u32::MAX {
        return Ok(());
    }
    let Some(edge) = weights.iter().position(|weight| *weight > most) else {
        return Ok(());
    };
    let rows = graph.offsets();
    Err(RunError::WeightTooLarge {
        analysis,
        from: rows.partition_point(|start| *start as usize <= edge) as u32 - 1,
        to: graph.targets()[edge],
        weight: weights[edge],
        most,
    })
}

impl RunRequest {
    /// Refuses weights that only the form of a graph has: sums may exceed those of the analysis.
    ///
    /// # Errors
    /// [`RunError::WeightTooLarge`].
    pub(crate) fn check_form(&self, form: &Graph) -> Result<(), RunError> {
        match self.parallel {
            Some(Parallel::Sum) => check_weights(form, self.analysis),
            _ => Ok(()),
        }
    }
}

/// Refuses a graph that the analysis does not support.
fn check_graph(graph: &Graph, analysis: AnalysisKind) -> Result<(), RunError> {
    if analysis.reads_weights() && graph.weights().is_none() {
        return Err(RunError::NoWeights { analysis });
    }
    check_weights(graph, analysis)?;
    if analysis.is_undirected() && !graph.is_symmetric() {
        return Err(RunError::Directed { analysis });
    }
    Ok(())
}
