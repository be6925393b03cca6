//! Matrix Market arrays: every value of a matrix, column after column, one per line.
//!
//! A value that is not zero is an edge. A piece of the file knows only how many values it holds,
//! so its edges carry the position of their value within the piece. A [`Cursor`] turns positions
//! into rows and columns when the pieces are joined.

use super::fields::Fields;
use super::parsed::Parsed;
use crate::LineProblem;

/// The listed part of a matrix with `nodes` rows and columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Dense {
    pub(super) nodes: u64,
    pub(super) part: Part,
    /// Whether a value is two numbers.
    pub(super) complex: bool,
}

/// Selection of the listed values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// All.
    Whole,
    /// On the diagonal and below it.
    Lower,
    /// Below the diagonal.
    StrictlyLower,
}

impl Dense {
    pub(super) fn values(&self) -> u64 {
        match self.part {
            Part::Whole => self.nodes * self.nodes,
            Part::Lower => self.nodes * (self.nodes + 1) / 2,
            Part::StrictlyLower => self.nodes * self.nodes.saturating_sub(1) / 2,
        }
    }

    fn first_row(&self, column: u64) -> u64 {
        match self.part {
            Part::Whole => 0,
            Part::Lower => column,
            Part::StrictlyLower => column + 1,
        }
    }
}

pub(super) fn line<const N: usize>(
    fields: &mut Fields<'_>,
    dense: &Dense,
    parsed: &mut Parsed<N>,
) -> Result<(), LineProblem> {
    let mut weight = *fields;
    let mut is_zero = fields.is_zero_value()?;
    if dense.complex {
        is_zero &= fields.is_zero_value()?;
    }
    if !is_zero {
        let mut edge = [0u32; N];
        // A piece has no more lines than bytes, and 32 bits count its bytes.
        edge[0] = parsed.listed as u32;
        if N == 3 {
            let rounded;
            (edge[N - 1], rounded) = parsed.weight(&mut weight)?;
            parsed.rounded += u64::from(rounded);
        }
        parsed.edges.push(edge);
    }
    fields.end()?;
    parsed.listed += 1;
    Ok(())
}

/// Walks through the columns as positions ascend.
#[derive(Debug, Default)]
pub(super) struct Cursor {
    column: u64,
    /// Position of the first value of the column.
    first: u64,
}

impl Cursor {
    /// Returns the row and column of the value at a position, which must not be before the last
    /// one requested.
    pub(super) fn place(&mut self, dense: &Dense, position: u64) -> [u32; 2] {
        loop {
            let first_row = dense.first_row(self.column);
            let height = dense.nodes.saturating_sub(first_row);
            let down = position - self.first;
            // A position beyond the matrix was refused by the count of values.
            if down < height || self.column >= dense.nodes {
                return [(first_row + down) as u32, self.column as u32];
            }
            self.first += height;
            self.column += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_become_rows_and_columns() {
        let cases = [
            (
                Part::Whole,
                vec![
                    [0, 0],
                    [1, 0],
                    [2, 0],
                    [0, 1],
                    [1, 1],
                    [2, 1],
                    [0, 2],
                    [1, 2],
                    [2, 2],
                ],
            ),
            (
                Part::Lower,
                vec![[0, 0], [1, 0], [2, 0], [1, 1], [2, 1], [2, 2]],
            ),
            (Part::StrictlyLower, vec![[1, 0], [2, 0], [2, 1]]),
        ];
        for (part, expected) in cases {
            let dense = Dense {
                nodes: 3,
                part,
                complex: false,
            };
            let mut cursor = Cursor::default();
            let places: Vec<_> = (0..dense.values())
                .map(|position| cursor.place(&dense, position))
                .collect();
            assert_eq!(places, expected);
        }
    }
}
