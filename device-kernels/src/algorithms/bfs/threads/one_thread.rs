//! A fused search on a CPU: one thread and a plain queue, level after level.
//!
//! The other threads wait at the next barrier, so nothing here needs an atomic operation. A level
//! is two passes without a branch on the finds: the first appends the nodes that edges discover,
//! the second marks them and looks up their rows. A level of few nodes is one pass with branches.
//! The frontier stays in the resident queues, as after any other step.

use super::thread_group::takes_over;
use crate::algorithms::bfs::current::Search;
use crate::algorithms::bfs::drive;
use crate::algorithms::bfs::drive::{choose, count_new};
use crate::algorithms::bfs::fused::block_group::reach;
use crate::algorithms::bfs::fused::progress::{Bounds, LOOK_MASK};
use crate::algorithms::bfs::push::row_at;
use crate::algorithms::bfs::shared_drive;
use crate::algorithms::bfs::visit::Discovery;
use crate::collectives::context::ContextRef;
use crate::collectives::queue::Queue;
use crate::machine::Grid;
use crate::tables::control::Stop;
use seawall_core::abi::search::DriveRecord;

/// Queue entries by which rows are prefetched.
pub(crate) const AHEAD: u32 = 12;

/// Edges after the first one of a row that are fetched with it.
const NEXT: u32 = 3;

/// Nodes of a level that counts as narrow.
const FEW: u32 = 8;

/// Runs iterations in this block alone and leaves the frontier in a resident queue, which
/// drive record `slot` then describes. Returns the number of iterations.
///
/// # Errors
/// If the time budget ends or another block reports a fault.
#[inline(never)]
pub(crate) fn run_one_thread<G: Grid>(
    cx: ContextRef<G>,
    slot: u32,
    bounds: &Bounds,
) -> Result<u32, Stop> {
    let (context, grid) = (&cx.context(), cx.grid());
    let team = &context.team;
    let search = Search::current(grid);
    let before = shared_drive::read(grid);
    let policy = &drive::policy_for::<G>(&context.tables.search_policy(grid), reach(team));
    let mut drive = before;
    loop {
        let (nodes, edges) = if drive.nodes <= FEW {
            search.level_of_few(grid, &drive)
        } else {
            search.level(grid, &drive)
        };
        drive.iteration += 1;
        drive.queue ^= 1;
        count_new(&mut drive, nodes, edges);
        let narrow = nodes <= policy.narrow_exit_nodes && edges <= policy.narrow_edges;
        let wide = takes_over(team, &search, nodes, edges);
        if edges == 0 || wide || !narrow || drive.iteration >= bounds.max_iterations {
            break;
        }
        if drive.iteration & LOOK_MASK == 0 {
            search.look(team, bounds, drive.iteration)?;
        }
    }
    drive.step = before.step.wrapping_add(1);
    search
        .frontier
        .clear_found(grid, drive.step.wrapping_add(1));
    choose::<G>(&mut drive, policy);
    search.frontier.set_drive(grid, slot, &drive);
    Ok(drive.iteration - before.iteration)
}

/// Runs one level of a team of one block, as a step.
#[inline(never)]
pub(super) fn push<G: Grid>(cx: ContextRef<G>) {
    let grid = cx.grid();
    let (search, drive) = (Search::current(grid), shared_drive::read(grid));
    let (nodes, edges) = search.level(grid, &drive);
    let step = drive.step.wrapping_add(1);
    search.frontier.set_found(grid, step, nodes, edges);
}

impl Search {
    /// Runs one level, from the queue that `drive` describes into the other one. Returns
    /// the nodes and edges of the next frontier.
    #[inline(always)]
    fn level<G: Grid>(&self, grid: G, drive: &DriveRecord) -> (u32, u32) {
        if self.visit.keeps_parents() {
            self.level_of::<G, true>(grid, drive)
        } else {
            self.level_of::<G, false>(grid, drive)
        }
    }

    /// [`Search::level`]; `PARENTS` says whether discoverers are kept.
    #[inline(always)]
    fn level_of<G: Grid, const PARENTS: bool>(&self, grid: G, drive: &DriveRecord) -> (u32, u32) {
        let next = self.frontier.queue(drive.queue ^ 1);
        let found = self.discover::<G, PARENTS>(grid, drive, &next);
        let level = drive.iteration + 1;
        self.settle::<G, PARENTS>(grid, level, &next, 0, found, |edges, _| edges)
    }

    /// [`Self::level`] from few nodes. Each level waits for memory twice, whatever it computes, and
    /// which nodes of a chain are new is easy to guess: with branches a processor looks up the row
    /// of the next node before it knows whether that node is new.
    #[inline(always)]
    fn level_of_few<G: Grid>(&self, grid: G, drive: &DriveRecord) -> (u32, u32) {
        let [queue, next] = [0, 1].map(|other| self.frontier.queue(drive.queue ^ other));
        let visited = self.frontier.bitset(drive.visited);
        let level = drive.iteration + 1;
        let (mut nodes, mut edges) = (0, 0_u32);
        for index in 0..drive.nodes {
            let row = row_at(grid, &queue, index, drive);
            for edge in row.start..row.end {
                let node = self.outgoing.target(grid, edge);
                let (word, bit) = (node >> 5, 1 << (node & 31));
                let before = visited.load_weak(grid, word);
                if before & bit != 0 {
                    continue;
                }
                visited.store_weak(grid, word, before | bit);
                let from = row.node;
                self.visit.discovered(grid, Discovery { node, from, level });
                let (start, end) = self.outgoing.row(grid, node);
                if start == end {
                    continue;
                }
                // Each node is discovered once, so the queue has a place for it.
                next.nodes.store_weak(grid, nodes, node);
                next.starts.store_weak(grid, nodes, start);
                next.prefix.store_weak(grid, nodes, edges);
                nodes += 1;
                edges = edges.wrapping_add(end - start);
            }
        }
        (nodes, edges)
    }

    /// Appends to `next` the nodes that edges of the frontier discover and, with `PARENTS`, their
    /// discoverers. Returns their number.
    #[inline(always)]
    fn discover<G: Grid, const PARENTS: bool>(
        &self,
        grid: G,
        drive: &DriveRecord,
        next: &Queue,
    ) -> u32 {
        let queue = &self.frontier.queue(drive.queue);
        let visited = self.frontier.bitset(drive.visited);
        // Each node is discovered once, and sources were discovered before, so no place is above
        // this one.
        let last = self.frontier.nodes().saturating_sub(1);
        let mut found = 0_u32;
        for index in 0..drive.nodes {
            if index + AHEAD < drive.nodes {
                self.fetch_row(grid, queue, index + AHEAD);
            }
            let row = row_at(grid, queue, index, drive);
            for edge in row.start..row.end {
                let node = self.outgoing.target(grid, edge);
                let bit = 1 << (node & 31);
                let before = visited.load_weak(grid, node >> 5);
                visited.store_weak(grid, node >> 5, before | bit);
                let place = found.min(last);
                next.nodes.store_weak(grid, place, node);
                if PARENTS {
                    next.prefix.store_weak(grid, place, row.node);
                }
                found += u32::from(before & bit == 0);
            }
        }
        found
    }

    /// Fetches the row of a later entry of `queue`, from its start to its likely end.
    #[inline(always)]
    pub(crate) fn fetch_row<G: Grid>(&self, grid: G, queue: &Queue, index: u32) {
        let start = queue.starts.load_weak(grid, index);
        self.outgoing.prefetch_target(grid, start);
        // The end of a row may lie in the next cache line.
        let last = start.saturating_add(NEXT).min(self.outgoing.edges());
        self.outgoing.prefetch_target(grid, last);
    }

    /// Marks the `found` nodes of `queue` from entry `base` on and completes their entries by their
    /// rows, with the prefix that `prefix` makes of the edges before and the row's end. Nodes without
    /// edges are left out. Returns the nodes and edges that stay.
    #[inline(always)]
    pub(crate) fn settle<G: Grid, const PARENTS: bool>(
        &self,
        grid: G,
        level: u32,
        queue: &Queue,
        base: u32,
        found: u32,
        prefix: impl Fn(u32, u32) -> u32,
    ) -> (u32, u32) {
        let (mut nodes, mut edges) = (0, 0_u32);
        for index in base..base + found {
            if index + AHEAD < base + found {
                let ahead = queue.nodes.load_weak(grid, index + AHEAD);
                self.outgoing.prefetch_row(grid, ahead);
                self.outgoing.prefetch_row(grid, ahead.saturating_add(1));
                self.visit.prefetch(grid, ahead);
            }
            let node = queue.nodes.load_weak(grid, index);
            let from = if PARENTS {
                queue.prefix.load_weak(grid, index)
            } else {
                node
            };
            self.visit.discovered(grid, Discovery { node, from, level });
            let (start, end) = self.outgoing.row(grid, node);
            let place = base + nodes;
            queue.nodes.store_weak(grid, place, node);
            queue.starts.store_weak(grid, place, start);
            queue.prefix.store_weak(grid, place, prefix(edges, end));
            nodes += u32::from(start != end);
            edges = edges.wrapping_add(end - start);
        }
        (nodes, edges)
    }
}
