//! `seawall query`: a client of `seawall serve`, and a load generator.

mod load;
mod report;

use std::io::{self, BufRead, BufReader, Write};
use std::net::Shutdown;
use std::num::NonZeroU32;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, ValueEnum};

use super::CliError;
use super::files::Outputs;
use super::output::print;
use seawall::Cause;
use seawall::graph::file::write_whole;

const EXAMPLES: &str = "\
Examples:
  seawall query --socket /tmp/roads.sock '{\"op\":\"distance\",\"source\":1,\"target\":2}'
  seawall query --socket /tmp/roads.sock < queries.jsonl
  seawall query --socket /tmp/roads.sock --load 100000 --clients 4 --plot latency.svg

See seawall serve --help for the queries.";

/// Ask a running service, or measure how fast it answers.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct QueryArgs {
    /// Socket of the service.
    #[arg(long, value_name = "PATH")]
    socket: PathBuf,
    /// Queries, one JSON object each; without them, lines of standard input.
    #[arg(value_name = "QUERY", conflicts_with = "load")]
    queries: Vec<String>,
    /// Send so many queries about random nodes and report how long each took.
    #[arg(long, value_name = "N")]
    load: Option<NonZeroU32>,
    /// Connections that send at the same time, each the next query when it has its answer.
    #[arg(long, value_name = "N", default_value = "1", requires = "load")]
    clients: NonZeroU32,
    /// Queries to send.
    #[arg(long, value_enum, default_value_t = LoadOp::Reach, requires = "load")]
    op: LoadOp,
    /// Seed of random nodes.
    #[arg(long, value_name = "SEED", default_value_t = 0, requires = "load")]
    seed: u64,
    /// Draw how many queries took how long, as SVG.
    #[arg(long, value_name = "FILE", requires = "load")]
    plot: Option<PathBuf>,
    /// Print the report as one JSON object.
    #[arg(long, requires = "load")]
    pub(super) json: bool,
}

/// Queries of the load generator.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum LoadOp {
    /// Nothing: the way there and back.
    Nop,
    /// Whether one random node reaches another.
    Reach,
    /// Edges on the way from one random node to another.
    Distance,
}

/// A service could not be asked.
#[derive(Debug, thiserror::Error)]
pub(crate) enum QueryError {
    /// Nobody listens.
    #[error("{path}: {source}; start one with seawall serve GRAPH --socket {path}")]
    Connect {
        /// The socket.
        path: String,
        /// The error of the system.
        source: io::Error,
    },
    /// The service ended or failed while it was asked.
    #[error("{path}: {source}; {open} queries have no answer")]
    Lost {
        /// The socket.
        path: String,
        /// The error of the system.
        source: io::Error,
        /// Queries without an answer.
        open: u64,
    },
    /// The service takes no more clients.
    #[error("{path}: {message}; use fewer clients or ask again later")]
    Busy {
        /// The socket.
        path: String,
        /// The answer of the service.
        message: String,
    },
    /// An answer that is none.
    #[error("{path}: the answer {line:?} is none of seawall serve")]
    Stranger {
        /// The socket.
        path: String,
        /// The received text.
        line: String,
    },
    /// A picture whose suffix names no format.
    #[error("--plot {path}: pictures are SVG; end the name in .svg")]
    Picture {
        /// The path given.
        path: String,
    },
}

impl QueryError {
    /// Whether another request would help.
    pub(crate) fn cause(&self) -> Cause {
        match self {
            Self::Connect { source, .. } => Cause::of_io(source),
            Self::Picture { .. } => Cause::Request,
            Self::Lost { .. } | Self::Busy { .. } | Self::Stranger { .. } => Cause::Failure,
        }
    }
}

/// Asks and prints the answers, or measures.
pub(super) fn command(args: &QueryArgs) -> Result<ExitCode, CliError> {
    let Some(queries) = args.load else {
        ask(args)?;
        return Ok(ExitCode::SUCCESS);
    };
    if let Some(plot) = &args.plot {
        check_picture(plot)?;
    }
    let report = load::run(&load::Load {
        socket: &args.socket,
        queries: queries.get(),
        clients: args.clients.get().min(queries.get()),
        op: args.op,
        seed: args.seed,
    })?;
    if let Some(plot) = &args.plot {
        write_whole(plot, |out| report::plot(&report, out))?;
    }
    print(|out| {
        if args.json {
            report.write_json(out)
        } else {
            report.write_text(out)
        }
    })?;
    Ok(ExitCode::SUCCESS)
}

fn check_picture(path: &Path) -> Result<(), CliError> {
    Outputs::default().add("--plot", path)?;
    if path.extension().is_none_or(|suffix| suffix != "svg") {
        let path = path.display().to_string();
        return Err(QueryError::Picture { path }.into());
    }
    Ok(())
}

fn connect(path: &Path) -> Result<UnixStream, QueryError> {
    UnixStream::connect(path).map_err(|source| QueryError::Connect {
        path: path.display().to_string(),
        source,
    })
}

/// Sends the queries while their answers are printed.
fn ask(args: &QueryArgs) -> Result<(), CliError> {
    let stream = connect(&args.socket)?;
    let lost = |source, open| QueryError::Lost {
        path: args.socket.display().to_string(),
        source,
        open,
    };
    let answers = stream.try_clone().map_err(|source| lost(source, 0))?;
    let queries = args.queries.clone();
    let sender = std::thread::spawn(move || send(&stream, &queries));
    let mut received = 0_u64;
    for line in BufReader::new(answers).lines() {
        let line = line.map_err(|source| lost(source, 0))?;
        print(|out| writeln!(out, "{line}"))?;
        received += 1;
    }
    let sent = sender.join().unwrap_or(Ok(0));
    let sent = sent.map_err(|source| lost(source, 0))?;
    if received < sent {
        let source = io::ErrorKind::UnexpectedEof.into();
        return Err(lost(source, sent - received).into());
    }
    Ok(())
}

/// Sends queries and then the end; returns how many.
fn send(mut stream: &UnixStream, queries: &[String]) -> io::Result<u64> {
    let mut sent = 0;
    let mut line = |line: &str| {
        if line.trim().is_empty() {
            return Ok(());
        }
        sent += 1;
        stream.write_all(format!("{}\n", line.trim_end()).as_bytes())
    };
    if queries.is_empty() {
        for text in io::stdin().lock().lines() {
            line(&text?)?;
        }
    } else {
        queries.iter().try_for_each(|query| line(query))?;
    }
    stream.shutdown(Shutdown::Write)?;
    Ok(sent)
}
