//! The step from bits to a queue, after a pull or a push into a bitset.

use super::current::Search;
use super::frontier::{NEXT, append};
use super::shared_drive;
use crate::collectives::context::ContextRef;
use crate::collectives::queue::Finds;
use crate::collectives::team::Team;
use crate::cpu::search::bins::Bins;
use crate::machine::Grid;
use seawall_core::abi::search::{DriveRecord, Holder};

/// Queues the frontier's bits and brings the visited bits up to date.
#[inline(never)]
pub fn compact<G: Grid>(cx: ContextRef<G>) {
    Search::current(cx.grid()).compact(&cx.context().team);
}

impl Search {
    #[inline(always)]
    fn compact<G: Grid>(&self, team: &Team<G>) {
        let drive = &shared_drive::read(team.grid);
        let words = self.frontier.bitset_words();
        if G::WARP == 1 {
            return self.compact_alone(team, drive);
        }
        // Lanes of a warp append together, so they stay together.
        let lanes = team.grid.lanes();
        let mut base = team.rank() * lanes;
        while base < words {
            let word = base + team.grid.lane();
            let fresh = self.fresh_bits(team.grid, drive, word.min(words - 1), word < words);
            self.queue_bits(team.grid, drive, word, fresh);
            base += team.size() * lanes;
        }
    }

    /// A one-lane block compacts ranges of words, and empties the bins of the push before.
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

    /// The frontier's bits in `word`, which this lane alone handles.
    #[inline(always)]
    fn fresh_bits<G: Grid>(&self, grid: G, drive: &DriveRecord, word: u32, exists: bool) -> u32 {
        if !exists {
            return 0;
        }
        let visited = self.frontier.bitset(drive.visited);
        let now = visited.load_weak(grid, word);
        if drive.holder == Holder::Visited as u32 {
            let before = self
                .frontier
                .bitset(drive.visited ^ 1)
                .load_weak(grid, word);
            return now & !before;
        }
        let next = self.frontier.bitset(NEXT);
        let marked = next.load_weak(grid, word);
        if marked != 0 {
            next.store_weak(grid, word, 0);
            visited.store_weak(grid, word, now | marked);
        }
        marked & !now
    }

    /// Appends the nodes of `bits`, four at a time, for which a lane has registers.
    #[inline(always)]
    fn queue_bits<G: Grid>(&self, grid: G, drive: &DriveRecord, word: u32, bits: u32) {
        let target = self.target(drive);
        let mut bits = bits;
        while grid.ballot(bits != 0) != 0 {
            let mut finds = Finds {
                nodes: [0; 4],
                mask: 0,
            };
            for k in 0..4 {
                if bits != 0 {
                    finds.nodes[k] = word * 32 + bits.trailing_zeros();
                    finds.mask |= 1 << k;
                    bits &= bits - 1;
                }
            }
            append(grid, self.frontier, target, &finds);
        }
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
