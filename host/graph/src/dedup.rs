//! In-place sorting of rows that have any order.
//!
//! Binary formats hold rows already, so that edges need not be buffered and sorted as in
//! [`super::build`]: memory is that of the rows.

use rayon::prelude::*;

use super::build::{Counts, Order};
use super::csr::Csr;

/// Sorts each row by target, and counts loops and parallel edges.
///
/// Offsets ascend from 0 to the number of targets, and targets are below the nodes.
pub(super) fn dedup(mut csr: Csr, order: Order) -> (Csr, Counts) {
    sort_rows(&mut csr, order);
    let counts = count(&csr);
    (csr, counts)
}

/// Counts loops and parallel edges of sorted rows.
pub(super) fn count(csr: &Csr) -> Counts {
    let rows = (0..csr.nodes()).into_par_iter().with_min_len(1 << 10);
    let counts = rows.map(|node| count_row(node, csr.neighbours(node)));
    counts.reduce(Counts::default, Counts::plus)
}

pub(super) fn count_row(node: u32, targets: &[u32]) -> Counts {
    let start = targets.partition_point(|target| *target < node);
    let loops = targets[start..].partition_point(|target| *target == node);
    let repeats = targets.windows(2).filter(|pair| pair[0] == pair[1]);
    Counts {
        loops: loops as u32,
        parallel: repeats.count() as u32,
        mirrored: 0,
    }
}

/// Keeps every second loop of each row: of a graph whose loops are listed at both of their ends.
pub(super) fn halve_loops(mut csr: Csr) -> Csr {
    let (mut start, mut end) = (0, 0);
    for node in 0..csr.nodes() {
        let row = start..csr.offsets[node as usize + 1] as usize;
        start = row.end;
        let mut is_second = false;
        for edge in row {
            if csr.targets[edge] == node {
                is_second = !is_second;
                if !is_second {
                    continue;
                }
            }
            csr.targets[end] = csr.targets[edge];
            if let Some(weights) = &mut csr.weights {
                weights[end] = weights[edge];
            }
            end += 1;
        }
        csr.offsets[node as usize + 1] = end as u32;
    }
    csr.targets.truncate(end);
    if let Some(weights) = &mut csr.weights {
        weights.truncate(end);
    }
    csr
}

/// A range of rows with their targets and weights.
type Part<'a> = (std::ops::Range<u32>, &'a mut [u32], &'a mut [u32]);

fn sort_rows(csr: &mut Csr, order: Order) {
    let ranges = csr.parts();
    let offsets = &csr.offsets;
    let (mut targets, mut weights) = (
        csr.targets.as_mut_slice(),
        csr.weights.as_deref_mut().unwrap_or_default(),
    );
    let mut parts: Vec<Part<'_>> = Vec::new();
    for rows in ranges {
        let edges = (offsets[rows.end as usize] - offsets[rows.start as usize]) as usize;
        let mine = targets.split_off_mut(..edges).unwrap_or_default();
        // Empty without weights.
        let my_weights = weights.split_off_mut(..edges).unwrap_or_default();
        parts.push((rows, mine, my_weights));
    }
    parts.into_par_iter().for_each(|(rows, targets, weights)| {
        let base = offsets[rows.start as usize];
        for node in rows {
            let row = (offsets[node as usize] - base) as usize
                ..(offsets[node as usize + 1] - base) as usize;
            let weights = weights.get_mut(row.clone()).unwrap_or_default();
            sort_row(&mut targets[row], weights, order);
        }
    });
}

/// Sorts a row by targets, and equal ones by weights, if there are any, or as they are listed.
fn sort_row(targets: &mut [u32], weights: &mut [u32], order: Order) {
    if targets.is_sorted_by(|a, b| a < b) {
        return;
    }
    if weights.is_empty() {
        targets.sort_unstable();
        return;
    }
    let pairs = targets.iter().copied().zip(weights.iter().copied());
    let mut pairs: Vec<(u32, u32)> = pairs.collect();
    match order {
        Order::Weight => pairs.sort_unstable(),
        Order::Listed => pairs.sort_by_key(|pair| pair.0),
    }
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
            weighted: bool, listed: bool
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
            let order = Order::of(listed);
            let (mut expected, counts) = rows(edges, 12, Direction::Directed, order).unwrap();
            let mut found = Csr { offsets, targets, weights: Some(weights) };
            if !weighted {
                (found.weights, expected.weights) = (None, None);
            }
            let (found, found_counts) = dedup(found, order);
            prop_assert_eq!(found.offsets(), expected.offsets());
            prop_assert_eq!(found.targets(), expected.targets());
            prop_assert_eq!(found.weights(), expected.weights());
            prop_assert_eq!(found_counts, counts);
        }
    }
}
