//! The work register as kernels see it: queues and counters of rounds.
//!
//! A round reads the queue of its number and fills the next one;
//! [`advance`](super::advance::advance) shares out the edges of one and fills the other.

use super::advance::Source;
use crate::collectives::context::{Context, Tag};
use crate::collectives::queue::{Fill, Queue};
use crate::collectives::team::Team;
use crate::machine::Grid;
use crate::machine::memory::{Csr, Proven};
use crate::machine::shared::ROUND;
use crate::tables::Wave;
use seawall_core::abi::control::FaultCode;
use seawall_core::abi::work::{
    WORK_AHEAD, WORK_EDGES, WORK_HEADER_WORDS, WORK_LEAST, WORK_LEVEL, WORK_NEAREST, WORK_NODES,
    WORK_RELAXED, WorkLayout,
};

/// A work register.
#[derive(Clone, Copy, Debug)]
pub struct Work {
    words: Proven,
    layout: WorkLayout,
}

/// The counters of a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Round {
    /// Queued nodes.
    pub nodes: u32,
    /// Edges that leave them.
    pub edges: u32,
    /// Limit up to which nodes are settled or queued.
    pub level: u32,
    /// Least value of a node beyond the limit, or `u32::MAX`.
    pub least: u32,
}

/// State that rounds of paths inherit from earlier rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Past {
    /// No queued node is nearer than this.
    pub nearest: u32,
    /// Edges relaxed in all rounds before, at most `u32::MAX`.
    pub relaxed: u32,
}

/// The queue to fill.
#[derive(Clone, Copy, Debug)]
pub struct Sink {
    pub(crate) rows: Csr,
    pub(crate) queue: Queue,
    pub(crate) counters: Proven,
    pub(crate) tag: Tag,
}

impl Fill for Sink {
    #[inline(always)]
    fn rows(&self) -> Csr {
        self.rows
    }

    #[inline(always)]
    fn queue(&self) -> Queue {
        self.queue
    }

    #[inline(always)]
    fn allocate<G: Grid>(&self, grid: G, nodes: u32, edges: u32) -> (u32, u32) {
        if nodes == 0 {
            return (0, 0);
        }
        let packed = u64::from(nodes) << 32 | u64::from(edges);
        let previous = self.counters.add_wide(grid, WORK_EDGES, packed);
        self.tag.raise(grid);
        ((previous >> 32) as u32, previous as u32)
    }
}

impl Round {
    /// The counters that [`Work::round`] broadcast last.
    #[inline(always)]
    pub fn broadcast<G: Grid>(grid: G) -> Self {
        // One lane reads each part in `Work::round`: the first three, then the least value.
        const { assert!(WORK_EDGES == 0 && WORK_NODES == 1 && WORK_LEVEL == 2) };
        let [edges, nodes, level, least] = ROUND.part::<4>(0).load_all(grid);
        Self {
            nodes,
            edges,
            level,
            least,
        }
    }
}

impl Past {
    /// State before the first round.
    pub const NONE: Self = Self {
        nearest: u32::MAX,
        relaxed: 0,
    };

    /// The values that [`Work::round`] broadcast last.
    #[inline(always)]
    pub fn broadcast<G: Grid>(grid: G) -> Self {
        let [nearest, relaxed] = ROUND.part::<2>(2).load_all(grid);
        Self { nearest, relaxed }
    }

    /// The same after a round over `edges` edges.
    #[inline(always)]
    #[must_use]
    pub fn and(self, edges: u32) -> Self {
        Self {
            relaxed: self.relaxed.saturating_add(edges),
            ..self
        }
    }
}

impl Work {
    /// The work register in `words`.
    ///
    /// # Errors
    /// [`FaultCode::BadRegister`] if they are too few for `nodes` nodes.
    #[inline(always)]
    pub fn new(words: Proven, nodes: u32) -> Result<Self, FaultCode> {
        let layout = WorkLayout::new(nodes);
        if layout.words() > u64::from(words.len()) {
            return Err(FaultCode::BadRegister);
        }
        Ok(Self { words, layout })
    }

    /// The words of the register.
    #[inline(always)]
    #[must_use]
    pub fn words(self) -> Proven {
        self.words
    }

    /// The words of both queues, 6 for each node.
    #[inline(always)]
    #[must_use]
    pub fn queues(self) -> Proven {
        let first = self.layout.queue(0);
        let words = self.layout.words().saturating_sub(first);
        self.words.part(first, u32::try_from(words).unwrap_or(0))
    }

    #[inline(always)]
    fn queue(self, parity: u32) -> Queue {
        let nodes = self.layout.nodes;
        Queue {
            nodes: self.words.part(self.layout.queue(parity), nodes),
            prefix: self.words.part(self.layout.prefix(parity), nodes),
            starts: self.words.part(self.layout.starts(parity), nodes),
        }
    }

    #[inline(always)]
    fn counters(self, round: u32) -> Proven {
        self.words.part(u64::from(WorkLayout::counters(round)), 32)
    }

    /// Marks of the nodes that round `round` has queued.
    #[inline(always)]
    #[must_use]
    pub fn marks(self, round: u32) -> Proven {
        self.words
            .part(self.layout.bitset(round), self.layout.bitset_words)
    }

    /// The rows of the queue of round `tag`, whose counters are `round`.
    #[inline(always)]
    #[must_use]
    pub fn source(self, rows: Csr, tag: u32, round: &Round) -> Source {
        Source {
            rows,
            queue: self.queue(tag),
            nodes: round.nodes,
            edges: round.edges,
        }
    }

    /// The queue that the running round fills.
    #[inline(always)]
    #[must_use]
    pub fn sink<G: Grid>(self, context: &Context<G>) -> Sink {
        let (grid, tag) = (context.team.grid, context.tag);
        let next = tag.now(grid).wrapping_add(1);
        Sink {
            rows: context.tables.outgoing(grid),
            queue: self.queue(next),
            counters: self.counters(next),
            tag,
        }
    }

    /// Clears this lane's share of counters and marks.
    #[inline(always)]
    pub fn reset<G: Grid>(self, team: &Team<G>) {
        let grid = team.grid;
        let cleared = WORK_HEADER_WORDS + 2 * self.layout.bitset_words;
        team.each(cleared, |at| {
            let is_least = at < WORK_HEADER_WORDS && at % 32 == WORK_LEAST;
            self.words
                .store_weak(grid, at, if is_least { u32::MAX } else { 0 });
        });
    }

    /// The counters of round `tag`. A block operation: six lanes read past the caches
    /// and broadcast, since all lanes of a grid reading one place would queue for
    /// microseconds.
    #[inline(always)]
    pub fn round<G: Grid>(self, grid: G, tag: u32) -> Round {
        // Comparisons instead of an array of places: codegen rule `NO_TABLES`.
        const { assert!(WORK_NODES < 3 && WORK_EDGES < 3 && WORK_LEVEL < 3) };
        const { assert!(WORK_NEAREST == WORK_LEAST + 1 && WORK_RELAXED == WORK_LEAST + 2) };
        let counters = self.counters(tag);
        // Another wave of the same group may have broadcast its round here, and slow
        // lanes may still read that.
        grid.block_barrier();
        let mut part = grid.lane();
        while part < 6 {
            let at = if part < 3 {
                part
            } else {
                WORK_LEAST + (part - 3)
            };
            // SAFETY: `part` is below the six words of the slot.
            unsafe { ROUND.area().store(grid, part, counters.load(grid, at)) };
            part += grid.lanes();
        }
        grid.block_barrier();
        Round::broadcast(grid)
    }

    /// Opens the round after `tag` with limit `level`, and clears the counters of the round after
    /// that, which are not read any more. One lane calls this.
    #[inline(always)]
    pub fn open_next<G: Grid>(self, grid: G, tag: u32, level: u32) {
        self.counters(tag.wrapping_add(1))
            .store(grid, WORK_LEVEL, level);
        let after = self.counters(tag.wrapping_add(2));
        after.store(grid, WORK_NODES, 0);
        after.store(grid, WORK_EDGES, 0);
        after.store(grid, WORK_LEAST, u32::MAX);
        after.store(grid, WORK_NEAREST, u32::MAX);
        if G::WARP == 1 {
            after.store(grid, WORK_AHEAD, 0);
        }
    }

    /// Leaves no node to any round from `tag` on, whatever the queues hold. One lane calls this.
    #[inline(always)]
    pub fn close<G: Grid>(self, grid: G, tag: u32) {
        for round in 0..3 {
            let counters = self.counters(tag.wrapping_add(round));
            counters.store(grid, WORK_NODES, 0);
            counters.store(grid, WORK_EDGES, 0);
            counters.store(grid, WORK_LEAST, u32::MAX);
        }
    }

    /// Notes `edges` edges that a one-lane block relaxed in round `tag` beyond those of the
    /// queue.
    #[inline(always)]
    pub fn relaxed_ahead<G: Grid>(self, grid: G, tag: u32, edges: u32) {
        self.counters(tag.wrapping_add(1))
            .add(grid, WORK_AHEAD, edges);
    }

    /// Edges noted by [`Work::relaxed_ahead`] in the round before `tag`.
    #[inline(always)]
    pub fn ahead<G: Grid>(self, grid: G, tag: u32) -> u32 {
        self.counters(tag).load(grid, WORK_AHEAD)
    }

    /// Leaves `past` to the round after `tag`. One lane calls this.
    #[inline(always)]
    pub fn pass_on<G: Grid>(self, grid: G, tag: u32, past: Past) {
        let next = self.counters(tag.wrapping_add(1));
        next.store(grid, WORK_NEAREST, past.nearest);
        let past = if G::WARP == 1 {
            past.and(self.ahead(grid, tag))
        } else {
            past
        };
        next.store(grid, WORK_RELAXED, past.relaxed);
    }

    /// Leaves the least distance of the warp's nodes queued for the round after `tag` to it,
    /// in which no other lane may have called [`Work::pass_on`]. A warp operation.
    #[inline(always)]
    pub fn pass_nearest<G: Grid>(self, grid: G, tag: u32, nearest: u32) {
        let next = self.counters(tag.wrapping_add(1));
        let nearest = grid.warp_min(nearest);
        if grid.warp_lane() == 0 && next.load(grid, WORK_NEAREST) > nearest {
            next.min(grid, WORK_NEAREST, nearest);
        }
    }

    /// Leaves the number of edges relaxed so far to the round after `tag`. One lane calls
    /// this.
    #[inline(always)]
    pub fn pass_relaxed<G: Grid>(self, grid: G, tag: u32, relaxed: u32) {
        let next = self.counters(tag.wrapping_add(1));
        next.store(grid, WORK_RELAXED, relaxed);
    }

    /// Forgets the marks of the nodes that round `round` has queued, this lane's share.
    #[inline(always)]
    pub fn unmark<G: Grid>(self, team: &Team<G>, round: u32) {
        let (grid, marks) = (team.grid, self.marks(round));
        team.each(self.layout.bitset_words, |at| marks.store_weak(grid, at, 0));
    }

    /// Records a node of value `least` beyond the limit for the next round, and keeps the loop
    /// going.
    #[inline(always)]
    pub fn wait<G: Grid>(self, grid: G, tag: Tag, least: u32) {
        let counters = self.counters(tag.now(grid).wrapping_add(1));
        if least != u32::MAX {
            if counters.load(grid, WORK_LEAST) > least {
                counters.min(grid, WORK_LEAST, least);
            }
            tag.raise(grid);
        }
    }

    /// [`Work::wait`] for the least value in the warp. A warp operation.
    #[inline(always)]
    pub fn wait_warp<G: Grid>(self, grid: G, tag: Tag, least: u32) {
        if grid.ballot(least != u32::MAX) == 0 {
            return;
        }
        let least = grid.warp_min(least);
        if grid.warp_lane() == 0 {
            self.wait(grid, tag, least);
        }
    }
}

/// The work register of number `index`.
///
/// # Errors
/// [`FaultCode::BadRegister`] if it is missing or too short.
#[inline(always)]
pub fn work_of<G: Grid>(context: &Context<G>, index: u32) -> Result<Work, FaultCode> {
    let grid = context.team.grid;
    let register = context.tables.register(grid, index)?;
    // SAFETY: waves of the same loop wrote the queued nodes and their rows, as the host
    // proved (`Invariant::Work` and those made of it).
    let words = unsafe { register.proven() };
    Work::new(words, context.tables.nodes(grid))
}

/// The destination of a wave in rounds, with `words` words per node, and the work
/// register that its first source names.
///
/// # Errors
/// [`FaultCode::BadRegister`] if one is missing or too short.
#[inline(always)]
pub fn values_and_work<G: Grid>(
    context: &Context<G>,
    wave: Wave,
    words: u32,
) -> Result<(Proven, Work), FaultCode> {
    let (tables, grid) = (context.tables, context.team.grid);
    let nodes = tables.nodes(grid).checked_mul(words);
    let nodes = nodes.ok_or(FaultCode::BadRegister)?;
    Ok((
        // SAFETY: indices are nodes of the graph.
        unsafe { tables.proven_of(grid, wave.destination(grid), nodes)? },
        work_of(context, wave.source(grid, 0))?,
    ))
}
