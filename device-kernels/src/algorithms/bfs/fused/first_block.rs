//! Iterations by the first block of a cluster, while the frontier is narrow enough for
//! it.

use super::block_group::BlockGroup;
use super::pass::fits_warp;
use super::progress::{Bounds, LOOK_MASK, Limits, Pass, Run};
use super::queue::{Queues, Word};
use crate::algorithms::bfs::current::Search;
use crate::collectives::team::Team;
use crate::machine::Grid;
use crate::tables::control::Stop;

/// Nodes of the largest frontier that a cluster leaves to its first block.
pub(super) const FIRST_BLOCK_NODES: u32 = 96;

/// Nodes of a frontier above which the first block calls the cluster.
const FIRST_BLOCK_EXIT: u32 = 128;

/// Verdicts that the first block broadcasts.
const GOES_ON: u32 = 0;
const TOO_WIDE: u32 = 1;
const STOPPED: u32 = 2;

impl Search {
    /// Runs iterations in the first block while the frontier is narrow enough; the others
    /// wait for its verdict.
    #[inline(always)]
    pub(super) fn run_first_block<G: Grid>(
        &self,
        queues: Queues<G>,
        team: &Team<G>,
        run: &mut Run,
        group: BlockGroup,
        limits: &Limits,
        bounds: &Bounds,
    ) -> Result<Pass, Stop> {
        let mut verdict = Ok(Pass::Done);
        if group.rank == 0 {
            let leave = if group.blocks == 1 {
                limits.widest
            } else {
                limits.widest.min(FIRST_BLOCK_EXIT)
            };
            loop {
                verdict = self.iterate(queues, team, run, limits, bounds);
                let wide = run.held.len > leave;
                if verdict != Ok(Pass::Done) || !run.goes_on(limits) || wide {
                    break;
                }
            }
        }
        if group.blocks == 1 {
            return verdict;
        }
        let grid = queues.grid;
        if group.rank == 0 && grid.lane() == 0 {
            queues.broadcast(Word::Iteration, run.iteration);
            queues.broadcast(Word::Parity, run.parity);
            queues.broadcast(Word::Turn, run.turn);
            queues.broadcast(Word::Widest, run.frontier_max);
            let verdict = match verdict {
                Ok(Pass::Done) => GOES_ON,
                Ok(Pass::TooWide) => TOO_WIDE,
                Err(Stop) => STOPPED,
            };
            queues.broadcast(Word::Verdict, verdict);
        }
        grid.cluster_barrier(true);
        run.iteration = queues.word_of(0, Word::Iteration);
        run.parity = queues.word_of(0, Word::Parity);
        run.turn = queues.word_of(0, Word::Turn);
        run.frontier_max = queues.word_of(0, Word::Widest);
        run.spread = 1;
        run.held = queues.held(run.turn, 1);
        if group.rank != 0 && grid.lane() == 0 {
            // The first block has already done that.
            queues.clear(run.turn + 1);
        }
        grid.block_barrier();
        match queues.word_of(0, Word::Verdict) {
            GOES_ON => Ok(Pass::Done),
            TOO_WIDE => Ok(Pass::TooWide),
            _ => Err(Stop),
        }
    }

    /// Runs some iterations in the first block alone.
    #[inline(always)]
    fn iterate<G: Grid>(
        &self,
        queues: Queues<G>,
        team: &Team<G>,
        run: &mut Run,
        limits: &Limits,
        bounds: &Bounds,
    ) -> Result<Pass, Stop> {
        let fits = |run: &Run| run.spread == 1 && fits_warp(run.held.len, limits);
        let stuck = fits(run) && self.run_warp(queues, run, limits);
        let mut pass = Pass::Done;
        // The warp may have used up the last iteration.
        if run.goes_on(limits) && (stuck || !fits(run)) {
            let alone = BlockGroup { blocks: 1, rank: 0 };
            pass = self.pass_wide(queues, run, alone, limits);
        }
        if stuck || run.iteration & LOOK_MASK == 0 {
            self.look(team, bounds, run.iteration)?;
        }
        Ok(pass)
    }
}
