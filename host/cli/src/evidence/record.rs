//! `seawall evidence record`: measures the resident kernel against a host that orchestrates.

use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use serde::Serialize;

use super::EvidenceFailure;
use crate::CliError;
use crate::allocator::allocations;
use crate::files::Outputs;
use crate::names::BackendName;
use crate::output::show;
use crate::progress::ProgressLine;
use seawall::backend::HostWork;
use seawall::calibrate::tuned_settings;
use seawall::evidence::{EvidenceRequest, Measurement, Orchestration, measure};
use seawall::executor::{Executor, Machine};
use seawall::graph::file::write_whole;
use seawall::graph::{LoadOptions, load};
use seawall::units::{Count, Nanoseconds, bytes, counted};
use seawall_core::evidence::{REPETITIONS_MIN, write_csv};
use seawall_core::session::ReuseTelemetry;

const EXAMPLES: &str = "\
Examples:
  seawall evidence record --out speedups.csv
  seawall evidence record gen:rmat:22:16 gen:uniform:22:16 --against launches --out speedups.csv

Each graph makes one sample: searches from its node with most edges, in pairs, by wall time.
Uploads and synchronisations are counted from a run's first launch to the event after its last
one, allocations during the whole run. `seawall evidence verify` accepts samples of a GPU only.";

/// Graphs that are measured if none is named: one wide and shallow, one narrow and deep.
const GRAPHS: [&str; 2] = ["gen:rmat:20:16", "gen:grid:512"];

/// Measure the resident kernel against a host that orchestrates, and write the samples as CSV.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, allow_negative_numbers = true)]
pub(super) struct RecordArgs {
    /// Graphs, each a file or a generator; gen:rmat:20:16 and gen:grid:512 if none is named.
    #[arg(value_name = "GRAPH")]
    graphs: Vec<OsString>,
    /// CSV file to write.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Host to compare with.
    #[arg(long, value_enum, default_value_t = Against::Baseline, value_name = "HOST")]
    against: Against,
    /// Pairs of runs of each graph; the gate requires at least 64.
    #[arg(long, default_value = "64", value_name = "N")]
    repetitions: NonZeroU32,
    /// Executor of the resident runs: mega, or cpu to try the command without a GPU.
    #[arg(long, value_enum, default_value = "mega", value_name = "NAME")]
    backend: BackendName,
    /// Number of the GPU.
    #[arg(long, default_value_t = 0, value_name = "N")]
    device: u32,
    /// Print the measurements as one JSON object.
    #[arg(long)]
    pub(super) json: bool,
}

/// A host by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Against {
    /// Uploads the graph, launches and reads memory back, wave by wave
    #[value(name = "naive")]
    Baseline,
    /// Launches each wave on the resident graph
    Launches,
    /// Launches a CUDA graph on the resident graph
    Graph,
}

impl From<Against> for Orchestration {
    fn from(against: Against) -> Self {
        match against {
            Against::Baseline => Self::Baseline,
            Against::Launches => Self::Launches,
            Against::Graph => Self::Graph,
        }
    }
}

/// One sample of the report.
#[derive(Serialize)]
struct Row {
    graph: String,
    device: String,
    against: Orchestration,
    repetitions: u32,
    host_ns: u64,
    resident_ns: u64,
    setup_ns: u64,
    speedup: f64,
    region: HostWork,
    allocations: u64,
    reuse: ReuseTelemetry,
    planned_reuse: ReuseTelemetry,
}

/// Measures, writes the file and reports.
pub(super) fn command(args: &RecordArgs) -> Result<ExitCode, CliError> {
    let graphs = args.graphs();
    let mut outputs = Outputs::default();
    outputs.add("--out", &args.out)?;
    outputs.spare_report()?;
    graphs.iter().try_for_each(|graph| outputs.spare(graph))?;
    let line = ProgressLine::new(args.json);
    let mut rows = Vec::new();
    let mut measured = Vec::new();
    for name in &graphs {
        let found = args.measure(name, &line)?;
        rows.push(args.row(name, &found));
        measured.push(found);
    }
    drop(line);
    write(args, &measured)?;
    show(args.json, &serde_json::json!({ "samples": rows }), |out| {
        rows.iter().try_for_each(|row| row.write_text(out))?;
        note(&rows, args.repetitions, out)
    })?;
    Ok(ExitCode::SUCCESS)
}

impl RecordArgs {
    fn graphs(&self) -> Vec<OsString> {
        if self.graphs.is_empty() {
            GRAPHS.map(OsString::from).to_vec()
        } else {
            self.graphs.clone()
        }
    }

    fn measure(&self, name: &OsStr, line: &ProgressLine) -> Result<Measurement, CliError> {
        line.say(format!("reading {}", name.to_string_lossy()));
        let graph = load(name, &LoadOptions::default(), None)?.graph;
        line.say(format!("measuring {}", name.to_string_lossy()));
        let executor = self.backend.0.unwrap_or(Executor::Mega);
        let request = EvidenceRequest {
            machine: Machine::gpu(executor, self.device),
            settings: tuned_settings(self.device),
            against: self.against.into(),
            repetitions: self.repetitions,
            allocations: &allocations,
        };
        measure(&graph, &request).map_err(|source| {
            let graph = name.to_string_lossy().into_owned();
            EvidenceFailure::Unmeasured { graph, source }.into()
        })
    }

    fn row(&self, name: &OsStr, measured: &Measurement) -> Row {
        Row {
            graph: name.to_string_lossy().into_owned(),
            device: measured.device.name.clone(),
            against: self.against.into(),
            repetitions: measured.repetitions,
            host_ns: measured.host_ns,
            resident_ns: measured.resident_ns,
            setup_ns: measured.setup_ns,
            speedup: measured.sample().speedup_x(),
            region: measured.region,
            allocations: measured.allocations,
            reuse: measured.reuse,
            planned_reuse: measured.planned_reuse,
        }
    }
}

/// Writes the samples; the file appears whole or not at all.
fn write(args: &RecordArgs, measured: &[Measurement]) -> Result<(), CliError> {
    let samples: Vec<_> = measured.iter().map(Measurement::sample).collect();
    write_whole(&args.out, |out| {
        let mut text = String::new();
        write_csv(&mut text, &samples).map_err(io::Error::other)?;
        out.write_all(text.as_bytes())
    })?;
    Ok(())
}

impl Row {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        let runs = counted(u64::from(self.repetitions), "pair");
        writeln!(
            out,
            "{}: {:.2} times as fast, {runs}",
            self.graph, self.speedup
        )?;
        let each = |ns: u64| Nanoseconds(ns / u64::from(self.repetitions.max(1)));
        writeln!(
            out,
            "  resident  {} a run on {}",
            each(self.resident_ns),
            self.device
        )?;
        writeln!(out, "  host      {} a run", each(self.host_ns))?;
        writeln!(
            out,
            "  counted   {}, {}, {}",
            counted(self.region.uploads, "upload"),
            counted(self.region.host_synchronisations, "synchronisation"),
            counted(self.allocations, "allocation")
        )?;
        let agrees = if self.reuse == self.planned_reuse {
            "as planned"
        } else {
            "not as planned"
        };
        writeln!(
            out,
            "  reused    {} of the graph not uploaded again, {agrees}",
            bytes(self.reuse.avoided_upload_bytes)
        )
    }
}

/// Warns about samples that the gate would refuse.
fn note(rows: &[Row], repetitions: NonZeroU32, out: &mut dyn Write) -> io::Result<()> {
    if u64::from(repetitions.get()) < REPETITIONS_MIN {
        writeln!(out, "The gate requires {} pairs.", Count(REPETITIONS_MIN))?;
    }
    if rows.len() < 2 {
        writeln!(out, "The gate requires samples of two graphs.")?;
    }
    Ok(())
}
