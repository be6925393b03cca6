//! Shares of a team's work for each lane.

use super::members::Team;
use crate::grid::Grid;
use crate::shared::PIECES;

/// Shares of dealt work per block: enough that all blocks end at about the same time.
const PIECES_EACH: u32 = 16;

impl<G: Grid> Team<G> {
    /// Calls `item` for this lane's share of `0..count`.
    #[inline(always)]
    pub fn each(&self, count: u32, mut item: impl FnMut(u32)) {
        let lanes = self.grid.lanes();
        let tile = u64::from(lanes * G::ITEMS);
        let mut base = u64::from(self.rank) * tile;
        while base < u64::from(count) {
            if G::ITEMS == 1 {
                let index = base as u32 + self.grid.lane();
                if index < count {
                    item(index);
                }
            } else {
                let end = (base + tile).min(u64::from(count)) as u32;
                for index in base as u32..end {
                    item(index);
                }
            }
            base += u64::from(self.size) * tile;
        }
    }

    /// Calls `item` for each of `0..count`, in some lane. On a grid that deals work,
    /// faster blocks take more of a long count; so unlike with [`Team::each`], nobody may
    /// rely on which lane gets an item.
    ///
    /// Use it for items that take long, such as rows of edges. Sweeps over words use
    /// [`Team::each`]: a thread that gets the same words each time finds them in its
    /// caches.
    #[inline(always)]
    pub fn each_taken(&self, count: u32, mut item: impl FnMut(u32)) {
        if !self.takes(count) {
            return self.each(count, item);
        }
        self.each_range(count, G::ITEMS, |first, end| {
            for index in first..end {
                item(index);
            }
        });
    }

    /// Whether blocks ask for shares of `count` items. Taking a share costs as much as a
    /// few rows, so a share must hold many.
    #[inline(always)]
    fn takes(&self, count: u32) -> bool {
        const LEAST: u32 = 64;
        G::TAKES && self.size != 1 && count / self.size.saturating_mul(PIECES_EACH) >= LEAST
    }

    /// [`Team::each_taken`] for up to `most` neighbouring items at a time, in teams of
    /// one-lane blocks.
    #[inline(always)]
    pub fn each_range(&self, count: u32, most: u32, mut range: impl FnMut(u32, u32)) {
        if !self.takes(count) {
            let even = |rank: u32| u64::from(count) * u64::from(rank) / u64::from(self.size);
            return range(even(self.rank) as u32, even(self.rank + 1) as u32);
        }
        let even = count / self.size.saturating_mul(PIECES_EACH);
        let items = u64::from(even.min(most));
        let piece = PIECES.load(self.grid).wrapping_add(1);
        PIECES.store(self.grid, piece);
        loop {
            let first = u64::from(self.grid.take(piece)) * items;
            if first >= u64::from(count) {
                return;
            }
            let end = (first + items).min(u64::from(count));
            range(first as u32, end as u32);
        }
    }

    /// Calls `items` for this lane's share of `0..count`, `K` items at a time, so that
    /// their loads are in flight together. If a lane has fewer left, the other items are
    /// not below `count`. Few items go to many blocks. Which lane gets an item depends on
    /// the team and on `count` alone.
    #[inline(always)]
    pub fn each_of<const K: usize>(&self, count: u32, mut items: impl FnMut(&[u32; K])) {
        if G::ITEMS != 1 {
            // Neighbouring items, in one share per block.
            let share = count.div_ceil(self.size);
            let first = self.rank.saturating_mul(share).min(count);
            for item in first..first.saturating_add(share).min(count) {
                let mut some = [u32::MAX; K];
                some[0] = item;
                items(&some);
            }
            return;
        }
        let warp = self.grid.lane() / G::WARP * self.size + self.rank;
        let stride = self.size * self.grid.lanes();
        let mut next = warp * G::WARP + self.grid.warp_lane();
        while next < count {
            let mut some = [u32::MAX; K];
            for item in &mut some {
                if next < count {
                    *item = next;
                }
                next = next.saturating_add(stride);
            }
            items(&some);
        }
    }
}
