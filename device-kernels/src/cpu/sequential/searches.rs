//! Closeness and eccentricity of few nodes: a breadth-first search with a queue for each.
//!
//! With `r` nodes that reach a node, itself included, and the sum `s` of their distances, its
//! closeness is `(r - 1)^2 / (s (n - 1))` (Wasserman and Faust, "Social Network Analysis", 1994,
//! formula 5.22). Its eccentricity is the number of the last level.
//!
//! Work: each edge of what a source reaches once, at most `n + m` a source, and none once all nodes
//! are found. Nodes keep the number of the search that saw them, so that nothing is cleared between
//! two. Memory: `2 n` words.

use super::Operands;
use super::work::{Field, Rows, Scratch, Work, fetch};
use crate::machine::Grid;
use crate::machine::memory::Words;
use seawall_core::abi::control::FaultCode;
use seawall_core::abi::sequential::Algorithm;

/// Measures every source of this block.
pub(super) fn measure<G: Grid>(
    work: &mut Work<'_, G>,
    operands: &Operands,
    rows: Rows,
    mut scratch: Scratch,
) -> Result<(), FaultCode> {
    let (grid, nodes) = (work.grid, operands.nodes);
    operands.needs(nodes.into())?;
    let (seen, queue) = (scratch.take(nodes)?, scratch.take(nodes)?);
    for node in 0..nodes {
        seen.store_weak(grid, node, 0);
    }
    let mut turn = 0;
    operands.each_source(grid, |source| {
        turn += 1;
        let found = search(work, rows, seen, queue, source, turn)?;
        operands.store_measure(grid, source, found);
        Ok(())
    })
}

/// Distances from a source: nodes that have one, the source included, their sum and the farthest.
#[derive(Clone, Copy, Default)]
pub(super) struct Distances {
    pub(super) reached: u32,
    pub(super) sum: u64,
    pub(super) farthest: u32,
}

fn search<G: Grid>(
    work: &mut Work<'_, G>,
    rows: Rows,
    seen: Words,
    queue: Words,
    source: u32,
    turn: u32,
) -> Result<Distances, FaultCode> {
    let (grid, rows) = (work.grid, rows.rows);
    seen.store_weak(grid, source, turn);
    queue.store_weak(grid, 0, source);
    let nodes = queue.len();
    let (mut head, mut tail) = (0, 1);
    let mut found = Distances::default();
    let mut level = 0;
    loop {
        let level_end = tail;
        while head < level_end && tail < nodes {
            let node = queue.load_weak(grid, head);
            fetch(grid, rows, Field::of(seen), |steps| {
                let at = head.saturating_add(steps);
                (at < tail).then(|| queue.load_weak(grid, at))
            });
            head += 1;
            for edge in work.row(rows, node)? {
                let to = rows.target(grid, edge);
                if seen.load_weak(grid, to) != turn {
                    seen.store_weak(grid, to, turn);
                    queue.store_weak(grid, tail, to);
                    rows.prefetch_row(grid, to);
                    tail += 1;
                }
            }
        }
        if tail == level_end {
            break;
        }
        level += 1;
        found.sum += u64::from(level) * u64::from(tail - level_end);
        if tail == nodes {
            break;
        }
    }
    found.reached = tail;
    found.farthest = level;
    Ok(found)
}

impl Operands {
    /// Stores what was asked of the distances of a source.
    pub(super) fn store_measure<G: Grid>(&self, grid: G, source: u32, found: Distances) {
        let value = match self.record.algorithm {
            Algorithm::Closeness => {
                closeness(self.nodes, found.reached, found.sum as f64).to_bits()
            }
            _ => found.farthest,
        };
        self.to.store_weak(grid, source, value);
    }
}

/// The closeness of a node with that sum of distances, rounded once to 64 bits and once to 32.
pub(super) fn closeness(nodes: u32, reached: u32, sum: f64) -> f32 {
    if sum <= 0.0 || nodes < 2 {
        return 0.0;
    }
    let others = f64::from(reached.saturating_sub(1));
    (others * others / (sum * f64::from(nodes - 1))) as f32
}
