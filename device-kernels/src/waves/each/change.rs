//! Changes of registers: pairs, joins by many lanes at a time, lists.

use super::values;
use crate::grid::Grid;
use crate::memory::{Proven, Words};
use seawall_core::abi::code::{Join, Joined, Kind};

/// Pair `index` of `words`, if there is one.
#[inline(always)]
fn pair<G: Grid>(grid: G, words: Words, index: u32) -> Option<(Proven, u32)> {
    let high = index.checked_mul(2).and_then(|low| low.checked_add(1));
    let high = high.unwrap_or(u32::MAX);
    // SAFETY: both words are used only if the second is there; registers start at
    // multiples of 16 bytes.
    words
        .holds(grid, high)
        .then(|| (unsafe { words.proven() }, high - 1))
}

/// Pair `index`; 0 for one out of range.
#[inline(always)]
pub(super) fn load_weak<G: Grid>(grid: G, from: Words, index: u32) -> u64 {
    pair(grid, from, index).map_or(0, |(words, at)| {
        let [low, high] = [at, at + 1].map(|at| words.load_weak(grid, at));
        u64::from(low) | u64::from(high) << 32
    })
}

/// Pair `index` as it is now; 0 for one out of range.
#[inline(always)]
pub(super) fn load<G: Grid>(grid: G, from: Words, index: u32) -> u64 {
    pair(grid, from, index).map_or(0, |(words, at)| words.load_wide(grid, at))
}

/// Stores pair `index`; nothing for one out of range.
#[inline(always)]
pub(super) fn store_weak<G: Grid>(grid: G, to: Words, index: u32, value: u64) {
    if let Some((words, at)) = pair(grid, to, index) {
        words.store_weak(grid, at, value as u32);
        words.store_weak(grid, at + 1, (value >> 32) as u32);
    }
}

/// Joins a value to value `index` and tells what was there; 0 for an index out of range.
#[inline(never)]
pub(super) fn change<G: Grid>(
    grid: G,
    to: Words,
    index: u32,
    (joined, value): (Joined, u64),
) -> u64 {
    if joined.kind == Kind::U64 {
        return pair(grid, to, index).map_or(0, |(words, at)| {
            change_pair(grid, (words, at), (joined, value))
        });
    }
    if !to.holds(grid, index) {
        return 0;
    }
    let word = value as u32;
    let before = match (joined.how, joined.kind) {
        (Join::Sum, Kind::U32 | Kind::I32) => to.add(grid, index, word),
        (Join::Min, Kind::U32) => to.min(grid, index, word),
        (Join::Max, Kind::U32) => to.max(grid, index, word),
        (Join::Or, _) => to.or(grid, index, word),
        _ => {
            let mut before = to.load(grid, index);
            loop {
                let after = values::join(joined, u64::from(before), value) as u32;
                let found = if after == before {
                    before
                } else {
                    to.swap_if(grid, index, before, after)
                };
                if found == before {
                    break before;
                }
                before = found;
            }
        }
    };
    u64::from(before)
}

/// [`change`] of the pair at word `at`, which is there.
#[inline(always)]
fn change_pair<G: Grid>(
    grid: G,
    (words, at): (Proven, u32),
    (joined, value): (Joined, u64),
) -> u64 {
    match joined.how {
        Join::Sum => words.add_wide(grid, at, value),
        Join::Min => words.min_wide(grid, at, value),
        _ => {
            let mut before = words.load_wide(grid, at);
            loop {
                let after = values::join(joined, before, value);
                let found = if after == before {
                    before
                } else {
                    words.swap_wide_if(grid, at, before, after)
                };
                if found == before {
                    return before;
                }
                before = found;
            }
        }
    }
}

/// Puts the `value`s of the lanes that `put` theirs at the end of a list, one addition a
/// warp. What finds no room is noted as an index out of range.
#[inline(always)]
pub(super) fn append<G: Grid>(grid: G, (list, count): (Words, Words), value: u32, put: bool) {
    let votes = grid.ballot(put);
    if votes == 0 {
        return;
    }
    let leader = votes.trailing_zeros();
    let mut first = 0;
    if grid.warp_lane() == leader {
        first = count.add(grid, 0, votes.count_ones());
    }
    let first = grid.shuffle(first, leader);
    if put {
        let below = (votes & grid.lanes_below()).count_ones();
        list.store_weak(grid, first.saturating_add(below), value);
    }
}
