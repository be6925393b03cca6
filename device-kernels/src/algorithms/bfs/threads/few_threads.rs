//! A fused search by a few CPU threads, level after level.
//!
//! The threads take even shares of the sections of their [thread group](super::thread_group) and
//! meet after each level. A long search continues in [`levels_ahead`].

use super::levels_ahead;
use super::one_thread::AHEAD;
use super::thread_group::{
    LATE_MOST, Published, Sections, ThreadGroup, group_size, have_thread_group, lateness,
    takes_over,
};
use crate::algorithms::bfs::current::Search;
use crate::algorithms::bfs::drive;
use crate::algorithms::bfs::drive::count_new;
use crate::algorithms::bfs::fused::block_group::reach;
use crate::algorithms::bfs::fused::progress::{Bounds, LOOK_MASK};
use crate::algorithms::bfs::push::row_at;
use crate::algorithms::bfs::shared_drive;
use crate::collectives::context::ContextRef;
use crate::collectives::queue::Queue;
use crate::collectives::team::Team;
use crate::machine::Grid;
use crate::tables::control::Stop;
use core::ops::Range;
use seawall_core::abi::search::DriveRecord;

/// Nodes of a frontier below which one thread continues alone.
const LEAST: u32 = 32;

/// Threads that search the frontier of the block's drive record.
#[inline(always)]
pub(crate) fn thread_group_for<G: Grid>(team: &Team<G>) -> u32 {
    let grid = team.grid;
    let (search, drive) = (&Search::current(grid), &shared_drive::read(grid));
    if !have_thread_group(team) {
        return 1;
    }
    if let Some(group) = levels_ahead::thread_group_for(team, search, drive) {
        return group.threads;
    }
    if takes_over(team, search, drive.nodes, drive.edges) {
        group_size(team)
    } else {
        1
    }
}

/// Runs iterations in the first threads of the team and leaves the frontier in a resident queue,
/// which drive record `slot` then describes. Returns the number of iterations.
///
/// # Errors
/// If the time budget ends or another block reports a fault.
#[inline(never)]
pub(crate) fn run_few_threads<G: Grid>(
    cx: ContextRef<G>,
    slot: u32,
    bounds: &Bounds,
) -> Result<u32, Stop> {
    let (context, grid) = (&cx.context(), cx.grid());
    let team = &context.team;
    let search = Search::current(grid);
    let before = shared_drive::read(grid);
    if let Some(group) = levels_ahead::thread_group_for(team, &search, &before) {
        return levels_ahead::run_ahead(cx, slot, bounds, group);
    }
    let group = ThreadGroup::of(team, &search, group_size(team));
    let policy = &drive::policy_for::<G>(&context.tables.search_policy(grid), reach(team));
    let mut drive = before;
    let own = search.split(grid, &drive, group);
    drive.queue ^= 1;
    let mut sections = search.meet(team, bounds, &drive, own, group)?;
    let mut late = 0_u32;
    loop {
        let mut own = if search.visit.keeps_parents() {
            search.together::<G, true>(grid, &drive, &sections, group)
        } else {
            search.together::<G, false>(grid, &drive, &sections, group)
        };
        drive.iteration += 1;
        drive.queue ^= 1;
        own.waited = sections.waited;
        sections = search.meet(team, bounds, &drive, own, group)?;
        let (nodes, edges) = (sections.nodes, sections.edges);
        count_new(&mut drive, nodes, edges);
        late = lateness(late, &sections.published);
        let narrow = nodes <= policy.narrow_exit_nodes && edges <= policy.narrow_edges;
        if nodes < LEAST
            || late >= LATE_MOST
            || !narrow
            || !group.may_take(nodes, edges)
            || levels_ahead::thread_group_for(team, &search, &drive).is_some()
            || drive.iteration >= bounds.max_iterations
        {
            break;
        }
        if drive.iteration & LOOK_MASK == 0 {
            search.look(team, bounds, drive.iteration)?;
        }
    }
    search.leave(cx, slot, drive, late, &sections, group);
    Ok(drive.iteration - before.iteration)
}

impl Search {
    /// Copies this thread's share of the queue to its section of the other one.
    #[inline(always)]
    fn split<G: Grid>(&self, grid: G, drive: &DriveRecord, group: ThreadGroup) -> Published {
        let (from, to) = (
            &self.frontier.queue(drive.queue),
            &self.frontier.queue(drive.queue ^ 1),
        );
        let (first, end) = group.share(drive.nodes);
        let mut own = Published::default();
        for index in first..end {
            let row = row_at(grid, from, index, drive);
            let at = group.base(group.rank) + own.nodes;
            to.nodes.store_weak(grid, at, row.node);
            to.starts.store_weak(grid, at, row.start);
            to.prefix.store_weak(grid, at, row.end);
            own.nodes += 1;
            own.edges = own.edges.saturating_add(row.degree());
        }
        own
    }

    /// Runs one level: this thread's share of the sections, into its own section of the other
    /// queue. Returns the content of that section.
    #[inline(always)]
    fn together<G: Grid, const PARENTS: bool>(
        &self,
        grid: G,
        drive: &DriveRecord,
        sections: &Sections,
        group: ThreadGroup,
    ) -> Published {
        let next = &self.frontier.queue(drive.queue ^ 1);
        let base = group.base(group.rank);
        let mut found = 0;
        let (mut first, end) = group.share(sections.nodes);
        // Entries of the preceding sections.
        let mut passed = 0;
        for (rank, published) in (0..group.threads).zip(&sections.published) {
            let stop = end.min(passed + published.nodes);
            if first < stop {
                let offset = group.base(rank) - passed;
                self.discover_new::<G, PARENTS>(
                    grid,
                    drive,
                    &sections.queue,
                    first + offset..stop + offset,
                    next,
                    base,
                    &mut found,
                );
                first = stop;
            }
            passed += published.nodes;
        }
        let level = drive.iteration + 1;
        let (nodes, edges) =
            self.settle::<G, PARENTS>(grid, level, next, base, found, |_, end| end);
        Published {
            nodes,
            edges,
            waited: false,
        }
    }

    /// Appends to `next`, from entry `base` on, the nodes that edges of these entries of `queue`
    /// discover and, with `PARENTS`, their discoverers. `found` counts them.
    #[inline(always)]
    fn discover_new<G: Grid, const PARENTS: bool>(
        &self,
        grid: G,
        drive: &DriveRecord,
        queue: &Queue,
        entries: Range<u32>,
        next: &Queue,
        base: u32,
        found: &mut u32,
    ) {
        let visited = self.frontier.bitset(drive.visited);
        let end = entries.end;
        for index in entries {
            if index + AHEAD < end {
                self.fetch_row(grid, queue, index + AHEAD);
            }
            let start = queue.starts.load_weak(grid, index);
            let stop = queue.prefix.load_weak(grid, index);
            for edge in start..stop {
                let node = self.outgoing.target(grid, edge);
                let (word, bit) = (node >> 5, 1 << (node & 31));
                if visited.load_weak(grid, word) & bit != 0
                    || visited.or(grid, word, bit) & bit != 0
                {
                    continue;
                }
                let place = base + *found;
                next.nodes.store_weak(grid, place, node);
                if PARENTS {
                    let from = queue.nodes.load_weak(grid, index);
                    next.prefix.store_weak(grid, place, from);
                }
                *found += 1;
            }
        }
    }
}
