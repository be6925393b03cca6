//! Shares out the edges of a round.
//!
//! A queue's entries know how many edges come before theirs, so a block finds the first
//! row of its share by a search, whatever the degrees are. The caller decides what happens
//! at an edge.

use crate::collectives::block::owner;
use crate::collectives::queue::{Ends, Finds};
use crate::collectives::team::Team;
use crate::machine::Grid;
use crate::machine::shared::{ROUND_ROWS, ROUND_SHIFTS, ROUND_STARTS, ROUND_VALUES};
use crate::operators::filter::{Held, append, append_rows};
use crate::operators::rounds::{Sink, Source};

/// Queue entries by which a one-lane block prefetches rows.
const AHEAD: u32 = 8;

/// Edges that a lane has in flight at a time, in rounds with more than one for it.
const EACH: usize = 4;

/// Up to `K` edges of queued nodes.
#[derive(Clone, Copy, Debug)]
pub struct Edges<const K: usize> {
    /// Nodes that they enter.
    pub to: [u32; K],
    /// Their numbers in the rows.
    pub index: [u32; K],
    /// The words that the row's visitor returned for the nodes that they leave.
    pub value: [u32; K],
    /// One bit per edge that there is.
    pub mask: u32,
}

/// Decides what happens at edges.
pub trait Visit {
    /// Whether accesses of several edges overlap, so that a lane takes as many at a time.
    const TOGETHER: bool;

    /// Visits edges; returns a bit for each whose target is to go to the sink.
    fn visit<const K: usize>(&mut self, edges: &Edges<K>) -> u32;

    /// [`Visit::visit`] for adjacent edges of one node, where few visits are in vain.
    #[inline(always)]
    fn visit_row<const K: usize>(&mut self, edges: &Edges<K>) -> u32 {
        self.visit(edges)
    }

    /// Returns the `picked` nodes that go to the sink, since no other lane has picked them before.
    #[inline(always)]
    fn claim<const K: usize>(&self, nodes: &[u32; K], picked: u32) -> u32 {
        let _ = nodes;
        picked
    }
}

impl<const K: usize> Edges<K> {
    /// No edges.
    pub(crate) const NONE: Self = Self {
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

/// [`append`] for nodes that a visitor picked. Their rows are fetched while it claims them:
/// codegen rule `LOADS_TOGETHER`.
#[inline(always)]
pub(crate) fn append_picked<G: Grid, const K: usize>(
    team: &Team<G>,
    sink: &Sink,
    visitor: &impl Visit,
    picked: &Finds<K>,
) {
    let grid = team.grid;
    if grid.ballot(picked.mask != 0) == 0 {
        return;
    }
    let ends = Ends::fetch(grid, sink.rows, picked);
    let claimed = Finds {
        mask: visitor.claim(&picked.nodes, picked.mask),
        ..*picked
    };
    if grid.ballot(claimed.mask != 0) != 0 {
        append_rows(team, sink, &ends.found(&claimed));
    }
}

/// Calls `row` for every queued node and `visitor` for its edges; the targets whose bits
/// it returns go to the sink. A node whose edges are in several shares is visited
/// once per share. A one-lane block calls `ahead` for nodes that come later, with the
/// number of their first edge. All lanes of the team take part.
#[inline(always)]
pub fn expand<G: Grid>(
    team: &Team<G>,
    source: &Source,
    sink: &Sink,
    row: impl Fn(u32) -> u32,
    ahead: impl Fn(u32, u32),
    mut visitor: impl Visit,
) {
    if G::WARP == 1 {
        walk(team, source, sink, row, ahead, visitor);
        return;
    }
    let grid = team.grid;
    let tile = tile_of(team, source.edges);
    let mut first = u64::from(team.rank()) * u64::from(tile);
    while first < u64::from(source.edges) {
        let at = first as u32;
        let edges = (source.edges - at).min(tile);
        let rows = load_rows(grid, source, at, edges, &row);
        let share = Share { at, edges, rows };
        let visitor = &mut visitor;
        if edges > grid.lanes() && is_together(visitor) {
            share.visit::<G, EACH>(team, source, sink, visitor);
        } else {
            share.visit::<G, 1>(team, source, sink, visitor);
        }
        grid.block_barrier();
        first += u64::from(team.size()) * u64::from(tile);
    }
}

/// Edges of a share: few enough to keep every block busy.
#[inline(always)]
fn tile_of<G: Grid>(team: &Team<G>, edges: u32) -> u32 {
    let lanes = team.grid.lanes();
    let most = (ROUND_ROWS / lanes).max(1) * lanes;
    let even = edges.div_ceil(team.size()).div_ceil(lanes).max(1);
    even.saturating_mul(lanes).min(most)
}

/// [`Visit::TOGETHER`] of a visitor.
#[inline(always)]
const fn is_together<V: Visit>(_: &V) -> bool {
    V::TOGETHER
}

/// Edges of a block whose rows lie in shared memory.
#[derive(Clone, Copy, Debug)]
struct Share {
    /// Edges of the queue before them.
    at: u32,
    edges: u32,
    rows: u32,
}

impl Share {
    /// Visits `K` edges per lane at a time.
    #[inline(always)]
    fn visit<G: Grid, const K: usize>(
        self,
        team: &Team<G>,
        source: &Source,
        sink: &Sink,
        visitor: &mut impl Visit,
    ) {
        let mut base = 0;
        while base < self.edges {
            let taken = self.edges_from::<G, K>(team.grid, source, base);
            let picked = Finds {
                nodes: taken.to,
                mask: visitor.visit(&taken),
            };
            append_picked(team, sink, visitor, &picked);
            base += K as u32 * team.grid.lanes();
        }
    }

    /// This lane's edges from number `base` on.
    #[inline(always)]
    fn edges_from<G: Grid, const K: usize>(self, grid: G, source: &Source, base: u32) -> Edges<K> {
        let number = |k: usize| base + k as u32 * grid.lanes() + grid.lane();
        let owners = self.owners::<G, K>(grid, number);
        let mut edges = Edges::NONE;
        for (k, owner) in owners.iter().enumerate() {
            // SAFETY: an owner is below `rows`, at most `ROUND_ROWS`.
            let (shift, value) = unsafe {
                (
                    ROUND_SHIFTS.load(grid, *owner),
                    ROUND_VALUES.load(grid, *owner),
                )
            };
            let is_edge = number(k) < self.edges;
            edges.index[k] = self.at.wrapping_add(number(k)).wrapping_add(shift);
            edges.value[k] = value;
            edges.to[k] = source.rows.target_if(grid, is_edge, edges.index[k]);
            edges.mask |= u32::from(is_edge) << k;
        }
        edges
    }

    /// The row of each `number`. Several searches take equal steps, so that they overlap.
    #[inline(always)]
    fn owners<G: Grid, const K: usize>(self, grid: G, number: impl Fn(usize) -> u32) -> [u32; K] {
        if K == 1 {
            return [owner(grid, ROUND_STARTS, self.rows, number(0)); K];
        }
        let mut owners = [0; K];
        let mut half = 1 << (31 - self.rows.max(1).leading_zeros());
        while half != 0 {
            for (k, owner) in owners.iter_mut().enumerate() {
                let at = *owner + half;
                // SAFETY: `at` is below `rows`, at most `ROUND_ROWS`.
                if at < self.rows && unsafe { ROUND_STARTS.load(grid, at) } <= number(k) {
                    *owner = at;
                }
            }
            half >>= 1;
        }
        owners
    }
}

/// Loads the rows of a share into shared memory and returns their number. It stores the offset of
/// each row in the share, the difference between its edges' numbers in the queue and in the graph,
/// and the word that `row` returns.
#[inline(always)]
fn load_rows<G: Grid>(
    grid: G,
    source: &Source,
    first_edge: u32,
    edges: u32,
    row: &impl Fn(u32) -> u32,
) -> u32 {
    let queue = &source.queue;
    let first_row = find_row(grid, source, first_edge);
    let end = first_edge + edges;
    let (mut loaded, mut base) = (0, 0);
    loop {
        let at = base + grid.lane();
        let entry = first_row + at;
        let mut inside = false;
        if entry < source.nodes && at < ROUND_ROWS {
            let prefix = queue.prefix.load_weak(grid, entry);
            let node = queue.nodes.load_weak(grid, entry);
            let start = queue.starts.load_weak(grid, entry);
            inside = prefix < end;
            if inside {
                // SAFETY: `at` was checked against `ROUND_ROWS`.
                unsafe {
                    ROUND_STARTS.store(grid, at, prefix.saturating_sub(first_edge));
                    ROUND_SHIFTS.store(grid, at, start.wrapping_sub(prefix));
                    ROUND_VALUES.store(grid, at, row(node));
                }
            }
        }
        let count = grid.block_count(inside);
        loaded += count;
        base += grid.lanes();
        if count < grid.lanes() || base >= ROUND_ROWS {
            return loaded;
        }
    }
}

/// Number of the queue entry that `edge` belongs to. Each lane of the block probes one entry per
/// round, and the last one not above `edge` stays; a one-lane block halves the range instead.
#[inline(always)]
pub(crate) fn find_row<G: Grid>(grid: G, source: &Source, edge: u32) -> u32 {
    let prefix = |entry| source.queue.prefix.load_weak(grid, entry);
    let (mut low, mut span) = (0, source.nodes);
    while span > 1 {
        let stride = if G::WARP == 1 {
            span / 2
        } else {
            span.div_ceil(grid.lanes())
        };
        let start = if G::WARP == 1 {
            if prefix(low + stride) <= edge {
                stride
            } else {
                0
            }
        } else {
            let probe = u64::from(grid.lane()) * u64::from(stride);
            let below = probe < u64::from(span) && prefix(low + probe as u32) <= edge;
            (grid.block_count(below).max(1) - 1) * stride
        };
        low += start;
        span = if G::WARP == 1 && start != 0 {
            span - stride
        } else {
            stride.min(span - start)
        };
    }
    low
}

/// Walks a one-lane block's even share of the edges row by row.
#[inline(always)]
fn walk<G: Grid>(
    team: &Team<G>,
    source: &Source,
    sink: &Sink,
    row: impl Fn(u32) -> u32,
    ahead: impl Fn(u32, u32),
    mut visitor: impl Visit,
) {
    let grid = team.grid;
    let bound =
        |rank: u32| (u64::from(source.edges) * u64::from(rank) / u64::from(team.size())) as u32;
    let (mut at, end) = (bound(team.rank()), bound(team.rank() + 1));
    if at == end {
        return;
    }
    let mut entry = find_row(grid, source, at);
    let mut held = Held::default();
    while at < end {
        if entry + AHEAD < source.nodes {
            let later = entry + AHEAD;
            let start = source.queue.starts.load_weak(grid, later);
            source.rows.prefetch_target(grid, start);
            ahead(source.queue.nodes.load_weak(grid, later), start);
        }
        let node = source.queue.nodes.load_weak(grid, entry);
        let prefix = source.queue.prefix.load_weak(grid, entry);
        let (start, stop) = source.queue.row(grid, entry, source.nodes, source.edges);
        let row_end = end.min(prefix + (stop - start));
        let value = row(node);
        while at < row_end {
            let index = start + (at - prefix);
            let to = source.rows.target(grid, index);
            let edge = Edges {
                to: [to],
                index: [index],
                value: [value],
                mask: 1,
            };
            if visitor.visit(&edge) != 0 && visitor.claim(&[to], 1) != 0 {
                held.add(team, sink, to);
            }
            at += 1;
        }
        entry += 1;
    }
    append(team, sink, &held.finds);
}
