//! Changes of registers: pairs, joins by many lanes at a time, lists.

use super::slots::{Pairs4, Words4, each, each_of, has, mask};
use super::values;
use crate::grid::Grid;
use crate::memory::{Proven, Words, note_missed};
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

/// The slots of `on` whose value `index` there is, of `held` ones. The others are noted.
#[inline(always)]
pub(super) fn within<G: Grid>(grid: G, index: Words4, (held, on): (u32, u32)) -> u32 {
    let there = on & mask::<G>(|slot| index[slot] < held);
    if there != on {
        note(grid, index, (held, on & !there));
    }
    there
}

#[inline(always)]
fn note<G: Grid>(grid: G, index: Words4, (held, missed): (u32, u32)) {
    let [first, second, third, fourth] = index;
    let index = match missed.trailing_zeros() {
        0 => first,
        1 => second,
        2 => third,
        _ => fourth,
    };
    note_missed(grid, index, held);
}

/// [`change`] of a word by each slot of `on`; together, as each takes long.
#[inline(always)]
pub(super) fn change_words<G: Grid>(
    grid: G,
    (to, joined): (Words, Joined),
    (index, value): (Words4, Words4),
    on: u32,
) -> Words4 {
    let there = within(grid, index, (to.len(), on));
    // SAFETY: the words are used where `there` has their slot, so they are there.
    let words = unsafe { to.proven() };
    let each_there = |of: fn(Proven, G, u32, u32) -> u32| {
        each_of::<G, _>(there, |slot| of(words, grid, index[slot], value[slot]))
    };
    match (joined.how, joined.kind) {
        (Join::Sum, Kind::U32 | Kind::I32) => each_there(Proven::add),
        (Join::Min, Kind::U32) => each_there(Proven::min),
        (Join::Max, Kind::U32) => each_there(Proven::max),
        (Join::Or, _) => each_there(Proven::or),
        _ => each_of::<G, _>(there, |slot| {
            change(grid, to, index[slot], (joined, u64::from(value[slot]))) as u32
        }),
    }
}

/// [`change`] of a pair by each slot of `on`.
#[inline(always)]
pub(super) fn change_pairs<G: Grid>(
    grid: G,
    (to, joined): (Words, Joined),
    (index, value): (Words4, Pairs4),
    on: u32,
) -> Pairs4 {
    let there = within(grid, index, (to.len() / 2, on));
    // SAFETY: as in `change_words`; registers start at multiples of 16 bytes.
    let words = unsafe { to.proven() };
    let each_there = |of: fn(Proven, G, u32, u64) -> u64| {
        each_of::<G, _>(there, |slot| of(words, grid, 2 * index[slot], value[slot]))
    };
    match joined.how {
        Join::Sum => each_there(Proven::add_wide),
        Join::Min => each_there(Proven::min_wide),
        _ => each_of::<G, _>(there, |slot| {
            change(grid, to, index[slot], (joined, value[slot]))
        }),
    }
}

/// Puts the `value`s of the slots in `put` at the end of a list, one addition a warp. What
/// finds no room is noted as an index out of range.
#[inline(always)]
pub(super) fn append<G: Grid>(grid: G, (list, count): (Words, Words), value: Words4, put: u32) {
    let votes = each::<G, _>(|slot| grid.ballot(has(put, slot)));
    let [first, second, third, fourth] = votes.map(u32::count_ones);
    let all = first + second + third + fourth;
    if all == 0 {
        return;
    }
    let mut start = 0;
    if grid.warp_lane() == 0 {
        start = count.add(grid, 0, all);
    }
    let start = grid.shuffle(start, 0);
    let before = [0, first, first + second, first + second + third];
    each_of::<G, _>(put, |slot| {
        let below = (votes[slot] & grid.lanes_below()).count_ones();
        let at = start.saturating_add(before[slot] + below);
        list.store_weak(grid, at, value[slot]);
    });
}
