//! A narrow frontier in few blocks: iterations without a grid barrier.
//!
//! The blocks of the first cluster search, with their queues in shared memory,
//! while the others wait at the next grid barrier. The narrower the frontier,
//! the fewer take part: up to 96 nodes the first block alone,
//! which needs only block barriers, and what fits one warp that block's first
//! warp, without any barrier. Where a launch has no clusters, the first block
//! is its own. They hand back when the frontier grows too wide or nothing is
//! left.

use super::drive::{self, choose, count_new};
use super::frontier::{Found, Target, append_rows};
use super::narrow_pass::{self, Pass, Run};
use super::narrow_queue::{Queues, Word};
use super::{Search, lead, shared_drive, shared_search};
use crate::block::block_scan;
use crate::block::shared::narrow_nodes;
use crate::context::{Context, Hand};
use crate::control::{Place, Stop};
use crate::grid::Grid;
use crate::machine::Machine;
use crate::team::Team;
use seawall_core::abi::control::FaultCode;
use seawall_core::abi::search::{DriveRecord, SearchPolicy};

/// Iterations between two looks at the clock.
pub(super) const LOOK_MASK: u32 = 255;

/// Largest frontier that a cluster leaves to its first block, nodes.
const LEADER_NODES: u32 = 96;

/// Frontier above which the first block calls the cluster, nodes.
const LEADER_EXIT: u32 = 128;

/// Most lanes that share the edges of an entry, as a power of two.
const LANES_LOG2_MAX: u32 = 4;

/// What bounds a narrow run.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Iterations after which the loop ends.
    pub max_iterations: u32,
    /// Where the block is, for fault records.
    pub place: Place,
}

/// The blocks that search together, and which of them this is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Crew {
    /// A power of two.
    pub(super) blocks: u32,
    pub(super) rank: u32,
}

/// Blocks that search narrow frontiers of `team` together: its first ones.
#[inline(always)]
pub fn crew_size<G: Grid>(team: &Team<G>) -> u32 {
    let cluster = team.grid.cluster();
    if team.size() < cluster { 1 } else { cluster }
}

/// Frontier that one CPU thread searches while others wait, as a multiple of what is
/// narrow for a block: below it the others would cost more than they take over.
const LEAD: u32 = 6;

/// How many times what is narrow for one block is narrow for `team`.
#[inline(always)]
pub fn reach<G: Grid>(team: &Team<G>) -> u32 {
    match G::WARP {
        1 if team.is_alone() => u32::MAX,
        1 => LEAD,
        _ => crew_size(team),
    }
}

/// Up to where a run goes on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub(super) max_iterations: u32,
    /// Frontier above which the run ends, nodes.
    pub(super) widest: u32,
    /// Edges of a frontier above which it ends.
    pub(super) edges: u32,
    /// Resident queue of what finds no room.
    pub(super) target: Target,
    /// Which visited bitset is current.
    pub(super) visited: u32,
    /// Lanes that share the edges of an entry, as a power of two.
    pub(super) lanes_log2: u32,
}

/// How a leader's run ended, as it tells the others.
const GOES_ON: u32 = 0;
const TOO_WIDE: u32 = 1;
const STOPPED: u32 = 2;

/// Runs iterations in few blocks and leaves the frontier in a resident
/// queue, which drive record `slot` then describes. The first
/// [`crew_size`] blocks of the team call this. Gives the iterations run.
///
/// # Errors
/// When the time budget ends or another block reports a fault.
#[inline(never)]
pub fn run<G: Grid>(hand: Hand<G>, slot: u32, bounds: Bounds) -> Result<u32, Stop> {
    if G::WARP == 1 {
        return lead::run(hand, slot, &bounds);
    }
    let (context, grid) = (&hand.context(), hand.grid());
    let outcome = shared_search::read(grid).narrow(context, slot, &bounds);
    if crew_size(&context.team) > 1 {
        // A block that ends, as all do when the run is stopped, takes its shared memory
        // along, which others may still be reading: what they read is in before they
        // arrive.
        grid.cluster_barrier(true);
    }
    outcome
}

impl Search {
    #[inline(always)]
    fn narrow<G: Grid>(
        &self,
        context: &Context<G>,
        slot: u32,
        bounds: &Bounds,
    ) -> Result<u32, Stop> {
        let (team, machine, grid) = (&context.team, &context.machine, context.team.grid);
        let drive = &shared_drive::read(grid);
        let crew = Crew {
            blocks: crew_size(team),
            rank: team.rank(),
        };
        let policy = &drive::policy_for::<G>(&machine.search_policy(grid), crew.blocks);
        let queues = Queues::new(grid);
        let limits = Limits {
            max_iterations: bounds.max_iterations,
            widest: policy
                .narrow_exit_nodes
                .min(narrow_nodes::<G>().wrapping_mul(crew.blocks)),
            edges: policy.narrow_edges,
            target: self.target(drive),
            visited: drive.visited,
            lanes_log2: self.lanes_log2(grid, machine),
        };
        if crew.rank == 0 && grid.lane() == 0 {
            self.frontier.clear_found(grid, drive.step + 2);
        }
        let mut run = self.fill(queues, drive, crew);
        let mut pass = Pass::Done;
        while pass == Pass::Done
            && run.goes_on(&limits)
            && (run.held.len <= limits.widest || run.iteration == drive.iteration)
        {
            if crew.blocks == 1 || run.held.len <= LEADER_NODES {
                pass = self.run_leader(queues, team, (&mut run, crew), (&limits, bounds))?;
            } else {
                pass = self.pass_wide(queues, &mut run, crew, &limits);
                if run.iteration & LOOK_MASK == 0 {
                    self.look_together(queues, team, bounds, run.iteration)?;
                }
            }
        }
        let iterations = run.iteration - drive.iteration;
        let explored = self.hand_back(queues, crew, &run, limits.target);
        if crew.rank == 0 && grid.lane() == 0 {
            let next = self.close(grid, (drive, explored), &run, policy);
            self.frontier.set_drive(grid, slot, &next);
        }
        Ok(iterations)
    }

    /// Lanes for an entry: about as many as a node of the graph has edges, so
    /// that a row is one round of most of them.
    #[inline(always)]
    fn lanes_log2<G: Grid>(&self, grid: G, machine: &Machine) -> u32 {
        let (nodes, edges) = (machine.nodes(grid), machine.edges(grid));
        (0..LANES_LOG2_MAX)
            .take_while(|log2| edges >> log2 > nodes)
            .count() as u32
    }

    /// Loads this block's part of the resident queue.
    #[inline(always)]
    fn fill<G: Grid>(&self, queues: Queues<G>, drive: &DriveRecord, crew: Crew) -> Run {
        let grid = queues.grid;
        let (first, end) = crew.share(drive.nodes);
        let queue = self.frontier.queue(drive.queue);
        let mut large = false;
        let mut index = first + grid.lane();
        while index < end {
            let row = super::push::row_at(grid, &queue, index, drive);
            large |= row.is_large();
            queues.put(0, index - first, row);
            index += grid.lanes();
        }
        let large = grid.block_any(large);
        if grid.lane() == 0 {
            queues.set(0, end - first, large);
            queues.clear(1);
        }
        crew.barrier(grid, true);
        Run {
            held: queues.held(0, crew.blocks),
            spread: crew.blocks,
            parity: 0,
            turn: 0,
            iteration: drive.iteration,
            frontier_max: drive.frontier_max,
            explored: 0,
        }
    }

    /// Iterations by the first block, while the frontier is narrow; the others
    /// wait for its word.
    #[inline(always)]
    fn run_leader<G: Grid>(
        &self,
        queues: Queues<G>,
        team: &Team<G>,
        (run, crew): (&mut Run, Crew),
        (limits, bounds): (&Limits, &Bounds),
    ) -> Result<Pass, Stop> {
        let mut verdict = Ok(Pass::Done);
        if crew.rank == 0 {
            let leave = if crew.blocks == 1 {
                limits.widest
            } else {
                LEADER_EXIT
            };
            loop {
                verdict = self.lead(queues, team, run, (limits, bounds));
                let wide = run.held.len > leave;
                if verdict != Ok(Pass::Done) || !run.goes_on(limits) || wide {
                    break;
                }
            }
        }
        if crew.blocks == 1 {
            return verdict;
        }
        let grid = queues.grid;
        if crew.rank == 0 && grid.lane() == 0 {
            queues.tell(Word::Iteration, run.iteration);
            queues.tell(Word::Parity, run.parity);
            queues.tell(Word::Turn, run.turn);
            queues.tell(Word::Widest, run.frontier_max);
            let verdict = match verdict {
                Ok(Pass::Done) => GOES_ON,
                Ok(Pass::TooWide) => TOO_WIDE,
                Err(Stop) => STOPPED,
            };
            queues.tell(Word::Verdict, verdict);
        }
        grid.cluster_barrier(true);
        run.iteration = queues.told(0, Word::Iteration);
        run.parity = queues.told(0, Word::Parity);
        run.turn = queues.told(0, Word::Turn);
        run.frontier_max = queues.told(0, Word::Widest);
        run.spread = 1;
        run.held = queues.held(run.turn, 1);
        if crew.rank != 0 && grid.lane() == 0 {
            // The first block did that for itself.
            queues.clear(run.turn + 1);
        }
        grid.block_barrier();
        match queues.told(0, Word::Verdict) {
            GOES_ON => Ok(Pass::Done),
            TOO_WIDE => Ok(Pass::TooWide),
            _ => Err(Stop),
        }
    }

    /// Some iterations by the first block alone.
    #[inline(always)]
    fn lead<G: Grid>(
        &self,
        queues: Queues<G>,
        team: &Team<G>,
        run: &mut Run,
        (limits, bounds): (&Limits, &Bounds),
    ) -> Result<Pass, Stop> {
        let fits = |run: &Run| run.spread == 1 && narrow_pass::fits_warp(run.held.len, limits);
        let stuck = fits(run) && self.run_warp(queues, run, limits);
        let mut pass = Pass::Done;
        // The warp may have used up the last iteration.
        if run.goes_on(limits) && (stuck || !fits(run)) {
            let alone = Crew { blocks: 1, rank: 0 };
            pass = self.pass_wide(queues, run, alone, limits);
        }
        if stuck || run.iteration & LOOK_MASK == 0 {
            self.look(team, bounds, run.iteration)?;
        }
        Ok(pass)
    }

    /// Ends the run when its time is over or another block reports a fault.
    #[inline(never)]
    pub(super) fn look<G: Grid>(
        &self,
        team: &Team<G>,
        bounds: &Bounds,
        iteration: u32,
    ) -> Result<(), Stop> {
        let late = team.grid.lane() == 0 && (team.is_late() || team.control.is_stopped(team.grid));
        if !team.grid.block_any(late) {
            return Ok(());
        }
        Err(Self::out_of_time(team, bounds, iteration))
    }

    /// [`Self::look`] by the first block for the whole cluster.
    #[inline(never)]
    fn look_together<G: Grid>(
        &self,
        queues: Queues<G>,
        team: &Team<G>,
        bounds: &Bounds,
        iteration: u32,
    ) -> Result<(), Stop> {
        let grid = team.grid;
        if team.is_conductor() {
            let late = team.is_late() || team.control.is_stopped(grid);
            queues.tell(Word::Late, u32::from(late));
        }
        grid.cluster_barrier(true);
        if queues.told(0, Word::Late) == 0 {
            return Ok(());
        }
        Err(Self::out_of_time(team, bounds, iteration))
    }

    fn out_of_time<G: Grid>(team: &Team<G>, bounds: &Bounds, iteration: u32) -> Stop {
        let place = Place {
            iteration,
            ..bounds.place
        };
        team.control.fault(team.grid, FaultCode::TimeBudget, place)
    }

    /// Moves the frontier to the other resident queue; gives the edges that
    /// the run explored, to the first lane of the first block.
    #[inline(always)]
    fn hand_back<G: Grid>(&self, queues: Queues<G>, crew: Crew, run: &Run, target: Target) -> u32 {
        let grid = queues.grid;
        let (_, mut explored) = block_scan(grid, run.explored);
        let len = if crew.rank < run.spread {
            queues.own_len(run.turn)
        } else {
            0
        };
        let mut base = 0;
        while base < len {
            let index = base + grid.lane();
            let found = if index < len {
                Found::one(queues.own(run.parity, index))
            } else {
                Found::NONE
            };
            append_rows(grid, self.frontier, target, &found);
            base += grid.lanes();
        }
        if crew.blocks == 1 {
            grid.block_barrier();
            return explored;
        }
        if grid.lane() == 0 {
            queues.tell(Word::Explored, explored);
        }
        grid.cluster_barrier(true);
        if crew.rank == 0 && grid.lane() == 0 {
            explored = 0;
            for peer in 0..crew.blocks {
                explored = queues.told(peer, Word::Explored).saturating_add(explored);
            }
        }
        explored
    }

    /// The drive record after the run, by one lane.
    #[inline(never)]
    fn close<G: Grid>(
        &self,
        grid: G,
        (before, explored): (&DriveRecord, u32),
        run: &Run,
        policy: &SearchPolicy,
    ) -> DriveRecord {
        let mut drive = DriveRecord {
            step: before.step + 1,
            queue: before.queue ^ 1,
            iteration: run.iteration,
            frontier_max: run.frontier_max,
            unexplored_edges: before
                .unexplored_edges
                .saturating_sub(explored.saturating_sub(before.edges)),
            ..*before
        };
        let found = self.frontier.found(grid, drive.step);
        count_new(&mut drive, found.queued_nodes, found.queued_edges);
        choose::<G>(&mut drive, policy);
        drive
    }
}

impl Crew {
    /// First and behind the last of this block's even share of `count` items.
    #[inline(always)]
    pub(super) fn share(self, count: u32) -> (u32, u32) {
        // The number of blocks is a power of two.
        let each = (count + self.blocks - 1) >> self.blocks.trailing_zeros();
        let first = (self.rank * each).min(count);
        (first, (first + each).min(count))
    }

    /// Waits for all lanes of the crew; see [`Grid::cluster_barrier`].
    #[inline(always)]
    pub(super) fn barrier<G: Grid>(self, grid: G, wrote: bool) {
        if self.blocks == 1 {
            grid.block_barrier();
        } else {
            grid.cluster_barrier(wrote);
        }
    }
}
