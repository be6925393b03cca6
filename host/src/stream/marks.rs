//! Rows that have work, and their windows.
//!
//! A row within one window has one bit. A row that a border of windows cuts has a bit in each of
//! its windows, so that its parts are handled separately: a border cuts one row, so two bits for
//! each window suffice. A window with any of these bits has one itself; a pass skips all others.

use super::bits::{Bits, Sparse};
use super::view::View;
use super::windows::Windows;
use crate::graph::disk::Rows;
use crate::graph::memory::Shortage;
use std::ops::Range;

/// The rows that have work.
pub(super) struct Marks<'a> {
    rows: &'a Rows,
    windows: &'a Windows,
    /// Rows within one window.
    inner: Sparse,
    /// Windows whose first row began earlier and has work here.
    entering: Bits,
    /// Windows whose last row continues and has work here.
    leaving: Bits,
    /// Windows with work.
    active: Bits,
}

impl<'a> Marks<'a> {
    pub(super) const fn bytes(rows: u32, windows: u64) -> u64 {
        Sparse::bytes(rows as u64) + 3 * Bits::bytes(windows)
    }

    pub(super) fn new(rows: &'a Rows, windows: &'a Windows) -> Result<Self, Shortage> {
        let count = windows.len();
        Ok(Self {
            rows,
            windows,
            inner: Sparse::new(rows.len() as usize)?,
            entering: Bits::new(count)?,
            leaving: Bits::new(count)?,
            active: Bits::new(count)?,
        })
    }

    /// Marks a row in all its windows; a row without edges has none.
    #[inline]
    pub(super) fn add(&self, row: u32) {
        let edges = self.rows.row(row);
        if edges.is_empty() {
            return;
        }
        let Range { start, end } = self.windows.of_row(&edges);
        if start + 1 == end {
            self.inner.set(row as usize);
        } else {
            self.leaving.set(start);
            (start + 1..end).for_each(|window| self.entering.set(window));
        }
        (start..end).for_each(|window| self.active.set(window));
    }

    /// Returns whether a window has work.
    pub(super) fn is_active(&self, window: usize) -> bool {
        self.active.has(window)
    }

    /// Returns whether there is no work.
    pub(super) fn is_empty(&self) -> bool {
        self.active.is_empty()
    }

    /// Takes the work of a window, including work that it creates, until there is none or the run
    /// is over: calls `take` with each row and the indices of its edges.
    pub(super) fn take<E>(
        &self,
        view: &View<'_>,
        is_over: &dyn Fn() -> bool,
        mut take: impl FnMut(u32, Range<usize>) -> Result<(), E>,
    ) -> Result<(), E> {
        let window = view.window;
        while !is_over() && self.active.take(window) {
            let first = view.rows.start;
            if self.entering.take(window) {
                take(first, view.row(first))?;
            }
            // The last row continues in the next window, or has its bit there.
            let last = self.windows.rows(window).end - 1;
            self.inner.take_each(first as usize..last as usize, |row| {
                let row = row as u32;
                take(row, view.row(row))
            })?;
            if self.leaving.take(window) {
                take(last, view.row(last))?;
            }
        }
        Ok(())
    }
}
