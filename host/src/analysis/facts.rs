//! Facts about an analysis, for reports, requests and costs.

use super::Detail;
use crate::graph::{Loops, Parallel};

/// Name, parameters and results of an analysis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Facts {
    /// The name on the command line and in reports.
    pub name: &'static str,
    /// The heading of its report.
    pub title: &'static str,
    /// The question that it answers, in one line.
    pub summary: &'static str,
    /// Meaning of the values of its column.
    pub values: Values,
    /// Whether it starts from given nodes.
    pub takes_sources: bool,
    /// Whether sources may have weights.
    pub takes_source_weights: bool,
    /// Whether it requires undirected graphs.
    pub is_undirected: bool,
    /// Whether it reads edge weights.
    pub reads_weights: bool,
    /// Whether weights that it reads may be negative.
    pub signed: bool,
    /// Whether it follows edges in proportion to their weights, if the graph has any.
    pub follows_weights: bool,
    /// The largest whole weight that it accepts.
    pub weight_max: u32,
    /// Treatment of edges from a node to itself.
    pub loops: LoopRule,
    /// Treatment of edges with the same ends, unless the question specifies it; see
    /// [`Analysis::parallel`](super::Analysis::parallel).
    pub parallel: ParallelRule,
    /// Whether it has a choice of rules.
    pub has_rules: bool,
    /// Whether the result of largest weight can be asked for instead of the smallest.
    pub has_maximum: bool,
    /// Whether it searches with frontiers, whose topology can be chosen.
    pub searches: bool,
    /// Whether its values are those of the nodes that its sources reach.
    pub walks: bool,
    /// Whether it takes the parameters of a ranking.
    pub ranks: bool,
    /// Whether edges count by their weights, if it is asked to.
    pub weighs: bool,
    /// Whether paths may lead from its sources or to them.
    pub directs: bool,
    /// Whether it can normalise its values.
    pub normalizes: bool,
    /// Whether a source counts once, and must be named only once.
    pub distinct_sources: bool,
    /// Its method for edges that stream from a file, if it has one.
    pub streams: Option<Streaming>,
    /// Details beyond the plain column.
    pub details: &'static [Detail],
    /// The nodes or parts that a short report names.
    pub highlight: Highlight,
    /// Drawing of its column.
    pub picture: Picture,
}

impl Facts {
    /// Facts of an analysis of any graph without sources, weights and details; the name is to be
    /// set.
    pub(super) const PLAIN: Self = Self {
        name: "",
        title: "",
        summary: "",
        values: Values::Numbers,
        takes_sources: false,
        takes_source_weights: false,
        is_undirected: false,
        reads_weights: false,
        signed: false,
        follows_weights: false,
        weight_max: u32::MAX,
        loops: LoopRule::NoEffect,
        parallel: ParallelRule::NoEffect,
        has_rules: false,
        has_maximum: false,
        searches: false,
        walks: false,
        ranks: false,
        weighs: false,
        directs: false,
        normalizes: false,
        distinct_sources: false,
        streams: None,
        details: &[],
        highlight: Highlight::None,
        picture: Picture {
            title: "",
            axis: "",
            bars: Bars::Even,
        },
    };
}

/// Treatment of edges from a node to itself by an analysis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoopRule {
    /// They count like other edges.
    Count,
    /// The result is the same with and without them.
    NoEffect,
    /// The question only makes sense without them.
    Ignored,
}

impl LoopRule {
    /// The default treatment of loops in a run.
    #[must_use]
    pub const fn taken(self) -> Loops {
        match self {
            Self::Count => Loops::Keep,
            Self::NoEffect | Self::Ignored => Loops::Drop,
        }
    }

    /// The reason, for reports.
    #[must_use]
    pub const fn reason(self) -> &'static str {
        match self {
            Self::Count => "they count",
            Self::NoEffect => "they have no effect",
            Self::Ignored => "the analysis ignores them",
        }
    }
}

/// Treatment of edges with the same ends by an analysis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParallelRule {
    /// Each edge counts.
    Count,
    /// The result is the same with one edge and with many.
    NoEffect,
    /// The lightest one decides.
    Least,
    /// The heaviest one decides.
    Greatest,
    /// The question only makes sense with one edge in their place.
    Ignored,
}

impl ParallelRule {
    /// The default treatment of parallel edges in a run.
    #[must_use]
    pub const fn taken(self) -> Parallel {
        match self {
            Self::Count => Parallel::Keep,
            Self::NoEffect | Self::Least | Self::Ignored => Parallel::Least,
            Self::Greatest => Parallel::Greatest,
        }
    }

    /// The reason, for reports.
    #[must_use]
    pub const fn reason(self) -> &'static str {
        match self {
            Self::Count => "each counts",
            Self::NoEffect => "they have no effect",
            Self::Least => "the lightest one counts",
            Self::Greatest => "the heaviest one counts",
            Self::Ignored => "the analysis ignores them",
        }
    }
}

/// Work on edges that stream from a file while the values of nodes stay in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Streaming {
    /// Levels from the sources.
    Levels,
    /// As [`Self::Levels`], reduced to whether there is one.
    Reached,
    /// Distances from the sources along weights.
    Lengths,
    /// The smallest node of each component.
    Components,
    /// Ranks from the shares that nodes pass on.
    Ranks,
}

/// Meaning of the values of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Values {
    /// Any number for every node.
    Numbers,
    /// A number for reached nodes; the largest one marks all others.
    NumbersOfReached,
    /// 1 or 0 for every node: whether a source reaches it.
    Flags,
    /// A node for every node.
    Nodes,
    /// A node for reached nodes; the largest number marks all others.
    NodesOfReached,
    /// An edge for reached nodes, its larger end above the smaller one in 64 bits; the largest
    /// number marks all others.
    Edges,
}

/// Nodes or parts that a short report names beside its sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Highlight {
    /// Nothing.
    None,
    /// The nodes with the highest values.
    Highest,
    /// The reached nodes with the highest values.
    Farthest,
    /// The largest sets of nodes with the same value.
    LargestParts,
}

/// Drawing of a column: nodes counted by their values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Picture {
    /// The title.
    pub title: &'static str,
    /// Meaning of the values along the axis.
    pub axis: &'static str,
    /// Assignment of values to bars.
    pub bars: Bars,
}

/// Assignment of values to the bars of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bars {
    /// One bar per value, or per equal number of values.
    Even,
    /// As [`Self::Even`], or on a logarithmic axis where most values crowd at its low end.
    Suited,
    /// By the number of nodes with the same value, on a logarithmic axis.
    Groups,
}
