//! Strongly connected components by depth-first search.

use crate::graph::Graph;

/// The smallest node of each node's component (Tarjan, "Depth-First Search and Linear Graph
/// Algorithms", 1972), with an explicit stack. O(nodes + edges).
#[must_use]
pub fn strong_components(graph: &Graph) -> Vec<u32> {
    let count = graph.nodes() as usize;
    let mut search = Search {
        order: vec![0; count],
        low: vec![0; count],
        label: vec![u32::MAX; count],
        open: Vec::new(),
        next: 1,
    };
    for root in 0..graph.nodes() {
        if search.order[root as usize] == 0 {
            search.from(graph, root);
        }
    }
    search.label
}

struct Search {
    /// Place of each node in the order of discovery, from 1 on; 0 before.
    order: Vec<u32>,
    /// Least place that a node is known to reach.
    low: Vec<u32>,
    label: Vec<u32>,
    /// Nodes whose component is not complete.
    open: Vec<u32>,
    next: u32,
}

impl Search {
    fn enter(&mut self, node: u32) {
        self.order[node as usize] = self.next;
        self.low[node as usize] = self.next;
        self.next += 1;
        self.open.push(node);
    }

    fn from(&mut self, graph: &Graph, root: u32) {
        self.enter(root);
        let mut path = vec![(root, 0)];
        while let Some((node, at)) = path.last_mut() {
            let node = *node;
            let Some(to) = graph.neighbours(node).get(*at).copied() else {
                path.pop();
                self.close(node);
                if let Some((parent, _)) = path.last() {
                    let low = self.low[node as usize].min(self.low[*parent as usize]);
                    self.low[*parent as usize] = low;
                }
                continue;
            };
            *at += 1;
            if self.order[to as usize] == 0 {
                self.enter(to);
                path.push((to, 0));
            } else if self.label[to as usize] == u32::MAX {
                let low = self.low[node as usize].min(self.order[to as usize]);
                self.low[node as usize] = low;
            }
        }
    }

    /// Completes the component of `node` if that was its first node.
    fn close(&mut self, node: u32) {
        if self.low[node as usize] != self.order[node as usize] {
            return;
        }
        let place = self.open.iter().rposition(|open| *open == node);
        let members = self.open.split_off(place.unwrap_or(0));
        let least = members.iter().min().copied().unwrap_or(node);
        for member in members {
            self.label[member as usize] = least;
        }
    }
}
