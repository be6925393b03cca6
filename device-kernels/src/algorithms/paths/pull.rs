//! Rounds of shortest paths against the edges: each node searches for a shorter path.
//!
//! A queued node that relaxes its edges reads the distances of all its neighbours, which lie
//! anywhere in memory, and nearly all of them in vain once most nodes have a distance. A node that
//! pulls reads the weights of its row one after another and visits only neighbours along edges so
//! light that a queued node there could lower its own distance, given the nearest of the queued
//! nodes (Chakaravarthy, Checconi, Petrini, Sabharwal: "Scalable Single Source Shortest Path
//! Algorithms for Massively Parallel Systems", IPDPS 2014). On random graphs that is one edge in
//! ten or fewer. It reads rows of outgoing edges, so each edge must have a mirror image of the same
//! weight.
//!
//! Distances fall while others read them. A node that misses a fall relaxes that edge in a later
//! round, since the node at its other end is queued again or waits.

use super::lengths::OneWord;
use crate::collectives::block::warp_scan;
use crate::collectives::context::ContextRef;
use crate::collectives::queue::{FindRows, Finds, append_rows};
use crate::collectives::team::Team;
use crate::machine::Grid;
use crate::machine::memory::{Csr, Proven};
use crate::machine::shared::{LONG_COUNT, LONG_NODES};
use crate::operators::advance::row_spread::owner;
use crate::operators::marks::claim;
use crate::operators::rounds::{Past, Round, Sink, Work};
use core::marker::PhantomData;
use seawall_core::abi::control::FaultCode;

/// Adjacent edges that a lane takes at a time, in one access.
const EACH: u32 = 4;

/// [`EACH`] as a length.
const LANE: usize = EACH as usize;

/// Longest row that a warp takes alone.
const ALONE_MAX: u32 = 4096;

/// Long rows that are left to a block; warps take further ones alone.
const LONG_MAX: u32 = 1024;

/// Lowers distances along the edges from queued nodes.
///
/// # Errors
/// [`FaultCode::NoArray`] if the launch holds no weights.
#[inline(never)]
pub(super) fn pull<G: Grid, W: OneWord>(
    cx: ContextRef<G>,
    _: W,
    distances: Proven,
    work: Proven,
) -> Result<(), FaultCode> {
    let context = &cx.context();
    let (team, grid) = (&context.team, context.team.grid);
    let (tag, round) = (context.tag.now(grid), Round::broadcast(grid));
    let past = Past::broadcast(grid);
    let nodes = context.tables.nodes(grid);
    let work = Work::new(work, nodes)?;
    if team.is_counter() {
        work.open_next(grid, tag, round.level);
        work.pass_relaxed(grid, tag, past.and(round.edges).relaxed);
        work.wait(grid, context.tag, round.least);
    }
    work.unmark(team, tag);
    let mut pull = Pull::<G, W> {
        grid,
        rows: context.tables.outgoing(grid),
        weights: context.tables.weights(grid).ok_or(FaultCode::NoArray)?,
        distances,
        nodes,
        nearest: past.nearest,
        level: round.level,
        least: u32::MAX,
        queued: u32::MAX,
        lengths: PhantomData,
    };
    let sink = work.sink(context);
    if nodes != 0 {
        pull.by_warps(team, &sink, work.marks(tag.wrapping_add(1)));
    }
    work.wait_warp(grid, context.tag, pull.least);
    work.pass_nearest(grid, tag, pull.queued);
    Ok(())
}

/// The arrays of a pull, and this lane's finds.
#[derive(Clone, Copy, Debug)]
struct Pull<G, W> {
    grid: G,
    rows: Csr,
    weights: Proven,
    distances: Proven,
    nodes: u32,
    /// No queued node is nearer.
    nearest: u32,
    /// Limit below which nodes are queued.
    level: u32,
    /// Least distance of nodes beyond the limit.
    least: u32,
    /// Least distance of nodes queued for the next round.
    queued: u32,
    lengths: PhantomData<W>,
}

/// A node's row.
#[derive(Clone, Copy, Debug)]
struct Row {
    node: u32,
    start: u32,
    end: u32,
    /// The node's distance.
    length: u32,
}

impl Row {
    fn degree(self) -> u32 {
        self.end - self.start
    }
}

/// Adjacent edges in one access, some of which belong to a row.
#[derive(Clone, Copy, Debug)]
struct Quad {
    node: u32,
    length: u32,
    to: [u32; LANE],
    weights: [u32; LANE],
    /// [`OneWord::limit`] for the row's edges among them, 0 for others.
    limits: [u32; LANE],
}

impl<G: Grid, W: OneWord> Pull<G, W> {
    /// Records a node's new distance; returns whether the node is to be queued.
    #[inline(always)]
    fn note(&mut self, length: u32) -> bool {
        if length >= self.level {
            self.least = self.least.min(length);
            return false;
        }
        self.queued = self.queued.min(length);
        true
    }

    /// Each warp takes the rows of as many adjacent nodes as it has lanes; then the
    /// block takes those that are too long.
    #[inline(always)]
    fn by_warps(&mut self, team: &Team<G>, sink: &Sink, marks: Proven) {
        let grid = self.grid;
        if grid.lane() == 0 {
            // SAFETY: the area has one word.
            unsafe { LONG_COUNT.store(grid, 0, 0) };
        }
        grid.block_barrier();
        let stride = team.size() * grid.lanes();
        let warp = grid.lane() / G::WARP;
        let mut base = (warp * team.size() + team.rank()) * G::WARP;
        let mut row = self.row(base.saturating_add(grid.warp_lane()));
        while base < self.nodes {
            // The ends of the next rows are in flight meanwhile.
            base = base.saturating_add(stride);
            let coming = self.row(base.saturating_add(grid.warp_lane()));
            let found = self.chunk(row);
            append_rows(grid, sink, &found);
            row = coming;
        }
        grid.block_barrier();
        // SAFETY: as above.
        let count = unsafe { LONG_COUNT.load(grid, 0) }.min(LONG_MAX);
        for at in 0..count {
            // SAFETY: `at` is below `LONG_MAX`.
            let node = unsafe { LONG_NODES.load(grid, at) };
            // Its distance falls meanwhile, and the lanes of a warp must agree on it.
            let mut row = self.row(node);
            (row.end, row.length) = (grid.shuffle(row.end, 0), grid.shuffle(row.length, 0));
            let found = self.long(row, marks);
            append_rows(grid, sink, &found);
        }
    }

    /// The row of `node`, without edges if no queued node can lower its distance.
    #[inline(always)]
    fn row(&self, node: u32) -> Row {
        let grid = self.grid;
        let at = node.min(self.nodes - 1);
        let (start, end) = self.rows.row(grid, at);
        let length = self.distances.load_weak(grid, at).min(W::NEVER);
        let is_wanted = node < self.nodes && length > self.nearest;
        Row {
            node,
            start,
            end: if is_wanted { end } else { start },
            length,
        }
    }

    /// Pulls for the nodes of the warp's lanes, and returns the nodes to queue.
    #[inline(always)]
    fn chunk(&mut self, mut row: Row) -> FindRows<1> {
        let grid = self.grid;
        if row.degree() > ALONE_MAX && self.leave(row.node) {
            row.end = row.start;
        }
        let (below, total) = warp_scan(grid, quads_of(row));
        if total == 0 {
            return FindRows::NONE;
        }
        let fetch = |first: u32| {
            // Lanes beyond the last one do the same as the last one.
            let number = (first + grid.warp_lane()).min(total - 1);
            let owner = owner(grid, below, number);
            let from = |word: u32| grid.shuffle(word, owner);
            let row = Row {
                // The nodes of the lanes are neighbours.
                node: row.node - grid.warp_lane() + owner,
                start: from(row.start),
                end: from(row.end),
                length: from(row.length),
            };
            self.quad(row, number - from(below))
        };
        let mut has_fallen = false;
        let (mut at, mut quad) = (0, fetch(0));
        while at < total {
            let looked = self.look(&quad);
            at += G::WARP;
            let coming = if at < total { fetch(at) } else { quad };
            has_fallen |= self.lower(&quad, looked);
            quad = coming;
        }
        if grid.ballot(has_fallen) == 0 {
            return FindRows::NONE;
        }
        // Distances lowered by other lanes.
        grid.warp_barrier();
        let mut found = FindRows::NONE;
        if row.degree() != 0 {
            let now = self.distances.load(grid, row.node);
            if now < row.length && self.note(now) {
                found = one(row);
            }
        }
        found
    }

    /// Leaves a node to the block, if there is space.
    #[inline(always)]
    fn leave(&self, node: u32) -> bool {
        // SAFETY: the area has one word, and the other one `LONG_MAX`.
        unsafe {
            let at = LONG_COUNT.add(self.grid, 0, 1);
            if at < LONG_MAX {
                LONG_NODES.store(self.grid, at, node);
            }
            at < LONG_MAX
        }
    }

    /// Pulls for one node with all warps of the block. A warp that lowered its distance
    /// queues it, unless another one has.
    #[inline(always)]
    fn long(&mut self, row: Row, marks: Proven) -> FindRows<1> {
        let grid = self.grid;
        let total = quads_of(row);
        let fetch = |first: u32| {
            let number = (first + grid.warp_lane()).min(total - 1);
            self.quad(row, number)
        };
        let mut at = grid.lane() - grid.warp_lane();
        if at >= total {
            return FindRows::NONE;
        }
        let mut has_fallen = false;
        let mut quad = fetch(at);
        while at < total {
            let looked = self.look(&quad);
            at += grid.lanes();
            let coming = if at < total { fetch(at) } else { quad };
            has_fallen |= self.lower(&quad, looked);
            quad = coming;
        }
        let has_fallen = grid.ballot(has_fallen) != 0;
        grid.warp_barrier();
        if has_fallen && grid.warp_lane() == 0 {
            let now = self.distances.load(grid, row.node);
            if self.note(now) && claim(grid, marks, row.node) {
                return one(row);
            }
        }
        FindRows::NONE
    }

    /// Fetches the aligned edges of number `number` that a row has a part in.
    #[inline(always)]
    fn quad(&self, row: Row, number: u32) -> Quad {
        let grid = self.grid;
        let first = row.start / EACH * EACH + number * EACH;
        let (mut to, mut weights) = ([0; LANE], [0; LANE]);
        if self.rows.edges() - first >= EACH {
            to = self.rows.targets4(grid, first);
            weights = self.weights.constant4(grid, first);
        } else {
            // The last edges of the graph.
            for k in 0..LANE {
                let edge = first + k as u32;
                if edge < row.end {
                    to[k] = self.rows.target(grid, edge);
                    weights[k] = self.weights.constant(grid, edge);
                }
            }
        }
        let limit = W::limit(self.nearest, row.length);
        let mut limits = [0; LANE];
        for (k, of_edge) in limits.iter_mut().enumerate() {
            let inside = first.wrapping_add(k as u32).wrapping_sub(row.start);
            *of_edge = if inside < row.degree() { limit } else { 0 };
        }
        Quad {
            node: row.node,
            length: row.length,
            to,
            weights,
            limits,
        }
    }

    /// Reads the distances of the nodes from which one can be lowered. An edge that cannot improve
    /// the distance reads its own node instead of branching, which adds no shorter path: codegen
    /// rule `LOADS_TOGETHER`.
    #[inline(always)]
    fn look(&self, quad: &Quad) -> [u32; LANE] {
        let mut from = quad.to;
        for (k, from) in from.iter_mut().enumerate() {
            if !W::may_lower(self.nearest, quad.weights[k], quad.limits[k]) {
                *from = quad.node;
            }
        }
        from.map(|node| self.distances.load_weak(self.grid, node))
    }

    /// Lowers a distance by the result of [`Pull::look`]; returns whether it was lower than when
    /// the row was read.
    #[inline(always)]
    #[expect(
        clippy::needless_range_loop,
        reason = "several things go by one number"
    )]
    fn lower(&self, quad: &Quad, looked: [u32; LANE]) -> bool {
        let mut best = W::NEVER;
        for k in 0..LANE {
            best = best.min(W::add(looked[k], quad.weights[k]));
        }
        let falls = best < quad.length;
        if falls {
            self.distances.min(self.grid, quad.node, best);
        }
        falls
    }
}

/// Aligned quads that a row has a part in.
#[inline(always)]
fn quads_of(row: Row) -> u32 {
    if row.degree() == 0 {
        return 0;
    }
    (row.end - 1) / EACH - row.start / EACH + 1
}

/// A row as a find.
#[inline(always)]
fn one(row: Row) -> FindRows<1> {
    FindRows {
        finds: Finds {
            nodes: [row.node],
            mask: 1,
        },
        starts: [row.start],
        degrees: [row.degree()],
    }
}
