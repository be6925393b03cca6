//! The results of a batch as one table: one row per node, graph after graph.
//!
//! `graph` is the graph's number from 0, its place in the report's `results`; CSV and JSON also
//! have its name. Nodes have the ids of their files, and their names where some have names.

use std::io::{self, Write};

use crate::rows::Rows;
use crate::table::{self, Row, RowFormat, Table, TableColumn, Values};
use seawall::batch::BatchOutcome;

/// The rows of a batch.
pub struct BatchRows<'a> {
    outcome: &'a BatchOutcome,
    original: &'a dyn Fn(usize, u32) -> u64,
    name: Option<&'a NodeNames<'a>>,
}

/// The name of a graph's node.
pub type NodeNames<'a> = dyn Fn(usize, u32) -> Option<&'a str> + 'a;

impl<'a> BatchRows<'a> {
    /// Returns the rows of `outcome`; `original` returns the id of a graph's node in its file.
    #[must_use]
    pub fn new(outcome: &'a BatchOutcome, original: &'a dyn Fn(usize, u32) -> u64) -> Self {
        Self {
            outcome,
            original,
            name: None,
        }
    }

    /// Returns the rows with the name of each node, for formats that hold texts. Cells that are
    /// nodes are names then.
    #[must_use]
    pub fn with_names(self, name: &'a NodeNames<'a>) -> Self {
        Self {
            name: Some(name),
            ..self
        }
    }

    /// Writes the named columns of those in [`TableColumn::of_batch`]. Linear in the nodes,
    /// buffered only by `out`.
    ///
    /// # Errors
    /// [`std::io::Error`] of `out`.
    pub fn write(
        &self,
        format: RowFormat,
        columns: &[TableColumn],
        out: &mut dyn Write,
    ) -> io::Result<()> {
        table::write(self, format, columns, out)
    }
}

impl Table for BatchRows<'_> {
    fn rows(&self) -> u64 {
        let graphs = self.outcome.graphs.iter();
        graphs.map(|graph| graph.run.values.len() as u64).sum()
    }

    fn values(&self) -> Values {
        let graphs = self.outcome.graphs.iter();
        let values = graphs.map(|graph| Values::of(self.outcome.analysis, &graph.run.values));
        values.reduce(Values::join).unwrap_or(Values::Whole)
    }

    fn each(&self, take: &mut dyn FnMut(&Row<'_>) -> io::Result<()>) -> io::Result<()> {
        for (index, graph) in self.outcome.graphs.iter().enumerate() {
            let original = |node| (self.original)(index, node);
            let name = |node| self.name.and_then(|name| name(index, node));
            let mut rows = Rows::of(self.outcome.analysis, &graph.run.values, &original);
            if self.name.is_some() {
                rows = rows.with_names(&name);
            }
            for row in rows.iter() {
                take(&Row {
                    graph: index as u32,
                    graph_name: &graph.name,
                    ..row
                })?;
            }
        }
        Ok(())
    }
}
