//! Weights in the order of the rows of incoming edges.
//!
//! Both kinds of rows ascend, and an edge is listed in both. So the edges of all nodes, node after
//! node, are at their ends the next ones of the rows of incoming edges.
//!
//! Work: each edge once, `n + m`. Memory: `n` words.

use super::Operands;
use super::work::{Rows, Scratch, Work};
use crate::grid::Grid;
use seawall_core::abi::control::FaultCode;

/// Stores the weight of every incoming edge.
pub(super) fn order<G: Grid>(
    work: &mut Work<'_, G>,
    operands: &Operands,
    (rows, mut scratch): (Rows, Scratch),
) -> Result<(), FaultCode> {
    let (grid, nodes) = (work.grid, operands.nodes);
    operands.needs(rows.rows.edges().into())?;
    let places = scratch.take(nodes)?;
    for node in 0..nodes {
        let (start, _) = rows.rows.row(grid, node);
        places.store_weak(grid, node, start);
    }
    for node in 0..nodes {
        let (start, end) = rows.outgoing.row(grid, node);
        work.spend(end - start)?;
        for edge in start..end {
            let to = rows.outgoing.target(grid, edge);
            let place = places.load_weak(grid, to);
            places.store_weak(grid, to, place.wrapping_add(1));
            operands
                .to
                .store_weak(grid, place, rows.weights.load_weak(grid, edge));
        }
    }
    Ok(())
}
