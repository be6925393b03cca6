//! The blocks of a team, and this lane's place among them.

use crate::machine::Grid;
use crate::machine::shared::{BARRIERS_TRACED, EPOCH, PIECES, STOPPED};
use crate::tables::control::Control;

/// Blocks that share work and barriers.
#[derive(Clone, Copy, Debug)]
pub struct Team<G> {
    /// This lane's view of the machine.
    pub grid: G,
    /// The run's control block.
    pub control: Control,
    pub(super) rank: u32,
    pub(super) size: u32,
    pub(super) deadline_ns: u64,
}

impl<G: Grid> Team<G> {
    /// The team of all blocks of the grid. They stop themselves at `deadline_ns` by the
    /// grid's clock.
    #[inline(always)]
    pub fn whole(grid: G, control: Control, deadline_ns: u64) -> Self {
        if grid.lane() == 0 {
            EPOCH.store(grid, 0);
            BARRIERS_TRACED.store_wide(grid, 0);
            STOPPED.store(grid, 0);
            if G::TAKES {
                PIECES.store(grid, 0);
            }
        }
        Self::again(grid, control, deadline_ns)
    }

    /// Rebuilds the team of [`Team::whole`] in a callee.
    #[inline(always)]
    pub fn again(grid: G, control: Control, deadline_ns: u64) -> Self {
        Self {
            grid,
            control,
            rank: grid.block(),
            size: grid.blocks(),
            deadline_ns,
        }
    }

    /// The team of this block alone.
    #[inline(always)]
    #[must_use]
    pub fn alone(self) -> Self {
        Self {
            rank: 0,
            size: 1,
            ..self
        }
    }

    /// Whether the team has one block; [`Team::alone`] made it, or the grid has one
    /// block.
    #[inline(always)]
    pub fn is_alone(&self) -> bool {
        self.size == 1
    }

    /// Time at which blocks stop themselves, by the grid's clock.
    #[inline(always)]
    pub fn deadline_ns(&self) -> u64 {
        self.deadline_ns
    }

    /// Whether this block is the team's first.
    #[inline(always)]
    pub fn is_first(&self) -> bool {
        self.rank == 0
    }

    /// Whether this lane is the leader: the first lane of the team's first block, which
    /// keeps the team's counters.
    #[inline(always)]
    pub fn is_leader(&self) -> bool {
        self.rank == 0 && self.grid.lane() == 0
    }

    /// Whether this lane is the first of the team's last block. That block has the least
    /// to do in a small round, so it has time for the round's counters.
    #[inline(always)]
    pub fn is_counter(&self) -> bool {
        self.rank + 1 == self.size && self.grid.lane() == 0
    }

    /// Blocks of the team.
    #[inline(always)]
    pub fn size(&self) -> u32 {
        self.size
    }

    /// Number of this block in the team.
    #[inline(always)]
    pub fn rank(&self) -> u32 {
        self.rank
    }

    /// Grid barriers that the grid crossed; counted by the first lane of each block, and only it
    /// may call this.
    #[inline(always)]
    pub fn barriers(&self) -> u32 {
        EPOCH.load(self.grid)
    }

    /// Number of this lane's warp in the team, and warps of the team.
    #[inline(always)]
    pub fn warps(&self) -> (u32, u32) {
        let warps = self.grid.lanes() / G::WARP;
        (
            self.rank * warps + self.grid.lane() / G::WARP,
            self.size * warps,
        )
    }
}
