//! Connected components by one pass: every edge links the trees of its ends.
//!
//! A tree hangs the larger of two roots below the smaller, so a root is the smallest node of its
//! tree, whatever the order of edges and threads.

use super::checks::target;
use super::consumer::Kernel;
use super::view::View;
use crate::graph::BinaryProblem;
use crate::graph::memory::{Shortage, reserve_exact};
use std::sync::atomic::{AtomicU32, Ordering};

/// The parent of each node in its tree; a root is its own parent.
pub(super) struct Components(Vec<AtomicU32>);

impl Components {
    pub(super) fn new(nodes: u32) -> Result<Self, Shortage> {
        let mut parents = Vec::new();
        reserve_exact(&mut parents, nodes as usize)?;
        parents.extend((0..nodes).map(AtomicU32::new));
        Ok(Self(parents))
    }

    #[inline]
    fn parent(&self, node: u32) -> u32 {
        self.0[node as usize].load(Ordering::Relaxed)
    }

    /// The root of a node. Parents only fall, so a shortcut stays valid.
    #[inline]
    fn root(&self, mut node: u32) -> u32 {
        loop {
            let parent = self.parent(node);
            let above = self.parent(parent);
            if parent == above {
                return parent;
            }
            self.0[node as usize].fetch_min(above, Ordering::Relaxed);
            node = above;
        }
    }

    #[inline]
    fn link(&self, a: u32, b: u32) {
        let (mut a, mut b) = (self.root(a), self.root(b));
        while a != b {
            let (high, low) = (a.max(b), a.min(b));
            let cell = &self.0[high as usize];
            let linked = cell.compare_exchange(high, low, Ordering::Relaxed, Ordering::Relaxed);
            if linked.is_ok() {
                return;
            }
            (a, b) = (self.root(high), self.root(low));
        }
    }

    /// The smallest node of each component, by node.
    pub(super) fn into_labels(self) -> Vec<u32> {
        labels(self.0.into_iter().map(AtomicU32::into_inner).collect())
    }
}

/// The root of each node, for trees whose parents are not above their children.
pub(super) fn labels(mut parents: Vec<u32>) -> Vec<u32> {
    // A parent is smaller than its node, so it has its root already.
    for node in 0..parents.len() {
        let above = parents[node] as usize;
        parents[node] = parents.get(above).copied().unwrap_or(0);
    }
    parents
}

impl Kernel for Components {
    fn take(&self, view: &View<'_>, _: &dyn Fn() -> bool) -> Result<(), BinaryProblem> {
        let nodes = self.0.len() as u32;
        view.each_row(|row, edges| {
            for at in edges {
                let to = view.targets[at];
                if to >= nodes {
                    return Err(target(view, at, nodes));
                }
                self.link(row, to);
            }
            Ok(())
        })
    }
}
