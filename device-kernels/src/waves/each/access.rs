//! Accesses of code to the graph and to registers.

use super::change;
use super::slots::{SLOTS, Words4, each_of};
use super::straight::Lane;
use super::temps::{A, Fetched, TO};
use crate::grid::Grid;
use crate::memory::{Csr, Words};
use crate::tables::Tables;
use seawall_core::abi::code::{Edges, Op};

impl<G: Grid> Lane<G> {
    #[inline(always)]
    pub(super) fn weights(&self) -> Words4 {
        let (grid, active) = (self.grid, self.active);
        let Some(weights) = self.cx.context().tables.weights(grid) else {
            return [0; SLOTS];
        };
        let edges = self.edges();
        each_of::<G, _>(active, |slot| weights.constant(grid, edges[slot]))
    }

    /// A property of nodes' rows; 0 for a number that is no node.
    #[inline(always)]
    pub(super) fn row(&self, op: Op, at: Fetched) {
        let (temps, grid) = (self.temps, self.grid);
        let tables = self.cx.context().tables;
        let nodes = temps.words(at, A);
        let there = change::within(grid, nodes, (tables.nodes(grid), self.active));
        let csr = rows_of(grid, tables, at.first);
        let of = |slot: usize| {
            let (start, end) = csr.row(grid, nodes[slot]);
            if op == Op::Degree { end - start } else { start }
        };
        temps.set(at, TO, each_of::<G, _>(there, of));
    }

    /// Register `index`, or one without words.
    #[inline(always)]
    pub(super) fn register(&self, index: u32) -> Words {
        let found = self.cx.context().tables.register(self.grid, index);
        // SAFETY: an array of no words is valid.
        found.unwrap_or_else(|_| unsafe { Words::new(core::ptr::null_mut(), 0) })
    }

    #[inline(always)]
    pub(super) fn load(&self, op: Op, at: Fetched) {
        let (temps, grid) = (self.temps, self.grid);
        let (from, index) = (self.register(at.first), temps.words(at, A));
        if matches!(op, Op::LoadWide | Op::LatestWide) {
            let there = change::within(grid, index, (from.len() / 2, self.active));
            // SAFETY: read where `there` has the slot, and registers start at multiples of 16
            // bytes.
            let from = unsafe { from.proven() };
            let pair = |slot: usize| {
                let place = 2 * index[slot];
                if op == Op::LatestWide {
                    return from.load_wide(grid, place);
                }
                let [low, high] = [place, place + 1].map(|place| from.load_weak(grid, place));
                u64::from(low) | u64::from(high) << 32
            };
            return temps.set_pairs(at, TO, each_of::<G, _>(there, pair));
        }
        let there = change::within(grid, index, (from.len(), self.active));
        // SAFETY: read where `there` has the slot.
        let from = unsafe { from.proven() };
        let words = if op == Op::Latest {
            each_of::<G, _>(there, |slot| from.load(grid, index[slot]))
        } else {
            each_of::<G, _>(there, |slot| from.load_weak(grid, index[slot]))
        };
        temps.set(at, TO, words);
    }

    #[inline(always)]
    pub(super) fn store(&self, op: Op, at: Fetched) {
        let (temps, grid) = (self.temps, self.grid);
        let (to, items) = (self.register(at.first), self.place.ends);
        if op == Op::StoreWide {
            let there = change::within(grid, items, (to.len() / 2, self.active));
            let pairs = temps.pairs(at, A);
            // SAFETY: written where `there` has the slot, and registers start at multiples of
            // 16 bytes.
            let to = unsafe { to.proven() };
            each_of::<G, _>(there, |slot| {
                to.store_weak(grid, 2 * items[slot], pairs[slot] as u32);
                to.store_weak(grid, 2 * items[slot] + 1, (pairs[slot] >> 32) as u32);
            });
            return;
        }
        let there = change::within(grid, items, (to.len(), self.active));
        let words = temps.words(at, A);
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
