//! Betweenness: shares of shortest paths through every node, in the order of their distances.
//!
//! With `p(v)` shortest paths from a source to `v`, the share of paths through `v` is
//! `d(v) = sum of p(v) / p(w) (1 + d(w))` over the edges from `v` that end shortest paths to `w`.
//! Forwards it counts paths, backwards it adds up shares. Edges are followed, not pairs of nodes, so
//! parallel edges are paths of their own, and loops are none. `(1 + d(w)) / p(w)` takes the place of
//! `p(w)` once it is known.
//!
//! Edges of length 1 have the order of a queue, others that of a heap. Sums of weights are compared
//! exactly: whole sums of 64 bits, or doubles of float weights. Weights are above 0; where a double
//! is so large that an edge does not lengthen it, the edge is no path.
//!
//! Work: each edge of what a source reaches twice, at most `2 m`, and `n` nodes thrice; along
//! weights also a step of the heap for each node and each edge that shortens a path,
//! `O((n + m) log n)` a source. Memory: `10 n` words, along weights `15 n`.
//!
//! Source: Brandes, "A Faster Algorithm for Betweenness Centrality", 2001.

mod levels;
mod weights;

use super::Operands;
use super::paths::{Ends, Sums};
use super::work::{Field, Rows, Scratch, Work};
use crate::machine::Grid;
use seawall_core::abi::control::FaultCode;
use seawall_core::abi::sequential::Lengths;

/// Adds up the shares of this block's sources.
pub(super) fn add_up<G: Grid>(
    work: &mut Work<'_, G>,
    operands: &Operands,
    rows: Rows,
    mut scratch: Scratch,
) -> Result<(), FaultCode> {
    let (grid, nodes) = (work.grid, operands.nodes);
    // Sums come first, where `scores` finds them.
    let sums = Sums::of(&mut scratch, nodes)?;
    sums.clear(grid, nodes);
    let ends = Ends::new(grid, Field::of(scratch.take(nodes)?), operands)?;
    if rows.lengths == Lengths::Edges {
        levels::add_up(work, operands, rows, scratch, (sums, ends))
    } else {
        weights::add_up(work, operands, rows, scratch, (sums, ends))
    }
}
