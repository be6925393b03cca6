//! The blocks that run a fused search together.

use crate::collectives::team::Team;
use crate::machine::Grid;

/// The blocks that search together, and the number of this one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockGroup {
    /// A power of two.
    pub(crate) blocks: u32,
    pub(crate) rank: u32,
}

/// Number of the first blocks of `team` that search narrow frontiers together.
#[inline(always)]
pub fn group_size<G: Grid>(team: &Team<G>) -> u32 {
    let cluster = team.grid.cluster();
    if team.size() < cluster { 1 } else { cluster }
}

/// Frontier that one CPU thread searches while others wait, as a multiple of a frontier that is
/// narrow for a block: below it, the others would cost more than they save.
const LEAD: u32 = 6;

/// Width of a frontier that is narrow for `team`, as a multiple of one that is narrow for
/// a block.
#[inline(always)]
pub fn reach<G: Grid>(team: &Team<G>) -> u32 {
    if G::SIMT {
        group_size(team)
    } else if team.is_alone() {
        u32::MAX
    } else {
        LEAD
    }
}

impl BlockGroup {
    /// The range of this block's even share of `count` items.
    #[inline(always)]
    pub(crate) fn share(self, count: u32) -> (u32, u32) {
        // The number of blocks is a power of two.
        let each = (count + self.blocks - 1) >> self.blocks.trailing_zeros();
        let first = (self.rank * each).min(count);
        (first, (first + each).min(count))
    }

    /// Waits for all lanes of the thread group; see [`Grid::cluster_barrier`].
    #[inline(always)]
    pub(crate) fn barrier<G: Grid>(self, grid: G, wrote: bool) {
        if self.blocks == 1 {
            grid.block_barrier();
        } else {
            grid.cluster_barrier(wrote);
        }
    }
}
