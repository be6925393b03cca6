//! Test graphs: shapes that are hard for searches, and random ones.
//!
//! An [`EdgeList`] keeps the drawn edges, self loops and duplicates included, so that the oracles
//! never read the graph under test.

use crate::random::Random;
use seawall::graph::{Graph, GraphError};
use std::collections::BTreeSet;

/// The drawn edges.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EdgeList {
    /// Nodes of the graph.
    pub nodes: u32,
    /// Edges, self loops and duplicates included.
    pub edges: Vec<(u32, u32)>,
    /// Whether each edge also counts in the other direction.
    pub undirected: bool,
}

impl EdgeList {
    /// Returns the graph of these edges, each once and without self loops, as most analyses take
    /// it.
    ///
    /// # Errors
    /// If an edge ends outside the graph.
    pub fn graph(&self) -> Result<Graph, GraphError> {
        Graph::from_edges(self.nodes, &self.simple(), self.undirected)
    }

    /// Returns these edges, each once and without self loops, in order.
    #[must_use]
    pub fn simple(&self) -> Vec<(u32, u32)> {
        let ends = |&(from, to): &(u32, u32)| match self.undirected {
            true => (from.min(to), from.max(to)),
            false => (from, to),
        };
        let edges: BTreeSet<_> = self.edges.iter().map(ends).collect();
        edges.into_iter().filter(|(from, to)| from != to).collect()
    }

    /// Returns the graph of these edges with self loops and duplicates.
    ///
    /// # Errors
    /// If an edge ends outside the graph.
    pub fn as_listed(&self) -> Result<Graph, GraphError> {
        Graph::from_edges(self.nodes, &self.edges, self.undirected)
    }

    /// Returns the edges of `graph`, each in its listed directions.
    #[must_use]
    pub fn of(graph: &Graph) -> Self {
        let row = |node| graph.neighbours(node).iter().map(move |&to| (node, to));
        Self {
            nodes: graph.nodes(),
            edges: (0..graph.nodes()).flat_map(row).collect(),
            undirected: false,
        }
    }

    /// Returns the targets of every node, in both directions if `both` or the list requires it.
    #[must_use]
    pub fn adjacency(&self, both: bool) -> Vec<Vec<u32>> {
        let mut rows = vec![Vec::new(); self.nodes as usize];
        for &(from, to) in &self.edges {
            rows[from as usize].push(to);
            if both || self.undirected {
                rows[to as usize].push(from);
            }
        }
        rows
    }
}

/// Shape of a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Nodes without edges.
    Bare,
    /// Nothing but self loops.
    SelfLoops,
    /// One node joined to all others.
    Star,
    /// A few nodes joined to all others: frontiers that jump from few to all.
    Stars,
    /// A path: as many levels as nodes.
    Path,
    /// A path whose nodes are shuffled, closed to a ring.
    Ring,
    /// Every pair of at most 90 nodes.
    Clique,
    /// About two edges per node: many small components.
    Thin,
    /// About eight edges per node.
    Random,
    /// About 64 edges per node.
    Thick,
    /// A path of cliques: frontiers that grow and shrink again and again.
    Beads,
    /// A binary tree: frontiers that double.
    Tree,
}

/// Every shape.
pub const SHAPES: [Shape; 12] = [
    Shape::Bare,
    Shape::SelfLoops,
    Shape::Star,
    Shape::Stars,
    Shape::Path,
    Shape::Ring,
    Shape::Clique,
    Shape::Thin,
    Shape::Random,
    Shape::Thick,
    Shape::Beads,
    Shape::Tree,
];

/// Draws a graph of `shape` with at most `nodes` nodes.
#[must_use]
pub fn draw(shape: Shape, nodes: u32, undirected: bool, random: &mut Random) -> EdgeList {
    let nodes = if shape == Shape::Clique {
        nodes.min(90)
    } else {
        nodes
    };
    let mut edges = match shape {
        Shape::Bare => Vec::new(),
        Shape::SelfLoops => (0..nodes).map(|node| (node, node)).collect(),
        Shape::Star => (1..nodes).map(|node| (0, node)).collect(),
        Shape::Stars => stars(nodes, random),
        Shape::Path => (1..nodes).map(|node| (node - 1, node)).collect(),
        Shape::Ring => ring(nodes, random),
        Shape::Clique => pairs(0, nodes),
        Shape::Thin => uniform(nodes, nodes, random),
        Shape::Random => uniform(nodes, nodes.saturating_mul(8), random),
        Shape::Thick => uniform(nodes, nodes.saturating_mul(64).min(400_000), random),
        Shape::Beads => beads(nodes),
        Shape::Tree => (1..nodes).map(|node| ((node - 1) / 2, node)).collect(),
    };
    if random.once_in(3) {
        let again: Vec<_> = edges.iter().step_by(3).copied().collect();
        edges.extend(again);
        edges.extend((0..nodes).step_by(5).map(|node| (node, node)));
    }
    EdgeList {
        nodes,
        edges,
        undirected,
    }
}

/// Draws sources of a search: none, one, several, repeated, far apart, all.
#[must_use]
pub fn draw_sources(nodes: u32, random: &mut Random) -> Vec<u32> {
    if nodes == 0 || random.once_in(12) {
        return Vec::new();
    }
    if random.once_in(10) {
        return (0..nodes).collect();
    }
    let count = if random.once_in(2) {
        1
    } else {
        1 + random.below(70)
    };
    let mut sources: Vec<u32> = (0..count).map(|_| random.below(nodes)).collect();
    if random.once_in(3) {
        sources.push(0);
        sources.push(nodes - 1);
        sources.extend_from_within(..);
    }
    sources
}

fn pairs(first: u32, end: u32) -> Vec<(u32, u32)> {
    (first..end)
        .flat_map(|from| (from + 1..end).map(move |to| (from, to)))
        .collect()
}

fn uniform(nodes: u32, edges: u32, random: &mut Random) -> Vec<(u32, u32)> {
    let edges = if nodes == 0 { 0 } else { edges };
    (0..edges)
        .map(|_| (random.below(nodes), random.below(nodes)))
        .collect()
}

fn stars(nodes: u32, random: &mut Random) -> Vec<(u32, u32)> {
    let hubs = 4.min(nodes);
    let mut edges: Vec<_> = (0..hubs)
        .flat_map(|hub| (0..nodes).map(move |node| (hub, node)))
        .collect();
    edges.extend(uniform(nodes, nodes / 2, random));
    edges
}

fn ring(nodes: u32, random: &mut Random) -> Vec<(u32, u32)> {
    let mut order: Vec<u32> = (0..nodes).collect();
    for at in (1..order.len()).rev() {
        order.swap(at, random.below(at as u32 + 1) as usize);
    }
    let next = order.iter().cycle().skip(1);
    order.iter().copied().zip(next.copied()).collect()
}

fn beads(nodes: u32) -> Vec<(u32, u32)> {
    const BEAD: u32 = 40;
    let mut edges = Vec::new();
    for first in (0..nodes).step_by(BEAD as usize) {
        let end = (first + BEAD).min(nodes);
        edges.extend(pairs(first, first + (end - first) / 2));
        edges.extend((first + 1..end).map(|node| (node - 1, node)));
        if end < nodes {
            edges.push((end - 1, end));
        }
    }
    edges
}

/// A graph in which `hubs` nodes have an edge to about eleven in twelve of all others, and the
/// others have a few edges to each other.
#[must_use]
pub fn with_hubs(nodes: u32, hubs: u32, random: &mut Random) -> EdgeList {
    let mut edges = Vec::new();
    for hub in 0..hubs {
        edges.extend((hub + 1..nodes).map(|other| (hub, other)));
    }
    edges.retain(|_| random.below(12) != 0);
    edges.extend((0..nodes).map(|_| (random.below(nodes), random.below(nodes))));
    EdgeList {
        nodes,
        edges,
        undirected: true,
    }
}

/// Adds between half of `edges` and one and a half times as many edges to each node.
pub fn add_rows(list: &mut EdgeList, edges: u32, random: &mut Random) {
    for from in 0..list.nodes {
        let count = edges / 2 + random.below(edges + 1);
        let more = (0..count).map(|_| (from, random.below(list.nodes)));
        list.edges.extend(more);
    }
}
