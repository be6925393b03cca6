//! Strong components by one depth-first pass without recursion.
//!
//! A node gets the number of its discovery, which an open component keeps. A node on the path knows
//! the least number that it and the nodes after it reach along their edges; one that reaches no
//! number below its own is the first of its component, whose other nodes have left the path since
//! and lie on the stack of open nodes. They get the smallest of them as label, and the largest
//! number, which lowers none.
//!
//! On the way back, the words of the nodes that the path soon ends with are fetched into the caches.
//!
//! Work: each edge once, `m` looks; `2 n` labels. Memory: `4 n` words: a path and the open nodes
//! share a stack, as a node is on one of them at most.
//!
//! Source: Pearce, "A Space-Efficient Algorithm for Finding Strongly Connected Components", 2016,
//! after Tarjan, "Depth-First Search and Linear Graph Algorithms", 1972.

use super::Operands;
use super::work::{Rows, Scratch, Work};
use crate::machine::Grid;
use crate::machine::memory::{Csr, Words};
use seawall_core::abi::control::FaultCode;

/// Number of a node that was not discovered.
const NEW: u32 = 0;
/// Number of a node whose component is known.
const CLOSED: u32 = u32::MAX;
/// Nodes between the end of the path and the one whose words are fetched on the way back.
const AHEAD: u32 = 8;

/// Labels every node.
pub(super) fn label<G: Grid>(
    work: &mut Work<'_, G>,
    operands: &Operands,
    rows: Rows,
    mut scratch: Scratch,
) -> Result<(), FaultCode> {
    let (grid, nodes) = (work.grid, operands.nodes);
    operands.needs(nodes.into())?;
    let mut search = Search {
        rows: rows.rows,
        labels: operands.to,
        numbers: scratch.take(nodes)?,
        stack: scratch.take(nodes)?,
        cursors: scratch.take(nodes)?,
        least: scratch.take(nodes)?,
        path: 0,
        open: nodes,
        nodes,
        next: NEW + 1,
    };
    for node in 0..nodes {
        search.numbers.store_weak(grid, node, NEW);
    }
    for root in 0..nodes {
        if search.numbers.load_weak(grid, root) == NEW {
            search.from(work, root)?;
        }
    }
    Ok(())
}

struct Search {
    rows: Csr,
    labels: Words,
    numbers: Words,
    /// The path from its front, open nodes that are not on it from its back.
    stack: Words,
    /// By the place on the path: the next edge, and the least number that is known to be reached.
    cursors: Words,
    least: Words,
    path: u32,
    open: u32,
    nodes: u32,
    next: u32,
}

impl Search {
    #[inline(always)]
    fn enter<G: Grid>(&mut self, grid: G, node: u32) {
        let (start, _) = self.rows.row(grid, node);
        self.numbers.store_weak(grid, node, self.next);
        self.stack.store_weak(grid, self.path, node);
        self.cursors.store_weak(grid, self.path, start);
        self.least.store_weak(grid, self.path, self.next);
        self.path += 1;
        self.next += 1;
    }

    fn from<G: Grid>(&mut self, work: &mut Work<'_, G>, root: u32) -> Result<(), FaultCode> {
        let grid = work.grid;
        self.enter(grid, root);
        while let Some(top) = self.path.checked_sub(1) {
            let node = self.stack.load_weak(grid, top);
            let first = self.cursors.load_weak(grid, top);
            let (_, end) = self.rows.row(grid, node);
            let (mut edge, mut least) = (first, self.least.load_weak(grid, top));
            let mut found = None;
            while edge < end && found.is_none() {
                let to = self.rows.target(grid, edge);
                edge += 1;
                match self.numbers.load_weak(grid, to) {
                    NEW => found = Some(to),
                    reached => least = least.min(reached),
                }
            }
            work.spend(edge - first)?;
            if let Some(to) = found {
                self.least.store_weak(grid, top, least);
                self.cursors.store_weak(grid, top, edge);
                self.enter(grid, to);
            } else {
                self.leave(grid, node, least);
            }
        }
        Ok(())
    }

    /// Takes the last node off the path, and its component off the stack if it is the first of it.
    #[inline(always)]
    fn leave<G: Grid>(&mut self, grid: G, node: u32, least: u32) {
        self.path -= 1;
        if let Some(place) = self.path.checked_sub(AHEAD) {
            let soon = self.stack.load_weak(grid, place);
            self.numbers.prefetch(grid, soon);
            self.rows.prefetch_row(grid, soon);
            let edge = self.cursors.load_weak(grid, place);
            self.rows.prefetch_target(grid, edge);
        }
        if self.numbers.load_weak(grid, node) == least {
            self.close(grid, node, least);
            return;
        }
        self.open -= 1;
        self.stack.store_weak(grid, self.open, node);
        // The first node of a component is open, so there is one before this.
        let parent = self.path.saturating_sub(1);
        let known = self.least.load_weak(grid, parent);
        self.least.store_weak(grid, parent, known.min(least));
    }

    /// Labels the component of `node`, the first of it.
    fn close<G: Grid>(&mut self, grid: G, node: u32, number: u32) {
        let first = self.open;
        let mut smallest = node;
        while self.open < self.nodes {
            let member = self.stack.load_weak(grid, self.open);
            if self.numbers.load_weak(grid, member) < number {
                break;
            }
            smallest = smallest.min(member);
            self.open += 1;
        }
        for place in first..self.open {
            let member = self.stack.load_weak(grid, place);
            self.settle(grid, member, smallest);
        }
        self.settle(grid, node, smallest);
    }

    #[inline(always)]
    fn settle<G: Grid>(&self, grid: G, node: u32, label: u32) {
        self.numbers.store_weak(grid, node, CLOSED);
        self.labels.store_weak(grid, node, label);
    }
}
