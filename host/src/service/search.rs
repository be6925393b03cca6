//! Searches between two nodes, on memory that a worker keeps.

use super::deadline::Deadline;
use crate::graph::{Csr, Graph};
use seawall_core::abi::ring::FaultCode;
use seawall_core::protocol::Refusal;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Nodes between two reads of the clock.
const NODES_PER_LOOK: usize = 1 << 12;

/// Nodes that a search found, with a number each; clearing costs constant time.
#[derive(Debug, Default)]
struct Reached {
    search: u32,
    seen_in: Vec<u32>,
    numbers: Vec<u64>,
}

impl Reached {
    /// Clears all nodes.
    fn begin(&mut self, nodes: u32) {
        self.seen_in.resize(nodes as usize, 0);
        self.numbers.resize(nodes as usize, 0);
        self.search = self.search.wrapping_add(1);
        if self.search == 0 {
            self.seen_in.fill(0);
            self.search = 1;
        }
    }

    fn get(&self, node: u32) -> Option<u64> {
        let is_seen = self.seen_in[node as usize] == self.search;
        is_seen.then(|| self.numbers[node as usize])
    }

    fn set(&mut self, node: u32, number: u64) {
        self.seen_in[node as usize] = self.search;
        self.numbers[node as usize] = number;
    }
}

/// One of the two searches that meet.
#[derive(Debug, Default)]
struct Side {
    found: Reached,
    frontier: Vec<u32>,
    next: Vec<u32>,
    level: u64,
}

impl Side {
    fn begin(&mut self, nodes: u32, from: u32) {
        self.found.begin(nodes);
        self.found.set(from, 0);
        self.frontier.clear();
        self.frontier.push(from);
        self.level = 0;
    }

    /// Takes one level; returns the length of the shortest path that met `other` in it.
    fn step(&mut self, other: &Reached, rows: &Csr) -> Option<u64> {
        let mut best = None;
        self.level += 1;
        for node in self.frontier.drain(..) {
            for &to in rows.neighbours(node) {
                if self.found.get(to).is_some() {
                    continue;
                }
                self.found.set(to, self.level);
                self.next.push(to);
                let met = other.get(to).map(|level| level + self.level);
                best = met.into_iter().chain(best).min();
            }
        }
        std::mem::swap(&mut self.frontier, &mut self.next);
        best
    }
}

/// Memory of a worker's searches.
#[derive(Debug, Default)]
pub(super) struct Searcher {
    forward: Side,
    backward: Side,
    lengths: Reached,
    queue: BinaryHeap<Reverse<(u64, u32)>>,
}

impl Searcher {
    /// Edges of a shortest path, if there is a path: two breadth-first searches that meet, of which
    /// the one with fewer nodes takes the next level.
    pub(super) fn hops(
        &mut self,
        graph: &Graph,
        source: u32,
        target: u32,
        deadline: &Deadline<'_>,
    ) -> Result<Option<u64>, Refusal> {
        if source == target {
            return Ok(Some(0));
        }
        self.forward.begin(graph.nodes(), source);
        self.backward.begin(graph.nodes(), target);
        loop {
            deadline.check()?;
            let (one, other) = (&mut self.forward, &mut self.backward);
            let met = if one.frontier.is_empty() || other.frontier.is_empty() {
                return Ok(None);
            } else if one.frontier.len() <= other.frontier.len() {
                one.step(&other.found, graph.outgoing())
            } else {
                other.step(&one.found, graph.incoming())
            };
            if met.is_some() {
                return Ok(met);
            }
        }
    }

    /// The sum of weights of a lightest path, if there is a path (Dijkstra's algorithm).
    pub(super) fn length(
        &mut self,
        graph: &Graph,
        source: u32,
        target: u32,
        deadline: &Deadline<'_>,
    ) -> Result<Option<u64>, Refusal> {
        let unweighted = Refusal::new(FaultCode::BadArgument, 1);
        let weights = graph.weights().ok_or(unweighted)?;
        self.lengths.begin(graph.nodes());
        self.lengths.set(source, 0);
        self.queue.clear();
        self.queue.push(Reverse((0, source)));
        let mut nodes = 0_usize;
        while let Some(Reverse((length, node))) = self.queue.pop() {
            if node == target {
                return Ok(Some(length));
            }
            nodes += 1;
            if nodes.is_multiple_of(NODES_PER_LOOK) {
                deadline.check()?;
            }
            if self.lengths.get(node) == Some(length) {
                self.relax(graph, weights, (node, length));
            }
        }
        Ok(None)
    }

    fn relax(&mut self, graph: &Graph, weights: &[u32], (node, length): (u32, u64)) {
        let row = graph.outgoing().row(node);
        for (to, weight) in graph.targets()[row.clone()].iter().zip(&weights[row]) {
            let through = length + u64::from(*weight);
            if self.lengths.get(*to).is_none_or(|known| through < known) {
                self.lengths.set(*to, through);
                self.queue.push(Reverse((through, *to)));
            }
        }
    }
}
