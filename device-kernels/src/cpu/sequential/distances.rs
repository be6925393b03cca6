//! Closeness and eccentricity along weights: shortest paths from each node by a heap.
//!
//! The formula is that of [`searches`](super::searches), with sums of weights for distances: whole
//! ones of 64 bits, whose sum has 128, or doubles. An eccentricity is stored as a pair of words, or
//! as a float.
//!
//! Work: each edge of what a source reaches once, and a step of a heap for each node and each edge
//! that shortens a path: `O((n + m) log n)` a source. Memory: `4 n` words.
//!
//! Source: Dijkstra, "A Note on Two Problems in Connexion with Graphs", 1959.

use super::Operands;
use super::heap::Heap;
use super::searches::closeness;
use super::work::{Pairs, Rows, Scratch, Work};
use crate::machine::Grid;
use seawall_core::abi::control::FaultCode;
use seawall_core::abi::sequential::{Algorithm, Lengths};

/// Measures every source of this block.
pub(super) fn measure<G: Grid>(
    work: &mut Work<'_, G>,
    operands: &Operands,
    rows: Rows,
    mut scratch: Scratch,
) -> Result<(), FaultCode> {
    let (grid, nodes) = (work.grid, operands.nodes);
    let is_closeness = operands.record.algorithm == Algorithm::Closeness;
    let is_pair = !is_closeness && rows.lengths == Lengths::Whole;
    operands.needs(u64::from(nodes) * if is_pair { 2 } else { 1 })?;
    let mut heap = Heap::new(grid, &mut scratch, nodes)?;
    operands.each_source(grid, |source| {
        let far = search(work, rows, &mut heap, source)?;
        match (is_closeness, rows.lengths) {
            (true, _) => {
                let value = closeness(nodes, far.reached, far.sum(rows.lengths));
                operands.to.store_weak(grid, source, value.to_bits());
            }
            (false, Lengths::Float) => {
                let value = f64::from_bits(far.farthest) as f32;
                operands.to.store_weak(grid, source, value.to_bits());
            }
            (false, _) => Pairs::of(operands.to).store(grid, source, far.farthest),
        }
        Ok(())
    })
}

/// Distances from a source, of the bits of [`Rows::along`].
#[derive(Clone, Copy, Default)]
struct Far {
    reached: u32,
    whole: u128,
    double: f64,
    farthest: u64,
}

impl Far {
    fn sum(self, lengths: Lengths) -> f64 {
        match lengths {
            Lengths::Float => self.double,
            Lengths::Whole | Lengths::Edges => self.whole as f64,
        }
    }
}

fn search<G: Grid>(
    work: &mut Work<'_, G>,
    rows: Rows,
    heap: &mut Heap,
    source: u32,
) -> Result<Far, FaultCode> {
    let grid = work.grid;
    let mut far = Far::default();
    heap.offer(grid, source, 0);
    while let Some((node, length)) = heap.take(grid) {
        far.reached += 1;
        far.farthest = length;
        if rows.lengths == Lengths::Float {
            far.double += f64::from_bits(length);
        } else {
            far.whole += u128::from(length);
        }
        for edge in work.row(rows.rows, node)? {
            let to = rows.rows.target(grid, edge);
            heap.offer(grid, to, rows.along(grid, length, edge));
        }
    }
    heap.forget(grid);
    Ok(far)
}
