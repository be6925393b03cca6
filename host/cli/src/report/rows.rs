//! The result as a table: one row a node, under the ids of the file.
//!
//! The suffix of the path chooses the format. All formats hold the same
//! numbers, so that a checksum can be recomputed from each. With parents there
//! is a third column, `parent`, the id of a node.

use std::fmt;
use std::io::{self, Write};
use std::path::Path;

use npyz::{DType, Field, TypeStr, WriterBuilder};
use serde::{Serialize, Serializer};

use seawall::outcome::{Column, RunOutcome, SourceSets};
use seawall::run::AnalysisKind;

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
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub(super) enum Value<'a> {
    Id(u64),
    Whole(u32),
    Real(f32),
    Set(#[serde(serialize_with = "serialize_set")] &'a [u64]),
}

/// A set as a hexadecimal number, `0x` and 16 digits a word, highest first.
struct Hexadecimal<'a>(&'a [u64]);

impl fmt::Display for Hexadecimal<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("0x")?;
        let mut words = self.0.iter().rev();
        words.try_for_each(|word| write!(f, "{word:016x}"))
    }
}

fn serialize_set<S: Serializer>(set: &[u64], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&Hexadecimal(set))
}

impl Value<'_> {
    /// Writes the value as JSON; what is no number is null there.
    pub(super) fn write_json(self, out: &mut dyn Write) -> io::Result<()> {
        match self {
            Self::Id(id) => write!(out, "{id}"),
            Self::Whole(whole) => write!(out, "{whole}"),
            Self::Real(real) if real.is_finite() => write!(out, "{real}"),
            Self::Real(_) => out.write_all(b"null"),
            Self::Set(set) => write!(out, "\"{}\"", Hexadecimal(set)),
        }
    }

    /// Writes the value as little-endian bytes.
    pub(super) fn write_bytes(self, out: &mut dyn Write) -> io::Result<()> {
        match self {
            Self::Id(id) => out.write_all(&id.to_le_bytes()),
            Self::Whole(whole) => out.write_all(&whole.to_le_bytes()),
            Self::Real(real) => out.write_all(&real.to_le_bytes()),
            Self::Set(set) => set
                .iter()
                .try_for_each(|word| out.write_all(&word.to_le_bytes())),
        }
    }
}

/// The rows of a table: ids of the file beside values.
pub struct Rows<'a> {
    column: &'a Column,
    parents: Option<&'a [u32]>,
    labels: bool,
    original: &'a dyn Fn(u32) -> u64,
}

/// One row: the id of a node, its value, and its parent's id where it has one;
/// nothing when the table has no parents.
pub(super) type Row<'a> = (u64, Value<'a>, Option<Option<u64>>);

impl<'a> Rows<'a> {
    /// The rows of `outcome`; `original` gives the id in the file of a node.
    ///
    /// The labels of components are nodes, so they are given by their ids too.
    #[must_use]
    pub fn new(outcome: &'a RunOutcome, original: &'a dyn Fn(u32) -> u64) -> Self {
        let labels = outcome.analysis == AnalysisKind::Cc;
        Self {
            parents: outcome.parents.as_deref(),
            ..Self::of(&outcome.values, labels, original)
        }
    }

    /// The rows of `column` without parents, whose values are nodes where `labels` says so.
    pub(super) fn of(column: &'a Column, labels: bool, original: &'a dyn Fn(u32) -> u64) -> Self {
        Self {
            column,
            parents: None,
            labels,
            original,
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = Row<'_>> + '_ {
        (0u32..)
            .take(self.column.len())
            .map(|node| ((self.original)(node), self.value(node), self.parent(node)))
    }

    fn value(&self, node: u32) -> Value<'_> {
        match self.column {
            Column::F32(values) => Value::Real(values[node as usize]),
            Column::U64(values) => Value::Id(values[node as usize]),
            Column::U32(values) if self.labels => Value::Id((self.original)(values[node as usize])),
            Column::U32(values) => Value::Whole(values[node as usize]),
            Column::Sets(sets) => Value::Set(sets.of(node)),
        }
    }

    fn parent(&self, node: u32) -> Option<Option<u64>> {
        let parent = *self.parents?.get(node as usize)?;
        Some((parent != Column::UNREACHED).then(|| (self.original)(parent)))
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
        let names = ["node", "value", "parent"];
        table.write_record(&names[..if self.parents.is_some() { 3 } else { 2 }])?;
        for (node, value, parent) in self.iter() {
            match parent {
                Some(parent) => table.serialize((node, value, parent))?,
                None => table.serialize((node, value))?,
            }
        }
        table.flush()
    }

    fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(b"[")?;
        let mut between = "\n";
        for (node, value, parent) in self.iter() {
            write!(out, "{between}{{\"node\":{node},\"value\":")?;
            value.write_json(out)?;
            match parent {
                Some(Some(parent)) => write!(out, ",\"parent\":{parent}")?,
                Some(None) => out.write_all(b",\"parent\":null")?,
                None => {}
            }
            out.write_all(b"}")?;
            between = ",\n";
        }
        out.write_all(b"\n]\n")
    }

    fn write_npy(&self, mut out: &mut dyn Write) -> io::Result<()> {
        npyz::WriteOptions::new_header_only()
            .dtype(self.record()?)
            .shape(&[self.column.len() as u64])
            .writer(&mut out)
            .write_header_only()?;
        for (node, value, parent) in self.iter() {
            out.write_all(&node.to_le_bytes())?;
            value.write_bytes(out)?;
            if let Some(parent) = parent {
                out.write_all(&parent.unwrap_or(NO_PARENT).to_le_bytes())?;
            }
        }
        Ok(())
    }

    fn record(&self) -> io::Result<DType> {
        let node = ("node", plain("<u8")?);
        let value = ("value", value_type(self.column, self.labels)?);
        Ok(match self.parents {
            Some(_) => record([node, value, ("parent", plain("<u8")?)]),
            None => record([node, value]),
        })
    }
}

/// Stands in NumPy files for the parent of a node that has none.
const NO_PARENT: u64 = u64::MAX;

/// NumPy's type for a column's values.
pub(super) fn value_type(column: &Column, labels: bool) -> io::Result<DType> {
    match column {
        Column::F32(_) => plain("<f4"),
        Column::U64(_) => plain("<u8"),
        Column::U32(_) if labels => plain("<u8"),
        Column::U32(_) => plain("<u4"),
        Column::Sets(sets) => match SourceSets::words_for(sets.sources()) {
            1 => plain("<u8"),
            words => Ok(DType::Array(words as u64, Box::new(plain("<u8")?))),
        },
    }
}

/// The type that NumPy names `kind`.
pub(super) fn plain(kind: &str) -> io::Result<DType> {
    let kind: TypeStr = kind.parse().map_err(io::Error::other)?;
    Ok(DType::Plain(kind))
}

/// The type of a record with these fields.
pub(super) fn record<const N: usize>(fields: [(&str, DType); N]) -> DType {
    let field = |(name, dtype): (&str, DType)| Field {
        name: name.to_owned(),
        dtype,
    };
    DType::Record(fields.map(field).into())
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
    fn parents_are_a_third_column_of_ids() {
        let mut outcome = outcome();
        outcome.parents = Some(vec![0, 0, 0, u32::MAX]);
        let text = String::from_utf8(table(&outcome, RowFormat::Csv)).unwrap();
        assert_eq!(
            text,
            "node,value,parent\n100,0,100\n101,1,100\n102,1,100\n103,4294967295,\n"
        );
        let rows: serde_json::Value =
            serde_json::from_slice(&table(&outcome, RowFormat::Json)).unwrap();
        let row = |node, value, parent| serde_json::json!({"node": node, "value": value, "parent": parent});
        assert_eq!(rows[1], row(101, 1, Some(100)));
        assert_eq!(rows[3], row(103, u32::MAX, None));
        let bytes = table(&outcome, RowFormat::Npy);
        let file = npyz::NpyFile::new(&bytes[..]).unwrap();
        assert_eq!(
            file.dtype().descr(),
            "[('node', '<u8'), ('value', '<u4'), ('parent', '<u8'), ]"
        );
        assert_eq!(bytes[bytes.len() - 8..], u64::MAX.to_le_bytes());
        assert_eq!(
            bytes[bytes.len() - 28..bytes.len() - 20],
            100_u64.to_le_bytes()
        );
    }

    #[test]
    fn sets_are_hexadecimal_numbers_and_words() {
        let mut outcome = outcome();
        outcome.values = Column::Sets(SourceSets::new(3, vec![5, 0]));
        let text = String::from_utf8(table(&outcome, RowFormat::Csv)).unwrap();
        assert_eq!(
            text,
            "node,value\n100,0x0000000000000005\n101,0x0000000000000000\n"
        );
        outcome.values = Column::Sets(SourceSets::new(65, vec![5, 1]));
        let rows: serde_json::Value =
            serde_json::from_slice(&table(&outcome, RowFormat::Json)).unwrap();
        assert_eq!(rows[0]["value"], "0x00000000000000010000000000000005");
        let bytes = table(&outcome, RowFormat::Npy);
        let file = npyz::NpyFile::new(&bytes[..]).unwrap();
        assert_eq!(
            file.dtype().descr(),
            "[('node', '<u8'), ('value', '<u8', (2,)), ]"
        );
        assert_eq!(bytes[bytes.len() - 16..][..8], 5_u64.to_le_bytes());
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
