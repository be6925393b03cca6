//! The work of a window: blocks load slices of its edges into their shared memory, and each lane
//! takes a few adjacent edges from there.

use super::record::{HostWords, Post, Stream};
use crate::algorithms::components::link;
use crate::algorithms::rank::scale::Scale;
use crate::collectives::block::broadcast;
use crate::machine::Grid;
use crate::machine::memory::{Proven, word_of};
use core::ops::Range;
use seawall_core::abi::stream::{StreamBoard, StreamKind, StreamPost, StreamRecord, StreamState};
use seawall_core::protocol::Write;

/// Edges of a slice.
const SLICE: u32 = 4096;

/// Words of shared memory: targets of a slice, after the words of block operations, and weights.
const TARGETS: u32 = 128;
const WEIGHTS: u32 = TARGETS + SLICE;

/// Counter of the shares of a window that blocks have taken.
pub(super) const TAKEN: u32 = Post::counter(1);

/// A window, as all lanes of a block see it.
#[derive(Clone, Copy)]
struct Window<G> {
    grid: G,
    stream: Stream,
    number: u32,
    first_edge: u64,
    edges: u32,
    first_row: u32,
    end_row: u32,
    targets: HostWords,
    weights: HostWords,
}

/// Takes slices until there are none. All lanes of the block call this.
#[inline(always)]
pub(super) fn window<G: Grid>(grid: G, stream: Stream, post: Post) {
    let [targets, weights] = post.edges(grid);
    let word = |at| post.word(grid, at);
    let window = Window {
        grid,
        stream,
        number: word(word_of!(StreamPost, number)),
        first_edge: post.first_edge(grid),
        edges: word(word_of!(StreamPost, edges)),
        first_row: word(word_of!(StreamPost, first_row)),
        end_row: word(word_of!(StreamPost, end_row)),
        targets,
        weights,
    };
    let checks = word(word_of!(StreamPost, checks)) != 0;
    loop {
        let mut taken = 0;
        if grid.lane() == 0 {
            taken = post.words().add(grid, TAKEN, 1);
        }
        let from = broadcast(grid, taken).saturating_mul(SLICE);
        if from >= window.edges {
            return;
        }
        let count = SLICE.min(window.edges - from);
        window.fetch(from, count);
        grid.block_barrier();
        let each = SLICE.div_ceil(grid.lanes());
        let first = grid.lane().saturating_mul(each).min(count);
        let own = first..first.saturating_add(each).min(count);
        if !own.is_empty() {
            if checks {
                window.check(from, own.clone());
            }
            window.work(from, own);
        }
        grid.block_barrier();
    }
}

/// A target of the slice.
#[inline(always)]
fn target_at<G: Grid>(grid: G, at: u32) -> u32 {
    debug_assert!(at < SLICE);
    // SAFETY: a slice's targets lie in the block's words.
    unsafe { grid.shared_load(TARGETS + at) }
}

#[inline(always)]
fn weight_at<G: Grid>(grid: G, at: u32) -> u32 {
    debug_assert!(at < SLICE);
    // SAFETY: a slice's weights lie in the block's words.
    unsafe { grid.shared_load(WEIGHTS + at) }
}

impl<G: Grid> Window<G> {
    /// Brings a slice to shared memory, adjacent words by adjacent lanes.
    #[inline(always)]
    fn fetch(&self, from: u32, count: u32) {
        let grid = self.grid;
        let mut at = grid.lane();
        while at < count {
            // SAFETY: both arrays lie in the block's words.
            unsafe { grid.shared_store(TARGETS + at, self.targets.load(grid, from + at)) };
            at += grid.lanes();
        }
        if !self.weights.exist() {
            return;
        }
        at = grid.lane();
        while at < count {
            // SAFETY: as above.
            unsafe { grid.shared_store(WEIGHTS + at, self.weights.load(grid, from + at)) };
            at += grid.lanes();
        }
    }

    /// Calls `take` with each row of these edges of a slice and the part of them that it has.
    #[inline(always)]
    fn each_row(&self, from: u32, own: Range<u32>, mut take: impl FnMut(u32, Range<u32>)) {
        let (grid, stream) = (self.grid, self.stream);
        let before = self.first_edge + u64::from(from);
        let mut at = own.start;
        let rows = self.first_row..self.end_row;
        let mut row = stream.row_of(grid, before + u64::from(at), rows);
        while at < own.end {
            let end = stream.start(grid, row + 1).saturating_sub(before);
            let end = u64::from(own.end).min(end) as u32;
            if at < end {
                take(row, at..end);
                at = end;
            }
            row += 1;
            if row >= self.end_row {
                return;
            }
        }
    }

    /// Records an invalid edge.
    #[inline(always)]
    fn refuse(&self) {
        let fault = word_of!(StreamBoard, fault);
        self.stream
            .show(self.grid, fault, self.number + 1, Write::Relaxed);
    }

    /// Checks edges as the host does for its own windows: targets are nodes, rows ascend strictly
    /// and do not hold their own node, float weights are finite and not negative.
    #[inline(never)]
    fn check(&self, from: u32, own: Range<u32>) {
        let (grid, stream) = (self.grid, self.stream);
        let nodes = stream.nodes(grid);
        let floats = self.weights.exist() && stream.is_for(grid, StreamKind::Float);
        let seen = stream.seen(grid);
        let pulls = stream.is_for(grid, StreamKind::Pull);
        let seed = stream.wide(grid, word_of!(StreamRecord, seed));
        let mut balance = 0_u64;
        self.each_row(from, own, |row, part| {
            let start = stream.start(grid, row);
            for at in part {
                let to = target_at(grid, at);
                let edge = self.first_edge + u64::from(from) + u64::from(at);
                let before = if edge == start || from + at == 0 {
                    None
                } else if at == 0 {
                    Some(self.targets.load(grid, from - 1))
                } else {
                    Some(target_at(grid, at - 1))
                };
                let ascends = before.is_none_or(|before| before < to);
                let is_weight = !floats || is_distance(weight_at(grid, at));
                if to >= nodes || to == row || !ascends || !is_weight {
                    self.refuse();
                }
                if pulls {
                    let here = mixed(seed, row, to).wrapping_sub(mixed(seed, to, row));
                    balance = balance.wrapping_add(here);
                }
                let ends = seen.part(u64::from(self.number) * 2, 2);
                if from + at == 0 {
                    ends.store(grid, 0, to.saturating_add(1));
                }
                if from + at + 1 == self.edges {
                    ends.store(grid, 1, to.saturating_add(1));
                }
            }
        });
        if balance != 0 {
            let at = word_of!(StreamState, balance);
            stream.state(grid).add_wide(grid, at, balance);
        }
    }

    /// The work of the stream's kind.
    #[inline(always)]
    fn work(&self, from: u32, own: Range<u32>) {
        let (grid, stream) = (self.grid, self.stream);
        let kind = stream.word(grid, word_of!(StreamRecord, kind));
        if kind == StreamKind::Link as u32 {
            self.link(from, own);
        } else if kind == StreamKind::Push as u32 {
            self.push(from, own);
        } else if kind == StreamKind::Pull as u32 {
            self.pull(from, own);
        } else if kind == StreamKind::Levels as u32 {
            let limit = stream.word(grid, word_of!(StreamRecord, limit));
            let step = |level: u32, _| (level < limit).then_some(level + 1);
            self.relax(from, own, limit, step);
        } else if kind == StreamKind::Whole as u32 {
            let step = |length: u32, weight| {
                let sum = length.checked_add(weight).filter(|sum| *sum < u32::MAX);
                self.or_overflow(sum)
            };
            self.relax(from, own, u32::MAX, step);
        } else {
            let step = |length: u32, weight: u32| {
                let sum = f32::from_bits(length) + f32::from_bits(weight);
                self.or_overflow(sum.is_finite().then_some(sum.to_bits()))
            };
            self.relax(from, own, u32::MAX, step);
        }
    }

    #[inline(always)]
    fn or_overflow(&self, sum: Option<u32>) -> Option<u32> {
        if sum.is_none() {
            let overflow = word_of!(StreamBoard, overflow);
            self.stream.show(self.grid, overflow, 1, Write::Relaxed);
        }
        sum
    }

    /// A target, if it is a node: a file may change.
    #[inline(always)]
    fn target(&self, at: u32) -> Option<u32> {
        let to = target_at(self.grid, at);
        (to < self.stream.nodes(self.grid)).then_some(to)
    }

    #[inline(never)]
    fn link(&self, from: u32, own: Range<u32>) {
        let parents = self.stream.values(self.grid);
        self.each_row(from, own, |row, part| {
            for at in part {
                if let Some(to) = self.target(at) {
                    link(self.grid, parents, row, to);
                }
            }
        });
    }

    #[inline(never)]
    fn push(&self, from: u32, own: Range<u32>) {
        let (grid, stream) = (self.grid, self.stream);
        let (ranks, sums) = (stream.values(grid), stream.sums(grid));
        let scale = Scale::of(stream.word(grid, word_of!(StreamRecord, exponent)));
        self.each_row(from, own, |row, part| {
            let degree = stream.start(grid, row + 1) - stream.start(grid, row);
            let rank = f32::from_bits(ranks.load(grid, row));
            let share = scale.units(rank / degree as u32 as f32);
            if share == 0 {
                return;
            }
            for at in part {
                if let Some(to) = self.target(at) {
                    sums.add_wide(grid, 2 * to, share);
                }
            }
        });
    }

    #[inline(never)]
    fn pull(&self, from: u32, own: Range<u32>) {
        let (grid, stream) = (self.grid, self.stream);
        let (shares, sums) = (stream.shares(grid), stream.sums(grid));
        let scale = Scale::of(stream.word(grid, word_of!(StreamRecord, exponent)));
        self.each_row(from, own, |row, part| {
            let mut sum = 0_u64;
            for at in part {
                if let Some(to) = self.target(at) {
                    let share = f32::from_bits(shares.load(grid, to));
                    sum = sum.wrapping_add(scale.units(share));
                }
            }
            if sum != 0 {
                sums.add_wide(grid, 2 * row, sum);
            }
        });
    }

    /// Lowers values along the edges of rows with work; nodes below `limit` have work next.
    #[inline(always)]
    fn relax(
        &self,
        from: u32,
        own: Range<u32>,
        limit: u32,
        step: impl Fn(u32, u32) -> Option<u32>,
    ) {
        let (grid, stream) = (self.grid, self.stream);
        let (values, work) = (stream.values(grid), stream.work(grid));
        let words = stream.work_words(grid);
        let is_weighted = self.weights.exist();
        self.each_row(from, own, |row, part| {
            if !has_work(grid, work, row) {
                return;
            }
            let value = values.load(grid, row);
            for at in part {
                let weight = if is_weighted { weight_at(grid, at) } else { 1 };
                let Some((to, next)) = self.target(at).zip(step(value, weight)) else {
                    continue;
                };
                if next < values.load(grid, to) && next < values.min(grid, to, next) && next < limit
                {
                    let (word, bit) = (words + to / 32, 1 << (to % 32));
                    if work.load(grid, word) & bit == 0 {
                        work.or(grid, word, bit);
                    }
                }
            }
        });
    }
}

#[inline(always)]
fn has_work<G: Grid>(grid: G, work: Proven, row: u32) -> bool {
    work.load(grid, row / 32) >> (row % 32) & 1 != 0
}

/// A hash of an edge, which differs from the hash of its mirror image with high probability.
#[inline(always)]
fn mixed(seed: u64, from: u32, to: u32) -> u64 {
    // The finalizer of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
    let mut word = (u64::from(from) << 32 | u64::from(to)).wrapping_add(seed);
    word = (word ^ word >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    word = (word ^ word >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    word ^ word >> 31
}

/// Whether a word is a finite float that is not negative.
#[inline(always)]
fn is_distance(word: u32) -> bool {
    word < f32::INFINITY.to_bits()
}
