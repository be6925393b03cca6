//! Shares of a team's work for each lane.

use super::members::Team;
use crate::machine::Grid;
use crate::machine::shared::PIECES;
use seawall_core::abi::control::FaultCode;

/// Shares of dealt work per block: enough that all blocks end at about the same time.
const PIECES_EACH: u32 = 16;

/// Items that a one-lane block takes between two reads of the clock. A read takes some 30 ns, and
/// this many of the lightest items some microseconds.
const ITEMS_PER_LOOK: u32 = 4096;

impl<G: Grid> Team<G> {
    /// Whether a one-lane block leaves the rest of its share: the run's time is over, which this
    /// then reports, or the run was stopped. The next barrier ends the run, so the unfinished
    /// results are never read. Always `false` on a GPU, where a wave takes milliseconds and is
    /// finished.
    #[inline(always)]
    fn gives_up(&self) -> bool {
        if G::ITEMS == 1 {
            return false;
        }
        if !self.control.is_stopped(self.grid) {
            if !self.is_late() {
                return false;
            }
            let point = self.control.noted_point(self.grid);
            self.control.fault(self.grid, FaultCode::TimeBudget, point);
        }
        true
    }

    /// Calls `range` for consecutive parts of `from..end`, in a one-lane block that may stop
    /// between them.
    #[inline(always)]
    fn in_parts(&self, from: u32, end: u32, mut range: impl FnMut(u32, u32)) {
        let mut first = from;
        while first < end {
            let last = end.min(first.saturating_add(ITEMS_PER_LOOK));
            range(first, last);
            first = last;
            if first < end && self.gives_up() {
                return;
            }
        }
    }

    /// Calls `item` for this lane's share of `0..count`.
    #[inline(always)]
    pub fn each(&self, count: u32, mut item: impl FnMut(u32)) {
        let lanes = self.grid.lanes();
        let tile = u64::from(lanes * G::ITEMS);
        let mut base = u64::from(self.rank) * tile;
        let mut done = 0_u32;
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
            done = done.wrapping_add(G::ITEMS);
            if done.is_multiple_of(ITEMS_PER_LOOK) && self.gives_up() {
                return;
            }
        }
    }

    /// Calls `item` for each of `0..count`, in some lane. On a grid that deals work, faster blocks
    /// take more of a long count; so unlike with [`Team::each`], callers must not rely on which
    /// lane gets an item.
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

    /// Calls `item` for this warp's share of `0..count`, in all of its lanes; one-lane blocks take
    /// their shares as by [`Team::each_taken`].
    #[inline(always)]
    pub fn each_by_warp(&self, count: u32, mut item: impl FnMut(u32)) {
        if G::WARP == 1 {
            return self.each_taken(count, item);
        }
        let (warp, warps) = self.warps();
        let mut at = warp;
        while at < count {
            item(at);
            at = at.saturating_add(warps);
        }
    }

    /// [`Team::each_taken`] in two steps: on a GPU, the loads of `fetch` for an item are in flight
    /// while a lane works on its previous item. `fetch` must not depend on what `item` does to
    /// other items, and a lane's last item may be fetched more than once.
    #[inline(always)]
    pub fn each_ahead<T>(
        &self,
        count: u32,
        fetch: impl Fn(u32) -> T,
        mut item: impl FnMut(u32, T),
    ) {
        if G::ITEMS != 1 {
            return self.each_taken(count, |index| item(index, fetch(index)));
        }
        let stride = self.size * self.grid.lanes();
        let mut index = self.rank * self.grid.lanes() + self.grid.lane();
        if index >= count {
            return;
        }
        let mut fetched = fetch(index);
        loop {
            let goes_on = count - index > stride;
            let next = if goes_on { index + stride } else { index };
            let coming = fetch(next);
            item(index, fetched);
            if !goes_on {
                return;
            }
            (index, fetched) = (next, coming);
        }
    }

    /// Whether blocks ask for shares of `count` items. Taking a share costs as much as a
    /// few rows, so a share must hold many.
    #[inline(always)]
    fn takes(&self, count: u32) -> bool {
        const LEAST: u32 = 64;
        G::TAKES && self.size != 1 && count / self.size.saturating_mul(PIECES_EACH) >= LEAST
    }

    /// [`Team::each_taken`] for up to `most` adjacent items at a time, in teams of
    /// one-lane blocks.
    #[inline(always)]
    pub fn each_range(&self, count: u32, most: u32, range: impl FnMut(u32, u32)) {
        if !self.takes(count) {
            let even = |rank: u32| u64::from(count) * u64::from(rank) / u64::from(self.size);
            let (first, end) = (even(self.rank) as u32, even(self.rank + 1) as u32);
            return self.in_parts(first, end, range);
        }
        let even = count / self.size.saturating_mul(PIECES_EACH);
        self.deal(count, even.min(most), range);
    }

    /// Calls `item` for each of `0..count`, dealt one by one to teams of one-lane blocks that deal
    /// work, for few items that take very long.
    #[inline(always)]
    pub fn each_dealt(&self, count: u32, mut item: impl FnMut(u32)) {
        if !G::TAKES || self.size == 1 {
            return self.each(count, item);
        }
        self.deal(count, 1, |first, _| item(first));
    }

    /// Calls `range` for runs of `items` of `0..count`, of which faster blocks take more.
    #[inline(always)]
    fn deal(&self, count: u32, items: u32, mut range: impl FnMut(u32, u32)) {
        let items = u64::from(items);
        let piece = PIECES.load(self.grid).wrapping_add(1);
        PIECES.store(self.grid, piece);
        loop {
            let first = u64::from(self.grid.take(piece)) * items;
            if first >= u64::from(count) {
                return;
            }
            let end = (first + items).min(u64::from(count));
            range(first as u32, end as u32);
            if self.gives_up() {
                return;
            }
        }
    }

    /// [`Team::each_taken`], on a GPU `K` items at a time as by [`Team::each_of`]. Missing
    /// items are not below `count`.
    #[inline(always)]
    pub fn each_taken_of<const K: usize>(&self, count: u32, mut items: impl FnMut(&[u32; K])) {
        if G::ITEMS == 1 {
            return self.each_of(count, items);
        }
        self.each_taken(count, |item| {
            let mut some = [u32::MAX; K];
            some[0] = item;
            items(&some);
        });
    }

    /// Calls `items` for this lane's share of `0..count`, `K` items at a time, so that their loads
    /// are in flight together. If a lane has fewer left, the other items are not below `count`. Few
    /// items go to many blocks. Which lane gets an item depends only on the team and on `count`.
    #[inline(always)]
    pub fn each_of<const K: usize>(&self, count: u32, mut items: impl FnMut(&[u32; K])) {
        if G::ITEMS != 1 {
            // Adjacent items, in one share per block.
            let share = count.div_ceil(self.size);
            let first = self.rank.saturating_mul(share).min(count);
            let end = first.saturating_add(share).min(count);
            return self.in_parts(first, end, |first, end| {
                for item in first..end {
                    let mut some = [u32::MAX; K];
                    some[0] = item;
                    items(&some);
                }
            });
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
