//! Marks of nodes, one bit each, by which a lane tells whether it is the first at a node.

use crate::machine::Grid;
use crate::machine::memory::Proven;

/// Marks `node` and returns whether this lane is the first to do so. It looks before it marks, as
/// most nodes are marked already.
#[inline(always)]
pub(crate) fn claim<G: Grid>(grid: G, marks: Proven, node: u32) -> bool {
    let bit = 1_u32 << (node & 31);
    marks.load_weak(grid, node >> 5) & bit == 0 && marks.or(grid, node >> 5, bit) & bit == 0
}

/// Marks the `picked` nodes and returns those that no other lane has marked before. On machines
/// with warps the accesses overlap (codegen rule `PREDICATED`); a thread looks first, which saves
/// it locked instructions.
#[inline(always)]
pub(crate) fn claim_each<G: Grid, const K: usize>(
    grid: G,
    marks: Proven,
    nodes: &[u32; K],
    picked: u32,
) -> u32 {
    let mut claimed = 0;
    if G::WARP == 1 {
        for (k, node) in nodes.iter().enumerate() {
            let is_picked = picked >> k & 1 != 0;
            claimed |= u32::from(is_picked && claim(grid, marks, *node)) << k;
        }
        return claimed;
    }
    let mut before = [0; K];
    for k in 0..K {
        let (is_picked, node) = (picked >> k & 1 != 0, nodes[k]);
        before[k] = marks.or_if(grid, is_picked, node >> 5, [1 << (node & 31), u32::MAX]);
    }
    for k in 0..K {
        claimed |= u32::from(before[k] >> (nodes[k] & 31) & 1 == 0) << k;
    }
    claimed
}
