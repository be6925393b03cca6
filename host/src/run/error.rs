//! Errors of a run.
//!
//! Bad input and failures differ, because scripts distinguish them by the exit code. Reading the
//! graph has separate errors.

use super::RunRequest;
use crate::Cause;
use crate::analysis::{AnalysisKind, AnyOf, Detail};
use crate::backend::BackendError;
use crate::graph::{FormError, GraphError, NodeName, as_text};
use crate::units::Nanoseconds;
use seawall_core::topology::Topology;
use serde::ser::{SerializeMap, Serializer};

/// A run could not start or could not finish.
#[derive(Debug, serde::Serialize, thiserror::Error)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum RunError {
    /// The analysis reads weights and the graph has none.
    #[error(
        "{analysis} reads edge weights and the graph has none; load it with weights, or draw some"
    )]
    NoWeights {
        /// The requested analysis.
        analysis: AnalysisKind,
    },
    /// A whole weight that the results of the analysis cannot represent.
    #[error(
        "{analysis} takes whole weights up to {most}, and the edge from {from} to {to} has {weight}; scale the weights down"
    )]
    WeightTooLarge {
        /// The requested analysis.
        analysis: AnalysisKind,
        /// Start of the edge, by its name in the file.
        from: NodeName,
        /// Its end.
        to: NodeName,
        /// Its weight.
        weight: u32,
        /// The largest weight of the analysis.
        most: u32,
    },
    /// A weight that weighted paths of the analysis cannot have.
    #[error(
        "{analysis} takes weights {}, and the edge from {from} to {to} has {weight}; leave the weights out, or correct them",
        if *is_above_zero { "above 0" } else { "of 0 and more" }
    )]
    WeightTooSmall {
        /// The requested analysis.
        analysis: AnalysisKind,
        /// Whether 0 is refused too: it makes the number of shortest paths meaningless.
        #[serde(skip)]
        is_above_zero: bool,
        /// Start of the edge, by its name in the file.
        from: NodeName,
        /// Its end.
        to: NodeName,
        /// Its weight.
        weight: f64,
    },
    /// A measure along weights that a 32-bit float does not hold.
    #[error(
        "the {analysis} of node {node} along its weights is above the largest 32-bit float (3.4028235e38); scale the weights"
    )]
    ValueTooLarge {
        /// The requested analysis.
        analysis: AnalysisKind,
        /// The source, by its name in the file.
        node: NodeName,
    },
    /// A weight that adds nothing to the length of a shortest path, so that paths cannot be told
    /// from each other.
    #[error(
        "{analysis} counts shortest paths, and the weight {weight} of the edge from {from} to {to} is lost in 64-bit floats beside the distance {distance} of its start; take weights that are closer together, or leave them out"
    )]
    WeightLost {
        /// The requested analysis.
        analysis: AnalysisKind,
        /// Start of the edge, by its name in the file.
        from: NodeName,
        /// Its end.
        to: NodeName,
        /// Its weight.
        weight: f64,
        /// Distance of its start from a source.
        distance: f64,
    },
    /// The request has an option of other analyses.
    #[error("{analysis} has no option {option}, {of} has; leave it out, or ask for {of}")]
    WrongOption {
        /// The name of the option.
        option: &'static str,
        /// The analyses that have it.
        #[serde(serialize_with = "as_text")]
        of: AnyOf,
        /// The requested analysis.
        analysis: AnalysisKind,
    },
    /// A source that is named twice, where each counts.
    #[error(
        "{analysis} counts the paths from each source once, and {source_node} is named twice; name it once"
    )]
    RepeatedSource {
        /// The requested analysis.
        analysis: AnalysisKind,
        /// The source, by its name in the file.
        source_node: NodeName,
    },
    /// The request is for CPU threads only.
    #[error("{analysis} with {what} runs on threads of a CPU alone; use the backend cpu")]
    CpuOnly {
        /// The requested analysis.
        analysis: AnalysisKind,
        /// The reason.
        what: &'static str,
    },
    /// There is a negative cycle.
    #[error(
        "sssp finds no shortest paths: the edges around {} have the weight {weight} in all, so that paths from the sources get ever shorter; {}",
        around(nodes),
        without(*weight, *is_undirected)
    )]
    NegativeCycle {
        /// The nodes around the cycle, in the direction of its edges.
        nodes: Vec<NodeName>,
        /// Sum of the weights of its edges; of floats, as far as they can be summed.
        weight: f64,
        /// Whether edges lead both ways, so that one of negative weight is a cycle.
        #[serde(skip)]
        is_undirected: bool,
    },
    /// A batch of paths along negative weights.
    #[error("{analysis} along negative weights takes one graph at a time; run each graph alone")]
    SignedBatch {
        /// The requested analysis.
        analysis: AnalysisKind,
    },
    /// An iteration limit for an algorithm without iterations.
    #[error(
        "{analysis} along {}weights has no iterations to stop after; leave the limit out",
        if analysis.facts().signed { "negative " } else { "" }
    )]
    NoIterations {
        /// The requested analysis.
        analysis: AnalysisKind,
    },
    /// The analysis is about undirected graphs and some edge has no reverse.
    #[error(
        "{analysis} needs every edge in both directions and the graph is directed; load it with both"
    )]
    Directed {
        /// The requested analysis.
        analysis: AnalysisKind,
    },
    /// The analysis needs a source and there is none.
    #[error("{analysis} needs a node to start from; name at least one")]
    #[serde(rename = "missing_source")]
    NoSource {
        /// The requested analysis.
        analysis: AnalysisKind,
    },
    /// More sources than a register can list.
    #[error("{sources} sources; at most {most} can be listed, so split them")]
    TooManySources {
        /// Number of sources.
        sources: usize,
        /// Most sources of a run.
        most: u32,
    },
    /// A source that is not a node of the graph.
    #[error("source {source_node} is no node of the graph, which has {nodes}, numbered from 0")]
    #[serde(rename = "no_such_node")]
    NoSuchSource {
        /// Its number.
        #[serde(rename = "node")]
        source_node: u32,
        /// Nodes of the graph.
        nodes: u32,
    },
    /// A time budget of 0.
    #[error("a time budget of 0; allow at least a nanosecond")]
    NoTime,
    /// The request asks for a detail of another analysis.
    #[error("{analysis} does not return {detail}, {of} does; leave them out, or ask for {of}")]
    WrongDetail {
        /// The requested detail.
        #[serde(serialize_with = "as_text")]
        detail: Detail,
        /// The analyses that have it.
        #[serde(serialize_with = "as_text")]
        of: AnyOf,
        /// The requested analysis.
        analysis: AnalysisKind,
    },
    /// The request keeps edges that the analysis does not support.
    #[error("{analysis} ignores {what}, so that it cannot keep them; leave them to it")]
    WrongForm {
        /// The requested analysis.
        analysis: AnalysisKind,
        /// The edges.
        what: &'static str,
    },
    /// Invalid start weights.
    #[error(
        "start weights of sources must be finite and at least 0, one of them above 0, and their sum finite; the one of source number {number} is {weight:?}"
    )]
    SourceWeight {
        /// Number of its source, from 1.
        number: usize,
        /// The weight.
        weight: f64,
    },
    /// More start weights than sources.
    #[error("{weights} start weights for {sources} sources; give at most one for each")]
    TooManySourceWeights {
        /// Number of start weights.
        weights: usize,
        /// Number of sources.
        sources: usize,
    },
    /// The budget does not hold the graph and the smallest plan.
    #[error(
        "{analysis} needs {needed_bytes} bytes and the budget is {budget_bytes}; raise it to at least that{}",
        instead(*analysis)
    )]
    OverBudget {
        /// The requested analysis.
        analysis: AnalysisKind,
        /// Bytes that graph and plan take together.
        needed_bytes: u64,
        /// Bytes of the budget.
        budget_bytes: u64,
    },
    /// The budget does not hold the nodes and the smallest windows of a streamed run.
    #[error(
        "{analysis} with streamed edges needs {needed_bytes} bytes for its nodes and windows and the budget is {budget_bytes}; raise it to at least that"
    )]
    #[serde(rename = "over_budget")]
    StreamOverBudget {
        /// The requested analysis.
        analysis: AnalysisKind,
        /// Least bytes that work.
        #[serde(flatten, serialize_with = "streamed")]
        needed_bytes: u64,
        /// Bytes of the budget.
        budget_bytes: u64,
    },
    /// The request cannot run on edges that stream.
    #[error(
        "the edges cannot stream: {what}; {} of a .swg file do, on the backends cpu and mega",
        AnyOf::with(|facts| facts.streams.is_some())
    )]
    CannotStream {
        /// The requested analysis.
        analysis: AnalysisKind,
        /// The reason.
        #[serde(rename = "reason")]
        what: String,
    },
    /// The request is not for several devices.
    #[error("{analysis} cannot run on several devices: {what}")]
    CannotSplit {
        /// The requested analysis.
        analysis: AnalysisKind,
        /// The reason.
        #[serde(rename = "reason")]
        what: String,
    },
    /// A process of the run has something else to do than the first.
    #[error("rank {rank} has {what} than rank 0; start all with one program, graph and request")]
    RankDiffers {
        /// Its number.
        rank: u32,
        /// The difference.
        #[serde(rename = "difference")]
        what: &'static str,
    },
    /// The result of a streamed run cannot be checked.
    #[error("the check of a streamed {analysis} loads the graph: {what}; leave the check out")]
    CannotCheck {
        /// The requested analysis.
        analysis: AnalysisKind,
        /// The reason.
        #[serde(rename = "reason")]
        what: String,
    },
    /// The time budget of a streamed run ended.
    #[error(
        "the time budget of {} ended in pass {pass} over the edges; raise it if the work is only long",
        Nanoseconds(*time_budget_ns)
    )]
    #[serde(rename = "time_budget")]
    StreamTime {
        /// The pass, from 1.
        pass: u64,
        /// The time budget, nanoseconds.
        time_budget_ns: u64,
    },
    /// A shape of search was forced on a program that does not search.
    #[error("{}", no_search(*analysis, *detail, *topology))]
    NoSearch {
        /// The requested analysis.
        analysis: AnalysisKind,
        /// The requested detail, if the analysis runs searches without it.
        #[serde(skip)]
        detail: Detail,
        /// The requested shape.
        topology: Topology,
    },
    /// The graph has no such form.
    #[error(transparent)]
    #[serde(untagged)]
    Form(#[from] FormError),
    /// The file of a streamed run cannot be read, is invalid, or changed.
    #[error(transparent)]
    #[serde(untagged)]
    Stream(#[from] GraphError),
    /// The program could not be planned.
    #[error(transparent)]
    #[serde(untagged)]
    Program(#[from] crate::program::ProgramError),
    /// The machine failed.
    #[error(transparent)]
    #[serde(untagged)]
    Backend(#[from] BackendError),
}

/// The bytes that a streamed run needs, and that it is one.
fn streamed<S: Serializer>(needed_bytes: &u64, serializer: S) -> Result<S::Ok, S::Error> {
    let mut fields = serializer.serialize_map(Some(2))?;
    fields.serialize_entry("needed_bytes", needed_bytes)?;
    fields.serialize_entry("streamed", &true)?;
    fields.end()
}

/// Nodes of a cycle in a message, back to the first one.
fn around(nodes: &[NodeName]) -> String {
    const SHOWN: usize = 12;
    let shown = nodes.iter().take(SHOWN).map(NodeName::to_string);
    let mut named: Vec<String> = shown.collect();
    if nodes.len() > SHOWN {
        named.push(format!("{} more", nodes.len() - SHOWN));
    }
    named.extend(nodes.first().map(NodeName::to_string));
    named.join(", ")
}

/// The route around a cycle.
const fn without(weight: f64, is_undirected: bool) -> &'static str {
    if weight >= 0.0 {
        return "the floats differ too much to be summed, scale them to whole numbers";
    }
    if is_undirected {
        return "every undirected edge of negative weight is such a cycle, take the edges as directed or correct the weights";
    }
    "correct the weights"
}

/// The message for an unused shape.
fn no_search(analysis: AnalysisKind, detail: Detail, topology: Topology) -> String {
    if detail == Detail::EachSource {
        return format!(
            "the topology {topology} shapes frontier searches, and {analysis} finds the set of sources of each node without one; leave out the topology, or the sets"
        );
    }
    format!(
        "the topology {topology} shapes frontier searches and {analysis} runs none; leave it out, or run {}",
        AnyOf::with(|facts| facts.searches)
    )
}

/// The remedy for a budget, if there is one.
fn instead(analysis: AnalysisKind) -> String {
    match analysis.facts().streams {
        Some(_) => {
            ", or stream the edges of a large graph from an uncompressed .swg file, on the backends cpu and mega"
                .to_owned()
        }
        None => format!(
            "; only {} can stream edges, from a .swg file",
            AnyOf::with(|facts| facts.streams.is_some())
        ),
    }
}

impl RunError {
    /// The refusal of a plan that exceeds the budget of `request`.
    pub(crate) const fn over_budget(request: &RunRequest, needed: u64, budget: u64) -> Self {
        Self::OverBudget {
            analysis: request.analysis,
            needed_bytes: needed,
            budget_bytes: budget,
        }
    }

    /// Returns the cause: the request or the machine.
    #[must_use]
    pub fn cause(&self) -> Cause {
        match self {
            Self::StreamTime { .. } => Cause::Failure,
            Self::Stream(error) => error.cause(),
            Self::Form(error) => error.cause(),
            Self::Backend(error) => error.cause(),
            _ => Cause::Request,
        }
    }
}
