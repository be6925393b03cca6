//! Paths between two nodes, searched from both ends as NetworkX does, so that of several shortest
//! paths the same one is found.

use super::rows::Rows;
use super::search::{Contradiction, Entry, Length};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Stands for a node that was not seen, so that memory for many nodes begins as zeros.
const UNSEEN: u32 = 0;

/// Stands for the end from which a side searches.
const END: u32 = u32::MAX;

/// How one side has seen a node: from the end itself, from another node, or not.
#[derive(Debug)]
struct Parents(Vec<u32>);

impl Parents {
    fn new(nodes: usize, end: u32) -> Self {
        let mut parents = vec![UNSEEN; nodes];
        parents[end as usize] = END;
        Self(parents)
    }

    fn has(&self, node: u32) -> bool {
        self.0[node as usize] != UNSEEN
    }

    fn set(&mut self, node: u32, parent: u32) {
        self.0[node as usize] = parent + 1;
    }

    /// The nodes from `node` to the end of this side.
    fn way(&self, node: u32) -> impl Iterator<Item = u32> {
        std::iter::successors(Some(node), |node| match self.0[*node as usize] {
            UNSEEN | END => None,
            parent => Some(parent - 1),
        })
    }

    /// The path over `node` from this side's end to the other's.
    fn path(&self, node: u32, other: &Self) -> Vec<u32> {
        let mut path: Vec<_> = self.way(node).collect();
        path.reverse();
        path.extend(other.way(node).skip(1));
        path
    }
}

/// Returns a path of fewest edges, if there is one: the narrower of the two fringes takes the next
/// level (Pohl, 1971). `ways` are the edges and the reversed ones. Time is linear in the edges looked
/// at.
pub(crate) fn shortest(ways: [&Rows; 2], source: u32, target: u32) -> Option<Vec<u32>> {
    if source == target {
        return Some(vec![source]);
    }
    let nodes = ways[0].nodes();
    let mut sides = [source, target].map(|end| (Parents::new(nodes, end), vec![end]));
    while sides.iter().all(|(_, fringe)| !fringe.is_empty()) {
        let [from, to] = &mut sides;
        let is_forward = from.1.len() <= to.1.len();
        let (near, far, rows) = match is_forward {
            true => (from, to, ways[0]),
            false => (to, from, ways[1]),
        };
        let mut found = None;
        'level: for node in std::mem::take(&mut near.1) {
            for &next in rows.of(node) {
                if !near.0.has(next) {
                    near.0.set(next, node);
                    near.1.push(next);
                }
                if far.0.has(next) {
                    found = Some(next);
                    break 'level;
                }
            }
        }
        if let Some(node) = found {
            let [(from, _), (to, _)] = &sides;
            return Some(from.path(node, to));
        }
    }
    None
}

/// One side of a search along weights.
#[derive(Debug)]
struct Side<W> {
    parents: Parents,
    length: Vec<W>,
    is_done: Vec<bool>,
    heap: BinaryHeap<Reverse<Entry<W>>>,
}

impl<W: Length> Side<W> {
    fn new(nodes: usize, end: u32, count: u32) -> Self {
        let (length, node) = (W::default(), end);
        Self {
            parents: Parents::new(nodes, end),
            length: vec![W::default(); nodes],
            is_done: vec![false; nodes],
            heap: BinaryHeap::from([Reverse(Entry {
                length,
                count,
                node,
            })]),
        }
    }
}

/// Returns a lightest path along `weight(side, place of an edge)` and its length, if there is one. The
/// sides take turns, each with Dijkstra's search along its own of the `ways`, until both have finished
/// a node.
///
/// # Errors
/// If a path to a finished node became shorter, so that some weight is negative.
pub(crate) fn lightest<W: Length>(
    ways: [&Rows; 2],
    weight: impl Fn(usize, usize) -> W,
    source: u32,
    target: u32,
) -> Result<Option<(W, Vec<u32>)>, Contradiction> {
    if source == target {
        return Ok(Some((W::default(), vec![source])));
    }
    let ends = [(source, 0), (target, 1)];
    let nodes = ways[0].nodes();
    let mut sides = ends.map(|(end, count)| Side::<W>::new(nodes, end, count));
    let mut count = 2_u32;
    let mut best: Option<(W, u32)> = None;
    for side in [0, 1].into_iter().cycle() {
        let [from, to] = &mut sides;
        if from.heap.is_empty() || to.heap.is_empty() {
            break;
        }
        let (near, far) = if side == 0 { (from, to) } else { (to, from) };
        let Some(Reverse(Entry { length, node, .. })) = near.heap.pop() else {
            break;
        };
        if std::mem::replace(&mut near.is_done[node as usize], true) {
            continue;
        }
        near.length[node as usize] = length;
        if far.is_done[node as usize] {
            let [from, to] = &sides;
            return Ok(best.map(|(length, node)| (length, from.parents.path(node, &to.parents))));
        }
        for place in ways[side].range(node) {
            let next = ways[side].targets[place];
            let at = next as usize;
            let longer = length.plus(weight(side, place));
            let is_shorter = longer.order(near.length[at]).is_lt();
            if near.is_done[at] {
                if is_shorter {
                    return Err(Contradiction);
                }
            } else if !near.parents.has(next) || is_shorter {
                near.length[at] = longer;
                near.heap.push(Reverse(Entry {
                    length: longer,
                    count,
                    node: next,
                }));
                count = count.saturating_add(1);
                near.parents.set(next, node);
                if far.parents.has(next) {
                    let whole = longer.plus(far.length[at]);
                    if best.is_none_or(|(least, _)| whole.order(least).is_lt()) {
                        best = Some((whole, next));
                    }
                }
            }
        }
    }
    Ok(None)
}
