//! Visits every edge of a graph, shared out by tiles of rows.
//!
//! Row offsets are edge prefixes already, so a block finds the row of an edge
//! in its tile by a search in shared memory, whatever the degrees are.

use crate::block::shared;
use crate::grid::Grid;
use crate::memory::Csr;
use crate::search::push::owner;
use crate::team::Team;

/// An edge and its number.
#[derive(Clone, Copy, Debug)]
pub struct Edge {
    /// Node that it leaves.
    pub from: u32,
    /// Node that it enters.
    pub to: u32,
    /// Its number in the rows.
    pub index: u32,
}

/// Calls `visit` for every edge of the rows of `0..nodes` whose node `wanted`
/// accepts, behind the first `skip` edges of its row.
#[inline(always)]
pub fn each_edge<G: Grid>(
    team: &Team<G>,
    rows: Csr,
    (nodes, skip): (u32, u32),
    wanted: impl Fn(u32) -> bool,
    mut visit: impl FnMut(Edge),
) {
    let grid = team.grid;
    if G::WARP == 1 {
        team.each(nodes, |from| {
            if !wanted(from) {
                return;
            }
            let (start, end) = rows.row(grid, from);
            for index in start.saturating_add(skip).min(end)..end {
                let to = rows.target(grid, index);
                visit(Edge { from, to, index });
            }
        });
        return;
    }
    let lanes = grid.lanes();
    let mut base = team.rank() * lanes;
    while base < nodes {
        let total = load_rows(grid, rows, (base, nodes, skip), &wanted);
        let mut at = grid.lane();
        while at < total {
            let row = owner(grid, shared::rows::<G>(), lanes, at);
            // SAFETY: `row` is below the number of lanes.
            let shift = unsafe { grid.shared_load(shared::rows::<G>() + G::LANES + row) };
            let index = at.wrapping_add(shift);
            let to = rows.target(grid, index);
            visit(Edge {
                from: base + row,
                to,
                index,
            });
            at += lanes;
        }
        grid.block_barrier();
        base += team.size() * lanes;
    }
}

/// Puts the starts of a tile's rows into shared memory; gives its edges.
#[inline(always)]
fn load_rows<G: Grid>(
    grid: G,
    rows: Csr,
    (base, nodes, skip): (u32, u32, u32),
    wanted: &impl Fn(u32) -> bool,
) -> u32 {
    let node = base + grid.lane();
    let (mut first, mut degree) = (0, 0);
    if node < nodes && wanted(node) {
        let (start, end) = rows.row(grid, node);
        first = start.saturating_add(skip).min(end);
        degree = end - first;
    }
    let (start, total) = crate::block::block_scan(grid, degree);
    let at = shared::rows::<G>() + grid.lane();
    // SAFETY: a block has at most `LANES` lanes and the rows two words a lane.
    unsafe {
        grid.shared_store(at, start);
        grid.shared_store(at + G::LANES, first.wrapping_sub(start));
    }
    grid.block_barrier();
    total
}
