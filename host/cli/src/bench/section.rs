//! Sections of a benchmark.

use clap::ValueEnum;
use serde::Serialize;

/// A group of comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Section {
    /// A grid barrier against that of cooperative groups.
    Barrier,
    /// A thousand dependent waves over 4096 words.
    Chain,
    /// Ten thousand iterations of a loop whose frontier is one node.
    Loop,
    /// Breadth-first search.
    Bfs,
    /// Shortest paths.
    Sssp,
    /// An iteration of PageRank.
    Pagerank,
    /// Connected components.
    Cc,
    /// Triangles.
    Triangles,
    /// Core numbers.
    Kcore,
    /// Analyses written in the vocabulary.
    Vocabulary,
    /// A thousand searches in one run.
    Sources,
    /// Many small graphs in one submission.
    Batch,
    /// The CPU backend alone.
    Cpu,
    /// Composed programs as machine code, against plain loops.
    Compiled,
    /// One wave over every edge of a large graph.
    Wide,
    /// Making graphs: generators, rows, text.
    Load,
    /// The choice of `auto`, against all alternatives.
    Auto,
    /// Every analysis on graphs of many shapes, at two sizes.
    Survey,
}

impl Section {
    /// The name on the command line and in JSON.
    #[must_use]
    pub fn name(self) -> String {
        let value = self.to_possible_value();
        value.map_or_else(String::new, |value| value.get_name().to_owned())
    }

    /// Heading in the report.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Barrier => "Grid barrier",
            Self::Chain => "Chain of dependent waves over 4096 words, per wave",
            Self::Loop => "Loop with a frontier of one node, per iteration",
            Self::Bfs => "Breadth-first search",
            Self::Sssp => "Shortest paths",
            Self::Pagerank => "PageRank, an iteration",
            Self::Cc => "Connected components",
            Self::Triangles => "Triangles",
            Self::Kcore => "Core numbers",
            Self::Vocabulary => "Analyses of the vocabulary",
            Self::Sources => "Many sources in one run",
            Self::Batch => "Many small graphs in one submission",
            Self::Cpu => "CPU backend",
            Self::Compiled => "Composed programs as machine code, one CPU thread",
            Self::Wide => "Wide waves over every edge",
            Self::Load => "Making graphs",
            Self::Auto => "What auto chooses, a whole command",
            Self::Survey => "Every analysis on graphs of many shapes, one thread",
        }
    }
}
