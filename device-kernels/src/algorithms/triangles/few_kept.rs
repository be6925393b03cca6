//! Triangles at a node that keeps few edges, by a warp.
//!
//! Only its kept edges are visited, and the rows looked up are short as well ([`FEW`]): eight lanes
//! read one, four entries each, and the warp eight rows at a time. A [`Sieve`] rejects nearly all
//! lookups. The warp compares the entries that it accepts with those of the node, one per lane.

use super::Count;
use super::center::{Center, FEW, Most, Taker};
use super::neighbour_tables::LaneGroup;
use super::sieve::Sieve;
use crate::collectives::team::Team;
use crate::machine::Grid;
use crate::operators::deal::{NONE, each_part, is_late};

/// Lanes that read a row.
const PART: u32 = 8;
/// Entries of a row that a lane reads.
const EACH: u32 = FEW / PART;
/// Entries that a lane looks up together: those of two rows.
const TOGETHER: usize = 2 * EACH as usize;

impl<const CORNERS: bool> Count<CORNERS> {
    /// Counts at the nodes with few kept edges that warps take, in parts of `size` nodes; returns
    /// whether the run's time is over. A block operation: each warp's memory is empty before and
    /// after.
    #[inline(never)]
    pub(super) fn by_few<G: Grid>(
        &self,
        team: &Team<G>,
        nodes: u32,
        size: u32,
        group: &LaneGroup,
        most: Most,
    ) -> bool {
        // Codegen rule `BY_VALUE`.
        let (count, grid, sieve) = (*self, team.grid, group.sieve());
        let mut late = false;
        each_part(team, nodes, size, |node| {
            late = late || is_late(team, node);
            let center = if !late && node < nodes {
                count.center(grid, node)
            } else {
                Center::NONE
            };
            let mut wanted = grid.ballot(center.len <= FEW && center.taker(most) == Taker::Warp);
            while wanted != 0 {
                let lane = wanted.trailing_zeros();
                wanted &= wanted - 1;
                count.few(grid, sieve, center.of_lane(grid, lane));
            }
        });
        late
    }

    /// Counts at `center`, which keeps at most [`FEW`] edges. A warp operation; `sieve` is
    /// empty before and after.
    #[inline(always)]
    fn few<G: Grid>(&self, grid: G, sieve: Sieve, center: Center) {
        let count = self;
        let lane = grid.warp_lane();
        let (mut node, mut row) = (NONE, (center.first, 0));
        if lane < center.len {
            node = count.forward.target(grid, center.first + lane);
            row = count.row_up_to(grid, node, FEW);
        }
        // Hubs have no rows here, and all of a node's entries may be hubs.
        if grid.ballot(row.1 != 0) == 0 {
            return;
        }
        if node != NONE {
            sieve.put(grid, node);
        }
        grid.warp_barrier();
        let (mut found, mut own, mut first) = (0, 0, 0);
        while first < center.len {
            let (entries, existing) = count.entries(grid, row, first);
            let mut open = sieve.accepted(grid, &entries) & existing;
            loop {
                let lanes = grid.ballot(open != 0);
                if lanes == 0 {
                    break;
                }
                let from = lanes.trailing_zeros();
                let k = grid.shuffle(open.trailing_zeros(), from);
                let entry = grid.shuffle(entry_of(&entries, k), from);
                let equal = grid.ballot(node == entry);
                if equal != 0 {
                    own += 1;
                    if CORNERS {
                        // The two other corners are entries of this row.
                        let middle = row_of::<G>(first, from, k / EACH);
                        found += u32::from(lane == equal.trailing_zeros());
                        found += u32::from(lane == middle);
                    }
                }
                if lane == from {
                    open &= open - 1;
                }
            }
            first += 2 * (G::WARP / PART);
        }
        count.add(grid, node, found);
        if lane == 0 {
            count.add_found(grid, center.node, own);
        }
        grid.warp_barrier();
        if node != NONE {
            sieve.clear(grid, node);
        }
        grid.warp_barrier();
    }

    /// This lane's entries of the rows from that of lane `first` on, and a bit for each
    /// that exists.
    #[inline(always)]
    fn entries<G: Grid>(&self, grid: G, row: (u32, u32), first: u32) -> ([u32; TOGETHER], u32) {
        let rows = [0, 1].map(|half| {
            let from = row_of::<G>(first, grid.warp_lane(), half);
            (grid.shuffle(row.0, from), grid.shuffle(row.1, from))
        });
        // Codegen rule `LOADS_TOGETHER`: a missing entry is the last one of its row again,
        // and that of an empty row an edge of its node. If all were one edge, warps of
        // the whole grid would queue for it.
        let lasts = rows.map(|(_, len)| len.saturating_sub(1));
        let part = grid.warp_lane() % PART;
        let entries = core::array::from_fn(|k| {
            let (half, at) = (k / EACH as usize, part + k as u32 % EACH * PART);
            self.forward
                .target(grid, rows[half].0 + at.min(lasts[half]))
        });
        // Lane `part` reads entry `part` of a row and every eighth one from there on.
        let [low, high] = rows.map(|(_, len)| {
            let count = (len + PART - 1).saturating_sub(part) / PART;
            (1 << count) - 1
        });
        (entries, low | high << EACH)
    }
}

/// The row that lane `lane` reads in a half of the step from row `first` on.
#[inline(always)]
fn row_of<G: Grid>(first: u32, lane: u32, half: u32) -> u32 {
    first + half * (G::WARP / PART) + lane / PART
}

/// Entry `k`, without an array in memory: codegen rule `NO_INDEXED_ARRAYS`.
#[inline(always)]
fn entry_of(entries: &[u32; TOGETHER], k: u32) -> u32 {
    let mut found = NONE;
    for (at, entry) in (0..).zip(entries) {
        if at == k {
            found = *entry;
        }
    }
    found
}
