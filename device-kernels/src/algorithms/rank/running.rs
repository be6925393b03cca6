//! Sums of rows by CPU threads.
//!
//! Short rows are summed together: running sums over many edges first, then their differences at
//! the ends of rows, so no branch depends on a row's length: on roads, a processor would mispredict
//! at every node. Sums are doubles of whole units, which round nothing.

use crate::machine::Grid;
use crate::machine::memory::{Csr, Proven};

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

/// Rows of incoming edges, and the contributions along them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RunningSums {
    pub(crate) rows: Csr,
    pub(crate) contributions: Proven,
}

impl RunningSums {
    /// The sums before a run.
    pub(crate) const NONE: [f64; SUMS] = [0.0; SUMS];

    /// Calls `done` with each of `count` rows from `first` on, counted from there, and its sum. The
    /// first of the `running` sums is 0.
    #[inline(always)]
    pub(crate) fn each<G: Grid>(
        &self,
        grid: G,
        first: u32,
        count: u32,
        running: &mut [f64; SUMS],
        mut done: impl FnMut(u32, f64),
    ) {
        if count == 0 {
            return;
        }
        let [offsets, _] = self.rows.arrays();
        let ends = offsets.part(u64::from(first) + 1, count);
        let mut at = offsets.constant(grid, first);
        let last = ends.constant(grid, count - 1);
        // The running sum at the start of the row; below 0 if the row started earlier.
        let mut before = 0.0;
        let mut row = 0;
        loop {
            let end = ends.constant(grid, row);
            if end - at >= LONG {
                done(row, self.long(grid, at, end - at) - before);
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
                    done(row, inside - before);
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
        let [_, targets] = self.rows.arrays();
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
        let [_, targets] = self.rows.arrays();
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
        let [_, targets] = self.rows.arrays();
        let from = u64::from(first) + u64::from(AHEAD);
        let are_there = from + u64::from(count) <= u64::from(targets.len());
        (are_there && self.contributions.len() >= FAR).then(|| targets.part(from, count))
    }

    /// Fetches the contributions along the next edges from `at` on among `coming` ones.
    #[inline(always)]
    fn fetch<G: Grid>(&self, grid: G, coming: Option<Proven>, at: u64) {
        if let Some(coming) = coming {
            let nodes = coming.part(at, EACH as u32);
            (0..EACH as u32)
                .for_each(|k| self.contributions.prefetch(grid, nodes.constant(grid, k)));
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
        f64::from(f32::from_bits(self.contributions.load_weak(grid, node)))
    }
}
