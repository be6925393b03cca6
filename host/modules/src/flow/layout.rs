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

/// Bytes that a node takes on the machine: made, kept and passed on facts, its part, its row's
/// offset.
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
    made: &'a mut [u64],
    kept: &'a mut [u64],
    parts: &'a mut [u32],
    /// Number of its first edge.
    first_edge: usize,
    /// Number of its first column among those of all pieces.
    first_column: u32,
}

/// Arrays of a submission.
pub(super) struct Arrays {
    pub(super) graph: CsrArrays,
    pub(super) made: Vec<u64>,
    pub(super) kept: Vec<u64>,
    /// The part of each node: a column of a function. Nothing flows from one part to another.
    pub(super) parts: Vec<u32>,
    /// Number of parts.
    pub(super) part_count: u32,
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
    let (mut made, mut kept) = (vec![0_u64; nodes], vec![u64::MAX; nodes]);
    let mut of_nodes = vec![0_u32; nodes];
    graph.offsets[nodes] = edges as u32;
    let mut rest = (
        graph.offsets.as_mut_slice(),
        graph.targets.as_mut_slice(),
        made.as_mut_slice(),
        kept.as_mut_slice(),
        of_nodes.as_mut_slice(),
    );
    let mut parts = Vec::with_capacity(pieces.len());
    let (mut first_edge, mut first_column) = (0, 0);
    for piece in pieces {
        let (nodes, edges) = (blocks_of(piece), edges_of(piece));
        let (offsets, offsets_left) = rest.0.split_at_mut(nodes);
        let (targets, targets_left) = rest.1.split_at_mut(edges);
        let (made, made_left) = rest.2.split_at_mut(nodes);
        let (kept, kept_left) = rest.3.split_at_mut(nodes);
        let (of_nodes, of_nodes_left) = rest.4.split_at_mut(nodes);
        rest = (
            offsets_left,
            targets_left,
            made_left,
            kept_left,
            of_nodes_left,
        );
        parts.push(Part {
            piece,
            offsets,
            targets,
            made,
            kept,
            parts: of_nodes,
            first_edge,
            first_column,
        });
        first_edge += edges;
        first_column += piece.columns.len() as u32;
    }
    parts.into_par_iter().for_each(|mut part| {
        let body = bodies[part.piece.function];
        part.fill_rows(body, setup.direction);
        part.fill_facts(body, &problems[part.piece.function], setup);
    });
    Arrays {
        graph,
        made,
        kept,
        parts: of_nodes,
        part_count: first_column,
    }
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
                (starts, row) = predecessors(body);
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
            self.parts[column * blocks..(column + 1) * blocks]
                .fill(self.first_column + column as u32);
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
                self.made[at(column, span.block as usize)] |= bits;
            }
        }
        for span in &problem.killed {
            for (column, bits) in words(span.first, span.end).filter(is_here) {
                self.kept[at(column, span.block as usize)] &= !bits;
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
                let (made, kept) = (self.made[node], self.kept[node]);
                let (made, kept) = match setup.meet {
                    Meet::Any => {
                        let coming = if is_boundary { coming } else { 0 };
                        (made | coming & kept, kept)
                    }
                    Meet::All => {
                        let coming = if is_boundary { !coming } else { 0 };
                        ((!kept | coming) & !made & all, !made)
                    }
                };
                (self.made[node], self.kept[node]) = (made, kept);
            }
        }
    }
}
