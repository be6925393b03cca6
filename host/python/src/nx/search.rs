//! Searches that visit nodes in the order in which NetworkX does.

use super::rows::{ROWS_AHEAD, Rows};
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::ops::Range;

/// Stands for no node.
pub(crate) const NONE: u32 = u32::MAX;

/// Edges to follow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ways<'a> {
    pub(crate) rows: &'a Rows,
    /// The reversed edges, where they are at hand: levels that find few of many nodes look from these.
    pub(crate) back: Option<&'a Rows>,
}

impl<'a> Ways<'a> {
    /// Edges whose reversed ones are not at hand.
    pub(crate) fn forward(rows: &'a Rows) -> Self {
        Self { rows, back: None }
    }
}

/// A breadth-first search, with memory that is kept from search to search.
#[derive(Debug, Default)]
pub(crate) struct Levels {
    /// Reached nodes in the order in which they were found.
    pub(crate) order: Vec<u32>,
    pub(crate) ends: Vec<usize>,
    /// Level of every node, [`NONE`] where none is known; empty if they are not kept.
    pub(crate) level: Vec<u32>,
    /// The node from which each was found; empty if they are not kept.
    pub(crate) parent: Vec<u32>,
    /// The reached nodes: bits stay in the caches, where levels of many nodes do not.
    seen: Bits,
    /// Place in `order` of nodes of levels that were searched against the edges, else [`NONE`].
    place: Vec<u32>,
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

    fn has(&self, node: u32) -> bool {
        let word = self.0.get(node as usize / 64);
        word.is_some_and(|word| word >> (node % 64) & 1 != 0)
    }

    /// The nodes whose bits `word` picks out of each word, ascending.
    fn picked(&self, pick: impl Fn(u64) -> u64) -> impl Iterator<Item = u32> {
        let words = (0..).step_by(64).zip(&self.0);
        words.flat_map(move |(first, word)| {
            let mut rest = pick(*word);
            std::iter::from_fn(move || {
                let bit = rest.trailing_zeros();
                rest &= rest.wrapping_sub(1);
                (bit < 64).then_some(first + bit)
            })
        })
    }
}

/// Nodes of the last level for each node that is not reached, from which on the next level is looked
/// for from those.
const PULL_SHARE: usize = 4;

impl Levels {
    /// Prepares for a graph of `nodes` nodes.
    pub(crate) fn new(nodes: usize) -> Self {
        Self {
            level: vec![NONE; nodes],
            parent: vec![NONE; nodes],
            ..Self::of_order(nodes)
        }
    }

    /// As [`new`](Self::new), without the level and parent of each node.
    pub(crate) fn of_order(nodes: usize) -> Self {
        Self {
            seen: Bits::new(nodes),
            ..Self::default()
        }
    }

    /// Searches from `sources` up to level `cutoff`, or up to the level of `target`. Time is linear in
    /// what is reached, in what the search before reached, and in nodes over 64.
    pub(crate) fn search(
        &mut self,
        ways: Ways<'_>,
        sources: &[u32],
        cutoff: u32,
        target: Option<u32>,
    ) {
        self.forget();
        for &source in sources {
            self.find(source, 0, NONE);
        }
        let nodes = ways.rows.nodes();
        let mut start = 0;
        for level in 1.. {
            let end = self.order.len();
            if start == end {
                break;
            }
            self.ends.push(end);
            if level > cutoff || target.is_some_and(|target| self.seen.has(target)) {
                break;
            }
            match ways.back {
                Some(back) if (nodes - end) * PULL_SHARE < end - start => {
                    let parents = self.first_parents(back, start..end);
                    self.follow(ways.rows, &parents, level);
                }
                _ => {
                    let mut ahead = [0; ROWS_AHEAD];
                    for first in (start..end).step_by(ROWS_AHEAD) {
                        let count = ROWS_AHEAD.min(end - first);
                        ahead[..count].copy_from_slice(&self.order[first..first + count]);
                        ways.rows.touch(&ahead[..count]);
                        self.follow(ways.rows, &ahead[..count], level);
                    }
                }
            }
            start = end;
        }
    }

    fn forget(&mut self) {
        self.ends.clear();
        for node in self.order.drain(..) {
            self.seen.remove(node);
            if let Some(level) = self.level.get_mut(node as usize) {
                *level = NONE;
            }
            if let Some(parent) = self.parent.get_mut(node as usize) {
                *parent = NONE;
            }
            if let Some(place) = self.place.get_mut(node as usize) {
                *place = NONE;
            }
        }
    }

    fn find(&mut self, node: u32, level: u32, parent: u32) {
        if self.seen.insert(node) {
            self.order.push(node);
            if let Some(own) = self.level.get_mut(node as usize) {
                *own = level;
                self.parent[node as usize] = parent;
            }
        }
    }

    fn follow(&mut self, rows: &Rows, nodes: &[u32], level: u32) {
        for &node in nodes {
            for &next in rows.of(node) {
                self.find(next, level, node);
            }
        }
    }

    /// Returns the nodes of the level at `range` of the order from which new ones are found: the first
    /// neighbour of each, in their order.
    fn first_parents(&mut self, back: &Rows, range: Range<usize>) -> Vec<u32> {
        self.place.resize(back.nodes(), NONE);
        let (start, count) = (range.start as u32, range.len() as u32);
        for (place, &node) in (start..).zip(&self.order[range]) {
            self.place[node as usize] = place;
        }
        let mut first = Vec::new();
        // Bits beyond the last node stand for none.
        let unseen = self.seen.picked(|word| !word);
        for node in unseen.take_while(|node| (*node as usize) < back.nodes()) {
            // Other levels, and no place, wrap around or are beyond.
            let places = back.of(node).iter().map(|v| self.place[*v as usize]);
            let least = places.map(|place| place.wrapping_sub(start)).min();
            first.extend(least.filter(|place| *place < count));
        }
        first.sort_unstable();
        first.dedup();
        for place in &mut first {
            *place = self.order[(start + *place) as usize];
        }
        first
    }

    pub(crate) fn layers(&self) -> impl Iterator<Item = &[u32]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts
            .zip(&self.ends)
            .map(|(start, end)| &self.order[start..*end])
    }

    pub(crate) fn reached(&self) -> impl Iterator<Item = u32> {
        self.seen.picked(|word| word)
    }

    /// Level of a node, if the last search kept to it.
    pub(crate) fn level_of_target(&self, target: u32) -> Option<u32> {
        let is_reached = self.seen.has(target);
        is_reached.then(|| self.ends.len().saturating_sub(1) as u32)
    }

    pub(crate) fn total(&self) -> u64 {
        (0..)
            .zip(self.layers())
            .map(|(level, nodes): (u64, _)| level * nodes.len() as u64)
            .sum()
    }

    pub(crate) fn largest(&self) -> u32 {
        self.ends.len().saturating_sub(1) as u32
    }
}

/// Returns for each place in the order of a search the neighbours of the level before, as they come
/// in that order.
pub(crate) fn parents(rows: &Rows, found: &Levels) -> Rows {
    let mut place = vec![NONE; rows.nodes()];
    for (at, &node) in (0..).zip(&found.order) {
        place[node as usize] = at;
    }
    let mut edges = Vec::with_capacity(rows.targets.len() / 2);
    let mut offsets = vec![0; found.order.len() + 1];
    let mut at = 0;
    for (end, later) in found.ends.iter().zip(found.ends.iter().skip(1)) {
        while at < *end {
            let node = found.order[at];
            for &next in rows.of(node) {
                let child = place[next as usize] as usize;
                if (*end..*later).contains(&child) {
                    edges.push((child as u32, node));
                    offsets[child + 1] += 1;
                }
            }
            at += 1;
        }
    }
    for child in 1..offsets.len() {
        offsets[child] += offsets[child - 1];
    }
    let mut next = offsets.clone();
    let mut targets = vec![0; edges.len()];
    for (child, parent) in edges {
        targets[next[child as usize]] = parent;
        next[child as usize] += 1;
    }
    Rows { offsets, targets }
}

pub(crate) trait Length: Copy + Default + Send + Sync {
    /// The length of the path with one more edge.
    fn plus(self, weight: Self) -> Self;
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
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry<W> {
    pub(crate) length: W,
    /// Pushes before; what is pushed later than 32 bits count stays in no order.
    pub(crate) count: u32,
    pub(crate) node: u32,
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

    fn push(&mut self, length: u32, node: u32) {
        let mask = self.queues.len() - 1;
        self.queues[length as usize & mask].push(node);
        self.count += 1;
    }

    /// A node that comes after some others of the same length.
    fn ahead(&self, distance: usize) -> Option<u32> {
        let queue = &self.queues[self.length & (self.queues.len() - 1)];
        queue.get(self.read + distance).copied()
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
    pub(crate) parent: Vec<u32>,
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
    /// As [`search`](Self::search), along weights from 0 to `heaviest`, where no
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
        self.noted.clear();
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
            rows.fetch(buckets.ahead(ROWS_AHEAD), buckets.ahead(ROWS_AHEAD / 2));
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
                    if goal.all_parents && seen[next as usize].0 == NONE {
                        self.noted.push(next);
                    }
                    seen[next as usize] = (longer, node);
                    buckets.push(longer, next);
                }
            }
        }
        for (node, (length, parent)) in seen.into_iter().enumerate() {
            self.length[node] = i64::from(length);
            self.parent[node] = parent;
        }
        if goal.all_parents {
            self.parents = vec![Vec::new(); rows.nodes()];
            if !is_cut {
                self.find_parents(rows, weight);
            }
        }
    }

    /// Notes the ends of all lightest paths' last edges. Nodes are final in the order in which a search
    /// would have noted them.
    fn find_parents(&mut self, rows: &Rows, weight: impl Fn(usize) -> u32) {
        for ahead in self.order.chunks(ROWS_AHEAD) {
            rows.touch(ahead);
            for &node in ahead {
                let length = self.length[node as usize];
                for place in rows.range(node) {
                    let next = rows.targets[place] as usize;
                    if self.length[next] == length + i64::from(weight(place)) {
                        self.parents[next].push(node);
                    }
                }
            }
        }
    }
}
