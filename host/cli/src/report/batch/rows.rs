//! The results of a batch as one table: one row per node, graph after graph.
//!
//! `graph` is the graph's number from 0, its place in the report's `results`; CSV and JSON also
//! have its name. Nodes have the ids of their files.

use std::io::{self, Write};

use crate::report::rows::Rows;
use crate::report::table::{self, Row, RowFormat, Table, TableColumn, Values};
use seawall::batch::BatchOutcome;

/// The rows of a batch.
pub struct BatchRows<'a> {
    outcome: &'a BatchOutcome,
    original: &'a dyn Fn(usize, u32) -> u64,
}

impl<'a> BatchRows<'a> {
    /// Returns the rows of `outcome`; `original` returns the id of a graph's node in its file.
    #[must_use]
    pub fn new(outcome: &'a BatchOutcome, original: &'a dyn Fn(usize, u32) -> u64) -> Self {
        Self { outcome, original }
    }

    /// Writes the named columns of those in [`TableColumn::of_batch`]. Linear in
    /// the nodes, buffered by `out` alone.
    ///
    /// # Errors
    /// [`std::io::Error`] of `out`.
    pub fn write(
        &self,
        format: RowFormat,
        columns: &[TableColumn],
        out: &mut dyn Write,
    ) -> io::Result<()> {
        table::write(self, (format, columns), out)
    }
}

impl Table for BatchRows<'_> {
    fn rows(&self) -> u64 {
        let graphs = self.outcome.graphs.iter();
        graphs.map(|graph| graph.values.len() as u64).sum()
    }

    fn values(&self) -> Values {
        let graphs = self.outcome.graphs.iter();
        let values = graphs.map(|graph| Values::of(self.outcome.analysis, &graph.values));
        values.reduce(Values::join).unwrap_or(Values::Whole)
    }

    fn each(&self, take: &mut dyn FnMut(&Row<'_>) -> io::Result<()>) -> io::Result<()> {
        for (index, graph) in self.outcome.graphs.iter().enumerate() {
            let original = |node| (self.original)(index, node);
            let rows = Rows::of((self.outcome.analysis, &graph.values), &original);
            let rows = rows.iter().map(|row| Row {
                graph: index as u32,
                name: &graph.name,
                ..row
            });
            for row in rows {
                take(&row)?;
            }
        }
        Ok(())
    }
}
