//! Push by tiles of nodes: a lane a node, or the block's lanes over all edges
//! of the tile when one of its nodes has many.

use super::frontier::{Finds, Target, append};
use super::visit::{Discovery, Visit};
use super::Search;
use crate::block::{block_scan, shared};
use crate::grid::Grid;
use crate::memory::Words;
use crate::team::Team;
use seawall_core::abi::search::DriveRecord;

/// Largest degree that a lane walks alone.
pub const SERIAL: u32 = 8;

/// What the pushes of one step share.
#[derive(Clone, Copy, Debug)]
pub struct Push {
    /// Bits of the nodes visited so far.
    pub visited: Words,
    /// Level of what is discovered.
    pub level: u32,
}

/// One node of a tile and its row of edges.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The node.
    pub node: u32,
    /// Its first edge.
    pub start: u32,
    /// The edge behind its last one.
    pub end: u32,
}

impl Row {
    /// A row without edges, for lanes without a node.
    pub const NONE: Self = Self {
        node: 0,
        start: 0,
        end: 0,
    };

    /// Number of edges.
    #[inline(always)]
    #[must_use]
    pub fn degree(self) -> u32 {
        self.end - self.start
    }
}

impl<V: Visit> Search<V> {
    /// Whether this lane is the one that visits `node` first.
    #[inline(always)]
    pub fn claim<G: Grid>(&self, grid: G, push: &Push, node: u32, from: u32) -> bool {
        let bit = 1_u32 << (node & 31);
        if push.visited.load_weak(grid, node >> 5) & bit != 0 {
            return false;
        }
        if push.visited.or(grid, node >> 5, bit) & bit != 0 {
            return false;
        }
        let level = push.level;
        self.visit.discovered(grid, Discovery { node, from, level });
        true
    }

    /// Push by tiles of queue entries.
    #[inline(never)]
    pub fn push_tiles<G: Grid>(&self, team: &Team<G>, drive: &DriveRecord) {
        let grid = team.grid;
        let queue = self.frontier.queue(drive.queue);
        let push = Push {
            visited: self.frontier.bitset(drive.visited),
            level: drive.iteration + 1,
        };
        let target = Target {
            step: drive.step + 1,
            parity: drive.queue ^ 1,
            rows: self.outgoing,
        };
        let tile = tile_of(team, drive.nodes);
        let mut base = team.rank() * tile;
        while base < drive.nodes {
            let end = (base + tile).min(drive.nodes);
            let mut at = base;
            while at < end {
                let row = self.row_at(grid, queue.nodes, at + grid.lane(), end);
                self.expand(grid, &push, row, |finds| {
                    append(grid, self.frontier, target, finds);
                });
                at += grid.lanes();
            }
            base += team.size() * tile;
        }
    }

    /// The row of queue entry `index`, or none behind `end`.
    #[inline(always)]
    pub fn row_at<G: Grid>(&self, grid: G, nodes: Words, index: u32, end: u32) -> Row {
        if index >= end {
            return Row::NONE;
        }
        let node = nodes.load_weak(grid, index);
        let (start, end) = self.outgoing.row(grid, node);
        Row { node, start, end }
    }

    /// Expands one row a lane; `sink` takes every warp's finds. All lanes of
    /// the block take part; contains block barriers.
    #[inline(always)]
    pub fn expand<G: Grid>(&self, grid: G, push: &Push, row: Row, sink: impl Fn(&Finds<8>)) {
        if G::WARP == 1 {
            self.expand_alone(grid, push, row, sink);
        } else if grid.block_any(row.degree() > SERIAL) {
            self.expand_together(grid, push, row, sink);
        } else {
            self.expand_serially(grid, push, row, sink);
        }
    }

    /// One lane without neighbours walks its edges, eight at a time.
    #[inline(always)]
    pub fn expand_alone<G: Grid>(&self, grid: G, push: &Push, row: Row, sink: impl Fn(&Finds<8>)) {
        let mut edge = row.start;
        while edge < row.end {
            let mut finds = Finds {
                nodes: [0; 8],
                mask: 0,
            };
            let count = (row.end - edge).min(8);
            for k in 0..count {
                let node = self.outgoing.target(grid, edge + k);
                finds.nodes[k as usize & 7] = node;
                finds.mask |= u32::from(self.claim(grid, push, node, row.node)) << k;
            }
            sink(&finds);
            edge += count;
        }
    }

    /// Visits at most eight edges of one row; loads come before tests, so that
    /// they overlap.
    #[inline(always)]
    pub fn visit_row<G: Grid>(&self, grid: G, push: &Push, row: Row) -> Finds<8> {
        let degree = row.degree();
        let mut nodes = [0_u32; 8];
        for (k, node) in nodes.iter_mut().enumerate() {
            if (k as u32) < degree {
                *node = self.outgoing.target(grid, row.start + k as u32);
            }
        }
        let mut open = 0_u32;
        for (k, node) in nodes.iter().enumerate() {
            if (k as u32) < degree {
                let bit = push.visited.load_weak(grid, *node >> 5) >> (*node & 31) & 1;
                open |= (bit ^ 1) << k;
            }
        }
        let mut before = [u32::MAX; 8];
        for (k, node) in nodes.iter().enumerate() {
            if open >> k & 1 != 0 {
                before[k] = push.visited.or(grid, *node >> 5, 1 << (*node & 31));
            }
        }
        let mut mask = 0_u32;
        for (k, node) in nodes.iter().enumerate() {
            if before[k] >> (*node & 31) & 1 == 0 {
                mask |= 1 << k;
                let (node, from, level) = (*node, row.node, push.level);
                self.visit.discovered(grid, Discovery { node, from, level });
            }
        }
        Finds { nodes, mask }
    }

    /// Every lane walks its few edges; a warp without any returns at once.
    #[inline(always)]
    pub fn expand_serially<G: Grid>(
        &self,
        grid: G,
        push: &Push,
        row: Row,
        sink: impl Fn(&Finds<8>),
    ) {
        if grid.ballot(row.degree() != 0) != 0 {
            sink(&self.visit_row(grid, push, row));
        }
    }

    /// The block shares out all edges of its rows evenly.
    #[inline(always)]
    pub fn expand_together<G: Grid>(&self, grid: G, push: &Push, row: Row, sink: impl Fn(&Finds<8>)) {
        let (start, total) = block_scan(grid, row.degree());
        let lane = grid.lane();
        // SAFETY: a block has at most 1024 lanes, a tile 3 · 1024 words here.
        unsafe {
            grid.shared_store(ROWS + lane, start);
            grid.shared_store(ROWS + 1024 + lane, row.start.wrapping_sub(start));
            grid.shared_store(ROWS + 2048 + lane, row.node);
        }
        grid.block_barrier();
        let mut base = 0;
        while base < total {
            let edge = base + lane;
            let mut finds = Finds {
                nodes: [0; 8],
                mask: 0,
            };
            if edge < total {
                let at = owner(grid, ROWS, grid.lanes(), edge);
                // SAFETY: `at` is below the number of lanes.
                let (shift, from) = unsafe {
                    (
                        grid.shared_load(ROWS + 1024 + at),
                        grid.shared_load(ROWS + 2048 + at),
                    )
                };
                let node = self.outgoing.target(grid, edge.wrapping_add(shift));
                finds.nodes[0] = node;
                finds.mask = u32::from(self.claim(grid, push, node, from));
            }
            sink(&finds);
            base += grid.lanes();
        }
        grid.block_barrier();
    }
}

/// Nodes of a block's tile: a full block's worth, or an even share in whole
/// warps where the frontier is small, so that all blocks take part.
#[inline(always)]
fn tile_of<G: Grid>(team: &Team<G>, nodes: u32) -> u32 {
    if G::WARP == 1 {
        return G::ITEMS;
    }
    let share = nodes.div_ceil(team.size()).next_multiple_of(G::WARP);
    share.min(team.grid.lanes())
}

/// First of the words that a block's rows need; they lie behind the queues of
/// a narrow search.
const ROWS: u32 = shared::ROWS;

/// The last of `count` ascending shared words from `first` on that is not
/// above `value`; the first word must not be above it.
#[inline(always)]
pub fn owner<G: Grid>(grid: G, first: u32, count: u32, value: u32) -> u32 {
    let (mut low, mut span) = (0, count);
    while span > 1 {
        let half = span / 2;
        // SAFETY: `low + half` stays below `count`, whose words exist.
        let word = unsafe { grid.shared_load(first + low + half) };
        if word <= value {
            low += half;
            span -= half;
        } else {
            span = half;
        }
    }
    low
}
