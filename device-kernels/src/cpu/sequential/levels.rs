//! Breadth-first search with one queue: the level of every node, or a 1 for every node reached.
//!
//! The destination says which nodes were seen, so the queue is all the memory that a search takes
//! beside its result: `n` words, where rounds by several blocks take about five times as many for
//! their lists and bitsets. Plans that have little memory use it.
//!
//! Work: each edge of what the sources reach once, at most `n + m`, and none once all nodes are found.
//!
//! Source: Moore, "The Shortest Path through a Maze", 1959.

use super::Operands;
use super::work::{Field, Rows, Scratch, Work, fetch};
use crate::machine::Grid;
use seawall_core::abi::UNREACHED;
use seawall_core::abi::control::FaultCode;
use seawall_core::abi::sequential::Algorithm;

/// Searches from all sources together.
pub(super) fn search<G: Grid>(
    work: &mut Work<'_, G>,
    operands: &Operands,
    rows: Rows,
    mut scratch: Scratch,
) -> Result<(), FaultCode> {
    let (grid, nodes, to) = (work.grid, operands.nodes, operands.to);
    operands.needs(nodes.into())?;
    let has_levels = operands.record.algorithm == Algorithm::Levels;
    let none = if has_levels { UNREACHED } else { 0 };
    let value = |level: u32| if has_levels { level } else { 1 };
    let queue = scratch.take(nodes)?;
    for node in 0..nodes {
        to.store_weak(grid, node, none);
    }
    let mut tail = 0;
    operands.each_source(grid, |source| {
        if to.load_weak(grid, source) == none {
            to.store_weak(grid, source, value(0));
            queue.store_weak(grid, tail, source);
            tail += 1;
        }
        Ok(())
    })?;
    let (mut head, mut level) = (0, 0);
    while head < tail && tail < nodes {
        level += 1;
        let level_end = tail;
        while head < level_end && tail < nodes {
            let node = queue.load_weak(grid, head);
            fetch(grid, rows.rows, Field::of(to), |steps| {
                let at = head.saturating_add(steps);
                (at < tail).then(|| queue.load_weak(grid, at))
            });
            head += 1;
            for edge in work.row(rows.rows, node)? {
                let next = rows.rows.target(grid, edge);
                if to.load_weak(grid, next) == none {
                    to.store_weak(grid, next, value(level));
                    queue.store_weak(grid, tail, next);
                    rows.rows.prefetch_row(grid, next);
                    tail += 1;
                }
            }
        }
    }
    Ok(())
}
