//! Parents of a breadth-first search, once its levels are final.
//!
//! The first discoverer of a node differs from run to run, so a search keeps no parents. Afterwards
//! they are well defined: the parent of a node is its smallest neighbour one level before it, the
//! parent of a source is itself, and a node without a level has none. Rows ascend, so the first
//! neighbour that fits is the parent. Lanes read the beginnings of rows, warps continue if those do
//! not suffice, and blocks take the rest.

use crate::collectives::context::ContextRef;
use crate::collectives::team::Team;
use crate::machine::Grid;
use crate::machine::memory::{Csr, Proven};
use crate::operators::deal::{each_chunk, each_left};
use crate::tables::Wave;
use seawall_core::abi::UNREACHED;
use seawall_core::abi::control::FaultCode;

/// Edges of a row that a lane visits alone.
const SERIAL: u32 = 8;
/// Edges of a row that a lane and its warp visit before the block.
const WARP_ROW: u32 = 1024;

/// Runs the wave.
///
/// # Errors
/// [`FaultCode::BadRegister`] if a register is missing or too short,
/// [`FaultCode::NoArray`] if the launch holds no incoming edges.
#[inline(never)]
pub fn run_parents<G: Grid>(cx: ContextRef<G>, wave: Wave) -> Result<(), FaultCode> {
    let context = &cx.context();
    let (tables, grid) = (context.tables, context.team.grid);
    let nodes = tables.nodes(grid);
    if !tables.has_incoming(grid) {
        return Err(FaultCode::NoArray);
    }
    let search = Levels {
        rows: tables.incoming(grid),
        // SAFETY: indices are nodes of the graph.
        levels: unsafe { tables.proven_of(grid, wave.source(grid, 0), nodes)? },
    };
    // SAFETY: as above.
    let parents = unsafe { tables.proven_of(grid, wave.destination(grid), nodes)? };
    let parents = parents.part(0, nodes);
    if G::SIMT {
        search.near(cx, parents);
        search.far(cx, parents);
    } else {
        search.one_by_one(&context.team, parents);
    }
    Ok(())
}

/// A finished search, and the edges that lead to each node.
#[derive(Clone, Copy, Debug)]
struct Levels {
    rows: Csr,
    levels: Proven,
}

impl Levels {
    /// Finds a parent of each node.
    #[inline(always)]
    fn one_by_one<G: Grid>(&self, team: &Team<G>, parents: Proven) {
        let (grid, nodes) = (team.grid, parents.len());
        team.each_taken(nodes, |node| {
            let parent = self.near_parent(grid, node, nodes);
            parents.store_weak(grid, node, parent);
            if self.is_left(grid, node, parents) {
                self.far_parent(grid, node, parents);
            }
        });
    }

    /// Finds the parents among the first edges of their rows.
    #[inline(never)]
    fn near<G: Grid>(&self, cx: ContextRef<G>, parents: Proven) {
        let (search, grid, nodes) = (*self, cx.grid(), parents.len());
        each_chunk(&cx.context().team, nodes, |node| {
            let parent = search.near_parent(grid, node, nodes);
            if node < nodes {
                parents.store_weak(grid, node, parent);
            }
        });
    }

    /// Finds the parents that [`Levels::near`] did not.
    #[inline(never)]
    fn far<G: Grid>(&self, cx: ContextRef<G>, parents: Proven) {
        let (search, grid) = (*self, cx.grid());
        // The lane that stored a node's parent is the one that reads it here.
        let is_left = |node| search.is_left(grid, node, parents);
        each_left(&cx.context().team, parents.len(), is_left, |node| {
            search.far_parent(grid, node, parents);
        });
    }

    /// Whether `node` has a parent that has not been found yet.
    #[inline(always)]
    fn is_left<G: Grid>(&self, grid: G, node: u32, parents: Proven) -> bool {
        parents.load_weak(grid, node) == UNREACHED && self.levels.load_weak(grid, node) != UNREACHED
    }

    /// The source of `edge`, and whether it is of `level`.
    #[inline(always)]
    fn look<G: Grid>(&self, grid: G, edge: u32, level: u32) -> (u32, bool) {
        let from = self.rows.target(grid, edge);
        (from, self.levels.load_weak(grid, from) == level)
    }

    /// The parent of a lane's node if the first edges of its row have one. A node that is
    /// not below `nodes` stands for none. A warp operation.
    #[inline(always)]
    fn near_parent<G: Grid>(&self, grid: G, node: u32, nodes: u32) -> u32 {
        let (mut parent, mut above) = (UNREACHED, UNREACHED);
        let (mut start, mut end) = (0, 0);
        if node < nodes {
            let level = self.levels.load_weak(grid, node);
            if level == 0 {
                parent = node;
            } else if level != UNREACHED {
                above = level - 1;
                (start, end) = self.rows.row(grid, node);
            }
        }
        let stop = end.min(start.saturating_add(SERIAL));
        while start < stop {
            let (from, fits) = self.look(grid, start, above);
            if fits {
                parent = from;
                end = start;
                break;
            }
            start += 1;
        }
        let mut open = grid.ballot(start < end);
        while open != 0 {
            let lane = open.trailing_zeros();
            open &= open - 1;
            let [start, end, above] = [start, end, above].map(|word| grid.shuffle(word, lane));
            let found = self.search_warp(grid, start, end, above);
            if grid.warp_lane() == lane {
                parent = found;
            }
        }
        parent
    }

    /// Reads the next edges of a row, one per lane. A warp operation.
    #[inline(always)]
    fn search_warp<G: Grid>(&self, grid: G, start: u32, end: u32, above: u32) -> u32 {
        let stop = end.min(start.saturating_add(WARP_ROW - SERIAL));
        let mut base = start;
        while base < stop {
            let edge = base.saturating_add(grid.warp_lane());
            let (mut from, mut fits) = (UNREACHED, false);
            if edge < stop {
                (from, fits) = self.look(grid, edge, above);
            }
            let lanes = grid.ballot(fits);
            if lanes != 0 {
                return grid.shuffle(from, lanes.trailing_zeros());
            }
            base = base.saturating_add(G::WARP);
        }
        UNREACHED
    }

    /// Reads the rest of a long row; the least parent that a lane finds is stored. A block
    /// operation.
    #[inline(always)]
    fn far_parent<G: Grid>(&self, grid: G, node: u32, parents: Proven) {
        let above = self.levels.load_weak(grid, node).wrapping_sub(1);
        let (start, end) = self.rows.row(grid, node);
        let mut base = start.saturating_add(WARP_ROW);
        while base < end {
            let edge = base.saturating_add(grid.lane());
            let (mut from, mut fits) = (UNREACHED, false);
            if edge < end {
                (from, fits) = self.look(grid, edge, above);
            }
            let lanes = grid.ballot(fits);
            if fits && lanes.trailing_zeros() == grid.warp_lane() {
                parents.min(grid, node, from);
            }
            if grid.block_any(fits) {
                return;
            }
            base = base.saturating_add(grid.lanes());
        }
    }
}
