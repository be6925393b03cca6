//! A tree of lightest paths, from the final distances.
//!
//! An edge is tight if the distance of its end is that of its start plus its weight. The parent of
//! a node is the smallest of the nearer nodes with a tight edge to it. A node without one has tight
//! edges from nodes of equal distance, along weights of 0 (or float weights too small to count);
//! its parent is then the smallest of those that are the fewest of these edges from a node with a
//! nearer parent, or from a source. Either distances or numbers of edges fall along parents, so
//! there is no cycle.
//!
//! O(nodes + edges), in two passes.

use crate::column::Column;
use crate::graph::Graph;
use seawall_core::abi::UNREACHED;

/// Arithmetic of distances along edges.
#[derive(Clone, Copy)]
enum Lengths<'c> {
    Whole(&'c [u32]),
    Wide(&'c [u64]),
    Float(&'c [f32]),
}

/// Relation of the ends of a tight edge.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Tight {
    Nearer,
    Level,
}

impl<'c> Lengths<'c> {
    const fn of(column: &'c Column) -> Option<Self> {
        match column {
            Column::U32(lengths) => Some(Self::Whole(lengths.as_slice())),
            Column::U64(lengths) => Some(Self::Wide(lengths.as_slice())),
            Column::F32(lengths) => Some(Self::Float(lengths.as_slice())),
            Column::I64(_) | Column::Sets(_) => None,
        }
    }

    fn is_reached(self, node: u32) -> bool {
        let node = node as usize;
        match self {
            Self::Whole(lengths) => lengths[node] != UNREACHED,
            Self::Wide(lengths) => lengths[node] != u64::MAX,
            Self::Float(lengths) => lengths[node].is_finite(),
        }
    }

    /// Returns how an edge of this weight word between reached nodes is tight, if it is.
    fn tight(self, [from, to]: [u32; 2], word: u32) -> Option<Tight> {
        let (from, to) = (from as usize, to as usize);
        let (is_tight, is_level) = match self {
            Self::Whole(lengths) => {
                let (near, far) = (u64::from(lengths[from]), u64::from(lengths[to]));
                (near + u64::from(word) == far, near == far)
            }
            Self::Wide(lengths) => {
                let (near, far) = (lengths[from], lengths[to]);
                (near.checked_add(u64::from(word)) == Some(far), near == far)
            }
            Self::Float(lengths) => {
                let (near, far) = (lengths[from], lengths[to]);
                (near + f32::from_bits(word) == far, near == far)
            }
        };
        let how = if is_level {
            Tight::Level
        } else {
            Tight::Nearer
        };
        is_tight.then_some(how)
    }
}

/// The parent of every node on lightest paths from `sources`; a source is its own parent, and a
/// node without a path has none. A run that a limit ended may leave nodes without a parent.
pub(super) fn parents(graph: &Graph, sources: &[u32], column: &Column) -> Option<Vec<u32>> {
    let lengths = Lengths::of(column)?;
    if column.len() != graph.nodes() as usize {
        return None;
    }
    let tree = Tree {
        graph,
        lengths,
        parents: vec![UNREACHED; graph.nodes() as usize],
    };
    Some(tree.grow(sources))
}

struct Tree<'a> {
    graph: &'a Graph,
    lengths: Lengths<'a>,
    parents: Vec<u32>,
}

impl Tree<'_> {
    fn grow(mut self, sources: &[u32]) -> Vec<u32> {
        let nodes = self.graph.nodes();
        for node in 0..nodes {
            self.each_tight(node, |parents, to, how| {
                // Nodes come in order, so the first is the smallest.
                if how == Tight::Nearer && parents[to] == UNREACHED {
                    parents[to] = node;
                }
            });
        }
        for source in sources {
            self.parents[*source as usize] = *source;
        }
        let mut level: Vec<u32> = (0..nodes)
            .filter(|node| self.parents[*node as usize] != UNREACHED)
            .collect();
        while !level.is_empty() {
            let mut next = Vec::new();
            // In order, so that the first to reach a node is the smallest.
            for node in level {
                self.each_tight(node, |parents, to, _| {
                    if parents[to] == UNREACHED {
                        parents[to] = node;
                        next.push(to as u32);
                    }
                });
            }
            next.sort_unstable();
            level = next;
        }
        self.parents
    }

    /// Calls `found` for every tight edge of `node`, with the node at its end.
    fn each_tight(&mut self, node: u32, mut found: impl FnMut(&mut [u32], usize, Tight)) {
        if !self.lengths.is_reached(node) {
            return;
        }
        let (graph, lengths) = (self.graph, self.lengths);
        for edge in graph.outgoing().row(node) {
            let to = graph.targets()[edge];
            let word = graph.weights().map_or(1, |weights| weights[edge]);
            if lengths.is_reached(to)
                && let Some(how) = lengths.tight([node, to], word)
            {
                found(&mut self.parents, to as usize, how);
            }
        }
    }
}
