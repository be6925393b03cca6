//! Ranks by CPU threads, for a chunk of adjacent rows at a time.
//!
//! The sums of all rows of the chunk come first, then the ranks that follow from them, in loops
//! over arrays of the chunk that a compiler turns into vectors. One loop for both would convert
//! each number by itself, with branches, and look up its arrays again for each row.
//!
//! Short rows are summed together: running sums over many edges first, then their differences at
//! the ends of rows, so no branch depends on a row's length. Sums are doubles of whole units, which
//! round nothing.

use crate::algorithms::rank::parts::{Ranks, Tally, Walk};
use crate::algorithms::rank::scale::{Scale, UNITS};
use crate::collectives::context::Context;
use crate::machine::Grid;
use crate::machine::memory::{Csr, Proven};

/// Rows of a chunk.
const ROWS: usize = 128;

/// Edges that are summed together.
const RUN: usize = 508;

/// Sums of a run: one before each edge, and one after the last.
const SUMS: usize = RUN + 4;

/// Edges that are added at a time.
const EACH: usize = 4;

/// Least rest of a row that is summed alone: mispredicting its end costs less than the running sums
/// of so many edges.
const LONG: u32 = 128;

/// Edges that a thread fetches ahead of the ones that it adds.
const AHEAD: u32 = 64;

/// Nodes from which on a thread fetches ahead; the contributions of fewer are in its caches.
const FAR: u32 = 1 << 21;

/// The arrays that ranks are made from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chunks {
    pub(crate) incoming: Csr,
    pub(crate) outgoing: Csr,
    /// Contributions of the iteration before.
    pub(crate) before: Proven,
    pub(crate) made: Ranks,
    pub(crate) walk: Walk,
    /// The share of the walk that starts at each node, unless all are alike.
    pub(crate) starts: Option<Proven>,
}

/// The numbers of a chunk's rows, an array for each kind.
struct Chunk {
    /// Sums of contributions.
    sums: [f32; ROWS],
    /// Old ranks.
    olds: [f32; ROWS],
    /// Shares of the walk that starts at the nodes; 1 where the walk has them in its base.
    starts: [f32; ROWS],
    /// Numbers of outgoing edges.
    degrees: [u32; ROWS],
    ranks: [f32; ROWS],
    shares: [f32; ROWS],
    /// Changes, in units of totals but with a fraction, [`bounded`].
    steps: [f32; ROWS],
    /// Ranks of nodes without edges, likewise.
    lost: [f32; ROWS],
}

impl Chunks {
    /// Makes the ranks of this one-lane block's rows, if doubles hold their sums.
    #[inline(always)]
    pub(crate) fn make_all<G: Grid>(&self, context: &Context<G>) -> Option<Tally> {
        let (team, grid) = (&context.team, context.team.grid);
        if !self.made.scale.fits_doubles() {
            return None;
        }
        let mut tally = Tally::default();
        let mut chunk = Chunk::new();
        let mut running = [0.0; SUMS];
        team.each_range(context.tables.nodes(grid), G::ITEMS, |first, end| {
            let mut row = first;
            while row < end {
                let count = (end - row).min(ROWS as u32);
                self.sum(grid, row, count, &mut running, &mut chunk.sums);
                self.load(grid, row, count, &mut chunk);
                chunk.make(self.walk, self.made.scale);
                self.store(grid, row, count, &chunk);
                tally.add(chunk.tally(count));
                row += count;
            }
        });
        Some(tally)
    }

    /// Sums the contributions of `count` rows from `first` on. The first of the `running` sums
    /// is 0.
    #[inline(always)]
    fn sum<G: Grid>(
        &self,
        grid: G,
        first: u32,
        count: u32,
        running: &mut [f64; SUMS],
        sums: &mut [f32; ROWS],
    ) {
        let [offsets, _] = self.incoming.arrays();
        let ends = offsets.part(u64::from(first) + 1, count);
        let mut at = offsets.constant(grid, first);
        let last = ends.constant(grid, count - 1);
        // The running sum at the start of the row; below 0 if the row started earlier.
        let mut before = 0.0;
        let mut row = 0;
        loop {
            let end = ends.constant(grid, row);
            if end - at >= LONG {
                let sum = self.long(grid, at, end - at) - before;
                sums[row as usize % ROWS] = sum as f32;
                (before, at) = (0.0, end);
                row += 1;
            } else {
                let stop = last.min(at.saturating_add(RUN as u32));
                let total = self.run(grid, at, stop - at, running);
                while row < count {
                    let end = ends.constant(grid, row);
                    if end > stop {
                        break;
                    }
                    let inside = running[(end - at) as usize % SUMS];
                    sums[row as usize % ROWS] = (inside - before) as f32;
                    before = inside;
                    row += 1;
                }
                before -= total;
                at = stop;
            }
            if row >= count {
                return;
            }
        }
    }

    /// Sum of the contributions along `count` edges from `first` on.
    #[inline(always)]
    fn long<G: Grid>(&self, grid: G, first: u32, count: u32) -> f64 {
        let [_, targets] = self.incoming.arrays();
        let coming = self.coming(first, count);
        let targets = targets.part(u64::from(first), count);
        let mut sums = [0.0; EACH];
        let mut at = 0;
        for _ in 0..count / EACH as u32 {
            self.fetch(grid, coming, at);
            let shares = self.shares(grid, targets.part(at, EACH as u32));
            for (sum, share) in sums.iter_mut().zip(shares) {
                *sum += share;
            }
            at += EACH as u64;
        }
        for edge in at as u32..count {
            sums[0] += self.share(grid, targets.constant(grid, edge));
        }
        (sums[0] + sums[1]) + (sums[2] + sums[3])
    }

    /// Stores the running sums of contributions after each of `count` edges from `first` on, and
    /// returns the last one.
    #[inline(always)]
    fn run<G: Grid>(&self, grid: G, first: u32, count: u32, running: &mut [f64; SUMS]) -> f64 {
        let [_, targets] = self.incoming.arrays();
        let coming = self.coming(first, count);
        let targets = targets.part(u64::from(first), count);
        let mut total = 0.0;
        let mut at = 0;
        let fours = running[1..].chunks_exact_mut(EACH);
        for four in fours.take(count as usize / EACH) {
            self.fetch(grid, coming, at);
            let [a, b, c, d] = self.shares(grid, targets.part(at, EACH as u32));
            let sum = a + b;
            // Additions one after another would wait for each other.
            four.copy_from_slice(&[
                total + a,
                total + sum,
                total + (sum + c),
                total + (sum + (c + d)),
            ]);
            total = four[3];
            at += EACH as u64;
        }
        for edge in at as u32..count {
            total += self.share(grid, targets.constant(grid, edge));
            running[(edge + 1) as usize % SUMS] = total;
        }
        total
    }

    /// The edges to fetch ahead of `count` edges from `first` on, if there are so many and
    /// contributions are far.
    #[inline(always)]
    fn coming(&self, first: u32, count: u32) -> Option<Proven> {
        let [_, targets] = self.incoming.arrays();
        let from = u64::from(first) + u64::from(AHEAD);
        let are_there = from + u64::from(count) <= u64::from(targets.len());
        (are_there && self.before.len() >= FAR).then(|| targets.part(from, count))
    }

    /// Fetches the contributions along the next edges from `at` on among `coming` ones.
    #[inline(always)]
    fn fetch<G: Grid>(&self, grid: G, coming: Option<Proven>, at: u64) {
        if let Some(coming) = coming {
            let nodes = coming.part(at, EACH as u32);
            (0..EACH as u32).for_each(|k| self.before.prefetch(grid, nodes.constant(grid, k)));
        }
    }

    /// The contributions of four nodes.
    #[inline(always)]
    fn shares<G: Grid>(&self, grid: G, nodes: Proven) -> [f64; EACH] {
        [0, 1, 2, 3].map(|k| self.share(grid, nodes.constant(grid, k)))
    }

    /// The contribution of `node`.
    #[inline(always)]
    fn share<G: Grid>(&self, grid: G, node: u32) -> f64 {
        f64::from(f32::from_bits(self.before.load_weak(grid, node)))
    }

    /// Loads the old ranks and the degrees of `count` nodes from `first` on.
    #[inline(always)]
    fn load<G: Grid>(&self, grid: G, first: u32, count: u32, chunk: &mut Chunk) {
        let ranks = self.made.ranks.part(u64::from(first), count);
        for (old, node) in chunk.olds.iter_mut().zip(0..count) {
            *old = f32::from_bits(ranks.load_weak(grid, node));
        }
        if let Some(starts) = self.starts {
            let starts = starts.part(u64::from(first), count);
            for (start, node) in chunk.starts.iter_mut().zip(0..count) {
                *start = f32::from_bits(starts.load_weak(grid, node));
            }
        }
        let [offsets, _] = self.outgoing.arrays();
        let offsets = offsets.part(u64::from(first), count + 1);
        let mut start = offsets.constant(grid, 0);
        for (degree, node) in chunk.degrees.iter_mut().zip(0..count) {
            let end = offsets.constant(grid, node + 1);
            *degree = end - start;
            start = end;
        }
    }

    /// Stores the new ranks and contributions of `count` nodes from `first` on.
    #[inline(always)]
    fn store<G: Grid>(&self, grid: G, first: u32, count: u32, chunk: &Chunk) {
        let ranks = self.made.ranks.part(u64::from(first), count);
        for (rank, node) in chunk.ranks.iter().zip(0..count) {
            ranks.store_weak(grid, node, rank.to_bits());
        }
        let shares = self.made.contributions.part(u64::from(first), count);
        for (share, node) in chunk.shares.iter().zip(0..count) {
            shares.store_weak(grid, node, share.to_bits());
        }
    }
}

impl Chunk {
    #[inline(always)]
    fn new() -> Self {
        Self {
            sums: [0.0; ROWS],
            olds: [0.0; ROWS],
            starts: [1.0; ROWS],
            degrees: [0; ROWS],
            ranks: [0.0; ROWS],
            shares: [0.0; ROWS],
            steps: [0.0; ROWS],
            lost: [0.0; ROWS],
        }
    }

    /// Makes ranks and contributions of sums, as `Ranks::make` does for one node. Rows past the
    /// chunk's end may hold anything.
    #[inline(always)]
    fn make(&mut self, walk: Walk, scale: Scale) {
        for row in 0..ROWS {
            let (sum, old, degree) = (self.sums[row], self.olds[row], self.degrees[row]);
            let rank = walk.base * self.starts[row] + walk.damping * sum;
            let share = scale.whole_of_few(rank / degree as f32);
            let passed_on = if degree == 0 { 0 } else { u32::MAX };
            self.ranks[row] = rank;
            self.shares[row] = f32::from_bits(share.to_bits() & passed_on);
            self.steps[row] = bounded((rank - old).abs() * UNITS);
            let lost = bounded(rank * UNITS);
            self.lost[row] = f32::from_bits(lost.to_bits() & !passed_on);
        }
    }

    /// Changes and lost mass of the first `count` rows, in whole units.
    #[inline(always)]
    fn tally(&self, count: u32) -> Tally {
        let mut tally = Tally::default();
        for (step, lost) in self.steps.iter().zip(&self.lost).take(count as usize) {
            tally.add(Tally {
                change: whole(*step),
                dangling: whole(*lost),
            });
        }
        tally
    }
}

/// `units` clamped to the range of rank totals; 0 for NaN.
#[inline(always)]
fn bounded(units: f32) -> f32 {
    const MOST: f32 = 4.0 * UNITS;
    let units = if units > 0.0 { units } else { 0.0 };
    if units < MOST { units } else { MOST }
}

/// `units`, which are [`bounded`], rounded down.
#[inline(always)]
fn whole(units: f32) -> u64 {
    // SAFETY: a number from 0 to 2^62.
    unsafe { units.to_int_unchecked::<i64>() as u64 }
}
