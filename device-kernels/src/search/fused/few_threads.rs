//! A fused search by a few threads of a CPU.
//!
//! Each thread of the crew appends to its own section of a resident queue, so that no counter is
//! shared. After a level the threads tell each other how many nodes and edges their sections hold,
//! which is their barrier as well, and take even shares of all sections. The other threads wait at
//! the next barrier of the team.
//!
//! Within a run, the prefix of an entry is the edge after its last one: nobody adds up edges until
//! the sections become one queue again.
//!
//! A long search goes on in [`levels_ahead`].

use super::crew::reach;
use super::levels_ahead;
use super::one_thread::AHEAD;
use super::progress::{Bounds, LOOK_MASK};
use crate::context::ContextRef;
use crate::control::Stop;
use crate::grid::{CREW_MAX, CREW_SMALL, Grid, Heard};
use crate::queue::Queue;
use crate::search::current::Search;
use crate::search::drive::{self, choose, count_new};
use crate::search::push::row_at;
use crate::search::shared_drive;
use crate::team::Team;
use seawall_core::abi::search::DriveRecord;

/// Nodes of a frontier from which on threads search it together.
pub(super) const FROM: u32 = 96;

/// Nodes of a frontier below which one thread goes on alone.
const LEAST: u32 = 32;

/// Edges of a frontier up to which a crew takes it: of more, all threads together save more than their
/// barrier costs, some 50 µs where an edge takes a thread 5 ns.
const MOST_EDGES: u32 = 1 << 16;

/// Polls after which a thread was late. Shares of a level differ by less.
const LATE_POLLS: u32 = 200;

/// Levels on time that make up for a late one.
const LATE_COST: u32 = 8;

/// Costs of late levels at which the crew disbands: other programs take its processors, and each
/// time that a thread loses its own, the others wait for a slice of time.
pub(super) const LATE_MOST: u32 = 6 * LATE_COST;

/// Threads of a crew that meets after every level: with eight, meetings took longer.
#[inline(always)]
fn crew_size<G: Grid>(team: &Team<G>) -> u32 {
    team.size().min(CREW_SMALL)
}

/// Whether some threads of `team` search together what is too wide for one.
#[inline(always)]
pub(super) fn have_crew<G: Grid>(team: &Team<G>) -> bool {
    !team.is_alone() && team.grid.has_crew()
}

/// Threads that search the frontier of the block's drive record.
#[inline(always)]
pub(super) fn crew_for<G: Grid>(team: &Team<G>) -> u32 {
    let grid = team.grid;
    let (search, drive) = (&Search::current(grid), &shared_drive::read(grid));
    if !have_crew(team) {
        return 1;
    }
    if let Some(crew) = levels_ahead::crew_for(team, search, drive) {
        return crew.threads;
    }
    if takes_over(team, search, (drive.nodes, drive.edges)) {
        crew_size(team)
    } else {
        1
    }
}

/// Whether the crew of `team` takes over a frontier of so many nodes and edges from one thread.
#[inline(always)]
pub(super) fn takes_over<G: Grid>(team: &Team<G>, search: &Search, counts: (u32, u32)) -> bool {
    // Asked after each of the many levels of a chain.
    counts.0 >= FROM && have_crew(team) && Crew::of(team, search, crew_size(team)).may_take(counts)
}

/// The content of a thread's section, as it tells the others.
#[derive(Clone, Copy, Default)]
pub(super) struct Told {
    pub(super) nodes: u32,
    pub(super) edges: u32,
    /// Whether it waited long for another thread before the level.
    pub(super) waited: bool,
}

impl Told {
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
pub(super) struct Crew {
    pub(super) threads: u32,
    pub(super) rank: u32,
    /// Entries of a section.
    pub(super) room: u32,
}

/// The words of a crew.
pub(super) struct Hearing {
    pub(super) told: [Told; CREW_MAX],
    /// Most polls that this thread waited for another one.
    pub(super) polls: u32,
}

/// A queue in sections.
pub(super) struct Sections {
    queue: Queue,
    told: [Told; CREW_MAX],
    nodes: u32,
    edges: u32,
    /// Whether this thread waited long for another one.
    waited: bool,
}

impl Crew {
    #[inline(always)]
    pub(super) fn of<G: Grid>(team: &Team<G>, search: &Search, threads: u32) -> Self {
        Self {
            threads,
            rank: team.rank(),
            room: search.frontier.nodes() / threads,
        }
    }

    /// Tells `own` to the crew at `iteration` and returns what each thread told. A barrier of the
    /// crew.
    #[inline(always)]
    pub(super) fn tell<G: Grid>(
        self,
        team: &Team<G>,
        bounds: &Bounds,
        (iteration, own): (u32, Told),
    ) -> Result<Hearing, Stop> {
        let grid = team.grid;
        let stops = || team.is_late() || team.control.is_stopped(grid);
        let Some(Heard { words, polls }) = grid.confer(self.threads, own.word(), stops) else {
            return Err(Search::out_of_time(team, bounds, iteration));
        };
        let told = words.map(Told::of);
        Ok(Hearing { told, polls })
    }

    /// Whether there is room for a frontier. Each edge may lead to a find of one thread.
    #[inline(always)]
    fn may_take(self, (nodes, edges): (u32, u32)) -> bool {
        nodes <= self.room && edges <= self.room.min(MOST_EDGES)
    }

    /// First entry of the section of thread `rank`.
    #[inline(always)]
    pub(super) fn base(self, rank: u32) -> u32 {
        rank * self.room
    }

    /// This thread's even share of `count` items.
    #[inline(always)]
    pub(super) fn share(self, count: u32) -> (u32, u32) {
        let bound =
            |rank: u32| (u64::from(count) * u64::from(rank) / u64::from(self.threads)) as u32;
        (bound(self.rank), bound(self.rank + 1))
    }
}

/// Runs iterations in the first threads of the team and leaves the frontier in a resident queue,
/// which drive record `slot` then describes. Returns the number of iterations.
///
/// # Errors
/// If the time budget ends or another block reports a fault.
#[inline(never)]
pub(super) fn run_few_threads<G: Grid>(
    cx: ContextRef<G>,
    slot: u32,
    bounds: &Bounds,
) -> Result<u32, Stop> {
    let (context, grid) = (&cx.context(), cx.grid());
    let team = &context.team;
    let search = Search::current(grid);
    let before = shared_drive::read(grid);
    if let Some(crew) = levels_ahead::crew_for(team, &search, &before) {
        return levels_ahead::run_ahead(cx, slot, (bounds, crew));
    }
    let crew = Crew::of(team, &search, crew_size(team));
    let policy = &drive::policy_for::<G>(&context.tables.search_policy(grid), reach(team));
    let mut drive = before;
    let own = search.split(grid, &drive, crew);
    drive.queue ^= 1;
    let mut sections = search.meet(team, bounds, (&drive, own), crew)?;
    let mut late = 0_u32;
    loop {
        let mut own = if search.visit.keeps_parents() {
            search.together::<G, true>(grid, &drive, (&sections, crew))
        } else {
            search.together::<G, false>(grid, &drive, (&sections, crew))
        };
        drive.iteration += 1;
        drive.queue ^= 1;
        own.waited = sections.waited;
        sections = search.meet(team, bounds, (&drive, own), crew)?;
        let (nodes, edges) = (sections.nodes, sections.edges);
        count_new(&mut drive, nodes, edges);
        late = lateness(late, &sections.told);
        let narrow = nodes <= policy.narrow_exit_nodes && edges <= policy.narrow_edges;
        if nodes < LEAST
            || late >= LATE_MOST
            || !narrow
            || !crew.may_take((nodes, edges))
            || levels_ahead::crew_for(team, &search, &drive).is_some()
            || drive.iteration >= bounds.max_iterations
        {
            break;
        }
        if drive.iteration & LOOK_MASK == 0 {
            search.look(team, bounds, drive.iteration)?;
        }
    }
    search.leave(cx, slot, (drive, late), (&sections, crew));
    Ok(drive.iteration - before.iteration)
}

/// How late threads are after a meeting: [`LATE_COST`] for each with a late one, less one for each
/// other.
#[inline(always)]
pub(super) fn lateness(late: u32, told: &[Told; CREW_MAX]) -> u32 {
    if told.iter().any(|told| told.waited) {
        late + LATE_COST
    } else {
        late.saturating_sub(1)
    }
}

impl Search {
    /// Tells the crew what this thread's section of the next queue holds and returns the queue,
    /// once all have told.
    #[inline(always)]
    pub(super) fn meet<G: Grid>(
        &self,
        team: &Team<G>,
        bounds: &Bounds,
        (drive, own): (&DriveRecord, Told),
        crew: Crew,
    ) -> Result<Sections, Stop> {
        let Hearing { told, polls } = crew.tell(team, bounds, (drive.iteration, own))?;
        Ok(Sections {
            queue: self.frontier.queue(drive.queue),
            told,
            nodes: told.iter().map(|told| told.nodes).sum(),
            edges: told
                .iter()
                .fold(0, |sum, told| told.edges.saturating_add(sum)),
            waited: polls >= LATE_POLLS,
        })
    }

    /// Joins the sections of the crew, which `drive` describes, to one queue and writes drive
    /// record `slot`. If threads were too `late`, the crew disbands.
    #[inline(always)]
    pub(super) fn leave<G: Grid>(
        &self,
        cx: ContextRef<G>,
        slot: u32,
        (mut drive, late): (DriveRecord, u32),
        (sections, crew): (&Sections, Crew),
    ) {
        let (context, grid) = (&cx.context(), cx.grid());
        drive.queue ^= 1;
        self.join(grid, sections, (drive.queue, crew));
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

    /// Copies this thread's share of the queue to its section of the other one.
    #[inline(always)]
    fn split<G: Grid>(&self, grid: G, drive: &DriveRecord, crew: Crew) -> Told {
        let (from, to) = (
            &self.frontier.queue(drive.queue),
            &self.frontier.queue(drive.queue ^ 1),
        );
        let (first, end) = crew.share(drive.nodes);
        let mut own = Told::default();
        for index in first..end {
            let row = row_at(grid, from, index, drive);
            let at = crew.base(crew.rank) + own.nodes;
            to.nodes.store_weak(grid, at, row.node);
            to.starts.store_weak(grid, at, row.start);
            to.prefix.store_weak(grid, at, row.end);
            own.nodes += 1;
            own.edges = own.edges.saturating_add(row.degree());
        }
        own
    }

    /// Copies this thread's section to its place in queue `parity`, all of one piece.
    #[inline(always)]
    fn join<G: Grid>(&self, grid: G, sections: &Sections, (parity, crew): (u32, Crew)) {
        let to = &self.frontier.queue(parity);
        let (mut at, mut edges) = (0, 0_u32);
        for told in &sections.told[..crew.rank as usize] {
            at += told.nodes;
            edges = edges.wrapping_add(told.edges);
        }
        let base = crew.base(crew.rank);
        for index in base..base + sections.told[crew.rank as usize].nodes {
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

    /// Runs one level: this thread's share of the sections, into its own section of the other
    /// queue. Returns what that holds.
    #[inline(always)]
    fn together<G: Grid, const PARENTS: bool>(
        &self,
        grid: G,
        drive: &DriveRecord,
        (sections, crew): (&Sections, Crew),
    ) -> Told {
        let next = &self.frontier.queue(drive.queue ^ 1);
        let base = crew.base(crew.rank);
        let mut found = 0;
        let (mut first, end) = crew.share(sections.nodes);
        // Entries of the sections before.
        let mut passed = 0;
        for (rank, told) in (0..crew.threads).zip(&sections.told) {
            let stop = end.min(passed + told.nodes);
            if first < stop {
                let offset = crew.base(rank) - passed;
                let entries = (first + offset, stop + offset);
                let to = (next, base, &mut found);
                self.discover_new::<G, PARENTS>(grid, drive, (&sections.queue, entries), to);
                first = stop;
            }
            passed += told.nodes;
        }
        let level = drive.iteration + 1;
        let (nodes, edges) =
            self.settle::<G, PARENTS>(grid, level, (next, base, found), |_, end| end);
        Told {
            nodes,
            edges,
            waited: false,
        }
    }

    /// Appends to `next`, from entry `base` on, the nodes that edges of these entries discover
    /// and, with `PARENTS`, their discoverers.
    #[inline(always)]
    fn discover_new<G: Grid, const PARENTS: bool>(
        &self,
        grid: G,
        drive: &DriveRecord,
        (queue, (first, end)): (&Queue, (u32, u32)),
        (next, base, found): (&Queue, u32, &mut u32),
    ) {
        let visited = self.frontier.bitset(drive.visited);
        for index in first..end {
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
