//! Bucket fusion on CPU threads, for graphs of short rows: a thread continues with the near nodes
//! that it finds.
//!
//! A barrier of threads takes as long as some thousand edges, and on such graphs a round has few
//! more. So a thread keeps the nodes that it finds below the limit and relaxes them in the same
//! round; only the rest goes to the next round's queue (Zhang, Brahmakshatriya, Chen, Dhulipala,
//! Kamil, Amarasinghe, Shun: "Optimizing Ordered Graph Algorithms with GraphIt", CGO 2020, where it
//! is called bucket fusion). It takes the nearest first, by bins of lengths, so that few edges are
//! relaxed twice, and delta may be larger.

use crate::algorithms::paths::lengths::Lengths;
use crate::algorithms::paths::relax::Relax;
use crate::collectives::context::Context;
use crate::collectives::queue::Held;
use crate::collectives::team::Team;
use crate::machine::Grid;
use crate::operators::advance::threads::{Walk, even_share};
use crate::operators::advance::{Edges, Source, Visit};
use crate::operators::rounds::Sink;

/// Average degree of a graph up to which its rows count as short. On longer rows, a thread that
/// continues alone relaxes too many edges with lengths that still fall.
const SHORT: u32 = 8;

/// Largest share of the queue, in edges, with which a thread continues: more of them take far
/// longer than the barrier.
const FEW: u32 = 1 << 13;

/// Longest row that a thread relaxes alone.
const ROW_MOST: u32 = 256;

/// Most edges that a thread relaxes in a round: some milliseconds, so that a run ends in time.
const EDGES_MOST: u32 = 1 << 18;

/// Nodes that a thread keeps at a time.
const ROOM: usize = 4096;

/// Bins of nodes; a word has a bit for each.
const BINS: usize = 64;

/// Whether threads keep their finds in rounds over few edges. A single thread has nothing to wait
/// for, and its kernels leave this out: with it they took a sixth longer on rich graphs.
#[inline(always)]
pub(crate) fn suits<G: Grid>(context: &Context<G>) -> bool {
    let (tables, grid) = (context.tables, context.team.grid);
    G::TAKES && !context.team.is_alone() && tables.edges(grid) / SHORT <= tables.nodes(grid)
}

/// Whether a round over `edges` edges is so short that threads keep their finds.
#[inline(always)]
pub(crate) fn is_short<G: Grid>(team: &Team<G>, edges: u32) -> bool {
    edges / FEW <= team.size()
}

/// A node and the length of a path to it. If the node's distance has fallen since, the
/// thread that lowered it relaxes its edges.
#[derive(Clone, Copy, Default)]
struct Entry<L> {
    node: u32,
    /// The next entry of the list, counted from 1; 0 ends it.
    next: u32,
    length: L,
}

/// Nodes by bins of lengths.
struct Bins<L> {
    entries: [Entry<L>; ROOM],
    /// First entry of each bin that has any, counted from 1.
    heads: [u32; BINS],
    /// One bit per bin that has entries.
    some: u64,
    /// First of the entries that became free again, counted from 1.
    free: u32,
    /// Entries that were ever used.
    used: u32,
    /// The place where the first bin begins, and the logarithm of the places in a bin.
    from: u32,
    shift: u32,
}

impl<L: Copy + Default> Bins<L> {
    /// No nodes. The bins share out the places from `from` to below `level`.
    fn new(from: u32, level: u32) -> Self {
        let last = level.saturating_sub(from).saturating_sub(1);
        let bits = u32::BITS - last.leading_zeros();
        Self {
            entries: [Entry::default(); ROOM],
            heads: [0; BINS],
            some: 0,
            free: 0,
            used: 0,
            from,
            shift: bits.saturating_sub(BINS.trailing_zeros()),
        }
    }

    /// Keeps a node whose path's length has this `place`, if there is space.
    #[inline(always)]
    fn keep(&mut self, node: u32, length: L, place: u32) -> bool {
        let number = if self.free != 0 {
            self.free
        } else if (self.used as usize) < ROOM {
            self.used += 1;
            self.used
        } else {
            return false;
        };
        let entry = &mut self.entries[(number as usize - 1) % ROOM];
        if self.free != 0 {
            self.free = entry.next;
        }
        let bin = (place.saturating_sub(self.from) >> self.shift) as usize % BINS;
        let has_some = self.some >> bin & 1 != 0;
        *entry = Entry {
            node,
            next: if has_some { self.heads[bin] } else { 0 },
            length,
        };
        self.heads[bin] = number;
        self.some |= 1 << bin;
        true
    }

    /// Takes a node out of the first bin that has any.
    #[inline(always)]
    fn take(&mut self) -> Option<(u32, L)> {
        if self.some == 0 {
            return None;
        }
        let bin = self.some.trailing_zeros() as usize % BINS;
        let number = self.heads[bin];
        let entry = &mut self.entries[(number as usize - 1) % ROOM];
        let taken = (entry.node, entry.length);
        if entry.next == 0 {
            self.some &= self.some - 1;
        } else {
            self.heads[bin] = entry.next;
        }
        entry.next = self.free;
        self.free = number;
        Some(taken)
    }
}

/// Relaxes the edges of this thread's share of the queue, in the order of their lengths as far as
/// there is space, and of the near nodes that it finds. Returns the number of edges beyond the
/// share, at least 1.
#[inline(always)]
pub(crate) fn expand_near<G: Grid, L: Lengths>(
    team: &Team<G>,
    source: &Source,
    to: &Sink,
    relax: Relax<G, L>,
    from: u32,
) -> u32 {
    let grid = team.grid;
    let (first, end) = even_share(team, source.edges);
    if first == end {
        return 1;
    }
    let share = end - first;
    let mut walk = Walk::of(grid, source, first, end);
    let mut near = Near {
        bins: Bins::new(from, relax.level),
        held: Held::default(),
        source,
        to,
        relax,
    };
    let mut edges = 0;
    while let Some(part) = walk.next(grid) {
        let (node, degree) = (part.node, part.end - part.first);
        let value = near.relax.leave(node);
        let is_whole = part.is_whole && degree <= ROW_MOST;
        if !is_whole || !near.keep(node, near.distance(node), part.first) {
            near.visit(part.first, part.end, value);
            edges += degree;
        }
    }
    while let Some((node, length)) = near.bins.take() {
        if near.distance(node) != length {
            continue;
        }
        let (start, stop) = source.rows.row(grid, node);
        if edges >= EDGES_MOST || stop - start > ROW_MOST {
            near.pass_on(node);
            continue;
        }
        let (lengths, distances) = (near.relax.lengths, near.relax.distances);
        near.visit(start, stop, lengths.carried(grid, distances, node));
        edges = edges.saturating_add(stop - start);
    }
    near.held.append(grid, to);
    edges.saturating_sub(share).max(1)
}

/// State of a thread's round.
struct Near<'r, G, L: Lengths> {
    relax: Relax<'r, G, L>,
    bins: Bins<L::Length>,
    /// Nodes for the next round.
    held: Held,
    source: &'r Source,
    to: &'r Sink,
}

impl<G: Grid, L: Lengths> Near<'_, G, L> {
    /// A distance that `node` has or had.
    #[inline(always)]
    fn distance(&self, node: u32) -> L::Length {
        let Relax { grid, lengths, .. } = self.relax;
        lengths.seen_if(grid, self.relax.distances, true, node)
    }

    /// Keeps a node whose first edge is `start`, if there is space. Its edges are fetched
    /// meanwhile.
    #[inline(always)]
    fn keep(&mut self, node: u32, length: L::Length, start: u32) -> bool {
        let grid = self.relax.grid;
        let place = self.relax.lengths.place(length);
        if !self.bins.keep(node, length, place) {
            return false;
        }
        self.source.rows.prefetch_target(grid, start);
        self.relax.weights.prefetch(grid, start);
        true
    }

    /// Leaves a node to the next round.
    #[inline(always)]
    fn pass_on(&mut self, node: u32) {
        if self.relax.claim(&[node], 1) != 0 {
            self.held.add(self.relax.grid, self.to, node);
        }
    }

    /// Relaxes the edges from `start` to below `end`, of a node with this `value`.
    #[inline(always)]
    fn visit(&mut self, start: u32, end: u32, value: u32) {
        let (grid, rows) = (self.relax.grid, self.source.rows);
        for index in start..end {
            let edge = Edges::one(grid, rows, index, value);
            let (to, (picked, [length])) = (edge.to[0], self.relax.visit_sums(&edge));
            if picked != 0 && !self.keep(to, length, rows.row(grid, to).0) {
                self.pass_on(to);
            }
        }
    }
}
