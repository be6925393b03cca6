//! Push with the frontier's edges shared out evenly over the grid, whatever the degrees
//! are.

use super::current::Search;
use super::shared_drive;
use super::sink::Sink;
use crate::collectives::context::ContextRef;
use crate::collectives::queue::{Finds, append};
use crate::machine::Grid;
use crate::machine::shared::{share_rows, share_tile};
use crate::operators::advance::blocks::{Share, Tile, each_share};

/// Edges that one lane takes from a share.
const EDGES_PER_LANE: u32 = 4;

/// Push with even shares of edges.
#[inline(never)]
pub fn push_shares<G: Grid>(cx: ContextRef<G>, sink: Sink) {
    let (grid, team) = (cx.grid(), &cx.context().team);
    let [starts, shifts] = share_tile::<G>();
    let tile = Tile {
        starts,
        shifts,
        values: None,
        rows: share_rows::<G>(),
    };
    let size = (grid.lanes() * EDGES_PER_LANE).min(tile.rows);
    // Codegen rule `LOOK_UP_AGAIN`, here and for each step of a share.
    let all = || shared_drive::read(grid).edges;
    each_share(team, size, all, |first, edges| {
        let source = Search::current(grid).source(&shared_drive::read(grid));
        let edges = first..first + edges;
        let share = Share::load(grid, tile, &source, edges, |_| (), |_, ()| ());
        push_share(grid, share, sink);
    });
}

/// Visits the edges of one share; its rows lie in shared memory.
#[inline(always)]
fn push_share<G: Grid>(grid: G, share: Share, sink: Sink) {
    let mut base = 0;
    while base < share.edges {
        let (search, drive) = (&Search::current(grid), &shared_drive::read(grid));
        let (push, target) = search.aims(drive);
        let edge = share.edges_from::<G, 1>(grid, search.outgoing, base);
        let mut finds = Finds {
            nodes: edge.to,
            mask: 0,
        };
        if edge.mask != 0 {
            let [node] = edge.to;
            let queue = search.frontier.queue(drive.queue);
            let from = || queue.nodes.load_weak(grid, edge.value[0]);
            finds.mask = u32::from(search.take(grid, &push, node, sink, from));
        }
        if sink == Sink::Queue {
            append(grid, &search.frontier.next(target), &finds);
        }
        base += grid.lanes();
    }
    grid.block_barrier();
}
