//! Queues of nodes with their rows, and how a warp appends to one.

use super::block::{scan_count, warp_scan};
use super::team::Team;
use crate::machine::Grid;
use crate::machine::memory::{Csr, Proven};

/// Largest degree that a lane walks alone.
pub const SERIAL: u32 = 16;

/// A queue and the rows of its entries: the first edge of each, and the edges of all entries before
/// it. Both are known when an entry is made, so the next step need not read the graph.
#[derive(Clone, Copy, Debug)]
pub struct Queue {
    /// Nodes.
    pub nodes: Proven,
    /// Edges before each node's.
    pub prefix: Proven,
    /// First edge of each node.
    pub starts: Proven,
}

impl Queue {
    /// First edge of entry `index`, and the edge after its last one, in a
    /// queue of `nodes` nodes and `edges` edges.
    #[inline(always)]
    pub fn row<G: Grid>(self, grid: G, index: u32, nodes: u32, edges: u32) -> (u32, u32) {
        let prefix = self.prefix.load_weak(grid, index);
        let next = if index + 1 < nodes {
            self.prefix.load_weak(grid, index + 1)
        } else {
            edges
        };
        let start = self.starts.load_weak(grid, index);
        (start, start + (next - prefix))
    }
}

/// A node and its row of edges.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The node.
    pub node: u32,
    /// Its first edge.
    pub start: u32,
    /// The edge after its last one.
    pub end: u32,
}

impl Row {
    /// A row without edges, for lanes without a node.
    pub const NONE: Self = Self {
        node: 0,
        start: 0,
        end: 0,
    };

    /// Number of edges.
    #[inline(always)]
    #[must_use]
    pub fn degree(self) -> u32 {
        self.end - self.start
    }

    /// Number of edges, for one of the `1 << each` lanes that share the row.
    #[inline(always)]
    #[must_use]
    pub fn degree_once<G: Grid>(self, grid: G, each: u32) -> u32 {
        if grid.lane() & ((1 << each) - 1) == 0 {
            self.degree()
        } else {
            0
        }
    }

    /// Whether the row has too many edges for one lane.
    #[inline(always)]
    #[must_use]
    pub fn is_large(self) -> bool {
        self.degree() > SERIAL
    }
}

/// Up to `K` nodes that one lane discovered: bit `k` of `mask` says whether
/// `nodes[k]` counts.
#[derive(Clone, Copy, Debug)]
pub struct Finds<const K: usize> {
    /// Candidates.
    pub nodes: [u32; K],
    /// One bit per candidate that counts.
    pub mask: u32,
}

impl<const K: usize> Finds<K> {
    /// No finds.
    pub const NONE: Self = Self {
        nodes: [0; K],
        mask: 0,
    };
}

/// Finds with their rows in the graph.
#[derive(Clone, Copy, Debug)]
pub struct FindRows<const K: usize> {
    /// Candidates and which of them count; all of these have edges.
    pub finds: Finds<K>,
    /// First edge of each.
    pub starts: [u32; K],
    /// Edges of each.
    pub degrees: [u32; K],
}

/// Ends of the rows of finds, whose loads may still be in flight: codegen rule `LOADS_TOGETHER`.
#[derive(Clone, Copy, Debug)]
pub struct Ends<const K: usize> {
    starts: [u32; K],
    ends: [u32; K],
}

impl<const K: usize> Ends<K> {
    /// Fetches the ends of the rows of `finds`.
    #[inline(always)]
    pub fn fetch<G: Grid>(grid: G, rows: Csr, finds: &Finds<K>) -> Self {
        let (mut starts, mut ends) = ([0; K], [0; K]);
        for k in 0..K {
            let counts = finds.mask >> k & 1 != 0;
            (starts[k], ends[k]) = rows.row_if(grid, counts, finds.nodes[k]);
        }
        Self { starts, ends }
    }

    /// Some of the finds, or all, with their rows. Nodes without edges are left out.
    #[inline(always)]
    #[must_use]
    pub fn found(self, finds: &Finds<K>) -> FindRows<K> {
        let mut found = FindRows {
            finds: *finds,
            starts: self.starts,
            degrees: [0; K],
        };
        for k in 0..K {
            found.degrees[k] = self.ends[k] - self.starts[k];
            if found.degrees[k] == 0 {
                found.finds.mask &= !(1 << k);
            }
        }
        found
    }
}

impl FindRows<1> {
    /// No finds.
    pub const NONE: Self = Self {
        finds: Finds {
            nodes: [0],
            mask: 0,
        },
        starts: [0],
        degrees: [0],
    };

    /// One row, which has edges.
    #[inline(always)]
    #[must_use]
    pub fn one(row: Row) -> Self {
        Self {
            finds: Finds {
                nodes: [row.node],
                mask: 1,
            },
            starts: [row.start],
            degrees: [row.degree()],
        }
    }
}

impl<const K: usize> FindRows<K> {
    /// Looks up the rows of `finds`. Nodes without edges are left out, so every entry of
    /// a queue has work.
    #[inline(always)]
    pub fn look_up<G: Grid>(grid: G, rows: Csr, finds: &Finds<K>) -> Self {
        Ends::fetch(grid, rows, finds).found(finds)
    }

    /// Find `k` as a row.
    #[inline(always)]
    #[must_use]
    pub fn row(&self, k: usize) -> Row {
        Row {
            node: self.finds.nodes[k],
            start: self.starts[k],
            end: self.starts[k] + self.degrees[k],
        }
    }

    /// Whether a find that counts has more than `degree` edges.
    #[inline(always)]
    #[must_use]
    pub fn any_above(&self, degree: u32) -> bool {
        let mut any = false;
        for k in 0..K {
            any |= self.finds.mask >> k & 1 != 0 && self.degrees[k] > degree;
        }
        any
    }
}

/// A queue that warps fill.
pub trait Fill {
    /// Rows of the graph, for the degrees.
    fn rows(&self) -> Csr;

    /// The queue.
    fn queue(&self) -> Queue;

    /// Makes space for `nodes` nodes with `edges` edges, and returns the first place and the edges
    /// before it. Both come from one atomic addition, so edge prefixes grow along the queue without
    /// a scan over it. One lane calls this; there may be no nodes.
    fn allocate<G: Grid>(&self, grid: G, nodes: u32, edges: u32) -> (u32, u32);
}

/// Appends every lane's finds to a queue, with one atomic addition per warp; nodes without edges
/// are left out. A warp operation.
#[inline(always)]
pub fn append<G: Grid, const K: usize>(grid: G, to: &impl Fill, finds: &Finds<K>) {
    if grid.ballot(finds.mask != 0) != 0 {
        enqueue(grid, to, &FindRows::look_up(grid, to.rows(), finds));
    }
}

/// [`append`] for finds whose rows are known.
#[inline(always)]
pub fn append_rows<G: Grid, const K: usize>(grid: G, to: &impl Fill, found: &FindRows<K>) {
    if grid.ballot(found.finds.mask != 0) != 0 {
        enqueue(grid, to, found);
    }
}

/// [`append_rows`] where there are finds, which all may lack edges.
#[inline(always)]
pub fn enqueue<G: Grid, const K: usize>(grid: G, to: &impl Fill, found: &FindRows<K>) {
    let mask = found.finds.mask;
    let mut edges = 0;
    for (k, degree) in found.degrees.iter().enumerate() {
        if mask >> k & 1 != 0 {
            edges += *degree;
        }
    }
    let (nodes_below, nodes_total) = scan_count::<G, K>(grid, mask.count_ones());
    let (edges_below, edges_total) = warp_scan(grid, edges);
    let (mut place, mut prefix) = (0, 0);
    if grid.warp_lane() == 0 {
        (place, prefix) = to.allocate(grid, nodes_total, edges_total);
    }
    place = grid.shuffle(place, 0) + nodes_below;
    prefix = grid.shuffle(prefix, 0) + edges_below;
    let queue = to.queue();
    for (k, degree) in found.degrees.iter().enumerate() {
        if mask >> k & 1 != 0 {
            queue.nodes.store_weak(grid, place, found.finds.nodes[k]);
            queue.prefix.store_weak(grid, place, prefix);
            queue.starts.store_weak(grid, place, found.starts[k]);
            place += 1;
            prefix += *degree;
        }
    }
}

/// Nodes that a one-lane block holds back until an append pays.
#[derive(Debug, Default)]
pub struct Held {
    nodes: [u32; Self::MOST],
    count: usize,
}

impl Held {
    /// Nodes of an append.
    const MOST: usize = 32;

    /// Adds a node for the queue `to`.
    #[inline(always)]
    pub fn add<G: Grid>(&mut self, grid: G, to: &impl Fill, node: u32) {
        self.nodes[self.count % Self::MOST] = node;
        self.count += 1;
        if self.count == Self::MOST {
            self.append(grid, to);
        }
    }

    /// Appends what is held to the queue `to`, without the nodes that lack edges.
    #[inline(always)]
    pub fn append<G: Grid>(&mut self, grid: G, to: &impl Fill) {
        let (rows, queue) = (to.rows(), to.queue());
        let held = &self.nodes[..self.count.min(Self::MOST)];
        let (mut nodes, mut edges) = (0, 0_u32);
        for node in held {
            let (start, end) = rows.row(grid, *node);
            nodes += u32::from(start != end);
            edges = edges.wrapping_add(end - start);
        }
        self.count = 0;
        if nodes == 0 {
            return;
        }
        let (mut place, mut prefix) = to.allocate(grid, nodes, edges);
        for node in held {
            let (start, end) = rows.row(grid, *node);
            if start != end {
                queue.nodes.store_weak(grid, place, *node);
                queue.prefix.store_weak(grid, place, prefix);
                queue.starts.store_weak(grid, place, start);
                place += 1;
                prefix = prefix.wrapping_add(end - start);
            }
        }
    }
}

/// First queue entry of this lane's warp. Adjacent runs of entries go to different
/// blocks, so a small frontier still uses all of them.
#[inline(always)]
pub fn first_node<G: Grid>(team: &Team<G>) -> u32 {
    let warp = team.grid.lane() / G::WARP;
    (warp * team.size() + team.rank()) * G::WARP
}
