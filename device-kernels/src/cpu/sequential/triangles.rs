//! Triangles of a dense graph, by rows of bits.
//!
//! Each node has a bit for every other one that it has an edge to. The bits that both ends of an edge
//! have are the third corners of its triangles, and a node is an end of two edges of each of its
//! triangles. To count each triangle once, at its corner of least degree, or of least number among
//! those, nodes have bits only for what comes after them in this order.
//!
//! Work: each edge twice, `2 m` looks, and `n / 64` pairs of words for each edge in one direction.
//! Memory: `n² / 32` words, less than a list of the edges from one in 32 pairs of nodes on.
//!
//! Source: Alon, Yuster, Zwick, "Finding and counting given length cycles", 1997, whose product of
//! adjacency matrices this is, a row at a time.

use super::Operands;
use super::work::{Rows, Scratch, Work};
use crate::machine::Grid;
use crate::machine::memory::{Csr, Words};
use seawall_core::abi::control::FaultCode;
use seawall_core::abi::sequential::bits_words;

/// Stores the number of triangles at every node; `ONCE` if each counts at one corner alone.
pub(super) fn count<G: Grid, const ONCE: bool>(
    work: &mut Work<'_, G>,
    operands: &Operands,
    rows: Rows,
    mut scratch: Scratch,
) -> Result<(), FaultCode> {
    let (grid, nodes, to) = (work.grid, operands.nodes, operands.to);
    operands.needs(nodes.into())?;
    let each = bits_words(nodes);
    let counting = Counting::<ONCE> {
        rows: rows.rows,
        bits: scratch.take_long(u64::from(nodes) * u64::from(each))?,
        each,
    };
    for node in 0..nodes {
        to.store_weak(grid, node, 0);
        counting.set(work, node)?;
    }
    for node in 0..nodes {
        let own = counting.row(node)?;
        let (mut sum, mut before) = (0_u32, node);
        for edge in work.row(counting.rows, node)? {
            let other = counting.rows.target(grid, edge);
            // Each edge once: from one end, not a loop, and not one of parallel ones again.
            let is_from_here = if ONCE {
                counting.is_after(grid, other, node)
            } else {
                other > node
            };
            if other == before || !is_from_here {
                continue;
            }
            before = other;
            work.pass(each)?;
            let count = common(grid, own, counting.row(other)?);
            sum = sum.wrapping_add(count);
            if !ONCE {
                let known = to.load_weak(grid, other);
                to.store_weak(grid, other, known.wrapping_add(count));
            }
        }
        if !ONCE {
            // All smaller neighbours have added their edges.
            sum = to.load_weak(grid, node).wrapping_add(sum) / 2;
        }
        to.store_weak(grid, node, sum);
    }
    Ok(())
}

struct Counting<const ONCE: bool> {
    rows: Csr,
    /// A row of bits for each node.
    bits: Words,
    /// Words of a row.
    each: u32,
}

impl<const ONCE: bool> Counting<ONCE> {
    /// Whether a node comes after `node` by degree, then by number.
    #[inline(always)]
    fn is_after<G: Grid>(&self, grid: G, other: u32, node: u32) -> bool {
        let place = |node: u32| {
            let (start, end) = self.rows.row(grid, node);
            (end - start, node)
        };
        place(other) > place(node)
    }

    /// The bits of a node.
    #[inline(always)]
    fn row(&self, node: u32) -> Result<Words, FaultCode> {
        let from = u64::from(node) * u64::from(self.each);
        let row = self.bits.part(from, self.each.into());
        row.ok_or(FaultCode::BadIndex)
    }

    /// Sets the bits of a node.
    fn set<G: Grid>(&self, work: &mut Work<'_, G>, node: u32) -> Result<(), FaultCode> {
        let (grid, row) = (work.grid, self.row(node)?);
        work.pass(self.each)?;
        for at in 0..self.each {
            row.store_weak(grid, at, 0);
        }
        for edge in work.row(self.rows, node)? {
            let other = self.rows.target(grid, edge);
            if other != node && (!ONCE || self.is_after(grid, other, node)) {
                let (at, bit) = (other >> 5, 1 << (other & 31));
                row.store_weak(grid, at, row.load_weak(grid, at) | bit);
            }
        }
        Ok(())
    }
}

/// The number of bits that both rows have.
#[inline(always)]
fn common<G: Grid>(grid: G, one: Words, other: Words) -> u32 {
    let pair = |at: u32| one.load_weak_pair(grid, at) & other.load_weak_pair(grid, at);
    let mut count = 0;
    let mut at = 0;
    while at < one.len() {
        count += pair(at).count_ones();
        at += 2;
    }
    count
}
