//! The board in a block's shared memory, on which lane 0 publishes the work of all lanes.

use crate::machine::Grid;

/// The board in the block's shared memory, on which lane 0 publishes the work of all lanes.
const BOARD: u32 = 0;

/// First word after the board.
pub(super) const BEHIND_BOARD: u32 = 16;

/// Arguments of a task: first the common ones of all tasks, then the tenant, then the rest.
pub(super) type Words = [u32; 6];

/// The next work of all lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Task {
    End,
    Hops,
    Lengths,
    Neighbours,
    Program,
    User,
}

pub(super) const fn task_of(word: u32) -> Task {
    match word {
        1 => Task::Hops,
        2 => Task::Lengths,
        3 => Task::Neighbours,
        4 => Task::Program,
        5 => Task::User,
        _ => Task::End,
    }
}

#[inline(always)]
pub(super) fn board<G: Grid>(grid: G, at: u32) -> u32 {
    // SAFETY: the board is among the block's words.
    unsafe { grid.shared_load(BOARD + at) }
}

#[inline(always)]
pub(super) fn write<G: Grid>(grid: G, task: Task, words: Words) {
    // SAFETY: the board is among the block's words.
    let store = |at, word| unsafe { grid.shared_store(BOARD + at, word) };
    store(0, task as u32);
    for (at, word) in (1..).zip(&words) {
        store(at, *word);
    }
}
