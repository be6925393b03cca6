//! Temporaries of a lane, and the instructions that name them.

use crate::context::ContextRef;
use crate::grid::Grid;
use crate::memory::Proven;
use crate::shared::EACH_TEMPS;
use seawall_core::abi::code::{Edges, EdgesPart, Instruction, OF_EDGE, Op, TEMPS};

use super::Part;

/// Words of an instruction.
const WORDS: u32 = (size_of::<Instruction>() / 4) as u32;

/// Instruction `at` of the table.
#[inline(always)]
pub(super) fn fetch<G: Grid>(cx: ContextRef<G>, at: u32) -> Fetched {
    let grid = cx.grid();
    fetch_from(grid, cx.context().tables.code(grid), at)
}

/// Instruction `at` of the table `code`. All warps of all blocks read the same few lines, so
/// these have to stay in the first-level cache: one slice of the second level would have to
/// answer everyone.
#[inline(always)]
pub(super) fn fetch_from<G: Grid>(grid: G, code: Proven, at: u32) -> Fetched {
    let [op, temps, first, second] = code.constant4_kept(grid, at * WORDS);
    Fetched {
        op,
        temps,
        first,
        second,
    }
}

/// An instruction, its temporaries still in one word.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fetched {
    pub(super) op: u32,
    temps: u32,
    pub(super) first: u32,
    pub(super) second: u32,
}

/// Byte of temporary `which` in the word of an instruction: `to`, `a`, `b`, `c`.
pub(super) const TO: u32 = 0;
pub(super) const A: u32 = 1;
pub(super) const B: u32 = 2;
pub(super) const C: u32 = 3;

/// The temporaries that a lane uses: its own for an edge, the owner's for its item.
#[derive(Clone, Copy, Debug)]
pub(super) struct Temps<G> {
    pub(super) grid: G,
    /// The lane of the block whose item it is.
    pub(super) owner: u32,
}

impl<G: Grid> Temps<G> {
    #[inline(always)]
    fn place(self, instruction: Fetched, which: u32) -> u32 {
        let temp = instruction.temps >> (8 * which) & 0xff;
        let own = temp & u32::from(OF_EDGE) != 0;
        let lane = if own { self.grid.lane() } else { self.owner };
        let number = temp & !u32::from(OF_EDGE);
        debug_assert!(number < u32::from(TEMPS), "temporary {number}");
        number * self.grid.lanes() + lane
    }

    /// A word.
    #[inline(always)]
    pub(super) fn word(self, instruction: Fetched, which: u32) -> u32 {
        // SAFETY: the host checked that there is such a temporary, for which there is room.
        unsafe { EACH_TEMPS.load(self.grid, self.place(instruction, which)) }
    }

    /// A pair.
    #[inline(always)]
    pub(super) fn wide(self, instruction: Fetched, which: u32) -> u64 {
        let at = self.place(instruction, which);
        // SAFETY: as above, also for the word after it.
        let [low, high] = unsafe {
            [
                EACH_TEMPS.load(self.grid, at),
                EACH_TEMPS.load(self.grid, at + self.grid.lanes()),
            ]
        };
        u64::from(low) | u64::from(high) << 32
    }

    /// A word, or a pair if `is_wide`.
    #[inline(always)]
    pub(super) fn value(self, instruction: Fetched, which: u32, is_wide: bool) -> u64 {
        if is_wide {
            self.wide(instruction, which)
        } else {
            u64::from(self.word(instruction, which))
        }
    }

    /// The word of lane `lane` of the block in a temporary of an edge.
    #[inline(always)]
    pub(super) fn value_of(self, at: Fetched, which: u32, is_wide: bool, lane: u32) -> u64 {
        let own = self.place(at, which) - self.grid.lane();
        let word = |from: u32| {
            // SAFETY: as for `word`, for a lane of the block.
            unsafe { EACH_TEMPS.load(self.grid, from + lane) }
        };
        let high = if is_wide {
            word(own + self.grid.lanes())
        } else {
            0
        };
        u64::from(word(own)) | u64::from(high) << 32
    }

    /// Stores a word.
    #[inline(always)]
    pub(super) fn set(self, instruction: Fetched, which: u32, word: u32) {
        // SAFETY: as for `word`.
        unsafe { EACH_TEMPS.store(self.grid, self.place(instruction, which), word) }
    }

    /// Stores a word, or a pair if `is_wide`.
    #[inline(always)]
    pub(super) fn set_value(self, instruction: Fetched, which: u32, is_wide: bool, value: u64) {
        let at = self.place(instruction, which);
        // SAFETY: as for `wide`.
        unsafe {
            EACH_TEMPS.store(self.grid, at, value as u32);
            if is_wide {
                EACH_TEMPS.store(self.grid, at + self.grid.lanes(), (value >> 32) as u32);
            }
        }
    }
}

/// Queries of code about the graph.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Needs {
    pub(super) incoming: bool,
    pub(super) weights: bool,
}

/// Looks through the code.
#[inline(never)]
pub(super) fn needs<G: Grid>(cx: ContextRef<G>, (first, end): Part) -> Needs {
    let mut needs = Needs::default();
    let mut at = first;
    while at < end {
        let instruction = fetch(cx, at);
        if instruction.op == Op::Edges as u32 {
            needs.incoming |= EdgesPart::from_word(instruction.first).edges == Edges::In;
        }
        if [Op::Degree as u32, Op::FirstEdge as u32].contains(&instruction.op) {
            needs.incoming |= instruction.first != Edges::Out as u32;
        }
        needs.weights |= instruction.op == Op::EdgeWeight as u32;
        at += 1;
    }
    needs
}
