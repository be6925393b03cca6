//! Accesses of code to the graph and to registers.

use super::change;
use super::fetched::Fetched;
use super::slots::{SLOTS, Words4, each_of};
use super::steps::Array;
use super::straight::Lane;
use super::temps::Values;
use crate::machine::Grid;
use crate::machine::memory::{Csr, Words};
use crate::tables::Tables;
use seawall_core::abi::code::{Edges, Op};

impl<G: Grid> Lane<G> {
    #[inline(always)]
    pub(super) fn weights(&self) -> Words4 {
        let (grid, active) = (self.grid, self.active);
        let Some(weights) = self.place.weights(self.cx) else {
            return [0; SLOTS];
        };
        let edges = self.numbers;
        each_of::<G, _>(active, |slot| weights.constant(grid, edges[slot]))
    }

    /// A property of nodes' rows; 0 for a number that is no node.
    #[inline(always)]
    pub(super) fn row(&mut self, op: Op, at: Fetched) {
        let (grid, nodes) = (self.grid, self.hand.low);
        let tables = self.cx.context().tables;
        let there = change::within(grid, nodes, tables.nodes(grid), self.active);
        let csr = rows_of(grid, tables, at.other);
        self.hand.low = each_of::<G, _>(there, |slot| {
            let (start, end) = csr.row(grid, nodes[slot]);
            if op == Op::Degree { end - start } else { start }
        });
    }

    #[inline(always)]
    pub(super) fn load(&mut self, op: Op, array: Array) {
        let (grid, index, from) = (self.grid, self.hand.low, array.words);
        if matches!(op, Op::LoadWide | Op::LatestWide) {
            let there = array.within(grid, index, from.len() / 2, self.active);
            // SAFETY: read where `there` has the slot, and registers start at multiples of 16
            // bytes.
            let from = unsafe { from.proven() };
            let pairs = if op == Op::LatestWide {
                each_of::<G, _>(there, |slot| from.load_wide(grid, 2 * index[slot]))
            } else {
                each_of::<G, _>(there, |slot| from.load_weak_wide(grid, 2 * index[slot]))
            };
            self.hand = Values::of_pairs(pairs);
            return;
        }
        let there = array.within(grid, index, from.len(), self.active);
        // SAFETY: read where `there` has the slot.
        let from = unsafe { from.proven() };
        self.hand.low = if op == Op::Latest {
            each_of::<G, _>(there, |slot| from.load(grid, index[slot]))
        } else {
            each_of::<G, _>(there, |slot| from.load_weak(grid, index[slot]))
        };
    }

    #[inline(always)]
    pub(super) fn store(&self, op: Op, to: Words) {
        let grid = self.grid;
        // Nothing is derived from them before the loop over instructions.
        let items = self.ends.map(|item| grid.opaque(item));
        if op == Op::StoreWide {
            let there = change::within(grid, items, to.len() / 2, self.active);
            let pairs = self.hand.pairs();
            // SAFETY: written where `there` has the slot, and registers start at multiples of
            // 16 bytes.
            let to = unsafe { to.proven() };
            each_of::<G, _>(there, |slot| {
                to.store_weak_wide(grid, 2 * items[slot], pairs[slot]);
            });
            return;
        }
        let there = change::within(grid, items, to.len(), self.active);
        let words = self.hand.low;
        // SAFETY: written where `there` has the slot.
        let to = unsafe { to.proven() };
        each_of::<G, _>(there, |slot| to.store_weak(grid, items[slot], words[slot]));
    }
}

/// The rows of edges of a kind, which the launch holds.
#[inline(always)]
pub(super) fn rows_of<G: Grid>(grid: G, tables: Tables, edges: u32) -> Csr {
    if edges == Edges::Out as u32 {
        tables.outgoing(grid)
    } else {
        tables.incoming(grid)
    }
}
