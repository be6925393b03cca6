//! Plain sequential implementations, to compare with.
//!
//! They are as simple as can be and call nothing that they judge. The queue
//! search is also the baseline of one CPU core.

mod cores;
mod details;
mod paths;
mod ranks;
mod triangles;

pub use cores::cores;
pub use details::{parents, reached_from};
pub use paths::{distances, distances_in_doubles};
pub use ranks::{Ranked, agrees, rank_tolerance, ranks};
pub use triangles::triangles;

use crate::graph::Graph;
use seawall_core::abi::UNREACHED;
use std::collections::VecDeque;

/// Level of every node from `sources` by a queue; nodes further than
/// `max_levels` edges stay unreached. Sources that are no nodes do not count.
/// O(nodes + edges).
#[must_use]
pub fn levels(graph: &Graph, sources: &[u32], max_levels: u32) -> Vec<u32> {
    let mut levels = vec![UNREACHED; graph.nodes() as usize];
    let mut queue = VecDeque::new();
    for source in sources {
        if let Some(level @ &mut UNREACHED) = levels.get_mut(*source as usize) {
            *level = 0;
            queue.push_back(*source);
        }
    }
    while let Some(node) = queue.pop_front() {
        let level = levels[node as usize] + 1;
        if level > max_levels {
            break;
        }
        for target in graph.neighbours(node) {
            if levels[*target as usize] == UNREACHED {
                levels[*target as usize] = level;
                queue.push_back(*target);
            }
        }
    }
    levels
}

/// 1 for every node that `sources` reach within `max_levels` edges, else 0.
#[must_use]
pub fn reached(graph: &Graph, sources: &[u32], max_levels: u32) -> Vec<u32> {
    levels(graph, sources, max_levels)
        .into_iter()
        .map(|level| u32::from(level != UNREACHED))
        .collect()
}

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
