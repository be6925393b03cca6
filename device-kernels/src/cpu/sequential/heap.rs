//! A heap of nodes by keys of 64 bits, the least first, whose keys may be lowered.
//!
//! Every entry has four below it, so that a node on its way down compares neighbours in memory. A
//! node enters once. A node that was taken keeps its place at the other end of the list, so that
//! forgetting costs what was found.

use super::work::{Pairs, Scratch};
use crate::machine::Grid;
use crate::machine::memory::Words;
use seawall_core::abi::control::FaultCode;

/// Entries below each entry of a heap.
const BELOW: u32 = 4;
/// Place of a node that never was in the heap.
const NEVER: u32 = u32::MAX;
/// Place of a node that was taken.
const TAKEN: u32 = u32::MAX - 1;

/// The place above `place`, which is not the first.
#[inline(always)]
pub(super) const fn above(place: u32) -> u32 {
    (place - 1) / BELOW
}

/// Returns the least entry below `place` in a heap of `length` entries, with its place.
#[inline(always)]
pub(super) fn least_below(
    place: u32,
    length: u32,
    key_at: impl Fn(u32) -> u64,
) -> Option<(u32, u64)> {
    let first = u64::from(place) * u64::from(BELOW) + 1;
    if first >= u64::from(length) {
        return None;
    }
    let first = first as u32;
    let end = first.saturating_add(BELOW).min(length);
    let mut least = (first, key_at(first));
    for below in first + 1..end {
        let key = key_at(below);
        if key < least.1 {
            least = (below, key);
        }
    }
    Some(least)
}

/// The number of places of a heap of `length` entries that may have entries below them.
pub(super) const fn inner(length: u32) -> u32 {
    length.div_ceil(BELOW)
}

/// The heap.
pub(super) struct Heap {
    places: Words,
    nodes: Words,
    keys: Pairs,
    capacity: u32,
    length: u32,
    taken: u32,
}

/// The effect of an offer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Offered {
    /// The node entered, or its key is lower now.
    Lower,
    /// The node is in the heap, by this key.
    Same,
    /// Nothing: the node has a lower key, or was taken.
    Nothing,
}

impl Heap {
    /// An empty heap of up to `nodes` nodes.
    ///
    /// # Errors
    /// [`FaultCode::BadRegister`] if the scratch memory is too short.
    pub(super) fn new<G: Grid>(
        grid: G,
        scratch: &mut Scratch,
        nodes: u32,
    ) -> Result<Self, FaultCode> {
        let places = scratch.take(nodes)?;
        for node in 0..nodes {
            places.store_weak(grid, node, NEVER);
        }
        Ok(Self {
            places,
            nodes: scratch.take(nodes)?,
            keys: scratch.take_pairs(nodes)?,
            capacity: nodes,
            length: 0,
            taken: 0,
        })
    }

    /// Gives `node` a key unless it has a lower one.
    #[inline(always)]
    pub(super) fn offer<G: Grid>(&mut self, grid: G, node: u32, key: u64) -> Offered {
        let place = match self.places.load_weak(grid, node) {
            TAKEN => return Offered::Nothing,
            NEVER => {
                self.length += 1;
                self.length - 1
            }
            place => {
                let before = self.keys.load(grid, place);
                if key >= before {
                    let is_same = key == before;
                    return if is_same {
                        Offered::Same
                    } else {
                        Offered::Nothing
                    };
                }
                place
            }
        };
        self.rise(grid, place, node, key);
        Offered::Lower
    }

    /// Puts an entry at `place` or above.
    #[inline(always)]
    fn rise<G: Grid>(&self, grid: G, mut place: u32, node: u32, key: u64) {
        while place > 0 {
            let above = above(place);
            let its_key = self.keys.load(grid, above);
            if its_key <= key {
                break;
            }
            let its_node = self.nodes.load_weak(grid, above);
            self.put(grid, place, its_node, its_key);
            place = above;
        }
        self.put(grid, place, node, key);
    }

    #[inline(always)]
    fn put<G: Grid>(&self, grid: G, place: u32, node: u32, key: u64) {
        self.nodes.store_weak(grid, place, node);
        self.keys.store(grid, place, key);
        self.places.store_weak(grid, node, place);
    }

    /// Takes the node of the least key, with the key.
    #[inline(always)]
    pub(super) fn take<G: Grid>(&mut self, grid: G) -> Option<(u32, u64)> {
        let last = self.length.checked_sub(1)?;
        let least = (self.nodes.load_weak(grid, 0), self.keys.load(grid, 0));
        let (node, key) = (self.nodes.load_weak(grid, last), self.keys.load(grid, last));
        self.length = last;
        if last > 0 {
            self.sink(grid, node, key);
        }
        self.places.store_weak(grid, least.0, TAKEN);
        self.taken += 1;
        self.nodes
            .store_weak(grid, self.capacity - self.taken, least.0);
        Some(least)
    }

    /// Puts an entry at the first place or below.
    #[inline(always)]
    fn sink<G: Grid>(&self, grid: G, node: u32, key: u64) {
        let mut place = 0;
        while let Some((below, its_key)) =
            least_below(place, self.length, |at| self.keys.load(grid, at))
        {
            if key <= its_key {
                break;
            }
            let its_node = self.nodes.load_weak(grid, below);
            self.put(grid, place, its_node, its_key);
            place = below;
        }
        self.put(grid, place, node, key);
    }

    /// Forgets the nodes that were taken; the heap is empty.
    pub(super) fn forget<G: Grid>(&mut self, grid: G) {
        for at in 1..=self.taken {
            let node = self.nodes.load_weak(grid, self.capacity - at);
            self.places.store_weak(grid, node, NEVER);
        }
        self.taken = 0;
    }
}
