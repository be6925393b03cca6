//! Options on how a graph's file is read.

use clap::Args;
use seawall::graph::{ColumnChoice, ColumnRef, Format, LoadOptions, WeightChoice};

use crate::names::ReadFormat;

/// Heading of the options on how a graph is read.
pub(crate) const READING: &str = "Reading the graph";

#[derive(Debug, Args)]
#[command(next_help_heading = READING)]
pub(super) struct ReadArgs {
    /// Format of the graph to read, where neither content nor name say it; METIS from
    /// standard input looks like an edge list.
    #[arg(long, value_name = "FORMAT", hide_short_help = true)]
    format: Option<ReadFormat>,
    /// Skip columns of an edge list that are neither an end nor a weight.
    #[arg(long, hide_short_help = true)]
    skip_columns: bool,
    /// Column of a table where edges start, by its name or its number from 1; other columns are
    /// skipped.
    #[arg(long, value_name = "COLUMN", value_parser = column, hide_short_help = true)]
    source_column: Option<ColumnRef>,
    /// Column of a table where edges end.
    #[arg(long, value_name = "COLUMN", value_parser = column, hide_short_help = true)]
    target_column: Option<ColumnRef>,
    /// Column of a table that has the weights, or attribute of edges in GraphML.
    #[arg(long, value_name = "COLUMN", value_parser = column, hide_short_help = true)]
    weight_column: Option<ColumnRef>,
    /// Take ids as names, even if they are digits; without it they are names where the first edge
    /// has one.
    #[arg(long, hide_short_help = true)]
    names: bool,
}

fn column(text: &str) -> Result<ColumnRef, String> {
    match ColumnRef::from(text) {
        ColumnRef::Number(0) => Err("columns are counted from 1".to_owned()),
        ColumnRef::Name(name) if name.is_empty() => Err("expected a name or a number".to_owned()),
        column => Ok(column),
    }
}

impl ReadArgs {
    /// Whether another format than this one is requested.
    pub(super) fn is_other_than(&self, format: Format) -> bool {
        self.format.as_ref().is_some_and(|asked| asked.0 != format)
    }

    pub(super) fn options(&self, undirected: bool, weights: WeightChoice) -> LoadOptions {
        LoadOptions {
            undirected,
            weights,
            skip_columns: self.skip_columns,
            format: self.format.map(|format| format.0),
            columns: ColumnChoice {
                source: self.source_column.clone(),
                target: self.target_column.clone(),
                weight: self.weight_column.clone(),
            },
            names: self.names,
            listed_order: false,
            signed: false,
        }
    }
}
