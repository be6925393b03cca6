//! Expands the rows of a round's queue node by node, for rows of few edges.
//!
//! A lane takes a node and four of its edges at a time, so that their accesses overlap; a
//! warp walks rows of many edges. Sharing edges out evenly, as [`expand`](super::expand)
//! does, costs a search over the queue and block barriers, which short rows never earn
//! back.

use super::expand::append_rows;
use super::work::{Sink, Source};
use crate::grid::Grid;
use crate::queue::{Finds, Found, Row, SERIAL, first_node};
use crate::team::Team;

/// Edges of a node that a lane has in flight at a time.
pub(super) const BATCH: usize = 4;

/// Average degree of a queue up to which rows count as short.
const SHORT: u32 = 8;

/// Up to [`BATCH`] neighbouring edges of one node.
#[derive(Clone, Copy, Debug)]
pub(super) struct Batch {
    /// Nodes that they enter.
    pub(super) to: [u32; BATCH],
    /// Number of edges.
    pub(super) count: u32,
    /// Number of the first in the rows.
    pub(super) first: u32,
    /// The word that the row's visitor returned for the node that they leave.
    pub(super) value: u32,
}

/// Whether the rows of `source` are short.
#[inline(always)]
pub(super) fn are_short<G: Grid>(source: &Source) -> bool {
    G::WARP != 1 && source.edges / SHORT <= source.nodes
}

/// Calls `row` for every queued node and `edges` for its edges; the targets
/// whose bits `edges` returns go to the sink. All lanes of the team take part.
#[inline(always)]
pub(super) fn expand_rows<G: Grid>(
    team: &Team<G>,
    source: &Source,
    sink: &Sink,
    row: impl Fn(u32) -> u32,
    mut edges: impl FnMut(&Batch) -> u32,
) {
    let grid = team.grid;
    let mut base = first_node(team);
    let stride = team.size() * grid.lanes();
    while base < source.nodes {
        let (mut own, mut value) = (Row::NONE, 0);
        let entry = base + grid.warp_lane();
        if entry < source.nodes {
            let counts = (source.nodes, source.edges);
            let node = source.queue.nodes.load_weak(grid, entry);
            let (start, end) = source.queue.row(grid, entry, counts);
            own = Row { node, start, end };
            value = row(node);
        }
        let mut large = grid.ballot(own.degree() > SERIAL);
        while large != 0 {
            let lane = large.trailing_zeros();
            large &= large - 1;
            let value = grid.shuffle(value, lane);
            let end = grid.shuffle(own.end, lane);
            let mut first = grid.shuffle(own.start, lane);
            while first < end {
                let at = first.saturating_add(grid.warp_lane());
                let count = u32::from(at < end);
                take(team, source, sink, (at, count, value), &mut edges);
                first = first.saturating_add(G::WARP);
            }
        }
        if own.is_large() {
            own = Row::NONE;
        }
        while grid.ballot(own.start < own.end) != 0 {
            let count = (own.end - own.start).min(BATCH as u32);
            take(team, source, sink, (own.start, count, value), &mut edges);
            own.start += count;
        }
        base = base.saturating_add(stride);
    }
}

/// Visits `count` edges from `first` on. All lanes of the warp take part.
#[inline(always)]
fn take<G: Grid>(
    team: &Team<G>,
    source: &Source,
    sink: &Sink,
    (first, count, value): (u32, u32, u32),
    edges: &mut impl FnMut(&Batch) -> u32,
) {
    let grid = team.grid;
    let mut batch = Batch {
        to: [0; BATCH],
        count,
        first,
        value,
    };
    for k in 0..BATCH {
        if (k as u32) < count {
            batch.to[k] = source.rows.target(grid, first + k as u32);
        }
    }
    let finds = Finds {
        nodes: batch.to,
        mask: edges(&batch),
    };
    append_rows(team, sink, &Found::look_up(grid, sink.rows, &finds));
}
