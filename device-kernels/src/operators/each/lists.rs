//! Lists that code appends to.

use super::slots::{Words4, each, has};
use super::steps::register_of;
use crate::collectives::context::ContextRef;
use crate::machine::Grid;
use crate::machine::memory::note_missed;

/// Puts the `value`s of the slots in `put` at the end of a list in the registers `list` and
/// `count`, for which a warp makes space by one addition. A value without space is recorded as an
/// index out of range. A warp operation.
#[inline(always)]
pub(super) fn append<G: Grid>(
    cx: ContextRef<G>,
    (list, count): (u32, u32),
    value: Words4,
    put: u32,
) {
    let (grid, tables) = (cx.grid(), cx.context().tables);
    let votes = each(|slot| grid.ballot(has(put, slot)));
    let [first, second, third, fourth] = votes.map(u32::count_ones);
    let more = first + second + third + fourth;
    if more == 0 {
        return;
    }
    let (list, count) = (
        register_of(grid, tables, list),
        register_of(grid, tables, count),
    );
    let mut start = u32::MAX;
    if grid.warp_lane() == 0 && !count.is_empty() {
        // SAFETY: it has a word.
        start = unsafe { count.proven() }.add(grid, 0, more);
    }
    let start = grid.shuffle(start, 0);
    let before = [0, first, first + second, first + second + third];
    each(|slot| {
        if has(put, slot) {
            let below = (votes[slot] & grid.lanes_below()).count_ones();
            let at = start.saturating_add(before[slot] + below);
            if at < list.len() {
                // SAFETY: the word is there.
                unsafe { list.proven() }.store_weak(grid, at, value[slot]);
            } else {
                note_missed(grid, at, list.len());
            }
        }
    });
}
