//! Widest paths: the largest width of a path from the sources, where a path is as wide as its least
//! edge.
//!
//! The widest of the nodes found so far is done, as any other way to it leads through narrower
//! ones: the algorithm of shortest paths, with least weights instead of sums. Widths are stored as
//! results have them: whole ones with one less than the largest number for a source and the largest
//! for no path, floats with the largest finite one and with infinity.
//!
//! Work: each edge once, and a step of a heap for each node and each edge that widens a path:
//! `O((n + m) log n)`. Memory: `4 n` words.
//!
//! Source: Pollack, "The Maximum Capacity through a Network", 1960.

use super::Operands;
use super::heap::Heap;
use super::work::{Rows, Scratch, Work, ordered_float};
use crate::grid::Grid;
use seawall_core::abi::control::FaultCode;
use seawall_core::abi::sequential::Lengths;

/// Stores the width of every node.
pub(super) fn widen<G: Grid>(
    work: &mut Work<'_, G>,
    operands: &Operands,
    (rows, mut scratch): (Rows, Scratch),
) -> Result<(), FaultCode> {
    let (grid, nodes) = (work.grid, operands.nodes);
    operands.needs(nodes.into())?;
    let kind = match rows.lengths {
        Lengths::Float => Kind::Float,
        Lengths::Whole | Lengths::Edges => Kind::Whole,
    };
    for node in 0..nodes {
        operands.to.store_weak(grid, node, kind.none());
    }
    let mut heap = Heap::new(grid, &mut scratch, nodes)?;
    operands.each_source(grid, |source| {
        heap.offer(grid, source, kind.key(kind.unbounded()));
        Ok(())
    })?;
    while let Some((node, key)) = heap.take(grid) {
        operands.to.store_weak(grid, node, kind.width(key));
        let (start, end) = rows.rows.row(grid, node);
        work.spend(end - start)?;
        for edge in start..end {
            let to = rows.rows.target(grid, edge);
            let weight = rows.weights.load_weak(grid, edge);
            heap.offer(grid, to, key.max(kind.key(weight)));
        }
    }
    Ok(())
}

/// The words of widths.
#[derive(Clone, Copy)]
enum Kind {
    Whole,
    Float,
}

impl Kind {
    /// The width of a path without edges.
    const fn unbounded(self) -> u32 {
        match self {
            Self::Whole => u32::MAX - 1,
            Self::Float => f32::MAX.to_bits(),
        }
    }

    /// The width where there is no path.
    const fn none(self) -> u32 {
        match self {
            Self::Whole => u32::MAX,
            Self::Float => f32::INFINITY.to_bits(),
        }
    }

    /// A key that is less the larger the width is.
    #[inline(always)]
    const fn key(self, width: u32) -> u64 {
        let ordered = match self {
            Self::Whole => width,
            Self::Float => ordered_float(width),
        };
        (u32::MAX - ordered) as u64
    }

    /// The width of a key.
    #[inline(always)]
    const fn width(self, key: u64) -> u32 {
        const SIGN: u32 = 1 << 31;
        let ordered = u32::MAX - key as u32;
        match self {
            Self::Whole => ordered,
            Self::Float if ordered & SIGN != 0 => ordered & !SIGN,
            Self::Float => !ordered,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_fall_where_widths_grow_and_give_them_back() {
        let floats = [f32::MIN, -2.5, -0.0, 0.0, f32::MIN_POSITIVE, 1.0, f32::MAX];
        let keys = floats.map(|float| Kind::Float.key(float.to_bits()));
        assert!(keys.windows(2).all(|pair| pair[0] > pair[1]), "{keys:?}");
        for (float, key) in floats.iter().zip(keys) {
            assert_eq!(Kind::Float.width(key), float.to_bits());
        }
        for width in [0, 1, u32::MAX - 1] {
            assert_eq!(Kind::Whole.width(Kind::Whole.key(width)), width);
        }
        assert!(Kind::Whole.key(2) < Kind::Whole.key(1));
    }
}
