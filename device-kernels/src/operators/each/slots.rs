//! Values of the slots of a lane. A lane runs each instruction for several items, or edges, at a
//! time, so that fetching and decoding an instruction costs a quarter.

use crate::machine::Grid;
use crate::machine::shared::EACH_SLOTS;

/// [`EACH_SLOTS`] as a length.
pub(super) const SLOTS: usize = EACH_SLOTS as usize;

/// A word of each slot.
pub(super) type Words4 = [u32; SLOTS];

/// A pair of words of each slot.
pub(super) type Pairs4 = [u64; SLOTS];

/// Every slot, a bit each.
pub(super) const ALL: u32 = (1 << EACH_SLOTS) - 1;

/// The values that `of` makes for the slots, unrolled: codegen rule `NO_INDEXED_ARRAYS`.
#[inline(always)]
pub(super) fn each<T>(of: impl Fn(usize) -> T) -> [T; SLOTS] {
    [of(0), of(1), of(2), of(3)]
}

/// [`each`] for the slots of `on`; the default for others.
#[inline(always)]
pub(super) fn each_of<G: Grid, T: Copy + Default>(on: u32, of: impl Fn(usize) -> T) -> [T; SLOTS] {
    if G::WARP == 1 && on == 1 {
        // One item after another, or the last row of four.
        return [of(0), T::default(), T::default(), T::default()];
    }
    each(|slot| {
        if has(on, slot) {
            of(slot)
        } else {
            T::default()
        }
    })
}

/// The values of `some` for the slots of `on`, and of `others` elsewhere.
#[inline(always)]
pub(super) fn chosen<T: Copy>(on: u32, some: [T; SLOTS], others: [T; SLOTS]) -> [T; SLOTS] {
    each(|slot| {
        if has(on, slot) {
            some[slot]
        } else {
            others[slot]
        }
    })
}

/// The slots for which `of` holds, a bit each.
#[inline(always)]
pub(super) fn mask(of: impl Fn(usize) -> bool) -> u32 {
    let [first, second, third, fourth] = each(|slot| u32::from(of(slot)));
    first | second << 1 | third << 2 | fourth << 3
}

/// Whether `mask` has slot `slot`.
#[inline(always)]
pub(super) const fn has(mask: u32, slot: usize) -> bool {
    mask >> slot & 1 != 0
}
