//! Core numbers: nodes in the order of the neighbours that they have left.
//!
//! The node with the fewest neighbours left has that number as its core. It goes, and each of its
//! neighbours that has more moves to the front of the nodes of its number, and then to those of one
//! less, whose places end there.
//!
//! Work: each edge once, `m` looks, and `O(n)`. Memory: `3 n` words.
//!
//! Source: Batagelj and Zaveršnik, "An O(m) Algorithm for Cores Decomposition of Networks", 2003.

use super::Operands;
use super::work::{Rows, Scratch, Work};
use crate::machine::Grid;
use crate::machine::memory::{Csr, Words};
use seawall_core::abi::control::FaultCode;

/// Stores the core number of every node.
pub(super) fn peel<G: Grid>(
    work: &mut Work<'_, G>,
    operands: &Operands,
    rows: Rows,
    mut scratch: Scratch,
) -> Result<(), FaultCode> {
    let (grid, nodes) = (work.grid, operands.nodes);
    operands.needs(nodes.into())?;
    let peeling = Peeling {
        rows: rows.rows,
        nodes,
        left: operands.to,
        order: scratch.take(nodes)?,
        places: scratch.take(nodes)?,
        firsts: scratch.take(nodes)?,
    };
    peeling.sort(work)?;
    for at in 0..nodes {
        let node = peeling.order.load_weak(grid, at);
        let core = peeling.left.load_weak(grid, node);
        for edge in work.row(peeling.rows, node)? {
            peeling.lower(grid, peeling.rows.target(grid, edge), core);
        }
    }
    Ok(())
}

struct Peeling {
    rows: Csr,
    nodes: u32,
    /// Neighbours that each node has left; in the end its core number.
    left: Words,
    /// Nodes by the neighbours that they have left.
    order: Words,
    /// The place of each node in that order.
    places: Words,
    /// The first place of the nodes of each number that have not gone.
    firsts: Words,
}

impl Peeling {
    /// Sorts nodes by their degrees.
    fn sort<G: Grid>(&self, work: &mut Work<'_, G>) -> Result<(), FaultCode> {
        let grid = work.grid;
        for degree in 0..self.nodes {
            self.firsts.store_weak(grid, degree, 0);
        }
        for node in 0..self.nodes {
            work.pass(1)?;
            let (start, end) = self.rows.row(grid, node);
            // Without loops and parallel edges no row is longer.
            let degree = (end - start).min(self.nodes - 1);
            self.left.store_weak(grid, node, degree);
            let count = self.firsts.load_weak(grid, degree);
            self.firsts.store_weak(grid, degree, count + 1);
        }
        let mut first = 0;
        for degree in 0..self.nodes {
            let count = self.firsts.load_weak(grid, degree);
            self.firsts.store_weak(grid, degree, first);
            first += count;
        }
        for node in 0..self.nodes {
            work.pass(1)?;
            let degree = self.left.load_weak(grid, node);
            let place = self.firsts.load_weak(grid, degree);
            self.put(grid, place, node);
            self.firsts.store_weak(grid, degree, place + 1);
        }
        // The first place of the next degree now was that of this one before.
        let mut first = 0;
        for degree in 0..self.nodes {
            let next = self.firsts.load_weak(grid, degree);
            self.firsts.store_weak(grid, degree, first);
            first = next;
        }
        Ok(())
    }

    #[inline(always)]
    fn put<G: Grid>(&self, grid: G, place: u32, node: u32) {
        self.order.store_weak(grid, place, node);
        self.places.store_weak(grid, node, place);
    }

    /// Takes a neighbour from `node` unless it went before, at most at `core`.
    #[inline(always)]
    fn lower<G: Grid>(&self, grid: G, node: u32, core: u32) {
        let left = self.left.load_weak(grid, node);
        if left <= core {
            return;
        }
        let first = self.firsts.load_weak(grid, left);
        let place = self.places.load_weak(grid, node);
        if place != first {
            let other = self.order.load_weak(grid, first);
            self.put(grid, place, other);
            self.put(grid, first, node);
        }
        self.firsts.store_weak(grid, left, first.wrapping_add(1));
        self.left.store_weak(grid, node, left - 1);
    }
}
