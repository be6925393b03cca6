//! Places of functions' blocks in the graph of a submission.

use super::problem::{Direction, Meet, Problem, Setup, below, words};
use super::solution::predecessors;
use crate::model::Body;
use rayon::prelude::*;
use seawall::graph::CsrArrays;
use std::ops::Range;

/// Columns of one function that go to the machine together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) function: usize,
    pub(super) columns: Range<usize>,
    /// Its first node.
    pub(super) base: usize,
}

/// Bytes that a node takes on the machine: made, kept and passed on facts, its row's offset, and its
/// part or its share of a range.
pub(super) const NODE_BYTES: u64 = 3 * 8 + 4 + 4;

/// Bytes that an edge takes.
pub(super) const EDGE_BYTES: u64 = 4;

/// Bytes of one column of a body.
pub(super) fn column_bytes(body: &Body) -> u64 {
    body.blocks.len() as u64 * NODE_BYTES + body.successors.len() as u64 * EDGE_BYTES
}

/// One function's part of the arrays of a submission.
struct Part<'a> {
    piece: &'a Piece,
    offsets: &'a mut [u32],
    targets: &'a mut [u32],
    transfer: &'a mut [[u64; 2]],
    /// Number of its first edge.
    first_edge: usize,
}

/// Arrays of a submission.
pub(super) struct Arrays {
    pub(super) graph: CsrArrays,
    /// Facts that each node makes, and those that it keeps.
    pub(super) transfer: Vec<[u64; 2]>,
}

/// Fewest nodes of a range that a warp of a GPU solves, if there are as many: those of several
/// columns, so that few lanes have none.
const TOGETHER: usize = 128;

/// Most nodes of such a range. A block has as many lanes as four of them.
const WARP_MOST: usize = 256;

/// Nodes that are solved together, adjacent columns of which nothing flows from one to another.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Ranges {
    /// The first node and the one after the last of each. Long ranges come first, and those that
    /// hardly differ in length in the order of their nodes.
    pub(super) ends: Vec<[u32; 2]>,
    /// Ranges that are too long for a warp.
    pub(super) large: u32,
}

/// The ranges of pieces whose bases are set.
pub(super) fn ranges(bodies: &[&Body], pieces: &[Piece]) -> Ranges {
    let mut ends = Vec::new();
    let mut open = [0, 0];
    for piece in pieces {
        let blocks = bodies[piece.function].blocks.len();
        for column in 0..piece.columns.len() {
            let first = piece.base + column * blocks;
            if open[1] + blocks > open[0] + TOGETHER && open[1] > open[0] {
                ends.push(open);
                open[0] = first;
            }
            open[1] = first + blocks;
        }
    }
    if open[1] > open[0] {
        ends.push(open);
    }
    let length = |[first, end]: &[usize; 2]| end - first;
    ends.sort_by_key(|range| std::cmp::Reverse(length(range).div_ceil(WARP_MOST).ilog2()));
    let large = ends
        .iter()
        .filter(|range| length(range) > WARP_MOST)
        .count();
    Ranges {
        ends: ends
            .iter()
            .map(|range| range.map(|node| node as u32))
            .collect(),
        large: large as u32,
    }
}

/// The part of each node, a column of a function, and the number of parts. Nothing flows from one
/// part to another.
pub(super) fn parts(bodies: &[&Body], pieces: &[Piece]) -> (Vec<u32>, u32) {
    let (mut of_nodes, mut count) = (Vec::new(), 0);
    for piece in pieces {
        for _ in piece.columns.clone() {
            let nodes = of_nodes.len() + bodies[piece.function].blocks.len();
            of_nodes.resize(nodes, count);
            count += 1;
        }
    }
    (of_nodes, count)
}

/// Most loops around a block, where edges that lead back close loops.
pub(super) fn nesting(body: &Body) -> u32 {
    let blocks = body.blocks.len();
    // Last block of the loop that begins at each.
    let mut last = vec![None; blocks];
    for block in 0..blocks {
        let back = body.successors_of(block).iter().map(|to| *to as usize);
        back.filter(|to| *to <= block)
            .for_each(|to| last[to] = Some(block));
    }
    // A loop goes on to the end of those that begin in it. Of the loops found so far, from the last
    // block back, those that do not begin in another one: the first block and the last.
    let mut found: Vec<(usize, usize)> = Vec::new();
    for block in (0..blocks).rev() {
        if let Some(last) = &mut last[block] {
            while let Some((_, end)) = found.pop_if(|(first, _)| *first <= *last) {
                *last = end.max(*last);
            }
            found.push((block, *last));
        }
    }
    let mut ends = vec![0_u32; blocks];
    let (mut around, mut most) = (0_u32, 0);
    for block in 0..blocks {
        if let Some(last) = last[block] {
            ends[last] += 1;
            around += 1;
        }
        most = most.max(around);
        around -= ends[block];
    }
    most
}

/// A batch of pieces whose bases are set, as arrays.
pub(super) fn arrays(
    bodies: &[&Body],
    problems: &[Problem],
    setup: Setup,
    pieces: &[Piece],
) -> Arrays {
    let blocks_of = |piece: &Piece| bodies[piece.function].blocks.len() * piece.columns.len();
    let edges_of = |piece: &Piece| bodies[piece.function].successors.len() * piece.columns.len();
    let nodes: usize = pieces.iter().map(blocks_of).sum();
    let edges: usize = pieces.iter().map(edges_of).sum();
    let mut graph = CsrArrays {
        offsets: vec![0; nodes + 1],
        targets: vec![0; edges],
        ..CsrArrays::default()
    };
    let mut transfer = vec![[0, u64::MAX]; nodes];
    graph.offsets[nodes] = edges as u32;
    let mut rest = (
        graph.offsets.as_mut_slice(),
        graph.targets.as_mut_slice(),
        transfer.as_mut_slice(),
    );
    let mut parts = Vec::with_capacity(pieces.len());
    let mut first_edge = 0;
    for piece in pieces {
        let (nodes, edges) = (blocks_of(piece), edges_of(piece));
        let (offsets, offsets_left) = rest.0.split_at_mut(nodes);
        let (targets, targets_left) = rest.1.split_at_mut(edges);
        let (transfer, transfer_left) = rest.2.split_at_mut(nodes);
        rest = (offsets_left, targets_left, transfer_left);
        parts.push(Part {
            piece,
            offsets,
            targets,
            transfer,
            first_edge,
        });
        first_edge += edges;
    }
    parts.into_par_iter().for_each(|mut part| {
        let body = bodies[part.piece.function];
        part.fill_rows(body, setup.direction);
        part.fill_facts(body, &problems[part.piece.function], setup);
    });
    Arrays { graph, transfer }
}

/// The node of a block in its column.
pub(super) const fn place(blocks: usize, block: usize, direction: Direction) -> usize {
    match direction {
        Direction::Forward => block,
        Direction::Backward => blocks - 1 - block,
    }
}

impl Part<'_> {
    fn fill_rows(&mut self, body: &Body, direction: Direction) {
        let blocks = body.blocks.len();
        let edges = body.successors.len();
        if blocks == 0 {
            return;
        }
        let mut starts = vec![0_u32; blocks + 1];
        let mut row = vec![0_u32; edges];
        match direction {
            Direction::Forward => {
                let rows = predecessors(body);
                (starts, row) = (rows.offsets, rows.targets);
            }
            Direction::Backward => {
                let mut filled = 0;
                for node in 0..blocks {
                    let successors = body.successors_of(blocks - 1 - node).iter().rev();
                    for to in successors {
                        row[filled] = (blocks - 1) as u32 - to;
                        filled += 1;
                    }
                    starts[node + 1] = filled as u32;
                }
            }
        }
        for column in 0..self.piece.columns.len() {
            let base = (self.piece.base + column * blocks) as u32;
            let first = (self.first_edge + column * edges) as u32;
            let offsets = &mut self.offsets[column * blocks..(column + 1) * blocks];
            for (offset, start) in offsets.iter_mut().zip(&starts) {
                *offset = first + start;
            }
            for (at, to) in row.iter().enumerate() {
                self.targets[column * edges + at] = base + to;
            }
        }
    }

    fn fill_facts(&mut self, body: &Body, problem: &Problem, setup: Setup) {
        let blocks = body.blocks.len();
        let columns = self.piece.columns.clone();
        let at = |column: usize, block: usize| {
            let column = column - columns.start;
            column * blocks + place(blocks, block, setup.direction)
        };
        let is_here = |(column, _): &(usize, u64)| columns.contains(column);
        for span in &problem.made {
            for (column, bits) in words(span.first, span.end).filter(is_here) {
                self.transfer[at(column, span.block as usize)][0] |= bits;
            }
        }
        for span in &problem.killed {
            for (column, bits) in words(span.first, span.end).filter(is_here) {
                self.transfer[at(column, span.block as usize)][1] &= !bits;
            }
        }
        for kill in &problem.set_kills {
            for (column, bits) in problem.sets[kill.set as usize].words(&columns) {
                self.transfer[at(column, kill.block as usize)][1] &= !bits;
            }
        }
        let mut coming = vec![0_u64; columns.len()];
        for (first, end) in &problem.boundary {
            for (column, bits) in words(*first, *end).filter(is_here) {
                coming[column - columns.start] |= bits;
            }
        }
        for column in columns.clone() {
            let all = below(problem.facts - column as u32 * 64);
            let coming = coming[column - columns.start];
            for block in 0..blocks {
                let is_boundary = match setup.direction {
                    Direction::Forward => block == 0,
                    Direction::Backward => body.is_exit(block),
                };
                let node = at(column, block);
                let [made, kept] = self.transfer[node];
                self.transfer[node] = match setup.meet {
                    Meet::Any => {
                        let coming = if is_boundary { coming } else { 0 };
                        [made | coming & kept, kept]
                    }
                    Meet::All => {
                        let coming = if is_boundary { !coming } else { 0 };
                        [(!kept | coming) & !made & all, !made]
                    }
                };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Block;

    fn body(blocks: usize, edges: &[(u32, u32)]) -> Body {
        let mut body = Body::default();
        for block in 0..blocks as u32 {
            let row = edges.iter().filter(|edge| edge.0 == block);
            body.push(Block::default(), row.map(|edge| edge.1));
        }
        body
    }

    #[test]
    fn small_columns_share_a_range_and_long_ones_come_first() {
        let sizes = [100, 28, 1, 300, 5, 2000, 129];
        let bodies = sizes.map(|blocks| body(blocks, &[]));
        let bodies: Vec<&Body> = bodies.iter().collect();
        let mut pieces = Vec::new();
        let mut base = 0;
        for (function, blocks) in sizes.into_iter().enumerate() {
            let columns = 0..if blocks == 5 { 3 } else { 1 };
            pieces.push(Piece {
                function,
                columns: columns.clone(),
                base,
            });
            base += blocks * columns.len();
        }
        let found = ranges(&bodies, &pieces);
        let ends = [
            [444, 2444],
            [129, 429],
            [0, 128],
            [128, 129],
            [429, 444],
            [2444, 2573],
        ];
        assert_eq!((found.ends, found.large), (ends.to_vec(), 2));
        let (parts, count) = parts(&bodies, &pieces[3..5]);
        assert_eq!((parts.len(), count), (315, 4));
        assert_eq!((parts[299], parts[300], parts[314]), (0, 1, 3));
    }

    #[test]
    fn loops_nest_that_have_a_block_in_common() {
        let chain: Vec<(u32, u32)> = (1..6).map(|block| (block - 1, block)).collect();
        let with = |more: &[(u32, u32)]| nesting(&body(6, &[&chain, more].concat()));
        assert_eq!(with(&[]), 0);
        assert_eq!(with(&[(3, 3)]), 1);
        assert_eq!(with(&[(1, 0), (3, 2)]), 1);
        assert_eq!(with(&[(3, 0), (4, 0), (3, 2)]), 2);
        assert_eq!(with(&[(5, 0), (4, 1), (3, 2)]), 3);
        // Each of these loops has all blocks after its own.
        assert_eq!(with(&[(1, 0), (2, 1), (3, 2), (4, 3), (5, 4)]), 5);
        assert_eq!(with(&[(1, 0), (3, 2), (5, 4)]), 1);
    }
}
