//! Push by nodes: one lane per node, and a whole warp for the edges of a node that has
//! many.

use super::current::Search;
use super::frontier::Target;
use super::shared_drive;
use super::visit::Discovery;
use crate::collectives::block::{block_scan, owner};
use crate::collectives::context::ContextRef;
use crate::collectives::queue::{FindRows, Finds, Queue, Row, SERIAL, enqueue, first_node};
use crate::machine::Grid;
use crate::machine::memory::Proven;
use crate::machine::shared::tile_rows;
use crate::operators::advance::rows::{in_steps, long_rows};
use seawall_core::abi::search::DriveRecord;

/// Nodes by which rows are prefetched: two cache lines.
const NEXT_ROWS: u32 = 64;

/// The bits and the level of one step's pushes.
#[derive(Clone, Copy, Debug)]
pub struct Push {
    /// Bits of the nodes visited so far.
    pub visited: Proven,
    /// Level of discovered nodes.
    pub level: u32,
}

/// Push by queue entries, 32 adjacent ones per warp.
#[inline(never)]
pub fn push_nodes<G: Grid>(cx: ContextRef<G>) {
    let (grid, team) = (cx.grid(), &cx.context().team);
    let mut base = first_node(team);
    let stride = team.size() * grid.lanes();
    loop {
        // Codegen rule `LOOK_UP_AGAIN`.
        let (search, drive) = (&Search::current(grid), &shared_drive::read(grid));
        if base >= drive.nodes {
            return;
        }
        let queue = search.frontier.queue(drive.queue);
        let (push, _) = search.aims(drive);
        let row = row_at(grid, &queue, base + grid.warp_lane(), drive);
        search.expand_warp(grid, &push, row);
        base = base.saturating_add(stride);
    }
}

impl Search {
    /// Claims `node` and returns whether this lane is the first to visit it.
    #[inline(always)]
    pub fn claim<G: Grid>(&self, grid: G, push: &Push, node: u32, from: u32) -> bool {
        let bit = 1_u32 << (node & 31);
        if push.visited.load_weak(grid, node >> 5) & bit != 0 {
            return false;
        }
        if push.visited.or(grid, node >> 5, bit) & bit != 0 {
            return false;
        }
        let level = push.level;
        self.visit.discovered(grid, Discovery { node, from, level });
        true
    }

    /// The inputs of this step's pushes, and their target.
    #[inline(always)]
    pub fn aims(&self, drive: &DriveRecord) -> (Push, Target) {
        let push = Push {
            visited: self.frontier.bitset(drive.visited),
            level: drive.iteration + 1,
        };
        (push, self.target(drive))
    }

    /// Expands one row per lane: few edges by the lane alone, many by its warp.
    #[inline(always)]
    fn expand_warp<G: Grid>(&self, grid: G, push: &Push, row: Row) {
        let own = long_rows(grid, SERIAL, row, |row| self.expand_shared(grid, push, row));
        in_steps::<G, 4>(grid, own, |row| {
            append_next(grid, &self.visit_row::<G, 4>(grid, push, row));
        });
    }

    /// All lanes of a warp walk one row.
    #[inline(always)]
    fn expand_shared<G: Grid>(&self, grid: G, push: &Push, row: Row) {
        let mut base = row.start;
        while base < row.end {
            let edge = base + grid.warp_lane();
            let mut finds = Finds {
                nodes: [0],
                mask: 0,
            };
            if edge < row.end {
                finds.nodes[0] = self.outgoing.target(grid, edge);
                finds.mask = u32::from(self.claim(grid, push, finds.nodes[0], row.node));
            }
            append_next(grid, &finds);
            base = base.saturating_add(G::WARP);
        }
    }

    /// Visits at most `K` edges of one row. Loads come before tests (codegen rule
    /// `LOADS_TOGETHER`), and claims come without a test, so a level waits for one access
    /// less.
    #[inline(always)]
    pub fn visit_row<G: Grid, const K: usize>(&self, grid: G, push: &Push, row: Row) -> Finds<K> {
        let degree = row.degree();
        let mut nodes = [0_u32; K];
        for (k, node) in nodes.iter_mut().enumerate() {
            if (k as u32) < degree {
                *node = self.outgoing.target(grid, row.start + k as u32);
            }
        }
        let mut before = [u32::MAX; K];
        for (k, node) in nodes.iter().enumerate() {
            if (k as u32) < degree {
                before[k] = push.visited.or(grid, *node >> 5, 1 << (*node & 31));
            }
        }
        let mut mask = 0_u32;
        for (k, node) in nodes.iter().enumerate() {
            if before[k] >> (*node & 31) & 1 == 0 {
                mask |= 1 << k;
                let (node, from, level) = (*node, row.node, push.level);
                self.visit.discovered(grid, Discovery { node, from, level });
            }
        }
        Finds { nodes, mask }
    }

    /// Visits the first edge of `row`, if it has any. It looks up the row of the target
    /// before it knows whether the node is new, so a level waits for one access less.
    #[inline(always)]
    pub fn visit_edge<G: Grid>(&self, grid: G, push: &Push, row: Row) -> FindRows<1> {
        if row.start >= row.end {
            return FindRows::NONE;
        }
        let node = self.outgoing.target(grid, row.start);
        let bit = 1 << (node & 31);
        let before = push.visited.or(grid, node >> 5, bit);
        let (start, end) = self.outgoing.row(grid, node);
        let is_new = before & bit == 0;
        if is_new {
            let (from, level) = (row.node, push.level);
            self.visit.discovered(grid, Discovery { node, from, level });
            // The next step reads these, and nodes are often numbered in the order of a search.
            self.outgoing.prefetch_target(grid, start);
            self.outgoing
                .prefetch_row(grid, node.saturating_add(NEXT_ROWS));
        }
        FindRows {
            finds: Finds {
                nodes: [node],
                mask: u32::from(is_new && start != end),
            },
            starts: [start],
            degrees: [end - start],
        }
    }

    /// The block shares out all edges of its rows evenly.
    #[inline(always)]
    pub fn expand_together<G: Grid>(
        &self,
        grid: G,
        push: &Push,
        row: Row,
        sink: impl Fn(&Finds<1>),
    ) {
        let (start, total) = block_scan(grid, row.degree());
        let lane = grid.lane();
        let [starts, shifts, nodes] = tile_rows::<G>();
        // SAFETY: a block has at most `LANES` lanes, and a tile has a row for each.
        unsafe {
            starts.store(grid, lane, start);
            shifts.store(grid, lane, row.start.wrapping_sub(start));
            nodes.store(grid, lane, row.node);
        }
        grid.block_barrier();
        let mut base = 0;
        while base < total {
            let edge = base + lane;
            let mut finds = Finds {
                nodes: [0],
                mask: 0,
            };
            if edge < total {
                let at = owner(grid, starts, grid.lanes(), edge);
                // SAFETY: `at` is below the number of lanes.
                let (shift, from) = unsafe { (shifts.load(grid, at), nodes.load(grid, at)) };
                let node = self.outgoing.target(grid, edge.wrapping_add(shift));
                finds.nodes[0] = node;
                finds.mask = u32::from(self.claim(grid, push, node, from));
            }
            sink(&finds);
            base += grid.lanes();
        }
        grid.block_barrier();
    }
}

/// [`append`](crate::collectives::queue::append) to the queue that the block's step fills. The
/// queue is looked up only if there are finds, so the loop before keeps its registers
/// (codegen rule `LOOK_UP_AGAIN`).
#[inline(always)]
pub(crate) fn append_next<G: Grid, const K: usize>(grid: G, finds: &Finds<K>) {
    if grid.ballot(finds.mask != 0) != 0 {
        let search = Search::current(grid);
        let target = search.target(&shared_drive::read(grid));
        let found = FindRows::look_up(grid, target.rows, finds);
        enqueue(grid, &search.frontier.next(target), &found);
    }
}

/// The row of queue entry `index`; past the queue's end, one without edges.
#[inline(always)]
pub fn row_at<G: Grid>(grid: G, queue: &Queue, index: u32, drive: &DriveRecord) -> Row {
    if index >= drive.nodes {
        return Row::NONE;
    }
    let (start, end) = queue.row(grid, index, drive.nodes, drive.edges);
    let node = queue.nodes.load_weak(grid, index);
    Row { node, start, end }
}
