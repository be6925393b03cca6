//! Row offsets of 64 bits, in 32 bits each.
//!
//! A row is shorter than 2^32 edges, since its targets differ. So the low halves of the row offsets
//! determine all but where the high half grows, and it grows once for each 2^32 edges.

use crate::memory::{self, Shortage};
use std::ops::Range;

/// Row offsets of a graph with any number of edges.
///
/// ```
/// use seawall_graph::disk::Rows;
///
/// let rows = Rows::collect(3, [0, 3, 3, 1 << 31].into_iter()).unwrap();
/// assert_eq!(rows.row(2), 3..1 << 31);
/// assert_eq!(rows.row_of(3), 2);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Rows {
    /// Low halves, one more than there are rows.
    lows: Vec<u32>,
    /// Rows at which the high half grows by one.
    wraps: Vec<u32>,
    last: u64,
}

/// An offset that is out of order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowError {
    /// The first offset is not 0, an offset is below the previous one, or a row has 2^32 edges.
    Order {
        /// The row.
        row: u64,
        /// Its offset.
        start: u64,
    },
    /// There is no memory for the offsets.
    Memory(Shortage),
}

impl Rows {
    /// Collects the offsets of `rows` rows and the end of the last one.
    ///
    /// # Errors
    /// [`RowError`].
    pub fn collect(rows: u32, starts: impl Iterator<Item = u64>) -> Result<Self, RowError> {
        let mut all = Self::with_space(rows)?;
        for start in starts {
            all.push(start)?;
        }
        Ok(all)
    }

    /// The offsets of rows of as many edges each.
    ///
    /// # Errors
    /// [`Shortage`].
    pub fn of_degrees(degrees: &[u32]) -> Result<Self, Shortage> {
        let mut sum = 0_u64;
        let ends = degrees.iter().map(|degree| {
            sum += u64::from(*degree);
            sum
        });
        let rows = Self::collect(degrees.len() as u32, [0].into_iter().chain(ends));
        rows.map_err(|error| match error {
            RowError::Memory(short) => short,
            // Sums of degrees ascend.
            RowError::Order { .. } => Shortage {
                needed: u64::MAX,
                available: 0,
            },
        })
    }

    pub(super) fn with_space(rows: u32) -> Result<Self, RowError> {
        let mut lows = Vec::new();
        memory::reserve_exact(&mut lows, rows as usize + 1).map_err(RowError::Memory)?;
        Ok(Self {
            lows,
            ..Self::default()
        })
    }

    /// Adds the offset of the next row.
    pub(super) fn push(&mut self, start: u64) -> Result<(), RowError> {
        let row = self.lows.len();
        let is_first = row == 0;
        let step = start.checked_sub(self.last);
        let fits = step.is_some_and(|step| step <= u64::from(u32::MAX));
        if !fits || (is_first && start != 0) {
            let row = row as u64;
            return Err(RowError::Order { row, start });
        }
        if start >> 32 != self.last >> 32 {
            self.wraps.push(row as u32);
        }
        self.lows.push(start as u32);
        self.last = start;
        Ok(())
    }

    /// Low halves of the offsets and of the end of the last row, and the rows at which the high
    /// half grows by one.
    #[must_use]
    pub fn halves(&self) -> (&[u32], &[u32]) {
        (&self.lows, &self.wraps)
    }

    /// Number of rows.
    #[must_use]
    pub fn len(&self) -> u32 {
        self.lows.len().saturating_sub(1) as u32
    }

    /// Returns whether there are no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of edges of all rows.
    #[must_use]
    pub fn edges(&self) -> u64 {
        self.last
    }

    /// Offset of a row, or the end of the last one; the number of edges beyond that.
    #[inline]
    #[must_use]
    pub fn start(&self, row: u32) -> u64 {
        let Some(&low) = self.lows.get(row as usize) else {
            return self.last;
        };
        if self.wraps.is_empty() {
            return u64::from(low);
        }
        let high = self.wraps.partition_point(|wrap| *wrap <= row);
        u64::from(low) | (high as u64) << 32
    }

    /// The edges of a row; none if there is no such row.
    #[inline]
    #[must_use]
    pub fn row(&self, row: u32) -> Range<u64> {
        self.start(row)..self.start(row.saturating_add(1))
    }

    /// Number of edges of a row.
    #[inline]
    #[must_use]
    pub fn degree(&self, row: u32) -> u32 {
        let row = self.row(row);
        (row.end - row.start) as u32
    }

    /// The row that holds an edge; the number of rows if none does.
    #[must_use]
    pub fn row_of(&self, edge: u64) -> u32 {
        if edge >= self.last {
            return self.len();
        }
        let (mut low, mut high) = (0, self.len());
        // Row `low` starts at or before the edge, row `high` after it.
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if self.start(middle) <= edge {
                low = middle;
            } else {
                high = middle;
            }
        }
        low
    }

    /// Bytes of memory that the offsets of `rows` rows take.
    #[must_use]
    pub const fn bytes(rows: u32) -> u64 {
        4 * (rows as u64 + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Offsets that pass 2^32 twice, with empty rows around each multiple.
    const FAR: [u64; 9] = [
        0,
        7,
        (1 << 32) - 1,
        (1 << 32) - 1,
        1 << 32,
        1 << 32,
        (1 << 33) - 2,
        (1 << 33) + 5,
        (1 << 33) + 5,
    ];

    #[test]
    fn starts_of_64_bits_read_back() {
        let rows = Rows::collect(8, FAR.into_iter()).unwrap();
        assert_eq!((rows.len(), rows.edges()), (8, FAR[8]));
        for (row, start) in (0..).zip(FAR) {
            assert_eq!(rows.start(row), start, "row {row}");
        }
        assert_eq!(rows.row(6), (1 << 33) - 2..(1 << 33) + 5);
        assert_eq!((rows.degree(6), rows.row(8).is_empty()), (7, true));
    }

    #[test]
    fn the_row_of_an_edge_holds_it() {
        let rows = Rows::collect(8, FAR.into_iter()).unwrap();
        for row in 0..8 {
            let edges = rows.row(row);
            if let Some(last) = edges.end.checked_sub(1).filter(|_| !edges.is_empty()) {
                let found = [edges.start, last].map(|edge| rows.row_of(edge));
                assert_eq!(found, [row, row]);
            }
        }
        assert_eq!(rows.row_of(FAR[8]), 8);
        assert_eq!(Rows::default().row_of(0), 0);
    }

    #[test]
    fn starts_out_of_order_are_refused() {
        for (starts, row) in [
            (vec![1], 0),
            (vec![0, 5, 4], 2),
            (vec![0, 1 << 32], 1),
            (vec![0, u64::MAX], 1),
        ] {
            let found = Rows::collect(3, starts.iter().copied()).unwrap_err();
            let start = *starts.last().unwrap();
            assert_eq!(found, RowError::Order { row, start });
        }
    }
}
