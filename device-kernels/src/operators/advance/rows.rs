//! Shares out edges row by row, for queues of short rows.
//!
//! A lane takes a node and four of its edges at a time, so that their accesses overlap; a warp
//! walks rows of many edges. Even shares ([`blocks`](super::blocks)) cost a search over the queue
//! and block barriers, which never pays off for short rows.

use super::{Edges, Source, Visit, append_picked};
use crate::collectives::queue::{Fill, Finds, Row, SERIAL, first_node};
use crate::collectives::team::Team;
use crate::machine::Grid;
use crate::machine::memory::{Csr, Proven};

/// Edges of a node that a lane has in flight at a time.
const BATCH: usize = 4;

/// Average degree of a queue up to which rows count as short.
const SHORT: u32 = 8;

/// Whether the rows of `source` are short.
#[inline(always)]
pub(super) fn are_short(source: &Source) -> bool {
    source.edges / SHORT <= source.nodes
}

/// Calls `visit`, in all lanes of the warp, with each of the lanes' rows that has more than
/// `longest` edges; returns this lane's row if it is no such row. A warp operation.
#[inline(always)]
pub fn long_rows<G: Grid>(grid: G, longest: u32, own: Row, mut visit: impl FnMut(Row)) -> Row {
    let is_long = own.degree() > longest;
    let mut long = grid.ballot(is_long);
    while long != 0 {
        let lane = long.trailing_zeros();
        long &= long - 1;
        visit(Row {
            node: grid.shuffle(own.node, lane),
            start: grid.shuffle(own.start, lane),
            end: grid.shuffle(own.end, lane),
        });
    }
    if is_long { Row::NONE } else { own }
}

/// Calls `visit`, in all lanes of the warp, with the next `K` edges of each lane's row or as many as
/// are left, until no lane has any. A warp operation.
#[inline(always)]
pub fn in_steps<G: Grid, const K: usize>(grid: G, own: Row, mut visit: impl FnMut(Row)) {
    let mut rest = own;
    while grid.ballot(rest.start < rest.end) != 0 {
        let head = Row {
            end: rest.end.min(rest.start + K as u32),
            ..rest
        };
        visit(head);
        rest.start = head.end;
    }
}

/// The traversal row by row.
#[inline(always)]
pub(super) fn expand<G: Grid>(
    team: &Team<G>,
    source: &Source,
    to: &impl Fill,
    mut visitor: impl Visit,
) {
    let grid = team.grid;
    let mut base = first_node(team);
    let stride = team.size() * grid.lanes();
    while base < source.nodes {
        let mut own = Row::NONE;
        let entry = base + grid.warp_lane();
        if entry < source.nodes {
            let node = source.queue.nodes.load_weak(grid, entry);
            let (start, end) = source.queue.row(grid, entry, source.nodes, source.edges);
            // From here on the word of the node is needed, and the node is not.
            let node = visitor.leave(node);
            own = Row { node, start, end };
        }
        let short = long_rows(grid, SERIAL, own, |row| {
            let mut first = row.start;
            while first < row.end {
                let start = first.saturating_add(grid.warp_lane());
                let count = u32::from(start < row.end);
                take(grid, source, to, Row { start, ..row }, count, &mut visitor);
                first = first.saturating_add(G::WARP);
            }
        });
        in_steps::<G, BATCH>(grid, short, |row| {
            take(grid, source, to, row, row.degree(), &mut visitor);
        });
        base = base.saturating_add(stride);
    }
}

/// Visits the first `count` edges of a row, at most [`BATCH`]. All lanes of the warp take part.
#[inline(always)]
fn take<G: Grid>(
    grid: G,
    source: &Source,
    to: &impl Fill,
    row: Row,
    count: u32,
    visitor: &mut impl Visit,
) {
    let mut edges = Edges::<BATCH> {
        value: [row.node; BATCH],
        mask: (1 << count) - 1,
        ..Edges::NONE
    };
    for k in 0..BATCH {
        edges.index[k] = row.start.wrapping_add(k as u32);
        edges.to[k] = source.rows.target_if(grid, edges.has(k), edges.index[k]);
    }
    let picked = Finds {
        nodes: edges.to,
        mask: visitor.visit_row(&edges),
    };
    append_picked(grid, to, visitor, &picked);
}

/// Calls `visit` with each node of a list of `count` and each edge of its row, in one block: one
/// lane takes a row, or its warp one that has more edges than it has lanes. A block operation.
#[inline(always)]
pub fn each_edge<G: Grid>(grid: G, list: Proven, count: u32, rows: Csr, visit: impl Fn(u32, u32)) {
    let mut first = grid.lane() - grid.warp_lane();
    while first < count {
        let at = first + grid.warp_lane();
        let mut own = Row::NONE;
        if at < count {
            let node = list.load(grid, at);
            let (start, end) = rows.row(grid, node);
            own = Row { node, start, end };
        }
        let short = long_rows(grid, G::WARP, own, |row| {
            let mut edge = row.start + grid.warp_lane();
            while edge < row.end {
                visit(row.node, edge);
                edge += G::WARP;
            }
            // Codegen rule `CONVERGE`, here and below.
            grid.warp_barrier();
        });
        (short.start..short.end).for_each(|edge| visit(short.node, edge));
        grid.warp_barrier();
        first += grid.lanes();
    }
}
