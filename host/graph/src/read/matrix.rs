//! Header of a Matrix Market file: its banner and its size.

use super::dense::{Dense, Part};
use super::fields::Fields;
use super::layout::{Header, Layout, Shape, Values};
use super::quote::quote;
use crate::LineProblem;
use crate::build::{MAX_EDGES, MAX_NODES};

const EXPECTED: &str = "%%MatrixMarket matrix coordinate|array FIELD SYMMETRY";

/// Content of the banner of a Matrix Market file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Matrix {
    is_array: bool,
    is_complex: bool,
    /// The listed part of the matrix; the rest is its mirror image.
    part: Part,
    values: Values,
}

pub(super) fn wrong_banner(line: &[u8]) -> LineProblem {
    LineProblem::Banner {
        value: quote(line),
        expected: EXPECTED,
    }
}

fn unsupported<T>(what: &'static str, value: &str, remedy: &'static str) -> Result<T, LineProblem> {
    Err(LineProblem::Unsupported {
        what,
        value: quote(value.as_bytes()),
        remedy,
    })
}

pub(super) fn banner(line: &[u8], weights: bool) -> Result<Matrix, LineProblem> {
    let text = String::from_utf8_lossy(line).to_ascii_lowercase();
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    let &[_, object, shape, field, symmetry] = &words[..] else {
        return Err(wrong_banner(line));
    };
    if object != "matrix" {
        return unsupported("this Matrix Market object", object, "write a matrix");
    }
    let is_array = match shape {
        "coordinate" => false,
        "array" => true,
        _ => {
            return unsupported(
                "this Matrix Market format",
                shape,
                "use coordinate or array",
            );
        }
    };
    let values = values_of(field, weights)?;
    if is_array && values == Values::Absent {
        return unsupported("an array of this field", field, "write it as coordinate");
    }
    let part = part_of(symmetry)?;
    if part == Part::StrictlyLower && weights && values != Values::Absent {
        return unsupported(
            "this symmetry with weights, of which half are negative",
            symmetry,
            "read it without them",
        );
    }
    Ok(Matrix {
        is_array,
        is_complex: values == Values::Pair,
        part,
        values,
    })
}

fn values_of(field: &str, weights: bool) -> Result<Values, LineProblem> {
    match field {
        "pattern" => Ok(Values::Absent),
        "integer" | "unsigned-integer" | "real" | "double" => Ok(Values::Required),
        "complex" if weights => unsupported(
            "this field as a weight",
            field,
            "use pattern, integer or real, or read it without weights",
        ),
        "complex" => Ok(Values::Pair),
        _ => unsupported(
            "this field type",
            field,
            "use pattern, integer, unsigned-integer, real or complex",
        ),
    }
}

fn part_of(symmetry: &str) -> Result<Part, LineProblem> {
    match symmetry {
        "general" => Ok(Part::Whole),
        "symmetric" | "hermitian" => Ok(Part::Lower),
        "skew-symmetric" => Ok(Part::StrictlyLower),
        _ => unsupported(
            "this symmetry",
            symmetry,
            "use general, symmetric, skew-symmetric or hermitian",
        ),
    }
}

/// Returns the layout by the line of sizes; `None` for a comment before it.
pub(super) fn size(line: &[u8], matrix: Matrix) -> Result<Option<Layout>, LineProblem> {
    if line.is_empty() || line.starts_with(b"%") {
        return Ok(None);
    }
    let mut fields = Fields::new(line);
    let rows = fields.count("the row count", MAX_NODES)?;
    let columns = fields.count("the column count", MAX_NODES)?;
    let dense = Dense {
        nodes: rows,
        part: matrix.part,
        complex: matrix.is_complex,
    };
    let (edges, shape) = if matrix.is_array {
        (dense.values(), Shape::Dense(dense))
    } else {
        let edges = fields.count("the entry count", MAX_EDGES)?;
        (edges, Shape::Edge)
    };
    fields.end()?;
    if rows != columns {
        return Err(LineProblem::NotSquare { rows, columns });
    }
    let header = Header { nodes: rows, edges };
    let symmetric = matrix.part != Part::Whole;
    Ok(Some(Layout {
        shape,
        ..Layout::matrix_market(header, symmetric, matrix.values)
    }))
}
