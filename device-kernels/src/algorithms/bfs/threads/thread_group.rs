//! CPU threads that search narrow frontiers together, and their meetings.
//!
//! Each thread of the thread group appends to its own section of a resident queue, so that no
//! counter is shared. After a level the threads publish how many nodes and edges their sections
//! hold, which is their barrier as well. The other threads wait at the next barrier of the team.
//!
//! Within a run, the prefix of an entry is the edge after its last one: edges are not added up
//! until the sections become one queue again.

use crate::algorithms::bfs::current::Search;
use crate::algorithms::bfs::drive;
use crate::algorithms::bfs::drive::choose;
use crate::algorithms::bfs::fused::block_group::reach;
use crate::algorithms::bfs::fused::progress::Bounds;
use crate::collectives::context::ContextRef;
use crate::collectives::queue::Queue;
use crate::collectives::team::Team;
use crate::machine::{Grid, Heard, THREAD_GROUP_MAX, THREAD_GROUP_SMALL};
use crate::tables::control::Stop;
use seawall_core::abi::search::DriveRecord;

/// Nodes of a frontier from which on threads search it together.
pub(crate) const FROM: u32 = 96;

/// Edges of a frontier up to which a thread group takes it: with more, all threads together save
/// more than their barrier costs, some 50 µs at 5 ns per edge and thread.
const MOST_EDGES: u32 = 1 << 16;

/// Polls after which a thread counts as late. Shares of a level differ by less.
pub(crate) const LATE_POLLS: u32 = 200;

/// Levels on time that make up for a late one.
const LATE_COST: u32 = 8;

/// Costs of late levels at which the thread group disbands: other programs take its processors, and
/// each time that a thread loses its processor, the others wait for a time slice.
pub(crate) const LATE_MOST: u32 = 6 * LATE_COST;

/// Most threads of a thread group that meets after every level: with eight, meetings took longer.
#[inline(always)]
pub(crate) fn group_size<G: Grid>(team: &Team<G>) -> u32 {
    team.size().min(THREAD_GROUP_SMALL)
}

/// Whether some threads of `team` together search a frontier that is too wide for one.
#[inline(always)]
pub(crate) fn have_thread_group<G: Grid>(team: &Team<G>) -> bool {
    !team.is_alone() && team.grid.has_thread_group()
}

/// Whether the thread group of `team` takes over a frontier of so many `nodes` and `edges` from one
/// thread.
#[inline(always)]
pub(crate) fn takes_over<G: Grid>(team: &Team<G>, search: &Search, nodes: u32, edges: u32) -> bool {
    // Evaluated after each of the many levels of a chain.
    nodes >= FROM
        && have_thread_group(team)
        && ThreadGroup::of(team, search, group_size(team)).may_take(nodes, edges)
}

/// Content of a thread's section, as published to the others.
#[derive(Clone, Copy, Default)]
pub(crate) struct Published {
    pub(crate) nodes: u32,
    pub(crate) edges: u32,
    /// Whether it waited long for another thread before the level.
    pub(crate) waited: bool,
}

impl Published {
    fn word(self) -> u64 {
        // A section has at most half of all entries.
        let nodes = self.nodes | u32::from(self.waited) << 31;
        u64::from(nodes) << 32 | u64::from(self.edges)
    }

    fn of(word: u64) -> Self {
        Self {
            nodes: (word >> 32) as u32 & (u32::MAX >> 1),
            edges: word as u32,
            waited: word >> 63 != 0,
        }
    }
}

/// The threads that search together, and this one's number.
#[derive(Clone, Copy)]
pub(crate) struct ThreadGroup {
    pub(crate) threads: u32,
    pub(crate) rank: u32,
    /// Entries of a section.
    pub(crate) space: u32,
}

/// The words of a thread group.
pub(crate) struct Hearing {
    pub(crate) published: [Published; THREAD_GROUP_MAX],
    /// Most polls that this thread waited for another one.
    pub(crate) polls: u32,
}

/// A queue in sections.
pub(crate) struct Sections {
    pub(crate) queue: Queue,
    pub(crate) published: [Published; THREAD_GROUP_MAX],
    pub(crate) nodes: u32,
    pub(crate) edges: u32,
    /// Whether this thread waited long for another one.
    pub(crate) waited: bool,
}

impl ThreadGroup {
    #[inline(always)]
    pub(crate) fn of<G: Grid>(team: &Team<G>, search: &Search, threads: u32) -> Self {
        Self {
            threads,
            rank: team.rank(),
            space: search.frontier.nodes() / threads,
        }
    }

    /// Publishes `own` to the thread group at `iteration` and returns what each thread published. A
    /// barrier of the thread group.
    #[inline(always)]
    pub(crate) fn publish<G: Grid>(
        self,
        team: &Team<G>,
        bounds: &Bounds,
        iteration: u32,
        own: Published,
    ) -> Result<Hearing, Stop> {
        let grid = team.grid;
        let stops = || team.is_late() || team.control.is_stopped(grid);
        let Some(Heard { words, polls }) = grid.confer(self.threads, own.word(), stops) else {
            return Err(Search::out_of_time(team, bounds, iteration));
        };
        let published = words.map(Published::of);
        Ok(Hearing { published, polls })
    }

    /// Whether a frontier fits. Each edge may lead to a find of one thread.
    #[inline(always)]
    pub(crate) fn may_take(self, nodes: u32, edges: u32) -> bool {
        nodes <= self.space && edges <= self.space.min(MOST_EDGES)
    }

    /// First entry of the section of thread `rank`.
    #[inline(always)]
    pub(crate) fn base(self, rank: u32) -> u32 {
        rank * self.space
    }

    /// This thread's even share of `count` items.
    #[inline(always)]
    pub(crate) fn share(self, count: u32) -> (u32, u32) {
        let bound =
            |rank: u32| (u64::from(count) * u64::from(rank) / u64::from(self.threads)) as u32;
        (bound(self.rank), bound(self.rank + 1))
    }
}

/// How late threads are after a meeting: [`LATE_COST`] for each level with a late thread, minus one
/// for each other.
#[inline(always)]
pub(crate) fn lateness(late: u32, published: &[Published; THREAD_GROUP_MAX]) -> u32 {
    if published.iter().any(|published| published.waited) {
        late + LATE_COST
    } else {
        late.saturating_sub(1)
    }
}

impl Search {
    /// Publishes what this thread's section of the next queue holds and returns the queue, once all
    /// threads have published.
    #[inline(always)]
    pub(crate) fn meet<G: Grid>(
        &self,
        team: &Team<G>,
        bounds: &Bounds,
        drive: &DriveRecord,
        own: Published,
        group: ThreadGroup,
    ) -> Result<Sections, Stop> {
        let Hearing { published, polls } = group.publish(team, bounds, drive.iteration, own)?;
        Ok(Sections {
            queue: self.frontier.queue(drive.queue),
            published,
            nodes: published.iter().map(|published| published.nodes).sum(),
            edges: published
                .iter()
                .fold(0, |sum, published| published.edges.saturating_add(sum)),
            waited: polls >= LATE_POLLS,
        })
    }

    /// Merges the sections of the thread group, which `drive` describes, into one queue and writes
    /// drive record `slot`. If threads were too `late`, the thread group disbands.
    #[inline(always)]
    pub(crate) fn leave<G: Grid>(
        &self,
        cx: ContextRef<G>,
        slot: u32,
        mut drive: DriveRecord,
        late: u32,
        sections: &Sections,
        group: ThreadGroup,
    ) {
        let (context, grid) = (&cx.context(), cx.grid());
        drive.queue ^= 1;
        self.join(grid, sections, drive.queue, group);
        drive.step = drive.step.wrapping_add(1);
        if !context.team.is_leader() {
            return;
        }
        if late >= LATE_MOST {
            grid.disband();
        }
        self.frontier.clear_found(grid, drive.step.wrapping_add(1));
        let reach = reach(&context.team);
        let policy = &drive::policy_for::<G>(&context.tables.search_policy(grid), reach);
        choose::<G>(&mut drive, policy);
        self.frontier.set_drive(grid, slot, &drive);
    }

    /// Copies this thread's section to its place in the contiguous queue `parity`.
    #[inline(always)]
    pub(crate) fn join<G: Grid>(
        &self,
        grid: G,
        sections: &Sections,
        parity: u32,
        group: ThreadGroup,
    ) {
        let to = &self.frontier.queue(parity);
        let (mut at, mut edges) = (0, 0_u32);
        for published in &sections.published[..group.rank as usize] {
            at += published.nodes;
            edges = edges.wrapping_add(published.edges);
        }
        let base = group.base(group.rank);
        for index in base..base + sections.published[group.rank as usize].nodes {
            let start = sections.queue.starts.load_weak(grid, index);
            let end = sections.queue.prefix.load_weak(grid, index);
            to.nodes
                .store_weak(grid, at, sections.queue.nodes.load_weak(grid, index));
            to.starts.store_weak(grid, at, start);
            to.prefix.store_weak(grid, at, edges);
            edges = edges.wrapping_add(end - start);
            at += 1;
        }
    }
}
