//! Closeness and eccentricity of many nodes: breadth-first searches of 64 nodes that share looks.
//!
//! A node has the set of the searches that saw it, and of those that did on the present level. Only
//! nodes of the level are looked at, so that the work follows the edges and not the levels: an edge
//! passes a set on whose searches reach its end for the first time. Searches that meet share their
//! edges, others cost what they cost alone.
//!
//! Work: an edge once for each level on which a search reaches its start, at most `64 m` for 64
//! sources and about `m` times the levels where they meet. Sets are counted by binary adders of 8
//! bits. Memory: `9 n` words.
//!
//! Source: Then, Kaufmann, Chirigati, Hoang-Vu, Pham, Kemper, Neumann, Vo, "The More the Merrier:
//! Efficient Multi-Source Graph Traversal", 2014.

use super::Operands;
use super::searches::Distances;
use super::work::{Pairs, Rows, Scratch, Work};
use crate::machine::Grid;
use crate::machine::memory::{Csr, Words};
use seawall_core::abi::control::FaultCode;
use seawall_core::abi::sequential::TOGETHER;

/// Bits of an adder: it counts up to 255 sets.
const PLANES: usize = 8;

/// Measures the sources of this block, 64 at a time.
pub(super) fn measure<G: Grid>(
    work: &mut Work<'_, G>,
    operands: &Operands,
    rows: Rows,
    mut scratch: Scratch,
) -> Result<(), FaultCode> {
    let (grid, nodes) = (work.grid, operands.nodes);
    operands.needs(nodes.into())?;
    let mut searches = Searches {
        rows: rows.rows,
        seen: scratch.take_pairs(nodes)?,
        now: scratch.take_pairs(nodes)?,
        next: scratch.take_pairs(nodes)?,
        level: scratch.take(nodes)?,
        later: scratch.take(nodes)?,
        touched: scratch.take(nodes)?,
        touched_count: 0,
    };
    for node in 0..nodes {
        for sets in [searches.seen, searches.now, searches.next] {
            sets.store(grid, node, 0);
        }
    }
    let count = operands.sources.len();
    // Few sources are shared out, too.
    let share = count.div_ceil(operands.record.blocks).clamp(1, TOGETHER);
    let stride = u64::from(share) * u64::from(operands.record.blocks);
    let mut first = u64::from(operands.rank) * u64::from(share);
    while first < u64::from(count) {
        let some = share.min(count - first as u32);
        searches.search(work, operands, first as u32, some)?;
        first += stride;
    }
    Ok(())
}

struct Searches {
    rows: Csr,
    /// Searches that saw a node, that did on this level, and that do on the next.
    seen: Pairs,
    now: Pairs,
    next: Pairs,
    /// Nodes of this level and of the next.
    level: Words,
    later: Words,
    /// Nodes that a search saw.
    touched: Words,
    touched_count: u32,
}

impl Searches {
    /// Searches from `count` sources from entry `first` of the list on.
    fn search<G: Grid>(
        &mut self,
        work: &mut Work<'_, G>,
        operands: &Operands,
        first: u32,
        count: u32,
    ) -> Result<(), FaultCode> {
        let grid = work.grid;
        let mut found = [Distances::default(); TOGETHER as usize];
        let mut length = 0;
        for at in 0..count {
            let source = operands.source(grid, first + at)?;
            let before = self.seen.load(grid, source);
            if before == 0 {
                self.touch(grid, source);
                self.level.store_weak(grid, length, source);
                length += 1;
            }
            self.seen.store(grid, source, before | 1 << at);
            self.now.store(grid, source, before | 1 << at);
        }
        for one in &mut found {
            one.reached = 1;
        }
        let mut number = 0;
        // Where all searches found all nodes, another level has none.
        let is_open = |found: &[Distances]| found.iter().any(|one| one.reached < operands.nodes);
        while length > 0 && is_open(&found[..count as usize]) {
            number += 1;
            let next = self.expand(work, length)?;
            self.count(grid, next, number, &mut found);
            core::mem::swap(&mut self.now, &mut self.next);
            core::mem::swap(&mut self.level, &mut self.later);
            length = next;
        }
        self.clear(grid);
        for (at, found) in (0..count).zip(found) {
            let source = operands.source(grid, first + at)?;
            operands.store_measure(grid, source, found);
        }
        Ok(())
    }

    fn touch<G: Grid>(&mut self, grid: G, node: u32) {
        self.touched.store_weak(grid, self.touched_count, node);
        self.touched_count += 1;
    }

    /// Passes the sets of this level's `length` nodes on; returns the length of the next level.
    fn expand<G: Grid>(&mut self, work: &mut Work<'_, G>, length: u32) -> Result<u32, FaultCode> {
        let (grid, mut later) = (work.grid, 0);
        for at in 0..length {
            let node = self.level.load_weak(grid, at);
            let own = self.now.load(grid, node);
            self.now.store(grid, node, 0);
            for edge in work.row(self.rows, node)? {
                let to = self.rows.target(grid, edge);
                let seen = self.seen.load(grid, to);
                let new = own & !seen;
                if new == 0 {
                    continue;
                }
                if seen == 0 {
                    self.touch(grid, to);
                }
                self.seen.store(grid, to, seen | new);
                let before = self.next.load(grid, to);
                if before == 0 {
                    self.later.store_weak(grid, later, to);
                    later += 1;
                }
                self.next.store(grid, to, before | new);
            }
        }
        Ok(later)
    }

    /// Counts what the searches found on level `number`, which has `length` nodes.
    fn count<G: Grid>(
        &self,
        grid: G,
        length: u32,
        number: u32,
        found: &mut [Distances; TOGETHER as usize],
    ) {
        let mut at = 0;
        while at < length {
            let end = length.min(at.saturating_add((1 << PLANES) - 1));
            let mut planes = [0_u64; PLANES];
            while at < end {
                let node = self.later.load_weak(grid, at);
                let mut carry = self.next.load(grid, node);
                for plane in &mut planes {
                    (*plane, carry) = (*plane ^ carry, *plane & carry);
                }
                at += 1;
            }
            for (bit, one) in found.iter_mut().enumerate() {
                let mut count = 0;
                for (power, plane) in planes.iter().enumerate() {
                    count |= ((plane >> bit) as u32 & 1) << power;
                }
                if count > 0 {
                    one.reached += count;
                    one.sum += u64::from(number) * u64::from(count);
                    one.farthest = number;
                }
            }
        }
    }

    /// Forgets the searches, whose last level was not passed on if all nodes were found.
    fn clear<G: Grid>(&mut self, grid: G) {
        for at in 0..self.touched_count {
            let node = self.touched.load_weak(grid, at);
            self.seen.store(grid, node, 0);
            self.now.store(grid, node, 0);
        }
        self.touched_count = 0;
    }
}
