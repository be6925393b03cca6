//! Walks a one-lane block's even share of a queue's edges row by row.

use super::{Edges, Source, Visit};
use crate::collectives::block::last_by_lane;
use crate::collectives::queue::{Fill, Held};
use crate::collectives::team::Team;
use crate::machine::Grid;

/// Queue entries by which a traversal prefetches rows.
const AHEAD: u32 = 8;

/// The edges of a queued node that a share has.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// The node.
    pub node: u32,
    /// The first of the edges.
    pub first: u32,
    /// The edge after the last one.
    pub end: u32,
    /// Whether these are all of its edges.
    pub is_whole: bool,
}

/// This block's even share of `edges` edges: the first one, and the one after the last.
#[inline(always)]
pub fn even_share<G: Grid>(team: &Team<G>, edges: u32) -> (u32, u32) {
    let bound = |rank: u32| (u64::from(edges) * u64::from(rank) / u64::from(team.size())) as u32;
    (bound(team.rank()), bound(team.rank() + 1))
}

/// A walk over the rows of adjacent edges of a queue.
#[derive(Clone, Copy, Debug)]
pub struct Walk {
    source: Source,
    /// The next edge, and the entry that it belongs to.
    edge: u32,
    entry: u32,
    end: u32,
}

impl Walk {
    /// The walk over edges `first..end` of `source`.
    #[inline(always)]
    pub fn of<G: Grid>(grid: G, source: &Source, first: u32, end: u32) -> Self {
        let prefix = source.queue.prefix;
        let entry = if first == end {
            0
        } else {
            last_by_lane(source.nodes, |entry| prefix.load_weak(grid, entry) <= first)
        };
        Self {
            source: *source,
            edge: first,
            entry,
            end,
        }
    }

    /// The entry that comes `count` entries after the next one, if there is one.
    #[inline(always)]
    #[must_use]
    pub fn ahead(&self, count: u32) -> Option<u32> {
        (self.entry + count < self.source.nodes).then_some(self.entry + count)
    }

    /// The edges of the next node.
    #[inline(always)]
    pub fn next<G: Grid>(&mut self, grid: G) -> Option<Part> {
        if self.edge >= self.end {
            return None;
        }
        let Source {
            queue,
            nodes,
            edges,
            ..
        } = self.source;
        let node = queue.nodes.load_weak(grid, self.entry);
        let prefix = queue.prefix.load_weak(grid, self.entry);
        let (start, stop) = queue.row(grid, self.entry, nodes, edges);
        let row_end = self.end.min(prefix + (stop - start));
        let part = Part {
            node,
            first: start + (self.edge - prefix),
            end: start + (row_end - prefix),
            is_whole: row_end - self.edge == stop - start,
        };
        self.edge = row_end;
        self.entry += 1;
        Some(part)
    }
}

/// The traversal by threads.
#[inline(always)]
pub(super) fn expand<G: Grid>(
    team: &Team<G>,
    source: &Source,
    to: &impl Fill,
    mut visitor: impl Visit,
) {
    let (grid, rows, queue) = (team.grid, source.rows, source.queue);
    let (first, end) = even_share(team, source.edges);
    if first == end {
        return;
    }
    let mut walk = Walk::of(grid, source, first, end);
    let mut held = Held::default();
    loop {
        // A row's prefetch is under way while the next row is looked up.
        if let Some(entry) = walk.ahead(AHEAD) {
            let start = queue.starts.load_weak(grid, entry);
            rows.prefetch_target(grid, start);
            visitor.prefetch(queue.nodes.load_weak(grid, entry), start);
        }
        let Some(part) = walk.next(grid) else { break };
        let value = visitor.leave(part.node);
        for index in part.first..part.end {
            let edge = Edges::one(grid, rows, index, value);
            if visitor.visit(&edge) != 0 && visitor.claim(&edge.to, 1) != 0 {
                held.add(grid, to, edge.to[0]);
            }
        }
    }
    held.append(grid, to);
}
