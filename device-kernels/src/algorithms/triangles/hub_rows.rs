//! One direction of every edge, by the keys of nodes, and bits for edges between hubs.
//!
//! Hubs come after all other nodes, so their kept edges enter hubs. Rows of hubs are not looked up:
//! they need no order, and any number of warps may keep edges of the same row.

use super::hubs::Hubs;
use super::orient::{Forward, Row};
use crate::collectives::context::Context;
use crate::collectives::team::Team;
use crate::machine::Grid;
use crate::machine::shared::LEFT_COUNT;
use crate::operators::deal::each_part;
use seawall_core::abi::hubs::HUB;

/// Longest row of a hub that a warp reads.
const WARP_ROW: u32 = 4096;
/// Edges of a hub that a lane reads together.
const EACH: usize = 4;
/// Nodes that a warp takes at a time.
const PART: u32 = 8;

/// The part of a hub's row that one warp fills: every `warps`th step, from step `warp` on.
#[derive(Clone, Copy, Debug)]
struct WarpShare {
    /// Number of the warp.
    warp: u32,
    /// Warps that fill the row.
    warps: u32,
}

impl Forward {
    /// Fills this team's share of the rows, and of the bits of `hubs`: in both directions if
    /// `both`.
    #[inline(never)]
    pub(super) fn fill_by_hubs<G: Grid>(&self, context: &Context<G>, hubs: Hubs, both: bool) {
        let (team, grid) = (&context.team, context.team.grid);
        let nodes = context.tables.nodes(grid);
        // Codegen rule `BY_VALUE`.
        let forward = *self;
        let key_of = |node| hubs.key(grid, node);
        // Warps of this block may still read shared memory for an earlier wave.
        grid.block_barrier();
        each_part(team, nodes, PART, |node| {
            let mut row = Row::NONE;
            if node < nodes {
                if key_of(node) < HUB {
                    row = Row::of(grid, forward.rows, node);
                } else {
                    forward.degrees.store_weak(grid, node, 0);
                }
            }
            forward.fill_chunk(grid, row, key_of);
        });
        let is_hub = |node| key_of(node) >= HUB;
        // Parts are not the shares of `each_left`, so any block may have long rows.
        forward.fill_long(team, nodes, u32::MAX, key_of, is_hub);
        forward.fill_hubs(team, hubs, both);
    }

    /// Fills the rows of this team's share of the hubs, the longest ones by whole blocks.
    #[inline(never)]
    fn fill_hubs<G: Grid>(&self, team: &Team<G>, hubs: Hubs, both: bool) {
        let grid = team.grid;
        // Codegen rule `BY_VALUE`.
        let (forward, count) = (*self, hubs.count(grid));
        let row_of = |rank| Row::of(grid, forward.rows, hubs.node(grid, rank));
        let warps = grid.lanes() / G::WARP;
        let warp = grid.lane() / G::WARP;
        let share = WarpShare { warp, warps };
        // A thread takes rows of any length alone.
        let longest = if G::SIMT { WARP_ROW } else { u32::MAX };
        let mut rank = team.rank();
        while rank < count {
            let row = row_of(rank);
            // Ranks descend by edges.
            if row.degree() <= longest {
                break;
            }
            forward.fill_hub_together(grid, hubs, both, rank, row, share);
            rank += team.size();
        }
        let mut rank = warp * team.size() + team.rank();
        while rank < count {
            let row = row_of(rank);
            if row.degree() <= longest {
                let (mut kept, mut dropped) = (0, 0);
                let all = WarpShare { warp: 0, warps: 1 };
                forward.fill_hub(grid, hubs, both, rank, row, all, |keeps, drops| {
                    let before = (kept, dropped);
                    kept += keeps;
                    dropped += drops;
                    before
                });
                if grid.warp_lane() == 0 {
                    hubs.set_len(grid, rank, kept);
                }
            }
            rank += team.size() * warps;
        }
    }

    /// Fills the row of a hub with all warps of the block.
    #[inline(always)]
    fn fill_hub_together<G: Grid>(
        &self,
        grid: G,
        hubs: Hubs,
        both: bool,
        rank: u32,
        row: Row,
        share: WarpShare,
    ) {
        if grid.lane() < 2 {
            // SAFETY: the area has four words.
            unsafe { LEFT_COUNT.store(grid, grid.lane(), 0) };
        }
        grid.block_barrier();
        self.fill_hub(grid, hubs, both, rank, row, share, |keeps, drops| {
            let (mut before, mut count) = (0, keeps);
            if grid.warp_lane() == 1 {
                count = drops;
            }
            if grid.warp_lane() < 2 {
                // SAFETY: as above.
                before = unsafe { LEFT_COUNT.add(grid, grid.warp_lane(), count) };
            }
            (grid.shuffle(before, 0), grid.shuffle(before, 1))
        });
        grid.block_barrier();
        if grid.lane() == 0 {
            // SAFETY: as above.
            let kept = unsafe { LEFT_COUNT.load(grid, 0) };
            hubs.set_len(grid, rank, kept);
        }
        grid.block_barrier();
    }

    /// Keeps the edges to earlier hubs in a share of the row of a hub, and drops the others. The
    /// warp asks `claim` for as many places, counted from the row's start and from its end. A warp
    /// operation.
    #[inline(always)]
    fn fill_hub<G: Grid>(
        &self,
        grid: G,
        hubs: Hubs,
        both: bool,
        rank: u32,
        row: Row,
        share: WarpShare,
        mut claim: impl FnMut(u32, u32) -> (u32, u32),
    ) {
        let WarpShare { warp, warps } = share;
        let own = hubs.key_of(rank);
        let step = EACH as u32 * G::WARP;
        let mut at = row.start.saturating_add(warp * step);
        while at < row.end {
            let left = row.end - at;
            // Codegen rule `LOADS_TOGETHER`: a missing edge is the row's first one.
            let numbers: [u32; EACH] =
                core::array::from_fn(|k| k as u32 * G::WARP + grid.warp_lane());
            let targets = numbers.map(|number| {
                let edge = if number < left {
                    at + number
                } else {
                    row.start
                };
                self.rows.target(grid, edge)
            });
            let found = targets.map(|to| hubs.key(grid, to));
            let kept = found.map(|key| key > own);
            let lanes: [u32; EACH] =
                core::array::from_fn(|k| grid.ballot(numbers[k] < left && kept[k]));
            let keeps = lanes.iter().map(|lanes| lanes.count_ones()).sum();
            let (mut first, dropped) = claim(keeps, left.min(step) - keeps);
            let mut last = row.end - 1 - dropped;
            for k in 0..EACH {
                let below = (lanes[k] & grid.lanes_below()).count_ones();
                if numbers[k] < left {
                    let place = if kept[k] {
                        row.start + first + below
                    } else {
                        last - (grid.warp_lane() - below)
                    };
                    self.targets.store_weak(grid, place, targets[k]);
                    if kept[k] {
                        let other = hubs.rank_of(found[k]);
                        hubs.set_bit(grid, rank, other);
                        if both {
                            hubs.set_bit(grid, other, rank);
                        }
                    }
                }
                let here = lanes[k].count_ones();
                first += here;
                last = last.wrapping_sub(G::WARP - here);
            }
            at = at.saturating_add(warps * step);
        }
    }
}
