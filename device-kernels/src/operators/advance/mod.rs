//! One traversal: from the queued nodes over the edges of their rows to the next queue.
//!
//! A [`Visit`] says what happens at an edge. Its [`Balance`] names the ways in which machines with
//! warps may share out the edges; a one-lane block walks an even share of them (`threads`).
//!
//! | way | a lane takes | for |
//! | --- | --- | --- |
//! | `rows` | a row, or with its warp a long one | rows of few edges |
//! | `warps` | edges of its warp's even share | many edges, no barriers |
//! | `blocks` | edges of its block's even shares | any queue |
//! | `edges` | edges of even shares of all rows | rounds without a queue |
//!
//! A queue's entries know how many edges come before theirs, so the first row of a share is found
//! by a search, whatever the degrees are. Work is linear in the edges, and every way but `rows`
//! gives a lane as many as any other. A search by levels does not call [`advance`]: it looks up its
//! arrays again at every step (codegen rule `LOOK_UP_AGAIN`), and is made of the same parts.

pub mod row_spread;
pub mod edges;
pub mod threads;
pub mod rows;
pub mod blocks;
pub mod warps;

use crate::collectives::queue::{Ends, Fill, Finds, Queue, enqueue};
use crate::collectives::team::Team;
use crate::machine::Grid;
use crate::machine::memory::Csr;

/// The rows of a queue to expand.
#[derive(Clone, Copy, Debug)]
pub struct Source {
    /// Rows of the graph.
    pub rows: Csr,
    /// The queue.
    pub queue: Queue,
    /// Nodes in it.
    pub nodes: u32,
    /// Edges that leave them.
    pub edges: u32,
}

/// Up to `K` edges of queued nodes.
#[derive(Clone, Copy, Debug)]
pub struct Edges<const K: usize> {
    /// Nodes that they enter.
    pub to: [u32; K],
    /// Their numbers in the rows.
    pub index: [u32; K],
    /// The words of the nodes that they leave, see [`Visit::leave`].
    pub value: [u32; K],
    /// One bit per edge that there is.
    pub mask: u32,
}

impl<const K: usize> Edges<K> {
    /// No edges.
    pub const NONE: Self = Self {
        to: [0; K],
        index: [0; K],
        value: [0; K],
        mask: 0,
    };

    /// Whether there is an edge `k`.
    #[inline(always)]
    #[must_use]
    pub fn has(&self, k: usize) -> bool {
        self.mask >> k & 1 != 0
    }
}

impl Edges<1> {
    /// The edge of number `index`, of a node with this `value`.
    #[inline(always)]
    pub fn one<G: Grid>(grid: G, rows: Csr, index: u32, value: u32) -> Self {
        Self {
            to: [rows.target(grid, index)],
            index: [index],
            value: [value],
            mask: 1,
        }
    }
}

/// Ways of sharing out edges that a traversal may take besides even shares by blocks. Each costs
/// code, and its kernel registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Balance {
    /// Row by row, where rows are short.
    pub rows: bool,
    /// In even shares by warps, where there are many edges.
    pub warps: bool,
}

impl Balance {
    /// Always in even shares by blocks.
    pub const BLOCKS: Self = Self {
        rows: false,
        warps: false,
    };
    /// By warps or by blocks.
    pub const SHARES: Self = Self {
        warps: true,
        ..Self::BLOCKS
    };
}

/// Decides what happens at edges.
pub trait Visit {
    /// Whether accesses of several edges overlap, so that a lane takes as many at a time.
    const TOGETHER: bool;

    /// Ways of sharing out edges.
    const BALANCE: Balance;

    /// Leaves a queued node: returns the word that its edges carry. A node whose edges are in
    /// several shares is left once per share.
    fn leave(&self, node: u32) -> u32;

    /// Prefetches what belongs to a node that a one-lane block leaves later, and to its first edge.
    #[inline(always)]
    fn prefetch(&self, node: u32, edge: u32) {
        let _ = (node, edge);
    }

    /// Visits edges; returns a bit for each whose target is to be queued.
    fn visit<const K: usize>(&mut self, edges: &Edges<K>) -> u32;

    /// [`Visit::visit`] for adjacent edges of one node, where few visits are in vain.
    #[inline(always)]
    fn visit_row<const K: usize>(&mut self, edges: &Edges<K>) -> u32 {
        self.visit(edges)
    }

    /// Returns the `picked` nodes that are queued, since no other lane has picked them before.
    #[inline(always)]
    fn claim<const K: usize>(&self, nodes: &[u32; K], picked: u32) -> u32 {
        let _ = nodes;
        picked
    }
}

/// Leaves every queued node and visits its edges; the targets that `visitor` picks and claims go to
/// the queue `to`. All lanes of the team take part.
#[inline(always)]
pub fn advance<G: Grid, V: Visit>(team: &Team<G>, source: &Source, to: &impl Fill, visitor: V) {
    if G::WARP == 1 {
        threads::expand(team, source, to, visitor);
    } else if V::BALANCE.rows && rows::are_short(source) {
        rows::expand(team, source, to, visitor);
    } else if V::BALANCE.warps && warps::are_many(team, source) {
        warps::expand(team, source, to, visitor);
    } else {
        blocks::expand(team, source, to, visitor);
    }
}

/// [`append`](crate::collectives::queue::append) for nodes that a visitor picked. Their rows are
/// fetched while it claims them: codegen rule `LOADS_TOGETHER`.
#[inline(always)]
fn append_picked<G: Grid, const K: usize>(
    grid: G,
    to: &impl Fill,
    visitor: &impl Visit,
    picked: &Finds<K>,
) {
    if grid.ballot(picked.mask != 0) == 0 {
        return;
    }
    let ends = Ends::fetch(grid, to.rows(), picked);
    let claimed = Finds {
        mask: visitor.claim(&picked.nodes, picked.mask),
        ..*picked
    };
    if grid.ballot(claimed.mask != 0) != 0 {
        enqueue(grid, to, &ends.found(&claimed));
    }
}
