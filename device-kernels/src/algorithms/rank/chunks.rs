//! Ranks by CPU threads, for a chunk of adjacent rows at a time.
//!
//! The sums of all rows of the chunk come first, then the ranks that follow from them, in loops
//! over arrays of the chunk that a compiler turns into vectors. One loop for both would convert
//! each number by itself, with branches, and look up its arrays again for each row.

use super::running::RunningSums;
use crate::algorithms::rank::parts::{Ranks, Tally, Walk};
use crate::algorithms::rank::scale::{Scale, UNITS};
use crate::collectives::context::Context;
use crate::machine::Grid;
use crate::machine::memory::{Csr, Proven};

/// Rows of a chunk.
const ROWS: usize = 128;

/// The arrays that ranks are made from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chunks {
    /// Incoming edges, and contributions of the iteration before.
    pub(crate) sums: RunningSums,
    pub(crate) outgoing: Csr,
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
    /// Makes the ranks of this one-lane block's rows. Doubles hold their sums.
    #[inline(always)]
    pub(crate) fn make_all<G: Grid>(&self, context: &Context<G>) -> Tally {
        let (team, grid) = (&context.team, context.team.grid);
        let mut tally = Tally::default();
        let mut chunk = Chunk::new();
        let mut running = RunningSums::NONE;
        team.each_range(context.tables.nodes(grid), G::ITEMS, |first, end| {
            let mut row = first;
            while row < end {
                let count = (end - row).min(ROWS as u32);
                self.sums.each(grid, row, count, &mut running, |at, sum| {
                    chunk.sums[at as usize % ROWS] = sum as f32;
                });
                self.load(grid, row, count, &mut chunk);
                chunk.make(self.walk, self.made.scale);
                self.store(grid, row, count, &chunk);
                tally.add(chunk.tally(count));
                row += count;
            }
        });
        tally
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
