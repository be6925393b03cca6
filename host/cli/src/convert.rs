//! `seawall convert`: a graph from one format to another.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum};

use super::CliError;
use super::files::Outputs;
use super::output::print;
use super::progress::ProgressLine;
use seawall::graph::{Format, LoadOptions, Loaded, load, save};
use seawall::units::{bytes, counted};

const EXAMPLES: &str = "\
Examples:
  seawall convert roads.gr.xz roads.swg
  seawall convert gen:rmat:20:16 rmat20.mtx.gz
  curl -s https://example.org/graph.txt.gz | seawall convert - graph.swg

A .swg file holds the arrays of the graph, so it loads without parsing.";

/// Convert a graph between formats.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ConvertArgs {
    /// Graph to read: a file, - for standard input, or a generator.
    #[arg(value_name = "IN")]
    input: OsString,
    /// File to write; its suffix chooses the format: .mtx, .el, .txt, .gr, .swg.
    #[arg(value_name = "OUT")]
    output: PathBuf,
    /// Format to write when the suffix should not choose it.
    #[arg(long, value_name = "FORMAT")]
    to: Option<WrittenFormat>,
    /// Take every edge in both directions.
    #[arg(long)]
    undirected: bool,
    /// Drop edge weights.
    #[arg(long)]
    no_weights: bool,
    /// Print nothing.
    #[arg(short, long)]
    quiet: bool,
}

/// The names of formats on the command line.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum WrittenFormat {
    /// Matrix Market.
    Mtx,
    /// Edge list.
    El,
    /// DIMACS shortest paths (`p sp`).
    Dimacs,
    /// PACE treewidth (`p tw`).
    Pace,
    /// Seawall's own binary.
    Swg,
}

impl From<WrittenFormat> for Format {
    fn from(format: WrittenFormat) -> Self {
        match format {
            WrittenFormat::Mtx => Self::MatrixMarket,
            WrittenFormat::El => Self::EdgeList,
            WrittenFormat::Dimacs => Self::Dimacs,
            WrittenFormat::Pace => Self::Pace,
            WrittenFormat::Swg => Self::Binary,
        }
    }
}

impl ConvertArgs {
    /// Refuses files that would be lost; whether a report follows.
    fn check_files(&self) -> Result<bool, CliError> {
        let mut outputs = Outputs::default();
        outputs.add("the output", &self.output)?;
        outputs.spare(&self.input)?;
        if self.quiet || outputs.take_standard_output() {
            return Ok(false);
        }
        outputs.spare_report()?;
        Ok(true)
    }
}

/// Reads, then writes; the output appears whole or not at all.
pub(super) fn command(args: &ConvertArgs) -> Result<ExitCode, CliError> {
    let has_report = args.check_files()?;
    let line = ProgressLine::new(args.quiet);
    line.say(format!("reading {}", args.input.to_string_lossy()));
    let options = LoadOptions {
        undirected: args.undirected,
        weights: !args.no_weights,
    };
    let hear = |done, total| line.bytes(done, total);
    let Loaded { graph, stats } = load(&args.input, &options, Some(&hear))?;
    line.say(format!("writing {}", args.output.display()));
    save(&graph, &args.output, args.to.map(Format::from))?;
    drop(line);
    if has_report {
        print(|out| {
            let nodes = counted(u64::from(graph.nodes()), "node");
            let edges = counted(u64::from(graph.edges()), "edge");
            let written = std::fs::metadata(&args.output).map_or(0, |file| file.len());
            writeln!(
                out,
                "{}: {nodes}, {edges}, {}",
                args.output.display(),
                bytes(written)
            )?;
            dropped(out, stats.self_loops, "self loop")?;
            dropped(out, stats.duplicates, "duplicate edge")
        })?;
    }
    Ok(ExitCode::SUCCESS)
}

fn dropped(out: &mut dyn Write, count: u64, noun: &str) -> io::Result<()> {
    if count > 0 {
        writeln!(out, "  {} left out", counted(count, noun))
    } else {
        Ok(())
    }
}
