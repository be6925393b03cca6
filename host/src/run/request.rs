//! What a caller asks of a run.
//!
//! [`RunRequest::check_for`] holds it against a graph, and every run begins with that, so
//! that the rest can only fail for reasons of its own. Nothing here parses or reads.

use std::fmt;
use std::num::{NonZeroU32, NonZeroUsize};

use seawall_core::topology::Topology;
use serde::Serialize;

use super::Detail;

/// An analysis of a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum AnalysisKind {
    /// Level of every node in a breadth-first search.
    Bfs,
    /// Which nodes the sources reach.
    Reach,
    /// Connected components, directions ignored: the smallest node of each.
    Cc,
    /// Length of the shortest path to every node.
    Sssp,
    /// Rank of every node.
    Pagerank,
    /// Core number of every node.
    Kcore,
    /// Triangles at every node.
    Triangles,
}

impl AnalysisKind {
    /// Every analysis.
    pub const ALL: [Self; 7] = [
        Self::Bfs,
        Self::Reach,
        Self::Cc,
        Self::Sssp,
        Self::Pagerank,
        Self::Kcore,
        Self::Triangles,
    ];

    /// The question that it answers, in one line.
    #[must_use]
    pub const fn summary(self) -> &'static str {
        match self {
            Self::Bfs => "Level of every node in a breadth-first search",
            Self::Reach => "Which nodes the sources reach",
            Self::Cc => "Connected components, directions ignored: the smallest node of each",
            Self::Sssp => "Length of the shortest path to every node",
            Self::Pagerank => "Rank of every node",
            Self::Kcore => "Core number of every node",
            Self::Triangles => "Triangles at every node",
        }
    }

    /// The name on the command line and in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bfs => "bfs",
            Self::Reach => "reach",
            Self::Cc => "cc",
            Self::Sssp => "sssp",
            Self::Pagerank => "pagerank",
            Self::Kcore => "kcore",
            Self::Triangles => "triangles",
        }
    }

    /// Whether the analysis starts from given nodes.
    #[must_use]
    pub const fn takes_sources(self) -> bool {
        matches!(self, Self::Bfs | Self::Reach | Self::Sssp)
    }

    /// Whether the analysis is about undirected graphs.
    #[must_use]
    pub const fn is_undirected(self) -> bool {
        matches!(self, Self::Kcore | Self::Triangles)
    }

    /// Whether the analysis reads edge weights.
    #[must_use]
    pub const fn reads_weights(self) -> bool {
        matches!(self, Self::Sssp)
    }
}

impl fmt::Display for AnalysisKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The executor that a caller wants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum BackendChoice {
    /// The one that should be fastest here, by costs measured or assumed.
    #[default]
    Auto,
    /// One-lane blocks on threads.
    Cpu,
    /// A kernel launch a group.
    Launches,
    /// A CUDA graph.
    Graph,
    /// The persistent megakernel.
    Mega,
}

/// The executor that ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Executor {
    /// One-lane blocks on threads.
    Cpu,
    /// A kernel launch a group.
    Launches,
    /// A CUDA graph.
    Graph,
    /// The persistent megakernel.
    Mega,
}

impl Executor {
    /// The name on the command line and in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Launches => "launches",
            Self::Graph => "graph",
            Self::Mega => "mega",
        }
    }
}

impl fmt::Display for Executor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
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

/// One run, as asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct RunRequest {
    /// The analysis to run.
    pub analysis: AnalysisKind,
    /// Node numbers to start from, each below the graph's nodes, in the order
    /// given; an analysis that starts everywhere ignores them.
    pub sources: Vec<u32>,
    /// Where to compute it.
    pub backend: BackendChoice,
    /// Ordinal of the GPU.
    pub device: u32,
    /// Threads of the CPU backend; when not given, all of the machine's, or one
    /// under [`BackendChoice::Auto`] where one should be faster.
    pub threads: Option<NonZeroUsize>,
    /// Device bytes that graph and groups may take; the device's memory when
    /// not given.
    pub budget_bytes: Option<u64>,
    /// How often to run; times are medians.
    pub repeat: NonZeroU32,
    /// Whether to compare with a plain sequential implementation.
    pub check: bool,
    /// Run time after which the kernel stops itself, nanoseconds.
    pub time_budget_ns: u64,
    /// Iterations after which a fixpoint stops; the analysis' own bound when
    /// not given.
    pub max_iterations: Option<NonZeroU32>,
    /// Parameters of `pagerank`.
    pub ranking: Ranking,
    /// The shape that every step of a search takes where it can; chosen from
    /// device counters when not given.
    pub topology: Option<Topology>,
    /// What to tell beyond the plain column.
    pub detail: Detail,
}

impl RunRequest {
    /// A request for `analysis` from `sources` with every default.
    #[must_use]
    pub fn new(analysis: AnalysisKind, sources: Vec<u32>) -> Self {
        Self {
            analysis,
            sources,
            backend: BackendChoice::Auto,
            device: 0,
            threads: None,
            budget_bytes: None,
            repeat: NonZeroU32::MIN,
            check: false,
            time_budget_ns: crate::backend::RunLimits::default().time_budget_ns,
            max_iterations: None,
            ranking: Ranking::default(),
            topology: None,
            detail: Detail::Plain,
        }
    }
}

/// What a run is busy with, for whoever shows progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Building and planning the program.
    Plan,
    /// Uploading the graph.
    Upload,
    /// Running.
    Run {
        /// This repetition, from 1.
        repetition: u32,
        /// Repetitions in all.
        of: u32,
    },
    /// Copying the result back.
    Readback,
    /// Comparing with the sequential implementation.
    Check,
}
