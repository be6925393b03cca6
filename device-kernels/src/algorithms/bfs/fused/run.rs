//! A fused run, from a resident queue and back to one.

use super::block_group::{BlockGroup, group_size};
use super::first_block::FIRST_BLOCK_NODES;
use super::progress::{Bounds, LOOK_MASK, Limits, Pass, Run};
use super::queue::Queues;
use crate::algorithms::bfs::current::Search;
use crate::algorithms::bfs::threads::{few_threads, one_thread};
use crate::algorithms::bfs::{drive, push, shared_drive};
use crate::collectives::context::{Context, ContextRef};
use crate::collectives::team::Team;
use crate::machine::Grid;
use crate::machine::shared::fused_nodes;
use crate::tables::Tables;
use crate::tables::control::Stop;
use seawall_core::abi::search::DriveRecord;

/// Most lanes that share the edges of an entry, as a power of two.
const LANES_LOG2_MAX: u32 = 4;

/// Blocks that run the coming iterations of a fused search of `team`. All find the same.
#[inline(always)]
pub fn thread_group_now<G: Grid>(team: &Team<G>) -> u32 {
    if G::SIMT {
        group_size(team)
    } else {
        few_threads::thread_group_for(team)
    }
}

/// Runs iterations in few blocks and leaves the frontier in a resident queue, which drive
/// record `slot` then describes. The first [`group_size`] blocks of the team call this.
/// Returns the number of iterations.
///
/// # Errors
/// If the time budget ends or another block reports a fault.
#[inline(never)]
pub fn run_fused<G: Grid>(cx: ContextRef<G>, slot: u32, bounds: Bounds) -> Result<u32, Stop> {
    if !G::SIMT {
        if few_threads::thread_group_for(&cx.context().team) > 1 {
            return few_threads::run_few_threads(cx, slot, &bounds);
        }
        return one_thread::run_one_thread(cx, slot, &bounds);
    }
    let (context, grid) = (&cx.context(), cx.grid());
    let outcome = Search::current(grid).fuse(context, slot, &bounds);
    if group_size(&context.team) > 1 {
        // Once the run stops, blocks end together with their shared memory, which others may still
        // read. No block ends before all have finished reading and arrived here.
        grid.cluster_barrier(true);
    }
    outcome
}

impl Search {
    #[inline(always)]
    fn fuse<G: Grid>(&self, context: &Context<G>, slot: u32, bounds: &Bounds) -> Result<u32, Stop> {
        let (team, tables, grid) = (&context.team, &context.tables, context.team.grid);
        let drive = &shared_drive::read(grid);
        let group = BlockGroup {
            blocks: group_size(team),
            rank: team.rank(),
        };
        let policy = &drive::policy_for::<G>(&tables.search_policy(grid), group.blocks);
        let queues = Queues::new(grid);
        let limits = Limits {
            max_iterations: bounds.max_iterations,
            widest: policy
                .narrow_exit_nodes
                .min(fused_nodes::<G>().wrapping_mul(group.blocks)),
            edges: policy.narrow_edges,
            target: self.target(drive),
            visited: drive.visited,
            lanes_log2: self.lanes_log2(grid, tables),
        };
        if group.rank == 0 && grid.lane() == 0 {
            self.frontier.clear_found(grid, drive.step + 2);
        }
        let mut run = self.fill(queues, drive, group);
        let mut pass = Pass::Done;
        while pass == Pass::Done
            && run.goes_on(&limits)
            && (run.held.len <= limits.widest || run.iteration == drive.iteration)
        {
            if group.blocks == 1 || run.held.len <= FIRST_BLOCK_NODES {
                pass = self.run_first_block(queues, team, &mut run, group, &limits, bounds)?;
            } else {
                pass = self.pass_wide(queues, &mut run, group, &limits);
                if run.iteration & LOOK_MASK == 0 {
                    self.look_together(queues, team, bounds, run.iteration)?;
                }
            }
        }
        let iterations = run.iteration - drive.iteration;
        let explored = self.hand_back(queues, group, &run, limits.target);
        if group.rank == 0 && grid.lane() == 0 {
            let next = self.close(grid, drive, explored, &run, policy);
            self.frontier.set_drive(grid, slot, &next);
        }
        Ok(iterations)
    }

    /// Lanes per entry: about as many as a node of the graph has edges, so that most rows
    /// take one round.
    #[inline(always)]
    fn lanes_log2<G: Grid>(&self, grid: G, tables: &Tables) -> u32 {
        let (nodes, edges) = (tables.nodes(grid), tables.edges(grid));
        (0..LANES_LOG2_MAX)
            .take_while(|log2| edges >> log2 > nodes)
            .count() as u32
    }

    /// Loads this block's part of the resident queue.
    #[inline(always)]
    fn fill<G: Grid>(&self, queues: Queues<G>, drive: &DriveRecord, group: BlockGroup) -> Run {
        let grid = queues.grid;
        let (first, end) = group.share(drive.nodes);
        let queue = self.frontier.queue(drive.queue);
        let mut large = false;
        let mut index = first + grid.lane();
        while index < end {
            let row = push::row_at(grid, &queue, index, drive);
            large |= row.is_large();
            queues.put(0, index - first, row);
            index += grid.lanes();
        }
        let large = grid.block_any(large);
        if grid.lane() == 0 {
            queues.set(0, end - first, large);
            queues.clear(1);
        }
        group.barrier(grid, true);
        Run {
            held: queues.held(0, group.blocks),
            spread: group.blocks,
            parity: 0,
            turn: 0,
            iteration: drive.iteration,
            frontier_max: drive.frontier_max,
            explored: 0,
        }
    }
}
