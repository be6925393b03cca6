//! `seawall serve`: a resident service that answers JSON lines.
//!
//! Queries come from standard input, or from the clients of a Unix socket. Every client is a
//! separate tenant with a window, a quota and a bounded number of open queries, so that none can
//! take another's resources.

mod answer;
mod fields;
mod modules;
mod post;
mod programs;
mod request;
mod session;
#[cfg(unix)]
pub(super) mod socket;
mod stop;

use std::fs::File;
use std::io::{self, Read};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
#[cfg(unix)]
use std::time::Duration;

use clap::{Args, ValueEnum};

use super::CliError;
use super::analyze::{CallArgs, program};
use super::names::check_device;
#[cfg(unix)]
use super::numbers::seconds;
use super::numbers::thread_count;
use super::progress::ProgressLine;
use super::weights::WeightArgs;
use crate::reading::READING;
use modules::Modules;
use post::Poster;
use programs::Programs;
use seawall::backend::cpu::available_threads;
use seawall::executor::{Executor, Jit, Machine};
use seawall::graph::{Graph, LoadOptions, WeightChoice, load};
use seawall::service::{BLOCKS, Client, Config, On, Service, Tenant};
use seawall_modules::{ModuleError, flow as analysis};
use session::{Activity, Answerer, Session};
use stop::Stop;

const EXAMPLES: &str = "\
Examples:
  echo '{\"id\":1,\"op\":\"distance\",\"source\":0,\"target\":99}' | seawall serve gen:grid:10
  seawall serve roads.gr --socket /tmp/roads.sock
  seawall query --socket /tmp/roads.sock '{\"op\":\"reach\",\"source\":1,\"target\":2}'
  seawall serve app.wasm --socket /tmp/app.sock
  seawall query --socket /tmp/app.sock \\
    '{\"op\":\"taint\",\"source\":\"env.read\",\"sink\":\"env.send\"}'

One JSON object a line; --help-all lists what may be asked.";

/// Examples and notes of the long help.
const ALL_EXAMPLES: &str = "\
Examples:
  echo '{\"id\":1,\"op\":\"distance\",\"source\":0,\"target\":99}' | seawall serve gen:grid:10
  seawall serve roads.gr --socket /tmp/roads.sock
  echo '{\"op\":\"run\",\"program\":\"components\",\"limit\":9}' |
    seawall serve gen:grid:10 --program examples/programs/components.json
  seawall query --socket /tmp/roads.sock '{\"op\":\"reach\",\"source\":1,\"target\":2}'
  seawall serve app.wasm --socket /tmp/app.sock
  seawall query --socket /tmp/app.sock \\
    '{\"op\":\"taint\",\"source\":\"env.read\",\"sink\":\"env.send\",\"witness\":true}'

One JSON object a line. Of a graph, op is nop, reach, distance (metric hops or weights), neighbours
(limit), run (program, inputs, result, limit), load, store, add, compare_swap, copy, automaton, packed,
print, fence or stats; id, priority (critical, high, normal, low, idle) and batch are free. The
answer of a fence comes after those of all queries of its batch. Answers come in the order in which queries end, with their ids.
The end of the input and SIGTERM answer what was read before, and end. A field that an op does not
have is an error.

Of modules (docs/program-analysis.md): op is taint (source and sink, names or lists of them; limit, 0
for whether there is a finding; witness, explain), reaches (import, from, limit, witness), callers
(function, limit), nop or stats; id is free.

A client of a socket that neither asks nor waits for --idle-timeout is closed.";

/// Most bytes of a client's line.
pub(super) const LINE_MAX: usize = 1 << 16;

/// Most clients at the same time: each is a tenant of the service, whose number is limited.
#[cfg(unix)]
const CLIENTS_MAX: u32 = 15;

/// Most queries of a client without an answer; with more, it waits.
pub(super) const OPEN: usize = 16;

/// Most neighbours of one answer.
pub(super) const NEIGHBOURS: u32 = 1 << 10;

/// Most words of a program's result in one answer.
pub(super) const RESULT_WORDS: u32 = 1 << 12;

/// Most batches of a client without a fence.
pub(super) const BATCHES: usize = 2;

/// Time after which a run of an analysis of modules is stopped, nanoseconds.
const ANALYSIS_NS: u64 = 600_000_000_000;

/// Words of a client's window that its queries may address.
pub(super) const WINDOW: u32 = 1 << 16;

/// Serve queries on a graph, or on WebAssembly modules, until the input ends.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, after_long_help = ALL_EXAMPLES)]
pub(super) struct ServeArgs {
    /// Graph to serve, a file or a generator; or WebAssembly modules and flow graphs as text.
    #[arg(value_name = "GRAPH|MODULE", required = true)]
    files: Vec<PathBuf>,
    /// Serve clients of this Unix socket, open to its owner alone, instead of standard input.
    #[cfg(unix)]
    #[arg(long, value_name = "PATH", help_heading = "Clients")]
    socket: Option<PathBuf>,
    /// Clients of the socket at the same time, 15 at most; others get an error and are closed.
    #[cfg(unix)]
    #[arg(long, value_name = "N", default_value_t = CLIENTS_MAX, requires = "socket",
        value_parser = clap::value_parser!(u32).range(1..=i64::from(CLIENTS_MAX)), help_heading = "Clients")]
    clients: u32,
    /// Close a client of the socket that neither sent a line nor waited for an answer for so long.
    #[cfg(unix)]
    #[arg(long, value_name = "SECONDS", default_value_t = 60.0, requires = "socket",
        value_parser = seconds, help_heading = "Clients", hide_short_help = true)]
    idle_timeout: f64,
    /// Program that clients may run, as text (docs/program-text.md), by the name of its file
    /// without folder and extension. May be given several times.
    #[arg(long, value_name = "FILE", help_heading = "Clients")]
    program: Vec<PathBuf>,
    /// Take every edge in both directions.
    #[arg(long, help_heading = READING)]
    undirected: bool,
    /// Machine that answers; auto takes CPU threads.
    #[arg(
        long,
        value_enum,
        default_value_t,
        value_name = "NAME",
        help_heading = "Machine"
    )]
    backend: ServeBackend,
    /// Number of the GPU.
    #[arg(
        long,
        default_value_t = 0,
        value_name = "N",
        help_heading = "Machine",
        hide_short_help = true
    )]
    device: u32,
    /// Worker threads, or blocks of a GPU; as many as the machine runs at once when not given.
    #[arg(long, value_name = "N", value_parser = thread_count, help_heading = "Machine")]
    threads: Option<NonZeroUsize>,
    /// How code of programs runs on CPU threads; blocks of a GPU interpret.
    #[arg(
        long,
        value_enum,
        default_value_t,
        value_name = "NAME",
        help_heading = "Machine",
        hide_short_help = true
    )]
    jit: Jit,
    #[command(flatten)]
    weights: WeightArgs,
    #[command(flatten)]
    calls: CallArgs,
    /// Print no progress.
    #[arg(short, long, help_heading = "Results")]
    quiet: bool,
}

/// Machines that answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum ServeBackend {
    /// CPU threads.
    #[default]
    Auto,
    /// CPU threads.
    Cpu,
    /// A kernel that stays on a GPU.
    Mega,
}

/// Serves until the input or a signal ends it.
pub(super) fn command(args: &ServeArgs) -> Result<ExitCode, CliError> {
    check_device(args.device, !matches!(args.backend, ServeBackend::Mega))?;
    #[cfg(unix)]
    if let Some(path) = &args.socket {
        socket::check(path)?;
    }
    let stop = Stop::watch();
    let others = args.files.iter().find(|file| !is_module(file));
    match (&*args.files, others) {
        (_, None) => serve_modules(args, &stop)?,
        ([graph], Some(_)) => serve_graph(args, graph, &stop)?,
        (_, Some(other)) => {
            let path = other.to_string_lossy().into_owned();
            let opened = File::open(other).and_then(|mut file| file.read(&mut [0]));
            return Err(match opened {
                Err(source) if !path.starts_with("gen:") => ModuleError::Io { path, source },
                _ => ModuleError::Unknown { path },
            }
            .into());
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Whether a file begins as a module or as a flow graph.
fn is_module(file: &Path) -> bool {
    let mut start = Vec::new();
    let is_file = file.metadata().is_ok_and(|file| file.is_file());
    let read = is_file.then(|| File::open(file)?.take(64).read_to_end(&mut start));
    read.is_some_and(|read| read.is_ok()) && seawall_modules::is_known(&start)
}

/// Refuses an option that was given and is for something else.
fn refuse(option: Option<&'static str>, is_for: &'static str) -> Result<(), CliError> {
    option.map_or(Ok(()), |option| {
        Err(CliError::OtherService { option, is_for })
    })
}

fn serve_modules(args: &ServeArgs, stop: &Stop) -> Result<(), CliError> {
    let given = [
        (args.undirected, "--undirected"),
        (!args.program.is_empty(), "--program"),
        (
            args.weights.choice() == WeightChoice::Unit,
            "--unit-weights",
        ),
        (
            args.weights.choice() != WeightChoice::Given,
            "--scale-weights",
        ),
    ];
    let given = given.into_iter().find(|(is_given, _)| *is_given);
    refuse(
        given.map(|(_, option)| option),
        "graphs, and modules are served",
    )?;
    let line = ProgressLine::new(args.quiet);
    line.say("reading".to_owned());
    let program = program(&args.files, args.threads)?;
    line.say(format!("analysing {} functions", program.functions.len()));
    let mut machine = match args.backend {
        ServeBackend::Auto | ServeBackend::Cpu => Machine::cpu(args.threads),
        ServeBackend::Mega => Machine::gpu(Executor::Mega, args.device),
    };
    machine.time_budget_ns = ANALYSIS_NS;
    let on = analysis::On::new(machine);
    let modules = Arc::new(Modules::open(program, &args.calls, on)?);
    drop(line);
    let place = |number| Place::Modules(number, Arc::clone(&modules));
    serve(args, (1..=clients(args) as u32).map(place).collect(), stop)
}

fn serve_graph(args: &ServeArgs, graph: &Path, stop: &Stop) -> Result<(), CliError> {
    refuse(args.calls.given(), "modules, and a graph is served")?;
    let line = ProgressLine::new(args.quiet);
    line.say(format!("reading {}", graph.to_string_lossy()));
    let options = LoadOptions {
        undirected: args.undirected,
        weights: args.weights.choice(),
        ..LoadOptions::default()
    };
    let hear = |done, total| line.bytes(done, total);
    let graph = Arc::new(load(graph.as_os_str(), &options, Some(&hear))?.graph);
    drop(line);
    let programs = Programs::read(&args.program, &graph)?;
    let service = Service::start(Arc::clone(&graph), config(args, &programs))?;
    let served = Arc::new(Served { graph, programs });
    let tenants = (1..=clients(args) as u32).filter_map(|tenant| service.client(tenant));
    let place = |client| Place::Graph(client, Arc::clone(&served));
    serve(args, tenants.map(place).collect(), stop)?;
    drop(service.shut_down());
    Ok(())
}

/// Serves a client at each place, or standard input at the first one.
fn serve(args: &ServeArgs, mut places: Vec<Place>, stop: &Stop) -> Result<(), CliError> {
    places.reverse();
    #[cfg(unix)]
    if let Some(path) = &args.socket {
        let limits = socket::Limits {
            clients: args.clients,
            idle: Duration::from_secs_f64(args.idle_timeout),
        };
        return Ok(socket::serve(path, limits, places, stop)?);
    }
    if let Some(place) = places.pop() {
        let session = Session::new(place.begin());
        let input = io::BufReader::new(io::stdin());
        let activity = Arc::new(Activity::default());
        let left = session.run(input, io::stdout(), &activity, stop);
        let left = left.map_err(CliError::Thread)?;
        left.written.map_err(CliError::Stdout)?;
    }
    Ok(())
}

/// Objects of the service that clients name.
#[derive(Debug)]
struct Served {
    graph: Arc<Graph>,
    programs: Programs,
}

/// A client that the service may have.
#[derive(Clone)]
enum Place {
    Graph(Client, Arc<Served>),
    /// The number of the client.
    Modules(u32, Arc<Modules>),
}

impl Place {
    /// The side that answers a new client here.
    fn begin(&self) -> Answerer {
        match self {
            Self::Graph(client, served) => {
                // Clears the data of the previous client.
                let _ = client.write(0, &vec![0; WINDOW as usize]);
                Answerer::Graph(Poster::new(client.clone(), Arc::clone(served)))
            }
            Self::Modules(_, modules) => Answerer::Modules(Arc::clone(modules)),
        }
    }

    #[cfg(unix)]
    fn number(&self) -> u32 {
        match self {
            Self::Graph(client, _) => client.tenant(),
            Self::Modules(number, _) => *number,
        }
    }

    /// Whether no query of the last client runs.
    #[cfg(unix)]
    fn is_idle(&self) -> bool {
        match self {
            Self::Graph(client, _) => client.is_idle(),
            Self::Modules(..) => true,
        }
    }
}

/// Clients that the service may have.
fn clients(args: &ServeArgs) -> usize {
    #[cfg(unix)]
    if args.socket.is_some() {
        return args.clients as usize;
    }
    let _ = args;
    1
}

/// A tenant for each client, with space for all of its open queries at every priority.
fn config(args: &ServeArgs, programs: &Programs) -> Config {
    let (on, usual) = match args.backend {
        ServeBackend::Auto | ServeBackend::Cpu => (On::Threads, available_threads()),
        ServeBackend::Mega => (On::gpu(args.device), BLOCKS),
    };
    let workers = args.threads.unwrap_or(usual);
    let clients = clients(args);
    let tenant = Tenant {
        // One client's slow queries leave a worker for the others.
        quota: (workers.get() as u32).saturating_sub(1).max(1),
        window_words: WINDOW + OPEN as u32 * programs.space_words(),
        ..Tenant::default()
    };
    Config {
        on,
        workers: Some(workers),
        slots: [(clients * OPEN) as u32; 5],
        tenants: vec![tenant; clients],
        programs: programs.of_service.clone(),
        jit: args.jit,
        ..Config::default()
    }
}
