//! `seawall convert`: converts a graph between formats.

use std::borrow::Cow;
use std::ffi::OsString;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use clap::builder::{PathBufValueParser, TypedValueParser};
use serde::{Serialize, Serializer};

use super::CliError;
use super::files::{Outputs, named};
use super::form::FormArgs;
use super::output::show;
use super::progress::ProgressLine;
use super::weights::WeightArgs;
use crate::names::WrittenFormat;
use crate::reading::ReadArgs;
use seawall::graph::{LoadOptions, Loaded, Parallel, WeightChoice, load, save, save_and_free};
use seawall::outcome::{Dropped, Taken, Weights};
use seawall::units::{bytes, counted};
use seawall_report::taken;
use seawall_report::weights::{self, WeightsReport};

const EXAMPLES: &str = "\
Examples:
  seawall convert roads.gr.xz roads.swg
  seawall convert gen:rmat:20:16 rmat20.mtx.gz";

/// Examples and notes of the long help.
const ALL_EXAMPLES: &str = "\
Examples:
  seawall convert roads.gr.xz roads.swg
  seawall convert gen:rmat:20:16 rmat20.mtx.gz
  seawall convert friends.csv friends.el --source-column who --target-column whom
  curl -s https://example.org/graph.txt.gz | seawall convert - graph.swg

Ids, names and nodes without edges are kept: text formats carry in comments what they
cannot say, and other formats refuse the graph before anything is written.

A .swg file holds the arrays of the graph, so it loads without parsing.";

/// Convert a graph between formats.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, after_long_help = ALL_EXAMPLES, allow_negative_numbers = true)]
pub(super) struct ConvertArgs {
    /// Graph to read: a file, - for standard input, or a generator.
    #[arg(value_name = "IN")]
    input: OsString,
    /// File to write; its suffix chooses the format: .mtx, .el,
    /// .txt, .csv, .gr, .graph, .npz, .egr, .bin, .swg; or - for standard output, with --to.
    #[arg(value_name = "OUT", value_parser = PathBufValueParser::new().map(named))]
    output: PathBuf,
    /// Format to write when the suffix should not choose it.
    #[arg(long, value_name = "FORMAT", help_heading = "Results")]
    to: Option<WrittenFormat>,
    #[command(flatten)]
    reading: ReadArgs,
    /// Take every edge in both directions.
    #[arg(long)]
    undirected: bool,
    /// Number nodes 0, 1, 2, … in place of the ids or names of the file, for formats that cannot
    /// hold them.
    #[arg(long, hide_short_help = true)]
    renumber: bool,
    #[command(flatten)]
    weights: WeightArgs,
    #[command(flatten)]
    form: FormArgs,
    /// Drop edge weights.
    #[arg(long, conflicts_with_all = ["unit_weights", "scale_weights"], hide_short_help = true)]
    no_weights: bool,
    /// Print the report as one JSON object.
    #[arg(long, help_heading = "Results")]
    pub(super) json: bool,
    /// Print no report and no progress; --json still prints.
    #[arg(short, long, help_heading = "Results")]
    quiet: bool,
}

impl ConvertArgs {
    fn choice(&self) -> WeightChoice {
        if self.no_weights {
            WeightChoice::Ignored
        } else {
            self.weights.choice()
        }
    }

    /// Refuses outputs that would overwrite an input; returns whether a report follows.
    fn check_files(&self) -> Result<bool, CliError> {
        let mut outputs = Outputs::default();
        outputs.add("the output", &self.output)?;
        outputs.spare(&self.input)?;
        outputs.have_report(self.quiet && !self.json)
    }
}

/// Reads, then writes; the output appears whole or not at all.
pub(super) fn command(args: &ConvertArgs) -> Result<ExitCode, CliError> {
    let has_report = args.check_files()?;
    let line = ProgressLine::new(args.quiet);
    line.say(format!("reading {}", args.input.to_string_lossy()));
    let options = LoadOptions {
        listed_order: args.form.listed_order(),
        signed: true,
        ..args.reading.options(args.undirected, args.choice())
    };
    let hear = |done, total| line.bytes(done, total);
    let loaded = load(&args.input, &options, Some(&hear))?;
    let weights = Weights::of(&loaded);
    let Loaded { mut graph, stats } = loaded;
    if args.renumber {
        graph = graph.renumbered();
    }
    line.say(format!("writing {}", args.output.display()));
    let form = args.form.form();
    // Each edge counts 1, whether or not another one has the same ends.
    if form.parallel == Parallel::Sum && graph.weight_kind().is_none() && !args.no_weights {
        graph = graph.with_unit_weights()?;
    }
    let mut taken = Taken::as_asked(&graph, form);
    taken.mirrored_edges = stats.mirrored;
    let written = graph.form(form)?;
    let (nodes, edges) = (written.nodes(), written.edges());
    let dropped = Dropped::between(&graph, written);
    let format = args.to.map(|format| format.0);
    if std::ptr::eq(written, &raw const graph) {
        save_and_free(graph, &args.output, format)?;
    } else {
        save(written, &args.output, format)?;
    }
    drop(line);
    let report = Report {
        output: args.output.to_string_lossy(),
        nodes,
        edges,
        bytes: std::fs::metadata(&args.output).map_or(0, |file| file.len()),
        taken,
        dropped,
        duplicates: dropped.duplicates,
        weights,
    };
    if has_report {
        show(args.json, &report, |out| report.write_text(out))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Report of the written graph, and dropped edges.
#[derive(Serialize)]
struct Report<'a> {
    output: Cow<'a, str>,
    nodes: u32,
    edges: u32,
    bytes: u64,
    #[serde(flatten)]
    taken: Taken,
    #[serde(flatten)]
    dropped: Dropped,
    /// As `dropped_duplicates`.
    duplicates: u64,
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "as_report")]
    weights: Option<Weights>,
}

fn as_report<S: Serializer>(weights: &Option<Weights>, out: S) -> Result<S::Ok, S::Error> {
    weights.map(WeightsReport::from).serialize(out)
}

impl Report<'_> {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        let nodes = counted(u64::from(self.nodes), "node");
        let edges = counted(u64::from(self.edges), "edge");
        let size = bytes(self.bytes);
        writeln!(out, "{}: {nodes}, {edges}, {size}", self.output)?;
        let directions = taken::directions(&self.taken);
        taken::write(out, directions, &self.taken, self.dropped)?;
        match weights::described(self.weights) {
            Some(weights) => writeln!(out, "  weights: {weights}"),
            None => Ok(()),
        }
    }
}
