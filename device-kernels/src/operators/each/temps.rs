//! Temporaries of a lane.

use super::fetched::{Fetched, TO};
use super::slots::{Pairs4, SLOTS, Words4, each};
use super::values;
use crate::machine::shared::{
    EACH_LANE, EACH_LANES, EACH_ROWS, EACH_SLOTS, EACH_TEMPS, EACH_WARP_ROWS,
};
use crate::machine::{Grid, PLACE};
use seawall_core::abi::code::{Joined, Kind, NUMBERED, OF_EDGE, PAIR, TEMPS};

/// Bytes of a word in all slots.
const ROW: u32 = EACH_SLOTS * PLACE;

/// Values of the slots, of one word or two.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Values {
    pub(super) low: Words4,
    pub(super) high: Words4,
}

impl Values {
    /// Both words of each.
    #[inline(always)]
    pub(super) fn pairs(self) -> Pairs4 {
        each(|slot| u64::from(self.low[slot]) | u64::from(self.high[slot]) << 32)
    }

    /// The values that are these pairs.
    #[inline(always)]
    pub(super) fn of_pairs(pairs: Pairs4) -> Self {
        Self {
            low: pairs.map(|pair| pair as u32),
            high: pairs.map(|pair| (pair >> 32) as u32),
        }
    }

    /// The same in every slot.
    #[inline(always)]
    pub(super) const fn all(value: u64) -> Self {
        Self {
            low: [value as u32; SLOTS],
            high: [(value >> 32) as u32; SLOTS],
        }
    }

    /// The value of the first slot.
    #[inline(always)]
    pub(super) fn first(self, is_wide: bool) -> u64 {
        let high = if is_wide { self.high[0] } else { 0 };
        u64::from(self.low[0]) | u64::from(high) << 32
    }

    /// The values of all slots, joined.
    #[inline(always)]
    pub(super) fn join(self, joined: Joined) -> u64 {
        let is_wide = joined.kind == Kind::U64;
        let mut all = self.first(is_wide);
        let [_, second, third, fourth] = self.pairs();
        let mut rotating = (second, third, fourth);
        // A loop, so that the join is distinguished at one place.
        for _ in 1..SLOTS {
            let (next, third, fourth) = rotating;
            rotating = (third, fourth, next);
            let next = if is_wide {
                next
            } else {
                u64::from(next as u32)
            };
            all = values::join(joined, all, next);
        }
        all
    }
}

/// The memory of a block's temporaries: a row of all lanes for each, and in it the slots of a lane
/// side by side.
#[derive(Clone, Copy, Debug)]
pub(super) struct TemporaryMemory {
    /// Place of the first word.
    first: u32,
    /// Place of the rows and buffered values of the first warp.
    rows: u32,
    /// Lanes that have temporaries, whole warps.
    pub(super) lanes: u32,
}

impl TemporaryMemory {
    /// The memory that the launch requested, if it serves more lanes than the memory of every
    /// block.
    #[inline(always)]
    pub(super) fn of<G: Grid>(grid: G) -> Self {
        let most = grid.extra_words() / EACH_LANE / G::WARP * G::WARP;
        let is_extra = most > EACH_LANES;
        let (first, rows) = if is_extra {
            (0, EACH_TEMPS.first())
        } else {
            (EACH_TEMPS.first(), EACH_ROWS.first())
        };
        let served = if is_extra { most } else { EACH_LANES };
        Self {
            first: grid.place(is_extra, first),
            rows: grid.place(false, rows),
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
    pub(super) fn at_edges<G: Grid>(self, grid: G, owner: u32, slot: u32) -> Temps<G> {
        Temps {
            of_item: self.first + owner * ROW + slot * PLACE,
            own_flag: 0,
            ..self.of_lane(grid, grid.lane())
        }
    }

    /// Place of row `number` among the rows that the warp of this lane visits.
    #[inline(always)]
    pub(super) fn row<G: Grid>(self, grid: G, number: u32) -> u32 {
        debug_assert!(number * 4 < EACH_WARP_ROWS, "row {number}");
        self.rows + (grid.lane() / G::WARP * EACH_WARP_ROWS + number * 4) * PLACE
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
    /// The distance of the temporary that a byte names from the first one.
    #[inline(always)]
    fn distance(self, byte: u32) -> u32 {
        let number = byte & u32::from(NUMBERED);
        debug_assert!(number < u32::from(TEMPS), "temporary {number}");
        number * self.next
    }

    #[inline(always)]
    fn load(self, far: u32, is_own: bool) -> Words4 {
        // SAFETY: the host checked that the temporary exists and has space; rows and lanes begin at
        // multiples of four words.
        unsafe {
            if is_own {
                self.grid.place_load4(self.own + far)
            } else {
                [self.grid.place_load(self.of_item + far); SLOTS]
            }
        }
    }

    /// Whether a temporary has a value of each slot.
    #[inline(always)]
    const fn is_own(self, byte: u32) -> bool {
        (byte | self.own_flag) & OF_EDGE as u32 != 0
    }

    /// The words, or low words, of the temporary that a byte names. At edges, an item's value is in
    /// all slots.
    #[inline(always)]
    pub(super) fn low(self, byte: u32) -> Words4 {
        self.load(self.distance(byte), self.is_own(byte))
    }

    /// The high words of the pair that a byte names.
    #[inline(always)]
    pub(super) fn high(self, byte: u32) -> Words4 {
        self.load(self.distance(byte) + self.next, self.is_own(byte))
    }

    /// The lane's own values in the temporary that a byte names.
    #[inline(always)]
    pub(super) fn own_values(self, byte: u32) -> Values {
        let byte = byte | u32::from(OF_EDGE);
        Values {
            low: self.low(byte),
            high: if byte & u32::from(PAIR) == 0 {
                [0; SLOTS]
            } else {
                self.high(byte)
            },
        }
    }

    #[inline(always)]
    fn store(self, far: u32, words: Words4) {
        // SAFETY: as for `load`.
        unsafe {
            self.grid.place_store4(self.own + far, words);
        }
    }

    /// Stores values in the temporary that a byte names, one of the lane's own.
    #[inline(always)]
    pub(super) fn set(self, byte: u32, values: Values) {
        let far = self.distance(byte);
        self.store(far, values.low);
        if byte & u32::from(PAIR) != 0 {
            self.store(far + self.next, values.high);
        }
    }

    /// Result of a reduction for the item whose edges these are.
    #[inline(always)]
    pub(super) fn reduced(self, at: Fetched, is_wide: bool) -> u64 {
        let place = self.of_item + self.distance(at.byte(TO));
        // SAFETY: as for `load`.
        unsafe {
            let high = if is_wide {
                self.grid.place_load(place + self.next)
            } else {
                0
            };
            u64::from(self.grid.place_load(place)) | u64::from(high) << 32
        }
    }

    /// Stores the result of that item.
    #[inline(always)]
    pub(super) fn set_reduced(self, at: Fetched, is_wide: bool, value: u64) {
        let place = self.of_item + self.distance(at.byte(TO));
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
