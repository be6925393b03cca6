//! The command line: parses arguments, prints reports and sets the exit code.
//!
//! Commands only parse, call the library and choose a report. Guarantees for scripts: exit code 0
//! after success, 1 if the machine failed or a check differed, 2 if the request or its input is
//! wrong (`error` has the only table); one message on standard error; on standard output only the
//! report, or with `--json` the failure.

mod allocator;
mod analyze;
pub mod bench;
mod convert;
mod error;
mod evidence;
mod failure;
mod files;
mod flags;
mod form;
mod grammar;
mod info;
mod logging;
mod names;
mod manual;
mod numbers;
mod output;
mod page;
mod plan;
mod program;
mod progress;
#[cfg(unix)]
mod query;
mod reading;
mod run;
mod serve;
mod signals;
mod sources;
#[cfg(unix)]
mod unix;
mod weights;

use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

use clap::{ArgAction, Args, CommandFactory, Parser, Subcommand};

pub use allocator::Allocator;
use error::CliError;
pub use numbers::size;
pub use plan::{PlanError, Program as PlanInput};
/// Reports, of the crate [`seawall_report`].
pub use seawall_report as report;
pub use sources::{Sources, SourcesError};

/// Analyses graphs and programs (searches, paths, ranks, communities, dataflow) on CPU threads, or in
/// one persistent GPU kernel.
#[derive(Debug, Parser)]
#[command(name = "seawall", bin_name = "seawall", version, arg_required_else_help = true, disable_help_flag = true, after_help = EXAMPLES)]
struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Command,
}

/// Options of every command.
#[derive(Debug, Args)]
struct Global {
    /// Print the common options.
    #[arg(short, long, global = true, action = ArgAction::HelpShort, help_heading = HELP)]
    help: Option<bool>,
    /// Print all options, with what each name of a choice means.
    #[arg(long, global = true, action = ArgAction::HelpLong, help_heading = HELP)]
    help_all: Option<bool>,
    #[command(flatten)]
    log: logging::LogArgs,
}

/// Heading of the options of help.
const HELP: &str = "Help";

const EXAMPLES: &str = "\
Examples:
  seawall run gen:grid:512 --analysis bfs --source 0 --check
  seawall plan waves.json
  seawall analyze module.wasm --fail-on uninitialised-read
  seawall serve gen:grid:512 --socket /tmp/grid.sock
  seawall info

COMMAND --help has the common options of a command, --help-all all of them.

Exit codes: 0 done; 1 what was asked could not be done (memory, disk, threads, time or
permissions missing, no GPU), or --check differed; 2 what was asked or given is wrong.";

#[derive(Debug, Subcommand)]
enum Command {
    Run(Box<run::RunArgs>),
    Plan(plan::PlanArgs),
    Convert(convert::ConvertArgs),
    Info(info::InfoArgs),
    Evidence(evidence::EvidenceArgs),
    Bench(bench::command::BenchArgs),
    Analyze(Box<analyze::AnalyzeArgs>),
    Grammar(grammar::GrammarArgs),
    Serve(serve::ServeArgs),
    #[cfg(unix)]
    Query(query::QueryArgs),
    Report(page::ReportArgs),
    Completions(manual::CompletionsArgs),
    Man(manual::ManArgs),
}

/// Runs the command given by the process's arguments.
///
/// Returns the exit code; messages are already printed.
#[must_use]
pub fn main() -> ExitCode {
    allocator::end_where_threads_find_no_memory();
    allocator::share_one_arena();
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    if failure::asks_for_json(&arguments) {
        allocator::tell_scripts();
    }
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(usage) => return print_usage(&usage, &arguments),
    };
    if !matches!(cli.command, Command::Serve(_)) {
        signals::watch();
    }
    let done = logging::begin(cli.global.log).map_err(CliError::from);
    match done.and_then(|()| dispatch(&cli.command)) {
        Ok(code) => code,
        Err(error) => fail(&error, cli.command.is_for_scripts()),
    }
}

/// The command line of ranks: [`main`]'s `run`, on all of them together.
#[derive(Debug, Parser)]
#[command(name = "seawall-cluster", bin_name = "seawall-cluster", version, about = "Runs an analysis or a program on the ranks of an MPI job, each with a part of the graph", arg_required_else_help = true, disable_help_flag = true, after_help = RANK_EXAMPLES)]
struct RanksCli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: RanksCommand,
}

#[derive(Debug, Subcommand)]
enum RanksCommand {
    Run(Box<run::RunArgs>),
}

const RANK_EXAMPLES: &str = "\
Examples:
  mpirun -n 4 seawall-cluster run gen:rmat:16:16 --analysis pagerank
  srun -n 8 seawall-cluster run web.swg --analysis bfs --source 0 --threads 16 --json
  srun -n 8 seawall-cluster run web.swg --program waves.json --json
  srun -n 8 seawall-cluster run web.swg --analysis pagerank --backend mega    # a GPU each

The file is on each host; of a .swg file, ranks read their own parts where the analysis
allows. Rank 0 reports and writes results.

Exit codes: 0 done; 1 a rank is lost or failed, or --check differed; 2 what was asked or given is
wrong.";

/// The ranks that share a host's processors and GPUs.
#[derive(Clone, Copy, Debug)]
pub struct LocalRanks {
    /// Number of this rank among them, from 0.
    pub own: u32,
    /// Their number, at least 1.
    pub count: u32,
}

/// Runs the command given by the process's arguments on the ranks that `carrier` joins, of which `local`
/// share this host.
///
/// Returns the exit code; messages are already printed.
#[must_use]
pub fn main_on_ranks(carrier: Box<dyn seawall::multi::Carrier>, local: LocalRanks) -> ExitCode {
    allocator::end_where_threads_find_no_memory();
    let ranks = run::Ranks::new(carrier, local);
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    let cli = match RanksCli::try_parse() {
        Ok(cli) => cli,
        // All ranks have these arguments.
        Err(usage) if ranks.reports() => return print_usage(&usage, &arguments),
        Err(usage) => return ExitCode::from(u8::try_from(usage.exit_code()).unwrap_or(2)),
    };
    let RanksCommand::Run(mut args) = cli.command;
    let for_scripts = args.is_for_scripts();
    if !ranks.reports() {
        args.silence();
    }
    let done = logging::begin(cli.global.log).map_err(CliError::from);
    let error = match done.and_then(|()| run::command_on(&mut args, &ranks)) {
        Ok(code) => return code,
        Err(error) => error,
    };
    match (ranks.shows(&error), ranks.reports()) {
        (true, true) => return fail(&error, for_scripts),
        // A closed standard error has no reader left to inform.
        (true, false) => {
            let _ = writeln!(std::io::stderr(), "rank {}: {error}", ranks.own());
        }
        (false, _) => {}
    }
    ExitCode::from(error.exit_code())
}

fn dispatch(command: &Command) -> Result<ExitCode, CliError> {
    match command {
        Command::Run(args) => run::command(args),
        Command::Plan(args) => plan::command(args),
        Command::Convert(args) => convert::command(args),
        Command::Info(args) => info::command(args),
        Command::Evidence(args) => evidence::command(args),
        Command::Bench(args) => bench::command::command(args),
        Command::Analyze(args) => analyze::command(args),
        Command::Grammar(args) => grammar::command(args),
        Command::Serve(args) => serve::command(args),
        #[cfg(unix)]
        Command::Query(args) => query::command(args),
        Command::Report(args) => page::command(args),
        Command::Completions(args) => manual::completions(args),
        Command::Man(args) => manual::man(args),
    }
}

fn print_usage(usage: &clap::Error, arguments: &[OsString]) -> ExitCode {
    if usage.use_stderr() && failure::asks_for_json(arguments) {
        print_failure(&failure::of_usage(usage));
    }
    // A closed pipe has no reader left to inform.
    let _ = usage.print();
    ExitCode::from(u8::try_from(usage.exit_code()).unwrap_or(2))
}

fn print_failure(failure: &serde_json::Value) {
    // A closed standard output has no reader left to inform.
    let _ = output::print(|out| writeln!(out, "{failure}"));
}

impl Command {
    /// Returns whether standard output is for scripts, which also read failures there.
    fn is_for_scripts(&self) -> bool {
        match self {
            Self::Run(args) => args.is_for_scripts(),
            Self::Plan(args) => args.is_for_scripts(),
            Self::Convert(args) => args.json,
            Self::Info(args) => args.json,
            Self::Evidence(args) => args.is_for_scripts(),
            Self::Bench(args) => args.json,
            Self::Analyze(args) => args.json,
            Self::Grammar(args) => args.json,
            #[cfg(unix)]
            Self::Query(args) => args.json,
            Self::Serve(_) | Self::Report(_) | Self::Completions(_) | Self::Man(_) => false,
        }
    }
}

/// Prints the message, in the style of argument errors, and for scripts the failure as JSON.
fn fail(error: &CliError, for_scripts: bool) -> ExitCode {
    if for_scripts && !matches!(error, CliError::Stdout(_)) && !error.is_closed_pipe() {
        print_failure(&failure::of(error));
    }
    if !error.is_closed_pipe() {
        let message = format!("{error}\n");
        let styled =
            clap::Error::raw(clap::error::ErrorKind::Io, message).with_cmd(&Cli::command());
        // A closed standard error has no reader left to inform.
        let _ = styled.print();
    }
    ExitCode::from(error.exit_code())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_argument_tree_is_consistent() {
        Cli::command().debug_assert();
        RanksCli::command().debug_assert();
    }

    #[test]
    fn every_command_ends_its_help_with_examples() {
        let mut tree = Cli::command();
        tree.build();
        let mut open = vec![tree];
        while let Some(command) = open.pop() {
            let after = command
                .get_after_help()
                .map(ToString::to_string)
                .unwrap_or_default();
            assert!(
                after.contains("Examples:"),
                "{} has none",
                command.get_name()
            );
            open.extend(
                command
                    .get_subcommands()
                    .filter(|sub| sub.get_name() != "help")
                    .cloned(),
            );
        }
    }
}
