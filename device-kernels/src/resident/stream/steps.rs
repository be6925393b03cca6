//! Steps between passes: new ranks from sums, or the rows that have work next.

use super::record::{Post, Stream};
use crate::algorithms::rank::scale::{Scale, part, units};
use crate::collectives::block::warp_sum_wide;
use crate::machine::Grid;
use crate::machine::memory::{Proven, word_of};
use seawall_core::abi::stream::{
    BETWEEN, StreamBoard, StreamKind, StreamPost, StreamRecord, StreamState,
};
use seawall_core::protocol::Write;

/// Words of a turn of the totals: mass of nodes without edges, sum of changes.
const TURN: u32 = 4;

/// Share of a lane: its first item, and the distance to the next one.
#[derive(Clone, Copy)]
struct Share {
    first: u32,
    stride: u32,
}

impl Share {
    #[inline(always)]
    fn each(self, count: u32, mut take: impl FnMut(u32)) {
        let mut at = self.first;
        while at < count {
            take(at);
            let Some(next) = at.checked_add(self.stride) else {
                return;
            };
            at = next;
        }
    }
}

/// One step. All lanes of the workers call this.
#[inline(always)]
pub(super) fn step<G: Grid>(grid: G, stream: Stream, post: Post, worker: u32) {
    let number = post.word(grid, word_of!(StreamPost, number));
    let share = Share {
        first: worker * grid.lanes() + grid.lane(),
        stride: (grid.blocks() - 1) * grid.lanes(),
    };
    check_borders(grid, stream, share);
    let pulls = stream.is_for(grid, StreamKind::Pull);
    if pulls || stream.is_for(grid, StreamKind::Push) {
        apply(grid, stream, share, number, pulls);
    } else if !stream.is_for(grid, StreamKind::Link) {
        survey(grid, stream, share, number);
    }
}

/// Checks that rows that continue in another window ascend there, for the windows received.
#[inline(never)]
fn check_borders<G: Grid>(grid: G, stream: Stream, share: Share) {
    let windows = stream.windows(grid);
    let seen = stream.seen(grid);
    share.each(windows.saturating_sub(1), |window| {
        let last = seen.load(grid, 2 * window + 1);
        let first = seen.load(grid, 2 * window + 2);
        if last == 0 || first == 0 || last < first {
            return;
        }
        let shift = stream.word(grid, word_of!(StreamRecord, shift));
        let skew = u64::from(stream.word(grid, word_of!(StreamRecord, skew)));
        let border = (((u64::from(window) + 1) << (shift & 63)) - skew) / 4;
        let row = stream.row_of(grid, border, 0..stream.nodes(grid));
        if stream.start(grid, row) < border {
            let fault = word_of!(StreamBoard, fault);
            stream.show(grid, fault, BETWEEN | (window + 1), Write::Relaxed);
        }
    });
}

/// Totals of step `number`, in turn.
const fn turn_of(number: u32) -> u32 {
    word_of!(StreamState, totals) + number % 3 * TURN
}

/// Makes new ranks from the sums of a pass, and clears the sums.
#[inline(never)]
fn apply<G: Grid>(grid: G, stream: Stream, share: Share, number: u32, pulls: bool) {
    let nodes = stream.nodes(grid);
    let (ranks, sums, state) = (stream.values(grid), stream.sums(grid), stream.state(grid));
    let scale = Scale::of(stream.word(grid, word_of!(StreamRecord, exponent)));
    let damping = f32::from_bits(stream.word(grid, word_of!(StreamRecord, damping)));
    let lost = part(state.load_wide(grid, turn_of(number + 2)));
    let base = (1.0 - damping + damping * lost) / nodes as f32;
    let (mut change, mut dangling) = (0_u64, 0_u64);
    share.each(nodes, |node| {
        let sum = sums.load_wide(grid, 2 * node);
        if sum != 0 {
            sums.store(grid, 2 * node, 0);
            sums.store(grid, 2 * node + 1, 0);
        }
        let old = f32::from_bits(ranks.load(grid, node));
        let rank = base + damping * scale.part(sum);
        let step = if rank > old { rank - old } else { old - rank };
        change = change.wrapping_add(units(step));
        ranks.store(grid, node, rank.to_bits());
        let edges = stream.start(grid, node + 1) - stream.start(grid, node);
        if pulls && edges != 0 {
            let share = scale.whole(rank / edges as u32 as f32);
            stream.shares(grid).store(grid, node, share.to_bits());
        }
        if edges == 0 {
            dangling = dangling.wrapping_add(units(rank));
        }
    });
    add_total(grid, state, turn_of(number), dangling);
    add_total(grid, state, turn_of(number) + 2, change);
}

/// Adds the parts of a warp's lanes to a total. A warp operation.
#[inline(always)]
fn add_total<G: Grid>(grid: G, totals: Proven, at: u32, own: u64) {
    let sum = warp_sum_wide(grid, own);
    if grid.warp_lane() == 0 && sum != 0 {
        totals.add_wide(grid, at, sum);
    }
}

/// Takes the rows that have work next, and publishes their windows to the host.
#[inline(never)]
fn survey<G: Grid>(grid: G, stream: Stream, share: Share, number: u32) {
    let (work, words) = (stream.work(grid), stream.work_words(grid));
    let (seen, state) = (stream.seen(grid), stream.state(grid));
    let windows = stream.windows(grid);
    share.each(words, |word| {
        let bits = work.load(grid, words + word);
        work.store(grid, word, bits);
        if bits == 0 {
            return;
        }
        work.store(grid, words + word, 0);
        let mut left = bits;
        while left != 0 {
            let row = word * 32 + left.trailing_zeros();
            left &= left - 1;
            let [start, end] = [row, row + 1].map(|row| stream.start(grid, row));
            if start == end {
                continue;
            }
            let first = stream.window_of(grid, start);
            let last = stream.window_of(grid, end - 1).min(windows - 1);
            for window in first..=last {
                let at = 2 * windows + window;
                if seen.load(grid, at) != number {
                    seen.store(grid, at, number);
                    stream.show_busy(grid, window, number);
                }
            }
            let busy = word_of!(StreamState, busy);
            if state.load(grid, busy) != number {
                state.store(grid, busy, number);
            }
        }
    });
}

/// Publishes the results of a step to the host, and clears the totals of the next one. One lane of
/// the last block of the step calls this.
#[inline(always)]
pub(super) fn show<G: Grid>(grid: G, stream: Stream, post: Post) {
    let number = post.word(grid, word_of!(StreamPost, number));
    let state = stream.state(grid);
    let busy = state.load(grid, word_of!(StreamState, busy));
    stream.show(grid, word_of!(StreamBoard, busy), busy, Write::Relaxed);
    let change = turn_of(number) + 2;
    for half in 0..2 {
        let word = state.load(grid, change + half);
        let at = word_of!(StreamBoard, change) + half;
        stream.show(grid, at, word, Write::Relaxed);
    }
    for half in 0..2 {
        let word = state.load(grid, word_of!(StreamState, balance) + half);
        let at = word_of!(StreamBoard, balance) + half;
        stream.show(grid, at, word, Write::Relaxed);
    }
    for at in 0..TURN {
        state.store(grid, turn_of(number + 1) + at, 0);
    }
}
