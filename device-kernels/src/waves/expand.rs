//! Fills the queue of the next round and shares out the edges of this one.
//!
//! Queue places and the edges before them come from one atomic addition, so a
//! block finds the first row of its share of the edges by a search, whatever
//! the degrees are. What happens at an edge is up to the caller.

use super::work::{Sink, Source};
use crate::block::owner;
use crate::block::shared::SHARES;
use crate::grid::Grid;
use crate::memory::{Proven, Words};
use crate::queue::{Finds, Found, enqueue};
use crate::team::Team;
use seawall_core::abi::work::WORK_EDGES;

/// Rows that a share can have, and its edges: every queued node has an edge.
const SHARE_ROWS: u32 = 2560;
const _: () = assert!((SHARES + 3 * SHARE_ROWS) as usize <= crate::grid::SHARED_WORDS);

/// An edge of a queued node.
#[derive(Clone, Copy, Debug)]
pub struct WorkEdge {
    /// Node that it enters.
    pub to: u32,
    /// Its number in the rows.
    pub index: u32,
    /// What the row's visitor said about the node that it leaves.
    pub value: u32,
}

/// Appends every lane's finds to the sink with one atomic addition a warp;
/// nodes without edges are left out. All lanes of the warp take part.
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
    // Neighbouring nodes for a lane, so that one access brings their words.
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

/// Appends the nodes of `list` that `wanted` accepts. All lanes of the team
/// take part; lists are short, so every warp takes what its lanes find.
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

/// Finds that a one-lane block holds back until an append is worth it.
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

/// Calls `row` for every queued node and `edge` for each of its edges; the
/// targets that `edge` accepts go to the sink. A node whose edges are in
/// several shares is met once a share. All lanes of the team take part.
#[inline(always)]
pub fn expand<G: Grid>(
    team: &Team<G>,
    source: &Source,
    sink: &Sink,
    row: impl Fn(u32) -> u32,
    mut edge: impl FnMut(WorkEdge) -> bool,
) {
    if G::WARP == 1 {
        walk(team, source, sink, (row, edge));
        return;
    }
    let grid = team.grid;
    let tile = tile_of(team, source.edges);
    let mut first = u64::from(team.rank()) * u64::from(tile);
    while first < u64::from(source.edges) {
        let at = first as u32;
        let edges = (source.edges - at).min(tile);
        let rows = load_rows(grid, source, (at, edges), &row);
        let mut base = 0;
        while base < edges {
            let number = base + grid.lane();
            let mut finds = Finds::<1>::NONE;
            if number < edges {
                let work = edge_of(grid, source, (at, rows), number);
                finds.nodes[0] = work.to;
                finds.mask = u32::from(edge(work));
            }
            append(team, sink, &finds);
            base += grid.lanes();
        }
        grid.block_barrier();
        first += u64::from(team.size()) * u64::from(tile);
    }
}

/// Edges of a share: as few as keep every block busy.
#[inline(always)]
fn tile_of<G: Grid>(team: &Team<G>, edges: u32) -> u32 {
    let lanes = team.grid.lanes();
    let most = (SHARE_ROWS / lanes).max(1) * lanes;
    let even = edges.div_ceil(team.size()).div_ceil(lanes).max(1);
    even.saturating_mul(lanes).min(most)
}

/// Edge `number` of a share whose rows lie in shared memory.
#[inline(always)]
fn edge_of<G: Grid>(grid: G, source: &Source, (first, rows): (u32, u32), number: u32) -> WorkEdge {
    let at = owner(grid, SHARES, rows, number);
    // SAFETY: `at` is below `rows`, at most `SHARE_ROWS`.
    let (shift, value) = unsafe {
        (
            grid.shared_load(SHARES + SHARE_ROWS + at),
            grid.shared_load(SHARES + 2 * SHARE_ROWS + at),
        )
    };
    let index = (first + number).wrapping_add(shift);
    WorkEdge {
        to: source.rows.target(grid, index),
        index,
        value,
    }
}

/// Loads the rows of a share into shared memory: where each starts in the
/// share, what turns an edge of the queue into one of the graph, and what
/// `row` says; gives their number.
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
        if entry < source.nodes && at < SHARE_ROWS {
            let prefix = queue.prefix.load_weak(grid, entry);
            inside = prefix < end;
            if inside {
                let node = queue.nodes.load_weak(grid, entry);
                let start = queue.starts.load_weak(grid, entry);
                // SAFETY: `at` was checked against `SHARE_ROWS`.
                unsafe {
                    grid.shared_store(SHARES + at, prefix.saturating_sub(first_edge));
                    grid.shared_store(SHARES + SHARE_ROWS + at, start.wrapping_sub(prefix));
                    grid.shared_store(SHARES + 2 * SHARE_ROWS + at, row(node));
                }
            }
        }
        let count = grid.block_count(inside);
        loaded += count;
        base += grid.lanes();
        if count < grid.lanes() || base >= SHARE_ROWS {
            return loaded;
        }
    }
}

/// Number of the queue entry that `edge` belongs to. Every lane of the block
/// probes an entry a round, and the last one not above `edge` stays; a lone
/// lane halves instead.
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

/// A one-lane block walks its even share of the edges row by row.
#[inline(always)]
fn walk<G: Grid>(
    team: &Team<G>,
    source: &Source,
    sink: &Sink,
    (row, mut edge): (impl Fn(u32) -> u32, impl FnMut(WorkEdge) -> bool),
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
        let node = source.queue.nodes.load_weak(grid, entry);
        let prefix = source.queue.prefix.load_weak(grid, entry);
        let counts = (source.nodes, source.edges);
        let (start, stop) = source.queue.row(grid, entry, counts);
        let row_end = end.min(prefix + (stop - start));
        let value = row(node);
        while at < row_end {
            let index = start + (at - prefix);
            let to = source.rows.target(grid, index);
            if edge(WorkEdge { to, index, value }) {
                held.add(team, sink, to);
            }
            at += 1;
        }
        entry += 1;
    }
    append(team, sink, &held.finds);
}
