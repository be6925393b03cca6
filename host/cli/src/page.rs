//! `seawall report`: the JSON of a run as one page of HTML.

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use clap::builder::{PathBufValueParser, TypedValueParser};
use serde_json::Value;

use super::CliError;
use super::files::{Outputs, named, text_of};
use super::output::print;
use seawall::Cause;
use seawall::graph::file::write_whole;
use seawall_report::date::today;
use seawall_report::page;

const EXAMPLES: &str = "\
Examples:
  seawall run gen:grid:512 --analysis bfs --source 0 --explain --json > run.json
  seawall report run.json --out run.html
  seawall run roads.gr --analysis cc --json | seawall report - > roads.html

The page needs nothing else: no script, font or picture from elsewhere. With --explain the run's
JSON has its groups and the steps of its searches, which the page draws.";

/// Most bytes of a report: one with a million sources has less.
const BYTES_MAX: u64 = 64 << 20;

/// Make a page of HTML from the JSON of a run.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ReportArgs {
    /// Report that `run --json` printed; - for standard input.
    #[arg(value_name = "FILE")]
    input: PathBuf,
    /// Page to write [default: standard output].
    #[arg(long, value_name = "FILE", value_parser = PathBufValueParser::new().map(named))]
    out: Option<PathBuf>,
}

#[derive(Debug, thiserror::Error)]
pub(super) enum PageError {
    /// The file cannot be read.
    #[error("{file}: cannot read: {source}")]
    Unreadable {
        file: String,
        /// The system's answer.
        source: io::Error,
    },
    /// No report of a run.
    #[error(
        "{file}: {problem}; seawall run GRAPH --analysis NAME --json prints what this command reads"
    )]
    NoReport { file: String, problem: String },
}

impl PageError {
    pub(super) fn cause(&self) -> Cause {
        match self {
            Self::Unreadable { source, .. } => Cause::of_io(source),
            Self::NoReport { .. } => Cause::Request,
        }
    }
}

pub(super) fn command(args: &ReportArgs) -> Result<ExitCode, CliError> {
    let mut outputs = Outputs::default();
    if let Some(path) = &args.out {
        outputs.add("--out", path)?;
        outputs.spare(args.input.as_os_str())?;
    }
    let file = args.input.to_string_lossy();
    let report = read(&args.input, &file)?;
    let no_report = |problem: &'static str| PageError::NoReport {
        file: file.clone().into_owned(),
        problem: problem.to_owned(),
    };
    let page = page::Page::of(&report).map_err(no_report)?;
    let made = format!("seawall {}, {}", env!("CARGO_PKG_VERSION"), today());
    match &args.out {
        Some(path) => write_whole(path, |out| page.write(&made, out))?,
        None => print(|out| page.write(&made, out))?,
    }
    Ok(ExitCode::SUCCESS)
}

fn read(path: &Path, file: &str) -> Result<Value, PageError> {
    let text = text_of(path, BYTES_MAX).map_err(|source| PageError::Unreadable {
        file: file.to_owned(),
        source,
    })?;
    serde_json::from_str(&text).map_err(|error| PageError::NoReport {
        file: file.to_owned(),
        problem: format!("no JSON object ({error})"),
    })
}
