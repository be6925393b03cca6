//! The instructions of the running wave, as lanes read them.
//!
//! A block keeps the first ones in its shared memory, each beside the array of its register: all
//! lanes read them for every item and every edge, and would otherwise look up registers each time.
//! Instructions are numbered from the first one of the wave.

use super::change;
use super::fetched::{A, C, Fetched, TO, arranged, is_sure, known};
use super::slots::Words4;
use crate::collectives::context::ContextRef;
use crate::machine::memory::Words;
use crate::machine::shared::{EACH_CODE, EACH_HELD, EACH_ITEM, EACH_STEP};
use crate::machine::{Grid, PLACE};
use crate::tables::Tables;
use seawall_core::abi::code::{Instruction, Joined, NOTHING, Op, Outcome, TEMPORARY};

/// Number of words of an instruction.
const WORDS: u32 = (size_of::<Instruction>() / 4) as u32;

/// The register of an instruction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Array {
    pub(super) words: Words,
    /// Not 0 if it has a value for every node, as the instruction requires.
    sure: u32,
}

/// The neutral value of a join, and its absorbing value, if there is one.
#[inline(always)]
fn extremes(joined: Joined) -> [u32; 4] {
    let (identity, end) = (joined.identity(), joined.end().unwrap_or(0));
    let words = |pair: u64| [pair as u32, (pair >> 32) as u32];
    let ([low, high], [end, end_high]) = (words(identity), words(end));
    [low, high, end, end_high]
}

impl Array {
    /// The absorbing value of an [`Op::Reduce`] that has one.
    #[inline(always)]
    pub(super) fn end(self) -> u64 {
        u64::from(self.words.len()) | u64::from(self.sure) << 32
    }

    /// Slots of `on` whose `index` is below the `held` values. Neighbours are nodes, so the check
    /// is skipped if there is a value for every node.
    #[inline(always)]
    pub(super) fn within<G: Grid>(self, grid: G, index: Words4, held: u32, on: u32) -> u32 {
        if self.sure != 0 {
            return on;
        }
        change::within(grid, index, held, on)
    }
}

/// The instructions of a wave.
#[derive(Clone, Copy, Debug)]
pub(super) struct Steps<G> {
    cx: ContextRef<G>,
    grid: G,
    /// Place of the first one that the block keeps.
    held: u32,
}

impl<G: Grid> Steps<G> {
    /// The instructions that [`Steps::hold`] left in the table.
    #[inline(always)]
    pub(super) fn again(cx: ContextRef<G>) -> Self {
        let grid = cx.grid();
        let held = grid.place(false, EACH_CODE.first());
        Self { cx, grid, held }
    }

    /// Takes the first instructions of a wave into shared memory. A block operation.
    #[inline(never)]
    pub(super) fn hold(cx: ContextRef<G>, first: u32, count: u32) {
        let grid = cx.grid();
        if grid.lane() == 0 {
            // SAFETY: a fixed word.
            unsafe { EACH_ITEM.store(grid, FIRST, first) };
        }
        let steps = Self::again(cx);
        let mut at = grid.lane();
        while at < count.min(EACH_HELD) {
            steps.hold_one(first, at);
            at += grid.lanes();
        }
        if grid.lane() == 0 {
            // SAFETY: there is space for one more.
            unsafe { grid.place_store(steps.place(EACH_HELD), FAR) };
        }
        grid.block_barrier();
    }

    /// Takes instruction `at`.
    #[inline(always)]
    fn hold_one(self, first: u32, at: u32) {
        let (grid, tables) = (self.grid, self.cx.context().tables);
        let words = tables.code(grid).constant4(grid, (first + at) * WORDS);
        let [op, temps, register, _] = words;
        let beside = if known(op) == Op::Reduce {
            Joined::from_word(temps >> (8 * C)).map_or([0; 4], extremes)
        } else if known(op).accesses()[0].is_some() {
            let array = register_of(grid, tables, register);
            let sure = is_sure(known(op), temps, array, tables.nodes(grid));
            let address = array.address();
            let [low, high] = [address as u32, (address >> 32) as u32];
            [low, high, array.len(), u32::from(sure)]
        } else {
            [0; 4]
        };
        let place = self.place(at);
        // SAFETY: `at` is below the number of instructions for which there is space; places are
        // multiples of four words.
        unsafe {
            grid.place_store4(place, arranged(words));
            grid.place_store4(place + WORDS * PLACE, beside);
        }
    }

    /// Number of instructions, of `end`, that a one-lane block runs for several items at a time:
    /// all, if no item can see the effects of another one in the wave. Otherwise items follow one
    /// another, since changes propagate further then, except for a beginning that leaves items out
    /// and keeps nothing.
    #[inline(always)]
    pub(super) fn together(self, end: u32) -> u32 {
        let (mut together, mut is_plain) = (0, true);
        for number in 0..end {
            let at = self.fetch(number);
            let op = known(at.op);
            let is_asked = op == Op::Scatter && at.byte(TO) != u32::from(NOTHING);
            if is_asked || matches!(op, Op::Latest | Op::LatestWide) {
                return together;
            }
            let keeps = at.byte(TO) & u32::from(TEMPORARY) != 0;
            let joins = matches!(
                op,
                Op::Edges | Op::Scatter | Op::Fold | Op::Append | Op::Raise
            );
            is_plain &= !keeps && !joins;
            let leaves_out =
                op == Op::Only || op.is_comparison() && at.byte(C) == Outcome::Only as u32;
            // The instruction after it must not use the accumulator.
            let next = number + 1;
            let goes_on = next < end && self.fetch(next).byte(A) != u32::from(NOTHING);
            if is_plain && leaves_out && goes_on {
                together = next;
            }
        }
        end
    }

    #[inline(always)]
    fn place(self, at: u32) -> u32 {
        self.held + at * (EACH_STEP * PLACE)
    }

    /// Instruction `at`.
    #[inline(always)]
    pub(super) fn fetch(self, at: u32) -> Fetched {
        if at < EACH_HELD {
            self.held(at)
        } else {
            self.far(at)
        }
    }

    #[inline(always)]
    fn held(self, at: u32) -> Fetched {
        // SAFETY: the block has space for it.
        Fetched::of(unsafe { self.grid.place_load4(self.place(at.min(EACH_HELD))) })
    }

    /// Instruction `at`; [`FAR`] in place of one that the block does not hold. Without a branch.
    #[inline(always)]
    pub(super) fn next(self, at: u32) -> Fetched {
        self.held(at)
    }

    /// The first register that instruction `at` uses, which is [`Steps::next`]; any register if it
    /// uses none.
    #[inline(always)]
    pub(super) fn array(self, at: u32) -> Array {
        let place = self.place(at.min(EACH_HELD)) + WORDS * PLACE;
        // SAFETY: the block has space for it.
        let [low, high, len, sure] = unsafe { self.grid.place_load4(place) };
        let address = u64::from(low) | u64::from(high) << 32;
        Array {
            // SAFETY: `hold_one` took both from the table of registers, and they are not used where
            // it did not.
            words: unsafe { Words::new(address as *mut u32, len) },
            sure,
        }
    }

    /// Instruction `at` out of the table.
    #[inline(always)]
    pub(super) fn far(self, at: u32) -> Fetched {
        let grid = self.grid;
        // SAFETY: a fixed word.
        let first = unsafe { EACH_ITEM.load(grid, FIRST) };
        let code = self.cx.context().tables.code(grid);
        Fetched::of(arranged(code.constant4_kept(grid, (first + at) * WORDS)))
    }

    /// The neutral value of reduction `at`.
    #[inline(always)]
    pub(super) fn identity(self, at: u32, joined: Joined) -> u64 {
        if at >= EACH_HELD {
            return joined.identity();
        }
        let place = self.place(at) + WORDS * PLACE;
        // SAFETY: the block holds it.
        let [low, high] = [0, PLACE].map(|far| unsafe { self.grid.place_load(place + far) });
        u64::from(low) | u64::from(high) << 32
    }

    /// The data beside an instruction, for one that the block does not keep.
    #[inline(always)]
    pub(super) fn beside(self, at: Fetched) -> Array {
        let joined = at.joined().filter(|_| known(at.op) == Op::Reduce);
        let Some(joined) = joined else {
            return self.register(at);
        };
        let [_, _, end, end_high] = extremes(joined);
        Array {
            // SAFETY: the words of a reduction are not used.
            words: unsafe { Words::new(core::ptr::null_mut(), end) },
            sure: end_high,
        }
    }

    /// The first register that an instruction uses.
    #[inline(always)]
    pub(super) fn register(self, at: Fetched) -> Array {
        Array {
            words: register_of(self.grid, self.cx.context().tables, at.other),
            sure: 0,
        }
    }
}

/// Operation that replaces the first instruction without space in the block.
pub(super) const FAR: u32 = Op::COUNT;

/// Word of [`EACH_ITEM`] that has the first instruction of the wave.
const FIRST: u32 = 1;

/// Register `index`, or one without words.
#[inline(always)]
pub(super) fn register_of<G: Grid>(grid: G, tables: Tables, index: u32) -> Words {
    tables.register(grid, index).unwrap_or_else(|_| nothing())
}

#[inline(always)]
fn nothing() -> Words {
    // SAFETY: an array of no words is valid.
    unsafe { Words::new(core::ptr::null_mut(), 0) }
}
