//! Components after a search, whose visited nodes are one component.

use crate::algorithms::bfs::frontier::Frontier;
use crate::collectives::context::ContextRef;
use crate::machine::Grid;
use crate::machine::memory::Proven;
use crate::tables::Wave;
use seawall_core::abi::UNREACHED;
use seawall_core::abi::components::{KNOWN_WORDS, SHARE_OUTSIDE};
use seawall_core::abi::control::FaultCode;

/// Adjacent nodes that a lane takes at a time.
const QUAD: u32 = 4;

/// Hooks every node that a search has visited to the smallest of them, and others to
/// themselves.
///
/// # Errors
/// [`FaultCode::BadRegister`] if a register is missing or too short.
#[inline(never)]
pub(super) fn run<G: Grid>(cx: ContextRef<G>, wave: Wave) -> Result<(), FaultCode> {
    let context = &cx.context();
    let (tables, grid) = (context.tables, context.team.grid);
    let nodes = tables.nodes(grid);
    let frontier = Frontier::of_register(grid, tables, wave.source(grid, 0))?;
    let known = tables.register_of(grid, wave.source(grid, 1), KNOWN_WORDS)?;
    // SAFETY: indices are nodes of the graph.
    let parents = unsafe { tables.proven_of(grid, wave.destination(grid), nodes)? };
    let visited = frontier.visited(grid);
    let least = least_bit(grid, visited);
    if context.team.is_leader() {
        let outside = frontier.drive(grid, 0).unexplored_edges;
        let is_largest = outside <= tables.edges(grid) / SHARE_OUTSIDE;
        known.store_weak(grid, 0, least);
        known.store_weak(grid, 1, u32::from(is_largest));
    }
    // No node has a parent above itself: the least one is above none of the visited.
    let parent = |node: u32| {
        let bits = visited.load_weak(grid, node / 32);
        let is_visited = bits >> (node % 32) & 1 != 0;
        if is_visited { least } else { node }
    };
    let quads = nodes / QUAD;
    context.team.each(quads, |quad| {
        let parents_of = [0, 1, 2, 3].map(|k| parent(QUAD * quad + k));
        parents.store_weak4(grid, QUAD * quad, parents_of);
    });
    if context.team.is_leader() {
        (QUAD * quads..nodes).for_each(|node| parents.store_weak(grid, node, parent(node)));
    }
    Ok(())
}

/// Number of the lowest bit that is set, [`UNREACHED`] if none is. All lanes of a block read
/// adjacent words together: the visited nodes mostly begin in the first ones. A block operation.
#[inline(always)]
fn least_bit<G: Grid>(grid: G, bits: Proven) -> u32 {
    let mut base = 0;
    while base < bits.len() {
        let word = |at: u32| {
            if at < bits.len() {
                bits.load_weak(grid, at)
            } else {
                0
            }
        };
        if grid.block_any(word(base + grid.lane()) != 0) {
            let end = base + grid.lanes();
            let mut at = base;
            while at < end && word(at) == 0 {
                at += 1;
            }
            return 32 * at + word(at).trailing_zeros();
        }
        base += grid.lanes();
    }
    UNREACHED
}
