//! Lightest paths along weights that may be negative, in NetworkX's order: a queue of nodes whose
//! length fell (Cherkassky and Goldberg, 1999).

use super::rows::Rows;
use super::search::{Length, NONE};
use std::collections::VecDeque;

/// No node, of an edge that does not exist.
const NO_EDGE: [u32; 2] = [NONE, NONE];

/// Some circle has a negative length.
#[derive(Debug)]
pub(crate) struct NegativeCycle;

/// The lightest paths from some nodes.
#[derive(Debug)]
pub(crate) struct Paths<W> {
    /// Reached nodes in the order in which they were found.
    pub(crate) order: Vec<u32>,
    /// Length of the path to each reached node.
    pub(crate) length: Vec<W>,
    /// Nodes before each on its lightest paths.
    pub(crate) before: Vec<Vec<u32>>,
    is_reached: Vec<bool>,
}

/// Lengths that are compared as Python compares them.
pub(crate) trait Comparable: Length + PartialOrd {
    /// Not less than any length of a path.
    const FAR: Self;
}

impl Comparable for i64 {
    const FAR: Self = Self::MAX;
}

impl Comparable for f64 {
    const FAR: Self = Self::INFINITY;
}

impl<W: Comparable> Paths<W> {
    /// Searches from `sources`, along `weight(place of an edge)`, where their paths have length
    /// `first`. With `early`, a negative circle is found when a node comes twice on the path of
    /// updates, else when it has waited as often as there are `waits`. Time is O(n m).
    ///
    /// # Errors
    /// If there is such a circle.
    pub(crate) fn search(
        rows: &Rows,
        weight: impl Fn(usize) -> W,
        sources: &[u32],
        first: W,
        early: bool,
        waits: usize,
    ) -> Result<Self, NegativeCycle> {
        let nodes = rows.nodes();
        let mut found = Self {
            order: sources.to_vec(),
            length: vec![W::default(); nodes],
            before: vec![Vec::new(); nodes],
            is_reached: vec![false; nodes],
        };
        let mut waiting: VecDeque<u32> = sources.iter().copied().collect();
        let mut is_waiting = vec![false; nodes];
        let mut waited = vec![0_usize; nodes];
        // The node of the last update, and the first edge of the path of updates.
        let mut from = vec![NONE; nodes];
        let mut recent = vec![NO_EDGE; nodes];
        for &source in sources {
            found.is_reached[source as usize] = true;
            found.length[source as usize] = first;
            is_waiting[source as usize] = true;
        }
        while let Some(node) = waiting.pop_front() {
            let at = node as usize;
            is_waiting[at] = false;
            if found.before[at].iter().any(|v| is_waiting[*v as usize]) {
                continue;
            }
            // A loop does not change it before the row ends.
            let length = found.length[at];
            for place in rows.range(node) {
                let next = rows.targets[place];
                let to = next as usize;
                let longer = length.plus(weight(place));
                let known = if found.is_reached[to] {
                    found.length[to]
                } else {
                    W::FAR
                };
                if longer < known {
                    if early {
                        if recent[at].contains(&next) {
                            return Err(NegativeCycle);
                        }
                        recent[to] = if from[to] == node {
                            recent[at]
                        } else {
                            [node, next]
                        };
                    }
                    if !is_waiting[to] {
                        is_waiting[to] = true;
                        waiting.push_back(next);
                        waited[to] += 1;
                        if waited[to] == waits {
                            return Err(NegativeCycle);
                        }
                    }
                    if !std::mem::replace(&mut found.is_reached[to], true) {
                        found.order.push(next);
                    }
                    found.length[to] = longer;
                    found.before[to] = vec![node];
                    from[to] = node;
                } else if found.is_reached[to] && longer == known {
                    found.before[to].push(node);
                }
            }
        }
        Ok(found)
    }

    /// Whether a path to `node` was found.
    pub(crate) fn has(&self, node: u32) -> bool {
        self.is_reached[node as usize]
    }

    /// The first path from `source` to a reached node, back along the first nodes before each that
    /// are not on it.
    pub(crate) fn path(&self, source: u32, node: u32) -> Vec<u32> {
        let mut seen = std::collections::HashSet::from([node]);
        let mut stack = vec![(node, 0)];
        while let Some((node, tried)) = stack.last_mut() {
            if *node == source {
                break;
            }
            let before = self.before[*node as usize].get(*tried).copied();
            *tried += 1;
            match before {
                Some(before) if seen.insert(before) => stack.push((before, 0)),
                Some(_) => (),
                None => {
                    seen.remove(node);
                    stack.pop();
                }
            }
        }
        stack.into_iter().rev().map(|(node, _)| node).collect()
    }
}
