//! What an analysis is asked.

use std::fmt;

/// What an analysis is asked, beside the graph.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// Nodes to start from.
    pub sources: Vec<u32>,
    /// Iterations after which a fixpoint stops.
    pub max_iterations: u32,
    /// Parameters of a ranking.
    pub ranking: Ranking,
    /// What is asked beyond the plain column.
    pub detail: Detail,
    /// Whether whole distances take 64 bits.
    pub wide: bool,
}

impl Question {
    /// Iterations that no limit ends.
    pub const UNLIMITED: u32 = u32::MAX - 1;

    /// The plain question from `sources`, without a limit.
    #[must_use]
    pub fn new(sources: Vec<u32>) -> Self {
        Self {
            sources,
            max_iterations: Self::UNLIMITED,
            ranking: Ranking::default(),
            detail: Detail::Plain,
            wide: false,
        }
    }
}

/// Parameters of a ranking.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ranking {
    /// Share of a node's rank that its edges pass on, between 0 and 1.
    pub damping: f32,
    /// The ranking ends when the sum of all changes is at most this.
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

/// More than the plain column of an analysis. Which analysis has which stands in its
/// [`Facts`](super::Facts).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Detail {
    /// Nothing more.
    #[default]
    Plain,
    /// The parent of every node beside its level. Of the nodes one level before that
    /// have an edge to it, the smallest; a source is its own parent.
    Parents,
    /// For every node the set of sources that reach it, in place of whether any does.
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
