//! One direction of every edge: towards the node with more edges.
//!
//! Of the two directions of an edge, the one to the node of higher degree remains, or to
//! the higher number if degrees are equal. That order has no cycle, and no node keeps
//! more edges than about the square root of twice their number, so hubs have short rows.
//! Rows stay in place: the kept edges of a row move to its front, in order, the others to
//! its back.

use crate::collectives::block::block_scan;
use crate::collectives::context::Context;
use crate::collectives::team::Team;
use crate::machine::Grid;
use crate::machine::memory::{Csr, Proven};
use crate::operators::advance::row_spread::{RowSpread, Spot, lanes_before};
use crate::operators::deal::{any_left, each_chunk, each_left};
use crate::tables::Tables;
use seawall_core::abi::control::FaultCode;

/// Longest row that a warp reads.
const WARP_ROW: u32 = 2048;
/// Edges that a lane reads together.
const EACH: usize = 4;

/// The kept edges of a graph, row by row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Forward {
    /// Rows of the graph.
    pub(super) rows: Csr,
    /// The edges of each row, kept ones first; one word per edge.
    pub(super) targets: Proven,
    /// Number of kept edges of each row.
    pub(super) degrees: Proven,
}

impl Forward {
    /// The kept edges in two registers: targets and degrees.
    ///
    /// # Errors
    /// [`FaultCode::BadRegister`] if one is missing or too short.
    #[inline(always)]
    pub(super) fn of<G: Grid>(
        tables: Tables,
        grid: G,
        targets: u32,
        degrees: u32,
    ) -> Result<Self, FaultCode> {
        let (nodes, edges) = (tables.nodes(grid), tables.edges(grid));
        Ok(Self {
            rows: tables.outgoing(grid),
            // SAFETY: the kept edges of a row lie in the row's place and are nodes, as the host
            // proved (`Invariant::Rows` and `Invariant::Lengths`).
            targets: unsafe { tables.proven_of(grid, targets, edges)? },
            // SAFETY: indices are nodes of the graph.
            degrees: unsafe { tables.proven_of(grid, degrees, nodes)? },
        })
    }

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
        let key_of = |node| Row::of(grid, forward.rows, node).degree();
        let mut longest = 0;
        each_chunk(team, nodes, |node| {
            let row = if node < nodes {
                Row::of(grid, forward.rows, node)
            } else {
                Row::NONE
            };
            longest = longest.max(row.degree());
            forward.fill_chunk(grid, row, key_of);
        });
        forward.fill_long(team, nodes, longest, key_of, |_| false);
    }

    /// Fills the rows that are too long for a warp and not excluded by `is_left_out`, unless
    /// `longest`, the longest one of this lane, shows that the block has none. A block operation.
    #[inline(always)]
    pub(super) fn fill_long<G: Grid>(
        &self,
        team: &Team<G>,
        nodes: u32,
        longest: u32,
        key_of: impl Fn(u32) -> u32 + Copy,
        is_left_out: impl Fn(u32) -> bool,
    ) {
        let grid = team.grid;
        if !any_left(grid, longest > WARP_ROW) {
            return;
        }
        let is_left =
            |node| Row::of(grid, self.rows, node).degree() > WARP_ROW && !is_left_out(node);
        each_left(team, nodes, is_left, |node| {
            self.fill_together(grid, Row::of(grid, self.rows, node), key_of);
        });
    }

    /// Fills one row per lane, except the longest. Lanes of a warp take even shares of their edges.
    /// Edges are kept towards the higher key, then the higher number; the key of these rows' nodes
    /// is their number of edges.
    #[inline(always)]
    pub(super) fn fill_chunk<G: Grid>(&self, grid: G, row: Row, key_of: impl Fn(u32) -> u32) {
        if !G::SIMT {
            if row != Row::NONE && row.degree() <= WARP_ROW {
                self.fill_alone(grid, row, key_of);
            }
            return;
        }
        let degree = if row.degree() <= WARP_ROW {
            row.degree()
        } else {
            0
        };
        let row_spread = RowSpread::of(grid, degree);
        let (mut kept, mut step) = (0, 0);
        while step < row_spread.total {
            // Codegen rule `LOADS_TOGETHER`.
            let edges: [Spot; EACH] =
                core::array::from_fn(|k| row_spread.spot(grid, step, k as u32));
            let rows = edges.map(|edge| Row {
                node: grid.shuffle(row.node, edge.lane),
                start: grid.shuffle(row.start, edge.lane),
                end: grid.shuffle(row.end, edge.lane),
            });
            // A missing edge is the first one of all.
            let edge = |k: usize| {
                if edges[k].exists {
                    rows[k].start + edges[k].at
                } else {
                    0
                }
            };
            let targets: [u32; EACH] = core::array::from_fn(|k| self.rows.target(grid, edge(k)));
            let keys = targets.map(&key_of);
            let looks: [(u32, bool); EACH] = core::array::from_fn(|k| {
                let keeps = rows[k].is_before((keys[k], targets[k]));
                (targets[k], edges[k].exists && keeps)
            });
            for k in 0..EACH {
                let (to, keeps) = looks[k];
                let window = step + k as u32 * G::WARP;
                let lanes = grid.ballot(keeps);
                let first = grid.shuffle(row_spread.start, edges[k].lane);
                let before = grid.shuffle(kept, edges[k].lane);
                if edges[k].exists {
                    let below = lanes & grid.lanes_below() & !lanes_before::<G>(first, window);
                    let place = rows[k].place(edges[k].at, before + below.count_ones(), keeps);
                    self.targets.store_weak(grid, place, to);
                }
                let end = row_spread.start + degree;
                let own =
                    lanes_before::<G>(end, window) & !lanes_before::<G>(row_spread.start, window);
                kept += (lanes & own).count_ones();
            }
            step += EACH as u32 * G::WARP;
        }
        if row != Row::NONE && row.degree() <= WARP_ROW {
            self.degrees.store_weak(grid, row.node, kept);
        }
    }

    #[inline(always)]
    fn fill_alone<G: Grid>(&self, grid: G, row: Row, key_of: impl Fn(u32) -> u32) {
        let mut kept = 0;
        for edge in row.start..row.end {
            let to = self.rows.target(grid, edge);
            let keeps = row.is_before((key_of(to), to));
            let place = row.place(edge - row.start, kept, keeps);
            self.targets.store_weak(grid, place, to);
            kept += u32::from(keeps);
        }
        self.degrees.store_weak(grid, row.node, kept);
    }

    #[inline(always)]
    fn fill_together<G: Grid>(&self, grid: G, row: Row, key_of: impl Fn(u32) -> u32) {
        let (mut kept, mut base) = (0, 0);
        while base < row.degree() {
            let at = base.saturating_add(grid.lane());
            let (mut to, mut keeps) = (0, false);
            if at < row.degree() {
                to = self.rows.target(grid, row.start + at);
                keeps = row.is_before((key_of(to), to));
            }
            let (below, total) = block_scan(grid, u32::from(keeps));
            if at < row.degree() {
                let place = row.place(at, kept + below, keeps);
                self.targets.store_weak(grid, place, to);
            }
            kept += total;
            base = base.saturating_add(grid.lanes());
        }
        if grid.lane() == 0 {
            self.degrees.store_weak(grid, row.node, kept);
        }
    }
}

/// A row of the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Row {
    node: u32,
    pub(super) start: u32,
    pub(super) end: u32,
}

impl Row {
    /// No row.
    pub(super) const NONE: Self = Self {
        node: u32::MAX,
        start: 0,
        end: 0,
    };

    #[inline(always)]
    pub(super) fn of<G: Grid>(grid: G, rows: Csr, node: u32) -> Self {
        let (start, end) = rows.row(grid, node);
        Self { node, start, end }
    }

    #[inline(always)]
    pub(super) fn degree(self) -> u32 {
        self.end - self.start
    }

    /// Place of edge number `at` of the row, with `kept` kept ones before it.
    #[inline(always)]
    fn place(self, at: u32, kept: u32, keeps: bool) -> u32 {
        if keeps {
            self.start + kept
        } else {
            self.end - 1 - (at - kept)
        }
    }

    /// Whether an edge to the node of key and number `other` is kept.
    #[inline(always)]
    fn is_before(self, other: (u32, u32)) -> bool {
        other > (self.degree(), self.node)
    }
}
