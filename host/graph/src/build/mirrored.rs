//! Rows of both directions of edges that are listed once.
//!
//! Row `x` is its lower neighbours and then its higher ones. The higher ones are the sorted edges
//! themselves; sorting the reversed edges gives the lower ones, on all threads. A single thread
//! places mirror images one by one: each misses the caches twice, which costs as much as the second
//! sort on large graphs and less on others.

use std::ops::Range;

use rayon::prelude::*;

use super::merge::order_weights;
use super::parts::{Cuts, parts_of};
use super::{Counts, Edges, Order, column, directed_rows};
use crate::csr::{Csr, split_rows};
use crate::memory::{self, Shortage, cut};
use crate::radix;

/// Builds rows from sorted edges whose lower end comes first, with their counts and order. A loop
/// stands once in its row.
pub(super) fn mirrored_rows<const N: usize>(
    edges: Edges<N>,
    nodes: u32,
    counts: Counts,
    order: Order,
) -> Result<Csr, Shortage>
where
    [u32; N]: bytemuck::Pod,
{
    // A second sort would lose the order of listing.
    let is_listed = order == Order::Listed && counts.parallel > 0;
    if rayon::current_num_threads() == 1 || is_listed {
        placed_rows(&edges, nodes)
    } else {
        joined_rows(edges, nodes, counts)
    }
}

/// Places both directions of each edge.
///
/// Needs no second sort: row `x` receives its lower neighbours, in order, while their rows are
/// read, and then its own higher ones.
fn placed_rows<const N: usize>(edges: &[[u32; N]], nodes: u32) -> Result<Csr, Shortage> {
    let mut next = memory::zeroed::<u32>(nodes as usize + 1)?;
    for edge in edges {
        next[edge[0] as usize + 1] += 1;
        next[edge[1] as usize + 1] += u32::from(edge[0] != edge[1]);
    }
    let mut sum = 0;
    for count in &mut next {
        sum += *count;
        *count = sum;
    }
    let mut targets = memory::zeroed::<u32>(sum as usize)?;
    let mut weights = memory::zeroed::<u32>(if N == 3 { targets.len() } else { 0 })?;
    for edge in edges {
        let directions = [(edge[0], edge[1]), (edge[1], edge[0])];
        let count = if edge[0] == edge[1] { 1 } else { 2 };
        for &(from, to) in &directions[..count] {
            let at = next[from as usize] as usize;
            next[from as usize] += 1;
            targets[at] = to;
            if N == 3 {
                weights[at] = edge[N - 1];
            }
        }
    }
    // Every cursor now points to the start of the next row; shifting by one restores the offsets.
    next.rotate_right(1);
    next[0] = 0;
    if let Some(last) = next.last_mut() {
        *last = targets.len() as u32;
    }
    let weights = (N == 3).then_some(weights);
    Ok(Csr {
        offsets: next,
        targets,
        weights,
    })
}

/// Sorts the reversed edges and joins both halves of each row.
///
/// The peak is the result, its two halves, and two arrays of offsets.
fn joined_rows<const N: usize>(
    mut edges: Edges<N>,
    nodes: u32,
    counts: Counts,
) -> Result<Csr, Shortage>
where
    [u32; N]: bytemuck::Pod,
{
    let higher = Csr {
        offsets: Cuts::of(&edges).offsets(&edges, nodes)?,
        targets: column(&edges, 1)?,
        weights: (N == 3).then(|| column(&edges, N - 1)).transpose()?,
    };
    if counts.loops > 0 {
        edges.retain(|edge| edge[0] != edge[1]);
    }
    edges.par_iter_mut().for_each(|edge| edge.swap(0, 1));
    radix::sort(&mut edges, nodes);
    if N == 3 && counts.parallel > 0 {
        order_weights(&mut edges);
    }
    let lower = directed_rows(edges, nodes)?;
    join(lower, higher)
}

fn join(lower: Csr, higher: Csr) -> Result<Csr, Shortage> {
    let lows = lower.offsets;
    let mut offsets = higher.offsets;
    offsets
        .par_iter_mut()
        .zip(&lows)
        .for_each(|(high, low)| *high += low);
    let plan = Join {
        parts: split_rows(&offsets, parts_of(2 * lower.targets.len())),
        lows: &lows,
        all: &offsets,
    };
    let targets = plan.columns(lower.targets, higher.targets)?;
    let weights = lower.weights.zip(higher.weights);
    let weights = weights.map(|(low, high)| plan.columns(low, high));
    let weights = weights.transpose()?;
    Ok(Csr {
        offsets,
        targets,
        weights,
    })
}

/// Place where the rows of two halves meet.
struct Join<'a> {
    parts: Vec<Range<u32>>,
    /// Row offsets of the lower half.
    lows: &'a [u32],
    /// Row offsets of the result.
    all: &'a [u32],
}

impl Join<'_> {
    /// Joins one word per edge of both halves.
    fn columns(&self, lower: Vec<u32>, higher: Vec<u32>) -> Result<Vec<u32>, Shortage> {
        let mut words = memory::zeroed::<u32>(lower.len() + higher.len())?;
        let count = |rows: &Range<u32>| {
            (self.all[rows.end as usize] - self.all[rows.start as usize]) as usize
        };
        let parts = cut(&mut words, self.parts.iter().map(count));
        let parts: Vec<_> = self.parts.iter().cloned().zip(parts).collect();
        parts.into_par_iter().for_each(|(rows, mut part)| {
            for row in rows {
                let (low, high) = self.rows_of(row as usize);
                for half in [&lower[low], &higher[high]] {
                    let place = part.split_off_mut(..half.len());
                    place.unwrap_or_default().copy_from_slice(half);
                }
            }
        });
        Ok(words)
    }

    /// Returns a row's place in each half.
    fn rows_of(&self, row: usize) -> (Range<usize>, Range<usize>) {
        let low = self.lows[row] as usize..self.lows[row + 1] as usize;
        let (start, end) = (self.all[row] as usize, self.all[row + 1] as usize);
        let high = start - low.start..end - low.end;
        (low, high)
    }
}
