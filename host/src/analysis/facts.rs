//! Facts about an analysis that everyone around it reads: reports, requests, costs.

use super::Detail;

/// What an analysis is called, takes and finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// The name on the command line and in reports.
    pub name: &'static str,
    /// The heading of its report.
    pub title: &'static str,
    /// The question that it answers, in one line.
    pub summary: &'static str,
    /// What the values of its column are.
    pub values: Values,
    /// Whether it starts from given nodes.
    pub takes_sources: bool,
    /// Whether it is about undirected graphs.
    pub is_undirected: bool,
    /// Whether it reads edge weights.
    pub reads_weights: bool,
    /// Whether it searches with frontiers, whose steps can be given a shape.
    pub searches: bool,
    /// Whether it takes the parameters of a ranking.
    pub ranks: bool,
    /// What it can be asked beyond the plain column.
    pub details: &'static [Detail],
    /// How its column is drawn.
    pub picture: Picture,
}

/// What the values of a column are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Values {
    /// A number for every node, whatever it is.
    Numbers,
    /// A number for nodes that a source reaches; the largest one marks all others.
    NumbersOfReached,
    /// 1 or 0 for every node: whether a source reaches it.
    Flags,
    /// A node for every node.
    Nodes,
}

/// How a column is drawn: nodes counted by their values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Picture {
    /// The title.
    pub title: &'static str,
    /// What the values along the axis are.
    pub axis: &'static str,
    /// How values share bars.
    pub bars: Bars,
}

/// How values share the bars of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bars {
    /// A bar for each value, or for equally many.
    Even,
    /// As [`Self::Even`], or on a logarithmic axis where most values crowd at its low end.
    Suited,
    /// By how many nodes have the same value, on a logarithmic axis.
    Groups,
}
