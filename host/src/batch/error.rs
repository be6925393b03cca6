//! Errors of a batch.

use super::Origin;
use crate::Cause;
use crate::backend::BackendError;
use crate::graph::{GraphError, as_text};
use crate::run::{Detail, Executor, RunError};
use std::io;

/// A batch ended without a result.
#[derive(Debug, serde::Serialize, thiserror::Error)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum BatchError {
    /// There are no graphs.
    #[error("a batch without graphs; name at least one")]
    Empty,
    /// A folder without a graph file.
    #[error(
        "{folder}: no graph files in this folder; they end in .mtx, .el, .txt, .gr, .graph, .graphml, .swg and the like, compressed or not; name files in .csv, .npz or .bin, which are often no graphs, one by one"
    )]
    EmptyFolder {
        /// The folder as the caller named it.
        folder: String,
    },
    /// A list without a line that names a graph.
    #[error("{list}: the list names no graph; write one per line")]
    EmptyList {
        /// The list as the caller named it.
        list: String,
    },
    /// A folder or a list could not be read.
    #[error("{file}: cannot {action}: {source}")]
    Io {
        /// File or folder as the caller named it.
        file: String,
        /// The attempted action.
        action: &'static str,
        /// The system's answer.
        #[serde(rename = "reason", serialize_with = "as_text")]
        source: io::Error,
    },
    /// A line of a list is not UTF-8, on systems where file names must be.
    #[error("{list}:{line}: not UTF-8; names of files must be text here")]
    NotText {
        /// The list as the caller named it.
        list: String,
        /// Line, from 1.
        line: usize,
    },
    /// A line of a list is longer than any name.
    #[error(
        "{list}:{line}: the line is longer than {most} bytes; a list is text with one graph a line"
    )]
    LongLine {
        /// The list as the caller named it.
        list: String,
        /// Line, from 1.
        line: usize,
        /// Longest line allowed, bytes.
        most: u64,
    },
    /// An entry that cannot be part of a batch.
    #[error("{origin}{value}: {problem}")]
    Refused {
        /// Place where it was named.
        #[serde(skip)]
        origin: Origin,
        /// The entry.
        value: String,
        /// The reason, with a remedy.
        problem: String,
    },
    /// A graph could not be loaded.
    #[error("{origin}{source}")]
    Load {
        /// Place where it was named.
        #[serde(skip)]
        origin: Origin,
        /// The error, which names the graph.
        #[serde(rename = "cause")]
        source: GraphError,
    },
    /// The executor runs one graph at a time.
    #[error(
        "the executor {backend} runs one graph at a time; use mega or cpu for a batch, or run the graphs one by one"
    )]
    OneAtATime {
        /// The requested executor.
        backend: Executor,
    },
    /// The detail is available for single graphs only.
    #[error(
        "{detail} are only available for one graph; leave them out of a batch, or run the graphs one by one"
    )]
    DetailOfOne {
        /// The requested detail.
        #[serde(serialize_with = "as_text")]
        detail: Detail,
    },
    /// One graph is the cause.
    #[error("{name}: {source}")]
    #[serde(rename = "graph_of_batch")]
    Graph {
        /// Name of the graph.
        name: String,
        /// The error of this graph.
        #[serde(rename = "cause")]
        source: RunError,
    },
    /// Too many graphs.
    #[error("a batch of {graphs} graphs or more; at most {most} run at once, so split it")]
    #[serde(rename = "too_many_graphs")]
    TooMany {
        /// Graphs given.
        graphs: usize,
        /// Most graphs of a batch.
        most: u32,
    },
    /// The batch as a whole is the cause.
    #[error(transparent)]
    #[serde(untagged)]
    Run(#[from] RunError),
}

impl BatchError {
    /// Returns the cause: the request or the machine.
    #[must_use]
    pub fn cause(&self) -> Cause {
        match self {
            Self::Graph { source, .. } | Self::Run(source) => source.cause(),
            Self::Load { source, .. } => source.cause(),
            Self::Io { source, .. } => Cause::of_io(source),
            _ => Cause::Request,
        }
    }
}

impl From<BackendError> for BatchError {
    fn from(error: BackendError) -> Self {
        Self::Run(error.into())
    }
}
