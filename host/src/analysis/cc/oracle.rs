//! Components by searches in both directions.

use crate::graph::Graph;
use seawall_core::abi::UNREACHED;

/// Smallest node of each node's component, by searches over the edges in both
/// directions. O(nodes + edges).
#[must_use]
pub fn components(graph: &Graph) -> Vec<u32> {
    let mut labels = vec![UNREACHED; graph.nodes() as usize];
    let incoming = graph.incoming();
    let mut stack = Vec::new();
    for root in 0..graph.nodes() {
        if labels[root as usize] != UNREACHED {
            continue;
        }
        labels[root as usize] = root;
        stack.push(root);
        while let Some(node) = stack.pop() {
            for target in graph
                .neighbours(node)
                .iter()
                .chain(incoming.neighbours(node))
            {
                if labels[*target as usize] == UNREACHED {
                    labels[*target as usize] = root;
                    stack.push(*target);
                }
            }
        }
    }
    labels
}
