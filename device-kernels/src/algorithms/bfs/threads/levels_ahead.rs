//! A fused search by CPU threads that search several levels ahead before they meet.
//!
//! If a search has thousands of narrow levels, meetings of threads and transfers of cache lines
//! take longer than the levels. So each thread continues from its share of a frontier
//! independently. Threads share only the *tentative level* of each node: it falls by atomic minima,
//! and the thread that lowers it continues from the node, while an entry of a higher level is void.
//! As threads advance at the same pace, that is rare.
//!
//! Once every thread has finished `k` levels, nodes up to `k` levels away have their final ones:
//! each is the end of a shortest path on which each node was expanded by the thread that gave it
//! its level. Finds beyond are discarded. Threads count the nodes and edges that they found in each
//! level minus those that they lowered, so that sums over all threads equal the counts of a search
//! level by level. Marks and visited bits are written when the run ends.
//!
//! A run begins and ends with a pass over all nodes, so only searches that have proved to be long
//! get one, and a frontier that is narrow or wide for a while does not end it.

use super::ahead_counters::{LEVELS, NODES_LEAST, Page, Places};
use super::thread_group::{FROM, LATE_MOST, Published, ThreadGroup, lateness};
use crate::algorithms::bfs::current::Search;
use crate::algorithms::bfs::drive::count_new;
use crate::algorithms::bfs::fused::progress::Bounds;
use crate::algorithms::bfs::shared_drive;
use crate::algorithms::bfs::visit::Discovery;
use crate::collectives::context::ContextRef;
use crate::collectives::queue::Queue;
use crate::collectives::team::Team;
use crate::machine::memory::Proven;
use crate::machine::{Grid, THREAD_GROUP_MAX};
use crate::tables::control::Stop;
use seawall_core::abi::UNREACHED;
use seawall_core::abi::search::DriveRecord;

/// Levels after which a search counts as long.
pub const LONG: u32 = 64;

/// Levels up to the first meeting.
const LEVELS_FIRST: u32 = 4;

/// Edges of a thread's level before which it stops for a meeting.
const EDGES_EACH: u32 = 1 << 15;

/// Edges of a frontier above which the run ends.
pub const EDGES_MOST: u32 = 1 << 18;

/// Share of void entries above which threads meet earlier: one in this many.
const VOID_SHARE: u32 = 8;

/// Nodes of a frontier below which one thread suffices.
const NARROW: u32 = 32;

/// Meetings with narrow frontiers, one after another, after which one thread continues alone: some
/// thousands of levels, which take about as long as the passes at the beginning and end of a run.
const NARROW_MOST: u32 = 256;

/// Polls after which a thread counts as late, plus one for each entry that it had more than the
/// waiting thread.
const LATE_POLLS: u32 = 1500;

/// The threads that search ahead from the frontier of `drive`, if the search is long enough.
#[inline(always)]
pub(crate) fn thread_group_for<G: Grid>(
    team: &Team<G>,
    search: &Search,
    drive: &DriveRecord,
) -> Option<ThreadGroup> {
    let is_long = drive.iteration >= LONG
        && search.frontier.nodes() >= NODES_LEAST
        && !search.visit.keeps_parents();
    let group = ThreadGroup::of(team, search, team.size().min(THREAD_GROUP_MAX as u32));
    (is_long && drive.nodes >= FROM && may_go_on(group, drive)).then_some(group)
}

/// The state of a run, the same in all threads of the thread group.
struct Run {
    drive: DriveRecord,
    /// Turn of lists and counters.
    parity: u32,
    /// Level that the last meeting found finished, after the first one of its turn.
    level: u32,
    late: u32,
}

impl Run {
    /// Counts the levels that all threads finished, by their counters. Returns the number of their
    /// nodes with edges, and of the entries that threads invalidated.
    fn count<G: Grid>(&mut self, grid: G, places: &Places) -> (u32, u32) {
        let voids = (0..places.group.threads).map(|rank| places.voids(grid, self.parity, rank));
        let voids = voids.fold(0, u32::saturating_add);
        let mut finds = 0_u32;
        for level in 1..=self.level {
            let (nodes, edges) = places.found(grid, self.parity, level);
            self.drive.iteration += 1;
            count_new(&mut self.drive, nodes, edges);
            finds = finds.saturating_add(nodes);
            if nodes == 0 {
                break;
            }
        }
        (finds, voids)
    }
}

/// Runs iterations in `group` and leaves the frontier in a resident queue, which drive record `slot`
/// then describes. Returns the number of iterations.
///
/// # Errors
/// If the time budget ends or another block reports a fault.
#[inline(never)]
pub(crate) fn run_ahead<G: Grid>(
    cx: ContextRef<G>,
    slot: u32,
    bounds: &Bounds,
    group: ThreadGroup,
) -> Result<u32, Stop> {
    let grid = cx.grid();
    let team = &cx.context().team;
    let search = Search::current(grid);
    let places = &Places::of(&search, group);
    let mut run = search.begin(team, bounds, places)?;
    let before = run.drive;
    let (mut levels, mut narrow) = (LEVELS_FIRST, 0);
    loop {
        let own = search.take_share(grid, places, &run);
        let most = bounds.max_iterations.saturating_sub(run.drive.iteration);
        search.advance(team, bounds, places, &mut run, own, levels.min(most))?;
        let (finds, voids) = run.count(grid, places);
        levels = if voids > finds / VOID_SHARE {
            (run.level / 2).max(1)
        } else if run.level < levels {
            run.level
        } else {
            (2 * levels).min(LEVELS as u32)
        };
        narrow = if run.drive.nodes < NARROW {
            narrow + 1
        } else {
            0
        };
        if run.drive.edges == 0
            || run.late >= LATE_MOST
            || narrow >= NARROW_MOST
            || !may_go_on(group, &run.drive)
            || run.drive.iteration >= bounds.max_iterations
        {
            break;
        }
        search.look(team, bounds, run.drive.iteration)?;
    }
    let own = search.end(grid, places, &run);
    run.drive.queue = 0;
    let sections = search.meet(team, bounds, &run.drive, own, group)?;
    search.leave(cx, slot, run.drive, run.late, &sections, group);
    Ok(run.drive.iteration - before.iteration)
}

/// Whether a thread has space for the whole frontier and for all nodes that it leads to.
fn may_go_on(group: ThreadGroup, drive: &DriveRecord) -> bool {
    drive.edges <= EDGES_MOST && drive.nodes.saturating_add(drive.edges) <= group.space
}

impl Search {
    /// Brings tentative levels up to date and the frontier into lists.
    fn begin<G: Grid>(
        &self,
        team: &Team<G>,
        bounds: &Bounds,
        places: &Places,
    ) -> Result<Run, Stop> {
        let grid = team.grid;
        let drive = shared_drive::read(grid);
        let group = places.group;
        self.each_node(grid, &drive, group, |node, is_visited| {
            let level = if is_visited { 0 } else { UNREACHED };
            places.tentative.store_weak(grid, node, level);
            false
        });
        let parity = drive.queue ^ 1;
        let (from, to) = (places.list(drive.queue), places.list(parity));
        let (first, end) = group.share(drive.nodes);
        for (at, index) in (group.base(group.rank)..).zip(first..end) {
            to.store_weak(grid, at, from.load_weak(grid, index));
        }
        places.publish(grid, parity, &Page::of_entries(end - first));
        // Others may have cleared these nodes' levels.
        group.publish(team, bounds, drive.iteration, Published::default())?;
        for at in group.base(group.rank)..group.base(group.rank) + (end - first) {
            let node = to.load_weak(grid, at);
            places.tentative.store_weak(grid, node, drive.iteration);
        }
        group.publish(team, bounds, drive.iteration, Published::default())?;
        Ok(Run {
            drive,
            parity,
            level: 0,
            late: 0,
        })
    }

    /// Calls `each` for this thread's share of all nodes, with whether they were visited before the
    /// run, and sets the visited bits of those for which it returns true.
    #[inline(always)]
    fn each_node<G: Grid>(
        &self,
        grid: G,
        drive: &DriveRecord,
        group: ThreadGroup,
        each: impl Fn(u32, bool) -> bool,
    ) {
        let visited = self.frontier.bitset(drive.visited);
        let nodes = self.frontier.nodes();
        let (first, end) = group.share(nodes.div_ceil(32));
        for word in first..end {
            let before = visited.load_weak(grid, word);
            let mut after = before;
            for node in word * 32..nodes.min(word * 32 + 32) {
                let bit = node & 31;
                after |= u32::from(each(node, before >> bit & 1 != 0)) << bit;
            }
            visited.store_weak(grid, word, after);
        }
    }

    /// Copies this thread's share of a level's entries to its own list of the next turn, except
    /// void ones and nodes without edges. Returns their number.
    fn take_share<G: Grid>(&self, grid: G, places: &Places, run: &Run) -> u32 {
        let (group, parity) = (places.group, run.parity);
        let of = |rank: u32| places.entries(grid, parity, rank, run.level);
        let count = |(first, end): (u32, u32)| end - first;
        let all = (0..group.threads).map(|rank| count(of(rank))).sum();
        let (first, end) = group.share(all);
        let (from, to) = (places.list(parity), places.list(parity ^ 1));
        let (mut passed, mut taken) = (0, 0);
        for rank in 0..group.threads {
            let entries = of(rank);
            let base = group.base(rank) + entries.0;
            let here = first.max(passed)..end.min(passed + count(entries));
            for index in here {
                let node = from.load_weak(grid, base + (index - passed));
                let is_valid = places.tentative.load_weak(grid, node) == run.drive.iteration;
                if is_valid && self.degree(grid, node) != 0 {
                    to.store_weak(grid, group.base(group.rank) + taken, node);
                    taken += 1;
                }
            }
            passed += count(entries);
        }
        taken
    }

    /// Searches up to `levels` levels ahead of the `own` entries of this thread's list, and meets
    /// the others.
    fn advance<G: Grid>(
        &self,
        team: &Team<G>,
        bounds: &Bounds,
        places: &Places,
        run: &mut Run,
        own: u32,
        levels: u32,
    ) -> Result<(), Stop> {
        let (grid, group) = (team.grid, places.group);
        let iteration = run.drive.iteration;
        run.parity ^= 1;
        let list = places.list(run.parity);
        let (page, done) = self.expand_ahead(grid, places, list, iteration, own, levels);
        places.publish(grid, run.parity, &page);
        let published = Published {
            nodes: done,
            edges: page.ends[LEVELS],
            waited: false,
        };
        let heard = group.publish(team, bounds, iteration, published)?;
        let all = || heard.published.iter().take(group.threads as usize);
        let most = all().map(|published| published.edges).max().unwrap_or(0);
        let waited = heard.polls >= LATE_POLLS.saturating_add(most - published.edges);
        run.level = all().map(|published| published.nodes).min().unwrap_or(0);
        if all().any(|published| published.nodes != run.level) {
            let (_, first) = places.entries(grid, run.parity, group.rank, run.level);
            let (_, end) = places.entries(grid, run.parity, group.rank, done);
            for index in group.base(group.rank) + first..group.base(group.rank) + end {
                let node = list.load_weak(grid, index);
                if places.tentative.load_weak(grid, node) > iteration + run.level {
                    places.tentative.store_weak(grid, node, UNREACHED);
                }
            }
        }
        // No thread takes a share of the next frontier before all have discarded the finds beyond
        // it.
        let published = Published {
            waited,
            ..Published::default()
        };
        let heard = group.publish(team, bounds, iteration, published)?;
        run.late = lateness(run.late, &heard.published);
        Ok(())
    }

    fn degree<G: Grid>(&self, grid: G, node: u32) -> u32 {
        let (start, stop) = self.outgoing.row(grid, node);
        stop - start
    }

    /// Searches up to `levels` levels from the first `own` entries of this thread's list, which are
    /// at level `iteration`. Returns the counters, and the number of finished levels.
    #[inline(never)]
    fn expand_ahead<G: Grid>(
        &self,
        grid: G,
        places: &Places,
        list: Proven,
        iteration: u32,
        own: u32,
        levels: u32,
    ) -> (Page, u32) {
        let (base, space) = (places.group.base(places.group.rank), places.group.space);
        let tentative = places.tentative;
        let mut page = Page::of_entries(own);
        let (mut first, mut end, mut done) = (0, own, 0);
        while done < levels {
            let level = iteration + done;
            let mut len = end;
            for index in first..end {
                let node = list.load_weak(grid, base + index);
                if tentative.load_weak(grid, node) != level {
                    continue;
                }
                let (start, stop) = self.outgoing.row(grid, node);
                for edge in start..stop {
                    let to = self.outgoing.target(grid, edge);
                    if tentative.load_weak(grid, to) <= level + 1 {
                        continue;
                    }
                    let before = tentative.min(grid, to, level + 1);
                    if before <= level + 1 {
                        continue;
                    }
                    if before != UNREACHED {
                        page.lowered(before - iteration, self.degree(grid, to));
                    }
                    self.outgoing.prefetch_row(grid, to);
                    list.store_weak(grid, base + len, to);
                    len += 1;
                }
            }
            let (mut nodes, mut edges) = (0_u32, 0_u32);
            for index in end..len {
                let node = list.load_weak(grid, base + index);
                let (start, stop) = self.outgoing.row(grid, node);
                self.outgoing.prefetch_target(grid, start);
                nodes += u32::from(start != stop);
                edges = edges.saturating_add(stop - start);
            }
            done += 1;
            page.found(done, nodes, edges);
            page.ends[done as usize..].fill(len);
            (first, end) = (end, len);
            if edges > EDGES_EACH || len.saturating_add(edges) > space {
                break;
            }
        }
        (page, done)
    }

    /// Marks what the run visited and moves this thread's part of the last frontier to its section
    /// of queue 0. Returns the content of that section.
    fn end<G: Grid>(&self, grid: G, places: &Places, run: &Run) -> Published {
        let tentative = places.tentative;
        self.each_node(grid, &run.drive, places.group, |node, was_visited| {
            let level = tentative.load_weak(grid, node);
            let is_new = !was_visited && level != UNREACHED;
            if is_new {
                let from = node;
                self.visit.discovered(grid, Discovery { node, from, level });
            }
            is_new
        });
        let to: &Queue = &self.frontier.queue(0);
        let (rank, base) = (places.group.rank, places.group.base(places.group.rank));
        let from = places.list(run.parity);
        let mut own = Published::default();
        let (first, end) = places.entries(grid, run.parity, rank, run.level);
        for index in base + first..base + end {
            let node = from.load_weak(grid, index);
            let (start, end) = self.outgoing.row(grid, node);
            if tentative.load_weak(grid, node) != run.drive.iteration || start == end {
                continue;
            }
            let at = base + own.nodes;
            to.nodes.store_weak(grid, at, node);
            to.starts.store_weak(grid, at, start);
            to.prefix.store_weak(grid, at, end);
            own.nodes += 1;
            own.edges = own.edges.saturating_add(end - start);
        }
        own
    }
}
