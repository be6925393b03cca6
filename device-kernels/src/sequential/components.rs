//! Strong components by one depth-first pass without recursion.
//!
//! A node gets the number of its discovery, and lowers it to the least number that it reaches along
//! its edges while their components are open. A node that keeps its own number is the first of its
//! component, whose other nodes have been closed since and lie on the stack of open nodes. They get
//! the smallest of them as label, and the largest number, which lowers none.
//!
//! Work: each edge once, `m` looks; `2 n` labels. Memory: `4 n` words: a path and the open nodes
//! share a stack, as a node is on one of them at most.
//!
//! Source: Pearce, "A Space-Efficient Algorithm for Finding Strongly Connected Components", 2016,
//! after Tarjan, "Depth-First Search and Linear Graph Algorithms", 1972.

use super::Operands;
use super::work::{Rows, Scratch, Work};
use crate::grid::Grid;
use crate::memory::{Csr, Words};
use seawall_core::abi::control::FaultCode;

/// Number of a node that was not discovered.
const NEW: u32 = 0;
/// Number of a node whose component is known.
const CLOSED: u32 = u32::MAX;

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
        low: scratch.take(nodes)?,
        stack: scratch.take(nodes)?,
        cursors: scratch.take(nodes)?,
        numbers: scratch.take(nodes)?,
        path: 0,
        open: nodes,
        nodes,
        next: NEW + 1,
    };
    for node in 0..nodes {
        search.low.store_weak(grid, node, NEW);
    }
    for root in 0..nodes {
        if search.low.load_weak(grid, root) == NEW {
            search.from(work, root)?;
        }
    }
    Ok(())
}

struct Search {
    rows: Csr,
    labels: Words,
    /// The least number that a node is known to reach.
    low: Words,
    /// The path from its front, open nodes that are not on it from its back.
    stack: Words,
    /// By the place on the path: the next edge, and the node's own number.
    cursors: Words,
    numbers: Words,
    path: u32,
    open: u32,
    nodes: u32,
    next: u32,
}

impl Search {
    #[inline(always)]
    fn enter<G: Grid>(&mut self, grid: G, node: u32) {
        let (start, _) = self.rows.row(grid, node);
        self.low.store_weak(grid, node, self.next);
        self.stack.store_weak(grid, self.path, node);
        self.cursors.store_weak(grid, self.path, start);
        self.numbers.store_weak(grid, self.path, self.next);
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
            let (mut edge, mut low) = (first, self.low.load_weak(grid, node));
            let mut found = None;
            while edge < end && found.is_none() {
                let to = self.rows.target(grid, edge);
                edge += 1;
                match self.low.load_weak(grid, to) {
                    NEW => found = Some(to),
                    reached => low = low.min(reached),
                }
            }
            work.spend(edge - first)?;
            self.low.store_weak(grid, node, low);
            self.cursors.store_weak(grid, top, edge);
            match found {
                Some(to) => self.enter(grid, to),
                None => self.leave(grid, node, low),
            }
        }
        Ok(())
    }

    /// Takes the last node off the path, and its component off the stack if it is the first of it.
    #[inline(always)]
    fn leave<G: Grid>(&mut self, grid: G, node: u32, low: u32) {
        self.path -= 1;
        if self.numbers.load_weak(grid, self.path) == low {
            self.close(grid, node, low);
            return;
        }
        self.open -= 1;
        self.stack.store_weak(grid, self.open, node);
        // The first node of a component is open, so there is one before this.
        let parent = self.stack.load_weak(grid, self.path.saturating_sub(1));
        let least = self.low.load_weak(grid, parent).min(low);
        self.low.store_weak(grid, parent, least);
    }

    /// Labels the component of `node`, the first of it.
    fn close<G: Grid>(&mut self, grid: G, node: u32, number: u32) {
        let first = self.open;
        let mut least = node;
        while self.open < self.nodes {
            let member = self.stack.load_weak(grid, self.open);
            if self.low.load_weak(grid, member) < number {
                break;
            }
            least = least.min(member);
            self.open += 1;
        }
        for place in first..self.open {
            let member = self.stack.load_weak(grid, place);
            self.settle(grid, member, least);
        }
        self.settle(grid, node, least);
    }

    #[inline(always)]
    fn settle<G: Grid>(&self, grid: G, node: u32, label: u32) {
        self.low.store_weak(grid, node, CLOSED);
        self.labels.store_weak(grid, node, label);
    }
}
