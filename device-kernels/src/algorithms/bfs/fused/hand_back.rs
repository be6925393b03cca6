//! The end of a fused run: the frontier goes back to a resident queue.

use super::block_group::BlockGroup;
use super::progress::Run;
use super::queue::{Queues, Word};
use crate::algorithms::bfs::current::Search;
use crate::algorithms::bfs::drive::{choose, count_new};
use crate::algorithms::bfs::frontier::Target;
use crate::collectives::block::block_scan;
use crate::collectives::queue::{FindRows, append_rows};
use crate::machine::Grid;
use seawall_core::abi::search::{DriveRecord, SearchPolicy};

impl Search {
    /// Moves the frontier to the other resident queue. The first lane of the first block
    /// gets the edges that the run explored.
    #[inline(always)]
    pub(super) fn hand_back<G: Grid>(
        &self,
        queues: Queues<G>,
        group: BlockGroup,
        run: &Run,
        target: Target,
    ) -> u32 {
        let grid = queues.grid;
        let (_, mut explored) = block_scan(grid, run.explored);
        let len = if group.rank < run.spread {
            queues.own_len(run.turn)
        } else {
            0
        };
        let mut base = 0;
        while base < len {
            let index = base + grid.lane();
            let found = if index < len {
                FindRows::one(queues.own(run.parity, index))
            } else {
                FindRows::NONE
            };
            append_rows(grid, &self.frontier.next(target), &found);
            base += grid.lanes();
        }
        if group.blocks == 1 {
            grid.block_barrier();
            return explored;
        }
        if grid.lane() == 0 {
            queues.broadcast(Word::Explored, explored);
        }
        grid.cluster_barrier(true);
        if group.rank == 0 && grid.lane() == 0 {
            explored = 0;
            for peer in 0..group.blocks {
                explored = queues
                    .word_of(peer, Word::Explored)
                    .saturating_add(explored);
            }
        }
        explored
    }

    /// The drive record after the run; one lane calls this.
    #[inline(never)]
    pub(super) fn close<G: Grid>(
        &self,
        grid: G,
        before: &DriveRecord,
        explored: u32,
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
