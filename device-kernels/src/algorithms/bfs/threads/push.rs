//! Push by threads, each along an even share of the frontier's edges.

use super::bins::Bins;
use crate::algorithms::bfs::current::Search;
use crate::algorithms::bfs::shared_drive;
use crate::algorithms::bfs::sink::Sink;
use crate::collectives::context::ContextRef;
use crate::collectives::queue::Held;
use crate::collectives::team::Team;
use crate::machine::Grid;
use crate::operators::advance::Source;
use crate::operators::advance::threads::{Part, Walk, even_share};
use seawall_core::abi::search::DriveRecord;

/// Queued nodes by which a thread prefetches rows.
const ROWS_AHEAD: u32 = 4;

/// Targets in a cache line.
const LINE: u32 = 16;

/// Edges of a row by which a thread prefetches visited words and marks.
const AHEAD: u32 = 8;

/// Pushes along this thread's share.
#[inline(never)]
pub(super) fn push_share<G: Grid>(cx: ContextRef<G>, sink: Sink) {
    let (grid, team) = (cx.grid(), &cx.context().team);
    Search::current(grid).walk_share(team, &shared_drive::read(grid), sink);
}

impl Search {
    /// Walks this thread's even share of the edges row by row.
    #[inline(always)]
    fn walk_share<G: Grid>(&self, team: &Team<G>, drive: &DriveRecord, sink: Sink) {
        let grid = team.grid;
        let (first, end) = even_share(team, drive.edges);
        if let Some(bins) = Bins::of(team, self, drive).filter(|_| sink == Sink::Bitset) {
            return if self.visit.keeps_parents() {
                self.fill_bins::<G, true>(team, drive, &bins, first, end)
            } else {
                self.fill_bins::<G, false>(team, drive, &bins, first, end)
            };
        }
        let (push, target) = self.aims(drive);
        let next = self.frontier.next(target);
        let mut held = Held::default();
        self.each_row(grid, drive, first, end, |row| {
            for edge in row.first..row.end {
                if edge + AHEAD < row.end {
                    let later = self.outgoing.target(grid, edge + AHEAD);
                    push.visited.prefetch(grid, later >> 5);
                    self.visit.prefetch(grid, later);
                }
                let node = self.outgoing.target(grid, edge);
                if self.take(grid, &push, node, sink, || row.node) {
                    held.add(grid, &next, node);
                }
            }
        });
        held.append(grid, &next);
    }

    /// Calls `row` for each queued node that edges `first..end` of the frontier belong to, with
    /// those of its edges.
    #[inline(always)]
    pub(super) fn each_row<G: Grid>(
        &self,
        grid: G,
        drive: &DriveRecord,
        first: u32,
        end: u32,
        mut row: impl FnMut(Part),
    ) {
        let source @ Source { rows, queue, .. } = self.source(drive);
        let mut walk = Walk::of(grid, &source, first, end);
        loop {
            let ahead = walk.ahead(ROWS_AHEAD);
            let Some(part) = walk.next(grid) else { return };
            if let Some(entry) = ahead {
                let later = queue.starts.load_weak(grid, entry);
                rows.prefetch_target(grid, later);
                let next_line = later.saturating_add(LINE).min(rows.edges());
                rows.prefetch_target(grid, next_line);
            }
            row(part);
        }
    }
}
