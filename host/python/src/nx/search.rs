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
    /// The reached nodes: bits stay in the caches, where levels of many nodes do not.
    seen: Bits,
}

/// A set of nodes.
#[derive(Debug, Default)]
struct Bits(Vec<u64>);

impl Bits {
    fn new(nodes: usize) -> Self {
        Self(vec![0; nodes.div_ceil(64)])
    }

    /// Adds a node; tells whether it is new.
    fn insert(&mut self, node: u32) -> bool {
        let (word, bit) = (&mut self.0[node as usize / 64], 1 << (node % 64));
        let is_new = *word & bit == 0;
        *word |= bit;
        is_new
    }

    fn remove(&mut self, node: u32) {
        self.0[node as usize / 64] &= !(1 << (node % 64));
    }
}

impl Levels {
    /// Prepares for a graph of `nodes` nodes.
    pub(crate) fn new(nodes: usize) -> Self {
        Self {
            order: Vec::new(),
            level: vec![NONE; nodes],
            parent: vec![NONE; nodes],
            seen: Bits::new(nodes),
        }
    }

    /// Searches from `sources` up to level `cutoff`. Time is linear in what is reached, and in
    /// what the search before reached.
    pub(crate) fn search(&mut self, rows: &Rows, sources: &[u32], cutoff: u32) {
        for node in self.order.drain(..) {
            self.seen.remove(node);
            self.level[node as usize] = NONE;
            self.parent[node as usize] = NONE;
        }
        for &source in sources {
            if self.seen.insert(source) {
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
                if self.seen.insert(next) {
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
    /// Pushes before; what is pushed later than 32 bits count stays in no order.
    count: u32,
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

/// The largest weight that [`Buckets`] are used for: they look at each length on the way, which takes
/// as long as a heap on a path whose edges are this heavy.
pub(crate) const BUCKETS_MAX: i64 = 1 << 8;

/// Waiting entries whose lengths are less than the number of buckets beyond the shortest one (Dial,
/// 1969). A bucket is a queue, so equal lengths keep the order of their pushes.
struct Buckets {
    /// Nodes by length modulo the number of buckets, a power of two.
    queues: Vec<Vec<u32>>,
    /// Length of the bucket that is read, and how much of it was.
    length: usize,
    read: usize,
    /// Entries that wait.
    count: usize,
}

impl Buckets {
    /// Prepares for weights from 0 to `heaviest`.
    fn new(heaviest: u32) -> Self {
        let buckets = (heaviest as usize + 1).next_power_of_two();
        Self {
            queues: vec![Vec::new(); buckets],
            length: 0,
            read: 0,
            count: 0,
        }
    }
}

impl Buckets {
    fn push(&mut self, length: u32, node: u32) {
        let mask = self.queues.len() - 1;
        self.queues[length as usize & mask].push(node);
        self.count += 1;
    }

    fn pop(&mut self) -> Option<(u32, u32)> {
        if self.count == 0 {
            return None;
        }
        let mask = self.queues.len() - 1;
        loop {
            let queue = &mut self.queues[self.length & mask];
            if let Some(&node) = queue.get(self.read) {
                self.read += 1;
                self.count -= 1;
                return Some((self.length as u32, node));
            }
            queue.clear();
            self.read = 0;
            self.length += 1;
        }
    }
}

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
        let mut count = 0_u32;
        for &node in sources {
            self.state[node as usize] = SEEN;
            self.length[node as usize] = W::default();
            heap.push(Reverse(Entry {
                length: W::default(),
                count,
                node,
            }));
            count = count.saturating_add(1);
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
                    count = count.saturating_add(1);
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

impl Lengths<i64> {
    /// As [`search`](Self::search) without all parents, along weights from 0 to `heaviest`, where no
    /// path is longer than 32 bits hold. No length becomes shorter once it is final, so that one word
    /// decides about an edge.
    pub(crate) fn search_light(
        &mut self,
        rows: &Rows,
        weight: impl Fn(usize) -> u32,
        sources: &[u32],
        goal: Goal<i64>,
        heaviest: u32,
    ) {
        self.order.clear();
        self.state.fill(0);
        let longest = goal.cutoff.map_or(NONE - 1, |most| {
            most.clamp(-1, i64::from(NONE) - 1).try_into().unwrap_or(0)
        });
        let is_cut = goal.cutoff.is_some_and(|most| most < 0);
        // Length and parent of each node.
        let mut seen = vec![(NONE, NONE); rows.nodes()];
        let mut buckets = Buckets::new(heaviest);
        for &node in sources {
            seen[node as usize] = (0, NONE);
            buckets.push(0, node);
        }
        while let Some((length, node)) = buckets.pop() {
            if self.is_done(node) {
                continue;
            }
            self.state[node as usize] = DONE;
            self.order.push(node);
            if goal.target == Some(node) {
                break;
            }
            if is_cut {
                continue;
            }
            for place in rows.range(node) {
                let next = rows.targets[place];
                let longer = length + weight(place);
                if longer < seen[next as usize].0 && longer <= longest {
                    seen[next as usize] = (longer, node);
                    buckets.push(longer, next);
                }
            }
        }
        for (node, (length, parent)) in seen.into_iter().enumerate() {
            self.length[node] = i64::from(length);
            self.parent[node] = parent;
        }
    }
}
