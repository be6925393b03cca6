//! The question that an analysis answers.

use std::fmt;

/// The question that an analysis answers about a graph.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Question {
    /// Nodes to start from.
    pub sources: Vec<u32>,
    /// The start weight of each source, in their order; 1 for those beyond the end.
    pub source_weights: Vec<f64>,
    /// Iterations after which a fixpoint stops.
    pub max_iterations: u32,
    /// Parameters of a ranking.
    pub ranking: Ranking,
    /// Details beyond the plain column.
    pub detail: Detail,
    /// Rule of label propagation.
    pub rule: LabelRule,
    /// Whether an analysis that works without weights uses the graph's weights.
    pub weighted: bool,
    /// Whether the result of largest weight is requested, instead of the smallest.
    pub maximum: bool,
    /// Whether whole distances take 64 bits.
    pub wide: bool,
    /// Whether warps answer, so that methods for warps pay. Results are the same.
    pub warps: bool,
    /// CPU threads that answer, which allows sequential algorithms; `None` on a GPU, or if the
    /// machine is not known.
    pub threads: Option<u32>,
    /// Options of centralities.
    pub centrality: Centrality,
    /// Whether memory is scarce, which excludes methods that take more memory to be faster. Results
    /// are the same.
    pub low_memory: bool,
    /// Whether the graph has shortcuts ([`Graph::with_shortcuts`](crate::graph::Graph::with_shortcuts)),
    /// whose weights are the lengths that the [analysis](super::Analysis::shortcuts) asked for.
    pub shortcuts: bool,
    /// The first node from which triangles are looked for, and the node after the last, if several
    /// devices share them out.
    pub(crate) centers: Option<[u32; 2]>,
    /// Whether several devices share the program, whose waves then gather and scatter alone.
    pub(crate) shared: bool,
}

impl Question {
    /// No limit of iterations.
    pub const UNLIMITED: u32 = u32::MAX - 1;

    /// Returns the plain question from `sources`, without a limit.
    #[must_use]
    pub fn new(sources: Vec<u32>) -> Self {
        Self {
            sources,
            source_weights: Vec::new(),
            max_iterations: Self::UNLIMITED,
            ranking: Ranking::default(),
            detail: Detail::Plain,
            rule: LabelRule::default(),
            weighted: false,
            maximum: false,
            wide: false,
            warps: false,
            threads: None,
            centrality: Centrality::default(),
            low_memory: false,
            shortcuts: false,
            centers: None,
            shared: false,
        }
    }
}

/// Options of centralities. The [`Facts`](super::Facts) of an analysis list the supported ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Centrality {
    /// Whether weights are lengths of edges, instead of 1.
    pub weighted: bool,
    /// The direction of paths, if it is not the analysis's own.
    pub direction: Option<Direction>,
    /// Whether values are divided by the largest possible ones.
    pub normalized: bool,
}

/// The direction of paths between a node and others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Direction {
    /// From other nodes to the source.
    Inward,
    /// From the source to other nodes.
    Outward,
}

impl fmt::Display for Direction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Inward => "inward",
            Self::Outward => "outward",
        })
    }
}

/// Parameters of a ranking.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ranking {
    /// Share of a node's rank that its edges pass on, between 0 and 1.
    pub damping: f32,
    /// Sum of all changes at which the ranking ends.
    pub tolerance: f32,
}

impl Default for Ranking {
    fn default() -> Self {
        Self {
            damping: 0.85,
            tolerance: 1e-4,
        }
    }
}

/// Rule of label propagation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum LabelRule {
    /// A node changes its label for one that more of its neighbours have, and neighbours never swap
    /// labels; ends where no node would change.
    #[default]
    Stable,
    /// All nodes take the most frequent label at once, the least of several, for a fixed number of
    /// rounds: the rule of LDBC Graphalytics.
    #[cfg_attr(
        feature = "clap",
        value(
            help = "All nodes take the most frequent label at once, for --max-iterations rounds or 10 (LDBC Graphalytics)"
        )
    )]
    Ldbc,
}

/// A detail beyond the plain column of an analysis. Its [`Facts`](super::Facts) list the available
/// ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Detail {
    /// No detail.
    #[default]
    Plain,
    /// The parent of every node, and its level. The parent is the smallest node on the previous
    /// level with an edge to it; a source is its own parent.
    Parents,
    /// The set of sources that reach each node, instead of whether any does.
    EachSource,
}

impl fmt::Display for Detail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Plain => "nothing more",
            Self::Parents => "parents",
            Self::EachSource => "sets of sources",
        })
    }
}
