//! The bins of a wide push by threads: discoveries, sorted by ranges of nodes.
//!
//! Threads that set bits of one bitset take its cache lines from each other, and a push from some
//! ten thousand nodes of a random graph does so for every edge. So each thread writes the targets
//! of its edges into private bins, one for each range of nodes, and after the next barrier one
//! thread takes the bins of a range and sets bits and marks that no other thread touches
//! (propagation blocking: Beamer, Asanović, Patterson, IPDPS 2017).
//!
//! The bins lie in words of the pushed queue that its entries leave unused. A thread without space
//! marks the rest of its targets in the bitset at once.

use crate::algorithms::bfs::current::Search;
use crate::algorithms::bfs::frontier::NEXT;
use crate::algorithms::bfs::push::Push;
use crate::algorithms::bfs::sink::Sink;
use crate::algorithms::bfs::visit::Discovery;
use crate::collectives::queue::Queue;
use crate::collectives::team::Team;
use crate::machine::Grid;
use crate::machine::memory::Proven;
use seawall_core::abi::search::DriveRecord;

/// Most bins of a thread.
const BINS: usize = 256;

/// Words of a thread's index of bins: begin and end of each.
const BOOK: u32 = 2 * BINS as u32;

/// Least number of edges of a frontier for which bins pay.
pub(crate) const EDGES_LEAST: u32 = 1 << 17;

/// Bits of the number of a node within the smallest range: a range begins with a cache line of a
/// bitset.
const SHIFT_LEAST: u32 = 10;

/// Arrays of a queue.
const ARRAYS: u32 = 3;

/// The bins of all threads between a push and the compaction after it.
#[derive(Clone, Copy)]
pub(crate) struct Bins {
    queue: Queue,
    /// First word of each of the queue's arrays that no entry uses.
    unused: u32,
    /// Words of a thread.
    space: u32,
    threads: u32,
    /// Bits of the number of a node within its range.
    shift: u32,
    /// Number of ranges.
    pub(crate) ranges: u32,
}

impl Bins {
    /// The bins of the push from the frontier that `drive` describes, if it has any.
    #[inline(always)]
    pub(crate) fn of<G: Grid>(
        team: &Team<G>,
        search: &Search,
        drive: &DriveRecord,
    ) -> Option<Self> {
        if !G::TAKES || team.is_alone() || drive.edges < EDGES_LEAST {
            return None;
        }
        let nodes = search.frontier.nodes();
        let space = nodes.saturating_sub(drive.nodes) / team.size().div_ceil(ARRAYS);
        let last = nodes.saturating_sub(1);
        let shift =
            SHIFT_LEAST.max((u32::BITS - last.leading_zeros()).saturating_sub(BINS.ilog2()));
        (space >= 2 * BOOK).then(|| Self {
            queue: search.frontier.queue(drive.queue),
            unused: drive.nodes,
            space,
            threads: team.size(),
            shift,
            ranges: (last >> shift) + 1,
        })
    }

    /// The words of thread `rank`.
    #[inline(always)]
    fn section(&self, rank: u32) -> Proven {
        let array = match rank % ARRAYS {
            0 => self.queue.nodes,
            1 => self.queue.prefix,
            _ => self.queue.starts,
        };
        let first = self.unused + rank / ARRAYS * self.space;
        array.part(u64::from(first), self.space)
    }

    /// The words of a bitset that belong to `range`.
    #[inline(always)]
    pub(crate) fn words(&self, range: u32, bitset_words: u32) -> (u32, u32) {
        let words = 1 << (self.shift - 5);
        (range * words, ((range + 1) * words).min(bitset_words))
    }

    #[inline(always)]
    fn bin_of(&self, node: u32) -> usize {
        (node >> self.shift) as usize % BINS
    }
}

impl Search {
    /// Sorts the targets of the frontier's edges `first..end`, which are this thread's share, into
    /// its bins. With `PARENTS`, each target is followed by its discoverer.
    #[inline(always)]
    pub(crate) fn fill_bins<G: Grid, const PARENTS: bool>(
        &self,
        team: &Team<G>,
        drive: &DriveRecord,
        bins: &Bins,
        first: u32,
        end: u32,
    ) {
        let grid = team.grid;
        let (push, _) = self.aims(drive);
        let own = bins.section(team.rank());
        let entry = 1 + u32::from(PARENTS);
        let full = end.min(first.saturating_add((bins.space - BOOK) / entry));
        let mut places = [0_u32; BINS];
        self.each_row(grid, drive, first, full, |row| {
            for edge in row.first..row.end {
                places[bins.bin_of(self.outgoing.target(grid, edge))] += entry;
            }
        });
        let mut at = BOOK;
        for (bin, place) in (0..).zip(&mut places) {
            own.store_weak(grid, 2 * bin, at);
            (*place, at) = (at, at + *place);
        }
        self.each_row(grid, drive, first, full, |row| {
            for edge in row.first..row.end {
                let node = self.outgoing.target(grid, edge);
                if is_visited(grid, &push, node) {
                    continue;
                }
                let place = &mut places[bins.bin_of(node)];
                own.store_weak(grid, *place, node);
                if PARENTS {
                    own.store_weak(grid, *place + 1, row.node);
                }
                *place += entry;
            }
        });
        for (bin, place) in (0..).zip(places) {
            own.store_weak(grid, 2 * bin + 1, place);
        }
        self.each_row(grid, drive, full, end, |row| {
            for edge in row.first..row.end {
                let node = self.outgoing.target(grid, edge);
                self.take(grid, &push, node, Sink::Bitset, || row.node);
            }
        });
    }

    /// Sets the bits and marks of all targets in the bins of `range`.
    #[inline(always)]
    pub(crate) fn empty_bins<G: Grid, const PARENTS: bool>(
        &self,
        grid: G,
        drive: &DriveRecord,
        bins: &Bins,
        range: u32,
    ) {
        let next = self.frontier.bitset(NEXT);
        // The push has already counted its iteration.
        let level = drive.iteration;
        let entry = 1 + u32::from(PARENTS);
        for rank in 0..bins.threads {
            let section = bins.section(rank);
            let mut at = section.load_weak(grid, 2 * range);
            let end = section.load_weak(grid, 2 * range + 1);
            while at < end {
                let node = section.load_weak(grid, at);
                let bit = 1 << (node & 31);
                let marked = next.load_weak(grid, node >> 5);
                if marked & bit == 0 {
                    next.store_weak(grid, node >> 5, marked | bit);
                    let from = if PARENTS {
                        section.load_weak(grid, at + 1)
                    } else {
                        0
                    };
                    self.visit.discovered(grid, Discovery { node, from, level });
                }
                at += entry;
            }
        }
    }
}

/// Whether `node` was visited before the push.
#[inline(always)]
fn is_visited<G: Grid>(grid: G, push: &Push, node: u32) -> bool {
    push.visited.load_weak(grid, node >> 5) >> (node & 31) & 1 != 0
}
