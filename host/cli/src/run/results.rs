//! The results of a run, in the files and forms that the caller chose.

use std::path::{Path, PathBuf};

use clap::builder::{PathBufValueParser, TypedValueParser};
use clap::{Args, ValueEnum};

use crate::CliError;
use crate::files::{Outputs, named, picture};
use crate::output::{list_written, print};
use seawall::graph::Graph;
use seawall::graph::file::{is_written_through, write_whole};
use seawall::outcome::RunOutcome;
use seawall_report::date::today;
use seawall_report::rows::Rows;
use seawall_report::table::{RowFormat, TableColumn};
use seawall_report::{draw, explain, json, plot, text, trace};

#[derive(Debug, Args)]
#[command(next_help_heading = super::RESULTS)]
pub(super) struct OutputArgs {
    /// Write one row per node: .csv, .json or .npy; or - for standard output.
    #[arg(long, value_name = "FILE", value_parser = PathBufValueParser::new().map(named))]
    pub(super) out: Option<PathBuf>,
    /// Format of that file when the suffix should not choose it.
    #[arg(long, value_name = "FORMAT", requires = "out", hide_short_help = true)]
    pub(super) out_format: Option<RowFormat>,
    /// Columns of that file, separated by commas: graph, name, node (or id), value, parent, from, to
    /// of what the result has, or index and the results of a program; a single one is a plain array
    /// in .json and .npy [default: all columns of the result].
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "NAMES",
        requires = "out",
        hide_short_help = true
    )]
    pub(super) columns: Vec<String>,
    /// Print the report as one JSON object.
    #[arg(long)]
    pub(super) json: bool,
    /// Show how it ran: the plan, its memory, barriers, groups and steps.
    ///
    /// Also the reason for the machine, work of the host, checksum and the time of each phase; each
    /// group of waves with its bytes, its topology with the reason, and its predicted and measured
    /// time; for searches also each step.
    #[arg(long)]
    pub(super) explain: bool,
    /// Write a Chrome trace.
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub(super) trace: Option<PathBuf>,
    /// Draw the nodes counted by their values: .svg or .png.
    #[arg(long, value_name = "FILE")]
    pub(super) plot: Option<PathBuf>,
    /// Draw a small graph in the colours of its values: .svg or .png.
    ///
    /// It has at most 4096 nodes and 32768 edges. The path to --target, the tree of --parents and
    /// the edges of a forest are on it.
    #[arg(long, value_name = "FILE")]
    pub(super) draw: Option<PathBuf>,
    /// Print no report and no progress; --json still prints.
    #[arg(short, long)]
    pub(super) quiet: bool,
}

pub(super) struct TableChoice {
    pub(super) format: RowFormat,
    columns: Vec<TableColumn>,
    known: &'static [TableColumn],
    /// Whether names are those of graphs.
    is_batch: bool,
}

impl TableChoice {
    pub(super) fn columns(self, has_names: bool) -> Vec<TableColumn> {
        if !self.columns.is_empty() {
            return self.columns;
        }
        let of_names = match self.is_batch {
            true => TableColumn::NodeName,
            false => TableColumn::Name,
        };
        let is_known = |column: &TableColumn| has_names || *column != of_names;
        self.known.iter().copied().filter(is_known).collect()
    }
}

impl OutputArgs {
    /// Whether an output includes times of groups.
    pub(super) fn is_timed(&self) -> bool {
        self.explain || self.trace.is_some()
    }

    /// Returns the outputs, all different and writable.
    pub(super) fn files(&self) -> Result<Outputs, CliError> {
        let mut files = Outputs::default();
        let named = [
            ("--out", &self.out),
            ("--trace", &self.trace),
            ("--plot", &self.plot),
            ("--draw", &self.draw),
        ];
        for (option, path) in named {
            if let Some(path) = path {
                files.add(option, path)?;
            }
        }
        if self.json || !(self.quiet || files.take_standard_output()) {
            files.spare_report()?;
        }
        Ok(files)
    }

    /// Refuses a graph that is too large to be drawn.
    pub(super) fn check_size(&self, graph: &Graph) -> Result<(), CliError> {
        match self.draw.as_ref().and_then(|_| draw::refusal(graph)) {
            Some(reason) => Err(CliError::TooLargeToDraw { reason }),
            None => Ok(()),
        }
    }

    /// Returns the table; refuses unknown suffixes, and columns that are not in `known` for the
    /// format.
    pub(super) fn check(
        &self,
        known: impl Fn(RowFormat) -> &'static [TableColumn],
    ) -> Result<Option<TableChoice>, CliError> {
        for (option, path) in [("--plot", &self.plot), ("--draw", &self.draw)] {
            if let Some(path) = path {
                picture(option, path)?;
            }
        }
        let Some(path) = &self.out else {
            return Ok(None);
        };
        let format = self.row_format(path)?;
        let known = known(format);
        Ok(Some(TableChoice {
            format,
            columns: self.columns(known)?,
            known,
            is_batch: known.contains(&TableColumn::Graph),
        }))
    }

    /// The file of `--out` and its format.
    pub(super) fn table(&self) -> Result<Option<(&Path, RowFormat)>, CliError> {
        let Some(path) = &self.out else {
            return Ok(None);
        };
        Ok(Some((path, self.row_format(path)?)))
    }

    fn row_format(&self, path: &Path) -> Result<RowFormat, CliError> {
        self.out_format.map_or_else(|| row_format(path), Ok)
    }

    /// Returns the requested columns, or all that are `known`; the column of names only if it is
    /// requested, or nodes turn out to have names.
    fn columns(&self, known: &'static [TableColumn]) -> Result<Vec<TableColumn>, CliError> {
        let mut columns = Vec::new();
        for name in &self.columns {
            let column = TableColumn::from_str(name, false);
            let Some(column) = column.ok().filter(|column| known.contains(column)) else {
                let known = known.iter().map(|column| column.name().to_owned());
                let (column, known) = (name.clone(), known.collect());
                return Err(CliError::NoSuchColumn { column, known });
            };
            if columns.contains(&column) {
                let column = name.clone();
                return Err(CliError::ColumnTwice { column });
            }
            columns.push(column);
        }
        Ok(columns)
    }

    /// Writes all files; `name` is that of the graph.
    pub(super) fn write(
        &self,
        outcome: &RunOutcome,
        graph: &Graph,
        name: &str,
        table: Option<TableChoice>,
    ) -> Result<(), CliError> {
        if let (Some(path), Some(table)) = (&self.out, table) {
            let original = |node| graph.original_id(node);
            let name = |node| graph.name_of(node);
            let mut rows = Rows::new(outcome, &original);
            let has_names = graph.has_names() && table.format != RowFormat::Npy;
            if has_names {
                rows = rows.with_names(&name);
            }
            let format = table.format;
            let columns = table.columns(has_names);
            write_whole(path, |out| rows.write(format, &columns, out))?;
        }
        if let Some(path) = &self.trace {
            write_whole(path, |out| trace::write(outcome, out))?;
        }
        let source = format!("{name}, {}, seawall {}", today(), env!("CARGO_PKG_VERSION"));
        if let Some(path) = &self.plot {
            let format = picture("--plot", path)?;
            write_whole(path, |out| plot::write(outcome, &source, format, out))?;
        }
        if let Some(path) = &self.draw {
            let format = picture("--draw", path)?;
            let label = |node| graph.label_of(node).to_string();
            write_whole(path, |out| {
                draw::write(outcome, graph, &label, &source, format, out)
            })?;
        }
        Ok(())
    }

    /// Prints the report; `is_asked` says whether the caller named the machine.
    pub(super) fn report(
        &self,
        outcome: &RunOutcome,
        graph: &Graph,
        is_asked: bool,
        files: &Outputs,
    ) -> Result<(), CliError> {
        if self.json {
            return print(|out| json::write(outcome, self.explain, out));
        }
        if self.quiet || files.take_standard_output() {
            return Ok(());
        }
        let label = |node| graph.label_of(node).to_string();
        let shown = text::Shown {
            internals: self.explain,
            reason: is_asked || outcome.stream.is_some(),
        };
        print(|out| {
            text::write(outcome, &label, shown, out)?;
            if self.explain {
                explain::write(outcome, out)?;
            }
            list_written([&self.out, &self.trace, &self.plot, &self.draw], out)
        })
    }
}

/// Returns the format by the suffix; CSV for pipes and devices without one.
fn row_format(path: &Path) -> Result<RowFormat, CliError> {
    let of_pipe = || {
        let is_plain = path.extension().is_none() && is_written_through(path);
        is_plain.then_some(RowFormat::Csv)
    };
    RowFormat::of(path)
        .or_else(of_pipe)
        .ok_or_else(|| CliError::UnknownOutput {
            path: path.display().to_string(),
        })
}
