//! The instructions of the running wave, as lanes read them.
//!
//! A block holds the first ones in its shared memory, each beside the array of its register: all
//! lanes read them for every item and every edge, and would otherwise look registers up as often.
//! Instructions are numbered from the first one of the wave.

use super::Part;
use crate::context::ContextRef;
use crate::grid::{Grid, PLACE};
use crate::memory::Words;
use crate::shared::{EACH_CODE, EACH_HELD, EACH_ITEM, EACH_STEP};
use crate::tables::Tables;
use bytemuck::CheckedBitPattern;
use seawall_core::abi::code::{Instruction, Joined, Op};

/// Words of an instruction.
const WORDS: u32 = (size_of::<Instruction>() / 4) as u32;

/// An instruction, its operands still in one word.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fetched {
    pub(super) op: u32,
    temps: u32,
    /// The word in place of an operand.
    pub(super) word: u32,
    /// Its high word, or what the operation uses otherwise.
    pub(super) other: u32,
}

/// Words of an instruction whose word in place of an operand is always the first of the two.
#[inline(always)]
fn arranged([op, temps, first, second]: [u32; 4]) -> [u32; 4] {
    if known(op).uses_first() {
        [op, temps, second, first]
    } else {
        [op, temps, first, second]
    }
}

/// The operation of a word. The host checked that there is one.
#[inline(always)]
pub(super) fn known(word: u32) -> Op {
    if Op::is_valid_bit_pattern(&word) {
        bytemuck::checked::cast(word)
    } else {
        Op::Take
    }
}

/// Number of an operand: `to`, `a`, `b`, `c`.
pub(super) const TO: u32 = 0;
pub(super) const A: u32 = 1;
pub(super) const B: u32 = 2;
pub(super) const C: u32 = 3;

impl Fetched {
    #[inline(always)]
    const fn of([op, temps, word, other]: [u32; 4]) -> Self {
        Self {
            op,
            temps,
            word,
            other,
        }
    }

    /// Byte of operand `which`.
    #[inline(always)]
    pub(super) const fn byte(self, which: u32) -> u32 {
        self.temps >> (8 * which) & 0xff
    }

    /// Its join, if it has one.
    #[inline(always)]
    pub(super) fn joined(self) -> Option<Joined> {
        Joined::from_word(self.byte(C))
    }
}

/// The instructions of a wave.
#[derive(Clone, Copy, Debug)]
pub(super) struct Steps<G> {
    cx: ContextRef<G>,
    grid: G,
    /// Place of the first one that the block holds.
    held: u32,
}

impl<G: Grid> Steps<G> {
    /// Those that [`Steps::hold`] left.
    #[inline(always)]
    pub(super) fn again(cx: ContextRef<G>) -> Self {
        let grid = cx.grid();
        let held = grid.place(false, EACH_CODE.first());
        Self { cx, grid, held }
    }

    /// Takes the first instructions of a wave into shared memory. A block operation.
    #[inline(always)]
    pub(super) fn hold(cx: ContextRef<G>, (first, count): Part) {
        let grid = cx.grid();
        if grid.lane() == 0 {
            // SAFETY: a fixed word.
            unsafe { EACH_ITEM.store(grid, FIRST, first) };
        }
        if G::WARP > 1 {
            let steps = Self::again(cx);
            let mut at = grid.lane();
            while at < count.min(EACH_HELD) {
                steps.hold_one(first, at);
                at += grid.lanes();
            }
            if grid.lane() == 0 {
                // SAFETY: there is room for one more.
                unsafe { grid.place_store(steps.place(EACH_HELD), FAR) };
            }
        }
        grid.block_barrier();
    }

    /// Takes instruction `at`.
    #[inline(always)]
    fn hold_one(self, first: u32, at: u32) {
        let (grid, tables) = (self.grid, self.cx.context().tables);
        let words = tables.code(grid).constant4(grid, (first + at) * WORDS);
        let [op, _, register, _] = words;
        let array = if known(op).accesses()[0].is_some() {
            register_of(grid, tables, register)
        } else {
            nothing()
        };
        let address = array.address();
        let place = self.place(at);
        // SAFETY: `at` is below the number of instructions for which there is room; places are
        // multiples of four words.
        unsafe {
            grid.place_store4(place, arranged(words));
            let array = [address as u32, (address >> 32) as u32, array.len(), 0];
            grid.place_store4(place + WORDS * PLACE, array);
        }
    }

    #[inline(always)]
    pub(super) fn place(self, at: u32) -> u32 {
        self.held + at * (EACH_STEP * PLACE)
    }

    /// Instruction `at`.
    #[inline(always)]
    pub(super) fn fetch(self, at: u32) -> Fetched {
        if G::WARP > 1 && at < EACH_HELD {
            self.held(at)
        } else {
            self.far(at)
        }
    }

    #[inline(always)]
    fn held(self, at: u32) -> Fetched {
        // SAFETY: the block has room for it.
        Fetched::of(unsafe { self.grid.place_load4(self.place(at.min(EACH_HELD))) })
    }

    /// Instruction `at`; [`FAR`] in place of one that the block does not hold. Without a branch where
    /// there are warps.
    #[inline(always)]
    pub(super) fn next(self, at: u32) -> Fetched {
        if G::WARP == 1 {
            self.far(at)
        } else {
            self.held(at)
        }
    }

    /// The register that instruction `at` uses first, which is [`Steps::next`]; any if it uses none.
    #[inline(always)]
    pub(super) fn array(self, at: u32, instruction: Fetched) -> Words {
        if G::WARP == 1 {
            return if known(instruction.op).accesses()[0].is_some() {
                self.register(instruction)
            } else {
                nothing()
            };
        }
        let place = self.place(at.min(EACH_HELD)) + WORDS * PLACE;
        // SAFETY: the block has room for it.
        let [low, high, len, _] = unsafe { self.grid.place_load4(place) };
        let address = u64::from(low) | u64::from(high) << 32;
        // SAFETY: `hold_one` took both from the table of registers, and nobody uses them where it
        // did not.
        unsafe { Words::new(address as *mut u32, len) }
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

    /// The register that an instruction uses first.
    #[inline(always)]
    pub(super) fn register(self, at: Fetched) -> Words {
        register_of(self.grid, self.cx.context().tables, at.other)
    }
}

/// Operation in place of the first instruction that a block has no room for.
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
