//! Mirror images of edges: checks that all exist, and adds the missing ones.
//!
//! Both are linear: symmetry is checked by sums, and missing edges are found by walking through
//! the rows and the transposed rows together.

use std::hash::{BuildHasher, RandomState};
use std::ops::Range;

use rayon::prelude::*;

use super::csr::Csr;
use super::memory::{self, Shortage};
use super::mix::mix;

/// Returns the first edge, by its start, that has no mirror image of the same weight.
///
/// Sums with a random key find asymmetry. The key is drawn anew for each call, so that no file can
/// be built to pass; a missing edge goes unnoticed with a chance of about 2^-64. Edges are looked
/// up one by one only if the sums differ.
pub(super) fn first_unmatched(csr: &Csr) -> Option<(u32, u32)> {
    if Sums::draw().are_equal(csr) {
        return None;
    }
    let weight = |edge: usize| csr.weights().map(|weights| weights[edge]);
    (0..csr.nodes()).into_par_iter().find_map_first(|from| {
        let mut row = csr.row(from);
        let lone = row.find(|&edge| {
            mirror_of(csr, from, edge).is_none_or(|mirror| weight(mirror) != weight(edge))
        })?;
        Some((from, csr.targets()[lone]))
    })
}

/// Returns the index of the edge that leads back.
fn mirror_of(csr: &Csr, from: u32, edge: usize) -> Option<usize> {
    let back = csr.row(csr.targets()[edge]);
    let at = csr.targets()[back.clone()].binary_search(&from).ok()?;
    Some(back.start + at)
}

/// A keyed hash of edges, summed over them and over their mirror images.
struct Sums {
    keys: [u64; 3],
}

impl Sums {
    fn draw() -> Self {
        let state = RandomState::new();
        Self {
            keys: [0u8, 1, 2].map(|key| state.hash_one(key)),
        }
    }

    /// Tells whether the edges and their mirror images have the same sum.
    fn are_equal(&self, csr: &Csr) -> bool {
        let sum = (0..csr.nodes())
            .into_par_iter()
            .map(|from| self.row(csr, from))
            .reduce(|| 0, u64::wrapping_add);
        sum == 0
    }

    fn row(&self, csr: &Csr, from: u32) -> u64 {
        let difference = |edge: usize| {
            let (from, to) = (u64::from(from), u64::from(csr.targets()[edge]));
            let weight = csr.weights().map_or(0, |weights| u64::from(weights[edge]));
            let salt = mix(weight ^ self.keys[2]);
            let there = self.value(from << 32 | to, salt);
            there.wrapping_sub(self.value(to << 32 | from, salt))
        };
        csr.row(from).map(difference).fold(0, u64::wrapping_add)
    }

    fn value(&self, ends: u64, salt: u64) -> u64 {
        mix(mix(ends ^ self.keys[0]) ^ self.keys[1] ^ salt)
    }
}

/// The mirror images that a graph lacks, as rows.
pub(super) struct Missing(Csr);

impl Missing {
    /// Finds the missing ones, and sets both directions of the others to the smaller of their
    /// weights. Takes the memory of the transposed graph.
    ///
    /// # Errors
    /// [`Shortage`] if there is not enough memory.
    pub(super) fn of(csr: &mut Csr) -> Result<Self, Shortage> {
        let mut turned = csr.transpose()?;
        let mut end = 0;
        let mut start = 0;
        for node in 0..csr.nodes() {
            let row = start..turned.offsets[node as usize + 1] as usize;
            start = row.end;
            end = keep_missing(csr, node, (&mut turned, row), end);
            turned.offsets[node as usize + 1] = end as u32;
        }
        turned.targets.truncate(end);
        turned.targets.shrink_to_fit();
        if let Some(weights) = &mut turned.weights {
            weights.truncate(end);
            weights.shrink_to_fit();
        }
        Ok(Self(turned))
    }

    /// Number of missing edges.
    pub(super) fn edges(&self) -> u32 {
        self.0.edges()
    }

    /// Adds the missing edges, in place, to the rows that they were made from.
    ///
    /// Rows move from the last to the first, so that none is overwritten before it moves.
    ///
    /// # Errors
    /// [`Shortage`] if there is not enough memory.
    pub(super) fn add_to(self, csr: &mut Csr) -> Result<(), Shortage> {
        let mut old_end = csr.targets.len();
        let mut end = old_end + self.0.targets.len();
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
            end = self.merge_row(csr, node, old_start..old_end, end);
            old_end = old_start;
        }
        Ok(())
    }

    /// Merges one row so that it ends at `end`; returns where it starts.
    fn merge_row(&self, csr: &mut Csr, node: u32, mut old: Range<usize>, mut end: usize) -> usize {
        let mut new = self.0.row(node);
        while !new.is_empty() {
            end -= 1;
            let added = self.0.targets[new.end - 1];
            if !old.is_empty() && csr.targets[old.end - 1] > added {
                old.end -= 1;
                csr.targets[end] = csr.targets[old.end];
                if let Some(weights) = &mut csr.weights {
                    weights[end] = weights[old.end];
                }
            } else {
                new.end -= 1;
                csr.targets[end] = added;
                if let (Some(weights), Some(all)) = (&mut csr.weights, self.0.weights()) {
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

/// Moves the edges of a transposed row that the graph's row lacks to `end`; returns where they
/// end.
fn keep_missing(
    csr: &mut Csr,
    node: u32,
    (turned, row): (&mut Csr, Range<usize>),
    mut end: usize,
) -> usize {
    let mut own = csr.row(node);
    for edge in row {
        let target = turned.targets[edge];
        while !own.is_empty() && csr.targets[own.start] < target {
            own.start += 1;
        }
        if !own.is_empty() && csr.targets[own.start] == target {
            if let (Some(weights), Some(turned)) = (&mut csr.weights, &turned.weights) {
                weights[own.start] = weights[own.start].min(turned[edge]);
            }
            continue;
        }
        turned.targets[end] = target;
        if let Some(weights) = &mut turned.weights {
            weights[end] = weights[edge];
        }
        end += 1;
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::{Direction, rows};
    use proptest::prelude::*;

    fn csr(edges: &[[u32; 3]], nodes: u32) -> Csr {
        rows(edges.to_vec(), nodes, Direction::Directed).unwrap().0
    }

    #[test]
    fn an_edge_without_its_mirror_image_is_named() {
        let matched = csr(&[[0, 1, 5], [1, 0, 5], [2, 1, 3], [1, 2, 3]], 4);
        assert_eq!(first_unmatched(&matched), None);
        let lone = csr(&[[0, 1, 5], [1, 0, 5], [2, 1, 3]], 4);
        assert_eq!(first_unmatched(&lone), Some((2, 1)));
        let heavier = csr(&[[0, 1, 5], [1, 0, 6]], 2);
        assert_eq!(first_unmatched(&heavier), Some((0, 1)));
    }

    proptest! {
        #[test]
        fn adding_what_is_missing_equals_building_both_directions(
            list in prop::collection::vec((0u32..20, 0u32..20, 0u32..9), 0..200), weighted: bool
        ) {
            let edges: Vec<[u32; 3]> = list.iter().map(|&(a, b, w)| [a, b, w]).collect();
            let mut found = csr(&edges, 20);
            let (mut expected, _) = rows(edges, 20, Direction::Both).unwrap();
            if !weighted {
                (found.weights, expected.weights) = (None, None);
            }
            Missing::of(&mut found).unwrap().add_to(&mut found).unwrap();
            prop_assert_eq!(found.offsets(), expected.offsets());
            prop_assert_eq!(found.targets(), expected.targets());
            prop_assert_eq!(found.weights(), expected.weights());
            prop_assert_eq!(first_unmatched(&found), None);
        }
    }
}
