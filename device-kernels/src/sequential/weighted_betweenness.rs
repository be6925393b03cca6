//! Betweenness along weights: as [`betweenness`](super::betweenness), by the order of a heap.
//!
//! A path is shortest if its sum of weights is the least, compared exactly: whole sums of 64 bits,
//! or doubles of float weights. Weights are above 0, so that a path's nodes leave the heap in its
//! order. Where a double is so large that an edge does not lengthen it, the edge is no path.
//!
//! Work: each edge of what a source reaches twice, and a step of a heap for each node and each edge
//! that shortens a path: `O((n + m) log n)` a source. Memory: `15 n` words.
//!
//! Source: Brandes, "A Faster Algorithm for Betweenness Centrality", 2001.

use super::Operands;
use super::heap::{Heap, Offered};
use super::paths::{Ends, Paths, Sums};
use super::work::{Pairs, Rows, Scratch, Work};
use crate::grid::Grid;
use crate::memory::Words;
use seawall_core::abi::control::FaultCode;

/// Distance of a node that no path reaches: above every sum, and not one as a double.
const NEVER: u64 = u64::MAX;

/// Adds up the shares of this block's sources.
pub(super) fn add_up<G: Grid>(
    work: &mut Work<'_, G>,
    operands: &Operands,
    (rows, mut scratch): (Rows, Scratch),
) -> Result<(), FaultCode> {
    let (grid, nodes) = (work.grid, operands.nodes);
    let sums = Sums::of(&mut scratch, nodes)?;
    let mut turn = Turn {
        rows,
        distances: scratch.take_pairs(nodes)?,
        order: scratch.take(nodes)?,
        paths: Paths::new(grid, &mut scratch, nodes)?,
        ends: Ends::new(grid, &mut scratch, operands)?,
        heap: Heap::new(grid, &mut scratch, nodes)?,
        sums,
    };
    sums.clear(grid, nodes);
    for node in 0..nodes {
        turn.distances.store(grid, node, NEVER);
    }
    operands.each_source(grid, |source| {
        let reached = turn.forward(work, source)?;
        turn.backward(work, reached)
    })
}

struct Turn {
    rows: Rows,
    distances: Pairs,
    order: Words,
    paths: Paths,
    ends: Ends,
    heap: Heap,
    sums: Sums,
}

impl Turn {
    /// Counts paths from `source`; returns the nodes in order.
    fn forward<G: Grid>(&mut self, work: &mut Work<'_, G>, source: u32) -> Result<u32, FaultCode> {
        let grid = work.grid;
        let mut reached = 0;
        self.paths.begin(grid, source);
        self.heap.offer(grid, source, 0);
        while let Some((node, length)) = self.heap.take(grid) {
            self.distances.store(grid, node, length);
            self.order.store_weak(grid, reached, node);
            reached += 1;
            let (start, end) = self.rows.rows.row(grid, node);
            work.spend(end - start)?;
            for edge in start..end {
                let to = self.rows.rows.target(grid, edge);
                let longer = self.rows.along(grid, length, edge);
                if longer <= length {
                    continue;
                }
                match self.heap.offer(grid, to, longer) {
                    Offered::Lower => self.paths.copy(grid, to, node),
                    Offered::Same => self.paths.add(grid, to, node),
                    Offered::Nothing => {}
                }
            }
        }
        Ok(reached)
    }

    /// Adds up shares from the last node on, and forgets the source.
    fn backward<G: Grid>(&mut self, work: &mut Work<'_, G>, reached: u32) -> Result<(), FaultCode> {
        let grid = work.grid;
        for at in (0..reached).rev() {
            let node = self.order.load_weak(grid, at);
            let length = self.distances.load(grid, node);
            let (start, end) = self.rows.rows.row(grid, node);
            work.spend(end - start)?;
            let mut sum = 0.0;
            for edge in start..end {
                let to = self.rows.rows.target(grid, edge);
                let longer = self.rows.along(grid, length, edge);
                if longer > length && self.distances.load(grid, to) == longer {
                    sum += self.paths.part_of(grid, to, node);
                }
            }
            let share = self.paths.share(grid, node, sum);
            if at > 0 {
                self.sums.add(grid, node, share);
            }
            let all = share + self.ends.count(grid, node);
            self.paths.part(grid, node, all);
        }
        for at in 0..reached {
            let node = self.order.load_weak(grid, at);
            self.distances.store(grid, node, NEVER);
            self.paths.forget(grid, node);
        }
        self.paths.end();
        self.heap.forget(grid);
        Ok(())
    }
}
