//! `seawall query`: a client of `seawall serve`, and a load generator.

mod load;
mod metrics;
mod report;

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::Shutdown;
use std::num::NonZeroU32;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use clap::{Args, ValueEnum};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::CliError;
use super::files::Outputs;
use super::output::{print, show};
use super::serve::LINE_MAX as QUERY_MAX;
use super::unix::{LongPath, check_length, connect_within};
use seawall::Cause;
use seawall::graph::file::write_whole;
use seawall_report::canvas::{NAMED, PictureFormat};

const EXAMPLES: &str = "\
Examples:
  seawall query --socket /tmp/roads.sock '{\"op\":\"distance\",\"source\":1,\"target\":2}'
  seawall query --socket /tmp/roads.sock < queries.jsonl
  seawall query --socket /tmp/roads.sock --metrics > /var/lib/node_exporter/seawall.prom
  seawall query --socket /tmp/roads.sock --load 100000 --clients 4 --plot latency.svg

See seawall serve --help for the queries.";

/// Time within which a service accepts a connection.
const CONNECTS_WITHIN: Duration = Duration::from_secs(5);

/// Most bytes of an answer: a result of 4096 words takes 110 000, and an id 65 536.
const ANSWER_MAX: usize = 1 << 20;

/// What excludes a load, and so its options: clap drops a requirement that conflicts with what is
/// given.
const NOT_OF_LOAD: [&str; 2] = ["queries", "metrics"];

/// Ask a running service, or measure how fast it answers.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct QueryArgs {
    /// Socket of the service.
    #[arg(long, value_name = "PATH")]
    socket: PathBuf,
    /// Queries, one JSON object each or one a line; without them, lines of standard input.
    #[arg(value_name = "QUERY", conflicts_with = "load")]
    queries: Vec<String>,
    /// End with exit code 1 if an answer is an error; all answers are printed.
    #[arg(long, conflicts_with_all = ["metrics", "load"])]
    fail: bool,
    /// Print the service's counters as Prometheus reads them.
    #[arg(long, conflicts_with_all = ["queries", "load"])]
    metrics: bool,
    /// Send so many queries about random nodes and report how long each took.
    #[arg(long, value_name = "N")]
    load: Option<NonZeroU32>,
    /// Connections that send at the same time, each the next query when it has its answer.
    #[arg(long, value_name = "N", default_value = "1", requires = "load", conflicts_with_all = NOT_OF_LOAD)]
    clients: NonZeroU32,
    /// Queries to send.
    #[arg(long, value_enum, default_value_t = LoadOp::Reach, requires = "load", conflicts_with_all = NOT_OF_LOAD)]
    op: LoadOp,
    /// Seed of random nodes.
    #[arg(long, value_name = "SEED", default_value_t = 0, requires = "load", conflicts_with_all = NOT_OF_LOAD)]
    seed: u64,
    /// Draw how many queries took how long, as SVG.
    #[arg(long, value_name = "FILE", requires = "load", conflicts_with_all = NOT_OF_LOAD)]
    plot: Option<PathBuf>,
    /// Print the report as one JSON object.
    #[arg(long, requires = "load", conflicts_with_all = NOT_OF_LOAD)]
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

/// A service could not be queried.
#[derive(Debug, thiserror::Error)]
pub(crate) enum QueryError {
    /// No service listens.
    #[error("{path}: {source}; start one with seawall serve GRAPH --socket {path}")]
    Connect { path: String, source: io::Error },
    /// The service ended or failed during a query.
    #[error("{path}: {source}; {open} queries have no answer")]
    Lost {
        path: String,
        source: io::Error,
        /// Queries without an answer.
        open: u64,
    },
    /// The service accepts no more clients.
    #[error("{path}: {message}; use fewer clients or ask again later")]
    Busy {
        path: String,
        /// The answer of the service.
        message: String,
    },
    /// Random nodes of a service without a graph.
    #[error(
        "{path}: it serves modules, which have no nodes; --op nop measures the way there and back"
    )]
    Modules { path: String },
    /// Random nodes of a graph whose nodes have names.
    #[error(
        "{path}: the nodes of its graph have names, and random ones are drawn by their ids; ask about nodes by lines, or serve a graph with ids"
    )]
    Named { path: String },
    /// An invalid answer.
    #[error("{path}: the answer {line:?} is none of seawall serve")]
    Stranger {
        path: String,
        /// The received text, or its beginning.
        line: String,
    },
    /// An incomplete answer.
    #[error("{path}: an answer was cut after {bytes} bytes; {open} queries have no answer")]
    Cut {
        path: String,
        bytes: usize,
        /// Queries without an answer.
        open: u64,
    },
    /// An answer without an end.
    #[error("{path}: an answer of more than {most} bytes, which is none of seawall serve")]
    Endless { path: String, most: usize },
    /// The service closed an idle connection.
    #[error("{path}: {message}")]
    Idle {
        path: String,
        /// The answer of the service.
        message: String,
    },
    /// An argument without a query.
    #[error("query {number} is empty; a query is a JSON object, such as '{{\"op\":\"nop\"}}'")]
    NoQuery { number: usize },
    /// Errors among the answers, with `--fail`.
    #[error("{failed} of {answers} answers are errors")]
    Answers { failed: u64, answers: u64 },
    /// A path of which no socket can have the name.
    #[error(transparent)]
    Path(#[from] LongPath),
    /// A query that no service accepts.
    #[error("query {number} has more than {most} bytes, and a service takes no more")]
    LongQuery { number: u64, most: usize },
    /// A picture whose suffix names no format.
    #[error("--plot {path}: {NAMED}")]
    Picture {
        /// The path given.
        path: String,
    },
}

impl QueryError {
    pub(crate) fn cause(&self) -> Cause {
        match self {
            // Also where the socket's file is missing: nobody listens there.
            Self::Connect { source, .. } if source.kind() == io::ErrorKind::NotFound => {
                Cause::Failure
            }
            Self::Connect { source, .. } => Cause::of_io(source),
            Self::Picture { .. }
            | Self::LongQuery { .. }
            | Self::NoQuery { .. }
            | Self::Path(_) => Cause::Request,
            _ => Cause::Failure,
        }
    }
}

/// Sends queries and prints the answers, or measures.
pub(super) fn command(args: &QueryArgs) -> Result<ExitCode, CliError> {
    if args.metrics {
        let text = measured(&args.socket)?;
        print(|out| out.write_all(text.as_bytes()))?;
        return Ok(ExitCode::SUCCESS);
    }
    let Some(queries) = args.load else {
        ask(args)?;
        return Ok(ExitCode::SUCCESS);
    };
    let plot = args
        .plot
        .as_deref()
        .map(|path| Ok::<_, CliError>((path, picture(path)?)));
    let plot = plot.transpose()?;
    let report = load::run(&load::Load {
        socket: &args.socket,
        queries: queries.get(),
        clients: args.clients.get().min(queries.get()),
        op: args.op,
        seed: args.seed,
    })?;
    if let Some((path, format)) = plot {
        write_whole(path, |out| report::plot(&report, format, out))?;
    }
    show(args.json, &report.json(), |out| report.write_text(out))?;
    Ok(ExitCode::SUCCESS)
}

/// The counters of the service.
fn measured(path: &Path) -> Result<String, QueryError> {
    let mut stream = connect(path)?;
    stream
        .write_all(b"{\"op\":\"stats\"}\n")
        .and_then(|()| stream.shutdown(Shutdown::Write))
        .map_err(|source| lost(path, source, 1))?;
    let mut answers = Answers::new(path, stream);
    let Some((line, answer)) = answers.next(|| 1)? else {
        return Err(lost(path, io::ErrorKind::UnexpectedEof.into(), 1));
    };
    metrics::text(&answer).ok_or_else(|| answers.stranger(&line))
}

/// The format of a picture that may be written there.
fn picture(path: &Path) -> Result<PictureFormat, CliError> {
    Outputs::default().add("--plot", path)?;
    let unknown = || QueryError::Picture {
        path: path.display().to_string(),
    };
    Ok(PictureFormat::of(path).ok_or_else(unknown)?)
}

fn connect(path: &Path) -> Result<UnixStream, QueryError> {
    check_length(path)?;
    connect_within(path, CONNECTS_WITHIN).map_err(|source| QueryError::Connect {
        path: path.display().to_string(),
        source: match source.kind() {
            io::ErrorKind::TimedOut => {
                let most = CONNECTS_WITHIN.as_secs();
                let text = format!("the service took no connection within {most} s");
                io::Error::new(io::ErrorKind::TimedOut, text)
            }
            _ => source,
        },
    })
}

/// Sends the queries while their answers are printed.
fn ask(args: &QueryArgs) -> Result<(), CliError> {
    let queries = lines_of(&args.queries)?;
    let stream = connect(&args.socket)?;
    let sent = Arc::new(Sent::default());
    let answers = stream.try_clone();
    let answers = answers.map_err(|source| lost(&args.socket, source, 0))?;
    let counted = Arc::clone(&sent);
    let sender = std::thread::spawn(move || send(&stream, &queries, &counted));
    let printed = print_answers(&args.socket, answers, &sent);
    // A service that closes has sent the reason; the other thread may wait for a query to send.
    let printed = printed?;
    match sender.join() {
        Ok(Err(SendError::Io(source))) => return Err(lost(&args.socket, source, 0).into()),
        Ok(Err(SendError::Long(number))) => {
            let most = QUERY_MAX;
            return Err(QueryError::LongQuery { number, most }.into());
        }
        Ok(Ok(())) | Err(_) => {}
    }
    match printed.failed {
        failed @ 1.. if args.fail => {
            let answers = printed.answers;
            Err(QueryError::Answers { failed, answers }.into())
        }
        _ => Ok(()),
    }
}

/// The queries of the arguments, one a line. An argument that is one object may have several lines.
fn lines_of(arguments: &[String]) -> Result<Vec<String>, QueryError> {
    let mut lines = Vec::new();
    for (number, argument) in (1..).zip(arguments) {
        let before = lines.len();
        if serde_json::from_str::<&RawValue>(argument).is_ok() {
            // Ends of lines stand between the words of an object alone.
            lines.push(argument.replace(['\n', '\r'], " "));
        } else {
            let filled = argument.lines().filter(|line| !line.trim().is_empty());
            lines.extend(filled.map(str::to_owned));
        }
        if lines.len() == before {
            return Err(QueryError::NoQuery { number });
        }
    }
    Ok(lines)
}

fn lost(path: &Path, source: io::Error, open: u64) -> QueryError {
    QueryError::Lost {
        path: path.display().to_string(),
        source,
        open,
    }
}

/// Counts of answers.
#[derive(Debug)]
struct Printed {
    answers: u64,
    failed: u64,
}

/// Prints answers until the service closes; all sent queries then have answers.
fn print_answers(path: &Path, answers: UnixStream, sent: &Sent) -> Result<Printed, CliError> {
    let mut answers = Answers::new(path, answers);
    let (mut received, mut failed) = (0_u64, 0);
    let open = |received: u64| {
        sent.queries
            .load(Ordering::Acquire)
            .saturating_sub(received)
    };
    while let Some((line, answer)) = answers.next(|| open(received))? {
        // It is counted as sent before the service can see it.
        if open(received) == 0 {
            return Err(answers.stranger(&line).into());
        }
        received += 1;
        failed += u64::from(answer.get("error").is_some());
        print(|out| out.write_all(line.as_bytes()))?;
    }
    match open(received) {
        0 if sent.is_over.load(Ordering::Acquire) => Ok(Printed {
            answers: received,
            failed,
        }),
        open => Err(lost(path, io::ErrorKind::UnexpectedEof.into(), open).into()),
    }
}

/// The lines that a service sends.
struct Answers<'a> {
    path: &'a Path,
    stream: BufReader<UnixStream>,
}

impl<'a> Answers<'a> {
    fn new(path: &'a Path, stream: UnixStream) -> Self {
        let stream = BufReader::new(stream);
        Self { path, stream }
    }

    fn stream(&self) -> &UnixStream {
        self.stream.get_ref()
    }

    /// The next answer, verbatim with its end of line, and parsed without its id; `None` if the
    /// service has closed. `open` is the number of queries without an answer.
    fn next(&mut self, open: impl Fn() -> u64) -> Result<Option<(String, Value)>, QueryError> {
        let path = || self.path.display().to_string();
        let mut bytes = Vec::new();
        let most = ANSWER_MAX as u64 + 1;
        let read = self
            .stream
            .by_ref()
            .take(most)
            .read_until(b'\n', &mut bytes);
        if bytes.is_empty() {
            read.map_err(|source| lost(self.path, source, open()))?;
            return Ok(None);
        }
        if bytes.last() != Some(&b'\n') {
            return Err(if bytes.len() > ANSWER_MAX {
                QueryError::Endless {
                    path: path(),
                    most: ANSWER_MAX,
                }
            } else {
                QueryError::Cut {
                    path: path(),
                    bytes: bytes.len(),
                    open: open(),
                }
            });
        }
        let line = String::from_utf8_lossy(&bytes).into_owned();
        let answer = fields_of(&line).ok_or_else(|| self.stranger(&line))?;
        let error = &answer["error"];
        let message = error["message"].as_str().unwrap_or_default().to_owned();
        match error["kind"].as_str() {
            Some("busy") => Err(QueryError::Busy {
                path: path(),
                message,
            }),
            Some("idle") => Err(QueryError::Idle {
                path: path(),
                message,
            }),
            _ => Ok(Some((line, answer))),
        }
    }

    fn stranger(&self, line: &str) -> QueryError {
        QueryError::Stranger {
            path: self.path.display().to_string(),
            line: line.trim_end().chars().take(80).collect(),
        }
    }
}

/// The fields of an answer but for its id, which is as the client wrote it and may be beyond what a
/// value of the library holds.
fn fields_of(line: &str) -> Option<Value> {
    let fields: BTreeMap<String, &RawValue> = serde_json::from_str(line).ok()?;
    let fields = fields.into_iter().filter(|(name, _)| name != "id");
    let parsed = fields.map(|(name, value)| Some((name, serde_json::from_str(value.get()).ok()?)));
    parsed
        .collect::<Option<Map<String, Value>>>()
        .map(Value::Object)
}

/// Not all queries were sent.
enum SendError {
    Io(io::Error),
    /// A query of this number, from 1 on, is too long.
    Long(u64),
}

impl From<io::Error> for SendError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Progress of sending, published before the service can see a query.
#[derive(Debug, Default)]
struct Sent {
    queries: AtomicU64,
    is_over: AtomicBool,
}

fn send(mut stream: &UnixStream, queries: &[String], sent: &Sent) -> Result<(), SendError> {
    let mut line = |line: &[u8], is_last: bool| {
        let line = line.trim_ascii();
        if line.is_empty() {
            return Ok(());
        }
        let number = sent.queries.load(Ordering::Relaxed) + 1;
        if line.len() > QUERY_MAX {
            return Err(SendError::Long(number));
        }
        sent.queries.store(number, Ordering::Release);
        // A service may close as soon as it has answered the last query.
        sent.is_over.store(is_last, Ordering::Release);
        let mut line = line.to_vec();
        line.push(b'\n');
        Ok(stream.write_all(&line)?)
    };
    let all = if queries.is_empty() {
        each_line(&mut io::stdin().lock(), |text| line(text, false))
    } else {
        let mut numbered = (1..).zip(queries);
        numbered.try_for_each(|(number, query)| line(query.as_bytes(), number == queries.len()))
    };
    sent.is_over.store(true, Ordering::Release);
    // Sent queries get answers even after an error.
    let closed = stream.shutdown(Shutdown::Write);
    all?;
    Ok(closed?)
}

/// Reads lines, but not those that are much too long.
fn each_line(
    input: &mut impl BufRead,
    mut line: impl FnMut(&[u8]) -> Result<(), SendError>,
) -> Result<(), SendError> {
    let mut text = Vec::new();
    loop {
        text.clear();
        // Spaces around a query are stripped.
        let most = 2 * QUERY_MAX as u64;
        if input.by_ref().take(most).read_until(b'\n', &mut text)? == 0 {
            return Ok(());
        }
        line(&text)?;
    }
}
