//! In-place cleaning of rows that have any order, loops and duplicates.
//!
//! Binary formats hold rows already, so that edges need not be buffered and sorted as in
//! [`super::build`]: memory is that of the rows.

use rayon::prelude::*;

use super::build::Cleaned;
use super::csr::Csr;

/// Sorts each row, drops self loops, and keeps the lightest of equal edges.
///
/// Offsets ascend from 0 to the number of targets, and targets are below the nodes.
pub(super) fn tidy(mut csr: Csr) -> (Csr, Cleaned) {
    sort_rows(&mut csr);
    let mut cleaned = Cleaned::default();
    let mut end = 0;
    let mut start = 0;
    for node in 0..csr.nodes() {
        let row = start..csr.offsets[node as usize + 1] as usize;
        start = row.end;
        let first = end;
        for edge in row {
            let target = csr.targets[edge];
            if target == node {
                cleaned.self_loops += 1;
            } else if end > first && csr.targets[end - 1] == target {
                cleaned.duplicates += 1;
            } else {
                csr.targets[end] = target;
                if let Some(weights) = &mut csr.weights {
                    weights[end] = weights[edge];
                }
                end += 1;
            }
        }
        csr.offsets[node as usize + 1] = end as u32;
    }
    shorten(&mut csr.targets, end);
    if let Some(weights) = &mut csr.weights {
        shorten(weights, end);
    }
    (csr, cleaned)
}

fn shorten(words: &mut Vec<u32>, length: usize) {
    if length < words.len() {
        words.truncate(length);
        words.shrink_to_fit();
    }
}

/// A range of rows with their targets and weights.
type Part<'a> = (std::ops::Range<u32>, &'a mut [u32], &'a mut [u32]);

fn sort_rows(csr: &mut Csr) {
    let ranges = csr.parts();
    let offsets = &csr.offsets;
    let (mut targets, mut weights) = (
        csr.targets.as_mut_slice(),
        csr.weights.as_deref_mut().unwrap_or_default(),
    );
    let mut parts: Vec<Part<'_>> = Vec::new();
    for rows in ranges {
        let edges = (offsets[rows.end as usize] - offsets[rows.start as usize]) as usize;
        let (mine, rest) = targets.split_at_mut(edges);
        let (my_weights, rest_weights) = weights.split_at_mut(edges.min(weights.len()));
        (targets, weights) = (rest, rest_weights);
        parts.push((rows, mine, my_weights));
    }
    parts.into_par_iter().for_each(|(rows, targets, weights)| {
        let base = offsets[rows.start as usize];
        for node in rows {
            let row = (offsets[node as usize] - base) as usize
                ..(offsets[node as usize + 1] - base) as usize;
            let weights = weights.get_mut(row.clone()).unwrap_or_default();
            sort_row(&mut targets[row], weights);
        }
    });
}

/// Sorts a row by targets, and equal ones by weights, if there are any.
fn sort_row(targets: &mut [u32], weights: &mut [u32]) {
    if targets.is_sorted_by(|a, b| a < b) {
        return;
    }
    if weights.is_empty() {
        targets.sort_unstable();
        return;
    }
    let pairs = targets.iter().copied().zip(weights.iter().copied());
    let mut pairs: Vec<(u32, u32)> = pairs.collect();
    pairs.sort_unstable();
    for ((target, weight), pair) in targets.iter_mut().zip(weights).zip(pairs) {
        (*target, *weight) = pair;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::{Direction, rows};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn tidied_rows_are_those_built_from_edges(
            lists in prop::collection::vec(prop::collection::vec((0u32..12, 0u32..5), 0..20), 12),
            weighted: bool
        ) {
            let (mut offsets, mut targets, mut weights) = (vec![0u32], Vec::new(), Vec::new());
            let mut edges = Vec::new();
            for (node, list) in (0u32..).zip(&lists) {
                for &(target, weight) in list {
                    targets.push(target);
                    weights.push(weight);
                    edges.push([node, target, weight]);
                }
                offsets.push(targets.len() as u32);
            }
            let (mut expected, counts) = rows(edges, 12, Direction::Directed).unwrap();
            let mut found = Csr { offsets, targets, weights: Some(weights) };
            if !weighted {
                (found.weights, expected.weights) = (None, None);
            }
            let (found, cleaned) = tidy(found);
            prop_assert_eq!(found.offsets(), expected.offsets());
            prop_assert_eq!(found.targets(), expected.targets());
            prop_assert_eq!(found.weights(), expected.weights());
            prop_assert_eq!(cleaned, counts);
        }
    }
}
