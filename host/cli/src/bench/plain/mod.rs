//! Plain loops of one thread, written by hand: the same algorithms as the composed programs of
//! analyses, round for round, as a user of the standard library would write them.

mod colouring;
mod forest;
mod labels;
mod paths;
mod ranks;
mod sets;

pub(super) use colouring::colouring;
pub(super) use forest::forest;
pub(super) use labels::labels;
pub(super) use paths::{betweenness, widest};
pub(super) use ranks::ranks;
pub(super) use sets::independent;

use seawall::graph::Graph;
use std::ops::Range;

/// Rows of outgoing edges.
#[derive(Clone, Copy)]
pub(super) struct Rows<'g> {
    offsets: &'g [u32],
    targets: &'g [u32],
    weights: &'g [u32],
}

impl<'g> Rows<'g> {
    pub(super) fn of(graph: &'g Graph) -> Self {
        Self {
            offsets: graph.offsets(),
            targets: graph.targets(),
            weights: graph.weights().unwrap_or(&[]),
        }
    }

    fn nodes(self) -> u32 {
        self.offsets.len() as u32 - 1
    }

    fn edges(self, node: u32) -> Range<usize> {
        self.offsets[node as usize] as usize..self.offsets[node as usize + 1] as usize
    }

    fn row(self, node: u32) -> &'g [u32] {
        &self.targets[self.edges(node)]
    }

    pub(super) fn degree(self, node: u32) -> u32 {
        self.row(node).len() as u32
    }
}
