//! Core numbers by repeatedly removing a node of least degree.

use crate::graph::Graph;

/// Core number of every node of a symmetric graph, by buckets of degrees
/// (Batagelj, Zaversnik: "An O(m) Algorithm for Cores Decomposition of
/// Networks", 2003). O(nodes + edges).
#[must_use]
pub fn cores(graph: &Graph) -> Vec<u32> {
    let mut buckets = Buckets::new(graph);
    for place in 0..buckets.order.len() {
        let node = buckets.order[place];
        let level = buckets.degree[node as usize];
        for neighbour in others(graph, node) {
            if buckets.degree[neighbour as usize] > level {
                buckets.lower(neighbour);
            }
        }
    }
    buckets.degree
}

/// Neighbours of a node, each once, without the node itself.
pub(in crate::analysis) fn others(graph: &Graph, node: u32) -> impl Iterator<Item = u32> {
    let mut last = None;
    let row = graph.neighbours(node).iter().copied();
    row.filter(move |other| last.replace(*other) != Some(*other) && *other != node)
}

/// Nodes in order of their degrees.
struct Buckets {
    degree: Vec<u32>,
    order: Vec<u32>,
    place: Vec<usize>,
    first: Vec<usize>,
}

impl Buckets {
    fn new(graph: &Graph) -> Self {
        let nodes = graph.nodes();
        let degree: Vec<u32> = (0..nodes)
            .map(|node| others(graph, node).count() as u32)
            .collect();
        let mut order: Vec<u32> = (0..nodes).collect();
        order.sort_by_key(|node| degree[*node as usize]);
        let mut place = vec![0; nodes as usize];
        for (at, node) in order.iter().enumerate() {
            place[*node as usize] = at;
        }
        let most = degree.iter().max().map_or(0, |degree| *degree as usize);
        let first = (0..=most)
            .map(|wanted| order.partition_point(|node| (degree[*node as usize] as usize) < wanted))
            .collect();
        Self {
            degree,
            order,
            place,
            first,
        }
    }

    /// Moves `node` to the next lower bucket: it swaps places with the first node of its own
    /// bucket, which then starts one place later.
    fn lower(&mut self, node: u32) {
        let degree = self.degree[node as usize] as usize;
        let (from, to) = (self.place[node as usize], self.first[degree]);
        self.order.swap(from, to);
        self.place[self.order[from] as usize] = from;
        self.place[node as usize] = to;
        self.first[degree] += 1;
        self.degree[node as usize] -= 1;
    }
}
