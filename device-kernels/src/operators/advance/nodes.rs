//! Expands the rows of a round's queue node by node, for rows of few edges.
//!
//! A lane takes a node and four of its edges at a time, so that their accesses overlap; a warp
//! walks rows of many edges. Sharing edges out evenly, as [`expand`](super::shares) does, costs a
//! search over the queue and block barriers, which never pays off for short rows.

use super::shares::{Edges, Visit, append_picked};
use crate::collectives::queue::{Finds, Row, SERIAL, first_node};
use crate::collectives::team::Team;
use crate::machine::Grid;
use crate::operators::rounds::{Sink, Source};

/// Edges of a node that a lane has in flight at a time.
const BATCH: usize = 4;

/// Average degree of a queue up to which rows count as short.
const SHORT: u32 = 8;

/// Whether the rows of `source` are short.
#[inline(always)]
pub(crate) fn are_short<G: Grid>(source: &Source) -> bool {
    G::WARP != 1 && source.edges / SHORT <= source.nodes
}

/// Calls `row` for every queued node and `visitor` for its edges; the targets that it
/// picks and claims go to the sink. All lanes of the team take part.
#[inline(always)]
pub(crate) fn expand_rows<G: Grid>(
    team: &Team<G>,
    source: &Source,
    sink: &Sink,
    row: impl Fn(u32) -> u32,
    mut visitor: impl Visit,
) {
    let grid = team.grid;
    let mut base = first_node(team);
    let stride = team.size() * grid.lanes();
    while base < source.nodes {
        let (mut own, mut value) = (Row::NONE, 0);
        let entry = base + grid.warp_lane();
        if entry < source.nodes {
            let node = source.queue.nodes.load_weak(grid, entry);
            let (start, end) = source.queue.row(grid, entry, source.nodes, source.edges);
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
                take(team, source, sink, at, count, value, &mut visitor);
                first = first.saturating_add(G::WARP);
            }
        }
        if own.is_large() {
            own = Row::NONE;
        }
        while grid.ballot(own.start < own.end) != 0 {
            let count = (own.end - own.start).min(BATCH as u32);
            take(team, source, sink, own.start, count, value, &mut visitor);
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
    first: u32,
    count: u32,
    value: u32,
    visitor: &mut impl Visit,
) {
    let mut edges = Edges::<BATCH> {
        value: [value; BATCH],
        mask: (1 << count) - 1,
        ..Edges::NONE
    };
    for k in 0..BATCH {
        edges.index[k] = first.wrapping_add(k as u32);
        edges.to[k] = source
            .rows
            .target_if(team.grid, edges.has(k), edges.index[k]);
    }
    let picked = Finds {
        nodes: edges.to,
        mask: visitor.visit_row(&edges),
    };
    append_picked(team, sink, visitor, &picked);
}
