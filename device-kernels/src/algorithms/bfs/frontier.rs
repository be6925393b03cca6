//! The frontier register as kernels see it.

use crate::collectives::queue::{Fill, Queue};
use crate::machine::Grid;
use crate::machine::memory::{Csr, Proven, word_of};
use crate::tables::Tables;
use seawall_core::abi::control::FaultCode;
use seawall_core::abi::search::{DriveRecord, FoundRecord, FrontierLayout};

/// Number of the third bitset of a frontier register; the visited ones are 0 and 1.
pub const NEXT: u32 = 2;

/// A frontier register.
#[derive(Clone, Copy, Debug)]
pub struct Frontier {
    words: Proven,
    layout: FrontierLayout,
}

impl Frontier {
    /// The frontier of a graph of `nodes` nodes in `words`, or `None` if they are too
    /// few.
    #[must_use]
    pub fn new(words: Proven, nodes: u32) -> Option<Self> {
        let layout = FrontierLayout::new(nodes);
        (layout.words() <= u64::from(words.len())).then_some(Self { words, layout })
    }

    /// Register `index` as a frontier.
    ///
    /// # Errors
    /// [`FaultCode::BadRegister`] if it is too short to be one.
    #[inline(always)]
    pub fn of_register<G: Grid>(grid: G, tables: Tables, index: u32) -> Result<Self, FaultCode> {
        let register = tables.register(grid, index)?;
        // SAFETY: only waves of searches wrote the register, queued nodes and their rows
        // included, as the host proved (`Invariant::Frontier`).
        let words = unsafe { register.proven() };
        Self::new(words, tables.nodes(grid)).ok_or(FaultCode::BadRegister)
    }

    /// The frontier that [`Frontier::new`] made, from its words and nodes.
    #[inline(always)]
    pub(crate) fn again(words: Proven, nodes: u32) -> Self {
        let layout = FrontierLayout::new(nodes);
        Self { words, layout }
    }

    /// The register.
    #[inline(always)]
    pub(crate) fn words(self) -> Proven {
        self.words
    }

    /// Nodes of the graph.
    #[inline(always)]
    #[must_use]
    pub fn nodes(self) -> u32 {
        self.layout.nodes
    }

    /// Words of one bitset.
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

    /// The queue of `target`, to fill.
    #[inline(always)]
    #[must_use]
    pub fn next(self, target: Target) -> Next {
        Next {
            frontier: self,
            target,
        }
    }

    /// Bitset `which`.
    #[inline(always)]
    #[must_use]
    pub fn bitset(self, which: u32) -> Proven {
        self.words
            .part(self.layout.bitset(which), self.layout.bitset_words)
    }

    /// Bits of the nodes that a finished search has visited.
    #[inline(always)]
    #[must_use]
    pub fn visited<G: Grid>(self, grid: G) -> Proven {
        self.bitset(self.drive(grid, 0).visited)
    }

    /// The counters of the step before number `step`, read past every cache. One lane per
    /// block calls this: all lanes of a grid reading one place would queue for
    /// microseconds.
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

    /// Clears the counters of the step before number `step`.
    #[inline(always)]
    pub fn clear_found<G: Grid>(self, grid: G, step: u32) {
        self.set_found(grid, step, 0, 0);
    }

    /// Stores a queue of `nodes` nodes and `edges` edges in the counters of the step
    /// before number `step`.
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

    /// Adds to the counters of marks of the step before number `step`.
    #[inline(always)]
    pub fn add_marked<G: Grid>(self, grid: G, step: u32, nodes: u32, edges: u32) {
        let at = FrontierLayout::found(step);
        self.words
            .add(grid, at + word_of!(FoundRecord, marked_nodes), nodes);
        self.words
            .add(grid, at + word_of!(FoundRecord, marked_edges), edges);
    }

    /// Reserves places for `nodes` nodes with `edges` edges in the queue that the step before
    /// number `step` fills, and returns the first place and the edges before it.
    ///
    /// Both come from one atomic addition, so edge prefixes grow along the queue without
    /// a scan over it.
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
            holder: at(word_of!(DriveRecord, holder)),
            visited: at(word_of!(DriveRecord, visited)),
            queue: at(word_of!(DriveRecord, queue)),
            converged: at(word_of!(DriveRecord, converged)),
            frontier_max: at(word_of!(DriveRecord, frontier_max)),
            reason: at(word_of!(DriveRecord, reason)),
            ahead: at(word_of!(DriveRecord, ahead)),
            reserved: [0; 2],
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
            drive.holder,
            drive.visited,
            drive.queue,
            drive.converged,
            drive.frontier_max,
            drive.reason,
            drive.ahead,
        ];
        for (at, word) in (FrontierLayout::drive(slot)..).zip(words) {
            self.words.store(grid, at, word);
        }
    }

    /// Clears this lane's share of header and bitsets.
    #[inline(always)]
    pub fn reset<G: Grid>(self, team: &crate::collectives::team::Team<G>) {
        let header = seawall_core::abi::search::HEADER_WORDS;
        team.each(header, |at| self.words.store_weak(team.grid, at, 0));
        let bits = self
            .words
            .part(self.layout.bitset(0), 3 * self.layout.bitset_words);
        team.each(bits.len(), |at| bits.store_weak(team.grid, at, 0));
    }
}

/// The queue that finds go to.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Number of the step after the running one.
    pub step: u32,
    /// Queue to fill.
    pub parity: u32,
    /// Rows of the graph, for the degrees.
    pub rows: Csr,
}

/// The queue of a [`Target`] in its frontier.
#[derive(Clone, Copy, Debug)]
pub struct Next {
    frontier: Frontier,
    target: Target,
}

impl Fill for Next {
    #[inline(always)]
    fn rows(&self) -> Csr {
        self.target.rows
    }

    #[inline(always)]
    fn queue(&self) -> Queue {
        self.frontier.queue(self.target.parity)
    }

    #[inline(always)]
    fn allocate<G: Grid>(&self, grid: G, nodes: u32, edges: u32) -> (u32, u32) {
        self.frontier.allocate(grid, self.target.step, nodes, edges)
    }
}
