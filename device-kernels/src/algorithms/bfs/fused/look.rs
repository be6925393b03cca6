//! Checks of the clock and the fault word during a fused run.

use super::progress::Bounds;
use super::queue::{Queues, Word};
use crate::algorithms::bfs::current::Search;
use crate::collectives::team::Team;
use crate::machine::Grid;
use crate::tables::control::{ProgramPoint, Stop};
use seawall_core::abi::control::FaultCode;

impl Search {
    /// Ends the run if its time is over or another block reported a fault.
    #[inline(never)]
    pub(crate) fn look<G: Grid>(
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

    /// [`Self::look`] by the first block, for the whole cluster.
    #[inline(never)]
    pub(super) fn look_together<G: Grid>(
        &self,
        queues: Queues<G>,
        team: &Team<G>,
        bounds: &Bounds,
        iteration: u32,
    ) -> Result<(), Stop> {
        let grid = team.grid;
        if team.is_leader() {
            let late = team.is_late() || team.control.is_stopped(grid);
            queues.broadcast(Word::Late, u32::from(late));
        }
        grid.cluster_barrier(true);
        if queues.word_of(0, Word::Late) == 0 {
            return Ok(());
        }
        Err(Self::out_of_time(team, bounds, iteration))
    }

    pub(crate) fn out_of_time<G: Grid>(team: &Team<G>, bounds: &Bounds, iteration: u32) -> Stop {
        let point = ProgramPoint {
            iteration,
            ..bounds.point
        };
        team.control.fault(team.grid, FaultCode::TimeBudget, point)
    }
}
