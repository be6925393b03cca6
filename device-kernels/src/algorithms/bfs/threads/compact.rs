//! The step from bits to a queue by threads, for ranges of words.

use super::bins::Bins;
use crate::algorithms::bfs::current::Search;
use crate::algorithms::bfs::frontier::NEXT;
use crate::algorithms::bfs::shared_drive;
use crate::collectives::context::ContextRef;
use crate::collectives::team::Team;
use crate::machine::Grid;
use seawall_core::abi::search::{DriveRecord, Holder};

/// Queues the frontier's bits and brings the visited bits up to date.
#[inline(never)]
pub(super) fn compact<G: Grid>(cx: ContextRef<G>) {
    let grid = cx.grid();
    Search::current(grid).compact_alone(&cx.context().team, &shared_drive::read(grid));
}

impl Search {
    /// Compacts ranges of words, and empties the bins of the push before.
    #[inline(always)]
    fn compact_alone<G: Grid>(&self, team: &Team<G>, drive: &DriveRecord) {
        let words = self.frontier.bitset_words();
        let is_marked = drive.holder == Holder::Next as u32;
        if let Some(bins) = Bins::of(team, self, drive).filter(|_| is_marked) {
            team.each_dealt(bins.ranges, |range| {
                if self.visit.keeps_parents() {
                    self.empty_bins::<G, true>(team.grid, drive, &bins, range);
                } else {
                    self.empty_bins::<G, false>(team.grid, drive, &bins, range);
                }
                let (first, end) = bins.words(range, words);
                self.queue_range(team.grid, drive, first, end);
            });
            return;
        }
        team.each_range(words, G::ITEMS, |first, end| {
            self.queue_range(team.grid, drive, first, end);
        });
    }

    /// Appends the nodes of words `first..end` with one atomic addition.
    #[inline(always)]
    fn queue_range<G: Grid>(&self, grid: G, drive: &DriveRecord, first: u32, end: u32) {
        let target = self.target(drive);
        let (mut nodes, mut edges) = (0_u32, 0_u32);
        for word in first..end {
            for node in nodes_of(word, self.new_bits(grid, drive, word)) {
                let (start, stop) = target.rows.row(grid, node);
                nodes += u32::from(start != stop);
                edges = edges.wrapping_add(stop - start);
            }
        }
        let (mut place, mut prefix) = (0, 0);
        if nodes != 0 {
            (place, prefix) = self.frontier.allocate(grid, target.step, nodes, edges);
        }
        let queue = self.frontier.queue(target.parity);
        for word in first..end {
            for node in nodes_of(word, self.fresh_bits(grid, drive, word, true)) {
                let (start, stop) = target.rows.row(grid, node);
                if start == stop {
                    continue;
                }
                queue.nodes.store_weak(grid, place, node);
                queue.prefix.store_weak(grid, place, prefix);
                queue.starts.store_weak(grid, place, start);
                place += 1;
                prefix = prefix.wrapping_add(stop - start);
            }
        }
    }

    /// The frontier's bits in `word`.
    #[inline(always)]
    fn new_bits<G: Grid>(&self, grid: G, drive: &DriveRecord, word: u32) -> u32 {
        let now = self.frontier.bitset(drive.visited).load_weak(grid, word);
        if drive.holder == Holder::Visited as u32 {
            let before = self.frontier.bitset(drive.visited ^ 1);
            return now & !before.load_weak(grid, word);
        }
        self.frontier.bitset(NEXT).load_weak(grid, word) & !now
    }
}

/// The nodes of `bits` of a bitset's word.
#[inline(always)]
fn nodes_of(word: u32, mut bits: u32) -> impl Iterator<Item = u32> {
    core::iter::from_fn(move || {
        let bit = (bits != 0).then(|| bits.trailing_zeros())?;
        bits &= bits - 1;
        Some(word * 32 + bit)
    })
}
