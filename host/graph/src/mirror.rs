//! Mirror images of edges: checks that all exist, and adds the missing ones.
//!
//! Both are linear: symmetry is checked by sums, and missing edges are found by walking through
//! the rows and the transposed rows together.

use std::hash::{BuildHasher, RandomState};
use std::ops::Range;

use rayon::prelude::*;

use super::build::Order;
use super::csr::Csr;
use super::memory::{self, Shortage};
use super::mix::mix;

/// Returns the first edge, by its start, that has no mirror image of the same weight.
///
/// Sums with a random key find asymmetry. The key is drawn anew for each call, so that no file can
/// be built to pass; a missing edge goes unnoticed with a chance of about 2^-64. Edges are looked
/// up one by one only if the sums differ.
pub(super) fn first_unmatched(csr: &Csr) -> Option<(u32, u32)> {
    if MirrorSum::draw().are_equal(csr) {
        return None;
    }
    (0..csr.nodes()).into_par_iter().find_map_first(|from| {
        let row = csr.neighbours(from);
        let mut runs = row.chunk_by(|a, b| a == b).map(|run| run[0]);
        let unmatched = runs.find(|&to| !is_matched(csr, from, to))?;
        Some((from, unmatched))
    })
}

/// Returns whether every edge is likely to have its mirror image, by looking at a few.
fn seem_matched(csr: &Csr) -> bool {
    const SAMPLES: usize = 64;
    let edges = csr.targets().len();
    let step = (edges / SAMPLES).max(1);
    (0..edges).step_by(step).all(|edge| {
        let row = csr
            .offsets()
            .partition_point(|start| *start as usize <= edge);
        is_matched(csr, row as u32 - 1, csr.targets()[edge])
    })
}

/// Returns whether every edge has its mirror image of the same weight. For most graphs that have
/// not, a few edges show it; otherwise takes one pass over the edges.
pub(super) fn are_matched(csr: &Csr) -> bool {
    seem_matched(csr) && MirrorSum::draw().are_equal(csr)
}

/// Returns whether the edges between two nodes are the same in both directions.
fn is_matched(csr: &Csr, from: u32, to: u32) -> bool {
    let (there, back) = (csr.edges_between(from, to), csr.edges_between(to, from));
    let Some(weights) = csr.weights() else {
        return there.len() == back.len();
    };
    let sorted = |edges: Range<usize>| {
        let mut weights = weights[edges].to_vec();
        weights.sort_unstable();
        weights
    };
    there.len() == back.len() && sorted(there) == sorted(back)
}

/// A keyed hash of edges, summed over them and over their mirror images: the sum of all
/// [`edge`](Self::edge)s is 0 if each has its mirror image, and otherwise with a chance of about
/// 2^-64. The key is drawn anew for each, so that no file can be built to pass.
#[derive(Debug)]
pub struct MirrorSum {
    keys: [u64; 3],
}

impl MirrorSum {
    /// Draws a key.
    #[must_use]
    pub fn draw() -> Self {
        let state = RandomState::new();
        Self {
            keys: [0u8, 1, 2].map(|key| state.hash_one(key)),
        }
    }

    /// The sum of another process that drew these keys.
    #[must_use]
    pub const fn with_keys(keys: [u64; 3]) -> Self {
        Self { keys }
    }

    /// The keys.
    #[must_use]
    pub const fn keys(&self) -> [u64; 3] {
        self.keys
    }

    /// Returns whether the edges and their mirror images have the same sum.
    fn are_equal(&self, csr: &Csr) -> bool {
        let sum = (0..csr.nodes())
            .into_par_iter()
            .map(|from| self.row(csr, from))
            .reduce(|| 0, u64::wrapping_add);
        sum == 0
    }

    fn row(&self, csr: &Csr, from: u32) -> u64 {
        let difference = |edge: usize| {
            let weight = csr.weights().map_or(0, |weights| weights[edge]);
            self.edge([from, csr.targets()[edge]], weight)
        };
        csr.row(from).map(difference).fold(0, u64::wrapping_add)
    }

    /// The hash of an edge minus that of its mirror image; sums wrap.
    #[inline]
    #[must_use]
    pub fn edge(&self, ends: [u32; 2], weight: u32) -> u64 {
        let [from, to] = ends.map(u64::from);
        let salt = mix(u64::from(weight) ^ self.keys[2]);
        let there = self.value(from << 32 | to, salt);
        there.wrapping_sub(self.value(to << 32 | from, salt))
    }

    fn value(&self, ends: u64, salt: u64) -> u64 {
        mix(mix(ends ^ self.keys[0]) ^ self.keys[1] ^ salt)
    }
}

/// The mirror images that a graph lacks, as rows.
pub(super) struct Missing {
    rows: Csr,
    /// Missing edges whose ends no edge has.
    new: u32,
}

impl Missing {
    /// Finds the missing edges: for each weight, as many as the other direction has in excess.
    /// Takes the memory of the transposed graph.
    pub(super) fn of(csr: &Csr) -> Result<Self, Shortage> {
        let mut finder = Finder {
            csr,
            turned: csr.transpose()?,
            end: 0,
            new: 0,
            known: Vec::new(),
            wanted: Vec::new(),
        };
        let mut start = 0;
        for node in 0..csr.nodes() {
            let row = start..finder.turned.offsets[node as usize + 1] as usize;
            start = row.end;
            finder.keep_missing(node, row);
            finder.turned.offsets[node as usize + 1] = finder.end as u32;
        }
        let (mut rows, end, new) = (finder.turned, finder.end, finder.new);
        rows.targets.truncate(end);
        rows.targets.shrink_to_fit();
        if let Some(weights) = &mut rows.weights {
            weights.truncate(end);
            weights.shrink_to_fit();
        }
        Ok(Self { rows, new })
    }

    /// Number of missing edges whose ends no edge has, parallel ones once.
    pub(super) fn new_pairs(&self) -> u32 {
        self.new
    }

    pub(super) fn edges(&self) -> u32 {
        self.rows.edges()
    }

    /// Adds the missing edges, in place, to the rows that they were made from. Parallel edges stay
    /// in the order of their weights, or follow the listed ones.
    ///
    /// Rows move from the last to the first, so that none is overwritten before it moves.
    pub(super) fn add_to(self, csr: &mut Csr, order: Order) -> Result<(), Shortage> {
        let mut old_end = csr.targets.len();
        let mut end = old_end + self.rows.targets.len();
        memory::reserve_exact(&mut csr.targets, end - old_end)?;
        csr.targets.resize(end, 0);
        if let Some(weights) = &mut csr.weights {
            memory::reserve_exact(weights, end - old_end)?;
            weights.resize(end, 0);
        }
        for node in (0..csr.nodes()).rev() {
            if end == old_end {
                break;
            }
            let old_start = csr.offsets[node as usize] as usize;
            csr.offsets[node as usize + 1] = end as u32;
            end = self.merge_row(csr, node, old_start..old_end, end, order);
            old_end = old_start;
        }
        Ok(())
    }

    /// Merges one row so that it ends at `end`; returns where it starts.
    fn merge_row(
        &self,
        csr: &mut Csr,
        node: u32,
        mut old: Range<usize>,
        mut end: usize,
        order: Order,
    ) -> usize {
        let mut new = self.rows.row(node);
        let key = |csr: &Csr, edge: usize| {
            let by_weight = csr.weights().filter(|_| order == Order::Weight);
            (
                csr.targets[edge],
                by_weight.map_or(0, |weights| weights[edge]),
            )
        };
        while !new.is_empty() {
            end -= 1;
            let added = key(&self.rows, new.end - 1);
            if !old.is_empty() && key(csr, old.end - 1) > added {
                old.end -= 1;
                csr.targets[end] = csr.targets[old.end];
                if let Some(weights) = &mut csr.weights {
                    weights[end] = weights[old.end];
                }
            } else {
                new.end -= 1;
                csr.targets[end] = added.0;
                if let (Some(weights), Some(all)) = (&mut csr.weights, self.rows.weights()) {
                    weights[end] = all[new.end];
                }
            }
        }
        let start = end - old.len();
        csr.targets.copy_within(old.clone(), start);
        if let Some(weights) = &mut csr.weights {
            weights.copy_within(old, start);
        }
        start
    }
}

/// Finds the edges of transposed rows that the graph's rows lack, and moves them to the front.
struct Finder<'a> {
    csr: &'a Csr,
    turned: Csr,
    /// Number of edges found.
    end: usize,
    new: u32,
    /// Weights of parallel edges: those that the graph has, and those of the other direction.
    known: Vec<u32>,
    wanted: Vec<u32>,
}

impl Finder<'_> {
    /// Keeps the edges of a transposed row that the graph's row lacks.
    fn keep_missing(&mut self, node: u32, mut row: Range<usize>) {
        let mut own = self.csr.row(node);
        while !row.is_empty() {
            let target = self.turned.targets[row.start];
            let run = first_run(&self.turned, &mut row);
            while !own.is_empty() && self.csr.targets[own.start] < target {
                own.start += 1;
            }
            if own.is_empty() || self.csr.targets[own.start] != target {
                self.new += 1;
                run.for_each(|edge| self.keep(target, edge));
                continue;
            }
            let known = first_run(self.csr, &mut own);
            self.keep_lacking(target, known, run);
        }
    }

    /// Keeps the edges of a run that the graph's run with the same ends lacks.
    fn keep_lacking(&mut self, target: u32, known: Range<usize>, run: Range<usize>) {
        let (Some(own), Some(other)) = (self.csr.weights(), self.turned.weights()) else {
            let missing = run.len().saturating_sub(known.len());
            run.take(missing).for_each(|edge| self.keep(target, edge));
            return;
        };
        self.known.clear();
        self.known.extend(&own[known]);
        self.wanted.clear();
        self.wanted.extend(&other[run.clone()]);
        if self.known == self.wanted {
            return;
        }
        self.known.sort_unstable();
        self.wanted.sort_unstable();
        let (mut at, first) = (0, run.start);
        for weight in std::mem::take(&mut self.wanted) {
            while self.known.get(at).is_some_and(|known| *known < weight) {
                at += 1;
            }
            if self.known.get(at) == Some(&weight) {
                at += 1;
                continue;
            }
            self.keep(target, first);
            if let Some(weights) = &mut self.turned.weights {
                weights[self.end - 1] = weight;
            }
        }
    }

    fn keep(&mut self, target: u32, edge: usize) {
        self.turned.targets[self.end] = target;
        if let Some(weights) = &mut self.turned.weights {
            weights[self.end] = weights[edge];
        }
        self.end += 1;
    }
}

/// Splits the edges with the first target off a row.
fn first_run(csr: &Csr, row: &mut Range<usize>) -> Range<usize> {
    let target = csr.targets[row.start];
    let length = csr.targets[row.clone()]
        .iter()
        .take_while(|other| **other == target)
        .count();
    let run = row.start..row.start + length;
    row.start = run.end;
    run
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::{Direction, rows};
    use proptest::prelude::*;

    fn csr(edges: &[[u32; 3]], nodes: u32) -> Csr {
        let (csr, _) = rows(edges.to_vec(), nodes, Direction::Directed, Order::Weight).unwrap();
        csr
    }

    #[test]
    fn an_edge_without_its_mirror_image_is_named() {
        let matched = csr(&[[0, 1, 5], [1, 0, 5], [2, 1, 3], [1, 2, 3], [2, 2, 1]], 4);
        assert_eq!(first_unmatched(&matched), None);
        assert!(are_matched(&matched));
        let unmatched = csr(&[[0, 1, 5], [1, 0, 5], [2, 1, 3]], 4);
        assert_eq!(first_unmatched(&unmatched), Some((2, 1)));
        let heavier = csr(&[[0, 1, 5], [1, 0, 6]], 2);
        assert_eq!(first_unmatched(&heavier), Some((0, 1)));
        let twice = csr(&[[0, 1, 5], [0, 1, 5], [1, 0, 5]], 2);
        assert_eq!(first_unmatched(&twice), Some((0, 1)));
        assert!(!are_matched(&twice));
    }

    proptest! {
        #[test]
        fn adding_what_is_missing_equals_building_both_directions(
            list in prop::collection::vec((0u32..9, 0u32..9, 0u32..4), 0..200), weighted: bool
        ) {
            let weight = |weight| if weighted { weight } else { 0 };
            let edges: Vec<[u32; 3]> = list.iter().map(|&(a, b, w)| [a, b, weight(w)]).collect();
            let mut found = csr(&edges, 9);
            let built = rows(edges, 9, Direction::Both, Order::Weight);
            let (mut expected, counts) = built.unwrap();
            if !weighted {
                (found.weights, expected.weights) = (None, None);
            }
            let pairs = found.edges() - crate::dedup::count(&found).parallel;
            let missing = Missing::of(&found).unwrap();
            let pairs = pairs + missing.new_pairs();
            missing.add_to(&mut found, Order::Weight).unwrap();
            prop_assert_eq!(found.offsets(), expected.offsets());
            prop_assert_eq!(found.targets(), expected.targets());
            prop_assert_eq!(found.weights(), expected.weights());
            prop_assert_eq!(found.edges() - pairs, counts.parallel);
            prop_assert_eq!(first_unmatched(&found), None);
            prop_assert!(are_matched(&found));
        }

        #[test]
        fn a_missing_image_is_found(
            list in prop::collection::vec((0u32..5, 0u32..5, 0u32..2), 0..30)
        ) {
            let edges: Vec<[u32; 3]> = list.iter().map(|&(a, b, w)| [a, b, w]).collect();
            let mut turned: Vec<_> = edges.iter().map(|&[a, b, w]| [b, a, w]).collect();
            let mut sorted = edges.clone();
            sorted.sort_unstable();
            turned.sort_unstable();
            let found = csr(&edges, 5);
            prop_assert_eq!(first_unmatched(&found).is_none(), sorted == turned);
            prop_assert_eq!(are_matched(&found), sorted == turned);
        }
    }
}
