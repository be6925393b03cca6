//! `seawall evidence`: records measurements, and checks that they prove a speed-up.

use std::io;
use std::process::ExitCode;

use clap::{Args, Subcommand};

use super::CliError;
use seawall::Cause;
use seawall::evidence::EvidenceError;

mod record;
mod verify;

const EXAMPLES: &str = "\
Examples:
  seawall evidence record --out speedups.csv
  seawall evidence verify speedups.csv --required-speedup 2.0";

/// Record and judge measurements of a speed-up.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, arg_required_else_help = true)]
pub(super) struct EvidenceArgs {
    #[command(subcommand)]
    command: EvidenceCommand,
}

#[derive(Debug, Subcommand)]
enum EvidenceCommand {
    Record(record::RecordArgs),
    Verify(verify::VerifyArgs),
}

/// Evidence was refused, or could not be recorded.
#[derive(Debug, thiserror::Error)]
pub(crate) enum EvidenceFailure {
    /// The file cannot be read.
    #[error("{file}: cannot read: {source}")]
    Unreadable {
        file: String,
        /// The operating system's answer.
        source: io::Error,
    },
    #[error("{file}: {reason}")]
    Refused {
        file: String,
        reason: String,
        /// The reason as an object, for scripts.
        fields: serde_json::Value,
        /// Whether the file or the threshold is malformed; otherwise the samples are too weak.
        malformed: bool,
    },
    /// A comparison could not be measured.
    #[error("{graph}: {source}")]
    Unmeasured {
        graph: String,
        source: EvidenceError,
    },
}

impl EvidenceFailure {
    /// Insufficient evidence is not a wrong request.
    pub(super) fn cause(&self) -> Cause {
        match self {
            Self::Refused {
                malformed: false, ..
            } => Cause::Failure,
            Self::Refused { .. } => Cause::Request,
            Self::Unreadable { source, .. } => Cause::of_io(source),
            Self::Unmeasured { source, .. } => source.cause(),
        }
    }
}

impl EvidenceArgs {
    /// Returns whether standard output is for scripts.
    pub(super) fn is_for_scripts(&self) -> bool {
        match &self.command {
            EvidenceCommand::Record(args) => args.json,
            EvidenceCommand::Verify(args) => args.json,
        }
    }
}

/// Records or judges.
pub(super) fn command(args: &EvidenceArgs) -> Result<ExitCode, CliError> {
    match &args.command {
        EvidenceCommand::Record(args) => record::command(args),
        EvidenceCommand::Verify(args) => verify::command(args),
    }
}
