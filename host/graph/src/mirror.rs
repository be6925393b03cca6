//! Mirror images of edges: whether all are there, and adding those that are not.
//!
//! Rows ascend, so the mirror image of an edge is a binary search away, and nothing but
//! the rows themselves has to be in memory to look for it.

use std::sync::atomic::{AtomicU32, Ordering};

use rayon::prelude::*;

use super::csr::Csr;

/// The first edge, by its start, that has no mirror image of the same weight.
///
/// Compares edge by edge, so the answer is exact.
pub(super) fn first_unmatched(csr: &Csr) -> Option<(u32, u32)> {
    let weight = |edge: usize| csr.weights().map(|weights| weights[edge]);
    (0..csr.nodes()).into_par_iter().find_map_first(|from| {
        let mut row = csr.row(from);
        let lone = row.find(|&edge| {
            mirror_of(csr, from, edge).is_none_or(|mirror| weight(mirror) != weight(edge))
        })?;
        Some((from, csr.targets()[lone]))
    })
}

/// The index of the edge that leads back.
fn mirror_of(csr: &Csr, from: u32, edge: usize) -> Option<usize> {
    let back = csr.row(csr.targets()[edge]);
    let at = csr.targets()[back.clone()].binary_search(&from).ok()?;
    Some(back.start + at)
}

/// The mirror images that a graph lacks, as rows of their own.
pub(super) struct Missing(Csr);

impl Missing {
    /// Looks for the mirror image of every edge. Takes a bit an edge, and what it finds.
    pub(super) fn of(csr: &Csr) -> Self {
        let lone = lone_edges(csr);
        let mut next = vec![0u32; csr.nodes() as usize + 1];
        each(csr, &lone, |_, edge| {
            next[csr.targets()[edge] as usize + 1] += 1;
        });
        let mut sum = 0;
        for count in &mut next {
            sum += *count;
            *count = sum;
        }
        let mut targets = vec![0u32; sum as usize];
        let mut weights = csr.weights().map(|_| vec![0u32; sum as usize]);
        each(csr, &lone, |from, edge| {
            let place = &mut next[csr.targets()[edge] as usize];
            let at = *place as usize;
            *place += 1;
            targets[at] = from;
            if let (Some(out), Some(all)) = (weights.as_deref_mut(), csr.weights()) {
                out[at] = all[edge];
            }
        });
        // Every cursor now stands where the next row starts.
        next.rotate_right(1);
        next[0] = 0;
        Self(Csr {
            offsets: next,
            targets,
            weights,
        })
    }

    /// How many are missing.
    pub(super) fn edges(&self) -> u32 {
        self.0.edges()
    }

    /// Adds the missing edges to the rows from which they were made, in place.
    ///
    /// Rows move from the last to the first, so none is overwritten before it moves.
    pub(super) fn add_to(self, csr: &mut Csr) {
        let mut old_end = csr.targets.len();
        let mut end = old_end + self.0.targets.len();
        csr.targets.resize(end, 0);
        if let Some(weights) = &mut csr.weights {
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
    }

    /// Merges one row so that it ends at `end`; returns where it starts.
    fn merge_row(
        &self,
        csr: &mut Csr,
        node: u32,
        mut old: std::ops::Range<usize>,
        mut end: usize,
    ) -> usize {
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

/// A bit for each edge: set when it has no mirror image.
fn lone_edges(csr: &Csr) -> Vec<AtomicU32> {
    let words = csr.targets().len().div_ceil(32);
    let lone: Vec<AtomicU32> = (0..words).map(|_| AtomicU32::new(0)).collect();
    (0..csr.nodes()).into_par_iter().for_each(|from| {
        for edge in csr.row(from) {
            if mirror_of(csr, from, edge).is_none() {
                lone[edge / 32].fetch_or(1 << (edge % 32), Ordering::Relaxed);
            }
        }
    });
    lone
}

/// Visits the marked edges with their starts, in order.
fn each(csr: &Csr, marks: &[AtomicU32], mut visit: impl FnMut(u32, usize)) {
    for from in 0..csr.nodes() {
        for edge in csr.row(from) {
            if marks[edge / 32].load(Ordering::Relaxed) >> (edge % 32) & 1 == 1 {
                visit(from, edge);
            }
        }
    }
}

/// Gives both directions of an edge the smaller of their weights.
pub(super) fn lighten(csr: &mut Csr) {
    let Some(old) = csr.weights.clone() else {
        return;
    };
    let mut new = csr.weights.take().unwrap_or_default();
    let mut rest = new.as_mut_slice();
    let mut parts = Vec::new();
    for rows in csr.parts() {
        let edges = csr.row(rows.start).start..csr.row(rows.end - 1).end;
        let (part, after) = rest.split_at_mut(edges.len());
        parts.push((rows, part));
        rest = after;
    }
    parts.into_par_iter().for_each(|(rows, part)| {
        let edges = rows.flat_map(|from| csr.row(from).map(move |edge| (from, edge)));
        for ((from, edge), weight) in edges.zip(part) {
            if let Some(mirror) = mirror_of(csr, from, edge) {
                *weight = old[edge].min(old[mirror]);
            }
        }
    });
    csr.weights = Some(new);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::{Direction, rows};
    use proptest::prelude::*;

    fn csr(edges: &[[u32; 3]], nodes: u32) -> Csr {
        rows(edges.to_vec(), nodes, Direction::Directed).0
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
            let (mut expected, _) = rows(edges, 20, Direction::Both);
            if !weighted {
                (found.weights, expected.weights) = (None, None);
            }
            lighten(&mut found);
            Missing::of(&found).add_to(&mut found);
            prop_assert_eq!(found.offsets(), expected.offsets());
            prop_assert_eq!(found.targets(), expected.targets());
            prop_assert_eq!(found.weights(), expected.weights());
            prop_assert_eq!(first_unmatched(&found), None);
        }
    }
}
