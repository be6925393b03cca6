//! Shortest paths along weights of which some are negative, or parents that form a circle.
//!
//! A queue holds the nodes whose distance fell since their edges were looked at. A parent's distance
//! is the last one that its edges were followed from, so parents form a circle only if its weights
//! add up to less than 0, and then some circle of parents shows within a round of the queue after
//! the circle of edges was reached. All parents are followed after every `n` edges, which costs about
//! as much as these; the algorithm ends at a circle, or where the queue is empty.
//!
//! The result has three parts: distances (a pair of words for each node: a whole number, or the bits
//! of a double), and parents (a word for each: a source has itself, a node without a path
//! [`UNREACHED`]).
//!
//! Work: each edge at most once for each node, `O(n m)`; a few times where weights are mostly
//! positive. Memory: `3 n` words.
//!
//! Source: Bellman, "On a routing problem", 1958; Cherkassky and Goldberg, "Negative-cycle detection
//! algorithms", 1999.

use super::Operands;
use super::work::{Pairs, Rows, Scratch, Work};
use crate::machine::Grid;
use crate::machine::memory::Words;
use seawall_core::abi::UNREACHED;
use seawall_core::abi::control::FaultCode;
use seawall_core::abi::sequential::Lengths;

/// Stores the distance and the parent of every node.
pub(super) fn relax<G: Grid>(
    work: &mut Work<'_, G>,
    operands: &Operands,
    rows: Rows,
    mut scratch: Scratch,
) -> Result<(), FaultCode> {
    let (grid, nodes) = (work.grid, operands.nodes);
    let words = u64::from(nodes);
    operands.needs(3 * words)?;
    let part = |from, words| operands.to.part(from, words).ok_or(FaultCode::BadRegister);
    let mut search = Search {
        rows,
        kind: match rows.lengths {
            Lengths::Float => Kind::Float,
            Lengths::Whole | Lengths::Edges => Kind::Whole,
        },
        nodes,
        distances: Pairs::of(part(0, 2 * words)?),
        parents: part(2 * words, words)?,
        queue: scratch.take(nodes)?,
        waits: scratch.take(nodes)?,
        marks: scratch.take(nodes)?,
        first: 0,
        waiting: 0,
    };
    for node in 0..nodes {
        search.distances.store(grid, node, search.kind.none());
        search.parents.store_weak(grid, node, UNREACHED);
        search.waits.store_weak(grid, node, 0);
    }
    operands.each_source(grid, |source| {
        search.distances.store(grid, source, SOURCE);
        search.parents.store_weak(grid, source, source);
        search.wait(grid, source);
        Ok(())
    })?;
    let mut looked = 0_u32;
    while let Some(node) = search.next(grid) {
        looked = looked.saturating_add(search.follow(work, node)?);
        if looked >= nodes {
            looked = 0;
            if search.has_circle(work)? {
                break;
            }
        }
    }
    Ok(())
}

struct Search {
    rows: Rows,
    kind: Kind,
    nodes: u32,
    distances: Pairs,
    parents: Words,
    /// A ring of nodes.
    queue: Words,
    /// 1 for nodes in the queue.
    waits: Words,
    /// Numbers of walks along parents.
    marks: Words,
    first: u32,
    waiting: u32,
}

impl Search {
    /// Adds a node at the end of the queue, unless it waits already.
    #[inline(always)]
    fn wait<G: Grid>(&mut self, grid: G, node: u32) {
        if self.waits.load_weak(grid, node) == 0 {
            self.waits.store_weak(grid, node, 1);
            let at = u64::from(self.first) + u64::from(self.waiting);
            let at = at.checked_rem(self.nodes.into()).unwrap_or(0) as u32;
            self.queue.store_weak(grid, at, node);
            self.waiting += 1;
        }
    }

    /// Takes the first node of the queue.
    #[inline(always)]
    fn next<G: Grid>(&mut self, grid: G) -> Option<u32> {
        self.waiting = self.waiting.checked_sub(1)?;
        let node = self.queue.load_weak(grid, self.first);
        self.first += 1;
        if self.first == self.nodes {
            self.first = 0;
        }
        self.waits.store_weak(grid, node, 0);
        Some(node)
    }

    /// Follows the edges of a node; returns how many they are, and one for the node.
    fn follow<G: Grid>(&mut self, work: &mut Work<'_, G>, node: u32) -> Result<u32, FaultCode> {
        let grid = work.grid;
        let row = work.row(self.rows.rows, node)?;
        let edges = row.end - row.start;
        for edge in row {
            let to = self.rows.rows.target(grid, edge);
            // A loop may have changed it.
            let from = self.distances.load(grid, node);
            let weight = self.rows.weights.load_weak(grid, edge);
            let length = self.kind.along(from, weight);
            if self.kind.is_less(length, self.distances.load(grid, to)) {
                self.distances.store(grid, to, length);
                self.parents.store_weak(grid, to, node);
                self.wait(grid, to);
            }
        }
        Ok(edges.saturating_add(1))
    }

    /// Tells whether some parents form a circle.
    fn has_circle<G: Grid>(&self, work: &mut Work<'_, G>) -> Result<bool, FaultCode> {
        let grid = work.grid;
        work.pass(self.nodes)?;
        for node in 0..self.nodes {
            self.marks.store_weak(grid, node, UNREACHED);
        }
        for start in 0..self.nodes {
            let mut node = start;
            while self.marks.load_weak(grid, node) == UNREACHED {
                self.marks.store_weak(grid, node, start);
                let parent = self.parents.load_weak(grid, node);
                if parent == UNREACHED || parent == node && self.is_source(grid, node) {
                    break;
                }
                if self.marks.load_weak(grid, parent) == start {
                    return Ok(true);
                }
                node = parent;
            }
        }
        Ok(false)
    }

    /// Tells whether a node that is its own parent is a source: a loop leaves less than 0.
    #[inline(always)]
    fn is_source<G: Grid>(&self, grid: G, node: u32) -> bool {
        self.distances.load(grid, node) == SOURCE
    }
}

/// The words of distances and weights.
#[derive(Clone, Copy)]
enum Kind {
    Whole,
    Float,
}

/// The distance of a source: 0 as a whole number and as a double.
const SOURCE: u64 = 0;

/// The word of weight 0.
const ZERO: u32 = 1 << 31;

impl Kind {
    /// The distance where there is no path.
    const fn none(self) -> u64 {
        match self {
            Self::Whole => i64::MAX.cast_unsigned(),
            Self::Float => f64::INFINITY.to_bits(),
        }
    }

    /// The length of a path that goes on along an edge.
    #[inline(always)]
    fn along(self, length: u64, weight: u32) -> u64 {
        match self {
            // Fewer than 2^32 edges of at most 2^31 each.
            Self::Whole => {
                let weight = i64::from((weight ^ ZERO).cast_signed());
                length.cast_signed().wrapping_add(weight).cast_unsigned()
            }
            Self::Float => {
                let bits = if weight < ZERO {
                    !weight
                } else {
                    weight ^ ZERO
                };
                // Adding 0 turns -0 into 0.
                (f64::from_bits(length) + f64::from(f32::from_bits(bits)) + 0.0).to_bits()
            }
        }
    }

    #[inline(always)]
    fn is_less(self, one: u64, other: u64) -> bool {
        match self {
            Self::Whole => one.cast_signed() < other.cast_signed(),
            Self::Float => f64::from_bits(one) < f64::from_bits(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_follow_signed_weights() {
        let whole = |weight: i32| weight.cast_unsigned() ^ ZERO;
        let far = Kind::Whole.along(5, whole(-7));
        assert_eq!(far.cast_signed(), -2);
        assert!(Kind::Whole.is_less(far, SOURCE));
        assert!(Kind::Whole.is_less(SOURCE, Kind::Whole.none()));
        let float = |weight: f32| match weight.to_bits() {
            bits if bits < ZERO => bits | ZERO,
            bits => !bits,
        };
        let near = Kind::Float.along(0, float(0.5));
        assert_eq!(f64::from_bits(near), 0.5);
        assert_eq!(Kind::Float.along(near, float(-0.5)), SOURCE);
        assert!(Kind::Float.is_less(Kind::Float.along(0, float(-0.25)), 0));
        assert!(Kind::Float.is_less(near, Kind::Float.none()));
    }
}
