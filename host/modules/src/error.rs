//! Problems of inputs and of analyses.

use seawall::Cause;
use seawall::backend::BackendError;
use seawall::graph::GraphError;
use seawall::program::ProgramError;
use seawall::run::RunError;
use std::io;

/// A program could not be read or analysed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModuleError {
    /// A file could not be read.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: String,
        /// The system's message.
        source: io::Error,
    },
    /// The bytes are no valid module.
    #[error("{path}: byte {offset}: {message}")]
    Invalid {
        /// The file.
        path: String,
        /// Offset of the problem, bytes from the start of the file.
        offset: u64,
        /// The problem, in the validator's words.
        message: String,
    },
    /// The file is a component.
    #[error(
        "{path}: a component, which holds core modules and adapters between them; take its core modules out (`wasm-tools component unbundle`) and analyse those"
    )]
    Component {
        /// The file.
        path: String,
    },
    /// The file is neither a module nor a flow graph as text.
    #[error("{path}: neither a WebAssembly module nor text that begins with `seawall-flow 1`")]
    Unknown {
        /// The file.
        path: String,
    },
    /// A line of the text format is wrong.
    #[error("{path}:{line}: {problem}")]
    Text {
        /// The file.
        path: String,
        /// Number of the line, from 1.
        line: usize,
        /// The problem.
        problem: String,
    },
    /// Something is larger than the tables can express.
    #[error("{path}: {what}: {found}, and at most {most} can be analysed")]
    TooLarge {
        /// The file.
        path: String,
        /// The counted thing, with its unit.
        what: String,
        /// The number found.
        found: u64,
        /// The largest number.
        most: u64,
    },
    /// The facts of one function need more memory than they may have.
    #[error(
        "{analysis} of {function}: {facts} facts in {blocks} blocks take {needed} bytes, and {limit} are allowed; allow more, or leave the analysis out"
    )]
    TooManyFacts {
        /// The analysis.
        analysis: &'static str,
        /// The function.
        function: String,
        /// Facts of the function.
        facts: u64,
        /// Blocks of the function.
        blocks: u64,
        /// Bytes of all of its facts.
        needed: u64,
        /// Bytes that they may take.
        limit: u64,
    },
    /// A line of a grammar or of its edges is wrong.
    #[error("{path}:{line}: {problem}")]
    GrammarText {
        /// The file.
        path: String,
        /// Number of the line, from 1.
        line: usize,
        /// The problem.
        problem: String,
    },
    /// The pairs of a grammar's symbols need more memory than they may have.
    #[error(
        "reachability under a grammar: {pairs} pairs of {nodes} nodes and more to come take {needed} bytes, and {limit} are allowed"
    )]
    TooManyPairs {
        /// Pairs so far.
        pairs: u64,
        /// Nodes of the graph.
        nodes: u64,
        /// Bytes that they take at most.
        needed: u64,
        /// Bytes that all may take.
        limit: u64,
    },
    /// A name that the program lacks.
    #[error("{role} {name}: {problem}")]
    NoSuchName {
        /// The kind of thing that it should name.
        role: &'static str,
        /// The name.
        name: String,
        /// Why nothing is named.
        problem: String,
    },
    /// A fixpoint was given up.
    #[error("{analysis}: no fixpoint after {iterations} iterations")]
    NotConverged {
        /// The analysis.
        analysis: &'static str,
        /// Iterations that ran.
        iterations: u32,
    },
    /// The graph of the submission could not be built.
    #[error(transparent)]
    Graph(#[from] GraphError),
    /// The wave program could not be planned.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// An analysis of the call graph failed.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The machine failed.
    #[error(transparent)]
    Backend(#[from] BackendError),
}

impl ModuleError {
    /// Whether the request or its input is wrong, or the machine failed.
    #[must_use]
    pub fn cause(&self) -> Cause {
        match self {
            Self::Io { source, .. } => Cause::of_io(source),
            Self::Invalid { .. }
            | Self::Component { .. }
            | Self::Unknown { .. }
            | Self::Text { .. }
            | Self::GrammarText { .. }
            | Self::TooLarge { .. }
            | Self::TooManyFacts { .. }
            | Self::TooManyPairs { .. }
            | Self::NoSuchName { .. } => Cause::Request,
            Self::NotConverged { .. } => Cause::Failure,
            Self::Graph(error) => error.cause(),
            Self::Program(_) => Cause::Failure,
            Self::Run(error) => error.cause(),
            Self::Backend(error) => error.cause(),
        }
    }
}
