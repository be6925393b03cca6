//! Edges of length 1: the queue of a search is the order of nodes.
//!
//! A node is known by its place in the queue. Places tell levels apart, and the numbers of paths lie
//! in their order, so that of another node only one word is looked up at random.

use crate::cpu::sequential::Operands;
use crate::cpu::sequential::paths::{Ends, Paths, Sums};
use crate::cpu::sequential::work::{Field, Rows, Scratch, Work, fetch};
use crate::machine::Grid;
use crate::machine::memory::{Csr, Words};
use seawall_core::abi::UNREACHED;
use seawall_core::abi::control::FaultCode;

/// Mark in the queue of the first node of a level. A graph whose words of scratch memory fit a
/// register has fewer nodes.
const FIRST: u32 = 1 << 31;

/// Nodes between the one at hand and that whose sum is fetched.
const AHEAD: u32 = 8;

pub(super) fn add_up<G: Grid>(
    work: &mut Work<'_, G>,
    operands: &Operands,
    rows: Rows,
    mut scratch: Scratch,
    (sums, ends): (Sums, Ends),
) -> Result<(), FaultCode> {
    let (grid, nodes) = (work.grid, operands.nodes);
    let mut turn = Turn {
        rows: rows.rows,
        sums,
        ends,
        places: scratch.take(nodes)?,
        order: scratch.take(nodes)?,
        paths: Paths::new(
            grid,
            scratch.take_pairs(nodes)?,
            scratch.take(nodes)?,
            nodes,
        ),
    };
    for node in 0..nodes {
        turn.places.store_weak(grid, node, UNREACHED);
    }
    operands.each_source(grid, |source| {
        let reached = turn.forward(work, source)?;
        turn.backward(work, reached)
    })
}

struct Turn {
    rows: Csr,
    sums: Sums,
    ends: Ends,
    /// The place of each node in the queue.
    places: Words,
    /// The queue, with marks.
    order: Words,
    /// Numbers of paths by the place of their end.
    paths: Paths,
}

impl Turn {
    #[inline(always)]
    fn node_at<G: Grid>(&self, grid: G, place: u32) -> u32 {
        self.order.load_weak(grid, place) & !FIRST
    }

    /// Counts paths from `source`; returns the number of nodes that it reaches.
    fn forward<G: Grid>(&mut self, work: &mut Work<'_, G>, source: u32) -> Result<u32, FaultCode> {
        let (grid, nodes) = (work.grid, self.order.len());
        self.paths.begin(grid, 0);
        self.places.store_weak(grid, source, 0);
        self.order.store_weak(grid, 0, source);
        // The first place of the level after that of the node at hand.
        let (mut at, mut reached, mut next) = (0, 1, 0);
        while at < reached {
            let node = self.order.load_weak(grid, at);
            if at == next {
                self.order.store_weak(grid, at, node | FIRST);
                next = reached;
                if next == nodes {
                    // All nodes are found, and this level is the last.
                    break;
                }
            }
            fetch(grid, self.rows, Field::of(self.places), |steps| {
                let at = at.saturating_add(steps);
                (at < reached).then(|| self.order.load_weak(grid, at))
            });
            for edge in work.row(self.rows, node)? {
                let to = self.rows.target(grid, edge);
                let place = self.places.load_weak(grid, to);
                if place == UNREACHED {
                    self.places.store_weak(grid, to, reached);
                    self.order.store_weak(grid, reached, to);
                    self.paths.copy(grid, reached, at);
                    // A queue of one node is not seen ahead.
                    self.rows.prefetch_row(grid, to);
                    reached += 1;
                } else if place >= next {
                    self.paths.add(grid, place, at);
                }
            }
            at += 1;
        }
        Ok(reached)
    }

    /// Adds up shares from the last node on, and forgets the source.
    fn backward<G: Grid>(&mut self, work: &mut Work<'_, G>, reached: u32) -> Result<(), FaultCode> {
        let grid = work.grid;
        let mut next = reached;
        for at in (0..reached).rev() {
            let before = |steps| Some(self.node_at(grid, at.checked_sub(steps)?));
            fetch(grid, self.rows, Field::of(self.places), before);
            if let Some(node) = before(AHEAD) {
                self.sums.prefetch(grid, node);
            }
            let word = self.order.load_weak(grid, at);
            let node = word & !FIRST;
            let mut sum = 0.0;
            // No path goes on from the last level.
            let edges = if next == reached {
                0..0
            } else {
                work.row(self.rows, node)?
            };
            for edge in edges {
                let to = self.rows.target(grid, edge);
                let place = self.places.load_weak(grid, to);
                if place >= next {
                    sum += self.paths.part_of(grid, place, at);
                }
            }
            let share = self.paths.share(grid, at, sum);
            // A path does not lead through its source.
            if at > 0 {
                self.sums.add(grid, node, share);
            }
            let all = share + self.ends.count(grid, node);
            self.paths.part(grid, at, all);
            if word & FIRST != 0 {
                next = at;
            }
        }
        for at in 0..reached {
            self.places
                .store_weak(grid, self.node_at(grid, at), UNREACHED);
            self.paths.forget(grid, at);
        }
        self.paths.end();
        Ok(())
    }
}
