//! The results of a program as a file: a row for each number of a value, a column for each result.

use std::io::{self, Write};

use npyz::{DType, Field, TypeStr, WriterBuilder};
use serde_json::Value;

use crate::program::ProgramFailure;
use crate::report::table::RowFormat;
use seawall::program::{Kind, TextResult};

/// Name of the first column, the number of the value.
const INDEX: &str = "index";

/// A result: its name, its kind, its values; a float that is no number is null.
pub(super) struct ResultColumn<'a> {
    pub(super) name: &'a str,
    pub(super) kind: Kind,
    pub(super) values: &'a [Value],
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
    format: RowFormat,
) -> Result<(), ProgramFailure> {
    let [first, ..] = results else {
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

/// Writes all rows, as many as the longest result has values. Where a shorter one ends, cells are
/// empty, or null.
pub(super) fn write(
    columns: &[ResultColumn<'_>],
    format: RowFormat,
    out: &mut dyn Write,
) -> io::Result<()> {
    match format {
        RowFormat::Csv => write_csv(columns, out),
        RowFormat::Json => write_json(columns, out),
        RowFormat::Npy => write_npy(columns, out),
    }
}

fn rows(columns: &[ResultColumn<'_>]) -> usize {
    let lengths = columns.iter().map(|column| column.values.len());
    lengths.max().unwrap_or(0)
}

fn write_csv(columns: &[ResultColumn<'_>], out: &mut dyn Write) -> io::Result<()> {
    let mut lines = csv::Writer::from_writer(out);
    let names = columns.iter().map(|column| column.name);
    lines.write_record(std::iter::once(INDEX).chain(names))?;
    for row in 0..rows(columns) {
        let cells = columns.iter().map(|column| match column.values.get(row) {
            None | Some(Value::Null) => String::new(),
            Some(value) => value.to_string(),
        });
        lines.write_record(std::iter::once(row.to_string()).chain(cells))?;
    }
    lines.flush()
}

fn write_json(columns: &[ResultColumn<'_>], mut out: &mut dyn Write) -> io::Result<()> {
    out.write_all(b"[")?;
    for row in 0..rows(columns) {
        let between = if row == 0 { "" } else { "," };
        write!(out, "{between}\n{{\"{INDEX}\":{row}")?;
        for column in columns {
            out.write_all(b",")?;
            serde_json::to_writer(&mut out, column.name)?;
            let value = column.values.get(row).unwrap_or(&Value::Null);
            write!(out, ":{value}")?;
        }
        out.write_all(b"}")?;
    }
    out.write_all(b"\n]\n")
}

fn write_npy(columns: &[ResultColumn<'_>], mut out: &mut dyn Write) -> io::Result<()> {
    let field = |name: &str, kind: &str| {
        let dtype: TypeStr = kind.parse().map_err(io::Error::other)?;
        Ok::<_, io::Error>(Field {
            name: name.to_owned(),
            dtype: DType::Plain(dtype),
        })
    };
    let mut fields = vec![field(INDEX, "<u8")?];
    for column in columns {
        fields.push(field(column.name, numpy(column.kind))?);
    }
    let count = rows(columns);
    npyz::WriteOptions::new_header_only()
        .dtype(DType::Record(fields))
        .shape(&[count as u64])
        .writer(&mut out)
        .write_header_only()?;
    for row in 0..count {
        out.write_all(&(row as u64).to_le_bytes())?;
        for column in columns {
            write_bytes(column.kind, column.values.get(row), out)?;
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
