//! Betweenness: shares of shortest paths through every node, by levels in the order of a queue.
//!
//! With `p(v)` shortest paths from a source to `v`, the share of paths through `v` is
//! `d(v) = sum of p(v) / p(w) (1 + d(w))` over the edges from `v` to nodes `w` one level further.
//! The queue gives the levels; forwards it counts paths, backwards it adds up shares. Edges are
//! followed, not pairs of nodes, so parallel edges are paths of their own, and loops are none.
//! `(1 + d(w)) / p(w)` takes the place of `p(w)` once it is known.
//!
//! Work: each edge of what a source reaches twice, at most `2 m`, and `n` nodes thrice. Memory:
//! `10 n` words.
//!
//! Source: Brandes, "A Faster Algorithm for Betweenness Centrality", 2001.

use super::Operands;
use super::paths::{Ends, Paths, Sums};
use super::work::{Rows, Scratch, Work};
use crate::grid::Grid;
use crate::memory::{Csr, Words};
use seawall_core::abi::UNREACHED;
use seawall_core::abi::control::FaultCode;

/// Adds up the shares of this block's sources.
pub(super) fn add_up<G: Grid>(
    work: &mut Work<'_, G>,
    operands: &Operands,
    (rows, mut scratch): (Rows, Scratch),
) -> Result<(), FaultCode> {
    let (grid, nodes) = (work.grid, operands.nodes);
    let sums = Sums::of(&mut scratch, nodes)?;
    let mut turn = Turn {
        rows: rows.rows,
        levels: scratch.take(nodes)?,
        queue: scratch.take(nodes)?,
        paths: Paths::new(grid, &mut scratch, nodes)?,
        ends: Ends::new(grid, &mut scratch, operands)?,
        sums,
    };
    sums.clear(grid, nodes);
    for node in 0..nodes {
        turn.levels.store_weak(grid, node, UNREACHED);
    }
    operands.each_source(grid, |source| {
        let reached = turn.forward(work, source)?;
        turn.backward(work, reached)
    })
}

struct Turn {
    rows: Csr,
    levels: Words,
    queue: Words,
    paths: Paths,
    ends: Ends,
    sums: Sums,
}

impl Turn {
    /// Counts paths from `source`; returns the nodes in the queue.
    fn forward<G: Grid>(&mut self, work: &mut Work<'_, G>, source: u32) -> Result<u32, FaultCode> {
        let grid = work.grid;
        self.levels.store_weak(grid, source, 0);
        self.queue.store_weak(grid, 0, source);
        self.paths.begin(grid, source);
        let (mut head, mut tail) = (0, 1);
        while head < tail {
            let node = self.queue.load_weak(grid, head);
            head += 1;
            let next = self.levels.load_weak(grid, node) + 1;
            let (start, end) = self.rows.row(grid, node);
            work.spend(end - start)?;
            for edge in start..end {
                let to = self.rows.target(grid, edge);
                let level = self.levels.load_weak(grid, to);
                if level == UNREACHED {
                    self.levels.store_weak(grid, to, next);
                    self.queue.store_weak(grid, tail, to);
                    tail += 1;
                    self.paths.copy(grid, to, node);
                } else if level == next {
                    self.paths.add(grid, to, node);
                }
            }
        }
        Ok(tail)
    }

    /// Adds up shares from the end of the queue on, and forgets the source.
    fn backward<G: Grid>(&mut self, work: &mut Work<'_, G>, reached: u32) -> Result<(), FaultCode> {
        let grid = work.grid;
        for at in (0..reached).rev() {
            let node = self.queue.load_weak(grid, at);
            let next = self.levels.load_weak(grid, node) + 1;
            let (start, end) = self.rows.row(grid, node);
            work.spend(end - start)?;
            let mut sum = 0.0;
            for edge in start..end {
                let to = self.rows.target(grid, edge);
                if self.levels.load_weak(grid, to) == next {
                    sum += self.paths.part_of(grid, to, node);
                }
            }
            let share = self.paths.share(grid, node, sum);
            // A path does not lead through its source.
            if at > 0 {
                self.sums.add(grid, node, share);
            }
            let all = share + self.ends.count(grid, node);
            self.paths.part(grid, node, all);
        }
        for at in 0..reached {
            let node = self.queue.load_weak(grid, at);
            self.levels.store_weak(grid, node, UNREACHED);
            self.paths.forget(grid, node);
        }
        self.paths.end();
        Ok(())
    }
}
