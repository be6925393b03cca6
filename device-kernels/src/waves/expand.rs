//! Fills the queue of the next round, and shares out the edges of this one.
//!
//! Queue places and the edges before them come from one atomic addition, so a block finds
//! the first row of its share by a search, whatever the degrees are. The caller decides
//! what happens at an edge.

use super::work::{Sink, Source};
use crate::block::owner;
use crate::grid::Grid;
use crate::memory::{Proven, Words};
use crate::queue::{Finds, Found, enqueue};
use crate::shared::{ROUND_ROWS, ROUND_SHIFTS, ROUND_STARTS, ROUND_VALUES};
use crate::team::Team;
use seawall_core::abi::work::WORK_EDGES;

/// Queue entries by which a one-lane block fetches rows ahead of their use.
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

    /// Visits edges; returns a bit for each whose target goes to the sink.
    fn visit<const K: usize>(&mut self, edges: &Edges<K>) -> u32;
}

impl<const K: usize> Edges<K> {
    pub(super) const NONE: Self = Self {
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

/// Appends every lane's finds to the sink, with one atomic addition per warp; nodes
/// without edges are left out. A warp operation.
#[inline(always)]
fn append<G: Grid, const K: usize>(team: &Team<G>, sink: &Sink, finds: &Finds<K>) {
    if team.grid.ballot(finds.mask != 0) != 0 {
        append_rows(team, sink, &Found::look_up(team.grid, sink.rows, finds));
    }
}

/// [`append`] for finds whose rows are known.
#[inline(always)]
pub(super) fn append_rows<G: Grid, const K: usize>(team: &Team<G>, sink: &Sink, found: &Found<K>) {
    let grid = team.grid;
    if grid.ballot(found.finds.mask != 0) == 0 {
        return;
    }
    enqueue(grid, sink.queue, found, |nodes, edges| {
        let packed = u64::from(nodes) << 32 | u64::from(edges);
        let previous = sink.counters.add_wide(grid, WORK_EDGES, packed);
        sink.tag.raise(grid);
        ((previous >> 32) as u32, previous as u32)
    });
}

/// Appends the nodes below `count` that `wanted` accepts by their word in `values`.
/// All lanes of the team take part.
#[inline(always)]
pub fn select<G: Grid>(
    team: &Team<G>,
    (values, count): (Proven, u32),
    sink: &Sink,
    mut wanted: impl FnMut(u32, u32) -> bool,
) {
    let grid = team.grid;
    if G::WARP == 1 {
        let mut held = Held::default();
        team.each(count, |node| {
            if wanted(node, values.load_weak(grid, node)) {
                held.add(team, sink, node);
            }
        });
        append(team, sink, &held.finds);
        return;
    }
    // A lane takes neighbouring nodes, so one access brings their words.
    const EACH: u32 = 4;
    let tile = grid.lanes() * EACH;
    let mut base = team.rank() * tile;
    while base < count {
        let first = base.saturating_add(grid.lane() * EACH);
        let here = count.saturating_sub(first).min(EACH);
        let mut words = [0; EACH as usize];
        if here == EACH {
            words = values.load_weak4(grid, first);
        } else {
            for k in 0..EACH {
                if k < here {
                    words[k as usize] = values.load_weak(grid, first + k);
                }
            }
        }
        let mut finds = Finds::<{ EACH as usize }>::NONE;
        for k in 0..EACH {
            let node = first.saturating_add(k);
            finds.nodes[k as usize] = node;
            if k < here {
                finds.mask |= u32::from(wanted(node, words[k as usize])) << k;
            }
        }
        append(team, sink, &finds);
        base = base.saturating_add(team.size() * tile);
    }
}

/// [`select`] in one-lane blocks, while nobody writes `values`: words are read sixteen at
/// a time, and `may` tells by a word alone whether its node can be wanted.
#[inline(always)]
pub fn select_some<G: Grid>(
    team: &Team<G>,
    (values, count): (Proven, u32),
    sink: &Sink,
    may: impl Fn(u32) -> bool,
    mut wanted: impl FnMut(u32, u32) -> bool,
) {
    const EACH: u32 = 16;
    let grid = team.grid;
    let mut held = Held::default();
    let mut take = |node: u32| {
        if wanted(node, values.constant(grid, node)) {
            held.add(team, sink, node);
        }
    };
    team.each(count.div_ceil(EACH), |part| {
        let first = part * EACH;
        if count - first < EACH {
            (first..count).for_each(&mut take);
            return;
        }
        // No branch in the loop, so that the comparisons are vectors.
        let mut any = false;
        for k in 0..EACH {
            any |= may(values.constant(grid, first + k));
        }
        if any {
            (first..first + EACH).for_each(&mut take);
        }
    });
    append(team, sink, &held.finds);
}

/// Appends the nodes of `list` that `wanted` accepts. All lanes of the team take part.
/// Lists are short, so each warp appends its lanes' finds at once.
#[inline(always)]
pub fn append_list<G: Grid>(
    team: &Team<G>,
    list: Words,
    sink: &Sink,
    wanted: impl Fn(u32) -> bool,
) {
    let lanes = team.grid.lanes();
    let mut base = team.rank() * lanes;
    while base < list.len() {
        let at = base + team.grid.lane();
        let mut finds = Finds::<1>::NONE;
        if at < list.len() {
            finds.nodes[0] = list.load_weak(team.grid, at);
            finds.mask = u32::from(wanted(finds.nodes[0]));
        }
        append(team, sink, &finds);
        base += team.size() * lanes;
    }
}

/// Finds that a one-lane block holds back until an append pays.
#[derive(Debug)]
struct Held {
    finds: Finds<32>,
    count: u32,
}

impl Default for Held {
    fn default() -> Self {
        Self {
            finds: Finds::NONE,
            count: 0,
        }
    }
}

impl Held {
    #[inline(always)]
    fn add<G: Grid>(&mut self, team: &Team<G>, sink: &Sink, node: u32) {
        self.finds.nodes[self.count as usize & 31] = node;
        self.finds.mask |= 1 << self.count;
        self.count += 1;
        if self.count == 32 {
            append(team, sink, &self.finds);
            (self.finds.mask, self.count) = (0, 0);
        }
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
    (row, ahead): (impl Fn(u32) -> u32, impl Fn(u32, u32)),
    mut visitor: impl Visit,
) {
    if G::WARP == 1 {
        walk(team, source, sink, (row, ahead, visitor));
        return;
    }
    let grid = team.grid;
    let tile = tile_of(team, source.edges);
    let mut first = u64::from(team.rank()) * u64::from(tile);
    while first < u64::from(source.edges) {
        let at = first as u32;
        let edges = (source.edges - at).min(tile);
        let rows = load_rows(grid, source, (at, edges), &row);
        let share = Share { at, edges, rows };
        let visitor = &mut visitor;
        if edges > grid.lanes() && is_together(visitor) {
            share.visit::<G, EACH>(team, (source, sink), visitor);
        } else {
            share.visit::<G, 1>(team, (source, sink), visitor);
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
        (source, sink): (&Source, &Sink),
        visitor: &mut impl Visit,
    ) {
        let mut base = 0;
        while base < self.edges {
            let taken = self.edges_from::<G, K>(team.grid, source, base);
            let finds = Finds {
                nodes: taken.to,
                mask: visitor.visit(&taken),
            };
            append(team, sink, &finds);
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
            if number(k) < self.edges {
                // SAFETY: an owner is below `rows`, at most `ROUND_ROWS`.
                let (shift, value) = unsafe {
                    (
                        ROUND_SHIFTS.load(grid, *owner),
                        ROUND_VALUES.load(grid, *owner),
                    )
                };
                edges.index[k] = (self.at + number(k)).wrapping_add(shift);
                edges.value[k] = value;
                edges.to[k] = source.rows.target(grid, edges.index[k]);
                edges.mask |= 1 << k;
            }
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

/// Loads the rows of a share into shared memory and returns their number: the start of
/// each in the share, the difference between its edges' numbers in the queue and in the
/// graph, and the word that `row` returns.
#[inline(always)]
fn load_rows<G: Grid>(
    grid: G,
    source: &Source,
    (first_edge, edges): (u32, u32),
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
            inside = prefix < end;
            if inside {
                let node = queue.nodes.load_weak(grid, entry);
                let start = queue.starts.load_weak(grid, entry);
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

/// Number of the queue entry that `edge` belongs to. Each lane of the block probes one
/// entry per round, and the last one not above `edge` stays; a lone lane halves the range
/// instead.
#[inline(always)]
fn find_row<G: Grid>(grid: G, source: &Source, edge: u32) -> u32 {
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
    (row, ahead, mut visitor): (impl Fn(u32) -> u32, impl Fn(u32, u32), impl Visit),
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
        let counts = (source.nodes, source.edges);
        let (start, stop) = source.queue.row(grid, entry, counts);
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
            if visitor.visit(&edge) != 0 {
                held.add(team, sink, to);
            }
            at += 1;
        }
        entry += 1;
    }
    append(team, sink, &held.finds);
}
