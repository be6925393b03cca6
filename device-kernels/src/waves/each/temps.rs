//! Temporaries of a lane, and the instructions that name them.

use super::slots::{Pairs4, SLOTS, Words4, each};
use super::{Part, values};
use crate::context::ContextRef;
use crate::grid::{Grid, PLACE};
use crate::memory::Proven;
use crate::shared::{EACH_LANE, EACH_LANES, EACH_SLOTS, EACH_TEMPS};
use seawall_core::abi::code::{
    Edges, EdgesPart, Instruction, Joined, Kind, NOBODY, OF_EDGE, Op, TEMPS, WORD,
};

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

impl Fetched {
    /// Whether there is no temporary in place of `which`: [`WORD`], or [`NOBODY`].
    #[inline(always)]
    pub(super) fn is_nobody(self, which: u32) -> bool {
        const { assert!(WORD == NOBODY) };
        self.temps >> (8 * which) & 0xff == u32::from(WORD)
    }
}

/// Byte of temporary `which` in the word of an instruction: `to`, `a`, `b`, `c`.
pub(super) const TO: u32 = 0;
pub(super) const A: u32 = 1;
pub(super) const B: u32 = 2;
pub(super) const C: u32 = 3;

/// Bytes of a word in all slots.
const ROW: u32 = EACH_SLOTS * PLACE;

/// The memory of a block's temporaries: a row of all lanes for each, and in it the slots of a lane
/// side by side.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    /// Place of the first word.
    first: u32,
    /// Lanes that have temporaries, whole warps.
    pub(super) lanes: u32,
}

impl Room {
    /// The memory that the launch asked for, if that serves more lanes than the memory that
    /// every block has.
    #[inline(always)]
    pub(super) fn of<G: Grid>(grid: G) -> Self {
        let most = grid.extra_words() / EACH_LANE / G::WARP * G::WARP;
        let is_extra = most > EACH_LANES;
        let first = if is_extra { 0 } else { EACH_TEMPS.first() };
        let served = if is_extra { most } else { EACH_LANES };
        Self {
            first: grid.place(is_extra, first),
            lanes: grid.lanes().min(served),
        }
    }

    /// The temporaries of lane `lane`.
    #[inline(always)]
    pub(super) fn of_lane<G: Grid>(self, grid: G, lane: u32) -> Temps<G> {
        debug_assert!(lane < self.lanes, "lane {lane} of {}", self.lanes);
        let own = self.first + lane * ROW;
        Temps {
            grid,
            own,
            of_item: own,
            next: self.lanes * ROW,
            own_flag: u32::from(OF_EDGE),
        }
    }

    /// The temporaries of this lane at edges of the item in slot `slot` of lane `owner`.
    #[inline(always)]
    pub(super) fn at_edges<G: Grid>(self, grid: G, (owner, slot): (u32, u32)) -> Temps<G> {
        Temps {
            of_item: self.first + owner * ROW + slot * PLACE,
            own_flag: 0,
            ..self.of_lane(grid, grid.lane())
        }
    }
}

/// The temporaries that a lane uses.
#[derive(Clone, Copy, Debug)]
pub(super) struct Temps<G> {
    grid: G,
    /// Place of the lane's own.
    own: u32,
    /// Place of those of the item whose edges it visits.
    of_item: u32,
    /// Distance from one to the next.
    next: u32,
    /// [`OF_EDGE`] if the temporaries of items are the lane's own too.
    own_flag: u32,
}

impl<G: Grid> Temps<G> {
    /// The distance of temporary `which` from the first, and whether it is the lane's own.
    #[inline(always)]
    fn place(self, instruction: Fetched, which: u32) -> (u32, bool) {
        let temp = instruction.temps >> (8 * which) & 0xff;
        let number = temp & !u32::from(OF_EDGE);
        debug_assert!(number < u32::from(TEMPS), "temporary {number}");
        let is_own = (temp | self.own_flag) & u32::from(OF_EDGE) != 0;
        (number * self.next, is_own)
    }

    #[inline(always)]
    fn load(self, (far, is_own): (u32, bool)) -> Words4 {
        // SAFETY: the host checked that there is such a temporary, for which there is room; rows
        // and lanes begin at multiples of four words.
        unsafe {
            if G::WARP == 1 {
                let place = if is_own { self.own } else { self.of_item };
                return [self.grid.place_load(place + far), 0, 0, 0];
            }
            if is_own {
                self.grid.place_load4(self.own + far)
            } else {
                [self.grid.place_load(self.of_item + far); SLOTS]
            }
        }
    }

    #[inline(always)]
    fn store(self, far: u32, words: Words4) {
        // SAFETY: as for `load`.
        unsafe {
            if G::WARP == 1 {
                return self.grid.place_store(self.own + far, words[0]);
            }
            self.grid.place_store4(self.own + far, words);
        }
    }

    /// A word of each slot; an item's word in all of them, at its edges.
    #[inline(always)]
    pub(super) fn words(self, instruction: Fetched, which: u32) -> Words4 {
        self.load(self.place(instruction, which))
    }

    /// An operand that may be a word of the instruction.
    #[inline(always)]
    pub(super) fn operand(self, instruction: Fetched, which: u32) -> Words4 {
        if instruction.is_nobody(which) {
            return [instruction.first; SLOTS];
        }
        self.words(instruction, which)
    }

    /// A pair of each slot.
    #[inline(always)]
    pub(super) fn pairs(self, instruction: Fetched, which: u32) -> Pairs4 {
        let (far, is_own) = self.place(instruction, which);
        let low = self.load((far, is_own));
        let high = self.load((far + self.next, is_own));
        each::<G, _>(|slot| u64::from(low[slot]) | u64::from(high[slot]) << 32)
    }

    /// Stores a word of each slot. Code makes values of its own alone.
    #[inline(always)]
    pub(super) fn set(self, instruction: Fetched, which: u32, words: Words4) {
        self.store(self.place(instruction, which).0, words);
    }

    /// Stores a pair of each slot.
    #[inline(always)]
    pub(super) fn set_pairs(self, instruction: Fetched, which: u32, pairs: Pairs4) {
        let far = self.place(instruction, which).0;
        self.store(far, pairs.map(|pair| pair as u32));
        self.store(far + self.next, pairs.map(|pair| (pair >> 32) as u32));
    }

    /// Stores a value in each slot: a word, or a pair if `is_wide`.
    #[inline(always)]
    pub(super) fn fill(self, instruction: Fetched, which: u32, is_wide: bool, value: u64) {
        let far = self.place(instruction, which).0;
        self.store(far, [value as u32; SLOTS]);
        if is_wide {
            self.store(far + self.next, [(value >> 32) as u32; SLOTS]);
        }
    }

    /// The values of the slots of `which`, joined.
    #[inline(always)]
    pub(super) fn join(self, instruction: Fetched, which: u32, joined: Joined) -> u64 {
        let all = if joined.kind == Kind::U64 {
            self.pairs(instruction, which)
        } else {
            self.words(instruction, which).map(u64::from)
        };
        if G::WARP == 1 {
            return all[0];
        }
        let [first, second, third, fourth] = all;
        let [first, third] = [
            values::join(joined, first, second),
            values::join(joined, third, fourth),
        ];
        values::join(joined, first, third)
    }

    /// The first slot of `which`.
    #[inline(always)]
    pub(super) fn first(self, instruction: Fetched, which: u32, is_wide: bool) -> u64 {
        if is_wide {
            self.pairs(instruction, which)[0]
        } else {
            u64::from(self.words(instruction, which)[0])
        }
    }

    /// Stores a value of the item whose edges these are: a word, or a pair if `is_wide`.
    #[inline(always)]
    pub(super) fn set_item(self, instruction: Fetched, which: u32, is_wide: bool, value: u64) {
        let place = self.of_item + self.place(instruction, which).0;
        // SAFETY: as for `load`.
        unsafe {
            self.grid.place_store(place, value as u32);
            if is_wide {
                let place = place + self.next;
                self.grid.place_store(place, (value >> 32) as u32);
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
