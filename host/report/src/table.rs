//! Tables of results as files: columns, cells and the three formats.
//!
//! The suffix of the path chooses the format, the caller the columns. All formats hold the same
//! numbers, so that a checksum can be recomputed from each. A missing value is empty in CSV and
//! null in JSON; in NumPy files, which have no such value, it is the largest number of its type.

use std::fmt;
use std::io::{self, Write};
use std::path::Path;

use clap::ValueEnum;
use serde::{Serialize, Serializer};

use seawall::analysis::{AnalysisKind, Values as Meaning};
use seawall::graph::npy::{Dtype, Element, head};
use seawall::outcome::{Column, SourceSets};

/// A format of result tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum RowFormat {
    /// A header line, then one line per row.
    Csv,
    /// An array of objects, or of plain values for a single column, one per line.
    Json,
    /// A NumPy array of records, or of plain values for a single column.
    Npy,
}

impl RowFormat {
    /// Returns the format of a path's suffix, if it is known.
    #[must_use]
    pub fn of(path: &Path) -> Option<Self> {
        let suffix = path.extension()?.to_str()?;
        [("csv", Self::Csv), ("json", Self::Json), ("npy", Self::Npy)]
            .into_iter()
            .find_map(|(name, format)| suffix.eq_ignore_ascii_case(name).then_some(format))
    }
}

/// A column of a result table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TableColumn {
    /// Number of the graph in a batch, from 0.
    Graph,
    /// Name of the graph in a batch; of the node in other tables, where nodes have names, else its
    /// id.
    Name,
    /// Id of the node in its file.
    #[value(alias = "id")]
    Node,
    /// Name of the node in a batch, where nodes of some graph have names, else its id.
    #[value(name = "node_name")]
    NodeName,
    /// Value of the node.
    Value,
    /// Id of the node's parent.
    Parent,
    /// Id of the smaller end of the node's edge.
    From,
    /// Id of its larger end.
    To,
}

impl TableColumn {
    /// The name on the command line and in files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Graph => "graph",
            Self::Name => "name",
            Self::Node => "node",
            Self::NodeName => "node_name",
            Self::Value => "value",
            Self::Parent => "parent",
            Self::From => "from",
            Self::To => "to",
        }
    }

    /// Columns of a run's table, whose values mean `values`; the names only where nodes have any.
    /// Arrays of NumPy cannot hold texts of arbitrary length.
    #[must_use]
    pub const fn of_run(values: Meaning, parents: bool, format: RowFormat) -> &'static [Self] {
        use TableColumn::{From, Name, Node, Parent, To, Value};
        match (values, parents, format) {
            (Meaning::Edges, _, RowFormat::Npy) => &[Node, From, To],
            (Meaning::Edges, ..) => &[Node, Name, From, To],
            (_, true, RowFormat::Npy) => &[Node, Value, Parent],
            (_, true, _) => &[Node, Name, Value, Parent],
            (_, false, RowFormat::Npy) => &[Node, Value],
            (_, false, _) => &[Node, Name, Value],
        }
    }

    /// Columns of a batch's table; the names of nodes only where nodes have any. Arrays of NumPy cannot hold texts of arbitrary length.
    #[must_use]
    pub const fn of_batch(values: Meaning, format: RowFormat) -> &'static [Self] {
        use TableColumn::{From, Graph, Name, Node, NodeName, To, Value};
        match (values, format) {
            (Meaning::Edges, RowFormat::Npy) => &[Graph, Node, From, To],
            (Meaning::Edges, _) => &[Graph, Name, Node, NodeName, From, To],
            (_, RowFormat::Npy) => &[Graph, Node, Value],
            (_, _) => &[Graph, Name, Node, NodeName, Value],
        }
    }
}

impl fmt::Display for TableColumn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// One cell of a table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Cell<'a> {
    Text(&'a str),
    Index(u32),
    Id(Option<u64>),
    Whole(Option<u32>),
    Signed(Option<i64>),
    Real(f32),
    Double(f64),
    Set(&'a [u64]),
}

/// A set as a hexadecimal number, `0x` and 16 digits per word, highest first.
struct Hexadecimal<'a>(&'a [u64]);

impl fmt::Display for Hexadecimal<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("0x")?;
        let mut words = self.0.iter().rev();
        words.try_for_each(|word| write!(f, "{word:016x}"))
    }
}

impl Serialize for Cell<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(text) => serializer.serialize_str(text),
            Self::Index(index) => serializer.serialize_u32(*index),
            Self::Id(id) => id.serialize(serializer),
            Self::Whole(whole) => whole.serialize(serializer),
            Self::Signed(whole) => whole.serialize(serializer),
            Self::Real(real) => real.is_finite().then_some(real).serialize(serializer),
            Self::Double(real) => real.is_finite().then_some(real).serialize(serializer),
            Self::Set(set) => serializer.collect_str(&Hexadecimal(set)),
        }
    }
}

impl Cell<'_> {
    /// Writes the cell as little-endian bytes; texts have none.
    fn write_bytes(self, out: &mut dyn Write) -> io::Result<()> {
        match self {
            Self::Text(_) => Ok(()),
            Self::Index(index) => out.write_all(&index.to_le_bytes()),
            Self::Id(id) => out.write_all(&id.unwrap_or(u64::MAX).to_le_bytes()),
            Self::Whole(whole) => out.write_all(&whole.unwrap_or(u32::MAX).to_le_bytes()),
            Self::Signed(whole) => out.write_all(&whole.unwrap_or(i64::MAX).to_le_bytes()),
            Self::Real(real) => out.write_all(&real.to_le_bytes()),
            Self::Double(real) => out.write_all(&real.to_le_bytes()),
            Self::Set(set) => set
                .iter()
                .try_for_each(|word| out.write_all(&word.to_le_bytes())),
        }
    }
}

/// One row: a node of a graph.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row<'a> {
    pub(super) graph: u32,
    /// Empty but in a batch.
    pub(super) graph_name: &'a str,
    pub(super) name: &'a str,
    pub(super) node: u64,
    pub(super) value: Cell<'a>,
    pub(super) parent: Cell<'a>,
    pub(super) ends: [Cell<'a>; 2],
}

impl<'a> Row<'a> {
    fn cell(&self, column: TableColumn) -> Cell<'a> {
        match column {
            TableColumn::Graph => Cell::Index(self.graph),
            TableColumn::Name if !self.graph_name.is_empty() => Cell::Text(self.graph_name),
            TableColumn::Name | TableColumn::NodeName if self.name.is_empty() => {
                Cell::Id(Some(self.node))
            }
            TableColumn::Name | TableColumn::NodeName => Cell::Text(self.name),
            TableColumn::Node => Cell::Id(Some(self.node)),
            TableColumn::Value => self.value,
            TableColumn::Parent => self.parent,
            TableColumn::From => self.ends[0],
            TableColumn::To => self.ends[1],
        }
    }
}

/// The chosen cells of a row.
struct Cells<'a>(&'a Row<'a>, &'a [TableColumn]);

impl Serialize for Cells<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.1.iter().map(|column| self.0.cell(*column)))
    }
}

/// Type of the values of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Values {
    Ids,
    Whole,
    Signed,
    Real,
    Doubles,
    Sets { words: usize },
}

impl Values {
    /// Returns the type of `column`, the result of `kind`.
    pub(super) fn of(kind: AnalysisKind, column: &Column) -> Self {
        match column {
            Column::U32(_) => match kind.facts().values {
                Meaning::Nodes | Meaning::NodesOfReached | Meaning::Edges => Self::Ids,
                Meaning::Numbers | Meaning::NumbersOfReached | Meaning::Flags => Self::Whole,
            },
            Column::I64(_) => Self::Signed,
            Column::F32(_) => Self::Real,
            Column::Sets(sets) => Self::Sets {
                words: SourceSets::words_for(sets.sources()),
            },
            _ => Self::Ids,
        }
    }

    /// Returns a type for values of both kinds, which the graphs of a batch may have: distances of
    /// 32 and of 64 bits, or along whole numbers and along floats.
    pub(super) fn join(self, other: Self) -> Self {
        match (self, other) {
            (one, other) if one == other => one,
            (Self::Whole | Self::Ids, Self::Whole | Self::Ids) => Self::Ids,
            _ => Self::Doubles,
        }
    }

    /// The cell in the type of these values.
    ///
    /// # Errors
    /// If that type has no such number.
    fn fit(self, cell: Cell<'_>) -> io::Result<Cell<'_>> {
        let inexact = || {
            io::Error::other("a value of the batch has no place among floats; write .csv or .json")
        };
        Ok(match (self, cell) {
            (Self::Ids, Cell::Whole(whole)) => Cell::Id(whole.map(u64::from)),
            (Self::Doubles, Cell::Real(real)) => Cell::Double(f64::from(real)),
            (Self::Doubles, Cell::Whole(None) | Cell::Id(None)) => Cell::Double(f64::INFINITY),
            (Self::Doubles, Cell::Whole(Some(whole))) => Cell::Double(f64::from(whole)),
            (Self::Doubles, Cell::Id(Some(id))) if id > 1 << f64::MANTISSA_DIGITS => {
                return Err(inexact());
            }
            (Self::Doubles, Cell::Id(Some(id))) => Cell::Double(id as f64),
            (_, cell) => cell,
        })
    }

    /// NumPy's type of one value.
    fn numpy(self) -> Element {
        match self {
            Self::Ids | Self::Sets { words: 1 } => Element::one("<u8"),
            Self::Whole => Element::one("<u4"),
            Self::Signed => Element::one("<i8"),
            Self::Real => Element::one("<f4"),
            Self::Doubles => Element::one("<f8"),
            Self::Sets { words } => Element {
                kind: "<u8",
                count: words as u64,
            },
        }
    }
}

/// A table of rows.
pub(super) trait Table {
    /// Number of rows.
    fn rows(&self) -> u64;

    /// The values.
    fn values(&self) -> Values;

    /// Calls `take` with every row, in order.
    fn each(&self, take: &mut dyn FnMut(&Row<'_>) -> io::Result<()>) -> io::Result<()>;
}

/// Writes the named columns of a table. Linear in its rows, buffered only by `out`.
pub(super) fn write(
    table: &dyn Table,
    format: RowFormat,
    columns: &[TableColumn],
    out: &mut dyn Write,
) -> io::Result<()> {
    match format {
        RowFormat::Csv => write_csv(table, columns, out),
        RowFormat::Json => write_json(table, columns, out),
        RowFormat::Npy => write_npy(table, columns, out),
    }
}

fn write_csv(table: &dyn Table, columns: &[TableColumn], out: &mut dyn Write) -> io::Result<()> {
    let mut lines = csv::Writer::from_writer(out);
    let names = columns.iter().map(|column| column.name());
    lines.write_record(names).map_err(of_csv)?;
    table.each(&mut |row| lines.serialize(Cells(row, columns)).map_err(of_csv))?;
    lines.flush()
}

/// The system's answer if there is one, which has the kind of the error.
fn of_csv(error: csv::Error) -> io::Error {
    if !error.is_io_error() {
        return error.into();
    }
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    }
}

fn write_json(
    table: &dyn Table,
    columns: &[TableColumn],
    mut out: &mut dyn Write,
) -> io::Result<()> {
    out.write_all(b"[")?;
    let mut between = "\n";
    table.each(&mut |row| {
        out.write_all(between.as_bytes())?;
        between = ",\n";
        match columns {
            [column] => Ok(serde_json::to_writer(&mut out, &row.cell(*column))?),
            _ => write_object(row, columns, out),
        }
    })?;
    out.write_all(b"\n]\n")
}

fn write_object(row: &Row<'_>, columns: &[TableColumn], mut out: &mut dyn Write) -> io::Result<()> {
    let mut between = '{';
    for column in columns {
        write!(out, "{between}\"{column}\":")?;
        serde_json::to_writer(&mut out, &row.cell(*column))?;
        between = ',';
    }
    out.write_all(b"}")
}

fn write_npy(table: &dyn Table, columns: &[TableColumn], out: &mut dyn Write) -> io::Result<()> {
    let (dtype, shape) = layout(table, columns)?;
    let values = table.values();
    out.write_all(&head(&dtype, &shape))?;
    table.each(&mut |row| {
        columns.iter().try_for_each(|column| match column {
            TableColumn::Value => values.fit(row.value)?.write_bytes(out),
            column => row.cell(*column).write_bytes(out),
        })
    })
}

/// Type and shape of a NumPy array: records, or plain values for one column.
fn layout(table: &dyn Table, columns: &[TableColumn]) -> io::Result<(Dtype<'static>, Vec<u64>)> {
    let rows = table.rows();
    let field = |column: &TableColumn| Ok((column.name(), type_of(*column, table.values())?));
    let fields = columns.iter().map(field).collect::<io::Result<Vec<_>>>()?;
    Ok(match fields.as_slice() {
        [(_, Element { kind, count: 1 })] => (Dtype::Plain(kind), vec![rows]),
        [(_, Element { kind, count })] => (Dtype::Plain(kind), vec![rows, *count]),
        _ => (Dtype::Record(fields), vec![rows]),
    })
}

fn type_of(column: TableColumn, values: Values) -> io::Result<Element> {
    match column {
        TableColumn::Graph => Ok(Element::one("<u4")),
        TableColumn::Node | TableColumn::Parent | TableColumn::From | TableColumn::To => {
            Ok(Element::one("<u8"))
        }
        TableColumn::Value => Ok(values.numpy()),
        TableColumn::Name | TableColumn::NodeName => {
            Err(io::Error::other("NumPy arrays hold no names"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_suffix_names_the_format() {
        assert_eq!(RowFormat::of(Path::new("a/b.CSV")), Some(RowFormat::Csv));
        assert_eq!(RowFormat::of(Path::new("b.npy")), Some(RowFormat::Npy));
        assert_eq!(RowFormat::of(Path::new("b.parquet")), None);
        assert_eq!(RowFormat::of(Path::new("csv")), None);
    }

    #[test]
    fn names_on_the_command_line_are_those_in_files() {
        for column in TableColumn::value_variants() {
            let value = column.to_possible_value().unwrap();
            assert_eq!(value.get_name(), column.name());
        }
    }
}
