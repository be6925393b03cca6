//! Errors of commands, and their exit codes.

use std::io;

use crate::bench::{AgainstError, BenchError};
use seawall::Cause;
use seawall::analysis::{AnalysisKind, AnyOf};
use seawall::batch::BatchError;
use seawall::calibrate::measure::MeasureError;
use seawall::calibrate::store::StoreError;
use seawall::graph::file::WriteError;
use seawall::graph::{FormError, GraphError, did_you_mean};
use seawall::run::RunError;
use seawall::service::StartError;
use seawall::units::counted;
use seawall_modules::ModuleError;
use seawall_modules::finding::FindingKind;
use seawall_report::canvas::NAMED;

use super::evidence::EvidenceFailure;
use super::flags;
use super::logging::LogError;
use super::page::PageError;
use super::plan::error::PlanError;
use super::program::ProgramFailure;
#[cfg(unix)]
use super::query::QueryError;
#[cfg(unix)]
use super::serve::socket::SocketError;
use super::sources::{NoSuchSource, SourcesError};

/// The suffix of a path with its dot; empty without one.
fn suffix(path: &str) -> &str {
    path.rfind('.').map_or("", |at| &path[at..])
}

/// A command failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(super) enum CliError {
    /// The graph could not be read or written.
    #[error("{}{}", .0, flags::of_graph(.0))]
    Graph(#[from] GraphError),
    /// The graph has negative weights, which the analysis does not support.
    #[error(
        "{source}; {analysis} takes weights from 0 on, negative ones are for {}",
        AnyOf::with(|facts| facts.signed)
    )]
    Negative {
        analysis: AnalysisKind,
        /// The weight and its place.
        source: GraphError,
    },
    /// The plan's input is invalid.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The program of a text could not be read, planned or run.
    #[error(transparent)]
    Program(#[from] ProgramFailure),
    /// A program could not be read or analysed.
    #[error("{}{}", .0, flags::of_module(.0))]
    Module(#[from] ModuleError),
    #[error(transparent)]
    Evidence(#[from] EvidenceFailure),
    #[error("{}{}", .0, flags::of_run(.0))]
    Run(#[from] RunError),
    #[error(transparent)]
    Form(#[from] FormError),
    /// A result file could not be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// A report could not be read.
    #[error(transparent)]
    Page(#[from] PageError),
    #[error(transparent)]
    Sources(#[from] SourcesError),
    /// A source that is not a node of the graph.
    #[error(transparent)]
    NoSuchSource(#[from] NoSuchSource),
    /// The batch could not be named, loaded or run.
    #[error("{}{}", .0, flags::of_batch(.0))]
    Batch(#[from] BatchError),
    /// An output for one graph was requested of a batch.
    #[error(
        "{option} shows one graph and this is a batch; run that graph alone, or use --out or --json"
    )]
    OneGraph { option: &'static str },
    /// Streaming was requested for a command that never streams.
    #[error(
        "{option}: edges stream through an analysis of one graph, and {what} takes graphs as a whole; leave it out"
    )]
    NeverStreams {
        option: &'static str,
        what: &'static str,
    },
    /// More ranks of a host than GPUs.
    #[error("this host has {} and {}, and each rank takes one: start fewer, or without --backend", counted((*ranks).into(), "rank"), counted((*gpus).into(), "GPU"))]
    FewGpus { gpus: u32, ranks: u32 },
    /// An option of a run that ranks do not have.
    #[error("{option} is not for ranks: {remedy}")]
    NotOnRanks {
        option: &'static str,
        /// The way to run it.
        remedy: &'static str,
    },
    /// A GPU was chosen for a run on threads.
    #[error("--device: the cpu backend uses no GPU; leave it out, or give --backend mega")]
    DeviceOfThreads,
    /// An option of another kind of service.
    #[error("{option} is for {is_for}; leave it out")]
    OtherService {
        option: &'static str,
        /// Its kind of service, and this one.
        is_for: &'static str,
    },
    /// Two outputs are one file.
    #[error("{first} and {second} are one file; give each output a file of its own")]
    OneFileTwice { first: String, second: String },
    /// An output would replace an input of the command.
    #[error("{output} is the file that {input} is read from; write to another one")]
    OutputIsInput { output: String, input: String },
    /// Weights for an analysis that reads none.
    #[error(
        "{option}: {analysis} reads no weights{}; leave it out, or run {}",
        if analysis.facts().weighs { " without --weighted" } else { "" },
        AnyOf::with(|facts| facts.reads_weights || facts.follows_weights)
    )]
    WeightsUnread {
        option: &'static str,
        analysis: AnalysisKind,
    },
    /// A result file whose suffix matches no format.
    #[error("--out {path}: no format has this suffix{}; use .csv, .json or .npy",
        did_you_mean(suffix(path), [".csv", ".json", ".npy"]))]
    UnknownOutput { path: String },
    /// A picture whose suffix matches no format.
    #[error("{option} {path}: {NAMED}")]
    UnknownPicture { option: &'static str, path: String },
    /// A graph that is too large to be drawn.
    #[error("--draw: {reason}; --plot counts the nodes by their values")]
    TooLargeToDraw {
        /// Its size, and the largest.
        reason: String,
    },
    /// A function whose blocks cannot be drawn.
    #[error("--draw-blocks: {function}: {reason}")]
    BlocksNotDrawn {
        function: String,
        /// Its size, and the largest; or what it lacks.
        reason: String,
    },
    /// Blocks that are to be drawn with facts, and no analysis that has facts of blocks.
    #[error("--draw-blocks: {given} has no facts of blocks; use --analysis {}", known.join(", "))]
    NoBlockFacts {
        given: String,
        /// Analyses that have facts of blocks.
        known: Vec<&'static str>,
    },
    /// A kind of findings that no analysis of the request makes.
    #[error("--fail-on {kind}: nothing that is asked for finds this; add {remedy}")]
    FindingNotSought {
        kind: FindingKind,
        /// The options that find it.
        remedy: &'static str,
    },
    /// A column that is not in the table.
    #[error("--columns {column}: this table has no such column{}; it has {}",
        did_you_mean(column, known.iter().map(String::as_str)), known.join(", "))]
    NoSuchColumn {
        column: String,
        /// The existing columns.
        known: Vec<String>,
    },
    /// A column requested twice.
    #[error("--columns names {column} twice; name each column once")]
    ColumnTwice { column: String },
    /// The costs of work could not be measured.
    #[error("measuring this machine: {0}")]
    Measure(#[from] MeasureError),
    /// A comparison could not be made.
    #[error(transparent)]
    Bench(#[from] BenchError),
    /// The earlier benchmark cannot be compared.
    #[error(transparent)]
    Against(#[from] AgainstError),
    /// The measured costs could not be stored.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The log cannot be written as asked.
    #[error(transparent)]
    Log(#[from] LogError),
    #[error(transparent)]
    Start(#[from] StartError),
    /// The socket of the service could not be opened.
    #[cfg(unix)]
    #[error(transparent)]
    Socket(#[from] SocketError),
    /// The service could not be queried.
    #[cfg(unix)]
    #[error(transparent)]
    Query(#[from] QueryError),
    /// The system starts no more threads.
    #[error("a thread that reads queries could not be started: {0}")]
    Thread(io::Error),
    /// Standard output could not be written.
    #[error("standard output: {0}")]
    Stdout(io::Error),
}

impl CliError {
    pub(super) fn exit_code(&self) -> u8 {
        match self.cause() {
            _ if self.is_closed_pipe() => 0,
            Cause::Request => 2,
            Cause::Failure => 1,
        }
    }

    fn cause(&self) -> Cause {
        match self {
            Self::Graph(error) | Self::Negative { source: error, .. } => error.cause(),
            Self::Plan(error) => error.cause(),
            Self::Program(error) => error.cause(),
            Self::Module(error) => error.cause(),
            Self::Evidence(error) => error.cause(),
            Self::Run(error) => error.cause(),
            Self::Form(error) => error.cause(),
            Self::Write(error) => Cause::of_io(&error.source),
            Self::Page(error) => error.cause(),
            Self::Sources(error) => error.cause(),
            Self::Batch(error) => error.cause(),
            Self::Measure(error) => error.cause(),
            Self::Bench(error) => error.cause(),
            Self::Start(error) => error.cause(),
            #[cfg(unix)]
            Self::Socket(error) => error.cause(),
            #[cfg(unix)]
            Self::Query(error) => error.cause(),
            Self::Store(_) | Self::Stdout(_) | Self::Thread(_) => Cause::Failure,
            _ => Cause::Request,
        }
    }

    /// Returns whether a reader of standard output or of another pipe, such as `head`, has closed
    /// it. This is not a failure.
    pub(super) fn is_closed_pipe(&self) -> bool {
        let error = match self {
            Self::Stdout(error) => error,
            Self::Write(error) => &error.source,
            Self::Graph(GraphError::Io { source, .. }) => source,
            _ => return false,
        };
        error.kind() == io::ErrorKind::BrokenPipe
    }
}
