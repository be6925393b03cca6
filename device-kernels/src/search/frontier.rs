//! The frontier register as kernels see it.

use super::push::Row;
use crate::block::{scan_count, warp_scan};
use crate::grid::Grid;
use crate::memory::{Csr, Proven, word_of};
use seawall_core::abi::search::{DriveRecord, FoundRecord, FrontierLayout};

/// Which bitset of a frontier register: the visited ones are 0 and 1.
pub const NEXT: u32 = 2;

/// A frontier register.
#[derive(Clone, Copy, Debug)]
pub struct Frontier {
    words: Proven,
    layout: FrontierLayout,
}

/// A queue, and the rows of its entries: where each starts in the graph's
/// edges, and how many edges the entries before it have. Both are known when
/// an entry is made, which spares the next step a look into the graph.
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
    /// First edge of entry `index`, and the edge behind its last one, in a
    /// queue of `nodes` nodes and `edges` edges.
    #[inline(always)]
    pub fn row<G: Grid>(self, grid: G, index: u32, (nodes, edges): (u32, u32)) -> (u32, u32) {
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

impl Frontier {
    /// The frontier of a graph of `nodes` nodes in `words`; nothing when they
    /// are too few.
    #[must_use]
    pub fn new(words: Proven, nodes: u32) -> Option<Self> {
        let layout = FrontierLayout::new(nodes);
        (layout.words() <= u64::from(words.len())).then_some(Self { words, layout })
    }

    /// The frontier that [`Frontier::new`] made, from its words and nodes.
    #[inline(always)]
    pub(super) fn again(words: Proven, nodes: u32) -> Self {
        let layout = FrontierLayout::new(nodes);
        Self { words, layout }
    }

    /// The register.
    #[inline(always)]
    pub(super) fn words(self) -> Proven {
        self.words
    }

    /// Nodes of the graph.
    #[inline(always)]
    #[must_use]
    pub fn nodes(self) -> u32 {
        self.layout.nodes
    }

    /// Proven of one bitset.
    #[inline(always)]
    #[must_use]
    pub fn bitset_words(self) -> u32 {
        self.layout.bitset_words
    }

    /// Queue `parity`.
    #[inline(always)]
    #[must_use]
    pub fn queue(self, parity: u32) -> Queue {
        Queue {
            nodes: self
                .words
                .part(self.layout.queue(parity), self.layout.nodes),
            prefix: self
                .words
                .part(self.layout.prefix(parity), self.layout.nodes),
            starts: self
                .words
                .part(self.layout.starts(parity), self.layout.nodes),
        }
    }

    /// Bitset `which`.
    #[inline(always)]
    #[must_use]
    pub fn bitset(self, which: u32) -> Proven {
        self.words
            .part(self.layout.bitset(which), self.layout.bitset_words)
    }

    /// What the step before number `step` found, past every cache: for one
    /// lane only, since all lanes of a grid reading one place would queue up
    /// there for microseconds.
    #[inline(always)]
    pub fn found<G: Grid>(self, grid: G, step: u32) -> FoundRecord {
        let at = FrontierLayout::found(step);
        let word = |offset: u32| self.words.load(grid, at + offset);
        FoundRecord {
            queued_edges: word(word_of!(FoundRecord, queued_edges)),
            queued_nodes: word(word_of!(FoundRecord, queued_nodes)),
            marked_nodes: word(word_of!(FoundRecord, marked_nodes)),
            marked_edges: word(word_of!(FoundRecord, marked_edges)),
            reserved: [0; 28],
        }
    }

    /// Clears the counters of what the step before number `step` will find.
    #[inline(always)]
    pub fn clear_found<G: Grid>(self, grid: G, step: u32) {
        self.set_found(grid, step, 0, 0);
    }

    /// Stores a queue of `nodes` nodes and `edges` edges as what the step
    /// before number `step` found.
    #[inline(always)]
    pub fn set_found<G: Grid>(self, grid: G, step: u32, nodes: u32, edges: u32) {
        let at = FrontierLayout::found(step);
        self.words
            .store(grid, at + word_of!(FoundRecord, queued_edges), edges);
        self.words
            .store(grid, at + word_of!(FoundRecord, queued_nodes), nodes);
        self.words
            .store(grid, at + word_of!(FoundRecord, marked_nodes), 0);
        self.words
            .store(grid, at + word_of!(FoundRecord, marked_edges), 0);
    }

    /// Adds to what the step before number `step` found in a bitset.
    #[inline(always)]
    pub fn add_marked<G: Grid>(self, grid: G, step: u32, nodes: u32, edges: u32) {
        let at = FrontierLayout::found(step);
        self.words
            .add(grid, at + word_of!(FoundRecord, marked_nodes), nodes);
        self.words
            .add(grid, at + word_of!(FoundRecord, marked_edges), edges);
    }

    /// Takes places for `nodes` nodes with `edges` edges in the queue that the
    /// step before number `step` fills; gives the first place and the edges
    /// before it.
    ///
    /// Both come from one atomic addition, so that edge prefixes grow along
    /// the queue without a scan over it.
    #[inline(always)]
    pub fn allocate<G: Grid>(self, grid: G, step: u32, nodes: u32, edges: u32) -> (u32, u32) {
        let packed = u64::from(nodes) << 32 | u64::from(edges);
        let previous = self
            .words
            .add_wide(grid, FrontierLayout::found(step), packed);
        ((previous >> 32) as u32, previous as u32)
    }

    /// Reads drive record `slot` as of the last barrier.
    pub fn drive<G: Grid>(self, grid: G, slot: u32) -> DriveRecord {
        let at = |offset: u32| {
            self.words
                .load_weak(grid, FrontierLayout::drive(slot) + offset)
        };
        DriveRecord {
            iteration: at(word_of!(DriveRecord, iteration)),
            step: at(word_of!(DriveRecord, step)),
            next: at(word_of!(DriveRecord, next)),
            topology: at(word_of!(DriveRecord, topology)),
            nodes: at(word_of!(DriveRecord, nodes)),
            edges: at(word_of!(DriveRecord, edges)),
            unexplored_edges: at(word_of!(DriveRecord, unexplored_edges)),
            bitset_only: at(word_of!(DriveRecord, bitset_only)),
            visited: at(word_of!(DriveRecord, visited)),
            queue: at(word_of!(DriveRecord, queue)),
            converged: at(word_of!(DriveRecord, converged)),
            frontier_max: at(word_of!(DriveRecord, frontier_max)),
            reserved: [0; 4],
        }
    }

    /// Writes drive record `slot`; one lane calls this.
    pub fn set_drive<G: Grid>(self, grid: G, slot: u32, drive: &DriveRecord) {
        let words = [
            drive.iteration,
            drive.step,
            drive.next,
            drive.topology,
            drive.nodes,
            drive.edges,
            drive.unexplored_edges,
            drive.bitset_only,
            drive.visited,
            drive.queue,
            drive.converged,
            drive.frontier_max,
        ];
        for (at, word) in (FrontierLayout::drive(slot)..).zip(words) {
            self.words.store(grid, at, word);
        }
    }

    /// Clears this lane's share of header and bitsets.
    #[inline(always)]
    pub fn reset<G: Grid>(self, team: &crate::team::Team<G>) {
        let header = seawall_core::abi::search::HEADER_WORDS;
        team.each(header, |at| self.words.store_weak(team.grid, at, 0));
        let bits = self
            .words
            .part(self.layout.bitset(0), 3 * self.layout.bitset_words);
        team.each(bits.len(), |at| bits.store_weak(team.grid, at, 0));
    }
}

/// Up to `K` nodes that one lane discovered: bit `k` of `mask` says whether
/// `nodes[k]` counts.
#[derive(Clone, Copy, Debug)]
pub struct Finds<const K: usize> {
    /// Candidates.
    pub nodes: [u32; K],
    /// Which of them count.
    pub mask: u32,
}

impl<const K: usize> Finds<K> {
    /// Nothing.
    pub const NONE: Self = Self {
        nodes: [0; K],
        mask: 0,
    };
}

/// Finds with their rows in the graph.
#[derive(Clone, Copy, Debug)]
pub struct Found<const K: usize> {
    /// Candidates and which of them count; all of these have edges.
    pub finds: Finds<K>,
    /// First edge of each.
    pub starts: [u32; K],
    /// Edges of each.
    pub degrees: [u32; K],
}

impl Found<1> {
    /// Nothing.
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

impl<const K: usize> Found<K> {
    /// Looks the rows of `finds` up. Nodes without edges are left out, so
    /// that every entry of a queue has work.
    #[inline(always)]
    pub fn look_up<G: Grid>(grid: G, rows: Csr, finds: &Finds<K>) -> Self {
        let mut found = Self {
            finds: *finds,
            starts: [0; K],
            degrees: [0; K],
        };
        for k in 0..K {
            if finds.mask >> k & 1 != 0 {
                let (start, end) = rows.row(grid, finds.nodes[k]);
                found.starts[k] = start;
                found.degrees[k] = end - start;
                if end == start {
                    found.finds.mask &= !(1 << k);
                }
            }
        }
        found
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

/// Appends every lane's finds to the queue that the step before number `step`
/// fills, with one atomic addition a warp; nodes without edges are left out.
/// All lanes of the warp take part.
#[inline(always)]
pub fn append<G: Grid, const K: usize>(
    grid: G,
    frontier: Frontier,
    target: Target,
    finds: &Finds<K>,
) {
    if grid.ballot(finds.mask != 0) != 0 {
        let found = Found::look_up(grid, target.rows, finds);
        append_rows(grid, frontier, target, &found);
    }
}

/// [`append`] for finds whose rows are known.
#[inline(always)]
pub fn append_rows<G: Grid, const K: usize>(
    grid: G,
    frontier: Frontier,
    target: Target,
    found: &Found<K>,
) {
    enqueue(
        grid,
        frontier.queue(target.parity),
        found,
        |nodes, edges| frontier.allocate(grid, target.step, nodes, edges),
    );
}

/// Writes every lane's finds to `queue` where `allocate` makes room for the
/// nodes and edges of the warp, whose first lane calls it; it gives the place
/// of the first node and the number of edges before it. All lanes of the warp
/// take part.
#[inline(always)]
pub fn enqueue<G: Grid, const K: usize>(
    grid: G,
    queue: Queue,
    found: &Found<K>,
    allocate: impl FnOnce(u32, u32) -> (u32, u32),
) {
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
        (place, prefix) = allocate(nodes_total, edges_total);
    }
    place = grid.shuffle(place, 0) + nodes_below;
    prefix = grid.shuffle(prefix, 0) + edges_below;
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

/// Where finds go.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Number of the step after the running one.
    pub step: u32,
    /// Queue to fill.
    pub parity: u32,
    /// Rows that give the degrees.
    pub rows: Csr,
}
