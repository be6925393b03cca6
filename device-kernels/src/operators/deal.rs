//! Deals nodes to warps, and nodes with long rows to whole blocks.
//!
//! A wave with more work at nodes with more edges runs in two passes. In the first, a warp takes a
//! chunk of adjacent nodes and leaves out those with too much work. In the second, a block takes
//! these one by one, with all of its lanes. Chunks go to the blocks in turn, so that hubs with
//! adjacent numbers do not meet in one block. If nodes differ much in work, the warps of a block
//! take smaller parts on demand.

use crate::collectives::team::Team;
use crate::machine::Grid;
use crate::machine::shared::{LEFT_COUNT, LEFT_NODES};

/// Marks a free slot; no node has this number.
pub(crate) const NONE: u32 = u32::MAX;

/// Nodes between two reads of the clock by a warp.
const NODES_PER_LOOK: u32 = 512;

/// First node of this warp's first chunk.
#[inline(always)]
fn first_chunk<G: Grid>(team: &Team<G>) -> u64 {
    let warp = team.grid.lane() / G::WARP;
    u64::from((warp * team.size() + team.rank()) * G::WARP)
}

/// Calls `visit` with one node per lane, chunk after chunk, in all lanes of the warp. A
/// node that is not below `nodes` stands for none.
#[inline(always)]
pub fn each_chunk<G: Grid>(team: &Team<G>, nodes: u32, mut visit: impl FnMut(u32)) {
    if G::WARP == 1 {
        team.each_taken(nodes, visit);
        return;
    }
    let grid = team.grid;
    let stride = u64::from(team.size() * grid.lanes());
    let mut base = first_chunk(team);
    while base < u64::from(nodes) {
        visit((base as u32).saturating_add(grid.warp_lane()));
        base += stride;
    }
}

/// [`each_chunk`] for nodes that differ much in work: warps take parts of the block's share on
/// demand, `size` nodes at a time, in their first lanes. A block operation with a block barrier
/// before the first call.
#[inline(always)]
pub fn each_part<G: Grid>(team: &Team<G>, nodes: u32, size: u32, visit: impl FnMut(u32)) {
    open_parts(team.grid);
    take_parts(team, nodes, size, visit);
}

/// Opens the parts of the block's share for [`take_parts`]. A block operation.
#[inline(always)]
pub fn open_parts<G: Grid>(grid: G) {
    if G::WARP == 1 {
        return;
    }
    if grid.lane() == 0 {
        // SAFETY: the area has a word.
        unsafe { LEFT_COUNT.store(grid, 0, 0) };
    }
    grid.block_barrier();
}

/// [`each_part`] after [`open_parts`]. A warp operation that some warps may skip.
#[inline(always)]
pub fn take_parts<G: Grid>(team: &Team<G>, nodes: u32, size: u32, mut visit: impl FnMut(u32)) {
    if G::WARP == 1 {
        team.each_taken(nodes, visit);
        return;
    }
    let grid = team.grid;
    loop {
        let mut taken = 0;
        if grid.warp_lane() == 0 {
            // SAFETY: as in `open_parts`.
            taken = unsafe { LEFT_COUNT.add(grid, 0, 1) };
        }
        let part = u64::from(grid.shuffle(taken, 0)) * u64::from(team.size());
        let first = (part + u64::from(team.rank())) * u64::from(size);
        if first >= u64::from(nodes) {
            return;
        }
        visit(if grid.warp_lane() < size {
            (first as u32).saturating_add(grid.warp_lane())
        } else {
            u32::MAX
        });
    }
}

/// Whether [`each_left`] may find nodes for a block of which a lane `met` some in [`each_chunk`]. A
/// thread's shares are dealt anew. A block operation.
#[inline(always)]
pub fn any_left<G: Grid>(grid: G, met: bool) -> bool {
    grid.block_any(met) || !G::SIMT
}

/// Calls `together` in all lanes of the block for each node of the block's share that
/// `left` picks. Contains block barriers, the last one after the last call.
#[inline(always)]
pub fn each_left<G: Grid>(
    team: &Team<G>,
    nodes: u32,
    left: impl Fn(u32) -> bool,
    mut together: impl FnMut(u32),
) {
    let grid = team.grid;
    if G::WARP == 1 {
        team.each_taken(nodes, |node| {
            if left(node) {
                together(node);
            }
        });
        return;
    }
    let stride = u64::from(team.size() * grid.lanes());
    let (mut tile, mut base) = (0, first_chunk(team));
    while tile < u64::from(nodes) {
        let node = base + u64::from(grid.warp_lane());
        let picked = node < u64::from(nodes) && left(node as u32);
        if grid.block_any(picked) {
            let count = queue(grid, picked, node as u32);
            for at in 0..count {
                // SAFETY: a tile has one node per lane, and a block `LANES_MAX`.
                together(unsafe { LEFT_NODES.load(grid, at) });
            }
            grid.block_barrier();
        }
        tile += stride;
        base += stride;
    }
}

/// Queues the picked nodes of a tile, in any order; returns their number.
#[inline(always)]
fn queue<G: Grid>(grid: G, picked: bool, node: u32) -> u32 {
    // SAFETY: there is one place per lane.
    unsafe {
        if grid.lane() == 0 {
            LEFT_COUNT.store(grid, 0, 0);
        }
        grid.block_barrier();
        if picked {
            let at = LEFT_COUNT.add(grid, 0, 1);
            LEFT_NODES.store(grid, at, node);
        }
        grid.block_barrier();
        LEFT_COUNT.load(grid, 0)
    }
}

/// Sum of the `value`s of the warp's lanes. A warp operation.
#[inline(always)]
pub fn warp_sum<G: Grid>(grid: G, value: u32) -> u32 {
    let mut sum = value;
    let mut delta = G::WARP / 2;
    while delta > 0 {
        sum = sum.wrapping_add(grid.shuffle(sum, grid.warp_lane() ^ delta));
        delta /= 2;
    }
    sum
}

/// Whether the run's time is over, checked now and then; lanes of a warp return the same.
#[inline(always)]
pub(crate) fn is_late<G: Grid>(team: &Team<G>, node: u32) -> bool {
    let first = team.grid.shuffle(node, 0);
    first.is_multiple_of(NODES_PER_LOOK) && team.grid.ballot(team.is_late()) != 0
}
