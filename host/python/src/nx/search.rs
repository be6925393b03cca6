//! Searches that visit nodes in the order in which NetworkX does.

use super::rows::Rows;
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// Stands for no node.
pub(crate) const NONE: u32 = u32::MAX;

/// A breadth-first search, with memory that is kept from search to search.
#[derive(Debug, Default)]
pub(crate) struct Levels {
    /// Reached nodes in the order in which they were found.
    pub(crate) order: Vec<u32>,
    /// Level of every node, [`NONE`] where none is known.
    pub(crate) level: Vec<u32>,
    /// The node from which each was found.
    pub(crate) parent: Vec<u32>,
}

impl Levels {
    /// Prepares for a graph of `nodes` nodes.
    pub(crate) fn new(nodes: usize) -> Self {
        Self {
            order: Vec::new(),
            level: vec![NONE; nodes],
            parent: vec![NONE; nodes],
        }
    }

    /// Searches from `sources` up to level `cutoff`. Time is linear in what is reached, and in
    /// what the search before reached.
    pub(crate) fn search(&mut self, rows: &Rows, sources: &[u32], cutoff: u32) {
        for node in self.order.drain(..) {
            self.level[node as usize] = NONE;
            self.parent[node as usize] = NONE;
        }
        for &source in sources {
            if self.level[source as usize] == NONE {
                self.level[source as usize] = 0;
                self.order.push(source);
            }
        }
        let mut at = 0;
        while let Some(&node) = self.order.get(at) {
            at += 1;
            let level = self.level[node as usize];
            if level >= cutoff {
                break;
            }
            for &next in rows.of(node) {
                if self.level[next as usize] == NONE {
                    self.level[next as usize] = level + 1;
                    self.parent[next as usize] = node;
                    self.order.push(next);
                }
            }
        }
    }

    /// The sum of all levels.
    pub(crate) fn total(&self) -> u64 {
        let level = |node: &u32| u64::from(self.level[*node as usize]);
        self.order.iter().map(level).sum()
    }

    /// The largest level.
    pub(crate) fn largest(&self) -> u32 {
        self.order
            .last()
            .map_or(0, |last| self.level[*last as usize])
    }
}

/// Lengths of paths.
pub(crate) trait Length: Copy + Default + Send + Sync {
    /// The length of the path with one more edge.
    fn plus(self, weight: Self) -> Self;
    /// The order of lengths.
    fn order(self, other: Self) -> Ordering;
}

impl Length for i64 {
    fn plus(self, weight: Self) -> Self {
        self.saturating_add(weight)
    }

    fn order(self, other: Self) -> Ordering {
        self.cmp(&other)
    }
}

impl Length for f64 {
    fn plus(self, weight: Self) -> Self {
        // Adding 0.0 turns -0.0 into 0.0, so that equal lengths are equal in this order.
        self + weight + 0.0
    }

    fn order(self, other: Self) -> Ordering {
        self.total_cmp(&other)
    }
}

/// An entry of the heap: shorter lengths first, then those that were pushed earlier.
#[derive(Clone, Copy)]
struct Entry<W> {
    length: W,
    count: usize,
    node: u32,
}

impl<W: Length> Ord for Entry<W> {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_length = self.length.order(other.length);
        by_length.then_with(|| self.count.cmp(&other.count))
    }
}

impl<W: Length> PartialOrd for Entry<W> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<W: Length> PartialEq for Entry<W> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl<W: Length> Eq for Entry<W> {}

/// A path to a finished node became shorter, so some weight is negative.
#[derive(Debug)]
pub(crate) struct Contradiction;

/// The goal of a search for lightest paths.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Goal<W> {
    /// The longest length to keep.
    pub(crate) cutoff: Option<W>,
    /// The node at which the search ends.
    pub(crate) target: Option<u32>,
    /// Whether all parents are kept, or the first alone.
    pub(crate) all_parents: bool,
}

/// Dijkstra's search, as NetworkX has it: equal lengths in the order of their pushes.
#[derive(Debug, Default)]
pub(crate) struct Lengths<W> {
    /// Nodes in the order in which they were finished.
    pub(crate) order: Vec<u32>,
    /// Nodes in the order in which a parent of theirs was first noted.
    pub(crate) noted: Vec<u32>,
    /// Length of the path to each node that was seen.
    pub(crate) length: Vec<W>,
    /// First parent of each node.
    pub(crate) parent: Vec<u32>,
    /// All parents of each node, if requested.
    pub(crate) parents: Vec<Vec<u32>>,
    /// Whether each node was seen, and whether it was finished.
    state: Vec<u8>,
}

const SEEN: u8 = 1;
const DONE: u8 = 2;

impl<W: Length> Lengths<W> {
    /// Prepares for a graph of `nodes` nodes.
    pub(crate) fn new(nodes: usize) -> Self {
        Self {
            order: Vec::new(),
            noted: Vec::new(),
            length: vec![W::default(); nodes],
            parent: vec![NONE; nodes],
            parents: Vec::new(),
            state: vec![0; nodes],
        }
    }

    /// Tells whether the path to `node` is known to be the lightest.
    pub(crate) fn is_done(&self, node: u32) -> bool {
        self.state[node as usize] == DONE
    }

    /// Searches from `sources` along `weight(place of an edge)`.
    ///
    /// # Errors
    /// [`Contradiction`] where a negative weight made a finished path shorter.
    pub(crate) fn search(
        &mut self,
        rows: &Rows,
        weight: impl Fn(usize) -> W,
        sources: &[u32],
        goal: Goal<W>,
    ) -> Result<(), Contradiction> {
        self.order.clear();
        self.noted.clear();
        self.state.fill(0);
        self.parent.fill(NONE);
        if goal.all_parents {
            self.parents = vec![Vec::new(); rows.nodes()];
        }
        let mut heap = BinaryHeap::new();
        let mut count = 0;
        for &node in sources {
            self.state[node as usize] = SEEN;
            self.length[node as usize] = W::default();
            heap.push(Reverse(Entry {
                length: W::default(),
                count,
                node,
            }));
            count += 1;
        }
        while let Some(Reverse(Entry { length, node, .. })) = heap.pop() {
            if self.is_done(node) {
                continue;
            }
            self.state[node as usize] = DONE;
            self.length[node as usize] = length;
            self.order.push(node);
            if goal.target == Some(node) {
                break;
            }
            for place in rows.range(node) {
                let next = rows.targets[place];
                let longer = length.plus(weight(place));
                if goal.cutoff.is_some_and(|most| longer.order(most).is_gt()) {
                    continue;
                }
                if self.relax(node, next, longer, goal.all_parents)? {
                    heap.push(Reverse(Entry {
                        length: longer,
                        count,
                        node: next,
                    }));
                    count += 1;
                }
            }
        }
        Ok(())
    }

    /// Notes a path to `next` over `node`; tells whether it is shorter than those before.
    fn relax(
        &mut self,
        node: u32,
        next: u32,
        longer: W,
        all_parents: bool,
    ) -> Result<bool, Contradiction> {
        let at = next as usize;
        let order = longer.order(self.length[at]);
        match (self.state[at], order) {
            (DONE, Ordering::Less) => return Err(Contradiction),
            (DONE | SEEN, Ordering::Equal) => {
                if all_parents {
                    self.parents[at].push(node);
                }
                return Ok(false);
            }
            (DONE | SEEN, Ordering::Greater) => return Ok(false),
            (SEEN, Ordering::Less) => (),
            _ => self.noted.push(next),
        }
        self.state[at] = SEEN;
        self.length[at] = longer;
        self.parent[at] = node;
        if all_parents {
            self.parents[at] = vec![node];
        }
        Ok(true)
    }
}
