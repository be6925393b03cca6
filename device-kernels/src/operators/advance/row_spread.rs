//! Rows of a warp's lanes, one each, whose entries all lanes share evenly.
//!
//! The rows lie one after another in a list of entries. In a step each lane takes an entry, and
//! adjacent lanes take adjacent entries: a window of the list, in which the entries of a row belong
//! to adjacent lanes.

use crate::collectives::block::warp_scan;
use crate::machine::Grid;

/// The rows in their list.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowSpread {
    /// Entries before this lane's row.
    pub(crate) start: u32,
    /// Entries of all rows.
    pub(crate) total: u32,
}

/// An entry of the list.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spot {
    /// The lane whose row it is in.
    pub(crate) lane: u32,
    /// Its place in that row.
    pub(crate) at: u32,
    /// Whether there is such an entry.
    pub(crate) exists: bool,
}

impl RowSpread {
    /// Puts `len` entries of this lane's row after those of the lanes below. A warp
    /// operation.
    #[inline(always)]
    pub(crate) fn of<G: Grid>(grid: G, len: u32) -> Self {
        let (start, total) = warp_scan(grid, len);
        Self { start, total }
    }

    /// This lane's entry of window `k` from `step` on. A warp operation.
    #[inline(always)]
    pub(crate) fn spot<G: Grid>(&self, grid: G, step: u32, k: u32) -> Spot {
        let value = step + k * G::WARP + grid.warp_lane();
        let lane = owner(grid, self.start, value);
        Spot {
            lane,
            at: value.wrapping_sub(grid.shuffle(self.start, lane)),
            exists: value < self.total,
        }
    }
}

/// The lanes that take entries before entry `end`, in the window from entry `base` on.
#[inline(always)]
pub(crate) fn lanes_before<G: Grid>(end: u32, base: u32) -> u32 {
    ((1_u64 << end.saturating_sub(base).min(G::WARP)) - 1) as u32
}

/// The last lane whose `start` is at most `value`; starts ascend from 0 on.
#[inline(always)]
pub(crate) fn owner<G: Grid>(grid: G, start: u32, value: u32) -> u32 {
    let (mut low, mut half) = (0, G::WARP / 2);
    while half > 0 {
        if grid.shuffle(start, low + half) <= value {
            low += half;
        }
        half /= 2;
    }
    low
}
