//! The results of a program as a file: a row for each number of a value, a column for each result.

use std::borrow::Cow;
use std::io::{self, Write};

use serde_json::Value;

use crate::error::CliError;
use crate::program::ProgramFailure;
use seawall::graph::npy::{Dtype, Element, head};
use seawall::program::{Kind, TextResult};
use seawall_report::table::RowFormat;

/// Name of the first column, the number of the value.
const INDEX: &str = "index";

/// A column: its name, its kind, its values; NaN is null. Without values, the number of each row.
#[derive(Clone, Copy)]
pub(super) struct ResultColumn<'a> {
    pub(super) name: &'a str,
    pub(super) kind: Kind,
    pub(super) values: Option<&'a [Value]>,
}

impl ResultColumn<'_> {
    /// The number of each row.
    const INDEX: Self = Self {
        name: INDEX,
        kind: Kind::U64,
        values: None,
    };

    /// The cell of a row; `None` beyond the last value.
    fn cell(&self, row: usize) -> Option<Cow<'_, Value>> {
        match self.values {
            None => Some(Cow::Owned(row.into())),
            Some(values) => values.get(row).map(Cow::Borrowed),
        }
    }
}

/// The columns of a file: the requested ones, or the number of each row and all results.
pub(super) struct Choice(Vec<Option<usize>>);

impl Choice {
    pub(super) fn of(asked: &[String], results: &[TextResult]) -> Result<Self, CliError> {
        let known = std::iter::once(INDEX).chain(results.iter().map(|result| result.name.as_str()));
        let known: Vec<&str> = known.collect();
        let place = |name: &String| known.iter().position(|known| known == name);
        let mut places = Vec::new();
        for column in asked {
            let Some(at) = place(column) else {
                let known = known.iter().map(|known| (*known).to_owned()).collect();
                let column = column.clone();
                return Err(CliError::NoSuchColumn { column, known });
            };
            if places.contains(&at) {
                let column = column.clone();
                return Err(CliError::ColumnTwice { column });
            }
            places.push(at);
        }
        if places.is_empty() {
            places.extend(0..known.len());
        }
        Ok(Self(places.iter().map(|at| at.checked_sub(1)).collect()))
    }

    /// The results among them, in their order.
    fn results<'a, T>(&self, of: &'a [T]) -> Vec<&'a T> {
        let places = self.0.iter().flatten();
        places.filter_map(|at| of.get(*at)).collect()
    }

    fn columns<'a>(&self, of: &[ResultColumn<'a>]) -> Vec<ResultColumn<'a>> {
        let column = |at: &Option<usize>| match at {
            None => Some(ResultColumn::INDEX),
            Some(at) => of.get(*at).copied(),
        };
        self.0.iter().filter_map(column).collect()
    }
}

/// Refuses results that a file of this format cannot name.
pub(super) fn check(results: &[TextResult], format: RowFormat) -> Result<(), ProgramFailure> {
    if results.is_empty() {
        return Err(ProgramFailure::NoResult);
    }
    let is_plain = |name: &str| {
        let of_name = |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'\'' | b'"' | b'\\');
        format != RowFormat::Npy || name.bytes().all(|byte| of_name(byte) || byte == b' ')
    };
    for result in results {
        if result.name == INDEX || result.name.is_empty() || !is_plain(&result.name) {
            let name = result.name.clone();
            return Err(ProgramFailure::ColumnName { name });
        }
    }
    Ok(())
}

/// Refuses results of different lengths in a file whose rows are whole.
pub(super) fn check_lengths(
    results: &[TextResult],
    choice: &Choice,
    format: RowFormat,
) -> Result<(), ProgramFailure> {
    let results = choice.results(results);
    let [first, ..] = results.as_slice() else {
        return Ok(());
    };
    let other = results.iter().find(|result| result.count != first.count);
    match other {
        Some(other) if format == RowFormat::Npy => Err(ProgramFailure::Lengths {
            names: [first, other].map(|result| result.name.clone()),
            counts: [first.count, other.count],
        }),
        _ => Ok(()),
    }
}

/// Writes all rows, as many as the longest of these results has values. After the end of a shorter
/// one, cells are empty, or null. A single column is a plain array.
pub(super) fn write(
    results: &[ResultColumn<'_>],
    choice: &Choice,
    format: RowFormat,
    out: &mut dyn Write,
) -> io::Result<()> {
    let columns = choice.columns(results);
    let rows = match rows(&columns) {
        None => rows(results),
        rows => rows,
    };
    let rows = rows.unwrap_or(0);
    match format {
        RowFormat::Csv => write_csv(&columns, rows, out),
        RowFormat::Json => write_json(&columns, rows, out),
        RowFormat::Npy => write_npy(&columns, rows, out),
    }
}

/// Values of the longest of these columns that have values.
fn rows(columns: &[ResultColumn<'_>]) -> Option<usize> {
    let lengths = columns.iter().filter_map(|column| column.values);
    lengths.map(<[Value]>::len).max()
}

fn write_csv(columns: &[ResultColumn<'_>], rows: usize, out: &mut dyn Write) -> io::Result<()> {
    let mut lines = csv::Writer::from_writer(out);
    lines.write_record(columns.iter().map(|column| column.name))?;
    for row in 0..rows {
        let cells = columns
            .iter()
            .map(|column| match column.cell(row).as_deref() {
                None | Some(Value::Null) => String::new(),
                Some(value) => value.to_string(),
            });
        lines.write_record(cells)?;
    }
    lines.flush()
}

fn write_json(
    columns: &[ResultColumn<'_>],
    rows: usize,
    mut out: &mut dyn Write,
) -> io::Result<()> {
    out.write_all(b"[")?;
    for row in 0..rows {
        out.write_all(if row == 0 { b"\n" } else { b",\n" })?;
        if let [column] = columns {
            write_value(column, row, out)?;
            continue;
        }
        for (at, column) in columns.iter().enumerate() {
            out.write_all(if at == 0 { b"{" } else { b"," })?;
            serde_json::to_writer(&mut out, column.name)?;
            out.write_all(b":")?;
            write_value(column, row, out)?;
        }
        out.write_all(b"}")?;
    }
    out.write_all(b"\n]\n")
}

fn write_value(column: &ResultColumn<'_>, row: usize, out: &mut dyn Write) -> io::Result<()> {
    match column.cell(row) {
        Some(value) => write!(out, "{value}"),
        None => out.write_all(b"null"),
    }
}

fn write_npy(columns: &[ResultColumn<'_>], rows: usize, out: &mut dyn Write) -> io::Result<()> {
    let field = |column: &ResultColumn<'_>| Element::one(numpy(column.kind));
    let dtype = match columns {
        [column] => Dtype::Plain(field(column).kind),
        columns => Dtype::Record(columns.iter().map(|it| (it.name, field(it))).collect()),
    };
    out.write_all(&head(&dtype, &[rows as u64]))?;
    for row in 0..rows {
        for column in columns {
            write_bytes(column.kind, column.cell(row).as_deref(), out)?;
        }
    }
    Ok(())
}

const fn numpy(kind: Kind) -> &'static str {
    match kind {
        Kind::U32 => "<u4",
        Kind::I32 => "<i4",
        Kind::F32 => "<f4",
        Kind::U64 => "<u8",
    }
}

fn write_bytes(kind: Kind, value: Option<&Value>, out: &mut dyn Write) -> io::Result<()> {
    let whole = value.and_then(Value::as_u64).unwrap_or(0);
    match kind {
        Kind::U32 => out.write_all(&(whole as u32).to_le_bytes()),
        Kind::I32 => {
            let signed = value.and_then(Value::as_i64).unwrap_or(0);
            out.write_all(&(signed as i32).to_le_bytes())
        }
        Kind::F32 => {
            let real = value
                .and_then(Value::as_f64)
                .map_or(f32::NAN, |real| real as f32);
            out.write_all(&real.to_le_bytes())
        }
        Kind::U64 => out.write_all(&whole.to_le_bytes()),
    }
}
