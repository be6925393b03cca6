//! The results of a batch as one table: a row a node, graph after graph.
//!
//! `graph` is the graph's number from 0, its place in the report's `results`;
//! CSV and JSON give its name too. Nodes have the ids of their files.

use std::io::{self, Write};

use npyz::WriterBuilder;

use crate::report::rows::{RowFormat, Rows, Value, plain, record, value_type};
use seawall::batch::BatchOutcome;
use seawall::run::AnalysisKind;

/// The rows of a batch.
pub struct BatchRows<'a> {
    outcome: &'a BatchOutcome,
    original: &'a dyn Fn(usize, u32) -> u64,
}

impl<'a> BatchRows<'a> {
    /// The rows of `outcome`; `original` gives the id in the file of a node of
    /// a graph.
    #[must_use]
    pub fn new(outcome: &'a BatchOutcome, original: &'a dyn Fn(usize, u32) -> u64) -> Self {
        Self { outcome, original }
    }

    /// Writes the table. Linear in the nodes, buffered by `out` alone.
    ///
    /// # Errors
    /// When `out` fails.
    pub fn write(&self, format: RowFormat, out: &mut dyn Write) -> io::Result<()> {
        match format {
            RowFormat::Csv => self.write_csv(out),
            RowFormat::Json => self.write_json(out),
            RowFormat::Npy => self.write_npy(out),
        }
    }

    fn labels(&self) -> bool {
        self.outcome.analysis == AnalysisKind::Cc
    }

    /// Calls `row` with number and name of the graph, node and value.
    fn each(
        &self,
        mut row: impl FnMut((usize, &str), (u64, Value<'_>)) -> io::Result<()>,
    ) -> io::Result<()> {
        for (index, graph) in self.outcome.graphs.iter().enumerate() {
            let original = |node| (self.original)(index, node);
            let rows = Rows::of(&graph.values, self.labels(), &original);
            for (node, value, _) in rows.iter() {
                row((index, &graph.name), (node, value))?;
            }
        }
        Ok(())
    }

    fn write_csv(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut table = csv::Writer::from_writer(out);
        table.write_record(["graph", "name", "node", "value"])?;
        self.each(|(graph, name), (node, value)| {
            table.serialize((graph, name, node, value))?;
            Ok(())
        })?;
        table.flush()
    }

    fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(b"[")?;
        let mut between = "\n";
        self.each(|(graph, name), (node, value)| {
            write!(out, "{between}{{\"graph\":{graph},\"name\":")?;
            serde_json::to_writer(&mut *out, name)?;
            write!(out, ",\"node\":{node},\"value\":")?;
            value.write_json(out)?;
            between = ",\n";
            out.write_all(b"}")
        })?;
        out.write_all(b"\n]\n")
    }

    fn write_npy(&self, mut out: &mut dyn Write) -> io::Result<()> {
        let graphs = &self.outcome.graphs;
        let values = graphs.first().map(|graph| &graph.values);
        let value = match values {
            Some(values) => value_type(values, self.labels())?,
            None => plain("<u4")?,
        };
        let rows: u64 = graphs.iter().map(|graph| graph.values.len() as u64).sum();
        npyz::WriteOptions::new_header_only()
            .dtype(record([
                ("graph", plain("<u4")?),
                ("node", plain("<u8")?),
                ("value", value),
            ]))
            .shape(&[rows])
            .writer(&mut out)
            .write_header_only()?;
        self.each(|(graph, _), (node, value)| {
            out.write_all(&(graph as u32).to_le_bytes())?;
            out.write_all(&node.to_le_bytes())?;
            value.write_bytes(out)
        })
    }
}
