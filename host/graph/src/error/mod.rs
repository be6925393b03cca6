//! Errors between a graph's bytes and its arrays.
//!
//! One enum for the crate, because a caller shows all of them the same way: one message with the
//! file, the line, the reason and the offending value. It says whether the request or the machine
//! is the cause, and sets no exit codes.

mod archive;
mod binary;
mod generator;
mod line;

pub use archive::ArchiveProblem;
pub use binary::BinaryProblem;
pub use generator::GeneratorProblem;
pub use line::LineProblem;

use serde::Serializer;
use std::fmt::Display;
use std::io;

use super::format::Format;
use super::memory::Shortage;
use super::{Cause, ScaleError};

/// Serializes a value as its text, for fields of errors.
///
/// # Errors
/// Those of `serializer`.
pub fn as_text<S: Serializer>(value: &impl Display, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(value)
}

/// A graph could not be read, generated or written.
#[derive(Debug, serde::Serialize, thiserror::Error)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum GraphError {
    /// The operating system refused an action.
    #[error("{file}: cannot {action}: {source}")]
    Io {
        /// File as the caller named it.
        file: String,
        /// The attempted action: `open`, `read`, `create`, `write`, `rename`.
        action: &'static str,
        /// The system's answer.
        #[serde(rename = "reason", serialize_with = "as_text")]
        source: io::Error,
    },
    /// The file holds no byte, or nothing but comments and blank lines.
    #[error("{file}: the file is empty, or has comments alone; expected a graph")]
    Empty {
        /// File as the caller named it.
        file: String,
    },
    /// Neither content nor suffix determines the format.
    #[error(
        "{file}:{line}: not a graph in a known format ({value:?}); \
         known are Matrix Market, edge list (also .csv), DIMACS, PACE, METIS (.graph), GraphML, .adjlist, .lgl, .npz, .egr, .bin (GBBS) and .swg, each also as .gz, .xz, .bz2 or .zst"
    )]
    UnknownFormat {
        /// File as the caller named it.
        file: String,
        /// First line with content, from 1.
        line: u64,
        /// Its first field.
        value: String,
    },
    /// The content is plainly of another format than the one asked for.
    #[error(
        "{file}: the format asked for is {asked}, and the graph is {found}; ask for no format, or for that"
    )]
    OtherFormat {
        /// File or generator as the caller named it.
        file: String,
        /// The format asked for.
        #[serde(serialize_with = "as_text")]
        asked: Format,
        /// The format found.
        #[serde(serialize_with = "as_text")]
        found: Format,
    },
    /// The file is known to be something else.
    #[error("{file}: this is {what}; {remedy}")]
    #[serde(rename = "foreign_file")]
    Foreign {
        /// File as the caller named it.
        file: String,
        /// The kind of file.
        what: &'static str,
        /// The remedy.
        remedy: &'static str,
    },
    /// Columns were chosen in a file that has none.
    #[error("{file}: columns are chosen in tables and edge lists, and this is {format}")]
    NoColumns {
        /// File or generator as the caller named it.
        file: String,
        /// Its format.
        #[serde(serialize_with = "as_text")]
        format: Format,
    },
    /// A writer's path has no suffix that names a format.
    #[error(
        "{file}: no format that is written has this suffix{}; use {}, with .gz or .xz after it if wanted",
        Format::suffix_meant(file),
        Format::written_suffixes()
    )]
    UnknownSuffix {
        /// File as the caller named it.
        file: String,
    },
    /// A directed graph for a format without directions.
    #[error(
        "{file}: {format} files have no directions; load the graph as undirected, or write .mtx, .el or .swg"
    )]
    #[serde(rename = "format_without_directions")]
    Directed {
        /// File as the caller named it.
        file: String,
        /// The format.
        #[serde(skip)]
        format: Format,
    },
    /// A format cannot hold this graph.
    #[error("{file}: {format} files cannot hold {what}; {remedy}")]
    #[serde(rename = "format_cannot_hold")]
    Unwritable {
        /// File as the caller named it.
        file: String,
        /// The format.
        #[serde(serialize_with = "as_text")]
        format: Format,
        /// The property that the format cannot hold.
        what: &'static str,
        /// The remedy.
        #[serde(skip)]
        remedy: &'static str,
    },
    /// The compressed stream ends early or is damaged.
    #[error(
        "{file}: the {codec} stream is truncated or damaged after {produced} decoded bytes: {reason}"
    )]
    Compressed {
        /// File as the caller named it.
        file: String,
        /// `gzip`, `xz`, `bzip2` or `zstd`.
        codec: &'static str,
        /// Bytes decoded before the fault.
        produced: u64,
        /// Message of the decoder.
        reason: String,
    },
    /// An archive does not hold a sparse matrix that can be read.
    #[error("{file}: not a sparse matrix of SciPy: {problem}")]
    Archive {
        /// File as the caller named it.
        file: String,
        /// The problem.
        #[serde(serialize_with = "as_text")]
        problem: ArchiveProblem,
    },
    /// The system has no memory for the graph's arrays.
    #[error(
        "{file}: out of memory: {needed} bytes more are needed and {available} are available; free memory, or load a smaller graph"
    )]
    Memory {
        /// File or generator as the caller named it.
        file: String,
        /// Bytes requested.
        needed: u64,
        /// Bytes available; 0 where the system does not report them.
        available: u64,
    },
    /// The system refuses to start threads.
    #[error(
        "the threads that load graphs could not be started: {reason}; allow more threads or memory"
    )]
    Threads {
        /// The system's answer.
        reason: String,
    },
    /// A line of a text format is wrong.
    #[error("{file}:{line}: {problem}")]
    Line {
        /// File as the caller named it.
        file: String,
        /// Line, from 1.
        line: u64,
        /// The problem, with the value.
        #[serde(serialize_with = "as_text")]
        problem: LineProblem,
    },
    /// The header promises another number of edge lines than the file has.
    #[error("{file}:{line}: the header promises {promised} edges, the file has {found}")]
    EdgeCount {
        /// File as the caller named it.
        file: String,
        /// Line of the first edge too many, or the last line.
        line: u64,
        /// Edges by the header.
        promised: u64,
        /// Edge lines seen; when there are too many, those up to `line`.
        found: u64,
    },
    /// A METIS file has fewer lines than nodes.
    #[error(
        "{file}: the header promises {promised} nodes, one per line, the file has {found} lines for them"
    )]
    RowCount {
        /// File as the caller named it.
        file: String,
        /// Nodes by the header.
        promised: u64,
        /// Lines of nodes.
        found: u64,
    },
    /// A METIS file lists another number of neighbours than its header promises.
    #[error(
        "{file}: the header promises {promised} edges, each listed at both ends, the file lists {found} neighbours"
    )]
    NeighbourCount {
        /// File as the caller named it.
        file: String,
        /// Edges by the header.
        promised: u64,
        /// Neighbours of all nodes.
        found: u64,
    },
    /// A METIS file lists an edge at one end only, or with two weights.
    #[error(
        "{file}: node {from} lists node {to}, which does not list it with the same weight; \
         the format lists every edge at both ends, so write a directed graph as an edge list"
    )]
    OneSided {
        /// File as the caller named it.
        file: String,
        /// The node that lists the edge, from 1.
        from: u64,
        /// Its neighbour.
        to: u64,
    },
    /// A binary file that contradicts its header.
    #[error("{file}: not a valid {format} file: {problem}")]
    Binary {
        /// File as the caller named it.
        file: String,
        /// The suffix of its format, such as `.swg`.
        #[serde(skip)]
        format: &'static str,
        /// The problem.
        #[serde(serialize_with = "as_text")]
        problem: BinaryProblem,
    },
    /// More nodes than 32-bit ids can name.
    #[error("{file}: {nodes} nodes, but at most {limit} fit 32-bit ids; split the graph")]
    TooManyNodes {
        /// File or generator.
        file: String,
        /// Nodes asked for.
        nodes: u64,
        /// Nodes that fit.
        limit: u64,
    },
    /// More edges than 32-bit offsets can address.
    #[error(
        "{file}: {edges} directed edges, but at most {limit} fit 32-bit offsets; split the graph, or load it without reverse edges"
    )]
    TooManyEdges {
        /// File or generator.
        file: String,
        /// Directed edges asked for, before duplicates go.
        edges: u64,
        /// Directed edges that fit.
        limit: u64,
    },
    /// A header promises many nodes and the file has next to no edges.
    #[error(
        "{file}: the header promises {nodes} nodes for {edges} edges; more than {limit} nodes need an edge for each 16"
    )]
    HollowGraph {
        /// File as the caller named it.
        file: String,
        /// Nodes by the header.
        nodes: u64,
        /// Edges in the file.
        edges: u64,
        /// Nodes allowed for any number of edges.
        limit: u64,
    },
    /// A file was written to while its edges were read.
    #[error("{file}: the file changed while it was read; run again when nothing writes to it")]
    Changed {
        /// File as the caller named it.
        file: String,
    },
    /// A `gen:` specification is wrong.
    #[error("{spec}: {problem}")]
    Generator {
        /// The specification as given.
        spec: String,
        /// The problem.
        #[serde(serialize_with = "as_text")]
        problem: GeneratorProblem,
    },
    /// An edge in memory has an end that is not a node.
    #[error("edge {index} ends at node {node}, but there are {nodes} nodes, from 0")]
    EdgeOutOfRange {
        /// Position in the slice, from 0.
        index: usize,
        /// The end.
        node: u32,
        /// Number of nodes.
        nodes: u32,
    },
    /// Arrays in memory that are not the rows of a graph.
    #[error("arrays in memory: {problem}")]
    BadArrays {
        /// The first contradiction.
        #[serde(serialize_with = "as_text")]
        problem: BinaryProblem,
    },
    /// An edge in memory has a weight that is negative, infinite or not a number.
    #[error("edge {index} has the weight {weight}; float weights must be finite and not negative")]
    BadWeight {
        /// Position in the slice, from 0.
        index: usize,
        /// The weight.
        weight: f32,
    },
    /// Weights are required and the file has none.
    #[error(
        "{file}: has no weights; use a file with a weight column, give --unit-weights for 1 on every edge, or run an analysis that needs none"
    )]
    NoWeights {
        /// File as the caller named it.
        file: String,
    },
    /// The weights cannot be scaled.
    #[error("{file}: {problem}")]
    #[serde(untagged)]
    Scale {
        /// File or generator as the caller named it.
        file: String,
        /// The problem.
        #[serde(flatten)]
        problem: ScaleError,
    },
}

impl GraphError {
    /// The error of a part of a file before which there are so many lines.
    #[must_use]
    #[doc(hidden)]
    pub fn after_lines(mut self, lines: u64) -> Self {
        if let Self::Line { line, .. } | Self::EdgeCount { line, .. } = &mut self {
            *line += lines;
        }
        self
    }

    /// Builds the error for an allocation that failed.
    pub(crate) fn memory(file: &str, short: Shortage) -> Self {
        Self::Memory {
            file: file.to_owned(),
            needed: short.needed,
            available: short.available,
        }
    }

    /// Returns whether it refuses a negative weight, which
    /// [`LoadOptions::signed`](crate::LoadOptions) would take.
    #[must_use]
    pub fn is_of_negative_weight(&self) -> bool {
        match self {
            Self::Line { problem, .. } => matches!(
                problem,
                LineProblem::Negative {
                    what: "a weight",
                    ..
                }
            ),
            Self::Binary { problem, .. } => match problem {
                BinaryProblem::NegativeWeight { .. } => true,
                BinaryProblem::Weight { value, .. } => *value < 0.0 && value.is_finite(),
                _ => false,
            },
            Self::Archive { problem, .. } => {
                matches!(problem, ArchiveProblem::NegativeWeight { .. })
            }
            _ => false,
        }
    }

    /// Returns the cause: the request or the machine.
    #[must_use]
    pub fn cause(&self) -> Cause {
        match self {
            Self::Io { source, .. } => Cause::of_io(source),
            Self::Changed { .. } | Self::Memory { .. } | Self::Threads { .. } => Cause::Failure,
            _ => Cause::Request,
        }
    }
}
