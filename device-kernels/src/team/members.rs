//! Who is in a team, and which of its lanes this is.

use crate::block::shared::{EPOCH, PIECES, STOPPED};
use crate::control::Control;
use crate::grid::Grid;

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
    /// All blocks of the grid; they stop themselves at `deadline_ns` of the
    /// grid's clock.
    #[inline(always)]
    pub fn whole(grid: G, control: Control, deadline_ns: u64) -> Self {
        if grid.lane() == 0 {
            // SAFETY: fixed words of shared memory.
            unsafe {
                grid.shared_store(EPOCH, 0);
                grid.shared_store(STOPPED, 0);
                if G::TAKES {
                    grid.shared_store(PIECES, 0);
                }
            }
        }
        Self::again(grid, control, deadline_ns)
    }

    /// The team that [`Team::whole`] made, in a call.
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

    /// This block alone.
    #[inline(always)]
    #[must_use]
    pub fn alone(self) -> Self {
        Self {
            rank: 0,
            size: 1,
            ..self
        }
    }

    /// Whether [`Team::alone`] made this team. A grid of one block is no other team.
    #[inline(always)]
    pub fn is_alone(&self) -> bool {
        self.size == 1
    }

    /// When blocks stop themselves, by the grid's clock.
    #[inline(always)]
    pub fn deadline_ns(&self) -> u64 {
        self.deadline_ns
    }

    /// Whether this block is the team's first, which keeps its books.
    #[inline(always)]
    pub fn is_first(&self) -> bool {
        self.rank == 0
    }

    /// Whether this lane is the team's first.
    #[inline(always)]
    pub fn is_leader(&self) -> bool {
        self.rank == 0 && self.grid.lane() == 0
    }

    /// Whether this lane is the first of the team's last block, which has the
    /// least to do in a small round and so the time for its books.
    #[inline(always)]
    pub fn is_bookkeeper(&self) -> bool {
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

    /// Grid barriers that the grid crossed: for the first lane of a block, which
    /// counts them.
    #[inline(always)]
    pub fn barriers(&self) -> u32 {
        // SAFETY: a fixed word of shared memory.
        unsafe { self.grid.shared_load(EPOCH) }
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
