//! One direction of every edge: towards the node with more edges.
//!
//! Of the two directions of an edge, the one to the node of higher degree remains, or to
//! the higher number if degrees are equal. That order has no cycle, and no node keeps
//! more edges than about the square root of twice their number, so hubs have short rows.
//! Rows stay in place: the kept edges of a row move to its front, in order.

use super::deal::{each_chunk, each_left};
use crate::block::block_scan;
use crate::context::Context;
use crate::grid::Grid;
use crate::memory::{Csr, Proven};

/// Longest row that a lane reads alone.
const SERIAL: u32 = 16;
/// Longest row that a warp reads alone.
const WARP_ROW: u32 = 2048;

/// The kept edges of a graph, row by row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Forward {
    /// Rows of the graph.
    pub(super) rows: Csr,
    /// The kept edges of each row, at its start; one word per edge.
    pub(super) targets: Proven,
    /// Number of kept edges of each row.
    pub(super) degrees: Proven,
}

impl Forward {
    /// First kept edge of `node`, and their number.
    #[inline(always)]
    pub(super) fn row<G: Grid>(&self, grid: G, node: u32) -> (u32, u32) {
        let (start, _) = self.rows.row(grid, node);
        (start, self.degrees.load_weak(grid, node))
    }

    /// Target of `edge`.
    #[inline(always)]
    pub(super) fn target<G: Grid>(&self, grid: G, edge: u32) -> u32 {
        self.targets.load_weak(grid, edge)
    }

    /// Fills this team's share of the rows.
    #[inline(never)]
    pub(super) fn fill<G: Grid>(&self, context: &Context<G>) {
        let (team, grid) = (&context.team, context.team.grid);
        let nodes = context.tables.nodes(grid);
        // Codegen rule `BY_VALUE`.
        let forward = *self;
        each_chunk(team, nodes, |node| {
            let row = if node < nodes {
                Row::of(grid, forward.rows, node)
            } else {
                Row::NONE
            };
            forward.fill_chunk(grid, row);
        });
        let is_left = |node| {
            let (start, end) = forward.rows.row(grid, node);
            end - start > WARP_ROW
        };
        each_left(team, nodes, is_left, |node| {
            forward.fill_together(grid, Row::of(grid, forward.rows, node));
        });
    }

    /// Fills one row per lane; the warp fills longer ones together, one after another.
    #[inline(always)]
    fn fill_chunk<G: Grid>(&self, grid: G, row: Row) {
        if row != Row::NONE && row.degree() <= SERIAL {
            self.fill_alone(grid, row);
        }
        let mut long = grid.ballot(row.degree() > SERIAL && row.degree() <= WARP_ROW);
        while long != 0 {
            let lane = long.trailing_zeros();
            long &= long - 1;
            self.fill_by_warp(
                grid,
                Row {
                    node: grid.shuffle(row.node, lane),
                    start: grid.shuffle(row.start, lane),
                    end: grid.shuffle(row.end, lane),
                },
            );
        }
    }

    #[inline(always)]
    fn fill_alone<G: Grid>(&self, grid: G, row: Row) {
        let mut kept = 0;
        for edge in row.start..row.end {
            let to = self.rows.target(grid, edge);
            if row.keeps(grid, self.rows, to) {
                self.targets.store_weak(grid, row.start + kept, to);
                kept += 1;
            }
        }
        self.degrees.store_weak(grid, row.node, kept);
    }

    #[inline(always)]
    fn fill_by_warp<G: Grid>(&self, grid: G, row: Row) {
        let (mut kept, mut base) = (0, 0);
        while base < row.degree() {
            let at = base + grid.warp_lane();
            let (to, keeps) = self.look(grid, row, at);
            let lanes = grid.ballot(keeps);
            if keeps {
                let below = lanes & grid.lanes_below();
                let place = row.start + kept + below.count_ones();
                self.targets.store_weak(grid, place, to);
            }
            kept += lanes.count_ones();
            base += G::WARP;
        }
        if grid.warp_lane() == 0 {
            self.degrees.store_weak(grid, row.node, kept);
        }
    }

    #[inline(always)]
    fn fill_together<G: Grid>(&self, grid: G, row: Row) {
        let (mut kept, mut base) = (0, 0);
        while base < row.degree() {
            let at = base.saturating_add(grid.lane());
            let (to, keeps) = self.look(grid, row, at);
            let (below, total) = block_scan(grid, u32::from(keeps));
            if keeps {
                let place = row.start + kept + below;
                self.targets.store_weak(grid, place, to);
            }
            kept += total;
            base = base.saturating_add(grid.lanes());
        }
        if grid.lane() == 0 {
            self.degrees.store_weak(grid, row.node, kept);
        }
    }

    /// Target number `at` of a row, and whether it is kept.
    #[inline(always)]
    fn look<G: Grid>(&self, grid: G, row: Row, at: u32) -> (u32, bool) {
        if at >= row.degree() {
            return (0, false);
        }
        let to = self.rows.target(grid, row.start + at);
        (to, row.keeps(grid, self.rows, to))
    }
}

/// A row of the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Row {
    node: u32,
    start: u32,
    end: u32,
}

impl Row {
    /// No row.
    const NONE: Self = Self {
        node: u32::MAX,
        start: 0,
        end: 0,
    };

    #[inline(always)]
    fn of<G: Grid>(grid: G, rows: Csr, node: u32) -> Self {
        let (start, end) = rows.row(grid, node);
        Self { node, start, end }
    }

    #[inline(always)]
    fn degree(self) -> u32 {
        self.end - self.start
    }

    /// Whether the edge to `to` is kept.
    #[inline(always)]
    fn keeps<G: Grid>(self, grid: G, rows: Csr, to: u32) -> bool {
        let (start, end) = rows.row(grid, to);
        (end - start, to) > (self.degree(), self.node)
    }
}
