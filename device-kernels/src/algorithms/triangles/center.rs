//! A node with its neighbour hash table while triangles are counted, and the lanes that count
//! there; the nodes at which a device counts.

use crate::collectives::team::Team;
use crate::machine::Grid;
use crate::operators::deal::NONE;
use crate::tables::Wave;
pub(super) use seawall_core::abi::hubs::ROW_FEW as FEW;

/// Longest row that a lane keeps in registers.
pub(super) const LANE_HELD: u32 = 4;
/// Most lookups that a warp takes on: a share of all edges, and the least limit.
const WARP_WORK: (u32, u32) = (16, 4096);

/// The nodes at which triangles are counted: those of one device of several, or all.
#[derive(Clone, Copy, Debug)]
pub(super) struct Centers {
    first: u32,
    count: u32,
}

impl Centers {
    /// Those of a counting wave on a graph of `nodes` nodes.
    #[inline(always)]
    pub(super) fn of<G: Grid>(grid: G, wave: Wave, nodes: u32) -> Self {
        let [before, after] = [2, 3].map(|at| wave.parameter(grid, at));
        Self {
            first: before,
            count: nodes.saturating_sub(before).saturating_sub(after),
        }
    }

    #[inline(always)]
    pub(super) fn has(self, node: u32) -> bool {
        node.wrapping_sub(self.first) < self.count
    }
}

/// A node with its neighbour hash table.
#[derive(Clone, Copy, Debug)]
pub(super) struct Center {
    pub(super) node: u32,
    /// Its first edge, which is also its first kept edge, and the edge after its last.
    pub(super) first: u32,
    pub(super) end: u32,
    /// Number of the remaining edges.
    pub(super) len: u32,
}

/// Most lookups that a warp takes on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Most {
    /// Entries of the row.
    pub(super) held: u32,
    /// Lookups.
    pub(super) work: u64,
}

impl Most {
    /// Hubs would keep a warp busy after all others have ended, so it leaves nodes with more than a
    /// few shares of all work to the block. A block has one lane.
    #[inline(always)]
    pub(super) fn of<G: Grid>(team: &Team<G>, edges: u32, held: u32) -> Self {
        let (_, warps) = team.warps();
        let share = u64::from(edges / warps.max(1));
        let work = if !G::SIMT {
            u64::MAX
        } else {
            (share * u64::from(WARP_WORK.0)).max(u64::from(WARP_WORK.1))
        };
        Self { held, work }
    }
}

/// Lanes that count at a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Taker {
    Nobody,
    Lane,
    Warp,
    Block,
}

impl Center {
    pub(super) const NONE: Self = Self {
        node: NONE,
        first: 0,
        end: 0,
        len: 0,
    };

    /// Returns the lanes that count here. A row of one entry has no common entry with that
    /// of the node in this entry.
    #[inline(always)]
    pub(super) fn taker(self, most: Most) -> Taker {
        let work = if self.len > FEW {
            u64::from(self.end - self.first) * u64::from(self.len)
        } else {
            0
        };
        if self.len < 2 {
            Taker::Nobody
        } else if self.len <= LANE_HELD {
            Taker::Lane
        } else if self.len <= most.held && work <= most.work {
            Taker::Warp
        } else {
            Taker::Block
        }
    }

    /// The edge after the last one to visit.
    #[inline(always)]
    pub(super) fn looks(self) -> u32 {
        if self.len > FEW {
            self.end
        } else {
            self.first + self.len
        }
    }

    /// The longest row to look up here, of the node that `edge` enters: all are as long as
    /// the row here at most, or few, and each of two nodes is not looked up at the other.
    #[inline(always)]
    pub(super) fn longest(self, edge: u32) -> u32 {
        if edge < self.first + self.len {
            self.len.max(FEW)
        } else {
            self.len - 1
        }
    }

    /// The center in lane `from`.
    #[inline(always)]
    pub(super) fn of_lane<G: Grid>(self, grid: G, from: u32) -> Self {
        Self {
            node: grid.shuffle(self.node, from),
            first: grid.shuffle(self.first, from),
            end: grid.shuffle(self.end, from),
            len: grid.shuffle(self.len, from),
        }
    }
}
