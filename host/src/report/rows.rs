//! The result as a table: one row a node, under the ids of the file.
//!
//! The suffix of the path chooses the format. All formats hold the same
//! numbers, so that a checksum can be recomputed from each.

use std::io::{self, Write};
use std::path::Path;

use npyz::{DType, Field, TypeStr, WriterBuilder};

use crate::outcome::{Column, RunOutcome};
use crate::run::AnalysisKind;

/// A format of result tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowFormat {
    /// `node,value` with a header line.
    Csv,
    /// An array of `{"node","value"}`, one a line.
    Json,
    /// A NumPy array of records with the fields `node` and `value`.
    Npy,
}

impl RowFormat {
    /// The format that a path's suffix names, if it names one.
    #[must_use]
    pub fn of(path: &Path) -> Option<Self> {
        let suffix = path.extension()?.to_str()?;
        [("csv", Self::Csv), ("json", Self::Json), ("npy", Self::Npy)]
            .into_iter()
            .find_map(|(name, format)| suffix.eq_ignore_ascii_case(name).then_some(format))
    }
}

/// The value of one node as it stands in a file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Value {
    Id(u64),
    Whole(u32),
    Real(f32),
}

impl Value {
    /// Writes the value as JSON; what is no number is null there.
    pub(super) fn write_json(self, out: &mut dyn Write) -> io::Result<()> {
        match self {
            Self::Id(id) => write!(out, "{id}"),
            Self::Whole(whole) => write!(out, "{whole}"),
            Self::Real(real) if real.is_finite() => write!(out, "{real}"),
            Self::Real(_) => out.write_all(b"null"),
        }
    }

    /// Writes the value as little-endian bytes.
    pub(super) fn write_bytes(self, out: &mut dyn Write) -> io::Result<()> {
        match self {
            Self::Id(id) => out.write_all(&id.to_le_bytes()),
            Self::Whole(whole) => out.write_all(&whole.to_le_bytes()),
            Self::Real(real) => out.write_all(&real.to_le_bytes()),
        }
    }
}

/// The rows of a table: ids of the file beside values.
pub struct Rows<'a> {
    column: &'a Column,
    labels: bool,
    original: &'a dyn Fn(u32) -> u64,
}

impl<'a> Rows<'a> {
    /// The rows of `outcome`; `original` gives the id in the file of a node.
    ///
    /// The labels of components are nodes, so they are given by their ids too.
    #[must_use]
    pub fn new(outcome: &'a RunOutcome, original: &'a dyn Fn(u32) -> u64) -> Self {
        Self::of(
            &outcome.values,
            outcome.analysis == AnalysisKind::Cc,
            original,
        )
    }

    /// The rows of `column`, whose values are nodes where `labels` says so.
    pub(super) fn of(column: &'a Column, labels: bool, original: &'a dyn Fn(u32) -> u64) -> Self {
        Self {
            column,
            labels,
            original,
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (u64, Value)> + '_ {
        (0u32..)
            .take(self.column.len())
            .map(|node| ((self.original)(node), self.value(node)))
    }

    fn value(&self, node: u32) -> Value {
        match self.column {
            Column::F32(values) => Value::Real(values[node as usize]),
            Column::U32(values) if self.labels => Value::Id((self.original)(values[node as usize])),
            Column::U32(values) => Value::Whole(values[node as usize]),
        }
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

    fn write_csv(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut table = csv::Writer::from_writer(out);
        table.write_record(["node", "value"])?;
        for (node, value) in self.iter() {
            match value {
                Value::Id(id) => table.serialize((node, id))?,
                Value::Whole(whole) => table.serialize((node, whole))?,
                Value::Real(real) => table.serialize((node, real))?,
            }
        }
        table.flush()
    }

    fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(b"[")?;
        let mut between = "\n";
        for (node, value) in self.iter() {
            write!(out, "{between}{{\"node\":{node},\"value\":")?;
            value.write_json(out)?;
            out.write_all(b"}")?;
            between = ",\n";
        }
        out.write_all(b"\n]\n")
    }

    fn write_npy(&self, mut out: &mut dyn Write) -> io::Result<()> {
        let value = value_type(self.column, self.labels);
        npyz::WriteOptions::new_header_only()
            .dtype(record(&[("node", "<u8"), ("value", value)])?)
            .shape(&[self.column.len() as u64])
            .writer(&mut out)
            .write_header_only()?;
        for (node, value) in self.iter() {
            out.write_all(&node.to_le_bytes())?;
            value.write_bytes(out)?;
        }
        Ok(())
    }
}

/// NumPy's name for the type of a column's values.
pub(super) fn value_type(column: &Column, labels: bool) -> &'static str {
    match column {
        Column::F32(_) => "<f4",
        Column::U32(_) if labels => "<u8",
        Column::U32(_) => "<u4",
    }
}

/// The type of a record with these fields, each a name and NumPy's name for a
/// type.
pub(super) fn record(fields: &[(&str, &str)]) -> io::Result<DType> {
    let field = |(name, kind): &(&str, &str)| {
        let kind: TypeStr = kind.parse().map_err(io::Error::other)?;
        Ok::<_, io::Error>(Field {
            name: (*name).to_owned(),
            dtype: DType::Plain(kind),
        })
    };
    Ok(DType::Record(
        fields.iter().map(field).collect::<io::Result<_>>()?,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::text::tests::outcome;

    fn table(outcome: &RunOutcome, format: RowFormat) -> Vec<u8> {
        let mut bytes = Vec::new();
        Rows::new(outcome, &|node| u64::from(node) + 100)
            .write(format, &mut bytes)
            .unwrap();
        bytes
    }

    #[test]
    fn csv_has_a_header_and_original_ids() {
        let text = String::from_utf8(table(&outcome(), RowFormat::Csv)).unwrap();
        assert_eq!(text, "node,value\n100,0\n101,1\n102,1\n103,4294967295\n");
    }

    #[test]
    fn json_reads_back() {
        let rows: serde_json::Value =
            serde_json::from_slice(&table(&outcome(), RowFormat::Json)).unwrap();
        assert_eq!(rows.as_array().unwrap().len(), 4);
        assert_eq!(rows[1], serde_json::json!({"node": 101, "value": 1}));
    }

    #[test]
    fn npy_is_a_structured_array() {
        let bytes = table(&outcome(), RowFormat::Npy);
        let file = npyz::NpyFile::new(&bytes[..]).unwrap();
        assert_eq!(file.shape(), [4]);
        assert_eq!(
            file.dtype().descr(),
            "[('node', '<u8'), ('value', '<u4'), ]"
        );
        assert_eq!(
            &bytes[bytes.len() - 12..],
            [103, 0, 0, 0, 0, 0, 0, 0, 255, 255, 255, 255]
        );
    }

    #[test]
    fn labels_of_components_are_ids_too() {
        let mut outcome = outcome();
        outcome.analysis = AnalysisKind::Cc;
        outcome.values = Column::U32(vec![0, 0, 2, 2]);
        let text = String::from_utf8(table(&outcome, RowFormat::Csv)).unwrap();
        assert_eq!(text, "node,value\n100,100\n101,100\n102,102\n103,102\n");
    }

    #[test]
    fn a_rank_that_is_no_number_is_null_in_json() {
        let mut outcome = outcome();
        outcome.values = Column::F32(vec![0.5, f32::NAN]);
        let rows: serde_json::Value =
            serde_json::from_slice(&table(&outcome, RowFormat::Json)).unwrap();
        assert_eq!(rows[0]["value"], 0.5);
        assert!(rows[1]["value"].is_null());
    }

    #[test]
    fn the_suffix_names_the_format() {
        assert_eq!(RowFormat::of(Path::new("a/b.CSV")), Some(RowFormat::Csv));
        assert_eq!(RowFormat::of(Path::new("b.npy")), Some(RowFormat::Npy));
        assert_eq!(RowFormat::of(Path::new("b.parquet")), None);
        assert_eq!(RowFormat::of(Path::new("csv")), None);
    }
}
