//! Sweeps: instructions, and the items or edges that they run for.

use super::slots::Words4;
use super::temps::{TemporaryMemory, Temps};
use crate::collectives::context::ContextRef;
use crate::machine::Grid;
use crate::machine::memory::{Csr, Proven};
use crate::machine::shared::EACH_SLOTS;
use seawall_core::abi::code::Edges;

/// Instructions, and the items or edges that they run for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sweep {
    /// The first instruction and the one after the last.
    pub(super) code: (u32, u32),
    /// The item or edge of each slot, and the one after its last edge. For items, the active slots
    /// instead.
    pub(super) from: Words4,
    pub(super) to: Words4,
    /// Distance from one edge of a slot to the next.
    pub(super) step: u32,
    /// Lanes of the warp that share a row; none if each slot has its own row.
    pub(super) group: u32,
    pub(super) place: Place,
}

/// The items or edges of a sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place(u32);

/// Bit of a place: edges.
const EDGES: u32 = 1;
/// Bit of a place: edges that enter.
const INCOMING: u32 = 2;
/// Bit of a place: rows end where every reduction has its absorbing value.
const ENDS_EARLY: u32 = 4;
/// First bit of the owner of a row: its lane and slot, or all ones where slots have their own.
const OWNER: u32 = 3;

impl Place {
    /// Items.
    pub(super) const ITEMS: Self = Self(u32::MAX << OWNER);

    /// Edges of the items that the lane has in its slots.
    #[inline(always)]
    pub(super) const fn of_own(edges: Edges, ends_early: bool) -> Self {
        let incoming = matches!(edges, Edges::In) as u32 * INCOMING;
        Self(Self::ITEMS.0 | EDGES | incoming | (ends_early as u32 * ENDS_EARLY))
    }

    /// The same edges of the item in a slot of a lane.
    #[inline(always)]
    pub(super) const fn of(self, (lane, slot): (u32, u32)) -> Self {
        Self(self.0 & !Self::ITEMS.0 | (lane * EACH_SLOTS + slot) << OWNER)
    }

    #[inline(always)]
    const fn has(self, bit: u32) -> bool {
        self.0 & bit != 0
    }

    /// Whether it is edges, for a loop that serves both.
    #[inline(always)]
    pub(super) fn is_edges<G: Grid>(self, grid: G) -> bool {
        Self(grid.opaque(self.0)).has(EDGES)
    }

    /// Its word, the inverse of [`Place::of_word`].
    #[inline(always)]
    pub(super) const fn word(self) -> u32 {
        self.0
    }

    #[inline(always)]
    pub(super) const fn of_word(word: u32) -> Self {
        Self(word)
    }

    #[inline(always)]
    pub(super) const fn ends_early(self) -> bool {
        self.has(ENDS_EARLY)
    }

    /// The rows of the edges.
    #[inline(always)]
    pub(super) fn csr<G: Grid>(self, cx: ContextRef<G>) -> Csr {
        let tables = cx.context().tables;
        if self.has(INCOMING) {
            tables.incoming(cx.grid())
        } else {
            tables.outgoing(cx.grid())
        }
    }

    /// The weights of the edges, in the order of [`Place::csr`].
    #[inline(always)]
    pub(super) fn weights<G: Grid>(self, cx: ContextRef<G>) -> Option<Proven> {
        let tables = cx.context().tables;
        if self.has(INCOMING) {
            tables.incoming_weights(cx.grid())
        } else {
            tables.weights(cx.grid())
        }
    }

    #[inline(always)]
    pub(super) fn temps<G: Grid>(self, grid: G) -> Temps<G> {
        let space = TemporaryMemory::of(grid);
        if self.0 >= Self::ITEMS.0 {
            space.of_lane(grid, grid.lane())
        } else {
            let owner = self.0 >> OWNER;
            space.at_edges(grid, owner / EACH_SLOTS, owner % EACH_SLOTS)
        }
    }
}
