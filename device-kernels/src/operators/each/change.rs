//! Atomic changes of registers by many lanes at a time.

use super::slots::{Pairs4, Words4, each_of, mask};
use super::values;
use crate::machine::Grid;
use crate::machine::memory::{Proven, Words, note_missed};
use crate::machine::shared::EACH_SLOTS;
use seawall_core::abi::code::{Join, Joined, Kind};

/// Joins a value to the first one of `to`, if there is one.
#[inline(always)]
pub(super) fn change<G: Grid>(grid: G, to: Words, joined: Joined, value: u64) {
    let at = [0; 4];
    let there = within(grid, at, to.len() / joined.kind.words(), 1);
    // SAFETY: it is used if there is a value; registers start at multiples of 16 bytes.
    let to = (unsafe { to.proven() }, joined);
    if joined.kind == Kind::U64 {
        change_pairs(grid, to.0, to.1, at, [value, 0, 0, 0], there);
    } else {
        change_words(grid, to.0, to.1, at, [value as u32, 0, 0, 0], there);
    }
}

/// Slots of `on` whose `index` is below the `held` values. The others are recorded as faults.
#[inline(always)]
pub(super) fn within<G: Grid>(grid: G, index: Words4, held: u32, on: u32) -> u32 {
    let there = on & mask(|slot| index[slot] < held);
    if there != on {
        note(grid, index, held, on & !there);
    }
    there
}

#[inline(always)]
fn note<G: Grid>(grid: G, index: Words4, held: u32, missed: u32) {
    let [first, second, third, fourth] = index;
    let index = match missed.trailing_zeros() {
        0 => first,
        1 => second,
        2 => third,
        _ => fourth,
    };
    note_missed(grid, index, held);
}

/// Joins a word to the one at an index for each slot of `there`, overlapping these slow operations.
/// Returns the previous words; 0 elsewhere.
#[inline(always)]
pub(super) fn change_words<G: Grid>(
    grid: G,
    words: Proven,
    joined: Joined,
    index: Words4,
    value: Words4,
    there: u32,
) -> Words4 {
    let each_there = |of: fn(Proven, G, u32, u32) -> u32| {
        each_of::<G, _>(there, |slot| of(words, grid, index[slot], value[slot]))
    };
    match (joined.how, joined.kind) {
        (Join::Sum, Kind::U32 | Kind::I32) => each_there(Proven::add),
        (Join::Min, Kind::U32) => each_there(Proven::min),
        (Join::Max, Kind::U32) => each_there(Proven::max),
        (Join::Or, _) => each_there(Proven::or),
        _ => turn_by_turn::<G, u32>(grid, there, index, value, |at, value| {
            exchange(
                words.load(grid, at),
                |before| values::join(joined, before.into(), value.into()) as u32,
                |before, after| words.swap_if(grid, at, before, after),
            )
        }),
    }
}

/// Makes changes that have no hardware operation slot by slot, in a loop, so that the code exists
/// once.
#[inline(always)]
fn turn_by_turn<G: Grid, T: Copy + Default>(
    grid: G,
    there: u32,
    index: Words4,
    value: [T; 4],
    of: impl Fn(u32, T) -> T,
) -> [T; 4] {
    let mut turning = (index, value);
    for slot in 0..grid.opaque(EACH_SLOTS) {
        let ([index, second, third, fourth], [value, other, more, last]) = turning;
        let before = if there >> slot & 1 != 0 {
            of(index, value)
        } else {
            T::default()
        };
        turning = ([second, third, fourth, index], [other, more, last, before]);
    }
    turning.1
}

/// Makes a change of a value that was `before` by compare and swap; returns the value that it
/// changed.
#[inline(always)]
fn exchange<T: Copy + PartialEq>(
    mut before: T,
    join: impl Fn(T) -> T,
    swap_if: impl Fn(T, T) -> T,
) -> T {
    loop {
        let after = join(before);
        let found = if after == before {
            before
        } else {
            swap_if(before, after)
        };
        if found == before {
            return before;
        }
        before = found;
    }
}

/// [`change_words`] of pairs.
#[inline(always)]
pub(super) fn change_pairs<G: Grid>(
    grid: G,
    words: Proven,
    joined: Joined,
    index: Words4,
    value: Pairs4,
    there: u32,
) -> Pairs4 {
    let each_there = |of: fn(Proven, G, u32, u64) -> u64| {
        each_of::<G, _>(there, |slot| of(words, grid, 2 * index[slot], value[slot]))
    };
    match joined.how {
        Join::Sum => each_there(Proven::add_wide),
        Join::Min => each_there(Proven::min_wide),
        _ => turn_by_turn::<G, u64>(grid, there, index, value, |at, value| {
            exchange(
                words.load_wide(grid, 2 * at),
                |before| values::join(joined, before, value),
                |before, after| words.swap_wide_if(grid, 2 * at, before, after),
            )
        }),
    }
}
